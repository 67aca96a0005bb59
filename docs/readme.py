"""Write README.md from the executed nbs/index.ipynb, in the Markdown that GitHub and PyPI understand.

python docs/readme.py            write it
python docs/readme.py --check    only say whether it is up to date (exit code 1 if not)

GitHub shows no HTML with colours. A cell with the directive `#| readme: picture` is shown there as a picture of its
HTML, taken with chromium. The picture carries a hash of the HTML and the decimal numbers in it, so that it is taken
again only when the HTML changed, or a number by more than processors differ.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import posixpath
import re
import shutil
import sys
from typing import Any

import nbformat
from book import NOTE
from execute import NOTEBOOKS, ROOT, execute_notebook
from nbdev_pages import cell_tags, split_directives

PICTURES = ROOT / "docs" / "_static" / "readme"
_LONG_TABLE = re.compile(r"<!-- readme: a row for each part -->\n\n((?:\|.*\n)+)")
_DECIMAL = re.compile(r"\d+\.\d+")
_NEAR = 0.02  # a number that is shown with two decimals may be rounded up here and down there
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def github_markdown(text: str) -> str:
    """Turn notes into GitHub's alerts, and links from nbs/ into links from the root."""

    def link(match: re.Match[str]) -> str:
        address = match[1]
        outside = re.match(r"[a-z]+:|#|/", address)
        return f"]({address if outside else posixpath.normpath(posixpath.join('nbs', address))})"

    text = _LONG_TABLE.sub(lambda table: row_for_each_part(table[1]), text)
    text = NOTE.sub(lambda note: f"> [!{note[1].upper()}]\n> {note[2]}", text)
    return re.sub(r"\]\(([^)\s]+)\)", link, text)


def row_for_each_part(table: str) -> str:
    """Make of the table of chapters, a row each with its question, one with a row for each part."""
    parts: dict[str, list[str]] = {}
    for row in table.splitlines()[2:]:
        part, chapter, _ = (cell.strip() for cell in row.split("|")[1:-1])
        if part:
            parts[part] = []
        parts[list(parts)[-1]].append(chapter)
    rows = "".join(f"| {part} | {', '.join(chapters)} |\n" for part, chapters in parts.items())
    return f"| part | chapters |\n|---|---|\n{rows}"


class StalePicture(Exception):
    """The stored picture shows another HTML, or there is none."""


def apart(page: str) -> tuple[str, list[float]]:
    """Return a hash of HTML without its decimal numbers, and those numbers: last digits are the processor's."""
    bare = _DECIMAL.sub("#", page)
    return hashlib.sha256(bare.encode()).hexdigest(), [float(found) for found in _DECIMAL.findall(page)]


def shows(png: bytes, page: str) -> bool:
    """Whether a picture was taken of this HTML: the same but for decimal numbers, which may differ a little."""
    from PIL import Image

    kept = Image.open(io.BytesIO(png)).info
    shown, numbers = apart(page)
    before = [float(number) for number in kept.get("numbers", "").split()]
    near = len(before) == len(numbers) and all(abs(a - b) < _NEAR for a, b in zip(before, numbers, strict=True))
    return kept.get("shows") == shown and near


def picture(page: str, name: str, *, take: bool) -> bytes:
    """Return a picture of some HTML: the stored one if it shows just this HTML, else, if allowed, a new one."""
    stored = PICTURES / name
    if stored.exists() and shows(stored.read_bytes(), page):
        return stored.read_bytes()
    if not take:
        raise StalePicture(f"{stored.relative_to(ROOT)} does not show what the notebook shows now")
    return take_picture(page)


def take_picture(page: str) -> bytes:
    """Open the first sentence of a report in chromium, take its picture, and write into it what it shows."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo
    from playwright.sync_api import sync_playwright

    style = "margin:0; padding:8px; background:#fff; color:#111; font:16px/1.5 sans-serif; width:984px"
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        opened = browser.new_page(viewport={"width": 1000, "height": 800}, device_scale_factor=1.25)
        opened.set_content(f'<!DOCTYPE html><meta charset="utf-8"><body style="{style}">{page}')
        opened.locator("details summary").first.click()
        opened.mouse.move(0, 0)
        taken = Image.open(io.BytesIO(opened.locator("body").screenshot()))
        browser.close()
    info, small = PngInfo(), io.BytesIO()
    shown, numbers = apart(page)
    info.add_text("shows", shown)
    info.add_text("numbers", " ".join(map(str, numbers)))
    taken.convert("RGB").quantize(96).save(small, "PNG", optimize=True, pnginfo=info)
    return small.getvalue()


def output_markdown(output: Any, name: str, alt: str, *, page: bool, take: bool) -> tuple[str, dict[str, bytes]]:
    """Return an output as Markdown, and the picture files that it needs."""
    data = output.get("data", {})
    if page and "text/html" in data:
        return f"![{alt}](docs/_static/readme/{name}.png)", {
            f"{name}.png": picture(data["text/html"], f"{name}.png", take=take)
        }
    if output.output_type == "stream" and output.name == "stderr":
        return "", {}
    if "image/png" in data:
        return f"![{alt}](docs/_static/readme/{name}.png)", {f"{name}.png": base64.b64decode(data["image/png"])}
    if "text/markdown" in data:
        return github_markdown(data["text/markdown"]), {}
    text = _ANSI.sub("", output.get("text") or data.get("text/plain", "")).rstrip()
    shown = text and not text.startswith(
        "<IPython.core.display."
    )  # HTML alone, which GitHub would strip of its colours
    return (f"```text\n{text}\n```" if shown else ""), {}


def readme(notebook: nbformat.NotebookNode, *, take: bool = False) -> tuple[str, dict[str, bytes]]:
    """Return the README of an executed notebook: its text and its pictures, name to content.

    Raises
    ------
    StalePicture
        If a picture of HTML would have to be taken, and `take` is false.
    """
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(github_markdown(cell.source))
        if cell.cell_type != "code":
            continue
        directives, code = split_directives(cell.source)
        tags = cell_tags(directives)
        if "remove-cell" in tags:
            continue
        if "remove-input" not in tags:
            parts.append(f"```python\n{code}\n```")
        for number, output in enumerate(cell.outputs if "remove-output" not in tags else []):
            alt, page = directives.get("fig-alt", "the figure"), directives.get("readme") == "picture"
            text, files = output_markdown(output, f"{cell.id}-{number}", alt, page=page, take=take)
            parts.append(text)
            pictures |= files
    return "\n\n".join(filter(None, parts)) + "\n", pictures


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if README.md is out of date")
    check = parser.parse_args().check
    try:
        text, pictures = readme(nbformat.read(execute_notebook(NOTEBOOKS / "index.ipynb"), 4), take=not check)
    except StalePicture as stale:
        print(f"{stale}: run python docs/readme.py")
        return 1
    target = ROOT / "README.md"
    current = target.read_text(encoding="utf-8") == text if target.exists() else False
    current = current and {path.name for path in PICTURES.glob("*")} == set(pictures)
    if check:
        print("README.md is up to date" if current else "README.md is out of date: run python docs/readme.py")
        return 0 if current else 1
    target.write_text(text, encoding="utf-8")
    for old in PICTURES.glob("*"):
        old.unlink()
    for name, content in pictures.items():
        PICTURES.mkdir(exist_ok=True)
        (PICTURES / name).write_bytes(content)
    print(f"wrote README.md and {len(pictures)} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())

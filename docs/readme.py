"""Write README.md from the executed nbs/index.ipynb, in the Markdown that GitHub and PyPI understand.

python docs/readme.py            write it
python docs/readme.py --check    only say whether it is up to date (exit code 1 if not)
"""

from __future__ import annotations

import argparse
import base64
import posixpath
import re
import sys
from typing import Any

import nbformat
from execute import NOTEBOOKS, ROOT, execute_notebook
from nbdev_pages import cell_tags, split_directives

PICTURES = ROOT / "docs" / "_static" / "readme"
ALERTS = {"note": "NOTE", "tip": "TIP", "hint": "TIP", "important": "IMPORTANT", "warning": "WARNING"}
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def github_markdown(text: str) -> str:
    """Turn MyST's admonitions and roles into GitHub's alerts and code, and links from nbs/ into links from the root."""

    def alert(match: re.Match[str]) -> str:
        body = [f"**{match[2].strip()}**", ""] if match[2].strip() else []
        lines = [f"[!{ALERTS.get(match[1], 'NOTE')}]", *body, *match[3].strip().splitlines()]
        return "\n".join(f"> {line}".rstrip() for line in lines)

    def link(match: re.Match[str]) -> str:
        address = match[1]
        outside = re.match(r"[a-z]+:|#|/", address)
        return f"]({address if outside else posixpath.normpath(posixpath.join('nbs', address))})"

    text = re.sub(r"^:::+\{(\w+)\}(.*)\n((?:.*\n)*?):::+$", alert, text, flags=re.M)
    text = re.sub(r"\{[\w:-]+\}`([^`<]+?)(?: *<[^`]*>)?`", r"`\1`", text)
    return re.sub(r"\]\(([^)\s]+)\)", link, text)


def output_markdown(output: Any, name: str, alt: str) -> tuple[str, dict[str, bytes]]:
    """Return an output as Markdown, and the picture files that it needs."""
    data = output.get("data", {})
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


def readme(notebook: nbformat.NotebookNode) -> tuple[str, dict[str, bytes]]:
    """Return the README of an executed notebook: its text and its pictures, name to content."""
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
            text, files = output_markdown(output, f"{cell.id}-{number}", directives.get("fig-alt", "the figure"))
            parts.append(text)
            pictures |= files
    return "\n\n".join(filter(None, parts)) + "\n", pictures


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if README.md is out of date")
    check = parser.parse_args().check
    text, pictures = readme(nbformat.read(execute_notebook(NOTEBOOKS / "index.ipynb"), 4))
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

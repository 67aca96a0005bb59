"""docs/closure.py: a notebook runs again when something changes that it could notice, and only then."""

from pathlib import Path

import closure
import pytest
from helpers.late import Late

nbformat = Late("nbformat")

SOURCES = {
    "__init__.py": "",
    "__init__.pyi": "from .low.one import first as first\nfrom .high.two import second as second\n",
    "__main__.py": "from summeval_nb.cli import main",
    "cli.py": "def main():\n    from summeval_nb.high import two",
    "low/__init__.py": "",
    "low/one.py": '"""Of high.two only prose."""\nif TYPE_CHECKING:\n    from ..high import two\nfirst = 1',
    "low/_late.py": "def later():\n    from .one import first",
    "high/__init__.py": "",
    "high/__init__.pyi": "from .two import second as second",
    "high/two.py": "from ..low._late import later\nsecond = 'words.txt'",
    "high/reads.py": "def read(name):\n    return f'assets/{name}.txt'\nNAMES = ('words',)",
    "high/reads_all.py": "def read(name):\n    return open('assets/' + name)",
    "high/checks.py": "FOLDER = 'assets', 'exercises'",
    "high/dynamic.py": "import importlib\nKIND = 'high.two:second'\nimportlib.import_module(f'summeval_nb.{KIND}')",
}
ASSETS = ["words.txt", "other.txt", "exercises/22_rouge.json", "exercises/24_bleu.json"]
LOW = {"__init__.py", "low/__init__.py", "low/one.py"}
TWO = {*LOW, "low/_late.py", "high/__init__.py", "high/two.py", "assets/words.txt"}
COMMAND = {*TWO, "__main__.py", "cli.py"}
HIGH = {"__init__.py", "high/__init__.py"}
CASES = {
    "prose alone": ("'''from summeval_nb import second'''", set()),
    "a module": ("from summeval_nb.low.one import first", LOW),
    "late and by way of another": ("def f():\n    from summeval_nb.high.two import second", TWO),
    "a lazy name as an attribute": ("import summeval_nb as package\npackage.first", LOW),
    "the package as a whole": ("import summeval_nb\nprint(dir(summeval_nb))", TWO),
    "a computed name": ("from summeval_nb.high import dynamic", {*TWO, "high/dynamic.py"}),
    "a script": ("script = '''import sys\nfrom summeval_nb import second\nprint(%s)'''", TWO),
    "a command": ("subprocess.run([sys.executable, '-m', 'summeval_nb', 'demo'])", COMMAND),
    "a line for the shell": ("!summeval demo --html page.html", COMMAND),
    "assets by their stems": ("from summeval_nb.high import reads", {*HIGH, "high/reads.py", "assets/words.txt"}),
    "assets that nobody names": (
        "from summeval_nb.high import reads_all",
        {*HIGH, "high/reads_all.py", "assets/words.txt", "assets/other.txt"},
    ),
    "the sealed answers of its own chapter": (
        "from summeval_nb.high import checks\ncheck_exercise('22_rouge/1', answer)",
        {*HIGH, "high/checks.py", "assets/exercises/22_rouge.json"},
    ),
}


@pytest.fixture
def package(tmp_path) -> Path:
    for name, text in (SOURCES | dict.fromkeys((f"assets/{name}" for name in ASSETS), "")).items():
        path = tmp_path / "summeval_nb" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def notebook(folder: Path, source: str) -> Path:
    path = folder / "nbs" / "lesson.ipynb"
    path.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)]), path)
    return path


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_the_files_behind_a_notebook(package, source, expected):
    found = closure.files_behind(notebook(package, source), package)
    assert {path.relative_to(package / "summeval_nb").as_posix() for path in found} == expected


def test_a_source_that_changes_is_read_again(package):
    path = notebook(package, "from summeval_nb.low.one import first")
    before = closure.files_behind(path, package)
    (package / "summeval_nb" / "low" / "one.py").write_text("from ..high.reads import read\nfirst = 1")
    assert closure.files_behind(path, package) - before == {
        package / "summeval_nb" / name for name in ("high/__init__.py", "high/reads.py", "assets/words.txt")
    }

"""Where tests stand: every module has a test file that bears its name, or one that is named below; helpers apart."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "summeval_nb"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if not path.stem.startswith("__") and path.name != "_modidx.py")
BESIDE = {  # modules whose tests stand in a file of another name
    "agreement/metrics.py": "test_summeval.py",
    "agreement/significance.py": "test_agreement.py",
    "evidence/_words.py": "test_differences.py",
    "ground/report.py": "browser/test_report_browser.py",
    "judged/judge_llm.py": "test_judge.py",
    "judged/judging.py": "test_judge.py",
    "models/llm.py": "test_llm_faults.py",
    "overlap/_bert.py": "test_matching.py",
    "overlap/_languages.py": "test_languages_of_bleu.py",
    "overlap/_tables.py": "test_chrf.py",
    "runs/capacity.py": "test_batch.py",
    "runs/costs.py": "test_batch.py",
    "runs/jobs.py": "test_batch.py",
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_module_has_a_test_file(path):
    """A plain private module may name its test file in its first line, as it names what it is."""
    said = re.search(r"tests/((?:\w+/)*test_\w+\.py)", path.read_text(encoding="utf-8").splitlines()[0])
    own = f"test_{path.stem.lstrip('_')}.py"
    named = BESIDE.get(path.relative_to(PACKAGE).as_posix(), said[1] if said else own)
    assert (ROOT / "tests" / named).is_file(), f"its tests are to be in tests/{named}"


def test_the_list_names_modules_that_have_no_file_of_their_own():
    for module, named in BESIDE.items():
        assert (PACKAGE / module).is_file(), f"there is no {module}"
        own = f"test_{Path(module).stem.lstrip('_')}.py"
        assert own != named and not (ROOT / "tests" / own).exists(), f"{module} has tests/{own} now"


def test_what_is_no_test_stands_in_a_folder():
    others = {path.name for path in (ROOT / "tests").glob("*.py") if not path.name.startswith("test_")}
    assert others == {"conftest.py", "sync.py"}


def test_no_test_asserts_how_fast_something_is():
    """`benchmarks/` measures that, beside a peer; `comes_back` is for calls that would hang."""
    clock = r"(?:time\.)?(?:process_time|perf_counter|monotonic|time)\(\)"
    hurried = re.compile(rf"assert .*(?:{clock}[^<\n]*<|/ \(?{clock})")
    assert hurried.search("assert summaries / (time.process_time() - start) > 150")
    found = [
        f"{path.name}: {line[0]}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for line in hurried.finditer(path.read_text(encoding="utf-8"))
        if path != Path(__file__)
    ]
    assert not found

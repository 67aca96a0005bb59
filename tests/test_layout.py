"""Where tests stand, helpers apart; none asserts how fast something is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_what_is_no_test_stands_in_a_folder():
    others = {path.name for path in (ROOT / "tests").glob("*.py") if not path.name.startswith("test_")}
    assert others == {"conftest.py", "stubs.py", "sync.py"}


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

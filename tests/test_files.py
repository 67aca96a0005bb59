"""Files are written whole or not at all; tables become rows, and none of their columns is lost in silence."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.late import Late

from summeval_nb import benchmark_checker, evaluate_answers
from summeval_nb.core import SummEval
from summeval_nb.core.files import replacing, write_whole
from summeval_nb.evidence import guarantee_thresholds
from summeval_nb.judged import compare_answers_many

pd = Late("pandas")

ROOT = Path(__file__).parents[1]


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "page.html"
    write_whole(path, "one é")
    assert path.read_text(encoding="utf-8") == "one é"
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    path.chmod(0o640)
    write_whole(path, b"two")
    assert path.read_bytes() == b"two" and path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
def test_after_any_error_the_old_file_stands(error, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(type(error)), replacing(path) as file:
        file.write(b"half of it")
        raise error
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_full_disk_does_not_cut_a_good_page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    code = f"from summeval_nb.core.files import write_whole; write_whole({str(path)!r}, 'x' * 100_000)"
    full = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, preexec_fn=full, capture_output=True, text=True)
    assert done.returncode == 1 and "OSError" in done.stderr
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path):
    (tmp_path / "page.html").write_text("old")
    (tmp_path / "link").symlink_to("page.html")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "page.html").read_text() == "new"
    write_whole("/dev/null", "gone")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(OSError):
        write_whole("/dev/full", "no room")


READERS = {
    "evaluate_answers": evaluate_answers,
    "compare_answers_many": compare_answers_many,
    "guarantee_thresholds": guarantee_thresholds,
    "benchmark_checker": lambda table: benchmark_checker("words", sets={"mine": table}),
    "from_records": SummEval.from_records,
}


def test_whoever_reads_a_table_refuses_two_columns_of_one_name():
    """Of which the last was read in silence."""
    table = pd.DataFrame([["Where?", "a", "b", "c"]], columns=["question", "answer", "truth", "answer"])
    for reads in READERS.values():
        with pytest.raises(ValueError, match="the table names a column twice, 'answer': rename one of them"):
            reads(table)

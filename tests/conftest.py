"""What all tests share: where the real data is, and one thread a process so that parallel tests do not fight."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest
from filelock import FileLock
from hypothesis import settings

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
ROOT = Path(__file__).parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with nightly tests come first: two processes share the files, and the long ones must not be the last."""
    long = {item.path for item in items if item.get_closest_marker("nightly")}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets named by SUMMEVAL_NB_DATA; tests that need it are skipped where it is not set."""
    folder = os.environ.get("SUMMEVAL_NB_DATA")
    if not folder:
        pytest.skip("needs the real data sets: set SUMMEVAL_NB_DATA to their folder")
    path = Path(folder)
    assert path.is_dir(), f"SUMMEVAL_NB_DATA names {path}, which is not a folder"
    return path


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site; a second process that asks gets the same build, brought up to date in seconds."""
    sys.path.insert(0, str(ROOT / "docs"))
    folder = importlib.import_module("execute").BUILD / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "-b", "html", "docs", str(folder)]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / "site.lock"):
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, f"the site does not build:\n{run.stdout}\n{run.stderr}"
    return folder


@pytest.fixture(autouse=True)
def own_counting(monkeypatch):
    """Tests look at our own counting; tests/test_rouge.py holds the optional accelerator against it."""
    from summeval_nb.overlap import rouge

    monkeypatch.setattr(rouge, "ACCELERATED", False)

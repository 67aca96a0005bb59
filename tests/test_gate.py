"""The ways in: a Python that is not supported is refused in one line, the oldest versions can be asked for."""

import importlib.util
import os
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    shutil.copy(ROOT / "Makefile", folder)
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, env=alone)


def test_a_python_that_is_not_supported_is_refused_in_one_line(tmp_path):
    python = tmp_path / "python"  # says its version, judges the question as that version would, and makes nothing
    for python_version, answer in (("3.10.9", "no"), ("3.11.0", "yes")):
        python.write_text(
            f'#!/bin/sh\ncase $1 in --version) echo "Python {python_version}";; -c) echo {answer};; *) exit 9;; esac\n'
        )
        python.chmod(0o755)
        done = make(tmp_path, "demo", f"PYTHON={python}")
        makes = f"making .venv with Python {python_version}" in done.stdout
        assert done.returncode == 2 and makes == (answer == "yes")
        if answer == "no":
            needed = "Python 3.11 to 3.14 is needed: make PYTHON=python3.12 demo"
            assert f"{python} is Python {python_version}; {needed}" in done.stderr and done.stderr.count("\n") == 1
            assert done.stdout == "" and not (tmp_path / ".venv").exists()
    (line,) = make(tmp_path, "demo", "PYTHON=no-such-python").stderr.strip().splitlines()
    assert "no-such-python is not to be found; Python 3.11 to 3.14 is needed" in line


def test_the_oldest_versions_can_be_asked_for():
    """One floor a package, and none newer than what the project is tested with."""
    spec = importlib.util.spec_from_file_location("floors", ROOT / ".ci" / "floors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = module.floors(ROOT / "settings.ini")
    names = [line.partition("==")[0].lower() for line in lines]
    assert {"numpy", "torch", "typer"} <= set(names) and len(names) == len(set(names))
    assert "pytest" not in names and "sphinx" not in names
    for line in lines:
        name, _, oldest = line.removesuffix(".*").partition("==")
        try:
            installed = version(name)
        except PackageNotFoundError:  # an extra that this environment has not
            continue
        assert installed in SpecifierSet(f">={oldest}"), f"{name} {installed} is older than settings.ini allows"

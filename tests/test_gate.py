"""The ways in and the gate: a Python that is not supported is refused in one line, CI runs what the README names."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import yaml
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


def test_the_versions_that_are_supported(monkeypatch, capsys):
    (question,) = re.findall(r"^SUPPORTED := (.+)$", (ROOT / "Makefile").read_text(), re.M)
    for found in ((3, 10, 12), (3, 11, 0), (3, 14, 9), (3, 15, 0), (2, 7, 18)):
        monkeypatch.setattr(sys, "version_info", found)
        exec(question, {})
    assert capsys.readouterr().out.split() == ["no", "yes", "yes", "no", "no"]


def test_help_names_every_target_for_users(tmp_path):
    shown = {line.split()[0] for line in make(tmp_path, "help").stdout.splitlines()}
    assert shown >= {"demo", "test", "test-all", "check", "format", "lab", "docs", "bench", "torture", "clean"}


def test_ci_runs_a_superset_of_what_the_readme_names():
    """`make test-all` runs all that `make test` does, and more notebooks and tests."""
    assert "make test-all" in (ROOT / ".ci" / "run").read_text()
    assert "make test" in (ROOT / "README.md").read_text()
    dry = {goal: make_dry(goal) for goal in ("test", "test-all")}
    elsewhere = [line for line in dry["test-all"] if line.startswith("ATEN_CPU_CAPABILITY=default ")]
    assert len(elsewhere) == 4 and set(make_dry("test-elsewhere")) <= set(dry["test-all"])
    assert all((ROOT / name).is_file() for name in re.findall(r"tests/test_\w+\.py", " ".join(elsewhere)))
    dry["test-all"] = [line for line in dry["test-all"] if line not in elsewhere]
    small, large = ([line for line in dry[goal] if "pytest" not in line] for goal in ("test", "test-all"))
    assert [line.replace("--book", "--all") for line in small] == large
    assert any(line.endswith("docs/execute.py --book") for line in dry["test"])
    assert any(line.endswith('-m "not nightly and not torture" tests') for line in dry["test"])
    assert [line.partition(' -m "')[2] for line in dry["test-all"] if ' -m "' in line] == ['not torture" tests']


def make_dry(goal: str) -> list[str]:
    dry = ["make", "-n", "-o", ".venv/.dev", goal]
    return subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


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


def test_the_workflows_cover_versions_and_systems():
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert jobs["smoke"]["strategy"]["matrix"]["os"] == ["macos-latest", "windows-latest"]
    assert {"floor-versions", "latest-versions"} <= set(jobs)
    steps = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    files = {name for step in steps for name in re.findall(r"tests/\w+\.py", step)}
    assert len(files) > 10 and not [name for name in files if not (ROOT / name).is_file()]
    (run,) = [step for step in steps if ".ci/run" in step]
    assert run == "${{ matrix.python == '3.12' && '.ci/run' || 'make test' }}"

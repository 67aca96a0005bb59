"""What is handed out: the source archive, the wheel that is built from it, what a clean environment does with that."""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest
import size
import yaml
from helpers.late import Late

nbformat = Late("nbformat")
AsyncKernelManager = Late("jupyter_client.manager", "AsyncKernelManager")
NotebookClient = Late("nbclient", "NotebookClient")

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"


def settings() -> dict[str, str]:
    parser = ConfigParser(delimiters=["="], interpolation=None)
    parser.read(ROOT / "settings.ini", encoding="utf-8")
    return dict(parser["DEFAULT"])


def committed(folder: str = "") -> set[str]:
    """The files that a commit of everything would hold: without what git ignores, with what is new."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder or "."]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def run(*command, cwd=None) -> str:
    """Run a command as somebody would who has no checkout, and return what it printed."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder with the archive and the wheel, both made by `python -m build` from what is committed."""
    copy = tmp_path_factory.mktemp("copy")
    for name in committed():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    (copy / "summeval_nb" / "_modidx.py").touch()  # lies in every work tree in which nbdev exported
    run(sys.executable, "-m", "build", "--no-isolation", copy)
    return copy / "dist"


@pytest.mark.nightly
def test_the_source_archive_holds_what_the_build_reads(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {file.name.partition("/")[2] for file in opened if file.isfile()}
    assert {"setup.py", "settings.ini", "README.md", "LICENSE", "CITATION.cff", "constraints.txt"} <= names
    assert {name for name in names if name.startswith("nbs/")} == committed("nbs")
    assert not {name.partition("/")[0] for name in names} & {"tests", "benchmarks", "docs", ".github", ".ci"}


@pytest.mark.nightly
def test_the_wheel_holds_every_file_and_absolute_links(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if ".dist-info/" not in name]
        (metadata,) = (opened.read(name) for name in opened.namelist() if name.endswith("/METADATA"))
    pages = {name for name in committed("nbs") if name.endswith((".ipynb", ".md"))}
    book = {name.replace("nbs/", "summeval_nb/book/", 1) for name in pages}
    assert len(pages) > 40 and sorted(names) == sorted(committed("summeval_nb") | book)
    told = email.message_from_bytes(metadata)
    assert told["Version"] == settings()["version"]
    assert told["Description-Content-Type"] == "text/markdown"
    links = re.findall(r"\]\(([^)\s]+)\)", told.get_payload(decode=True).decode("utf-8"))
    assert len(links) > 40 and not [link for link in links if not link.startswith("https://")]
    ours = rf"{re.escape(settings()['git_url'])}/(?:blob|raw)/{settings()['branch']}/([^#]+)"
    inside = [found[1] for link in links if (found := re.match(ours, link))]
    assert len(inside) > 40 and not [name for name in inside if not (ROOT / name).is_file()]


def extras_of_binder() -> list[str]:
    """The extras that Binder installs."""
    (named,) = re.findall(r"install .*-e '\.\[(.+)\]'$", (ROOT / ".binder" / "postBuild").read_text("utf-8"), re.M)
    return named.split(",")


def lend(folder: Path, extras: list[str]) -> Path:
    """Fill a folder with links to what the package requires with these extras, and to a kernel."""
    folder.mkdir()
    found = size.closure("summeval_nb", extras) | size.closure("ipykernel")
    for held in (found[name] for name in found.keys() - {"summeval-nb"}):
        for top in {file.parts[0] for file in (held and held.files) or ()} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(Path(str(held.locate_file(top))))
    return folder


@pytest.fixture(scope="module")
def clean(built, tmp_path_factory) -> Path:
    """An environment with the wheel and what Binder installs with it, lent by the running environment.

    That saves minutes and gigabytes.
    """
    (wheel,) = built.glob("*.whl")
    clean, elsewhere = tmp_path_factory.mktemp("clean"), tmp_path_factory.mktemp("elsewhere")
    venv.create(clean, symlinks=True)
    python = clean / "bin" / "python"
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # What a .pth file names is searched last, and .pth files in it are not read: no editable install is followed.
    (packages / "lent.pth").write_text(str(lend(clean / "lent", extras_of_binder())), encoding="utf-8")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    run(*pip, "--no-deps", "--no-index", "--no-compile", wheel)
    which = "import summeval_nb, torch; print(summeval_nb.__file__, torch.__file__, sep='\\n')"
    ours, lent = map(Path, run(python, "-c", which, cwd=elsewhere).splitlines())
    assert packages in ours.parents and clean / "lent" in lent.parents
    return clean


@pytest.mark.nightly
def test_the_installed_wheel_says_what_the_checkout_says(clean, tmp_path):
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here.html"
    elsewhere.mkdir()
    said = run(clean / "bin" / "summeval", "demo", cwd=elsewhere)
    assert all(f"the {name} summary" in said for name in ("faithful", "subtle", "wrong"))
    assert said == run(sys.executable, "-m", "summeval_nb", "demo", "--html", here, cwd=ROOT)
    page = (elsewhere / "summeval-demo.html").read_text(encoding="utf-8")
    assert len(page) > 10_000 and page == here.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def book(clean, tmp_path_factory) -> Path:
    """The book as `summeval book` lays it out from the wheel."""
    place = tmp_path_factory.mktemp("reader")
    said = run(clean / "bin" / "summeval", "book", "mine", cwd=place)
    assert re.fullmatch(r"pages written to mine: \d\d; the first is mine.index\.ipynb\n", said)
    return place / "mine"


@pytest.mark.nightly
def test_the_wheel_lays_out_the_whole_book(clean, book):
    pages = {name.removeprefix("nbs/") for name in committed("nbs") if name.endswith((".ipynb", ".md"))}
    assert pages == {page.relative_to(book).as_posix() for page in book.rglob("*") if page.is_file()}
    which = "from summeval_nb.teaching.exercises import book_to_open; print(book_to_open())"
    assert run(clean / "bin" / "python", "-c", which, cwd=book / "1_start").strip() == str(book)
    assert run(clean / "bin" / "python", "-c", which, cwd=clean).strip() == str(clean / "summeval_book")


FIRST = [
    path.relative_to(ROOT / "nbs") for part in ("1_start", "2_counting") for path in ROOT.glob(f"nbs/{part}/*.ipynb")
]


@pytest.mark.nightly
@pytest.mark.parametrize("lesson", FIRST, ids=lambda path: path.stem)
def test_a_first_lesson_runs_on_what_binder_installs(clean, book, lesson, monkeypatch):
    """In the laid-out book, with the wheel: another extra would be missed, and so would the checkout."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    notebook = nbformat.read(book / lesson, 4)
    notebook.cells.append(nbformat.v4.new_code_cell("import summeval_nb\nprint(summeval_nb.__file__)"))
    kernel = AsyncKernelManager(kernel_name="python3")
    kernel.kernel_spec.argv[0] = str(clean / "bin" / "python")
    resources = {"metadata": {"path": str((book / lesson).parent)}}
    NotebookClient(notebook, km=kernel, timeout=300, resources=resources).execute()
    assert Path(notebook.cells[-1].outputs[0].text.strip()).is_relative_to(clean)


def test_whoever_cites_cites_this_version():
    cited, ours = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")), settings()
    assert str(cited["cff-version"]) == "1.2.0" and cited["message"] and cited["title"].startswith(ours["lib_name"])
    assert str(cited["version"]) == ours["version"]
    assert cited["authors"] == [{"name": ours["author"], "email": ours["author_email"]}]
    assert cited["repository-code"] == ours["git_url"] and cited["url"] == ours["doc_host"] + ours["doc_baseurl"]
    assert cited["license"] == "Apache-2.0"


def workflow(name: str) -> dict:
    """A workflow; its key `on` is read as True by the rules of YAML 1.1."""
    return yaml.safe_load((WORKFLOWS / name).read_text(encoding="utf-8"))


def test_a_release_is_refused_unless_its_version_is_typed():
    version, steps = settings()["version"], workflow("release.yml")["jobs"]["build"]["steps"]
    (step,) = (step for step in steps if "TYPED" in step.get("env", {}))
    for typed in ("", "0x1.0", f"{version}.1", f"{version} ", "$(true)", version):
        env = {**os.environ, "TYPED": typed}
        done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=ROOT, env=env, capture_output=True, text=True)
        assert (done.returncode == 0) == (typed == version), done.stderr
        assert done.returncode == 0 or f"settings.ini says {version}" in done.stdout

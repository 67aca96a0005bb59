"""The chapters in a real JupyterLab: Restart and Run All, in a browser, as a reader does it."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.late import Late
from playwright.sync_api import Locator, Page, expect

nbformat = Late("nbformat")

ROOT = Path(__file__).parents[2]
CHAPTERS = ["2_counting/24_bleu", "3_evidence/34_first_checker", "3_evidence/38_faithfulness"]
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    "notebook-extension/tracker": {"windowingMode": "none", "kernelShutdown": True},  # draws cells out of sight, too
}
MINUTES = 60_000  # in the browser's milliseconds

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What the README starts, over a copy of nbs/, without the user's settings; gives an address with a {path}."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "nbs", home / "nbs", ignore=shutil.ignore_patterns(".*"))
    for name, values in SETTINGS.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    folders = {f"JUPYTER_{name.upper()}_DIR": name for name in ("config", "data", "runtime")} | {
        "IPYTHONDIR": "ipython"
    }
    folders |= {f"JUPYTERLAB_{name.upper()}_DIR": name for name in ("settings", "workspaces")}
    environment = {**os.environ, **{name: str(home / folder) for name, folder in folders.items()}}
    environment["PYTHONPATH"] = str(ROOT)
    environment.pop("MPLBACKEND", None)  # the kernel chooses the inline one
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "summeval_nb", "lab", "--no-browser", f"--port={port}", "--allow-root"]
    command += ["--LabApp.expose_app_in_browser=True"]  # a test opens notebooks without loading all of JupyterLab again
    command += ["--ip=127.0.0.1", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    with (home / "lab.log").open("w") as log:
        server = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api?token={token}", server, home / "lab.log")
            yield f"http://127.0.0.1:{port}/lab/tree/{{path}}?token={token}&reset"
        finally:
            server.terminate()
            server.wait(30)


def _wait_for(address: str, server: subprocess.Popen, log: Path, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.3)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


def n_code_cells(name: str) -> int:
    """How many code cells show their number: a folded one does not."""
    code = [cell for cell in nbformat.read(ROOT / "nbs" / f"{name}.ipynb", 4).cells if cell.cell_type == "code"]
    return sum(not cell.metadata.get("jupyter", {}).get("source_hidden", False) for cell in code)


def position(name: str, code: str) -> int:
    """The place, among the code cells, of the first one with some code; a changed cell keeps its place."""
    cells = [cell.source for cell in nbformat.read(ROOT / "nbs" / f"{name}.ipynb", 4).cells if cell.cell_type == "code"]
    return next(place for place, source in enumerate(cells) if code in source)


ERRORS = ".jp-OutputArea-output:has-text('Traceback (most recent call last)')"  # shares its type with all of stderr


def run_all(page: Page, address: str, n_code: int) -> None:
    """Open a notebook, restart its kernel and run all cells; return when all have run or one has failed."""
    page.goto(address)
    restart_and_run_all(page, n_code)


def restart_and_run_all(page: Page, n_code: int) -> None:
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=2 * MINUTES)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Restart Kernel and Run All Cells…", exact=True).click()
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    done = """n => {
        const shown = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden)');
        const prompts = [...shown.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];
        const ran = prompts.filter(one => /^\\[\\d+\\]:$/.test(one.textContent.trim()));
        const outputs = [...shown.querySelectorAll('.jp-OutputArea-output')];
        return ran.length === n || outputs.some(one => one.textContent.includes('Traceback (most recent call last)'));
    }"""
    page.wait_for_function(done, arg=n_code, timeout=3 * MINUTES)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=2 * MINUTES)  # folded cells show no number


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_runs_in_the_lab(chapter, lab, visit):
    tour = visit(viewport={"width": 1400, "height": 1000})
    page = tour.page
    run_all(page, lab.format(path=f"{chapter}.ipynb"), n_code_cells(chapter))
    errors = page.locator(ERRORS).all_inner_texts()
    assert not errors, errors[0]
    assert page.locator(".jp-OutputArea-output img").count() >= 1, "no figure"
    assert page.locator(".jp-RenderedHTMLCommon table, .jp-RenderedHTMLCommon mark").count() >= 1, "no HTML result"
    page.locator(".jp-OutputArea-output img").first.scroll_into_view_if_needed()
    tour.screenshot("after-run-all")
    if chapter == "3_evidence/38_faithfulness":
        reports = page.locator(".jp-OutputArea-output section.sr").all()
        a_sentence_opens_on_its_evidence(max(reports, key=lambda report: report.locator(".sr-article span").count()))
        tour.screenshot("opened")


def a_sentence_opens_on_its_evidence(report: Locator) -> None:
    """The report of a running notebook: a click opens a sentence's evidence and frames the best in the article."""
    report.scroll_into_view_if_needed()
    panel, framed = report.locator(".sr-panel").first, "el => getComputedStyle(el).outlineStyle"
    sentences = report.locator(".sr-article span")
    assert sentences.count() > 5
    expect(panel).to_be_hidden()
    assert "solid" not in [sentence.evaluate(framed) for sentence in sentences.all()]
    report.locator("details summary").first.click()
    expect(panel).to_be_visible()
    found = [sentence.inner_text().strip() for sentence in sentences.all() if sentence.evaluate(framed) == "solid"]
    assert found == [panel.locator("blockquote").first.inner_text().strip()]
    report.locator("details summary").first.click()
    expect(panel).to_be_hidden()


def write_and_run(page: Page, cell: Locator, code: str) -> Locator:
    """Put other code into a cell, run it with Shift+Enter, and return what it printed once it has."""
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    cell.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)  # as a paste: no brackets are added
    page.keyboard.press("Shift+Enter")
    expect(prompt).not_to_have_text(before, timeout=MINUTES)
    expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=MINUTES)
    return cell.locator(".jp-OutputArea-output").first


def test_a_newcomer_learns_what_rouge_is(lab, visit):
    """From the first page to chapter 22: look up a word, change a cell and see the number move, do an exercise."""
    tour = visit(viewport={"width": 1400, "height": 1000})
    page = tour.page
    page.goto(lab.format(path="index.ipynb"))
    page.locator(".jp-RenderedMarkdown a", has_text="chapter 22").first.click()
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    expect(shown.locator("h1")).to_contain_text("ROUGE", timeout=MINUTES)

    rouge = page.locator(".lm-TabBar-tabLabel", has_text="22_rouge.ipynb")
    shown.locator(".jp-RenderedMarkdown a", has_text="precision").first.click()
    term = page.locator(".jp-MarkdownViewer h2", has_text=re.compile("^precision"))
    expect(term).to_be_in_viewport(timeout=MINUTES)
    rouge.click()
    expect(shown.locator("h1")).to_contain_text("ROUGE")

    restart_and_run_all(page, n_code_cells("2_counting/22_rouge"))
    cells = shown.locator(".jp-CodeCell")
    assert not shown.locator(ERRORS).count()
    code = 'rouge_score("The cat is on the mat.", "{}", types=("rouge1",))["rouge1"].recall'
    first = cells.nth(position("2_counting/22_rouge", "reference_1 = "))
    assert write_and_run(page, first, code.format("The cat sat on the mat.")).inner_text().startswith("0.83")
    assert write_and_run(page, first, code.format("The dog sat on the mat.")).inner_text().startswith("0.66")

    exercise = cells.nth(position("2_counting/22_rouge", 'check_exercise("22_rouge/1"'))
    given = (
        'from summeval_nb.teaching.exercises import check_exercise\nanswer = {!r}\ncheck_exercise("22_rouge/1", answer)'
    )
    assert "not answered yet" in exercise.locator(".jp-OutputArea").inner_text()
    assert "not yet" in write_and_run(page, exercise, given.format([1, 1 / 3, 0.123])).inner_text()
    tour.screenshot("not-yet")
    right = write_and_run(page, exercise, given.format([1, 1 / 3, 0.5])).inner_text()
    assert "right" in right and "not yet" not in right

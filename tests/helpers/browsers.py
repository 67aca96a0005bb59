"""What tests of pages share: attacks as texts, barriers as axe-core finds them, a folder served on this machine."""

import importlib.util
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Page

ATTACKS = [
    "<script>window.owned = 1</script>",
    "</style><script>window.owned = 1</script>",
    "<img src=x onerror='window.owned = 1'>",
    '" onmouseover="window.owned = 1" x="',
    "<a href='javascript:window.owned=1'>press</a>",
    "</summary></details></section></main><iframe srcdoc='<script>parent.owned=1</script>'></iframe>",
    "{{constructor.constructor('window.owned=1')()}}",
]


def violations(page: Page, *, only: tuple[str, ...] = ("wcag2a", "wcag2aa"), without: tuple[str, ...] = ()) -> list:
    """What axe-core, which the package axe-playwright-python carries, has to say about WCAG 2 A and AA."""
    folder = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
    # A fold that is still fading in has another contrast than the page that is read.
    page.add_style_tag(content="*, *::before, *::after {animation: none !important; transition: none !important}")
    page.evaluate((Path(folder) / "axe.min.js").read_text(encoding="utf-8"))
    run = "([without, only]) => axe.run({exclude: without.map(one => [one])}, {runOnly: only})"
    found = page.evaluate(run, [list(without), list(only)])
    assert found["passes"], "axe-core looked at nothing"
    return found["violations"]


def serious(page: Page, **choices: tuple[str, ...]) -> list[str]:
    """The serious and critical ones, in words."""
    return [
        f"{barrier['id']}: {node['html'][:200]} ({node['failureSummary'][:300]})"
        for barrier in violations(page, **choices)
        if barrier["impact"] in {"serious", "critical"}
        for node in barrier["nodes"][:3]
    ]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the tests look at the page."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()

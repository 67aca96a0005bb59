"""A real browser: Debian's chromium, found on the path, driven by pytest-playwright.

On a machine without chromium these tests are skipped and say how to get it; where CI=true is set they fail instead.
Screenshots lie in docs/_build/screenshots.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from helpers.browsers import served
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "docs" / "_build" / "screenshots"  # pytest-playwright empties test-results at every start
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip
HOW = (
    "needs the browser chromium on the path: 'sudo apt-get install chromium' on Debian; elsewhere install Chromium or "
    "Chrome and make it callable as 'chromium'"
)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    """How pytest-playwright starts the browser: the system's chromium, without its own conversations with the world."""
    path = shutil.which("chromium")
    if path is None and os.environ.get("CI") == "true":
        pytest.fail(HOW)
    if path is None:
        pytest.skip(HOW)
    return {**browser_type_launch_args, "executable_path": path, "args": FLAGS}


class Visit:
    """A page together with what it asked of other hosts and what it complained about."""

    def __init__(self, page: Page, name: str) -> None:
        self.page, self.name = page, name
        self.outside: list[str] = []
        self.complaints: list[str] = []
        page.on("request", self._request)
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _request(self, request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob", "file", "about"} and parts.hostname != "127.0.0.1":
            self.outside.append(request.url)

    def screenshot(self, label: str, *, full_page: bool = False) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{self.name}-{label}.png", full_page=full_page)


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator:
    """Return a function that opens a fresh page (options as for a browser context); each must stay on this machine."""
    visits: list[Visit] = []

    def open_page(**options) -> Visit:
        visits.append(Visit(browser.new_context(**options).new_page(), request.node.name.replace("/", "_")))
        return visits[-1]

    yield open_page
    for seen in visits:
        seen.page.context.close()
    assert not [address for seen in visits for address in seen.outside], "a page asked another host"


@pytest.fixture(scope="session")
def site_url(site: Path) -> Iterator[str]:
    """The address of the built site on this machine."""
    with served(site) as address:
        yield address

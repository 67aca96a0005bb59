"""The site: built from the executed notebooks without a warning, complete, and asking no other host for anything."""

import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import book
import execute
import pytest
from helpers.late import Late

BeautifulSoup = Late("bs4", "BeautifulSoup")
etree = Late("lxml.etree")
html = Late("lxml.html")

ROOT = Path(__file__).parents[1]
nbdev_pages = Late("nbdev_pages")
readme = Late("readme")
PAGES = book.written()

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@cache
def document(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@cache
def elements(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Return every element's name and attributes, by a parser that is fast but no judge of nesting."""
    return [(element.tag, dict(element.attrib)) for element in html.parse(str(path)).iter(etree.Element)]


@cache
def anchors(path: Path) -> set[str]:
    return {found["id"] for _, found in elements(path) if "id" in found}


def attributes(path: Path, **wanted: str) -> list[str]:
    """Return the values of attributes, given as element and name: `a="href"`."""
    return [found[wanted[tag]] for tag, found in elements(path) if wanted.get(tag) in found]


def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.relative_to(site).parts)


def test_everything_written_is_a_page_in_the_readers_order(site):
    assert len(PAGES) >= 3
    for name in PAGES:
        assert (site / f"{name}.html").is_file(), f"{name} has no page"
    links = [link["href"] for link in document(site / "index.html").select("nav.bd-links a[href]")]
    listed = [link.removesuffix(".html") for link in links if not link.startswith("#")]
    made = [name.removesuffix(".md") for name in book.made_pages(PAGES)]
    solutions = [name for name in PAGES if name.startswith("solutions/")]
    assert [name for name in listed if name not in solutions] == book.in_order(["try", *PAGES, *made])
    assert sorted(name for name in listed if name in solutions) == solutions, "the sidebar misses a solution"


def test_the_api_page_leads_to_every_public_name(site):
    links = {link["href"].partition("#")[2] for link in document(site / "api.html").select("article dt a")}
    offered = [(module, name) for module, names in book.exported().items() for name in names]
    public = {f"summeval_nb.{module}.{name}" for module, name in offered}
    beside = {f"summeval_nb.{module}.{name}" for module, name in offered if book.plain_entry(module, name)}
    entries = documented() | beside
    assert public & entries <= links
    assert len(public - entries) < 10, "type aliases and constants have no entry; what else?"
    own = {entry["id"] for entry in document(site / "api.html").select("article dl.py > dt[id]")}
    assert len(beside) > 20 and beside <= own, f"no full entry on the reference page: {sorted(beside - own)}"


def test_every_internal_link_and_anchor_resolves(site):
    broken = defaultdict(set)
    for page in pages(site):
        for address in attributes(page, a="href", img="src", script="src", link="href"):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment) if target.suffix == ".html" else ""
            if not target.is_file() or (anchor and anchor not in anchors(target)):
                broken[page.name].add(address)
    assert not broken, {page: sorted(found) for page, found in broken.items()}


LOADS = {"script": "src", "img": "src", "source": "src", "video": "src", "iframe": "src", "link": "href"}
OUTSIDE = re.compile(r"^(?:https?:)?//")
OUTSIDE_STYLE = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")


def test_no_page_loads_anything_from_another_host(site):
    for page in pages(site):
        outside = [address for address in attributes(page, **LOADS) if OUTSIDE.match(address)]
        assert not outside, f"{page.name} loads {outside}"
        assert not [tag for tag, found in elements(page) if "srcset" in found], page.name
        inline = [found["style"] for _, found in elements(page) if "style" in found]
        styles = re.findall(r"<style\b.*?</style>", page.read_text(encoding="utf-8"), re.S)
        assert not OUTSIDE_STYLE.search("\n".join(inline + styles)), page.name
    for sheet in site.rglob("*.css"):
        assert not OUTSIDE_STYLE.search(sheet.read_text(encoding="utf-8")), f"{sheet.name} loads from outside"


def documented() -> set[str]:
    return {full for path in execute.notebooks() for full in nbdev_pages.public_names(path).values()}


def test_every_page_offers_its_own_notebook(site):
    for name in PAGES:
        path = site / f"{name}.html"
        links = [link["href"] for link in document(path).select("p.download a")]
        assert len(links) == (name not in book.TEXTS), f"{name} offers {links}"
        if not links:
            continue
        offered = (path.parent / links[0]).resolve()
        assert offered.read_bytes() == (execute.NOTEBOOKS / f"{name}.ipynb").read_bytes()


def test_no_directive_is_shown_and_pictures_have_alternative_text(site):
    for page in pages(site):
        for cell in document(page).select("div.cell_input"):
            assert not re.search(r"^\s*#\s*\|", cell.get_text(), re.M), cell.get_text()[:80]
        for picture in document(page).select("article img"):
            assert (picture.get("alt") or "").strip(), f"{page.name}: {picture.get('src')} has no alternative text"
            assert not picture.get("alt").startswith(("_images", "../_images")), f"{page.name}: {picture.get('alt')}"


def test_readme_is_the_landing_page(site):
    run = subprocess.run([sys.executable, "docs/readme.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr

"""What holds the book together: every citation names a work, every term that is linked is explained."""

import difflib
import re
from functools import cache
from pathlib import Path

import bibliography
import book
import execute
from helpers.late import Late

Image = Late("PIL.Image")
parse_file = Late("pybtex.database", "parse_file")


ROOT = Path(__file__).parents[1]
NAMES = book.written()
prose = cache(book.prose)


@cache
def lessons() -> list[str]:
    return [name for name in NAMES if book.is_lesson(name)]


@cache
def chapters() -> list[str]:
    return [name for name in NAMES if re.match(r"[1-9]_", name) and name not in lessons()]


@cache
def works() -> dict:
    return parse_file(ROOT / "nbs" / "references.bib").entries


@cache
def terms() -> list[str]:
    return re.findall(r"^## (.+)$", prose("glossary"), re.M)


def test_every_cited_work_is_in_the_bibliography():
    for name in NAMES:
        for key in book.citations([name]):
            near = difflib.get_close_matches(key, works(), cutoff=0.5)
            assert key in works(), f"{name} cites {key!r}, which nbs/references.bib does not hold; did you mean {near}?"
        for link in re.findall(r"\]\(([^)]*(?:references|bibliography)\.\w+[^)]*)\)", prose(name)):
            back = "../" * name.count("/")
            assert link.startswith(f"{back}bibliography.md"), f"{name}: {link} leads not to nbs/bibliography.md"


def test_the_readable_bibliography_is_that_of_the_works():
    page = bibliography.bibliography()
    assert bibliography.TARGET.read_text(encoding="utf-8") == page, "run python docs/bibliography.py"
    assert re.findall(r"^## (.+)$", page, re.M) == list(works())
    entry = page.partition("## lin2004\n")[2].partition("\n## ")[0]
    assert all(part in entry for part in ("Lin", "package for automatic evaluation of summaries", "2004", "https://"))


FOREIGN = re.compile(r"^[ >]*(?::::|```\{).*|\{[a-z][\w:-]*\}`[^`\n]+`|\[\^\w+\]|^\{[.#].*\}$", re.M)


def test_lab_needs_no_extension():
    """Directives and roles are MyST's: JupyterLab shows them as raw text. A note is a quotation that begins in bold."""
    texts = {name: prose(name) for name in NAMES}
    texts["bibliography"] = (execute.NOTEBOOKS / "bibliography.md").read_text(encoding="utf-8")
    outside_of_code = {
        name: re.sub(r"^```\w*\n.*?^```$|`[^`{}\n]*`(?!`)", "", text, flags=re.M | re.S) for name, text in texts.items()
    }
    assert not (found := {name: what for name, text in outside_of_code.items() if (what := FOREIGN.findall(text))}), (
        found
    )
    for text in (":::{note}", "> ::: tip", "```{bibliography}", "see {cite}`lin2004`", "{.download}"):
        assert FOREIGN.search(f"# Title\n\n{text}\n"), text


def test_every_link_into_the_glossary_hits_a_term():
    anchors = {term.replace(" ", "-") for term in terms()}
    wrong = {}
    for name in NAMES:
        pattern = r"\]\(#([^)]+)\)" if name == "glossary" else r"\]\([^)]*glossary\.md#([^)]*)\)"
        for anchor in re.findall(pattern, prose(name)):
            if anchor not in anchors:
                wrong[name, anchor] = difflib.get_close_matches(anchor, anchors, cutoff=0.4)
        if "glossary.ipynb" in prose(name):
            wrong[name] = "the glossary is glossary.md"
    assert not wrong, f"no such term; near ones: {wrong}"


def test_every_chapter_says_what_it_teaches():
    goals = {name: len(book.goals(name)) for name in chapters()}
    wrong = {name: count for name, count in goals.items() if not 3 <= count <= 5}
    assert not wrong, f"three to five goals stand below a line that ends 'After this chapter you can': {wrong}"


def test_the_landing_page_leads_to_every_chapter():
    linked = set(re.findall(r"\]\(([^)#]+)\.(?:ipynb|md)\b", prose("index")))
    expected = {name for name in NAMES if name != "index" and not name.startswith("solutions/")}
    assert expected <= linked, f"not on the landing page: {sorted(expected - linked)}"


def test_the_api_page_names_everything_public():
    page = book.api_page(NAMES)
    for module, names in book.exported().items():
        for name in names:
            assert f"<summeval_nb.{module}.{name}>" in page
            kind = type(book.defined(module, name)).__name__.removesuffix("Def").replace("Function", "function")
            if module not in book.exporting() and kind in ("Class", "function"):
                assert f".. auto{kind.lower()}:: summeval_nb.{module}.{name}" in page, "no chapter has its entry"
    assert "`(text, summary, k=None, *," in page, "signatures are missing"
    shown = "`(candidate, references, n=4, *, tokenize='13a'"
    assert shown in page, "the choices of a metric are missing where a function takes them by name"


def test_a_link_says_the_number_of_the_chapter_it_leads_to():
    numbers = re.compile(
        r"\[(?:chapter |lesson |solutions/)?(\d+[a-z]?)(?:[ _][^\]]*)?\]\([^)\s]*?/?(\d+[a-z]?)_\w+\.ipynb"
    )
    wrong = [(name, link) for name in NAMES for link in numbers.findall(prose(name)) if link[0] != link[1]]
    assert not wrong, wrong


def test_the_answers_of_a_lesson_are_folded_or_elsewhere():
    """JupyterLab shows cells with `#| hide` as any other, so an answer may not stand in one."""
    for name in lessons():
        if "Exercise" not in prose(name):
            continue
        code = [cell.source for cell in book.read(name).cells if cell.cell_type == "code"]
        open_answers = [text for text in code if re.search(r"#.*\b(exercise|solution) \d", text)]
        assert not open_answers, f"{name}: {open_answers[0]}"
        folder, _, stem = name.partition("/")
        elsewhere = f"../solutions/{folder.partition('_')[2]}.ipynb#{stem.replace('_', '-')}"
        assert "<details>" in prose(name) or elsewhere in prose(name), f"{name}: no answers to compare with"

"""What the book consists of: its parts and their order, what each chapter teaches, what it cites, what it exports.

All of it is read from the notebooks, the bibliography and the package's stub, so that no list has to be kept by hand.
"""

from __future__ import annotations

import ast
import posixpath
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execute import NOTEBOOKS, ROOT, notebooks

from summeval_nb.teaching.exercises import PARTS as TITLES

if TYPE_CHECKING:
    import nbformat

PACKAGE = "summeval_nb"
PARTS = {  # the folders of nbs/, in the reader's order; the pages that no folder holds are told in PLACES
    "1_start": TITLES["1"],  # which also holds pages that are no notebooks
    **{folder.name: TITLES[folder.name[0]] for folder in sorted(NOTEBOOKS.glob("[1-9]_*"))},
    "zh": "中文",
    "solutions": "Solutions",
    "reference": "Reference",
}
PLACES = {  # pages outside of the folders: part, and order within it
    "try": "1_start/a",  # after the folder's own pages, which begin with a digit
    "how_well": "1_start/b",
    "goals": "1_start/c",
    "from_other_tools": "1_start/d",
    "where_this_stands": "1_start/e",
    "install": "1_start/f",
    "solutions": "solutions",
    "glossary": "reference/1",
    "bibliography": "reference/2",
    "api": "reference/3",
    "architecture": "reference/4",
}
# plain Markdown: JupyterLab opens such a page at its heading on the first click
TEXTS = ("glossary", "how_well", "where_this_stands", "install")
CITATION = re.compile(r"\[([^\]]+)\]\((?:\.\./)*bibliography\.md#([^)\s]+)\)")
NOTE = re.compile(r"^> \*\*(Note|Tip|Warning)\.\*\*[ ]*(.*(?:\n>.*)*)", re.M)  # what JupyterLab shows as a quotation
GOALS = re.compile(r"^(?P<before>.*?)After this chapter you can:?[ ]*\n\n?(?P<list>(?:- .+\n?(?:  .+\n?)*)+)", re.M)


def place(name: str) -> str:
    """Return where a page stands: a string whose order is the reader's order within a part."""
    return PLACES.get(name, name)


def part(name: str) -> str:
    """Return the key of a page's part."""
    return place(name).split("/")[0]


def in_order(names: list[str]) -> list[str]:
    """Return the pages of the book in the reader's order; the first page and single solutions belong to no part."""
    chosen = [name for name in names if name != "index" and not name.startswith("solutions/")]
    return sorted(chosen, key=lambda name: (list(PARTS).index(part(name)), place(name)))


def written() -> list[str]:
    """Return the names of the pages that are written by hand: the notebooks, and the texts that this book has."""
    found = [path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in notebooks()]
    return found + [name for name in TEXTS if (NOTEBOOKS / f"{name}.md").is_file()]


@cache
def read(name: str) -> nbformat.NotebookNode:
    """Return a page as a notebook; one that is plain Markdown is a single cell. It is not to be changed."""
    import nbformat

    if name in TEXTS:
        text = (NOTEBOOKS / f"{name}.md").read_text(encoding="utf-8")
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text, id=name)])
    return nbformat.v4.reads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))


def prose(name: str) -> str:
    """Return the text of a page's markdown cells."""
    return "\n\n".join(cell.source for cell in read(name).cells if cell.cell_type == "markdown")


def title_and_summary(name: str) -> tuple[str, str]:
    """Return a notebook's title and the one line below it."""
    text = prose(name)
    title, summary = re.search(r"^# (.+)$", text, re.M), re.search(r"^> (.+)$", text, re.M)
    if not title:
        raise ValueError(f"the page {name!r} of nbs/ has no title: its text begins with '# '")
    return title[1].strip(), summary[1].strip() if summary else ""


def label(name: str) -> str:
    """Return how a page is called in a short list: "33 similarity"."""
    return name.split("/")[-1].replace("_", " ")


@cache
def is_lesson(name: str) -> bool:
    """Whether a page of a part is a lesson: it teaches, and exports nothing."""
    return bool(re.match(r"[1-9]_", name)) and not modules([name])


def numbered(name: str) -> str:
    """Return a chapter's title with the number by which the text calls it; nothing for a page without number."""
    number = re.match(r"(\w+)/(\d+[a-z]?)_", name)
    if not number:
        return ""
    word = "Lesson " if is_lesson(name) else ""
    return f"{word}{number[2]} · {title_and_summary(name)[0]}"


def taught_terms(names: list[str]) -> dict[str, list[str]]:
    """Return for which words a page is the one to read: the glossary's terms that name it first, and "lesson"."""
    taught = {name: ["lesson"] for name in names if is_lesson(name)}
    glossary = prose("glossary") if "glossary" in names else ""
    for entry in re.split(r"^## ", glossary, flags=re.M)[1:]:
        where = re.search(r"\]\(([^)#]+)\.ipynb", entry.partition("More: ")[2])
        if where:
            taught.setdefault(where[1], []).append(entry.partition("\n")[0].strip().lower())
    return taught


def goals(name: str) -> list[str]:
    """Return what a reader can do after a chapter: the list below "After this chapter you can"."""
    found = GOALS.search(prose(name))
    items = re.split(r"^- ", found["list"], flags=re.M)[1:] if found else []
    return [" ".join(item.split()) for item in items]


def citations(names: list[str]) -> dict[str, list[str]]:
    """Return which works the notebooks cite: key to pages."""
    cited: dict[str, list[str]] = {}
    for name in names:
        for _, key in CITATION.findall(prose(name)):
            if name not in cited.setdefault(key, []):
                cited[key].append(name)
    return cited


def modules(names: list[str]) -> dict[str, str]:
    """Return which chapter exports which module: module to page."""
    found = {}
    for name in names:
        for cell in read(name).cells:
            match = re.match(r"#\|\s*default_exp\s+(\S+)", cell.source) if cell.cell_type == "code" else None
            if match:
                found[match[1]] = name
    return found


@cache
def exporting() -> frozenset[str]:
    """Return the modules that a notebook exports."""
    return frozenset(modules([name for name in written() if name not in TEXTS]))


def plain_names() -> dict[str, str]:
    """Return what has its entry on the page of all public names, short to full: functions, classes, their methods."""
    found = {}
    for module, names in exported().items():
        for name in names if module not in exporting() else []:
            node = defined(module, name)
            inner = node.body if isinstance(node, ast.ClassDef) else []
            methods = [
                member.name for member in inner if isinstance(member, ast.FunctionDef) and ast.get_docstring(member)
            ]
            short = [name, *(f"{name}.{method}" for method in methods if not method.startswith("_"))] if node else []
            found |= {short_name: f"{PACKAGE}.{module}.{short_name}" for short_name in short}
    return found


def exported() -> dict[str, list[str]]:
    """Return the package's public names: module to names, as the stubs of its parts list them.

    What a plain module defines is its chapter's, which imports it: `overlap.bleu`, not `overlap._results`.
    """
    found: dict[str, list[str]] = {}
    for stub in sorted((ROOT / PACKAGE).glob("*/__init__.pyi")):
        body = ast.parse(stub.read_text(encoding="utf-8")).body
        body += [
            inner for node in body if isinstance(node, ast.If) for inner in node.body
        ]  # a type checker sees another
        for node in body:
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                module = f"{stub.parent.name}.{node.module}"
                for alias in node.names:
                    found.setdefault(chapter_of(module, alias.name), []).append(alias.name)
    return found


def chapter_of(module: str, name: str) -> str:
    """Return the module of a chapter that offers what a plain module of its part defines; otherwise the module."""
    inside, _, own = module.rpartition(".")
    if not own.startswith("_"):
        return module
    beside = sorted((ROOT / PACKAGE / inside.replace(".", "/")).glob("[!_]*.py"))
    offers = (f"{inside}.{path.stem}" for path in beside if origin(f"{inside}.{path.stem}", name) == module)
    return next(offers, module)


@cache
def body_of(module: str) -> list[Any]:
    """Return what stands in a module, in order."""
    path = Path(ROOT / PACKAGE / f"{module.replace('.', '/')}.py")
    return ast.parse(path.read_text(encoding="utf-8")).body


def origin(module: str, name: str) -> str:
    """Return the module beside this one that it has a name from, or nothing."""
    inside = module.rpartition(".")[0]
    for node in body_of(module):
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            own = f"{inside}.{node.module}" if node.level else (node.module or "").removeprefix(f"{PACKAGE}.")
            return own if own.rpartition(".")[0] == inside else ""
    return ""


def defined(module: str, name: str) -> Any:
    """Return the class or function of that name which the module defines, or None.

    A call that `batch` makes is the function which the typed stub of its part shows.
    """
    node = next((node for node in body_of(module) if getattr(node, "name", None) == name), None)
    return node or (stub_of(module, name) if batched(module, name) else None)


def batched(module: str, name: str) -> str:
    """Return the metric's function of which a module makes the call of that name, or nothing.

    `rouge_many = batch(rouge_score, …)` is made of `rouge_score`.
    """
    for node in body_of(module):
        made = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if made and (ast.unparse(node.targets[0]), ast.unparse(node.value.func)) == (name, "batch"):
            return ast.unparse(node.value.args[0])
    return ""


def stub_of(module: str, name: str) -> Any:
    """Return how the typed stub of a module's part defines a call over many texts, with the summary that it has."""
    stub = ROOT / PACKAGE / module.partition(".")[0] / "__init__.pyi"
    nodes = ast.parse(stub.read_text(encoding="utf-8")).body
    node = next((node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name), None)
    if node is not None:
        node.body = [ast.Expr(ast.Constant(f"Score many texts as `{batched(module, name)}` scores one."))]
    return node


def definition(module: str, name: str) -> tuple[str, str]:
    """Return how a public name is called, without its annotations, and the summary in its docstring."""
    module = module if defined(module, name) else origin(module, name)
    node = defined(module, name) if module else None
    if node is None:
        return "", ""
    summary = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    if isinstance(node, ast.ClassDef):
        return "", summary
    arguments = node.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    return f"({ast.unparse(arguments)})", summary


def contents(names: list[str]) -> str:
    """Return the hidden tables of contents that put the pages into the reader's order, one for each part."""
    blocks = []
    for key, caption in PARTS.items():
        pages = [
            f"{numbered(name)} <{name}>" if numbered(name) else name for name in in_order(names) if part(name) == key
        ]
        if pages:
            blocks.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"]))
    return "\n\n".join(blocks)


def from_the_root(text: str, name: str) -> str:
    """Return a page's text with its links as a page beside nbs/index.ipynb would write them."""

    def link(found: re.Match[str]) -> str:
        outside = re.match(r"[a-z]+:|#|/", found[1])
        return f"]({found[1] if outside else posixpath.normpath(posixpath.join(posixpath.dirname(name), found[1]))})"

    return re.sub(r"\]\(([^)\s]+)\)", link, text)


def goals_page(names: list[str]) -> str:
    """Return the page that says what each chapter teaches."""
    lines = ["# What each chapter teaches", "", "Every chapter begins with a question and ends with three exercises."]
    for key, caption in PARTS.items():
        pages = [name for name in in_order(names) if part(name) == key and goals(name)]
        lines += ["", f"## {caption}"] if pages else []
        for name in pages:
            summary = title_and_summary(name)[1]
            lines += ["", f"### [{numbered(name)}]({name}.ipynb)", "", f"{summary} Afterwards you can", ""]
            lines += ["- " + from_the_root(CITATION.sub(r"\1", goal), name) for goal in goals(name)]
    return "\n".join(lines) + "\n"


def solutions_page(names: list[str]) -> str:
    """Return the page that leads to the worked solutions."""
    pages = [f"solutions/{key.partition('_')[2]}" for key in PARTS]  # one a part
    solved = [name for name in pages if name in names]
    text = (
        "# Worked solutions\n\nEach chapter ends with three exercises. `check_exercise` tells you whether an answer "
        "is right. Try first: a solution that one has looked up is forgotten the next day.\n\n"
    )
    return text + "\n".join(["```{toctree}", ":maxdepth: 1", "", *solved, "```", ""])


def bibliography_page() -> str:
    """Return the page of the works that the chapters cite."""
    text = "# Bibliography\n\nThe works that the chapters build on, each with the chapters that cite it.\n\n"
    return text + "```{bibliography}\n:all:\n:list: bullet\n```\n"


def api_page(names: list[str]) -> str:
    """Return the page of all public names, by part and chapter, each with a link to its entry in the chapter."""
    home, public = modules(names), exported()
    lines = [
        "# API reference",
        "",
        f"All public names, by part: `from {PACKAGE}.text import split_units`. What most people type `{PACKAGE}` "
        "offers itself. A name leads to its full entry, with parameters, errors and an "
        "example, in the chapter that builds it, or below.",
    ]
    for key, caption in PARTS.items():
        chapters = [name for name in in_order(list(home.values())) if part(name) == key]
        chapters = [name for name in chapters if any(home.get(module) == name for module in public)]
        lines += ["", f"## {caption}"] if chapters else []
        for chapter in chapters:
            lines += ["", f"### [{numbered(chapter)}]({chapter}.ipynb)", ""]
            for module in (module_name for module_name in public if home.get(module_name) == chapter):
                lines += listed(module, public[module])
    plain = sorted(set(public) - set(home))
    lines += ["", "## Without a chapter"] if plain else []
    for module in plain:
        lines += ["", f"### {PACKAGE}.{module}", "", purpose(module), "", *listed(module, public[module])]
    entries = [line for module, found in public.items() for name in found for line in plain_entry(module, name)]
    return "\n".join([*lines, "", "## Entries of what no chapter builds", "", *entries] if entries else lines) + "\n"


def listed(module: str, names: list[str]) -> list[str]:
    """Return a list of a module's public names, each with how it is called and its summary."""
    lines = []
    for name in names:
        call, summary = definition(module, name)
        link = f"{{py:obj}}`{name} <{PACKAGE}.{module}.{name}>`"
        lines += [f"{link}<!-- -->`{call}`" if call else link, f": {summary or 'See the chapter.'}", ""]
    return lines


def purpose(module: str) -> str:
    """Return the first sentence or two of a module's docstring."""
    found = ast.get_docstring(ast.Module(body_of(module), [])) or ""
    return " ".join(found.partition("\n\n")[0].split())


def plain_entry(module: str, name: str) -> list[str]:
    """Return the full entry of a name that no chapter builds, under the module that offers it; nothing for others.

    The page of a chapter has no entry of a call over many texts, so that those are here, too.
    """
    inside = origin(module, name) or ("" if module in exporting() and not batched(module, name) else module)
    node = defined(inside, name) if inside else None
    kind = {ast.ClassDef: "class", ast.FunctionDef: "function"}.get(type(node))
    if kind is None:
        return []
    told = (ast.get_docstring(node) or "").partition("Attributes\n---")[2]  # what stands there has its entry
    listed = [
        parameter.strip() for names in re.findall(r"^(\w[\w, ]*) : ", told, re.M) for parameter in names.split(",")
    ]
    members = ["   :members:", f"   :exclude-members: {', '.join(listed)}"] if listed else ["   :members:"]
    return ["```{eval-rst}", f".. auto{kind}:: {PACKAGE}.{module}.{name}", *members * (kind == "class"), "```", ""]


def architecture_page() -> str:
    """Return the page that says how the package is built, with its links as the site has them."""
    text = Path(__file__).with_name("architecture.md").read_text(encoding="utf-8")
    return text.replace("](../nbs/", "](")


def made_pages(names: list[str]) -> dict[str, str]:
    """Return the pages that no notebook stands for, save the one to try: file name to text."""
    pages = {"goals.md": goals_page(names), "bibliography.md": bibliography_page(), "api.md": api_page(names)}
    pages["architecture.md"] = architecture_page()
    if any(name.startswith("solutions/") for name in names):
        pages["solutions.md"] = solutions_page(names)
    return pages

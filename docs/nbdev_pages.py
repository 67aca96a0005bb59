"""Sphinx extension: turns the executed notebooks of nbs/ into the pages of the site.

A page is the notebook as it was executed, in the reader's order, with these changes:

- nbdev's directives (`#| export` ...) become myst-nb's tags and are not shown;
- exported code keeps the first line of its docstrings, and the rest stands below it as a reference entry;
- names of public functions and classes in prose link to their entries;
- a link into bibliography.md cites the work, and leads to its entry in the bibliography;
- exported code of more than a few lines is folded under what it does: a reader learns from the calls first;
- what a reader can do after the chapter stands in a box, and so does a note;
- a link offers the notebook itself; what is plain Markdown (the glossary) is a page without one.

The pages that no notebook stands for (bibliography, API reference, what each chapter teaches) come from book.py.
"""

from __future__ import annotations

import ast
import base64
import html
import json
import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import book
import nbformat
import try_page
from book import PACKAGE
from docutils import nodes
from docutils.utils import new_document
from execute import BUILD, NOTEBOOKS, execute_many, execute_notebook, notebooks
from myst_parser.mocking import MockRSTParser
from pybtex.plugin import find_plugin
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import ReferenceRole, SphinxDirective
from sphinx.util.nodes import make_refnode

PAGES = BUILD / "pages"
SCORER = Path(__file__).with_name("search_order.js")
_OPEN_LINES = 15  # longer exported code is folded
_WIDE = 700  # points: a wider picture is not shrunk to a telephone, it scrolls
_DIRECTIVE = re.compile(r"^\s*#\s*\|\s*([\w-]+):?[ \t]*(.*)$")
_ALIGNED = re.compile(r"\S {2,}\S|^\s*\[\[", re.M)  # what stands in columns
_SPELLED = {"bleu": "BLEU", "rouge": "ROUGE", "summeval": "SummEval"}
_TAGS = {
    ("hide", ""): "remove-cell",
    ("default_exp", None): "remove-cell",
    ("include", "false"): "remove-cell",
    ("hide_input", ""): "remove-input",
    ("echo", "false"): "remove-input",
    ("hide_output", ""): "remove-output",
    ("output", "false"): "remove-output",
    ("code-fold", "true"): "hide-input",
    ("eval", "false"): "skip-execution",
}


def split_directives(source: str) -> tuple[dict[str, str], str]:
    """Return the directives at the head of a cell, name to value, and the code below them."""
    lines, directives = source.splitlines(), {}
    while lines and (match := _DIRECTIVE.match(lines[0])):
        directives[match[1]] = match[2].strip()
        lines.pop(0)
    return directives, "\n".join(lines).strip("\n")


def cell_tags(directives: dict[str, str]) -> set[str]:
    """Return myst-nb's tags for nbdev's directives."""
    return {_TAGS.get((key, value), _TAGS.get((key, None))) for key, value in directives.items()} - {None}


def is_export(directives: dict[str, str]) -> bool:
    return not {"export", "exports", "exporti"}.isdisjoint(directives)


def definitions(code: str | ast.ClassDef) -> list[Any]:
    """Return the public functions and classes that some code or a class defines."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    body = ast.parse(code).body if isinstance(code, str) else code.body
    return [node for node in body if isinstance(node, kinds) and not node.name.startswith("_")]


def shorten_docstrings(code: str) -> str:
    """Cut the docstrings of public definitions to their summaries: the whole stands in the reference below."""
    lines = code.splitlines()
    for node in reversed(definitions(code)):
        first = node.body[0]
        if ast.get_docstring(node) and first.end_lineno > first.lineno:
            indent = " " * first.col_offset
            summary = ast.get_docstring(node).partition("\n\n")[0].replace("\n", f"\n{indent}")
            lines[first.lineno - 1 : first.end_lineno] = [f'{indent}"""{summary}"""']
    return "\n".join(lines)


def what_it_does(code: str) -> str:
    """Return the name of the first thing that some code defines, with its summary; or the names of its tables."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = [node for node in ast.parse(code).body if isinstance(node, kinds)]
    first = next((node for node in defined if not node.name.startswith("_")), defined[0] if defined else None)
    if first is None:
        assigned = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
        names = dict.fromkeys(
            name_node.id for name_node in assigned if isinstance(name_node.ctx, ast.Store) and name_node.id.isupper()
        )
        return ", ".join(names) or "names and tables"
    summary = " ".join((ast.get_docstring(first) or "").partition("\n\n")[0].split())
    return f"{first.name}. {summary}".strip(". ").replace("`", "") if summary else first.name


def reference(module: str, found: list[Any], cell_id: str) -> nbformat.NotebookNode:
    """Return a markdown cell with the collapsed reference entries of what a cell defines."""
    entries = []
    for node in found:
        kind, options = ("class", ["   :members:"]) if isinstance(node, ast.ClassDef) else ("function", [])
        entries.append("\n".join([f".. auto{kind}:: {PACKAGE}.{module}.{node.name}", *options]))
    title = ", ".join(f"`{node.name}`" for node in found)
    body = "```{rst-entries}\n" + "\n\n".join(entries) + "\n```"
    text = f"::::{{dropdown}} Reference: {title}\n:class-container: reference\n\n{body}\n::::"
    return nbformat.v4.new_markdown_cell(text, id=f"{cell_id}-reference")


def shown_outputs(outputs: list[Any]) -> list[Any]:
    """Drop what lives only in a running notebook: progress bars, and widgets, of which the still picture stays."""
    widget = "application/vnd.jupyter.widget-view+json"
    kept = [out for out in outputs if widget not in out.get("data", {}) or "text/html" in out.data]
    for out in kept:
        out.get("data", {}).pop(widget, None)
    kept = [out for out in kept if not (out.get("name") == "stderr" and "\r" in out.text)]
    return [terminal_colors(out) if out.get("name") == "stdout" else out for out in kept]


def is_wide(output: Any) -> bool:
    """Whether an output is a picture of which nobody could read the labels on a telephone."""
    picture = output.get("data", {}).get("image/png", "")
    return bool(picture) and int.from_bytes(base64.b64decode(picture)[16:20], "big") > _WIDE  # PNG keeps it there


def is_prose(outputs: list[Any]) -> bool:
    """Whether what a cell prints may break anywhere: messages and lists do, what stands in columns does not."""
    plain = (out.get("text", "") or out.get("data", {}).get("text/plain", "") for out in outputs)
    text = "\n".join(plain)
    return bool(text.strip()) and not _ALIGNED.search(text)


def folded(text: str) -> str:
    """Fold the long sentences among printed lines, as a terminal would; what stands in columns stays as it is."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        if len(line) > 100 and "  " not in line.strip() and "\x1b" not in line:
            line = "\n".join(textwrap.wrap(line, 88, subsequent_indent=f"{indent}  ", break_on_hyphens=False))
        lines.append(line)
    return "\n".join(lines)


def terminal_colors(output: Any) -> Any:
    """Turn the package's 24-bit terminal colours, which myst-nb would drop, into HTML."""
    pattern = re.compile(r"\x1b\[38;2;(\d+;\d+;\d+);48;2;(\d+;\d+;\d+)m(.*?)\x1b\[0m", re.S)
    if not pattern.search(output.text):
        return output
    style = "color:rgb({0});background:rgb({1})".format
    parts = pattern.split(output.text)  # plain, text colour, background, marked, plain, ...
    page = html.escape(parts[0])
    for front, back, marked, plain in zip(*(parts[start::4] for start in (1, 2, 3, 4)), strict=True):
        colors = style(front.replace(";", ","), back.replace(";", ","))
        page += f'<mark style="{colors}">{html.escape(marked)}</mark>{html.escape(plain)}'
    return nbformat.v4.new_output("display_data", {"text/html": f"<pre>{page}</pre>"})


def note(found: re.Match[str]) -> str:
    """Return a quotation that begins with a bold "Note." as an admonition of that kind."""
    body = re.sub(r"^> ?", "", found[2], flags=re.M)
    return f":::{{{found[1].lower()}}}\n{body}\n:::"


def site_markdown(text: str, name: str) -> str:
    """Turn what means something to our readers, but not to MyST, into MyST: citations, notes, the box of goals."""
    text = book.CITATION.sub(r"{work}`\1 <\2>`", text)
    text = re.sub(r"\]\((?:\.\./)*bibliography\.md\)", "](/bibliography.md)", text)
    text = re.sub(r"\]\((?:\.\./)+docs/architecture\.md", "](/architecture.md", text)
    text = book.NOTE.sub(note, text)
    box = "\\g<before>\n\n:::{admonition} After this chapter you can\n:class: tip goals\n\n\\g<list>\n:::\n"
    text = book.GOALS.sub(box, text)
    if name == "glossary":  # in JupyterLab a link finds a heading only if both are written alike
        text = re.sub(
            r"^## (.+)$", lambda match: f"## {_SPELLED.get(match[1], match[1].capitalize())}", text, flags=re.M
        )
    return text


def convert(notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    """Return the page's notebook: directives mapped, references and the download link inserted."""
    module, heading, cells = "", name, []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type != "code":
            cell.source = site_markdown(cell.source, name)
            heading = ([heading] + re.findall(r"^#+ (.+)$", cell.source, re.M))[-1]
            if len(cells) == 1:
                text = f"{{download}}`Download this notebook </_notebooks/{name}.ipynb>`"
                cells.append(nbformat.v4.new_markdown_cell(f"{{.download}}\n{text}", id="download"))
            continue
        directives, code = split_directives(cell.source)
        tags = cell_tags(directives)
        module = directives.get("default_exp", module)
        cell.source, cell.outputs = code, shown_outputs(cell.outputs)
        alt = directives.get("fig-alt", f"Figure of the section “{heading}”")
        wide = {"classes": "wide-picture"} if any(map(is_wide, cell.outputs)) else {}
        cell.metadata["mystnb"] = {"image": {"alt": alt, **wide}}
        if is_prose(cell.outputs):
            tags.add("prose-output")
        for out in cell.outputs if "prose-output" not in tags else []:
            out.update({"text": folded(out.text)} if out.get("name") == "stdout" else {})
        if is_export(directives):
            cell.source = shorten_docstrings(code)
            if all(isinstance(node, (ast.Import, ast.ImportFrom, ast.If)) for node in ast.parse(code).body):
                tags.add("remove-cell")  # imports alone teach nothing
            elif found := definitions(code):
                cells.append(reference(module, found, cell.id))
            if len(cell.source.splitlines()) > _OPEN_LINES and "remove-cell" not in tags:
                tags.add("hide-input")
                prompt = f"How it is built: {what_it_does(code)}"
                cell.metadata["mystnb"] |= {"code_prompt_show": prompt, "code_prompt_hide": prompt}
        cell.metadata["tags"] = sorted({*cell.metadata.get("tags", []), *tags})
    notebook.cells = cells
    notebook.metadata.pop("widgets", None)
    return notebook


def public_names(path: Path) -> dict[str, str]:
    """Return the names that a notebook's page documents, short to full: functions, classes, documented methods."""
    module, names = "", {}
    for cell in nbformat.read(path, 4).cells:
        directives, code = split_directives(cell.source) if cell.cell_type == "code" else ({}, "")
        module = directives.get("default_exp", module)
        for node in definitions(code) if is_export(directives) else []:
            inner = definitions(node) if isinstance(node, ast.ClassDef) else []
            methods = [f"{node.name}.{method.name}" for method in inner if ast.get_docstring(method)]
            names |= {short: f"{PACKAGE}.{module}.{short}" for short in (node.name, *methods)}
    return names


def write_pages(app: Sphinx, config: Any) -> None:
    """Execute what changed, write the pages that changed, and make their folder the one that Sphinx reads."""
    paths = {path.relative_to(NOTEBOOKS).with_suffix("").as_posix(): path for path in notebooks()}
    if "index" not in paths:
        raise ExtensionError("nbs/index.ipynb is missing: it is the site's first page")
    if failures := execute_many(paths.values()):
        raise ExtensionError("\n\n".join(map(str, failures)))
    names = book.written()
    wanted = book.made_pages(names)
    wanted["try.md"] = try_page.page(running=try_page.place())
    config.html_static_path = [*config.html_static_path, str(try_page.STATIC)]
    contents = book.contents([*names, *(name.removesuffix(".md") for name in wanted)])
    config.cited = book.citations([name for name in names if not name.startswith("solutions/")])
    wanted |= {f"{name}.md": site_markdown(book.prose(name), name) for name in names if name not in paths}
    for name, path in paths.items():
        for short, full in public_names(path).items():
            config.public_names.setdefault(short, full)
        page = convert(nbformat.read(execute_notebook(path), 4), name)
        if name == "index":
            page.cells.append(nbformat.v4.new_markdown_cell(contents, id="contents"))
        wanted[f"{name}.ipynb"] = nbformat.writes(page)
        wanted[f"_notebooks/{name}.ipynb"] = path.read_text(encoding="utf-8")
    for short, full in book.plain_names().items():
        config.public_names.setdefault(short, full)
    order = SCORER.read_text(encoding="utf-8").replace(
        "{/* filled in by nbdev_pages */}", json.dumps(book.taught_terms(names))
    )
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / SCORER.name).write_text(order, encoding="utf-8")
    config.html_search_scorer = str(BUILD / SCORER.name)
    for name, text in wanted.items():
        target = PAGES / name
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    pages = [*PAGES.rglob("*.ipynb"), *PAGES.rglob("*.md")]
    gone = [page for page in pages if page.relative_to(PAGES).as_posix() not in wanted]
    if gone:  # every page lists it, so the site is built anew
        shutil.rmtree(app.outdir)
        Path(app.doctreedir).mkdir(parents=True)
    for page in gone:
        page.unlink()
    app.srcdir = type(app.srcdir)(PAGES)


class RstEntries(SphinxDirective):
    """Parse reStructuredText inside a notebook's Markdown.

    MyST's `eval-rst` does the same, but first puts as many blank lines in front as the cell's line number says, and
    myst-nb counts ten thousand lines a cell: a page with 60 entries took minutes.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        document = new_document(self.env.docname, settings=self.state.document.settings)
        document.reporter = self.state.document.reporter
        MockRSTParser().parse("\n".join(self.content), document)
        return document.children


class Work(ReferenceRole):
    """Cite a work in the author's own words: {work}`Papineni et al. (2002) <papineni2002>`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        options = {"refdomain": "", "reftype": "work", "reftarget": self.target, "refexplicit": True}
        link = addnodes.pending_xref("", refdoc=self.env.docname, refwarn=True, **options)
        link += nodes.inline("", self.title, classes=["work"])
        return [link], []


def find_work(app: Sphinx, env: Any, node: nodes.Element, shown: nodes.Element) -> nodes.Element | None:
    """Link a citation to its entry; the whole entry is the link's tooltip. An unknown key still warns."""
    if node.get("reftype") != "work":
        return None
    plain = find_plugin("pybtex.backends", "plaintext")()
    for citation in env.get_domain("cite").citations:
        if citation.key == node["reftarget"]:
            entry = citation.formatted_entry.text.render(plain)
            page = citation.bibliography_key.docname
            return make_refnode(app.builder, node["refdoc"], page, citation.citation_id, shown, entry)
    return None


class WhereCited(SphinxPostTransform):
    """Say below each entry of the bibliography which chapters cite it."""

    default_priority = 6  # after sphinxcontrib-bibtex has made the entries, before links are resolved

    def run(self, **kwargs: Any) -> None:
        if self.env.docname != "bibliography":
            return
        for item in self.document.findall(nodes.list_item):
            key = next(
                (identifier.removeprefix("cite-") for identifier in item["ids"] if identifier.startswith("cite-")), ""
            )
            where = nodes.paragraph("", "Cited in ", classes=["cited-in"])
            for number, name in enumerate(book.in_order(self.config.cited.get(key, []))):
                options = {"refdomain": "std", "reftype": "doc", "reftarget": f"/{name}", "refexplicit": True}
                link = addnodes.pending_xref("", refdoc="bibliography", refwarn=True, **options)
                link += nodes.inline("", book.label(name))
                where += [nodes.Text(", " if number else ""), link]
            if key in self.config.cited:
                item += where


class LinkNames(SphinxTransform):
    """Make `name` in prose and docstrings a link to its reference entry."""

    default_priority = 500
    _NOT_INSIDE = (nodes.title, nodes.rubric, nodes.reference, addnodes.pending_xref, addnodes.desc_signature)

    def apply(self, **kwargs: Any) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            match = re.fullmatch(
                r"(?:summeval_nb\.(?:[a-z_]+\.){0,2})?(\w+(?:\.\w+)?)(?:\(.*\))?", literal.astext(), re.S
            )
            target = self.config.public_names.get(match[1]) if match else None
            if target and not has_ancestor(literal, self._NOT_INSIDE):
                options = {"refdomain": "py", "reftype": "obj", "reftarget": target, "refexplicit": True}
                link = addnodes.pending_xref("", refdoc=self.env.docname, refwarn=True, **options)
                literal.replace_self(link)
                link += literal


def has_ancestor(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    while (node := node.parent) is not None:
        if isinstance(node, kinds):
            return True
    return False


def name_without_entry(app: Sphinx, env: Any, node: nodes.Element, shown: nodes.Element) -> nodes.Element | None:
    """Show a type alias or a private name, which have no entry, without a link; a misspelled name still warns."""
    module, _, name = node.get("reftarget", "").rpartition(".")
    known = module.startswith(PACKAGE) and hasattr(sys.modules.get(module), name)
    return shown if known else None


def plural_names(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let a docstring say `Answer`s: in reStructuredText a letter may not follow the closing mark."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"(?<!`)(`[^`]+`)(?=(\w?))", lambda m: m[1] + ("\\ " if m[2] else ""), line)


def skip_fields(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out a named tuple's fields, which would all say "Alias for field number ..."."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def forget_after_warnings(app: Sphinx, exception: Exception | None) -> None:
    """Make the next build read every page again, or it would pass because it did not look."""
    if exception or app._warncount:
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("public_names", {}, "env")
    app.add_config_value("cited", {}, "env")
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-docstring", plural_names)
    app.connect("missing-reference", name_without_entry)
    app.connect("missing-reference", find_work)
    app.connect("build-finished", forget_after_warnings)
    app.add_directive("rst-entries", RstEntries)
    app.add_role("work", Work())
    app.add_transform(LinkNames)
    app.add_post_transform(WhereCited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

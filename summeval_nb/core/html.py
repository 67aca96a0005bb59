"""HTML, terminal text, Markdown and pictures from plain data: what comes from outside is escaped here."""

from __future__ import annotations

import hashlib
import html
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from .base import JsonDict, is_numpy, np, plt

if TYPE_CHECKING:
    import jinja2

__all__ = ["Entry", "Mark", "Markup", "Report", "axes_for", "escape", "escape_markdown", "evidence_markdown"]
__all__ += ["evidence_report", "evidence_text", "figure_text", "folded", "heat_map", "html_page", "html_table"]
__all__ += ["mark_html", "mark_terminal", "markdown_report", "markdown_table", "printable", "probability_color"]
__all__ += ["render", "result_markdown", "style_sheet", "text_table"]

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escape(text: str) -> str:
    """Return `text` safe to stand in HTML, as content or inside a quoted attribute.

    Control characters and lone surrogates, which no page can hold, become U+FFFD.
    """
    return html.escape(_UNPRINTABLE.sub("\ufffd", str(text)), quote=True)


def printable(text: str) -> str:
    """Return `text` safe to print: characters that a terminal obeys, or that reorder its line, become U+FFFD."""
    return _COMMANDS.sub("\ufffd", str(text).replace("\r\n", "\n"))


def figure_text(text: str) -> str:
    """Return `text` safe to stand in a matplotlib figure: no mathematics, nothing unprintable."""
    return printable(text).replace("$", r"\$")


class Markup(str):
    """HTML made by this module: nothing here escapes it again."""

    def __html__(self) -> str:
        return str(self)


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    escaped = lambda value: value if hasattr(value, "__html__") else Markup(escape(str(value)))
    loader = jinja2.PackageLoader("summeval_nb", "assets/templates")
    strict: dict[str, Any] = {"undefined": jinja2.StrictUndefined, "finalize": escaped}
    found = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, **strict)
    found.filters["tint"] = lambda share: Markup("background:{};color:{}".format(*probability_color(share)))
    found.globals["table"] = html_table
    return found


@cache
def style_sheet() -> Markup:
    """Return the one style sheet as an element; `html_page` needs it once only."""
    sheet = files("summeval_nb").joinpath("assets/summeval.css").read_text("utf-8")
    return Markup(f"<style>{sheet}</style>")


def render(template: str, **values: object) -> Markup:
    """Draw a template of `summeval_nb/assets/templates`; every text among the values is escaped."""
    return Markup(_templates().get_template(template).render(**values, sheet=style_sheet()))


def html_page(title: str, body: str) -> str:
    """Return a complete HTML document that makes no request and runs no script.

    The title is escaped. The body is HTML made by this package; text from outside must already be escaped in it.
    """
    once = body.replace(style_sheet(), "")  # a page needs the style sheet of its blocks once
    return f"{render('page.html', title=title, body=Markup(once))}\n"


def folded(title: str, body: Markup, *, opened: bool = False) -> Markup:
    """Return HTML of ours behind its title, which is escaped."""
    return render("fold.html", title=title, body=body, opened=opened)


_SCALE = ((0xF5, 0xB2, 0x7A), (0xF2, 0xEE, 0xE6), (0x8F, 0xC1, 0xE8))  # unsupported, undecided, supported


def probability_color(probability: float | None) -> tuple[str, str]:
    """Return (background, text colour) for a probability of support, two `#rrggbb` with a contrast of at least 4.5.

    None means that nothing was judged, and gives grey.
    """
    if probability is None:
        return "#d0d0d0", "#1a1a1a"
    mixed = [np.interp(probability, [0, 0.5, 1], channel) for channel in zip(*_SCALE, strict=True)]
    return "#" + "".join(f"{round(value):02x}" for value in mixed), "#1a1a1a"


class Mark(NamedTuple):
    """A passage `text[start:end]` to draw, its colours, and the words shown when a pointer rests on it."""

    start: int
    end: int
    background: str = "#ffe08a"
    color: str = "#1a1a1a"
    title: str = ""


def _pieces(text: str, marks: Iterable[Mark]) -> list[tuple[str, Mark | None]]:
    """The text cut at the marks' positions; where marks overlap, the earlier in the list owns the characters."""
    owner: list[Mark | None] = [None] * len(text)
    for mark in marks:
        if not 0 <= mark.start <= mark.end <= len(text):
            raise ValueError(f"mark {mark.start}:{mark.end} lies outside a text of {len(text)} characters")
        owner[mark.start : mark.end] = [own or mark for own in owner[mark.start : mark.end]]
    runs = (list(places) for _, places in groupby(range(len(text)), key=lambda i: id(owner[i])))
    return [(text[places[0] : places[-1] + 1], owner[places[0]]) for places in runs]


def mark_html(text: str, marks: Iterable[Mark]) -> Markup:
    """Return `text` as escaped HTML with each mark, in colours written `#rrggbb`, as a `<mark>` element.

    Examples
    --------
    >>> mark_html("a <b", [Mark(2, 4, "#000000", "#ffffff")])
    'a <mark style="background:#000000;color:#ffffff">&lt;b</mark>'
    """
    pieces = _pieces(text, marks)
    for color in (color for _, mark in pieces if mark for color in (mark.background, mark.color)):
        if not re.fullmatch(r"#[0-9a-fA-F]{6}", color):
            raise ValueError(f"a mark's colours must be like #ffe08a, not {color!r}")
    return render("marks.html", pieces=pieces)


def mark_terminal(text: str, marks: Iterable[Mark], *, color: bool = True) -> str:
    """Return `text` for a terminal, with marks in colour (24-bit escape sequences) or in [brackets]."""
    out = ""
    for piece, mark in _pieces(text, marks):
        plain = printable(piece)
        if mark is not None:
            front, back = (";".join(map(str, bytes.fromhex(part[1:]))) for part in (mark.color, mark.background))
            plain = f"\x1b[38;2;{front};48;2;{back}m{plain}\x1b[0m" if color else f"[{plain}]"
        out += plain
    return out


Rows = Sequence[Mapping[str, object]]


def _table(rows: Rows, columns: Sequence[str] | None) -> tuple[list[str], list[list[object]]]:
    """The columns of a table, by default those of its first row, and its cells: floats with four digits, None as –."""
    names = list(columns if columns is not None else (rows[0] if rows else ()))
    digits = lambda value: f"{value:.4f}" if isinstance(value, float) or is_numpy(value, "floating") else value
    shown = lambda value: "–" if value is None else digits(value)
    return names, [[shown(row.get(name)) for name in names] for row in rows]


def html_table(rows: Rows, *, columns: Sequence[str] | None = None, caption: str = "", note: str = "") -> Markup:
    """Return rows as an HTML table: floats with four digits, None as a dash, all escaped that is no `Markup`.

    The columns are by default the first row's keys. The caption is the title; the note stands below in small print.

    Examples
    --------
    >>> html_table([{"score": None}])
    '<table><thead><tr><th
    scope="col">score</th></tr></thead><tbody><tr><td>–</td></tr></tbody></table>'
    """
    names, cells = _table(rows, columns)
    return render("table.html", names=names, rows=cells, caption=caption, note=note)


def text_table(rows: Rows, *, columns: Sequence[str] | None = None) -> str:
    """Return rows as an aligned text table, with the conventions of `html_table`.

    Examples
    --------
    >>> print(text_table([{"n": 1, "precision": 1.0}, {"n": 2, "precision": None}]))
    n  precision
    1  1.0000
    2  –
    """
    names, values = _table(rows, columns)
    plain = [[html.unescape(cell) if isinstance(cell, Markup) else str(cell) for cell in row] for row in values]
    cells = [[printable(cell).replace("\n", " ") for cell in row] for row in (names, *plain)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


_MARKS = {ord(mark): f"\\{mark}" for mark in "`*_[]~!#"}  # as a renderer unescapes them
_MARKS |= {ord(mark): f"&#{ord(mark)};" for mark in "\\|$"}  # what splits a cell, whatever stands before it
_MARKS |= {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;"}
_LINKING = re.compile(r"[@#](?=\w)|:(?=//)|\bwww(?=\.)|\bgh-(?=\d)", re.IGNORECASE)
_BEGINNING = re.compile(r"[-+=](?!\d)|\d{1,9}(?=[.)](?:\s|$))")


def escape_markdown(text: str) -> str:
    """Return `text` as GitHub-flavoured Markdown that shows it, and nothing else, on one line.

    No character makes markup or HTML, ends a table's cell, or begins a list or heading. A word joiner (U+2060), which
    is not seen, keeps addresses, @mentions and #numbers from becoming links.

    Examples
    --------
    >>> print(escape_markdown("a|b <i> [x](y) *z*"))
    a&#124;b &lt;i&gt; \\[x\\](y) \\*z\\*
    """
    line = printable(" ".join(str(text).split()))
    line = _LINKING.sub("\\g<0>\u2060", line).translate(_MARKS)
    first = f"&#{ord(line[0])};" if _BEGINNING.match(line) else line[:1]
    return first + line[1:]


def markdown_table(rows: Rows, *, columns: Sequence[str] | None = None) -> str:
    """Return rows as a table of GitHub-flavoured Markdown, with the conventions of `html_table`."""
    names, cells = _table(rows, columns)
    lines: list[Sequence[object]] = [names, [Markup("---")] * len(names), *cells] if names else []
    drawn = ([cell if isinstance(cell, Markup) else escape_markdown(str(cell)) for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in drawn)


def markdown_report(title: str, lines: Iterable[str] = (), rows: Rows = (), *, note: str = "", level: int = 2) -> str:
    """Return a heading, paragraphs, a table and a note in small print as Markdown, all of them escaped."""
    small = f"<sub>{escape_markdown(note)}</sub>" if note else ""
    heading = f"{'#' * level} {escape_markdown(title)}" if title else ""
    told = [heading, *map(escape_markdown, lines), markdown_table(rows), small]
    return "\n\n".join(part for part in told if part) + "\n"


def result_markdown(title: str, result: Any) -> str:
    """Return a result as Markdown for pull requests and summaries of jobs: its line, and at most a hundred rows."""
    rows = result.rows() if hasattr(result, "rows") else [result.to_dict()]
    more = [f"The first 100 of {len(rows)} rows."] if len(rows) > 100 else []
    return markdown_report(title, [repr(result).partition("\n")[0], *more], rows[:100])


def axes_for(ax: plt.Axes | None, width: float, height: float) -> plt.Axes:
    """Return the given axes, or the axes of a new figure of this size in inches."""
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def draw_interval(
    ax: plt.Axes,
    place: float,
    value: float | None,
    ends: Sequence[float | None] | None,
    color: str,
    *,
    hollow: bool = False,
    shape: str = "o",
) -> None:
    """Draw one value with its interval on a line of its own; an undefined one leaves its place empty."""
    if value is not None:
        low, high = ends or (None, None)
        if low is not None and high is not None:
            ax.plot([low, high], [place, place], color=color, linewidth=1.6)
        ax.plot(value, place, shape, color=color, markerfacecolor="white" if hollow else color, markersize=5)


def heat_map(
    matrix: np.typing.ArrayLike,
    *,
    row_label: str,
    column_label: str,
    marked: Iterable[tuple[int, int]] = (),
    value_label: str = "",
    value_range: tuple[float | None, float | None] = (None, None),
    title: str = "",
    ax: plt.Axes | None = None,
) -> plt.Axes:
    """Draw a matrix of finite numbers as a heat map, with the cells (row, column) of `marked` framed.

    Without `value_range` the colours go from the smallest value to the greatest. New axes are sized for the matrix.
    """
    from matplotlib.patches import Rectangle

    values = np.asarray(matrix, dtype=float)
    rows, columns = values.shape
    ax = axes_for(ax, min(14, 2.5 + 0.45 * columns), min(10, 1.4 + 0.45 * rows))
    image = ax.imshow(values, cmap="cividis", vmin=value_range[0], vmax=value_range[1], aspect="auto")
    for row, column in marked:
        ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#ff7f0e", linewidth=2.5))
    ax.set(xlabel=figure_text(column_label), ylabel=figure_text(row_label), title=figure_text(title))
    x, y = (range(0, count, max(1, -(-count // 20))) for count in (columns, rows))  # at most about twenty
    ax.set(xticks=x, yticks=y)
    ax.figure.colorbar(image, ax=ax, label=figure_text(value_label))
    return ax


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One judged sentence, as plain data for drawing.

    `probability` of support is None where nothing was judged, and for a hard verdict; `state` is "supported", "unclear"
    or "contradicted", where the checker tells three apart. `decimals` are as many as show on which side of a threshold
    it lies. `evidence` are article sentences by index with their similarities, best first; `findings` are kind, start
    and end in `text` of what the evidence does not hold. The note says why it failed, or the mass of a model's options.
    """

    text: str
    probability: float | None
    supported: bool | None
    evidence: Sequence[tuple[int, float | None]] = ()
    findings: Sequence[tuple[str, int, int]] = ()
    note: str = ""
    state: str | None = None
    decimals: int = 2

    def drawn(self) -> Iterator[tuple[str, int, int]]:
        """The findings in order; of those that overlap, the first."""
        position = 0
        for kind, start, end in sorted(self.findings, key=lambda finding: finding[1:]):
            if start >= position:
                yield kind, start, end
                position = end

    def pieces(self) -> Iterator[tuple[str, str | None]]:
        """Yield the text in pieces, each with the kind of the finding that it is, or None."""
        position = 0
        for kind, start, end in self.drawn():
            yield self.text[position:start], None
            yield self.text[start:end], kind
            position = end
        yield self.text[position:], None

    @property
    def label(self) -> str:
        """The verdict in words and its probability, so that colour is never the only sign."""
        if self.supported is None:
            return "not judged"
        verdict = self.state or ("supported" if self.supported else "not supported")
        return f"{verdict} (hard)" if self.probability is None else f"{verdict} {self.probability:.{self.decimals}f}"

    @property
    def tone(self) -> float | None:
        """Its place on the scale of colours: one for each state where there are three, otherwise the probability."""
        if self.supported is None:
            return None
        if self.state is None:
            return float(self.supported) if self.probability is None else self.probability
        return {"supported": 1.0, "unclear": 0.5, "contradicted": 0.0}[self.state]


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that a drawn report shows, as plain data.

    `spans` are the places of the sentences in `source`, the article; `names` what each is called where it is quoted, by
    default its number. `groups` are the name and the number of entries of each of several summaries. `judged_by` says
    who judged; `measured` how well that judge works, a row for each labelled set. The note stands under the sentences.
    """

    title: str
    source: str
    spans: Sequence[tuple[int, int]]
    entries: Sequence[Entry]
    signature: str
    groups: Sequence[tuple[str, int]] = ()
    judged_by: str = ""
    measured: Rows = ()
    note: str = ""
    names: Sequence[str] = ()

    def name(self, index: int) -> str:
        """Return what a sentence of the article is called."""
        return self.names[index] if self.names else str(index + 1)

    def quote(self, index: int) -> str:
        """Return a sentence of the article."""
        return self.source[slice(*self.spans[index])]

    def grouped(self) -> Iterator[tuple[str | None, list[tuple[int, Entry]]]]:
        """Yield each group's name with its entries and their positions; without groups, all under no name."""
        entries = enumerate(self.entries)
        groups: Sequence[tuple[str | None, int]] = self.groups or [(None, len(self.entries))]
        for name, count in groups:
            yield name, list(islice(entries, count))


_SHOWN = 3  # pieces of evidence that are shown for a sentence; the others stay folded, or are counted
_FRAME = "background: #ffe08a; color: #1a1a1a; outline: 2px solid #b35c00; outline-offset: 1px;"
_TINT = "background: #fff3cc; color: #1a1a1a;"
_LINES = {"word": "dotted", "name": "dashed", "number": "double", "negation": "wavy", "modality": "wavy"}
_HINTS = {
    "name": "not in the evidence, or another is named there",
    "number": "not in the evidence, or another stands there",
    "negation": "denied on one side only",
    "antonym": "the evidence has the opposite, or another of its kind",
    "role": "told of another, or the other way round, in the evidence",
    "modality": "in the evidence only under a condition, as a plan or as possible",
}
_QUESTION = "How well does it work?"


def evidence_report(report: Report, *, key: int | None = None) -> Markup:
    """Return a report as one HTML block to show in a notebook or in `html_page`: no script, no request, all escaped.

    Three pieces of evidence of a sentence are lit in the article and quoted; the others stay folded. `key`
    says which of several reports of a page it is, so that two of the same texts have names of their own.
    """
    # its name is the same for the same texts and choices, since the last digits of a result are another processor's
    texts, sizes = [entry.text for entry in report.entries], [n for _, n in report.groups]
    told = [report.source, texts, sizes, report.signature, report.judged_by, *([] if key is None else [key])]
    name = "sr" + hashlib.sha256(repr(tuple(told)).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    ends = [0, *(end for _, end in report.spans)]  # each sentence of the article, with what stands before it
    spans = zip(ends, report.spans, strict=False)
    article = [(report.source[before:start], report.source[start:end]) for before, (start, end) in spans]
    rules, numbers = [], []
    for group, entries in report.grouped():
        for position, entry in entries:
            # when a sentence is open, its best evidence is framed in the article, the next best tinted
            for place, (index, _) in enumerate(entry.evidence[:_SHOWN]):
                style = _TINT if place else _FRAME
                rules.append(f"#{name}:has(#{name}-s{position}[open]) #{name}-a{index} {{ {style} }}")
            evidence = ", ".join(report.name(i) + ("" if s is None else f" ({s:.4f})") for i, s in entry.evidence)
            row: JsonDict = {"summary": group} if report.groups else {}
            row |= {"sentence": position + 1, "verdict": entry.label, "probability": entry.probability}
            numbers.append(row | {"evidence: article sentence (similarity)": evidence, "note": entry.note})
    low = [(0.5, "unclear"), (0.0, "contradicted")] if any(entry.state for entry in report.entries) else []
    low = low or [(0.0, "not supported")]
    drawn: JsonDict = {"groups": list(report.grouped()), "numbers": numbers, "rules": Markup("\n".join(rules))}
    drawn |= {"kinds": sorted({kind for entry in report.entries for kind, _, _ in entry.findings})}
    drawn |= {"scale": [(1.0, "supported"), *low, (None, "not judged")], "article": article}
    drawn |= {"rest": report.source[ends[-1] :], "lines": _LINES, "hints": _HINTS, "question": _QUESTION}
    return render("report.html", report=report, name=name, shown=_SHOWN, **drawn)


def _folded(text: str, width: int, brackets: Sequence[int] = ()) -> str:
    """The text on lines of at most `width` characters, white space turned into their ends; some have a bracket more."""
    plain = re.sub("[\n\r\t]", " ", text)
    letters, start = list(plain), 0
    while True:
        room = max(20, width - sum(start <= place <= start + width for place in brackets))
        cut = plain.rfind(" ", start + 1, start + room + 1)
        cut = plain.find(" ", start + 1) if cut < 0 else cut  # a word may be longer than the line
        if cut < 0 or len(plain) - start <= room:
            return "".join(letters)
        letters[cut], start = "\n", cut + 1


def _paragraph(text: str, width: int, *, front: str = "") -> str:
    """A text that anybody wrote, folded behind a front, or with an indent under it."""
    indent = len(front) or 4
    return front + printable(_folded(text, width - indent)).replace("\n", "\n" + " " * indent)


def _signed(signature: str, width: int) -> str:
    """A signature on lines of at most `width` characters, cut behind a choice."""
    first, *others = printable(signature).replace("\n", " ").split("|")
    lines = [first]
    for part in others:
        lines[-1] += "|"
        if len(lines[-1]) + len(part) + 1 > width:
            lines.append("  ")
        lines[-1] += part
    return "\n".join(lines)


def evidence_text(report: Report, *, color: bool = False, width: int | None = None) -> str:
    """Return a report as text: each sentence with its verdict, what was not found, and its evidence, best first.

    Without `color` findings stand in [brackets]. Lines are folded at `width`, by default the terminal's, and 88 where
    the text goes elsewhere, such as into a notebook.
    """
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    wide = width or (shutil.get_terminal_size((88, 24)).columns if on_terminal else 88)
    more = f" {_QUESTION}" if report.measured else ""
    heads = [report.title, *([report.judged_by + more] if report.judged_by else [])]
    lines = [*(_paragraph(head, wide) for head in heads), ""]
    longest = max([18, *(len(entry.label) for entry in report.entries)])
    for name, entries in report.grouped():
        lines += [] if name is None else ["", _paragraph(name, wide), ""]
        for place, (_, entry) in enumerate(entries, 1):
            badge = f" {printable(entry.label):<{longest}} "
            indent = 5 + len(badge)
            found = [Mark(start, end, "#f5b27a") for _, start, end in entry.drawn()]
            edges = () if color else [end for mark in found for end in mark[:2]]
            text = mark_terminal(_folded(entry.text, wide - indent, edges), found, color=color)
            if color:
                badge = mark_terminal(badge, [Mark(0, len(badge), *probability_color(entry.tone))])
            lines.append(f"{place:>3} {badge} " + text.replace("\n", "\n" + " " * indent))
            for index, similarity in entry.evidence[:_SHOWN]:
                measured = "     " if similarity is None else f"{similarity:5.2f}"
                head = f"{'':>8} {measured}  [{printable(report.name(index))}] "
                lines.append(_paragraph(report.quote(index), wide, front=head))
            if entry.evidence[_SHOWN:]:
                lines.append(f"{'':>8}        and {len(entry.evidence[_SHOWN:])} more, less similar")
            if entry.note:
                lines.append(_paragraph(entry.note, wide, front=" " * 9))
    told = [report.note, f"{_QUESTION} summeval how-well says it, set by set." if report.measured else ""]
    notes = ["", *(_paragraph(note, wide) for note in told if note)]
    return "\n".join([*lines, *notes, "", _signed(report.signature, wide)])


def evidence_markdown(report: Report) -> str:
    """Return a report as GitHub-flavoured Markdown: a table of the sentences, each with its verdict and evidence."""
    parts = [markdown_report(report.title, [line for line in (report.judged_by, report.note) if line])]
    for name, entries in report.grouped():
        rows = []
        for _, entry in entries:
            quotes = []
            for index, similarity in entry.evidence[:_SHOWN]:
                measured = "" if similarity is None else f"; {similarity:.2f}"
                quotes.append(f"{report.quote(index)} ({report.name(index)}{measured})")
            told = Markup("<br>".join(map(escape_markdown, [*quotes, *([entry.note] if entry.note else [])])))
            missing = ", ".join(entry.text[start:end] for _, start, end in entry.drawn())
            rows.append({"sentence": entry.text, "verdict": entry.label, "not found": missing, "evidence": told})
        parts += [markdown_report(name or "", rows=rows, level=3)] if rows or name else []
    return "\n".join([*parts, markdown_report("", note=report.signature)])

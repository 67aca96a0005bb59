"""HTML, terminal text and pictures from plain data: what comes from outside is escaped here."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from .base import is_numpy, np

if TYPE_CHECKING:
    import jinja2
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


__all__ = [
    "escape",
    "Markup",
    "style_sheet",
    "render",
    "relative_luminance",
    "contrast",
    "UNSUPPORTED",
    "UNDECIDED",
    "SUPPORTED",
    "NOT_JUDGED",
    "probability_color",
    "Mark",
    "mark_html",
    "printable",
    "mark_terminal",
    "html_table",
    "text_table",
    "escape_markdown",
    "markdown_table",
    "markdown_report",
    "html_page",
    "folded",
    "figure_text",
    "axes_for",
    "heat_map",
]


_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def escape(text: str) -> str:
    """Return `text` safe to stand in HTML, as content or inside a quoted attribute.

    The five special characters become entities; control characters and lone
    surrogates, which no page can hold, become U+FFFD.

    Parameters
    ----------
    text : str
        Any text, trusted or not.

    Returns
    -------
    str
        Text that holds no markup.

    Examples
    --------
    >>> escape('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(_UNPRINTABLE.sub("\ufffd", str(text)), quote=True)


class Markup(str):
    """HTML made by this module: nothing here escapes it again."""

    def __html__(self) -> str:
        return str(self)


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    loader = jinja2.PackageLoader("summeval_nb", "assets/templates")
    strict: dict[str, Any] = {"undefined": jinja2.StrictUndefined, "finalize": _escaped}
    found = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, **strict)
    found.filters["tint"] = _tint
    found.globals["table"] = lambda *args, **kwargs: html_table(*args, **kwargs)
    return found


def _escaped(value: object) -> object:
    """The HTML of a template's value: markup unchanged, everything else escaped."""
    return value if hasattr(value, "__html__") else Markup(escape(str(value)))


def _tint(probability: float | None) -> Markup:
    return Markup("background:{};color:{}".format(*probability_color(probability)))


@cache
def style_sheet() -> Markup:
    """Return the one style sheet as an element; `html_page` needs it once only."""
    sheet = files("summeval_nb").joinpath("assets/summeval.css").read_text("utf-8")
    return Markup(f"<style>{sheet}</style>")


def render(template: str, **values: object) -> Markup:
    """Draw a template of `summeval_nb/assets/templates`; every text among the values is
    escaped."""
    drawn = _templates().get_template(template).render(**values, sheet=style_sheet())
    return Markup(drawn)


def relative_luminance(color: str) -> float:
    """Return the relative luminance of a `#rrggbb` colour, in [0, 1] (WCAG 2.2)."""
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(color: str, other: str) -> float:
    """Return the contrast ratio of two `#rrggbb` colours, from 1 (the same) to 21 (WCAG
    2.2)."""
    low, high = sorted((relative_luminance(color), relative_luminance(other)))
    return (high + 0.05) / (low + 0.05)


UNSUPPORTED, UNDECIDED, SUPPORTED, NOT_JUDGED = (
    "#f5b27a",
    "#f2eee6",
    "#8fc1e8",
    "#d0d0d0",
)


def probability_color(probability: float | None) -> tuple[str, str]:
    """Return (background, text colour) for a probability of support.

    Parameters
    ----------
    probability : float or None
        In [0, 1]; None means that nothing was judged and gives grey.

    Returns
    -------
    tuple of str
        Two `#rrggbb` colours with a contrast of at least 4.5.

    Examples
    --------
    >>> probability_color(None)
    ('#d0d0d0', '#1a1a1a')
    """
    if probability is None:
        return NOT_JUDGED, "#1a1a1a"
    anchors = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (UNSUPPORTED, UNDECIDED, SUPPORTED)])
    mixed = [np.interp(probability, [0, 0.5, 1], anchors[:, channel]) for channel in range(3)]
    return "#" + "".join(f"{round(value):02x}" for value in mixed), "#1a1a1a"


class Mark(NamedTuple):
    """A passage `text[start:end]` to draw, its colours, and the words shown when a
    pointer rests on it."""

    start: int
    end: int
    background: str = "#ffe08a"
    color: str = "#1a1a1a"
    title: str = ""


def _pieces(text: str, marks: Iterable[Mark]) -> list[tuple[str, Mark | None]]:
    """Cut `text` at the marks' positions; where marks overlap, the earlier in the list
    owns the characters."""
    owner: list[Mark | None] = [None] * len(text)
    for mark in marks:
        if not 0 <= mark.start <= mark.end <= len(text):
            raise ValueError(f"mark {mark.start}:{mark.end} lies outside a text of {len(text)} characters")
        for position in range(mark.start, mark.end):
            owner[position] = owner[position] or mark
    cuts = [i for i in range(len(text)) if i == 0 or owner[i] is not owner[i - 1]] + [len(text)]
    return [(text[start:end], owner[start]) for start, end in zip(cuts[:-1], cuts[1:], strict=True)]


_COLOR = re.compile(r"#[0-9a-fA-F]{6}")


def mark_html(text: str, marks: Iterable[Mark]) -> Markup:
    """Return `text` as escaped HTML with each mark as a coloured `<mark>` element.

    Parameters
    ----------
    text : str
        The text, from anywhere.
    marks : iterable of Mark
        Positions into `text`. Where marks overlap, the earlier one in the list is
        drawn.

    Returns
    -------
    Markup
        HTML without any markup from `text` or from the titles.

    Raises
    ------
    ValueError
        If a mark lies outside the text, or a colour is not written as `#rrggbb`.

    Examples
    --------
    >>> mark_html("a <b", [Mark(2, 4, "#000000", "#ffffff")])
    'a <mark style="background:#000000;color:#ffffff">&lt;b</mark>'
    """
    pieces = _pieces(text, marks)
    for mark in (mark for _, mark in pieces if mark):
        if not (_COLOR.fullmatch(mark.background) and _COLOR.fullmatch(mark.color)):
            raise ValueError(f"a mark's colours must be like #ffe08a, not {mark.background!r} and {mark.color!r}")
    return render("marks.html", pieces=pieces)


_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return `text` safe to print: characters that a terminal obeys, or that reorder
    its line, become U+FFFD.

    Examples
    --------
    >>> printable("safe \\x1b[2J")
    'safe \ufffd[2J'
    """
    return _COMMANDS.sub("\ufffd", str(text).replace("\r\n", "\n"))


def mark_terminal(text: str, marks: Iterable[Mark], *, color: bool = True) -> str:
    """Return `text` for a terminal, with marks in colour (24-bit escape sequences) or
    in [brackets].

    Examples
    --------
    >>> mark_terminal("the cat sat", [Mark(4, 7)], color=False)
    'the [cat] sat'
    """
    out = []
    for piece, mark in _pieces(text, marks):
        plain = printable(piece)
        if mark is None:
            out.append(plain)
        elif color:
            front, back = (_channels(mark.color), _channels(mark.background))
            out.append(f"\x1b[38;2;{front};48;2;{back}m{plain}\x1b[0m")
        else:
            out.append(f"[{plain}]")
    return "".join(out)


def _channels(color: str) -> str:
    return ";".join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))


def _shown(value: object) -> object:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) or is_numpy(value, "floating") else value


def html_table(
    rows: Sequence[Mapping[str, object]],
    *,
    columns: Sequence[str] | None = None,
    caption: str = "",
    note: str = "",
) -> Markup:
    """Return rows as an HTML table: floats with four digits, None as a dash, everything
    else escaped.

    Parameters
    ----------
    rows : sequence of mappings
        One mapping a row, column name to value. A `Markup` value is inserted as it is.
    columns : sequence of str, optional
        Which columns, in which order. Default: the first row's keys.
    caption : str, optional
        The table's title, read out by screen readers.
    note : str, optional
        What stands below it in small print, such as a signature.

    Examples
    --------
    >>> html_table([{"score": None}])
    '<table><thead><tr><th
    scope="col">score</th></tr></thead><tbody><tr><td>–</td></tr></tbody></table>'
    """
    names = list(columns if columns is not None else (rows[0] if rows else ()))
    cells = [[_shown(row.get(name)) for name in names] for row in rows]
    return render("table.html", names=names, rows=cells, caption=caption, note=note)


def text_table(rows: Sequence[Mapping[str, object]], *, columns: Sequence[str] | None = None) -> str:
    """Return rows as an aligned text table, with the conventions of `html_table`.

    Examples
    --------
    >>> print(text_table([{"n": 1, "precision": 1.0}, {"n": 2, "precision": None}]))
    n  precision
    1  1.0000
    2  –
    """
    names = list(columns if columns is not None else (rows[0] if rows else ()))
    whole: list[Sequence[object]] = [names]
    whole += [[_shown(row.get(name)) for name in names] for row in rows]
    cells = [[" ".join(printable(_plain(cell)).split("\n")) for cell in line] for line in whole]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    lines = ("  ".join(value.ljust(width) for value, width in zip(line, widths, strict=True)) for line in cells)
    return "\n".join(line.rstrip() for line in lines)


def _plain(cell: object) -> str:
    return html.unescape(cell) if isinstance(cell, Markup) else str(cell)


_MARKS = {ord(mark): f"\\{mark}" for mark in "`*_[]~!#"}  # as a renderer unescapes them
_MARKS |= {ord(mark): f"&#{ord(mark)};" for mark in "\\|$"}  # what splits a cell, whatever stands before it
_MARKS |= {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;"}
_LINKING = re.compile(r"[@#](?=\w)|:(?=//)|\bwww(?=\.)|\bgh-(?=\d)", re.IGNORECASE)
_BEGINNING = re.compile(r"[-+=](?!\d)|\d{1,9}(?=[.)](?:\s|$))")


def escape_markdown(text: str) -> str:
    """Return `text` as GitHub-flavoured Markdown that shows it, and nothing else, on one line.

    No character makes markup or HTML, ends a table's cell, or begins a list or heading. A
    word joiner (U+2060), which is not seen, keeps addresses, @mentions and #numbers from
    becoming links.

    Examples
    --------
    >>> print(escape_markdown("a|b <i> [x](y) *z*"))
    a&#124;b &lt;i&gt; \\[x\\](y) \\*z\\*
    """
    line = printable(" ".join(str(text).split()))
    line = _LINKING.sub("\\g<0>\u2060", line).translate(_MARKS)
    first = f"&#{ord(line[0])};" if _BEGINNING.match(line) else line[:1]
    return first + line[1:]


def markdown_table(rows: Sequence[Mapping[str, object]], *, columns: Sequence[str] | None = None) -> str:
    """Return rows as a table of GitHub-flavoured Markdown, with the conventions of `html_table`.

    Examples
    --------
    >>> print(markdown_table([{"n": 1, "precision": None}]))
    | n | precision |
    | --- | --- |
    | 1 | – |
    """
    names = list(columns if columns is not None else (rows[0] if rows else ()))
    if not names:
        return ""
    lines: list[Sequence[object]] = [names, [Markup("---")] * len(names)]
    lines += [[_shown(row.get(name)) for name in names] for row in rows]
    cells = ([cell if isinstance(cell, Markup) else escape_markdown(str(cell)) for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def markdown_report(
    title: str, lines: Iterable[str] = (), rows: Sequence[Mapping[str, object]] = (), *, note: str = "", level: int = 2
) -> str:
    """Return a heading, paragraphs, a table and a note in small print as Markdown, all of them escaped."""
    small = f"<sub>{escape_markdown(note)}</sub>" if note else ""
    heading = f"{'#' * level} {escape_markdown(title)}" if title else ""
    told = [heading, *map(escape_markdown, lines), markdown_table(rows), small]
    return "\n\n".join(part for part in told if part) + "\n"


def html_page(title: str, body: str) -> str:
    """Return a complete HTML document that makes no request and runs no script.

    Parameters
    ----------
    title : str
        Escaped into the page's title.
    body : str
        HTML made by this package; text from outside must already be escaped.
    """
    once = body.replace(style_sheet(), "")  # a page needs the style sheet of its blocks once
    return f"{render('page.html', title=title, body=Markup(once))}\n"


def folded(title: str, body: Markup, *, opened: bool = False) -> Markup:
    """Return HTML of ours behind its title, which is escaped."""
    return render("fold.html", title=title, body=body, opened=opened)


def figure_text(text: str) -> str:
    """Return `text` safe to stand in a matplotlib figure: no mathematics, nothing
    unprintable.

    Examples
    --------
    >>> print(figure_text("$5 or $6"))
    \\$5 or \\$6
    """
    return printable(text).replace("$", r"\$")


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or the axes of a new figure of this size in inches."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def heat_map(
    matrix: ArrayLike,
    *,
    row_label: str,
    column_label: str,
    marked: Iterable[tuple[int, int]] = (),
    value_label: str = "",
    value_range: tuple[float, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a matrix as a heat map with some cells framed.

    Parameters
    ----------
    matrix : array_like, shape (rows, columns)
        Finite numbers.
    row_label, column_label, value_label, title : str
        Names of the axes, of the colour scale and of the picture.
    marked : iterable of (row, column)
        Cells to frame.
    value_range : (low, high), optional
        Ends of the colour scale; by default the smallest and the greatest value.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes sized for the matrix by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    import matplotlib.pyplot as plt

    values = np.asarray(matrix, dtype=float)
    rows, columns = values.shape
    if ax is None:
        _, ax = plt.subplots(
            figsize=(min(14, 2.5 + 0.45 * columns), min(10, 1.4 + 0.45 * rows)),
            layout="constrained",
        )
    low, high = value_range or (None, None)
    image = ax.imshow(values, cmap="cividis", vmin=low, vmax=high, aspect="auto")
    for row, column in marked:
        ax.add_patch(
            plt.Rectangle(
                (column - 0.5, row - 0.5),
                1,
                1,
                fill=False,
                edgecolor="#ff7f0e",
                linewidth=2.5,
            )
        )
    names = {"xlabel": column_label, "ylabel": row_label, "title": title}
    ax.set(**{name: figure_text(text) for name, text in names.items()})
    ax.set(xticks=_ticks(columns), yticks=_ticks(rows))
    ax.figure.colorbar(image, ax=ax, label=figure_text(value_label))
    return ax


def _ticks(count: int) -> range:
    """Positions of at most about twenty whole-number ticks."""
    return range(0, count, max(1, -(-count // 20)))

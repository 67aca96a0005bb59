"""A summary beside its article, every verdict one key press away from the sentences it rests on."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .base import JsonDict
from .html import Mark, Markup, escape_markdown, mark_terminal, markdown_report, printable, probability_color, render

__all__ = ["Entry", "Report", "evidence_markdown", "evidence_report", "evidence_text"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One judged sentence, as plain data for drawing.

    Parameters
    ----------
    text : str
        The summary sentence.
    probability : float or None
        Probability of support in [0, 1]; None when nothing was judged, and for a hard
        verdict.
    supported : bool or None
        The verdict; None when nothing was judged.
    state : str, optional
        `"supported"`, `"unclear"` or `"contradicted"`, where the checker tells three
        apart.
    decimals : int
        How many of the probability are shown: more than two where two would hide on
        which side of a threshold it lies.
    evidence : sequence of (int, float or None)
        Indices of article sentences with their similarities, best first.
    findings : sequence of (str, int, int)
        Kind, start and end of what the evidence does not hold; positions in `text`.
    note : str
        What else to show: a reason for a failure, the mass of a model's options.
    """

    text: str
    probability: float | None
    supported: bool | None
    evidence: Sequence[tuple[int, float | None]] = ()
    findings: Sequence[tuple[str, int, int]] = ()
    note: str = ""
    state: str | None = None
    decimals: int = 2

    def pieces(self) -> Iterator[tuple[str, str | None]]:
        """Yield the text in pieces, each with the kind of the finding that it is, or
        None."""
        position = 0
        for kind, start, end in sorted(self.findings, key=lambda finding: finding[1:]):
            if start >= position:  # of findings that overlap, the first is drawn
                yield self.text[position:start], None
                yield self.text[start:end], kind
                position = end
        yield self.text[position:], None

    @property
    def label(self) -> str:
        """The verdict in words and its probability, so that colour is never the only
        sign."""
        if self.supported is None:
            return "not judged"
        verdict = self.state or ("supported" if self.supported else "not supported")
        return f"{verdict} (hard)" if self.probability is None else f"{verdict} {self.probability:.{self.decimals}f}"

    @property
    def tone(self) -> float | None:
        """Its place on the scale of colours: one for each state where there are three,
        otherwise the probability."""
        if self.supported is None:
            return None
        if self.state is None:
            return float(self.supported) if self.probability is None else self.probability
        return {"supported": 1.0, "unclear": 0.5, "contradicted": 0.0}[self.state]


# pieces of evidence that are shown for a sentence; the others stay folded, or are
# counted
_SHOWN = 3
_FRAME = "background: #ffe08a; color: #1a1a1a; outline: 2px solid #b35c00; outline-offset: 1px;"
_TINT = "background: #fff3cc; color: #1a1a1a;"


def _highlight_rules(name: str, entries: Sequence[Entry], shown: int = _SHOWN) -> str:
    """CSS: when summary sentence i is open, its best evidence is framed in the article,
    the next best tinted."""
    rules = []
    for position, entry in enumerate(entries):
        when = f"#{name}:has(#{name}-s{position}[open])"
        for place, (index, _) in enumerate(entry.evidence[:shown]):
            rules.append(f"{when} #{name}-a{index} {{ {_TINT if place else _FRAME} }}")
    return "\n".join(rules)


def _name(*parts: object) -> str:
    """A short name for a report, the same for the same parts: texts and choices, since
    the last digits of a result are another processor's."""
    told = repr(parts).encode("utf-8", "surrogatepass")
    return "sr" + hashlib.sha256(told).hexdigest()[:8]


_LINES = {
    "word": "dotted",
    "name": "dashed",
    "number": "double",
    "negation": "wavy",
    "antonym": "solid",
    "role": "solid",
    "modality": "wavy",
}
_HINTS = {
    "name": "not in the evidence, or another is named there",
    "number": "not in the evidence, or another stands there",
    "negation": "denied on one side only",
    "antonym": "the evidence has the opposite, or another of its kind",
    "role": "told of another, or the other way round, in the evidence",
    "modality": "in the evidence only under a condition, as a plan or as possible",
}


def _article(source: str, spans: Sequence[tuple[int, int]]) -> tuple[list[tuple[str, str]], str]:
    """Each sentence of an article with what stands before it, and what stands after the
    last."""
    ends = [0, *(end for _, end in spans)]
    pieces = [(source[before:start], source[start:end]) for before, (start, end) in zip(ends, spans, strict=False)]
    return pieces, source[ends[-1] :]


def _scale(entries: Sequence[Entry]) -> list[tuple[float | None, str]]:
    """The colours of a legend: two verdicts, or three for a checker with three."""
    three = [(1.0, "supported"), (0.5, "unclear"), (0.0, "contradicted")]
    two = [(1.0, "supported"), (0.0, "not supported")]
    told = three if any(entry.state for entry in entries) else two
    return [*told, (None, "not judged")]


_QUESTION = "How well does it work?"


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that a drawn report shows, as plain data.

    Parameters
    ----------
    title : str
        The first line, such as the score in words.
    source : str
        The article.
    spans : sequence of (int, int)
        The places of the article's sentences.
    entries : sequence of Entry
        The judged sentences.
    signature : str
        Every choice behind the numbers.
    groups : sequence of (str, int)
        For several summaries of one article: the name and the number of entries of
        each, in order.
    judged_by : str
        Who judged, and what that judge is good and bad at; shown under the title.
    measured : sequence of mapping
        How well that judge works, a row for each labelled set; folded, at the end.
    note : str
        What else to say of the whole, under the sentences.
    names : sequence of str
        What each sentence of the article is called where it is quoted, such as the label
        of its passage; by default its number.
    """

    title: str
    source: str
    spans: Sequence[tuple[int, int]]
    entries: Sequence[Entry]
    signature: str
    groups: Sequence[tuple[str, int]] = field(default=())
    judged_by: str = ""
    measured: Sequence[Mapping[str, object]] = ()
    note: str = ""
    names: Sequence[str] = ()

    def name(self, index: int) -> str:
        """Return what a sentence of the article is called."""
        return self.names[index] if self.names else str(index + 1)

    def quote(self, index: int) -> str:
        """Return a sentence of the article."""
        start, end = self.spans[index]
        return self.source[start:end]


def _numbers(report: Report) -> list[JsonDict]:
    """All numbers of a report, one row for each judged sentence."""
    names = [name for name, count in report.groups for _ in range(count)] or [""] * len(report.entries)
    rows = []
    for position, (name, entry) in enumerate(zip(names, report.entries, strict=True)):
        evidence = ", ".join(report.name(i) + ("" if s is None else f" ({s:.4f})") for i, s in entry.evidence)
        row: JsonDict = {"summary": name} if report.groups else {}
        row |= {
            "sentence": position + 1,
            "verdict": entry.label,
            "probability": entry.probability,
        }
        rows.append(row | {"evidence: article sentence (similarity)": evidence, "note": entry.note})
    return rows


def _grouped(report: Report) -> Iterator[tuple[str | None, list[tuple[int, Entry]]]]:
    """Yield each group's name with its entries and their positions; without groups, all
    under no name."""
    entries, start = list(enumerate(report.entries)), 0
    groups: Sequence[tuple[str | None, int]] = report.groups or [(None, len(entries))]
    for name, count in groups:
        yield name, entries[start : start + count]
        start += count


def evidence_report(report: Report, *, shown: int = _SHOWN, key: int | None = None) -> Markup:
    """Return a report as one HTML block: no script, no request, everything escaped.

    Parameters
    ----------
    report : Report
        What to draw.
    shown : int
        How many pieces of evidence of a sentence are lit in the article and quoted; the
        others stay folded.
    key : int, optional
        Which of several reports of a page it is, so that two of the same texts have names of their own.

    Returns
    -------
    Markup
        A `<section>` to show in a notebook or to put into `html_page`.

    Examples
    --------
    >>> told = {"text": "A <b> sat.", "probability": 0.9, "supported": True}
    >>> entry = Entry(**told, evidence=[(0, 0.8)])
    >>> named = {"title": "t", "source": "A b sat.", "signature": "k:1"}
    >>> page = evidence_report(Report(**named, spans=[(0, 8)], entries=[entry]))
    >>> "A &lt;b&gt; sat." in page
    True
    """
    texts, sizes = [entry.text for entry in report.entries], [n for _, n in report.groups]
    told = [report.source, texts, sizes, report.signature, report.judged_by]
    name = _name(*told, *([] if key is None else [key]))
    article, rest = _article(report.source, report.spans)
    kinds = sorted({kind for entry in report.entries for kind, _, _ in entry.findings})
    worked_out = {
        "article": article,
        "rest": rest,
        "kinds": kinds,
        "groups": list(_grouped(report)),
    }
    rules = Markup(_highlight_rules(name, report.entries, shown))
    known = {
        "name": name,
        "shown": shown,
        "rules": rules,
        "lines": _LINES,
        "hints": _HINTS,
        "question": _QUESTION,
    }
    scale, numbers = _scale(report.entries), _numbers(report)
    return render(
        "report.html",
        report=report,
        scale=scale,
        numbers=numbers,
        **worked_out,
        **known,
    )


def _folded(text: str, width: int, brackets: Sequence[int] = ()) -> str:
    """The text on lines of at most `width` characters, with a bracket more at some
    places: white space becomes the ends of lines, no position moves."""
    plain = "".join(" " if letter in "\n\r\t" else letter for letter in text)
    letters, start = list(plain), 0
    while True:
        more = sum(start <= place <= start + width for place in brackets)
        room = max(20, width - more)
        if len(plain) - start <= room:
            break
        cut = plain.rfind(" ", start + 1, start + room + 1)
        if cut < 0:  # a word that is longer than the line
            cut = plain.find(" ", start + 1)
        if cut < 0:
            break
        letters[cut], start = "\n", cut + 1
    return "".join(letters)


def _under(front: str, text: str, indent: int) -> str:
    """A front with a folded text behind it; further lines begin under the text's
    beginning."""
    return front + text.replace("\n", "\n" + " " * indent)


def _paragraph(text: str, width: int, *, front: str = "", indent: int = 4) -> str:
    """A text that anybody wrote, folded behind a front, or with an indent under it."""
    indent = len(front) or indent
    return _under(front, printable(_folded(text, width - indent)), indent)


def _signed(signature: str, width: int) -> str:
    """A signature on lines of at most `width` characters, cut behind a choice."""
    lines = [""]
    for part in printable(signature).replace("\n", " ").split("|"):
        bare = not lines[-1]
        if not bare and len(lines[-1]) + len(part) + 2 > width:
            lines[-1] += "|"
            lines.append(f"  {part}")
        else:
            lines[-1] += part if bare else f"|{part}"
    return "\n".join(lines)


def _numbered(report: Report, lines: list[str], width: int) -> Iterator[tuple[int, Entry]]:
    """Give each entry with its place in its group, and write a group's name above the
    first."""
    for name, entries in _grouped(report):
        if name is not None:
            lines += ["", _paragraph(name, width), ""]
        for place, (_, entry) in enumerate(entries):
            yield place, entry


def _line_width() -> int:
    """A terminal's width; anywhere else, such as in a notebook or a file, 88."""
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size((88, 24)).columns if on_terminal else 88


def evidence_text(
    report: Report,
    *,
    color: bool = False,
    shown: int = _SHOWN,
    width: int | None = None,
) -> str:
    """Return a report as text: each sentence with its verdict, what was not found, and
    its evidence.

    Parameters
    ----------
    report : Report
        What to print.
    color : bool
        Whether to use a terminal's colours; otherwise findings stand in [brackets].
    shown : int
        How many evidence sentences to print for each summary sentence; the others are
        counted.
    width : int, optional
        Where lines are folded; by default the terminal's width, and 88 where the text
        goes elsewhere, such as into a notebook.
    """
    wide = width or _line_width()
    more = f" {_QUESTION}" if report.measured else ""
    heads = [report.title, *([report.judged_by + more] if report.judged_by else [])]
    lines = [*(_paragraph(head, wide) for head in heads), ""]
    longest = max((len(entry.label) for entry in report.entries), default=0)
    for position, entry in _numbered(report, lines, wide):
        badge = f" {printable(entry.label):<{max(18, longest)}} "
        front = badge
        if color:
            front = mark_terminal(badge, [Mark(0, len(badge), *probability_color(entry.tone))])
        indent = 5 + len(badge)
        found = [Mark(start, end, "#f5b27a") for start, end in _apart(entry)]
        edges = () if color else [end for mark in found for end in mark[:2]]
        folded = _folded(entry.text, wide - indent, edges)
        text = mark_terminal(folded, found, color=color)
        lines.append(_under(f"{position + 1:>3} {front} ", text, indent))
        for index, similarity in entry.evidence[:shown]:
            measured = "     " if similarity is None else f"{similarity:5.2f}"
            head = f"{'':>8} {measured}  [{printable(report.name(index))}] "
            lines.append(_paragraph(report.quote(index), wide, front=head))
        if entry.evidence[shown:]:
            lines.append(f"{'':>8}        and {len(entry.evidence[shown:])} more, less similar")
        if entry.note:
            lines.append(_paragraph(entry.note, wide, front=" " * 9))
    asked = f"{_QUESTION} summeval how-well says it, set by set."
    told = [report.note, asked if report.measured else ""]
    notes = ["", *(_paragraph(note, wide) for note in told if note)]
    return "\n".join([*lines, *notes, "", _signed(report.signature, wide)])


def evidence_markdown(report: Report, *, shown: int = _SHOWN) -> str:
    """Return a report as GitHub-flavoured Markdown: a table of the sentences, each with its verdict and evidence.

    Examples
    --------
    >>> entry = Entry(text="It rained.", probability=0.9, supported=True, evidence=[(0, 0.8)])
    >>> told = {"title": "1 of 1", "source": "It rained | a lot.", "signature": "k:1"}
    >>> print(evidence_markdown(Report(**told, spans=[(0, 18)], entries=[entry])))
    ## 1 of 1
    <BLANKLINE>
    | sentence | verdict | not found | evidence |
    | --- | --- | --- | --- |
    | It rained. | supported 0.90 |  | It rained &#124; a lot. (1; 0.80) |
    <BLANKLINE>
    <sub>k:1</sub>
    <BLANKLINE>
    """
    lines = [line for line in (report.judged_by, report.note) if line]
    tables = [(name, _markdown_rows(report, entries, shown)) for name, entries in _grouped(report)]
    if not report.groups:
        return markdown_report(report.title, lines, tables[0][1], note=report.signature)
    parts = [markdown_report(str(name), rows=rows, level=3) for name, rows in tables]
    return "\n".join([markdown_report(report.title, lines), *parts, markdown_report("", note=report.signature)])


def _markdown_rows(report: Report, entries: Sequence[tuple[int, Entry]], shown: int) -> list[JsonDict]:
    rows = []
    for _, entry in entries:
        quotes = []
        for index, similarity in entry.evidence[:shown]:
            measured = "" if similarity is None else f"; {similarity:.2f}"
            quotes.append(f"{report.quote(index)} ({report.name(index)}{measured})")
        told = Markup("<br>".join(map(escape_markdown, [*quotes, *([entry.note] if entry.note else [])])))
        missing = ", ".join(entry.text[start:end] for start, end in _apart(entry))
        rows.append({"sentence": entry.text, "verdict": entry.label, "not found": missing, "evidence": told})
    return rows


def _apart(entry: Entry) -> Iterator[tuple[int, int]]:
    """The places of the findings that are drawn, in order."""
    position = 0
    for piece, kind in entry.pieces():
        if kind is not None:
            yield position, position + len(piece)
        position += len(piece)

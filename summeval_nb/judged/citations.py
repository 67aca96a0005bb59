"""Do the citations of an answer hold? Each sentence is held against the passages that it cites, and only these."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from summeval_nb.core.base import (
    JsonDict,
    Stages,
    one_bar,
    require_column,
    require_text,
    require_texts,
    short_repr,
    steps,
)
from summeval_nb.core.files import require_passages
from summeval_nb.core.html import Entry, Report, printable
from summeval_nb.core.metric import batch, definition_of, metric
from summeval_nb.core.results import Finding, Score, ScoreTable, Sentence, Signature, Verdict
from summeval_nb.evidence.base import Checker
from summeval_nb.evidence.faithfulness import (
    ReadPair,
    Reported,
    Settings,
    drawn_entry,
    embed_pairs,
    evaluate,
    judge,
    load_settings,
    may_be_evidence,
    unread_sentences,
)
from summeval_nb.models.store import StoreOrPath
from summeval_nb.text.embed import EmbedderOrName, SentenceVectors
from summeval_nb.text.split import Reading, Splitter, split_markdown
from summeval_nb.text.statements import read_with_leads
from summeval_nb.text.wrapping import Mark, citation_marks, disjoint, kept_pieces, wrappers

__all__ = ["Citation", "CitationsScore", "CitedSentence", "check_citations", "check_citations_many"]

Passages = str | Sequence[str] | Mapping[str, str]
_BATCH = 32  # answers that are embedded and judged together


class Citation(NamedTuple):
    """One label that a sentence cites.

    `precise` says whether the passage is cited rightly; None where that is undecided. `reason` says why it is not.
    """

    label: str
    precise: bool | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class CitedSentence:
    """A sentence of the answer with its citations and the verdict on it.

    Parameters
    ----------
    sentence : Sentence
        Its own characters and its place in the answer, marks included where they stand inside.
    citations : tuple of Citation
        What it cites, each passage once.
    verdict : Verdict
        Whether the cited passages together support it. It has no probability, and a reason, where nothing was
        asked: nothing is cited, no cited passage is known, or the sentence states nothing. Its evidence counts the
        sentences of all passages.
    counts : bool
        Whether the sentence is part of the recall: not headings, and nothing on which the checker failed.
    """

    sentence: Sentence
    citations: tuple[Citation, ...]
    verdict: Verdict
    counts: bool = True

    @property
    def supported(self) -> bool | None:
        """Whether what is cited supports the sentence: its citation recall; None where it does not count."""
        return bool(self.verdict.supported) if self.counts else None

    @property
    def undecided(self) -> bool:
        """Whether the checker failed on the sentence or on one of its citations."""
        return self.verdict.failed or (self.counts and any(c.precise is None for c in self.citations))


def _mean(values: Iterable[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CitationsScore(Reported, Score):
    """Whether the citations of an answer hold; `score` is the F1 of `recall` and `precision`, in [0, 1].

    Parameters
    ----------
    answer : str
        The text with its marks.
    passages : mapping of str to str
        Each passage by its label.
    sentences : tuple of CitedSentence
        Those of the answer, without what wraps it.
    source_sentences : tuple of Sentence
        The sentences of all passages, with places in `source`.
    source_labels : tuple of str
        The label of each one's passage.
    """

    bounded: ClassVar[bool] = True
    page_title: ClassVar[str] = "Citations report"
    more: ClassVar = ("n_uncited", "n_failed", "unknown", "answer", "passages")
    sentence_columns: ClassVar = (
        *("sentence", "text", "start", "end", "cites", "supported", "state", "probability", "right", "wrong"),
        *("unknown", "findings", "spans", "evidence", "reason"),
    )

    answer: str
    passages: Mapping[str, str]
    sentences: tuple[CitedSentence, ...]
    source_sentences: tuple[Sentence, ...]
    source_labels: tuple[str, ...]

    @property
    def recall(self) -> float | None:
        """The share of sentences that what they cite supports, in [0, 1]; a sentence that cites nothing counts 0."""
        return _mean(cited.supported for cited in self.sentences)

    @property
    def recall_where_cited(self) -> float | None:
        """The recall over the sentences that cite something, in [0, 1]; None where none does."""
        return _mean(cited.supported for cited in self.sentences if cited.citations)

    @property
    def precision(self) -> float | None:
        """The share of citations that are right, in [0, 1]; None where nothing is cited."""
        return _mean(citation.precise for cited in self.sentences for citation in cited.citations if cited.counts)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The labels that no passage has, in the order of the answer."""
        known = self.passages
        labels = (c.label for cited in self.sentences for c in cited.citations if c.label not in known)
        return tuple(dict.fromkeys(labels))

    @property
    def n_uncited(self) -> int:
        """How many sentences that count cite nothing."""
        return sum(cited.counts and not cited.citations for cited in self.sentences)

    @property
    def n_failed(self) -> int:
        """On how many sentences, or on how many sentences' citations, the checker failed."""
        return sum(cited.undecided for cited in self.sentences)

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return the three numbers by name, and the recall over the sentences that cite something."""
        names = ("recall", "precision", "recall_where_cited")
        return {"citations_f1": self.score} | {f"citations_{name}": getattr(self, name) for name in names}

    @property
    def source(self) -> str:
        """All passages, each behind its label, as the report shows them."""
        return "\n\n".join(f"[{label}] {text}" for label, text in self.passages.items())

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each sentence: its text, labels, recall, citations and evidence."""
        return [self._row(number, cited) for number, cited in enumerate(self.sentences)]

    def _row(self, number: int, cited: CitedSentence) -> JsonDict:
        citations, verdict = cited.citations, cited.verdict
        places = [found.index for found in verdict.evidence]
        return {
            "sentence": number,
            "text": cited.sentence.text,
            "start": cited.sentence.start,
            "end": cited.sentence.end,
            "cites": [citation.label for citation in citations],
            "supported": cited.supported,
            "state": verdict.state,
            "probability": verdict.probability,
            "right": [citation.label for citation in citations if citation.precise],
            "wrong": [citation.label for citation in citations if citation.precise is False],
            "unknown": [citation.label for citation in citations if citation.label not in self.passages],
            "findings": [f"{finding.kind}: {finding.text}" for finding in verdict.findings],
            "spans": [(finding.start, finding.end) for finding in verdict.findings],
            "evidence": [f"[{self.source_labels[place]}] {self.source_sentences[place].text}" for place in places],
            "reason": "; ".join(_notes(cited)),
        }

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        numbers = {name.removeprefix("citations_"): value for name, value in self.numbers_by_name().items()}
        return super().to_dict() | numbers

    @property
    def line(self) -> str:
        """All its numbers on one line, or why there is none."""
        if self.score is None:
            return f"Citations undefined: {self.reason}"
        shown = ", ".join(
            f"{name[10:]} {value:.2f}" for name, value in list(self.numbers_by_name().items())[:3] if value is not None
        )
        told = [f"{self.n_uncited} of {len(self.sentences)} sentences cite nothing"] * bool(self.n_uncited)
        more = f" and {len(self.unknown) - 5} others" if len(self.unknown) > 5 else ""
        told += [f"no passage has the label {', '.join(self.unknown[:5])}{more}"] * bool(self.unknown)
        told += [f"{self.n_failed} failed"] * bool(self.n_failed)
        return f"Citations: {'; '.join([shown, *told])}"

    def report(self) -> Report:
        """Return what the page and the text draw, as plain data."""
        return Report(
            title=self.line,
            source=self.source,
            spans=[(sentence.start, sentence.end) for sentence in self.source_sentences],
            entries=[_entry(cited) for cited in self.sentences],
            signature=str(self.signature),
            names=self.source_labels,
        )

    def __repr__(self) -> str:
        return f"CitationsScore({printable(self.line.removeprefix('Citations: '))})"


def _notes(cited: CitedSentence) -> list[str]:
    notes = [] if cited.verdict.judged else [cited.verdict.reason]
    return notes + [f"[{citation.label}] {citation.reason}" for citation in cited.citations if citation.reason]


def _entry(cited: CitedSentence) -> Entry:
    labels = ", ".join(citation.label for citation in cited.citations)
    notes = [f"cites {labels}"] * bool(labels) + _notes(cited)
    return drawn_entry(cited.sentence, cited.verdict, notes)


def _require_passages(passages: object, name: str) -> dict[str, str]:
    """Passages by label: those of a list have the numbers from 1 on."""
    if isinstance(passages, Mapping):
        if wrong := [label for label in passages if not isinstance(label, str) or not label.strip()]:
            raise TypeError(f"a label of {name} must be a text such as 'Smith 2020', not {short_repr(wrong[0])}")
        return {label: require_text(text, f"{name}[{label!r}]") for label, text in passages.items()}
    return {str(number): text for number, text in enumerate(require_passages(passages, name), 1)}


_SPEAKING = re.compile(r"[^\W\d_]+|\d+[a-z]?")
_KINDS = frozenset("doc document source src passage ref reference context ctx chunk snippet citation note".split())
_YEAR = re.compile(r"\d{4}[a-z]?")


def _key(label: str) -> tuple[str, ...]:
    """What two spellings of a label share: "[doc-4]" and "4", "Smith et al., 2020" and "Smith 2020"."""
    words = _SPEAKING.findall(label.casefold())
    named = [word for word in words if word not in _KINDS] or words
    return (named[0], named[-1]) if len(named) > 1 and _YEAR.fullmatch(named[-1]) else tuple(named)


_BRACKETED = re.compile(r"\[([^\[\]\n]{1,120})\]|\(([^()\n]{1,120})\)|【([^【】\n]{1,120})】")


def _named_marks(answer: str, passages: Mapping[str, str]) -> list[Mark]:
    """Brackets that hold nothing but labels of passages, such as [nasa], which no form gives away."""
    named = {label for label in passages if not label.isdigit()}
    marks = []
    for found in _BRACKETED.finditer(answer) if named else ():
        whole = found[found.lastindex or 0].strip()
        labels = (whole,) if whole in named else tuple(re.split(r"\s*[,;]\s*", whole))
        if named.issuperset(labels):
            marks.append(Mark(found.start(), found.end(), labels))
    return marks


_AT_LINE_START = re.compile(r"\s*(?:[-*•>]|\d{1,3}[.)])?[\s*_]*")
_BETWEEN_SENTENCES = re.compile(r"[.!?][\"”’)*_]*\s+")


def _follows(answer: str, mark: Mark, opens: bool) -> bool:
    """Whether a mark cites for what follows: "According to [1],", at a line's beginning, or in one that `opens` so."""
    if answer[mark.start].isalpha():
        return True
    rest = answer[mark.end : mark.end + 80].partition("\n")[0].strip(" .,;:")
    before = answer[max(0, mark.start - 40) : mark.start]
    ended = re.search(rf"{_BETWEEN_SENTENCES.pattern}$", before)
    return bool(rest) and (_opens_line(answer, mark) or (opens and bool(ended)))


def _opens_line(answer: str, mark: Mark) -> bool:
    line = answer.rfind("\n", 0, mark.start) + 1
    return bool(_AT_LINE_START.fullmatch(answer, max(line, mark.start - 80), mark.start))


def _cited_labels(
    answer: str, sentences: Sequence[Sentence], marks: Sequence[Mark], passages: Mapping[str, str]
) -> list[list[str]]:
    """The labels that each sentence cites, as the passages spell them where they have them."""
    keys = list(map(_key, passages))
    known = {key: label for key, label in zip(keys, passages, strict=True) if keys.count(key) == 1}
    found: list[dict[str, None]] = [{} for _ in sentences]
    starts, ends = [sentence.start for sentence in sentences], [sentence.end for sentence in sentences]
    opens = False
    for last, mark in zip([None, *marks], marks, strict=False):
        if last is None or "\n" in answer[last.end : mark.start]:
            opens = _opens_line(answer, mark)
        place = bisect_right(ends, mark.end) if _follows(answer, mark, opens) else bisect_left(starts, mark.start) - 1
        if found:
            own = (label if label in passages else known.get(_key(label), label) for label in mark.labels)
            found[max(0, min(place, len(found) - 1))].update(dict.fromkeys(own))
    return [list(labels) for labels in found]


@dataclass(frozen=True)
class _ReadAnswer:
    """An answer, read: its sentences without marks, what they cite, and the sentences of each passage."""

    answer: str
    passages: Mapping[str, str]
    source: Mapping[str, list[Reading]]
    claims: list[Reading]
    sentences: list[Sentence]
    labels: list[list[str]]
    reasons: list[str]
    places: list[int]  # of each character without marks and wrappers, in the answer

    def finding(self, finding: Finding) -> Finding:
        """A finding of the text without marks, placed in the answer."""
        start, end = self.places[finding.start], self.places[finding.end - 1] + 1
        return finding._replace(text=self.answer[start:end], start=start, end=end)

    def pair(self, place: int, labels: Iterable[str]) -> ReadPair:
        """One sentence beside the passages of these labels."""
        source = [reading for label in labels for reading in self.source[label]]
        return ReadPair("", "", source, [self.claims[place]], [self.reasons[place]])

    def known(self, place: int) -> tuple[str, ...]:
        """The labels that a sentence cites, of passages that there are."""
        return tuple(label for label in self.labels[place] if label in self.passages)

    def whole(self) -> ReadPair:
        """All sentences beside all passages: what has to be embedded."""
        source = [reading for own in self.source.values() for reading in own]
        return ReadPair("", "", source, self.claims, self.reasons)

    def numbers(self, labels: Iterable[str]) -> list[int]:
        """The number of each sentence of these passages among those of all."""
        first, own = 0, {}
        for label, readings in self.source.items():
            own[label] = range(first, first + len(readings))
            first += len(readings)
        return [number for label in labels for number in own[label]]


def _read_answer(answer: str, passages: Mapping[str, str], settings: Settings) -> _ReadAnswer:
    found = [*_named_marks(answer, passages), *citation_marks(answer)]
    marks, wrapped = {mark[:2]: mark for mark in found}, wrappers(answer)
    spans = disjoint([*wrapped, *marks])
    pieces = kept_pieces(answer, spans)
    plain = "".join(answer[start:end] for start, end in pieces)
    places = [place for start, end in pieces for place in range(start, end)]
    texts = [plain, *passages.values()]
    split = split_markdown(texts, splitter=settings.splitter, lang=settings.lang or None, progress=False)
    claims, *own = (read_with_leads(text, readings) for text, readings in zip(texts, split, strict=True))
    source = {label: may_be_evidence(readings) for label, readings in zip(passages, own, strict=True)}
    every = [reading for readings in source.values() for reading in readings]
    unread = unread_sentences(every, claims, settings.checker, settings.lang)
    sentences = [
        Sentence(answer[low:high], low, high)
        for low, high in ((places[c.sentence.start], places[c.sentence.end - 1] + 1) for c in claims)
    ]
    return _ReadAnswer(
        answer,
        passages,
        source,
        list(claims),
        sentences,
        _cited_labels(answer, sentences, [marks[span] for span in spans if span in marks], passages),
        [claim.reason or reason for claim, reason in zip(claims, unread, strict=True)],
        places,
    )


Asked = tuple[int, int, tuple[str, ...]]  # an answer, a sentence of it, and labels


class _CheckedAnswers:
    """Answers with what the checker says of their sentences beside passages; each question is put once."""

    def __init__(self, rows: Sequence[_ReadAnswer], settings: Settings):
        self.rows, self.settings = rows, settings
        self.vectors: SentenceVectors = embed_pairs([row.whole() for row in rows], settings)
        self.verdicts: dict[Asked, Verdict] = {}

    def ask(self, wanted: Iterable[Asked]) -> None:
        """Learn the verdicts; passages without a sentence support nothing."""
        new = [key for key in dict.fromkeys(wanted) if key not in self.verdicts]
        pairs = [self.rows[row].pair(place, labels) for row, place, labels in new]
        found = [pair.retrieve(self.vectors, self.settings.k) for pair in pairs]
        questions = [question for pair in found for question in pair.questions]
        answers = judge(questions, self.settings.checker, self.vectors, self.settings.store)
        threshold = self.settings.checker.threshold
        empty = Verdict(probability=None, threshold=threshold, reason="no cited passage holds a sentence")
        for key, pair in zip(new, found, strict=True):
            self.verdicts[key] = next(iter(pair.verdicts(answers, threshold)), empty)

    def supports(self, key: Asked) -> bool | None:
        """Whether passages support a sentence; None where the checker failed."""
        verdict = self.verdicts[key]
        return None if verdict.failed else bool(verdict.supported)


def _rest(labels: tuple[str, ...], label: str) -> tuple[str, ...]:
    return tuple(other for other in labels if other != label)


def _learn(rows: Sequence[_ReadAnswer], settings: Settings) -> _CheckedAnswers:
    """Ask what the two numbers need: the passages together, each alone, and the others of one that is not enough."""
    stage = Stages(embed=3, together=3, alone=2, others=1)
    with stage("embed"):
        checked = _CheckedAnswers(rows, settings)
    places = [(n, place) for n, row in enumerate(rows) for place in range(len(row.claims)) if not row.reasons[place]]
    together = [(n, place, labels) for n, place in places if (labels := rows[n].known(place))]
    with stage("together"):
        checked.ask(together)
    several = [key for key in together if len(key[2]) > 1 and checked.supports(key)]
    alone = [(n, place, (label,)) for n, place, labels in several for label in labels]
    with stage("alone"):
        checked.ask(alone)
    with stage("others"):
        checked.ask(
            (n, place, _rest(labels, label))
            for n, place, labels in several
            for label in labels
            if not checked.supports((n, place, (label,)))
        )
    return checked


def _citation(checked: _CheckedAnswers, key: Asked, label: str) -> Citation:
    """Whether a passage is cited rightly, by the rule of Gao et al."""
    n, place, labels = key
    if label not in checked.rows[n].passages:
        return Citation(label, False, "is no passage")
    if (whole := checked.supports(key)) is not True:
        return Citation(label, whole, "" if whole is None else "is cited for what the passages do not say")
    if len(labels) == 1 or checked.supports((n, place, (label,))):
        return Citation(label, True)
    without = checked.supports((n, place, _rest(labels, label)))
    if without is None or checked.supports((n, place, (label,))) is None:
        return Citation(label, None, "the checker failed on it")
    return Citation(label, not without, "is not needed: the others say it without it" if without else "")


def _cited_sentence(checked: _CheckedAnswers, n: int, place: int) -> CitedSentence:
    row, threshold = checked.rows[n], checked.settings.checker.threshold
    sentence, labels, known = row.sentences[place], row.labels[place], row.known(place)

    def unjudged(reason: str) -> Verdict:
        return Verdict(probability=None, threshold=threshold, reason=reason)

    if row.reasons[place]:
        citations = tuple(Citation(label, None) for label in labels)
        verdict = unjudged(row.reasons[place])
        return CitedSentence(sentence=sentence, citations=citations, verdict=verdict, counts=False)
    key = (n, place, known)
    citations = tuple(_citation(checked, key, label) for label in labels)
    if not known:
        why = "it cites no passage that there is" if labels else "it cites nothing"
        return CitedSentence(sentence=sentence, citations=citations, verdict=unjudged(why))
    verdict, numbers = checked.verdicts[key], row.numbers(known)
    verdict = replace(
        verdict,
        findings=[row.finding(finding) for finding in verdict.findings],
        evidence=[replace(found, index=numbers[found.index]) for found in verdict.evidence],
    )
    return CitedSentence(sentence=sentence, citations=citations, verdict=verdict, counts=not verdict.failed)


def _result(checked: _CheckedAnswers, n: int) -> CitationsScore:
    row = checked.rows[n]
    sentences = tuple(_cited_sentence(checked, n, place) for place in range(len(row.claims)))
    starts, offset = {}, 0
    for label, text in row.passages.items():
        starts[label] = offset + len(label) + 3
        offset = starts[label] + len(text) + 2
    source = tuple(
        Sentence(reading.sentence.text, starts[label] + reading.sentence.start, starts[label] + reading.sentence.end)
        for label, own in row.source.items()
        for reading in own
    )
    recall = _mean(cited.supported for cited in sentences)
    precision = _mean(c.precise for cited in sentences for c in cited.citations if cited.counts)
    score, reason = _f1(recall, precision, row.answer, sentences)
    return CitationsScore(
        score=score,
        reason=reason,
        signature=checked.settings.signature,
        answer=row.answer,
        passages=row.passages,
        sentences=sentences,
        source_sentences=source,
        source_labels=tuple(label for label, own in row.source.items() for _ in own),
    )


def _f1(
    recall: float | None, precision: float | None, answer: str, sentences: Sequence[CitedSentence]
) -> tuple[float | None, str]:
    """The harmonic mean of both, or why there is none."""
    if recall is None:
        if not sentences:
            return None, "the answer holds no sentence" if answer.strip() else "the answer is empty"
        failed = [cited for cited in sentences if cited.verdict.failed]
        what = "the checker failed on all sentences" if failed else "no sentence was judged"
        return None, f"{what}; the first: {(failed or sentences)[0].verdict.reason}"
    if precision is None:
        cited = any(sentence.citations for sentence in sentences)
        return (0.0, "nothing is cited") if not cited else (None, "it is undecided which citations are right")
    return (2 * recall * precision / (recall + precision) if recall + precision else 0.0), ""


def _settings(*, judge: str | Checker, **options: Any) -> Settings:
    """The options with what they name loaded, once for all answers of a call."""
    found = load_settings(checker=judge, **options)
    return replace(found, signature=Signature({**found.signature, "metric": "citations"}))


@metric(
    "citations",
    probe="It rained.",
    check=definition_of(evaluate).check,
    signature=lambda **how: _settings(**how | {"store": None}).signature,
)
def check_citations(
    answer: str,
    contexts: Passages,
    *,
    k: int | None = None,
    splitter: Splitter = "punkt",
    embedder: EmbedderOrName = "minilm",
    judge: str | Checker = "embedded",
    threshold: float | None = None,
    store: StoreOrPath = None,
    lang: str | None = None,
) -> CitationsScore:
    """Say whether the citations of an answer hold: sentence by sentence, against the passages it cites.

    Citation recall asks whether the cited passages together support a sentence. A sentence that cites nothing has
    recall 0. Citation precision asks whether a citation is right: its sentence is supported, and the passage
    supports it alone, or the other cited passages do not without it. Marks may have any common form, such as
    [1, 3-4], ¹, (Source 2), [doc-4] or (Smith et al., 2020). What wraps an answer, such as "Sure!", is not judged.

    Parameters
    ----------
    answer : str
        A text with citation marks.
    contexts : list of str, or mapping of str to str
        The passages: of a list, the first has the label 1. A mapping gives each its own label, such as
        "Smith 2020" or "doc-4"; brackets that hold only such labels are marks, too.
    k, splitter, embedder, judge, threshold, store, lang
        As for `evaluate`.

    Returns
    -------
    CitationsScore
        `recall`, `precision` and `score`, their F1, in [0, 1] or None with a reason; `recall_where_cited` leaves
        out sentences that cite nothing. A label that no passage has is a wrong citation, and `unknown` names it.

    Raises
    ------
    TypeError, ValueError
        If a text is none, or a choice is unknown.

    References
    ----------
    Gao et al. (2023), "Enabling Large Language Models to Generate Text with Citations", section 3.3. There, a
    sentence with an unknown label has recall 0 and its citations are not counted; here the other passages
    that it cites are judged.

    Examples
    --------
    >>> passages = ["The dog slept.", "It rained."]
    >>> result = check_citations("The dog slept [1]. It rained [1].", passages)
    >>> result.recall, result.precision
    (0.5, 0.5)
    """
    how = locals()
    text, passages = require_text(how.pop("answer"), "answer"), how.pop("contexts")
    return _check_many([text], [passages], progress=False, **how)[0]


def _check_many(
    answers: Any, contexts: Any, *, progress: bool | None = None, **options: Any
) -> ScoreTable[CitationsScore]:
    """Whether the citations of many answers hold; `contexts` has one list or mapping for each answer."""
    texts, listed = require_texts(answers, "answers"), require_column(contexts, "contexts")
    passages = [_require_passages(own, f"contexts[{place}]") for place, own in enumerate(listed)]
    if len(texts) != len(passages):
        raise ValueError(f"answers and contexts must pair up, but there are {len(texts)} and {len(passages)}")
    settings = _settings(**options)
    results: list[CitationsScore] = []
    show = len(texts) > 128 if progress is None else progress
    starts = range(0, len(texts), _BATCH)
    with one_bar(len(texts), "citations", "answer", show=show):
        for start in steps(starts, [min(_BATCH, len(texts) - start) for start in starts]):
            stage = Stages(read=1, learn=6)
            together = list(zip(texts[start : start + _BATCH], passages[start : start + _BATCH], strict=True))
            with stage("read"):
                rows = [_read_answer(*pair, settings) for pair in steps(together)]
            with stage("learn"):
                checked = _learn(rows, settings)
            results += [_result(checked, n) for n in range(len(checked.rows))]
    return ScoreTable(results, signature=settings.signature)


check_citations_many = batch(check_citations, _check_many)

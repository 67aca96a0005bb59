"""Edited directly. What surrounds ROUGE's definitions: counts of many pairs, tables, results and their pictures.

A single text is counted in plain Python (`_one_text.py`). For many, all (text, reference) pairs are laid out in a row.
Each different text is cut once; n-gram matches are LCS lengths of sorted numbers, ROUGE-L those of unsorted ones
(chapter 31), both by rapidfuzz.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from ..ground.base import JsonDict, np, require_option, require_text, warn_of_order
from ..ground.html import Mark, html_table, render
from ..ground.results import Outcome, Score, ScoreTable, Signature
from . import _fast
from ._lcs import union_matches, weighted_counts
from ._one_text import CutText, Formula, combine_references, count_matches
from .base import warn_of_lost_texts
from .counting import SKIP_TYPES, NumberedTexts, as_sequences, common_lengths, ngram_levels, number_texts, skip_counts
from .ngrams import Tokens, WordTokenizer, clipped_counts, list_ngrams, load_tokenizer
from .picture import COLORS, MatchPicture, ngram_marks, skip_marks, token_spans
from .tokens import tokenizer_name, warn_of_foreign_stems

if TYPE_CHECKING:
    from .rouge import Rouge, RougeItem

__all__ = ["RougeArrays", "TableOfTypes", "TypesOfOneText", "combine", "cut_pair", "score_one"]
__all__ += ["require_weight", "score_table", "sign"]


def cut_pair(
    reference: str, generated: str, tokenizer: str | Callable[[str], Tokens] | None
) -> tuple[list[Hashable], list[Hashable]]:
    """Return the tokens of both texts; a text of which the tokenizer leaves nothing is warned of."""
    cut = load_tokenizer(tokenizer or "rouge")
    texts = [require_text(reference, "reference"), require_text(generated, "generated")]
    remedy = "the reference comes first, calculate_rouge(reference, generated)"
    sizes = [(len(texts[0].strip()), len(texts[1]))]
    warn_of_order(sizes, judged=("the generated text is", ""), beside="the reference", remedy=remedy, times=4)
    wanted, made = (list(cut(text)) for text in texts)
    warn_of_lost_texts(texts, [len(wanted), len(made)], tokenizer_name(tokenizer or "rouge"))
    return wanted, made


def combine(
    counts: np.ndarray,
    starts: np.ndarray,
    multi: str,
    exponent: float,
    recalls: np.ndarray | None = None,
) -> np.ndarray:
    """Return precision, recall, F1 for each text, shape (texts, 3), from (matches, made, wanted) per reference.

    `recalls` replaces the recall by which `"best_recall"` chooses.
    """
    if multi == "pooled":
        return ratios(_totals(counts, starts), exponent)
    each = ratios(counts, exponent)
    sizes = np.diff(np.r_[starts, len(each)])
    if multi == "average":
        return _totals(each, starts) / sizes[:, None]
    deciding = (each[:, 1] if recalls is None else recalls) if multi == "best_recall" else each[:, 2]
    is_best = deciding == np.repeat(np.maximum.reduceat(deciding, starts), sizes)
    best = np.flatnonzero(is_best)
    return each[best[np.searchsorted(best, starts)]]  # the first of several best


def _totals(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Add up each text's rows from left to right, as for a single text: numpy adds eight and more in another order."""
    sizes = np.diff(np.r_[starts, len(values)])
    totals = values[starts]
    for place in range(1, int(sizes.max(initial=0))):
        longer = sizes > place
        totals[longer] += values[starts[longer] + place]
    return totals


def powers(values: np.ndarray, exponent: float) -> np.ndarray:
    """Return Python's powers: numpy has its own, and now and then another number in the last digit."""
    return np.array([value**exponent for value in values.tolist()])


def ratios(counts: np.ndarray, exponent: float) -> np.ndarray:
    """Return precision, recall and F1 of rows of counts: the formula of chapter 33, to the last bit."""
    matches, made, wanted = counts.T
    precision, recall = matches / np.maximum(made, 1), matches / np.maximum(wanted, 1)
    if exponent != 1:
        precision, recall = powers(precision, exponent), powers(recall, exponent)
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return np.column_stack([precision, recall, f1])


def require_weight(weight: float) -> float:
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 1 <= weight < 100:
        raise ValueError(f"weight must be a number of at least 1 (1.2 is usual), not {weight!r}")
    return float(weight)


def sign(metric: Rouge, sizes: Sequence[int] | None) -> Signature:
    """Name every choice; `nrefs` is `var` when texts have different numbers of references."""
    count = None if sizes is None else sizes[0] if len(set(sizes)) == 1 else "var"
    known = vars(metric).setdefault("_signed", {})  # a signature takes as long as the counting of a short text
    key = (*metric.types, count)
    if key not in known:
        known[key] = _sign(metric, count)
    return known[key]


def _sign(metric: Rouge, count: int | str | None) -> Signature:
    named: dict[str, object] = {"metric": "+".join(metric.types)}
    if count is not None:
        named["nrefs"] = count
    named |= {"multi": metric.combining, "compat": metric.compat, "tok": _tokenizer_of(metric)}
    return Signature(named | ({"weight": str(float(metric.weight))} if "rougeW" in metric.types else {}))


def _tokenizer_of(metric: Rouge) -> str:
    return metric.cut.name if isinstance(metric.cut, WordTokenizer) else tokenizer_name(metric.tokenizer)


@dataclass(frozen=True)
class Pairs:
    """All (generated, reference) pairs of a job: the different texts, and their numbers per pair."""

    texts: list[str]
    made: np.ndarray
    wanted: np.ndarray
    starts: np.ndarray


def lay_out(generated: Sequence[str], references: Sequence[Sequence[str]]) -> Pairs:
    places: dict[str, int] = {}
    sizes = np.fromiter(map(len, references), np.int64, len(references))
    own = np.array([places.setdefault(text, len(places)) for text in generated], np.int64)
    groups: dict[tuple[str, ...], list[int]] = {}
    wanted: list[int] = []
    for group in map(tuple, references):
        known = groups.get(group)
        if known is None:  # the same references meet many generated texts: look their numbers up once
            known = groups[group] = [places.setdefault(text, len(places)) for text in group]
        wanted += known
    return Pairs(
        list(places),
        np.repeat(own, sizes),
        np.array(wanted, np.int64),
        np.cumsum(sizes) - sizes,
    )


def sequence_counts(pairs: Pairs, tokens: NumberedTexts, kind: str) -> np.ndarray:
    """Return (matches, made, wanted) per pair for one n-gram order, ROUGE-L or ROUGE-S, shape (pairs, 3)."""
    if kind in SKIP_TYPES:
        return skip_counts(pairs.made, pairs.wanted, tokens, kind)
    if kind == "rougeL":
        level, sequences = tokens, as_sequences(tokens)
    else:
        *_, level = ngram_levels(tokens, int(kind[5:]))
        sequences = as_sequences(level, ordered=True)
    made, wanted = pairs.made.tolist(), pairs.wanted.tolist()
    matches = common_lengths(list(map(sequences.__getitem__, made)), list(map(sequences.__getitem__, wanted)))
    return np.column_stack([matches, level.lengths[pairs.made], level.lengths[pairs.wanted]]).astype(float)


def line_counts(pairs: Pairs, options: Rouge, kind: str) -> np.ndarray:
    """Return (matches, made, wanted) per pair for ROUGE-Lsum; for ROUGE-W also the length weighted once."""
    lines = [[line for line in text.split("\n") if line] for text in pairs.texts]
    numbered = number_texts([line for text in lines for line in text], options.cut)
    flat, ends = numbered.numbers.tolist(), [0, *numbered.ends.tolist()]
    sentences: Iterator[tuple[int, ...]] = (tuple(flat[a:b]) for a, b in zip(ends, ends[1:], strict=False))
    cut = [[sentence for sentence in (next(sentences) for _ in text) if sentence] for text in lines]
    sizes = np.array([sum(map(len, text)) for text in cut], float)
    made, wanted = pairs.made.tolist(), pairs.wanted.tolist()
    if kind == "rougeW":
        weigh = lambda i, j: weighted_counts(cut[j], cut[i], options.weight, options.compat)
        return np.array([weigh(i, j) for i, j in zip(made, wanted, strict=True)]).reshape(-1, 4)
    matches = np.zeros(len(made))
    single = np.array([len(text) <= 1 for text in cut])
    short = np.flatnonzero(single[pairs.made] & single[pairs.wanted]).tolist()
    whole = [list(text[0]) if text else [] for text in cut]
    matches[short] = common_lengths([whole[made[p]] for p in short], [whole[wanted[p]] for p in short])
    known: dict[Any, Any] = {}
    for p in set(range(len(made))).difference(short):
        matches[p] = union_matches(cut[wanted[p]], cut[made[p]], known)
    return np.column_stack([matches, sizes[pairs.made], sizes[pairs.wanted]])


Found = TypeVar("Found")


def _look_up(values: Mapping[str, Found], kind: str, reason: str = "") -> Found:
    """Return the value of one type; a type that was not computed is a KeyError that says which were."""
    if kind not in values:
        known = f"computed: {', '.join(values)}" if values else reason
        raise KeyError(f"no scores of type {kind!r}; {known}")
    return values[kind]


class RougeArrays(NamedTuple):
    """Precision, recall and F1 of many texts, each an array in [0, 1]."""

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class TableOfTypes(ScoreTable):
    """The base of `RougeTable`: arrays by type, and what is made of them."""

    item: ClassVar[type[RougeItem]]
    by_type: dict[str, RougeArrays]
    sizes: Sequence[int]
    options: Rouge
    signature: Signature
    nothing = "neither the candidate nor a reference holds a token"

    def __getitem__(self, kind: str) -> RougeArrays:
        return _look_up(self.by_type, kind)

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_type)

    def items(self) -> ItemsView[str, RougeArrays]:
        """Return each type with its arrays."""
        return self.by_type.items()

    def arrays(self) -> dict[str, np.ndarray]:
        """Return every number as `rougeL_f1` and so on; the main type's F1 comes first."""
        named = {f"{kind}_{part}": a for kind, v in self.items() for part, a in v._asdict().items()}
        return {(first := f"{self.options.main}_f1"): named[first], **named}

    def mean_by_type(self) -> dict[str, RougeItem | None]:
        """Return the mean precision, recall and F1 of each type; None when no text has a score."""
        if not self.defined.any():
            return dict.fromkeys(self.by_type)
        return {k: self.item(*(float(part[self.defined].mean()) for part in v)) for k, v in self.items()}

    def rows(self) -> list[JsonDict]:
        """Return one plain dictionary per text, three numbers per type; an undefined one is None."""
        order = [f"{kind}_{part}" for kind in self.by_type for part in RougeArrays._fields]
        return [{name: row[name] for name in order} for row in super().rows()]

    def outcomes(self) -> list[Outcome]:
        """Return each text's main score with all others; its signature depends on its own references alone."""
        signatures = {size: str(sign(self.options, [size])) for size in set(self.sizes)}
        columns = {kind: [part.tolist() for part in v] for kind, v in self.items()}
        main, found = self.options.main, []
        for i, (size, known) in enumerate(zip(self.sizes, self.defined.tolist(), strict=True)):
            if not known:
                found.append(Outcome(None, "undefined", self.nothing, {}, signatures[size]))
                continue
            parts: JsonDict = {k: self.item(p[i], r[i], f[i])._asdict() for k, (p, r, f) in columns.items()}
            found.append(
                Outcome(
                    columns[main][2][i],
                    "ok",
                    "",
                    parts | {"main": main},
                    signatures[size],
                )
            )
        return found

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        means = {k: item._asdict() if item else None for k, item in self.mean_by_type().items()}
        return super().to_dict() | {"mean_by_type": means}

    def _repr_html_(self) -> str:
        rows = [{"type": k, **(item._asdict() if item else {})} for k, item in self.mean_by_type().items()]
        caption = f"mean ROUGE of {int(self.defined.sum())} of {len(self)} texts"
        return html_table(
            rows,
            columns=["type", *RougeArrays._fields],
            caption=caption,
            note=str(self.signature),
        )


Table = TypeVar("Table", bound="TableOfTypes")
One = TypeVar("One", bound="TypesOfOneText")
_CHUNK = 5000  # texts counted at once: bounds the memory of a long job


def _score_chunk(
    generated: Sequence[str], references: Sequence[Sequence[str]], options: Rouge
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return {type: (texts, 3)} and which texts have anything to compare."""
    if (served := _fast.scores_of_many(generated, references, options, _tokenizer_of(options))) is not None:
        return served
    pairs = lay_out(generated, references)
    tokens = number_texts(pairs.texts, options.cut)
    warn_of_lost_texts(pairs.texts, tokens.lengths, _tokenizer_of(options))
    scores = {}
    for kind in options.types:
        by_lines = kind in ("rougeLsum", "rougeW")
        counts = line_counts(pairs, options, kind) if by_lines else sequence_counts(pairs, tokens, kind)
        exponent, recalls = 1.0, None
        if kind == "rougeW":
            exponent = 1 / options.weight
            recalls = powers(counts[:, 0] / np.maximum(counts[:, 3], 1), exponent)  # by which ROUGE-1.5.5 chooses
        scores[kind] = combine(counts[:, :3], pairs.starts, options.combining, exponent, recalls)
    some = np.maximum(tokens.lengths[pairs.made], tokens.lengths[pairs.wanted])
    return scores, np.maximum.reduceat(some, pairs.starts) > 0


def score_table(
    kind: type[Table],
    generated: Sequence[str],
    references: Sequence[Sequence[str]],
    options: Rouge,
    progress: bool | None = None,
) -> Table:
    """Return the scores of many texts, counted in chunks."""
    from tqdm.auto import tqdm

    warn_of_foreign_stems(options.stemmer, generated)
    starts = range(0, len(generated), _CHUNK)
    hidden = len(starts) < 2 or None if progress is None else not progress  # None: on terminals only
    chunks = [
        _score_chunk(
            generated[start : start + _CHUNK],
            references[start : start + _CHUNK],
            options,
        )
        for start in tqdm(starts, desc="ROUGE", disable=hidden)
    ]
    if not chunks:
        raise ValueError("candidates is empty: there is no text to score")
    known = np.concatenate([ok for _, ok in chunks])
    by_type = {}
    for name in options.types:
        values = np.concatenate([scores[name] for scores, _ in chunks])
        values[~known] = np.nan  # nothing was compared: no score, and never 0
        by_type[name] = RougeArrays(*(np.ascontiguousarray(column) for column in values.T))
    sizes = [len(group) for group in references]
    return kind(by_type, sizes, options, sign(options, sizes))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TypesOfOneText(Score, Mapping[str, "RougeItem"]):
    """The base of `RougeScores`: items by type, and what is made of them."""

    item: ClassVar[type[RougeItem]]
    items_by_type: Mapping[str, RougeItem]
    candidate: str
    references: Sequence[str]
    options: Rouge

    def __getitem__(self, kind: str) -> RougeItem:
        return _look_up(self.items_by_type, kind, self.reason)

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_by_type)

    def __len__(self) -> int:
        return len(self.items_by_type)

    def __repr__(self) -> str:
        shown = ", ".join(f"{kind}={item.f1:.4f}" for kind, item in self.items()) or f"None ({self.reason})"
        return f"{type(self).__name__}({shown}, signature={str(self.signature)!r})"

    def rows(self) -> list[JsonDict]:
        """Return one row per type: precision, recall, F1."""
        return [{"type": kind, **item._asdict()} for kind, item in self.items()]

    def _repr_html_(self) -> str:
        body = html_table(self.rows()) if self.items_by_type else render("parts.html", lines=[self.reason])
        return render("parts.html", kind="", title="ROUGE", parts=[body], notes=[self.signature])

    def explain(self, kind: str | None = None, *, reference: int | None = None) -> MatchPicture:
        """Show what is shared, n-grams, pairs or the common subsequence, beside one reference (default: the best)."""
        chosen = require_option(kind or self.options.types[0], "type", self.options.types)
        return _explain(self.candidate, self.references, self.options, chosen, reference)


def _explain(
    generated: str,
    references: Sequence[str],
    options: Rouge,
    kind: str,
    reference: int | None,
) -> MatchPicture:
    """Mark what one type of ROUGE counts in the candidate and one reference."""
    if reference is None:
        alone = replace(options, types=[kind])
        each = [alone.score(generated, r).items_by_type.get(kind) for r in references]
        reference = max(range(len(references)), key=lambda i: item.f1 if (item := each[i]) else 0.0)
    elif not 0 <= reference < len(references):
        raise ValueError(f"reference must be the number of a reference, 0 to {len(references) - 1}, not {reference}")
    texts = [generated, references[reference]]
    labels = ["candidate", f"reference {reference + 1} of {len(references)}"]
    if kind in SKIP_TYPES:
        marks, rows = skip_marks([_tokens_and_places(text, options) for text in texts], kind)
    else:
        marking = _mark_sequences if kind in ("rougeL", "rougeLsum", "rougeW") else _mark_ngrams
        marks, rows = marking(texts, options, kind)
    item = replace(options, types=[kind]).score(generated, texts[1]).items_by_type.get(kind)
    numbers = f"P {item.precision:.3f} R {item.recall:.3f} F1 {item.f1:.3f}" if item else "no score"
    return MatchPicture(f"{kind}: {numbers}", list(zip(labels, texts, marks, strict=True)), rows)


def _tokens_and_places(text: str, options: Rouge) -> tuple[list[Hashable], list[tuple[int, int] | None]]:
    """Return the counted tokens and where they stand; a stem stands where its word does."""
    cut = options.cut
    surfaces = cut.surfaces(text) if isinstance(cut, WordTokenizer) else cut(text)
    return list(cut(text)), token_spans(text, surfaces)


def _mark_ngrams(texts: Sequence[str], options: Rouge, kind: str) -> tuple[list[list[Mark]], list[JsonDict]]:
    n = int(kind[5:])
    (made, made_places), (wanted, wanted_places) = (_tokens_and_places(text, options) for text in texts)
    counted = clipped_counts(made, [wanted], n)
    shared = {gram: count for gram, (_, _, count) in counted.items() if count}
    marks = [ngram_marks(p, list_ngrams(t, n), shared) for t, p in ((made, made_places), (wanted, wanted_places))]
    named = {" ".join(map(str, gram)): values for gram, values in counted.items()}
    return marks, [{"n-gram": g, "candidate": a, "reference": b, "shared": c} for g, (a, b, c) in named.items()]


def _mark_sequences(texts: Sequence[str], options: Rouge, kind: str) -> tuple[list[list[Mark]], list[JsonDict]]:
    """Mark the words on the path of the (weighted, or united) longest common subsequence."""
    lines = [[(0, text)] if kind == "rougeL" else _lines(text) for text in texts]
    cut = [[(start, *_tokens_and_places(line, options)) for start, line in found] for found in lines]
    marks: list[list[Mark]] = [[], []]
    rows: list[JsonDict] = []
    seen: set[tuple[int, int]] = set()
    for wanted_start, wanted, wanted_places in cut[1]:
        for made_start, made, made_places in cut[0]:
            path = options.path(kind, wanted, made)
            for i, j in path:
                title = f"{wanted[i]}: number {len(rows) + 1} of the common subsequence"
                color = COLORS[len(rows) % len(COLORS)]
                both = ((made_start, made_places[j]), (wanted_start, wanted_places[i]))
                for side, (start, place) in enumerate(both):
                    if place:
                        marks[side].append(
                            Mark(
                                start + place[0],
                                start + place[1],
                                color,
                                "#1a1a1a",
                                title,
                            )
                        )
                if (wanted_start, i) not in seen:
                    seen.add((wanted_start, i))
                    rows.append({"number": len(rows) + 1, "word": str(wanted[i])})
    return marks, rows


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the lines that are not empty, each with its position."""
    found, start = [], 0
    for line in text.split("\n"):
        found += [(start, line)] if line else []
        start += len(line) + 1
    return found


def _items_of_one(formula: Formula, text: str, listed: list[str], options: Rouge) -> dict[str, RougeItem]:
    """Precision, recall and F1 by type, counted here; nothing where no side holds a token."""
    made, *wanted = cut = [CutText(one, options) for one in [text, *listed]]
    lengths = {one.text: len(one.tokens) for one in cut}
    warn_of_lost_texts(list(lengths), lengths.values(), _tokenizer_of(options))
    counted = options.types if any(lengths.values()) else ()
    return {
        name: combine_references([count_matches(name, made, one) for one in wanted], name, options, formula)
        for name in counted
    }


def score_one(kind: type[One], formula: Formula, text: str, listed: list[str], options: Rouge) -> One:
    """Score one text by the formula of the chapter, in plain Python, or by what gives the same numbers faster."""
    warn_of_foreign_stems(options.stemmer, [text, *listed])
    served = _fast.scores_of_one(text, listed, options, _tokenizer_of(options))
    if served is None:
        items = _items_of_one(formula, text, listed, options)
    else:
        items = dict(zip(served, map(kind.item._make, served.values()), strict=True))
    reason = "" if len(items) == 1 else "several types were asked for: take one, such as scores['rouge1'].f1"
    if not items:
        reason = "neither the candidate nor a reference holds a token: there is nothing to compare"
    return kind(
        score=next(iter(items.values())).f1 if len(items) == 1 else None,
        reason=reason,
        signature=sign(options, [len(listed)]),
        items_by_type=items,
        candidate=text,
        references=listed,
        options=options,
    )

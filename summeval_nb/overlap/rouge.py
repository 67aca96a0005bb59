"""ROUGE-N, ROUGE-L, ROUGE-Lsum, ROUGE-W and ROUGE-S under the conventions of rouge-score and of ROUGE-1.5.5.

One text is counted by the definitions of chapter 22 (`rouge_counts`), many texts together (`rouge_bulk`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from summeval_nb.core.base import JsonDict, np, one_bar, require_option, require_text, steps, warn_of_order
from summeval_nb.core.html import Mark, html_table, render
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Outcome, Score, ScoreTable, Signature

from .base import (
    Groups,
    References,
    require_candidate,
    require_pairs,
    require_references,
    warn_of_lost_letters,
    warn_of_lost_texts,
)
from .counting import SKIP_TYPES, count_pairs, shared_pairs
from .ngrams import WordTokenizer, clipped_counts, list_ngrams
from .picture import COLORS, MatchPicture, ngram_marks, skip_marks, token_spans
from .rouge_bulk import (
    bit_path,
    compiled_chunk,
    lcs_length,
    score_chunk,
    weighted_counts,
    weighted_lcs,
    weighted_lcs_path,
)
from .rouge_counts import (
    PrecisionRecallF1,
    combine_references,
    lcs_path,
    ngram_matches,
    precision_recall_f1,
    union_lcs_matches,
)
from .tokens import Tokens, load_tokenizer, rouge_tokenizer, tokenizer_name, warn_of_foreign_stems

__all__ = ["DEFAULT_TYPES", "MULTI", "TYPES", "RougeScore", "rouge_many", "rouge_score"]
__all__ += ["calculate_rouge", "calculate_rouge_l", "rouge_w"]

MULTI = ("best", "best_recall", "average", "pooled")
TYPES = (*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum", "rougeW", *SKIP_TYPES)
DEFAULT_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
NOTHING = "neither the candidate nor a reference holds a token"
_USUAL = {"google": "best", "rouge-1.5.5": "pooled"}  # how several references are combined
_CHUNK = 5000  # texts counted at once: bounds the memory of a long job


def rouge_signature(nrefs: object = None, **options: Any) -> Signature:
    """Return every option that could change a number; a result's own adds the number of references."""
    chosen = [options[name] for name in ("multi", "compat", "weight")]
    return _signed(tuple(options["types"]), nrefs, _checked(**options)[1], *chosen)


@metric(
    "rouge", probe="It rained.", shard_size=2000, check=lambda **options: _checked(**options), signature=rouge_signature
)
def rouge_score(
    candidate: str,
    references: References,
    *,
    types: Sequence[str] = DEFAULT_TYPES,
    stemmer: bool | str = False,
    tokenizer: str | Callable[[str], Tokens] | None = None,
    multi: str | None = None,
    compat: str = "google",
    exceptions: Mapping[str, str] | str | None = None,
    weight: float = 1.2,
) -> RougeScore:
    """Return ROUGE of one text against one or several references.

    Parameters
    ----------
    candidate : str
        The text to judge.
    references : str or list of str
        One or several; None among them is an error.
    types : list of str
        `"rouge1"` to `"rouge9"`, `"rougeL"` (whole text), `"rougeLsum"` (union over
        lines), `"rougeW"` (weighted), `"rougeS"` (pairs of words in order), `"rougeS4"`
        (at most four words between them), `"rougeSU"`, `"rougeSU4"` (with the single
        words).
    stemmer : bool or str
        Stem words of more than three letters: True for English by Porter, or a language
        of nltk's Snowball stemmers, such as `"german"`, with words of any script.
    tokenizer : str or callable, optional
        Your own text → tokens for any language; by default lower-cased runs of a-z and
        0-9.
    multi : {"best", "best_recall", "average", "pooled"}, optional
        How several references are combined. Default: `"best"`, and `"pooled"` with
        `compat="rouge-1.5.5"`.
    compat : {"google", "rouge-1.5.5"}
        Whose lower-casing, stemming and ROUGE-W: rouge-score 0.1.2's or the Perl
        script's.
    exceptions : mapping, "wordnet" or None
        Irregular form → base form, looked up before stemming (`compat="rouge-1.5.5"`).
    weight : float
        Exponent of ROUGE-W, at least 1.

    Returns
    -------
    RougeScore
        A mapping from type to precision, recall and F1 in [0, 1]; 0 where one side has
        no n-gram of the order, or no pair.

    Notes
    -----
    For texts of m and n words ROUGE-N takes time and memory by m + n. ROUGE-L and
    ROUGE-Lsum take time by m · n, many bits at once, and memory by little more than
    m + n. ROUGE-W visits all m · n cells of its table one by one; `compat="rouge-1.5.5"`
    keeps a byte for each. ROUGE-S and ROUGE-SU count all pairs of words, m² + n² halves;
    with the paper's limit, `"rougeS4"` and `"rougeSU4"`, time grows by m + n. `explain`
    fills whole tables and is for texts that people read.

    Raises
    ------
    TypeError, ValueError
        For anything that is no text, an empty list of references, unknown options.

    Warns
    -----
    UserWarning
        When the tokenizer leaves nothing of a text that was not blank.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries". Equal to
    rouge-score 0.1.2 by default.

    Examples
    --------
    >>> scores = rouge_score(
    ...     candidate="the cat sat", references=["the cat sat down", "cats sit"]
    ... )
    >>> scores["rouge1"].recall, scores["rougeL"].precision
    (0.75, 1.0)
    """
    options: JsonDict = {"types": types, "stemmer": stemmer, "tokenizer": tokenizer, "multi": multi, "compat": compat}
    options |= {"exceptions": exceptions, "weight": weight}
    tokenize, tok = _checked(**options)
    text, listed = require_candidate(candidate, references), require_references(references)
    warn_of_foreign_stems(stemmer, [text, *listed])
    warn_of_lost_letters([text, *listed], tok)
    sides = [_Words.of(string, types, tokenize) for string in (text, *listed)]
    lengths = {string: len(side.tokens) for string, side in zip((text, *listed), sides, strict=True)}
    warn_of_lost_texts(list(lengths), lengths.values(), tok)
    items = {}
    for kind in types if any(lengths.values()) else ():
        counts = [_count(kind, sides[0], other, weight, compat) for other in sides[1:]]
        power = 1 / weight if kind == "rougeW" else 1
        items[kind] = combine_references(counts, multi or _USUAL[compat], power)
    return _result(items, text, listed, options, tok)


def _checked(
    types: Sequence[str],
    stemmer: bool | str,
    tokenizer: str | Callable[[str], Tokens] | None,
    multi: str | None,
    compat: str,
    exceptions: Mapping[str, str] | str | None,
    weight: float,
) -> tuple[Callable[[str], Tokens], str]:
    """Raise where an option is wrong; return what cuts a text into words, stemmed or not, and its name."""
    if isinstance(types, str) or not isinstance(types, Sequence) or not types:
        raise TypeError(f"types must be a list of names such as ['rouge1', 'rougeL'], not {types!r}")
    for name in types:
        require_option(name, "type", TYPES)
    if multi is not None:
        require_option(multi, "multi", MULTI)
    _require_weight(weight)
    own = rouge_tokenizer(stemmer=stemmer, compat=compat, exceptions=exceptions)
    if tokenizer is None:
        return own, own.name
    if stemmer or exceptions is not None:
        raise ValueError("stemmer and exceptions belong to ROUGE's own tokenizer: with yours, stem inside it")
    return load_tokenizer(tokenizer), tokenizer_name(tokenizer)


def _require_weight(weight: float) -> float:
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 1 <= weight < 100:
        raise ValueError(f"weight must be a number of at least 1 (1.2 is usual), not {weight!r}")
    return float(weight)


class _Words(NamedTuple):
    """The words of a text, and of each of its lines that has some."""

    tokens: Sequence[Hashable]
    lines: Sequence[Sequence[Hashable]]

    @classmethod
    def of(cls, text: str, types: Sequence[str], tokenize: Callable[[str], Tokens]) -> _Words:
        """Cut a text; its lines only where a type asks for them."""
        tokens = list(tokenize(text))
        if "\n" not in text or not {"rougeLsum", "rougeW"} & set(types):
            return cls(tokens, [tokens] if tokens else [])
        return cls(tokens, list(filter(None, (list(tokenize(line)) for line in text.split("\n") if line))))


def _count(kind: str, made: _Words, wanted: _Words, weight: float, compat: str) -> tuple[float, ...]:
    """Return (matches, candidate, reference) of a text and one reference, by the definition of a type."""
    left, right = made.tokens, wanted.tokens
    if kind == "rougeW":
        return weighted_counts(wanted.lines, made.lines, weight, compat)
    if kind == "rougeLsum":
        sizes = (sum(map(len, side.lines)) for side in (made, wanted))
        return union_lcs_matches(wanted.lines, made.lines, bit_path), *sizes
    if kind in SKIP_TYPES:
        return shared_pairs(left, right, kind), count_pairs(len(left), kind), count_pairs(len(right), kind)
    if kind == "rougeL":
        return lcs_length(right, left), len(left), len(right)
    n = int(kind[5:])
    return ngram_matches(left, right, n), max(len(left) - n + 1, 0), max(len(right) - n + 1, 0)


@lru_cache(maxsize=1024)  # signing takes as long as counting a short text
def _signed(
    types: tuple[str, ...], nrefs: object, tok: str, multi: str | None, compat: str, weight: float
) -> Signature:
    named: dict[str, object] = {"metric": "+".join(types)} | ({} if nrefs is None else {"nrefs": nrefs})
    named |= {"multi": multi or _USUAL[compat], "compat": compat, "tok": tok}
    return Signature(named | ({"weight": str(float(weight))} if "rougeW" in types else {}))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RougeScore(Score, Mapping[str, PrecisionRecallF1]):
    """ROUGE of one text: `scores["rouge1"].precision`, `.recall`, `.f1`, in [0, 1].

    `score` is the F1 when exactly one type was asked for, otherwise None with a reason.
    When neither the text nor its references hold a token, the mapping is empty and
    `reason` says so.
    """

    items_by_type: Mapping[str, PrecisionRecallF1]
    candidate: str
    references: Sequence[str]
    options: Mapping[str, Any]

    def __getitem__(self, kind: str) -> PrecisionRecallF1:
        if kind not in self.items_by_type:
            known = f"computed: {', '.join(self)}" if self else self.reason
            raise KeyError(f"no scores of type {kind!r}; {known}")
        return self.items_by_type[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_by_type)

    def __len__(self) -> int:
        return len(self.items_by_type)

    @property
    def line(self) -> str:
        """The F1 of each type on one line, or why there is none."""
        shown = ", ".join(f"{kind}={item.f1:.4f}" for kind, item in self.items())
        return shown or f"None ({self.reason})"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.line}, signature={str(self.signature)!r})"

    def outcome(self) -> Outcome:
        """Return what a run writes down: the main F1, and every number by its type."""
        main, line = _main(self.options["types"]), str(self.signature)
        if not self:
            return Outcome(None, "undefined", NOTHING, {}, line)
        parts: JsonDict = {kind: item._asdict() for kind, item in self.items()}
        return Outcome(self[main].f1, "ok", "", parts | {"main": main}, line)

    def rows(self) -> list[JsonDict]:
        """Return one row per type: precision, recall, F1."""
        return [{"type": kind, **item._asdict()} for kind, item in self.items()]

    def _repr_html_(self) -> str:
        body = html_table(self.rows()) if self else render("parts.html", lines=[self.reason])
        return render("parts.html", kind="", title="ROUGE", parts=[body], notes=[self.signature])

    def explain(self, kind: str | None = None, *, reference: int | None = None) -> MatchPicture:
        """Show what is shared with one reference, by default the best."""
        kind = require_option(kind or self.options["types"][0], "type", self.options["types"])
        options = {**self.options, "types": [kind]}
        nothing = PrecisionRecallF1(0.0, 0.0, 0.0)
        each = [rouge_score(self.candidate, other, **options).get(kind) for other in self.references]
        if reference is None:
            reference = max(range(len(each)), key=lambda place: (each[place] or nothing).f1)
        elif not 0 <= reference < len(each):
            raise ValueError(f"reference must be the number of a reference, 0 to {len(each) - 1}, not {reference}")
        texts, shown = [self.candidate, self.references[reference]], "no score"
        if item := each[reference]:
            shown = f"P {item.precision:.3f} R {item.recall:.3f} F1 {item.f1:.3f}"
        marks, rows = _marks(texts, kind, _checked(**options)[0], options["weight"])
        labels = "candidate", f"reference {reference + 1} of {len(each)}"
        return MatchPicture(f"{kind}: {shown}", list(zip(labels, texts, marks, strict=True)), rows)


def _result(
    items: Mapping[str, PrecisionRecallF1],
    text: str,
    references: Sequence[str],
    options: Mapping[str, Any],
    tok: str,
) -> RougeScore:
    """Return the score of a text by its numbers; none without a token."""
    several = f"several types were asked for, {', '.join(items)}: take one, such as scores['rouge1'].f1"
    reason = several if len(items) > 1 else ""
    chosen = [options[name] for name in ("multi", "compat", "weight")]
    return RougeScore(
        score=next(iter(items.values())).f1 if len(items) == 1 else None,
        reason=reason if items else f"{NOTHING}: there is nothing to compare",
        signature=_signed(tuple(options["types"]), len(references), tok, *chosen),
        items_by_type=items,
        candidate=text,
        references=references,
        options=options,
    )


def rouge_table(
    candidates: Sequence[str], references: Groups, *, progress: bool | None = None, **options: Any
) -> ScoreTable[RougeScore]:
    """Return ROUGE of many texts, counted together, as `rouge1_precision` and so on; the main F1 comes first."""
    tokenize, tok = _checked(**options)
    types, stemmer, compat, multi = (options[name] for name in ("types", "stemmer", "compat", "multi"))
    texts, groups = require_pairs(candidates, references)
    if not texts:
        raise ValueError("candidates is empty: there is no text to score")
    warn_of_foreign_stems(stemmer, texts)
    warn_of_lost_letters([*texts, *chain.from_iterable(groups)], tok)
    own_words = options["tokenizer"] is None and compat == "google" and isinstance(stemmer, bool)
    chunks, starts = [], range(0, len(texts), _CHUNK)
    with one_bar(len(texts), "ROUGE", "text", show=False if progress is None and len(starts) < 2 else progress):
        for at in steps(starts):
            some, others = texts[at : at + _CHUNK], groups[at : at + _CHUNK]
            done = compiled_chunk(some, others, types, stemmer) if own_words else None
            own = tokenize, tok, multi or _USUAL[compat], options["weight"], compat
            chunks.append(done or score_chunk(some, others, types, *own))
    known = np.concatenate([ok for _, ok in chunks])
    arrays = {f"{_main(types)}_f1": known}  # stands first
    for kind in types:
        values = np.concatenate([scores[kind] for scores, _ in chunks])
        values[~known] = np.nan  # nothing was compared: no score, and never 0
        for part, column in zip(PrecisionRecallF1._fields, values.T, strict=True):
            arrays[f"{kind}_{part}"] = np.ascontiguousarray(column)
    sizes = {len(group) for group in groups}
    count = sizes.pop() if len(sizes) == 1 else "var"
    signature = _signed(tuple(types), count, tok, multi, compat, options["weight"])
    result_of = partial(_result_at, arrays, texts, groups, options, tok)
    return ScoreTable(arrays=arrays, result_of=result_of, signature=signature, nothing=NOTHING)


rouge_many = batch(rouge_score, rouge_table)


def _main(types: Sequence[str]) -> str:
    """Return the type whose F1 stands for a text: ROUGE-L, or the first."""
    return "rougeL" if "rougeL" in types else types[0]


def _result_at(
    arrays: Mapping[str, np.ndarray],
    texts: Sequence[str],
    groups: Sequence[Sequence[str]],
    options: Mapping[str, Any],
    tok: str,
    place: int,
) -> RougeScore:
    """Return the score of a text of a table by its place."""
    items: dict[str, PrecisionRecallF1] = {}
    for kind in options["types"]:
        item = PrecisionRecallF1(*(float(arrays[f"{kind}_{part}"][place]) for part in PrecisionRecallF1._fields))
        items |= {} if math.isnan(item.f1) else {kind: item}
    return _result(items, texts[place], groups[place], options, tok)


_Placed: TypeAlias = tuple[list[Hashable], list[tuple[int, int] | None]]  # tokens, and where each stands


def _marks(
    texts: Sequence[str], kind: str, tokenize: Callable[[str], Tokens], weight: float
) -> tuple[list[list[Mark]], list[JsonDict]]:
    """Mark what a type of ROUGE counts in a candidate and its reference, and list it."""

    def placed(text: str) -> _Placed:  # a stem stands where its word does
        words = tokenize.surfaces(text) if isinstance(tokenize, WordTokenizer) else tokenize(text)
        return list(tokenize(text)), token_spans(text, words)

    if kind in SKIP_TYPES:
        return skip_marks([placed(text) for text in texts], kind)
    if kind in ("rougeL", "rougeLsum", "rougeW"):
        lines = [[(0, text)] if kind == "rougeL" else _lines(text) for text in texts]
        cut = [[(start, *placed(line)) for start, line in side] for side in lines]
        path = partial(weighted_lcs_path, weight=weight) if kind == "rougeW" else lcs_path
        return _path_marks(cut[0], cut[1], path)
    n, sides = int(kind[5:]), [placed(text) for text in texts]
    counted = clipped_counts(sides[0][0], [sides[1][0]], n)
    shared = {gram: count for gram, (_, _, count) in counted.items() if count}
    rows: list[JsonDict] = [
        {"n-gram": " ".join(map(str, gram)), "candidate": own, "reference": theirs, "shared": count}
        for gram, (own, theirs, count) in counted.items()
    ]
    return [ngram_marks(spans, list_ngrams(tokens, n), shared) for tokens, spans in sides], rows


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the lines that are not empty, each with its place."""
    found, start = [], 0
    for line in text.split("\n"):
        found += [(start, line)] if line else []
        start += len(line) + 1
    return found


def _path_marks(
    candidate: Sequence[tuple[int, Tokens, Sequence[tuple[int, int] | None]]],
    reference: Sequence[tuple[int, Tokens, Sequence[tuple[int, int] | None]]],
    path: Callable[[Tokens, Tokens], list[tuple[int, int]]],
) -> tuple[list[list[Mark]], list[JsonDict]]:
    """Mark the words of the (weighted, or united) longest common subsequence."""
    marks: list[list[Mark]] = [[], []]
    rows: list[JsonDict] = []
    for wanted_start, wanted, wanted_places in reference:
        seen = set()
        for made_start, made, made_places in candidate:
            for i, j in path(wanted, made):
                number, color = len(rows) + 1, COLORS[len(rows) % len(COLORS)]
                title = f"{wanted[i]}: number {number} of the common subsequence"
                sides = (made_start, made_places[j]), (wanted_start, wanted_places[i])
                for side, (start, place) in zip(marks, sides, strict=True):
                    if place:
                        side.append(Mark(start + place[0], start + place[1], color, "#1a1a1a", title))
                if i not in seen:
                    seen.add(i)
                    rows.append({"number": number, "word": str(wanted[i])})
    return marks, rows


def calculate_rouge(
    reference: str, generated: str, n: int = 1, tokenizer: str | Callable[[str], Tokens] | None = None
) -> dict[str, float]:
    """Return ROUGE-N of a generated text against one reference, as defined.

    Inherited: here the reference comes first. Everything newer takes the text to judge
    first, `rouge_score(candidate, references)`.

    Parameters
    ----------
    reference, generated : str
        One text each. For several references or many texts use `rouge_score` and
        `rouge_many`.
    n : int
        Order of the n-grams, at least 1.
    tokenizer : str or callable, optional
        By default ROUGE's own: lower-cased runs of a-z and 0-9.

    Returns
    -------
    dict
        `precision`, `recall` and `f1_score`, each in [0, 1]; 0 where a side has no
        n-gram.

    Examples
    --------
    >>> reference, generated = "The cat sat.", "The cat ran away."
    >>> calculate_rouge(reference=reference, generated=generated)["recall"]
    0.6666666666666666
    """
    wanted, made = _tokenize_pair(reference, generated, tokenizer)
    sizes = (len(list_ngrams(side, n)) for side in (made, wanted))
    return _as_dict(precision_recall_f1(ngram_matches(made, wanted, n), *sizes))


def calculate_rouge_l(
    reference: str, generated: str, tokenizer: str | Callable[[str], Tokens] | None = None
) -> dict[str, float]:
    """Return ROUGE-L against one reference: the LCS over each text's length.

    Parameters, returns and raises as for `calculate_rouge`.

    Examples
    --------
    >>> reference, generated = "The cat sat.", "The cat ran away."
    >>> calculate_rouge_l(reference=reference, generated=generated)["precision"]
    0.5
    """
    wanted, made = _tokenize_pair(reference, generated, tokenizer)
    return _as_dict(precision_recall_f1(lcs_length(wanted, made), len(made), len(wanted)))


def rouge_w(
    reference: str, generated: str, weight: float = 1.2, tokenizer: str | Callable[[str], Tokens] | None = None
) -> dict[str, float]:
    """Return ROUGE-W of a generated text against one reference, as in the paper.

    Parameters
    ----------
    weight : float
        The exponent w of f(k) = k**w, at least 1; 1 gives ROUGE-L.

    Notes
    -----
    Time grows with the product of the texts' lengths, in plain Python; memory with
    their sum.

    Examples
    --------
    >>> scores = rouge_w(reference="a b c d e f g", generated="a b c d h i k")
    >>> round(scores["f1_score"], 4)
    0.5714
    """
    wanted, made = _tokenize_pair(reference, generated, tokenizer)
    weight = _require_weight(weight)
    sizes = len(made) ** weight, len(wanted) ** weight
    return _as_dict(precision_recall_f1(weighted_lcs(wanted, made, weight), *sizes, 1 / weight))


def _as_dict(item: PrecisionRecallF1) -> dict[str, float]:
    return {"precision": item.precision, "recall": item.recall, "f1_score": item.f1}


def _tokenize_pair(
    reference: str, generated: str, tokenizer: str | Callable[[str], Tokens] | None
) -> tuple[list[Hashable], list[Hashable]]:
    """Return the tokens of both texts; one that loses all its words is warned of."""
    tokenize, name = load_tokenizer(tokenizer or "rouge"), tokenizer_name(tokenizer or "rouge")
    texts = require_text(reference, "reference"), require_text(generated, "generated")
    warn_of_order(
        [(len(texts[0].strip()), len(texts[1]))],
        judged=("the generated text is", ""),
        beside="the reference",
        remedy="the reference comes first, calculate_rouge(reference, generated)",
        times=4,
    )
    wanted, made = (list(tokenize(text)) for text in texts)
    warn_of_lost_texts(texts, [len(wanted), len(made)], name)
    warn_of_lost_letters(texts, name)
    return wanted, made

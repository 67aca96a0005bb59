"""BLEU, chrF and TER: the calls for one text, many and a corpus, and their scores with all that was counted.

Chapters 24, 26 and 27 define what is counted of a text, and the formula that makes a number of the counts. Here many
texts are counted at once, and counts are added up over a corpus and drawn again for an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, TypeVar

from summeval_nb.core.base import JsonDict, is_finite, np, require_count, require_flag, require_option, require_text
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.resampling import bootstrap
from summeval_nb.core.results import Outcome, Score, ScoreTable, Signature

from .bleu import SMOOTHING, bleu_counts, bleu_from_counts, brevity_penalty, closest_length
from .chrf import characters, chrf_counts, chrf_from_counts, chrf_words
from .counting import NumberedNgrams, number_characters, number_texts, place_texts
from .ngrams import WordTokenizer
from .picture import MatchPicture, Placed, match_panels, ngram_panels, token_spans
from .ter import count_edits, shifted, ter_counts, ter_from_counts
from .tokens import (
    Tokens,
    load_tokenizer,
    require_candidate,
    require_number,
    require_pairs,
    require_references,
    tercom_words,
    tokenizer_name,
    warn_of_lost_texts,
)

__all__ = ["BleuScore", "ChrfScore", "Interval", "TerScore", "bleu_many", "bleu_score", "chrf_many", "chrf_score"]
__all__ += ["corpus_bleu", "corpus_chrf", "corpus_ter", "ter_many", "ter_score"]

Options = Mapping[str, Any]
Row = Sequence[float]  # of counts
Pairs = Sequence[tuple[str, Sequence[str]]]  # a candidate and its references


class Interval(NamedTuple):
    """A confidence interval and how it was made."""

    low: float
    high: float
    confidence: float
    n_resamples: int
    seed: int


class _Counting(NamedTuple):
    """How a metric counts, and what it makes of the counts of a text or of their sums; each gets all options."""

    name: str
    columns: tuple[str, ...]  # the first counts of a row, by the names that a table gives them
    sign: Callable[..., Signature]  # raises where an option is wrong
    rows: Callable[[Sequence[str], Sequence[Sequence[str]], Options], np.ndarray]  # one row a text
    formula: Callable[[Row, Options], float]
    nothing: Callable[[Row, Pairs, Options], str]  # why there is no number, or ''
    parts: Callable[[Row, Options], JsonDict]  # the other fields of a score


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class _CountedScore(Score):
    """A score from counts that can be added up over texts."""

    options: Options
    counted: list[Row] | np.ndarray
    texts: Pairs = ()
    how: ClassVar[_Counting]

    @cached_property
    def statistics(self) -> np.ndarray:
        """The counts of each text, one row a text."""
        return np.asarray(self.counted)

    def from_counts(self, row: Row) -> float:
        """Return the number that another row of counts, or a sum of rows, makes with the same options."""
        return self.how.formula(row, self.options)

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return the numbers that a table has, the score first."""
        return {self.how.name: self.score} | {name: getattr(self, name) for name in self.how.columns}

    def interval(self, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 0) -> Interval:
        """Return a percentile bootstrap interval of a corpus score: its texts are drawn again."""

        def numbers(drawn: np.ndarray) -> np.ndarray:  # by the scalar formula: numpy's may differ in the last digit
            sums = self.statistics[drawn].sum(axis=-2)
            flat = [self.from_counts(row) for row in sums.reshape(-1, sums.shape[-1]).tolist()]
            return np.array(flat, float).reshape(sums.shape[:-1])

        size = len(self.statistics)
        _, low, high = bootstrap(numbers, size, confidence=confidence, n_resamples=n_resamples, seed=seed)
        return Interval(low, high, confidence, n_resamples, seed)


Kind = TypeVar("Kind", bound=_CountedScore)


def _summed(kind: type[Kind], counted: list[Row] | np.ndarray, texts: Pairs, options: Options) -> Kind:
    """Add up the counts of some texts and make one score of them."""
    sums = counted[0] if isinstance(counted, list) else counted.sum(axis=0).tolist()
    parts, reason = kind.how.parts(sums, options), kind.how.nothing(sums, texts, options)
    parts |= {"reason": reason} if reason else {}
    score = None if reason else kind.how.formula(sums, options)
    signature = _with_nrefs(kind.how.sign(**options), [group for _, group in texts])
    return kind(score=score, signature=signature, options=options, counted=counted, texts=texts, **parts)


def _with_nrefs(signature: Signature, groups: Sequence[Sequence[str]]) -> Signature:
    """Return a signature with the number of references, "var" when texts have different numbers."""
    sizes = {len(group) for group in groups}
    (name, value), *rest = signature.items()
    return Signature({name: value, "nrefs": sizes.pop() if len(sizes) == 1 else "var", **dict(rest)})


def _table(kind: type[Kind], candidates: Any, references: Any, **options: Any) -> ScoreTable[Kind]:
    """Return the scores of many texts, each made whole when somebody asks for it."""
    signature = kind.how.sign(**options)
    texts, groups = require_pairs(candidates, references)
    rows, pairs = kind.how.rows(texts, groups, options), list(zip(texts, groups, strict=True))
    scores = [
        np.nan if kind.how.nothing(row, [pair], options) else kind.how.formula(row, options)
        for row, pair in zip(rows.tolist(), pairs, strict=True)
    ]
    columns = {name: rows[:, place] for place, name in enumerate(kind.how.columns)}
    return ScoreTable(
        arrays={kind.how.name: np.array(scores, float), **columns},
        signature=_with_nrefs(signature, groups),
        result_of=partial(_result, kind, rows, pairs, options),
        outcomes_of=partial(_outcomes, kind, rows, options),
        nothing=_NOTHING,
        lower_is_better=kind is TerScore,
    )


def _result(kind: type[Kind], rows: np.ndarray, pairs: Pairs, options: Options, place: int) -> Kind:
    return _summed(kind, rows[[place]], [pairs[place]], options)


def _outcomes(kind: type[Kind], rows: np.ndarray, options: Options, table: ScoreTable[Kind]) -> list[Outcome]:
    """Return what a run writes down for each text: the score with what was counted."""
    line, found = str(table.signature), []
    for row, shown, reason in zip(rows.tolist(), table.rows(), table.reasons(), strict=True):
        parts = {name: part for name, part in kind.how.parts(row, options).items() if name != "reason"}
        found.append(Outcome(shown[kind.how.name], "undefined" if reason else "ok", reason, parts, line))
    return found


def _corpus(kind: type[Kind], candidates: Any, references: Any, **options: Any) -> Kind:
    """Return one score of all texts."""
    kind.how.sign(**options)
    texts, groups = require_pairs(candidates, references)
    if not texts:
        raise ValueError("candidates is empty: a corpus needs at least one text")
    return _summed(kind, kind.how.rows(texts, groups, options), list(zip(texts, groups, strict=True)), options)


def _chosen(options: Options, *names: str) -> JsonDict:
    return {name: options[name] for name in names}


_NOTHING = "neither the candidate nor a reference holds anything: there is nothing to compare"


def _nothing_counted(row: Row, pairs: Pairs, options: Options) -> str:
    """Return why there is no number, if neither side has a length."""
    return "" if row[0] or row[1] else _NOTHING


# ---------------------------------------------------------------------------------------------------------- BLEU


def _sign_bleu(**options: Any) -> Signature:
    """Return every option that could change a number; raise where one is wrong."""
    n, smooth, value = options["n"], options["smooth"], options["smooth_value"]
    if require_count(n, "n") > 100:
        raise ValueError(f"n must be at most 100, not {n}: 4 is usual")
    case = "lc" if require_flag(options["lowercase"], "lowercase") else "mixed"
    effective = require_flag(options["effective_order"], "effective_order")
    usual = SMOOTHING[require_option(smooth, "smooth", SMOOTHING)]
    if value is not None and usual is None:
        raise ValueError(f"smooth_value is for 'floor' and 'add-k'; smooth={smooth!r} takes none")
    if value is not None and not (value >= 0 and is_finite(value)):
        raise ValueError(f"smooth_value must be a finite number of at least 0, not {value}")
    load_tokenizer(options["tokenize"])
    used = usual if value is None else value
    named = {"metric": f"bleu{n}", "case": case, "eff": effective, "tok": tokenizer_name(options["tokenize"])}
    return Signature(named | {"smooth": smooth if used is None else f"{smooth}[{used:.2f}]"})


def _bleu_tokenizer(tokenize: str | Callable[[str], Tokens], lowercase: bool) -> Callable[[str], Tokens]:
    """Return a tokenizer; with `lowercase` it lower-cases a text first."""
    chosen = load_tokenizer(tokenize)
    if not lowercase:
        return chosen
    if isinstance(chosen, WordTokenizer):
        clean = chosen.clean
        return replace(chosen, clean=lambda text: clean(text.lower()))
    return lambda text: chosen(require_text(text, "text").lower())


def count_bleu(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    n: int = 4,
    tokenize: str | Callable[[str], Tokens] = "13a",
    lowercase: bool = False,
) -> np.ndarray:
    """Return what `bleu_counts` returns for each of many texts, shape (texts, 2 + 2n)."""
    if not candidates:
        return np.zeros((0, 2 + 2 * n), np.int64)
    texts, own, groups = place_texts(candidates, references)
    tokens = number_texts(texts, _bleu_tokenizer(tokenize, lowercase))
    warn_of_lost_texts(texts, tokens.lengths, tokenizer_name(tokenize))
    lengths, ngrams = tokens.lengths.tolist(), NumberedNgrams(tokens, n)
    pairs = zip(own, groups, strict=True)
    closest = [closest_length(lengths[text], [lengths[other] for other in group]) for text, group in pairs]
    return np.column_stack([tokens.lengths[own], closest, ngrams.shared(own, groups), ngrams.lengths[own]])


def _bleu(row: Row, options: Options) -> tuple[float, list[float]]:
    """Return BLEU and its precisions of a row of counts."""
    own, theirs, *rest = row
    chosen, n = _chosen(options, "smooth", "smooth_value", "effective_order"), options["n"]
    return bleu_from_counts(rest[:n], rest[n:], int(own), int(theirs), **chosen)


def _bleu_parts(row: Row, options: Options) -> JsonDict:
    own, theirs, *rest = row
    n, (score, precisions) = options["n"], _bleu(row, options)
    short = score == 0 < own and not rest[-1] and not options["effective_order"]
    why = f"no candidate holds {n} words, so no {n}-gram was counted: take a smaller n, or effective_order=True"
    counted = {"counts": tuple(rest[:n]), "totals": tuple(rest[n:]), "precisions": tuple(precisions)}
    lengths = {"candidate_length": own, "reference_length": theirs}
    return {"reason": why if short else "", **counted, "bp": brevity_penalty(int(own), int(theirs)), **lengths}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BleuScore(_CountedScore):
    """BLEU on the scale of 0 to 100, with the counts behind it; None when neither side holds a token.

    For orders 1 to n, `counts` and `totals` are clipped matches and candidate n-grams, `precisions` 100 * count / total
    after smoothing. `bp` is the brevity penalty in [0, 1], the lengths are in tokens. `statistics`, shape
    (texts, 2 + 2n), has both lengths, n clipped counts and n totals of each text.
    """

    counts: tuple[int, ...]
    totals: tuple[int, ...]
    precisions: tuple[float, ...]
    bp: float
    candidate_length: int
    reference_length: int
    how = _Counting(
        name="bleu",
        columns=("candidate_length", "reference_length"),
        sign=_sign_bleu,
        rows=lambda texts, groups, options: count_bleu(texts, groups, **_chosen(options, "n", "tokenize", "lowercase")),
        formula=lambda row, options: _bleu(row, options)[0],
        nothing=_nothing_counted,
        parts=_bleu_parts,
    )
    more: ClassVar = ("bp", "candidate_length", "reference_length")

    def rows(self) -> list[JsonDict]:
        """Return one row per order: matches, n-grams, precision."""
        parts = zip(self.counts, self.totals, self.precisions, strict=True)
        return [
            {"order": order, "count": count, "total": total, "precision": precision}
            for order, (count, total, precision) in enumerate(parts, 1)
        ]

    def explain(self, index: int = 0, *, n: int = 1) -> MatchPicture:
        """Show which n-grams of order `n` text number `index` shares, and how often."""
        require_count(n, "n")
        tokenize = _bleu_tokenizer(self.options["tokenize"], self.options["lowercase"])
        candidate, references = self.texts[index]
        labels = ["candidate", *(f"reference {number}" for number in range(1, len(references) + 1))]
        cut = [(text, list(tokenize(text))) for text in (candidate, *references)]
        placed = [Placed(text, tokens, token_spans(text, tokens)) for text, tokens in cut]
        columns = "candidate", "most in one reference", "counted"
        panels, rows, shared = ngram_panels(labels, placed, n, columns)
        return MatchPicture(f"BLEU: shared {n}-grams, {shared} counted", panels, rows)


@metric("bleu", probe="It rained.", batch_size=2000, check=_sign_bleu, signature=_sign_bleu)
def bleu_score(
    candidate: str,
    references: str | Sequence[str],
    n: int = 4,
    *,
    tokenize: str | Callable[[str], Tokens] = "13a",
    smooth: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    effective_order: bool = True,
) -> BleuScore:
    """Return BLEU of one text, from 0 to 100; None, with a reason, when no side holds a token.

    Parameters
    ----------
    candidate : str
        The text to judge. An empty one has BLEU 0.
    references : str or list of str
        One or several; None among them is an error.
    n : int
        Greatest order, 1 to 100.
    tokenize : str or callable
        `"13a"`, `"intl"`, `"char"`, `"zh"`, `"none"` (white space), one of sacrebleu's that need a package or a model
        (`load_tokenizer` names them), or a function from text to tokens.
    smooth : {"exp", "floor", "add-k", "none"}
        What to do with orders without matches.
    smooth_value : float, optional
        For `"floor"` (default 0.1) and `"add-k"` (default 1).
    lowercase : bool
        Lower-case both sides first.
    effective_order : bool
        Leave out orders for which the candidate is too short.

    Raises
    ------
    TypeError, ValueError
        For anything that is no text, an empty list of references, unknown options.

    References
    ----------
    Papineni et al. (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation". Post (2018), "A Call for
    Clarity in Reporting BLEU Scores". Equal to sacrebleu 2.6's `sentence_score`.

    Examples
    --------
    >>> references = ["the cat sat", "a cat sat"]
    >>> float(bleu_score(candidate="the cat sat", references=references))
    100.0
    >>> bleu_score(candidate="the cat sat", references="the cat ran", n=2, smooth="none").counts
    (2, 1)
    """
    options = {"n": n, "tokenize": tokenize, "smooth": smooth, "smooth_value": smooth_value}
    options |= {"lowercase": lowercase, "effective_order": effective_order}
    _sign_bleu(**options)
    text, listed = require_candidate(candidate, references), require_references(references)
    own, *theirs = map(_bleu_tokenizer(tokenize, lowercase), [text, *listed])
    warn_of_lost_texts([text, *listed], map(len, [own, *theirs]), tokenizer_name(tokenize))
    return _summed(BleuScore, [bleu_counts(own, theirs, n)], [(text, listed)], options)


bleu_many = batch(bleu_score, partial(_table, BleuScore))
corpus_bleu = batch(
    bleu_score,
    partial(_corpus, BleuScore),
    name="corpus_bleu",
    corpus=True,
    effective_order=False,
    doc="Return BLEU of a corpus: counts are added up over all texts, then divided.\n\n"
    "`effective_order` is off by default, as in sacrebleu, whose `corpus_score` it equals. Its `interval()` is a\n"
    "bootstrap confidence interval (Koehn 2004).",
)


# ---------------------------------------------------------------------------------------------------------- chrF


def _sign_chrf(**options: Any) -> Signature:
    """Return every option that could change a number; raise where one is wrong."""
    for name, least in (("char_order", 1), ("word_order", 0)):
        if require_count(options[name], name, minimum=least) > 100:
            raise ValueError(f"{name} must be at most 100: {options[name]}")
    lowercase, space, eps = (require_flag(options[name], name) for name in ("lowercase", "whitespace", "eps_smoothing"))
    beta = require_number(options["beta"], "beta", 0, 1000)
    named = {"metric": f"chrF{beta:g}" + "+" * options["word_order"], "case": "lc" if lowercase else "mixed"}
    return Signature(named | {"eff": not eps, "nc": options["char_order"], "nw": options["word_order"], "space": space})


_COUNTING = ("char_order", "word_order", "lowercase", "whitespace")
_CHARACTERS = 400_000  # of a part


def count_chrf(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    char_order: int = 6,
    word_order: int = 0,
    lowercase: bool = False,
    whitespace: bool = False,
) -> np.ndarray:
    """Return what `chrf_counts` returns for each text beside each of its references, shape (pairs, orders, 3)."""

    def words(text: str) -> list[str]:
        return chrf_words(text.lower() if lowercase else text)

    parts, start, seen = [np.zeros((0, char_order + word_order, 3), np.int64)], 0, dict[str, int]()
    for end, (candidate, others) in enumerate(zip(candidates, references, strict=True), 1):
        seen |= {text: len(text) for text in (candidate, *others)}
        if end < len(candidates) and (end % 16 or sum(seen.values()) < _CHARACTERS):
            continue  # so many are counted at once as fit into memory
        texts, places, groups = place_texts(candidates[start:end], references[start:end])
        start, seen = end, {}
        own = [place for place, group in zip(places, groups, strict=True) for _ in group]
        wanted = [other for group in groups for other in group]
        counted = [characters(text, lowercase=lowercase, whitespace=whitespace) for text in texts]
        kinds = [NumberedNgrams(number_characters(counted), char_order)]
        if word_order:
            kinds.append(NumberedNgrams(number_texts(texts, words), word_order))
        shared = np.concatenate([kind.shared(own, [(other,) for other in wanted]) for kind in kinds], axis=1)
        lengths = np.concatenate([kind.lengths for kind in kinds], axis=1)
        parts.append(np.stack([lengths[own], lengths[wanted], shared], axis=2))
    counts = np.concatenate(parts)
    counts[..., 0] *= counts[..., 1] > 0  # without an n-gram in the reference there is nothing to be right about
    return counts


def _count_chrf(texts: Sequence[str], groups: Sequence[Sequence[str]], options: Options) -> np.ndarray:
    """Return the counts of each text with its best reference, flat."""
    pairs = count_chrf(texts, groups, **_chosen(options, *_COUNTING))
    flat = pairs.reshape(len(pairs), 3 * pairs.shape[1])
    scores = [_chrf(row, options) for row in flat.tolist()]
    best, start = [], 0
    for group in groups:
        best.append(max(range(start, start + len(group)), key=scores.__getitem__))
        start += len(group)
    return flat[np.array(best, np.int64)]


def _triples(row: Row) -> tuple[tuple[float, ...], ...]:
    return tuple(zip(row[::3], row[1::3], row[2::3], strict=True))


def _chrf(row: Row, options: Options) -> float:
    return chrf_from_counts(_triples(row), options["beta"], eps_smoothing=options["eps_smoothing"])


def _no_character(row: Row, pairs: Pairs, options: Options) -> str:
    sides = (string for text, group in pairs for string in (text, *group))
    return "" if row[1] or any(characters(side, whitespace=options["whitespace"]) for side in sides) else _NOTHING


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ChrfScore(_CountedScore):
    """chrF on the scale of 0 to 100, with the counts behind it; None when neither side holds a character.

    `counts` are the n-grams of each order, (candidate, reference, shared), characters first, then words; of several
    references the best. `statistics`, shape (texts, 3 * orders), has the counts of each text, flat.
    """

    counts: tuple[tuple[int, int, int], ...]
    how = _Counting(
        name="chrf",
        columns=(),
        sign=_sign_chrf,
        rows=_count_chrf,
        formula=_chrf,
        nothing=_no_character,
        parts=lambda row, options: {"counts": _triples(row)},
    )

    def rows(self) -> list[JsonDict]:
        """Return one row per order: what each side has, what is shared, P and R."""
        found: list[JsonDict] = []
        for place, (own, wanted, shared) in enumerate(self.counts):
            order = place - self.options["char_order"]
            kind = {"kind": "character", "order": place + 1} if order < 0 else {"kind": "word", "order": order + 1}
            shares = {"precision": shared / own if own else None, "recall": shared / wanted if wanted else None}
            found.append({**kind, "candidate": own, "reference": wanted, "shared": shared, **shares})
        return found

    def explain(self, index: int = 0, *, n: int = 3) -> MatchPicture:
        """Mark the n-grams that text number `index` shares with its best reference."""
        require_count(n, "n")
        candidate, references = self.texts[index]
        each = [chrf_score(candidate, reference, **self.options) for reference in references]
        best = max(range(len(each)), key=lambda place: each[place].score or 0)
        placed = [self._placed(text) for text in (candidate, references[best])]
        labels = ["candidate", f"reference {best + 1} of {len(references)}"]
        panels, _, shared = ngram_panels(labels, placed, n)
        title = f"chrF {each[best].score or 0:.2f}; marked: character {n}-grams, {shared} shared"
        return MatchPicture(title, panels, each[best].rows())

    def _placed(self, text: str) -> Placed:
        """Return a text, its characters that count, and where each stands."""
        found = [
            (letter, (place, place + 1))
            for place, character in enumerate(text)
            for letter in (character.lower() if self.options["lowercase"] else character)
            if self.options["whitespace"] or not letter.isspace()
        ]
        return Placed(text, [letter for letter, _ in found], [span for _, span in found])


@metric("chrf", probe="a", check=_sign_chrf, signature=_sign_chrf)
def chrf_score(
    candidate: str,
    references: str | Sequence[str],
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> ChrfScore:
    """Return chrF of one text, from 0 to 100; None, with a reason, when no side holds a character.

    Errors are those of `bleu_score`.

    Parameters
    ----------
    candidate : str
        The text to judge.
    references : str or list of str
        One or several; the one with the best score counts.
    char_order, word_order : int
        Greatest orders, at least 1 and 0; `word_order=2` is chrF++.
    beta : float
        How many times as much recall weighs as precision, 0 to 1000.
    lowercase : bool
        Lower-case both sides first.
    whitespace : bool
        Count white space as characters.
    eps_smoothing : bool
        As `chrF++.py`, nltk and Moses do: the mean of the orders' F-scores, none left out.

    References
    ----------
    Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation"; Popović (2017), "chrF++: words helping
    character n-grams". Equal to sacrebleu 2.6's `sentence_score`.

    Examples
    --------
    >>> round(float(chrf_score(candidate="cats", references="cat")), 2)
    89.84
    """
    options = {"char_order": char_order, "word_order": word_order, "beta": beta, "lowercase": lowercase}
    options |= {"whitespace": whitespace, "eps_smoothing": eps_smoothing}
    _sign_chrf(**options)
    text, listed = require_candidate(candidate, references), require_references(references)
    counted = [chrf_counts(text, reference, **_chosen(options, *_COUNTING)) for reference in listed]
    rows = [[count for triple in counts for count in triple] for counts in counted]
    best = max(rows, key=lambda row: _chrf(row, options))
    return _summed(ChrfScore, [best], [(text, listed)], options)


chrf_many = batch(chrf_score, partial(_table, ChrfScore))
corpus_chrf = batch(
    chrf_score,
    partial(_corpus, ChrfScore),
    name="corpus_chrf",
    corpus=True,
    doc="Return chrF of a corpus: the counts of all texts are added up first, as in sacrebleu's `corpus_score`.",
)


# ----------------------------------------------------------------------------------------------------------- TER


def _sign_ter(**options: bool) -> Signature:
    """Return every option that could change a number; raise where one is wrong."""
    for name, flag in options.items():
        require_flag(flag, name)
    case, punct = "mixed" if options["case_sensitive"] else "lc", not options["no_punct"]
    named = {"metric": "ter", "case": case, "tok": "tercom", "norm": options["normalized"], "punct": punct}
    return Signature(named | {"asian": options["asian_support"]})


def _wanted_words(text: str, options: Mapping[str, bool]) -> list[str]:
    """Return the words of a reference, normalized twice, as sacrebleu does."""
    words = tercom_words(text, **options)
    twice = options["normalized"] or options["no_punct"]
    return tercom_words(" ".join(words), **options) if twice else words


def _ter_row(text: str, wanted: Sequence[Sequence[str]], options: Mapping[str, bool]) -> tuple[int, float]:
    return ter_counts(tercom_words(text, **options), wanted)


def count_ter(texts: Sequence[str], groups: Sequence[Sequence[str]], options: Mapping[str, bool]) -> np.ndarray:
    """Return what `ter_counts` returns for each text, shape (texts, 2); a reference is cut into words once."""
    words = {text: _wanted_words(text, options) for text in {text for group in groups for text in group}}
    pairs = zip(texts, groups, strict=True)
    rows = [_ter_row(text, [words[reference] for reference in group], options) for text, group in pairs]
    return np.array(rows, float).reshape(len(rows), 2)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TerScore(_CountedScore):
    """TER in per cent, lower is better, with the edits behind it; None when neither side holds a word.

    Of several references `edits` are the fewest, and `reference_length` is the average, in words. Both are added up
    over a corpus; `statistics`, shape (texts, 2), has them for each text.
    """

    edits: int
    reference_length: float
    how = _Counting(
        name="ter",
        columns=("edits", "reference_length"),
        sign=_sign_ter,
        rows=count_ter,
        formula=lambda row, options: ter_from_counts(*row),
        nothing=_nothing_counted,
        parts=lambda row, options: {"edits": int(row[0]), "reference_length": row[1]},
    )

    def rows(self) -> list[JsonDict]:
        """Return one row: the edits and the length by which they are divided."""
        return [{"edits": self.edits, "reference_length": self.reference_length}]

    def explain(self, index: int = 0) -> MatchPicture:
        """Show each edit that turns text number `index` into its nearest reference."""
        candidate, references = self.texts[index]
        words = tercom_words(candidate, **self.options)
        each = [_wanted_words(reference, self.options) for reference in references]
        found = [count_edits(words, wanted) for wanted in each]
        best = min(range(len(found)), key=lambda place: found[place].total)
        wanted, edits = each[best], found[best]
        rows: list[JsonDict] = []
        order = tuple(range(len(words)))
        for start, length, target, saved in edits.shifts:
            moved = " ".join(words[place] for place in order[start : start + length])
            rows.append({"edit": f"shift, saves {saved}", "candidate": moved, "reference": moved})
            order = shifted(order, start, length, target)
        stays, left, right = list[tuple[int, int]](), iter(order), iter(range(len(wanted)))
        for operation in edits.operations:
            own = next(left) if operation != "i" else None
            theirs = next(right) if operation != "d" else None
            after = "" if theirs is None else wanted[theirs]
            if operation != " ":
                kind = {"s": "substitute", "d": "delete", "i": "insert"}[operation]
                rows.append({"edit": kind, "candidate": "" if own is None else words[own], "reference": after})
            elif own is not None and theirs is not None:
                stays.append((own, theirs))
        sides = (candidate, words), (references[best], wanted)
        placed = [Placed(text, own, token_spans(text, own)) for text, own in sides]
        panels = match_panels(("candidate", f"reference {best + 1} of {len(found)}"), placed, stays)
        return MatchPicture(f"TER: {edits.total} edits for {len(wanted)} words; marked: what stays", panels, rows)


@metric("ter", probe="a", check=_sign_ter, signature=_sign_ter)
def ter_score(
    candidate: str,
    references: str | Sequence[str],
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TerScore:
    """Return the translation edit rate of one text in per cent; lower is better.

    It is None, with a reason, when no side holds a word, and above 100 when there are more edits than words. Errors are
    those of `bleu_score`.

    Parameters
    ----------
    candidate : str
        The text to judge.
    references : str or list of str
        One or several: the fewest edits, divided by the average length.
    normalized : bool
        Split off punctuation, as Tercom does.
    no_punct : bool
        Take punctuation out.
    asian_support : bool
        With the two above: also for Chinese and Japanese signs, which become words of their own.
    case_sensitive : bool
        Keep capitals; by default both sides are lower-cased.

    References
    ----------
    Snover et al. (2006), "A Study of Translation Edit Rate with Targeted Human Annotation". Equal to sacrebleu 2.6's
    `sentence_score`.

    Examples
    --------
    >>> ter_score(candidate="on the mat it sat", references="it sat on the mat").edits
    1
    """
    options = {"normalized": normalized, "no_punct": no_punct}
    options |= {"asian_support": asian_support, "case_sensitive": case_sensitive}
    _sign_ter(**options)
    text, listed = require_candidate(candidate, references), require_references(references)
    row = _ter_row(text, [_wanted_words(reference, options) for reference in listed], options)
    return _summed(TerScore, [row], [(text, listed)], options)


ter_many = batch(ter_score, partial(_table, TerScore))
corpus_ter = batch(
    ter_score,
    partial(_corpus, TerScore),
    name="corpus_ter",
    corpus=True,
    doc="Return the TER of a corpus: all edits over all (average) reference lengths, as sacrebleu's `corpus_score`.",
)

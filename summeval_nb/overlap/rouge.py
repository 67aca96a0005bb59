"""ROUGE-N, ROUGE-L, ROUGE-Lsum, ROUGE-W and ROUGE-S under the conventions of rouge-score and of ROUGE-1.5.5.

One text is counted by the definitions of chapter 22 (`rouge_counts`). Many texts are counted together: words become
numbers, and one reference each is rouge-score-rs' affair. Tests hold all three equal, to the last bit.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from itertools import accumulate, chain, groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from summeval_nb.core.base import JsonDict, np, one_bar, require_option, require_text, steps, warn_of_order
from summeval_nb.core.html import html_table, render
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Outcome, Score, ScoreTable, Signature

from .counting import (
    SKIP_TYPES,
    NumberedTexts,
    as_sequences,
    bit_path,
    common_lengths,
    count_pairs,
    lcs_length,
    ngram_levels,
    number_texts,
    place_texts,
    shared_pairs,
    skip_counts,
)
from .ngrams import WordTokenizer, list_ngrams
from .picture import MatchPicture, Panels, Placed, match_panels, ngram_panels, skip_panels, token_spans
from .rouge_counts import (
    PrecisionRecallF1,
    combine_references,
    lcs_path,
    ngram_matches,
    precision_recall_f1,
    union_lcs_matches,
)
from .tokens import (
    Groups,
    References,
    Tokens,
    load_tokenizer,
    require_candidate,
    require_pairs,
    require_references,
    rouge_tokenizer,
    tokenizer_name,
    warn_of_foreign_stems,
    warn_of_lost_letters,
    warn_of_lost_texts,
)

if TYPE_CHECKING:
    from rouge_score_rs.rouge_scorer import RougeScorer

__all__ = ["DEFAULT_TYPES", "MULTI", "TYPES", "RougeScore", "calculate_rouge", "calculate_rouge_l"]
__all__ += ["rouge_many", "rouge_score"]

MULTI = ("best", "best_recall", "average", "pooled")
TYPES = (*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum", "rougeW", *SKIP_TYPES)
DEFAULT_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
NOTHING = "neither the candidate nor a reference holds a token"
_USUAL = {"google": "best", "rouge-1.5.5": "pooled"}  # how several references are combined
_CHUNK = 5000  # texts counted at once: bounds the memory of a long job
Tokenizer: TypeAlias = Callable[[str], Tokens]
Lines: TypeAlias = Sequence[Sequence[Hashable]]  # the words of each line of a text


def rouge_signature(nrefs: object = None, **options: Any) -> Signature:
    """Return every option that could change a number; raise where one is wrong."""
    return _signed(options, nrefs, checked_tokenizer(**options)[1])


@metric("rouge", probe="It rained.", batch_size=2000, check=rouge_signature, signature=rouge_signature)
def rouge_score(
    candidate: str,
    references: References,
    *,
    types: Sequence[str] = DEFAULT_TYPES,
    stemmer: bool | str = False,
    tokenizer: str | Tokenizer | None = None,
    multi: str | None = None,
    compat: str = "google",
    exceptions: Mapping[str, str] | None = None,
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
        `"rouge1"` to `"rouge9"`, `"rougeL"` (whole text), `"rougeLsum"` (union over lines), `"rougeW"` (weighted),
        `"rougeS"` (pairs of words in order), `"rougeS4"` (at most four words between them), `"rougeSU"`, `"rougeSU4"`
        (with the single words).
    stemmer : bool or str
        Stem words of more than three letters: True for English by Porter, or a language of nltk's Snowball stemmers,
        such as `"german"` or `"de"`, with words of any script.
    tokenizer : str or callable, optional
        Your own text → tokens for any language; by default lower-cased runs of a-z and 0-9.
    multi : {"best", "best_recall", "average", "pooled"}, optional
        How several references are combined. Default: `"best"`, and `"pooled"` with `compat="rouge-1.5.5"`.
    compat : {"google", "rouge-1.5.5"}
        Whose lower-casing, stemming and ROUGE-W: rouge-score 0.1.2's or the Perl script's.
    exceptions : mapping, optional
        Irregular form → base form, looked up before stemming (`compat="rouge-1.5.5"`).
    weight : float
        Exponent of ROUGE-W, at least 1.

    Returns
    -------
    RougeScore
        A mapping from type to precision, recall and F1 in [0, 1]; 0 where one side has no n-gram of the order, or no
        pair.

    Notes
    -----
    For texts of m and n words ROUGE-N takes time and memory by m + n. ROUGE-L, ROUGE-Lsum and ROUGE-W take time by
    m · n, the first two many bits at once. ROUGE-S and ROUGE-SU count all pairs of words; with the paper's limit,
    `"rougeS4"` and `"rougeSU4"`, time grows by m + n. `explain` is for texts that people read.

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
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries". Equal to rouge-score 0.1.2 by default.

    Examples
    --------
    >>> scores = rouge_score(candidate="the cat sat", references=["the cat sat down", "cats sit"])
    >>> scores["rouge1"].recall, scores["rougeL"].precision
    (0.75, 1.0)
    """
    tokenize, tok = checked_tokenizer(types, stemmer, tokenizer, multi, compat, exceptions, weight)
    options: JsonDict = {"types": types, "stemmer": stemmer, "tokenizer": tokenizer, "multi": multi, "compat": compat}
    options |= {"exceptions": exceptions, "weight": weight}
    text, listed = require_candidate(candidate, references), require_references(references)
    warn_of_foreign_stems(stemmer, [text, *listed])
    warn_of_lost_letters([text, *listed], tok)
    sides = [_Words.of(string, types, tokenize) for string in (text, *listed)]
    lengths = {string: len(side.tokens) for string, side in zip((text, *listed), sides, strict=True)}
    warn_of_lost_texts(list(lengths), lengths.values(), tok)
    items = {}
    for kind in types if any(lengths.values()) else ():
        counts = [_count(kind, sides[0], other, weight, compat) for other in sides[1:]]
        items[kind] = combine_references(counts, multi or _USUAL[compat], 1 / weight if kind == "rougeW" else 1)
    return _result(items, text, listed, options, tok)


def checked_tokenizer(
    types: Sequence[str],
    stemmer: bool | str,
    tokenizer: str | Tokenizer | None,
    multi: str | None,
    compat: str,
    exceptions: Mapping[str, str] | None,
    weight: float,
) -> tuple[Tokenizer, str]:
    """Raise where an option is wrong; return what cuts a text into words, stemmed or not, and its name."""
    if isinstance(types, str) or not isinstance(types, Sequence) or not types:
        raise TypeError(f"types must be a list of names such as ['rouge1', 'rougeL'], not {types!r}")
    for name in types:
        require_option(name, "type", TYPES)
    if multi is not None:
        require_option(multi, "multi", MULTI)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 1 <= weight < 100:
        raise ValueError(f"weight must be a number of at least 1 (1.2 is usual), not {weight!r}")
    own = rouge_tokenizer(stemmer=stemmer, compat=compat, exceptions=exceptions)
    if tokenizer is None:
        return own, own.name
    if stemmer or exceptions is not None:
        raise ValueError("stemmer and exceptions belong to ROUGE's own tokenizer: with yours, stem inside it")
    return load_tokenizer(tokenizer), tokenizer_name(tokenizer)


def _signed(options: Mapping[str, Any], nrefs: object, tok: str) -> Signature:
    return _signature(tuple(options["types"]), nrefs, tok, options["multi"], options["compat"], options["weight"])


@lru_cache(maxsize=1024)  # signing takes as long as counting a short text
def _signature(
    types: tuple[str, ...], nrefs: object, tok: str, multi: str | None, compat: str, weight: float
) -> Signature:
    named: dict[str, object] = {"metric": "+".join(types)} | ({} if nrefs is None else {"nrefs": nrefs})
    named |= {"multi": multi or _USUAL[compat], "compat": compat, "tok": tok}
    return Signature(named | ({"weight": str(float(weight))} if "rougeW" in types else {}))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RougeScore(Score, Mapping[str, PrecisionRecallF1]):
    """ROUGE of one text: `scores["rouge1"].precision`, `.recall`, `.f1`, in [0, 1].

    `score` is the F1 when exactly one type was asked for, otherwise None with a reason. When neither the text nor its
    references hold a token, the mapping is empty and `reason` says so.
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
        labels = "candidate", f"reference {reference + 1} of {len(each)}"
        panels, rows = _panels(labels, texts, kind, checked_tokenizer(**options)[0], options["weight"])
        return MatchPicture(f"{kind}: {shown}", panels, rows)


def _main(types: Sequence[str]) -> str:
    """Return the type whose F1 stands for a text: ROUGE-L, or the first."""
    return "rougeL" if "rougeL" in types else types[0]


def _result(
    items: Mapping[str, PrecisionRecallF1], text: str, references: Sequence[str], options: Mapping[str, Any], tok: str
) -> RougeScore:
    """Return the score of a text by its numbers; none without a token."""
    several = f"several types were asked for, {', '.join(items)}: take one, such as scores['rouge1'].f1"
    reason = several if len(items) > 1 else ""
    return RougeScore(
        score=next(iter(items.values())).f1 if len(items) == 1 else None,
        reason=reason if items else f"{NOTHING}: there is nothing to compare",
        signature=_signed(options, len(references), tok),
        items_by_type=items,
        candidate=text,
        references=references,
        options=options,
    )


# ------------------------------------------------------------------------------------------------ one text, one pair


class _Words(NamedTuple):
    """The words of a text, and of each of its lines that has some."""

    tokens: Sequence[Hashable]
    lines: Lines

    @classmethod
    def of(cls, text: str, types: Sequence[str], tokenize: Tokenizer) -> _Words:
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


UP, LEFT, MATCH = range(3)


def weighted_lcs_rows(
    x: Sequence[Hashable], y: Sequence[Hashable], weight: float
) -> Iterator[tuple[list[float], bytearray]]:
    """Yield each row of the table of weighted LCS, and where its cells came from: a second row holds the runs."""
    above, runs_above = [0.0] * (len(y) + 1), [0] * (len(y) + 1)
    for token in x:
        values, runs, moves = [0.0], [0], bytearray(len(y))
        for j, other in enumerate(y):
            run = runs_above[j] + 1 if token == other else 0
            if run:
                value, move = above[j] + run**weight - (run - 1) ** weight, MATCH
            elif above[j + 1] >= values[j]:
                value, move = above[j + 1], UP
            else:
                value, move = values[j], LEFT
            moves[j] = move
            values.append(value)
            runs.append(run)
        yield values, moves
        above, runs_above = values, runs


def weighted_lcs(x: Sequence[Hashable], y: Sequence[Hashable], weight: float) -> float:
    """Return the weight of the matches: the last cell of the table."""
    values, _ = deque(weighted_lcs_rows(x, y, weight), maxlen=1).pop() if x else ([0.0], b"")
    return values[-1]


def weighted_lcs_path(x: Sequence[Hashable], y: Sequence[Hashable], weight: float) -> list[tuple[int, int]]:
    """Return the positions (i, j) of the matches on the way back from the end."""
    moves = [moves for _, moves in weighted_lcs_rows(x, y, weight)]  # a byte for each cell
    path, i, j = [], len(x) - 1, len(y) - 1
    while i >= 0 and j >= 0:
        move = moves[i][j]
        if move == MATCH:
            path.append((i, j))
        i, j = i - (move != LEFT), j - (move != UP)
    return path[::-1]


def weighted_counts(wanted: Lines, made: Lines, weight: float, compat: str) -> tuple[float, float, float, float]:
    """Return the weighted matches and lengths of two texts, given as sentences, and the reference's weighted once.

    The Perl script unites the paths of sentences as ROUGE-Lsum does, and weighs the reference's length twice.
    """
    x, y = ([token for sentence in text for token in sentence] for text in (wanted, made))
    if compat == "google":
        return weighted_lcs(x, y, weight), len(y) ** weight, len(x) ** weight, len(x) ** weight
    left, available, total = Counter(x), Counter(y), 0.0
    for sentence in wanted:
        hits = {i for other in made for i, _ in weighted_lcs_path(sentence, other, weight)}
        run = 0
        for i in sorted(hits):
            token = sentence[i]
            if not (left[token] > 0 and available[token] > 0):
                continue  # as the script does: a clipped word neither counts nor ends the run
            run += 1
            if i + 1 not in hits:
                total, run = total + run**weight, 0
            left[token] -= 1
            available[token] -= 1
    once = sum(len(sentence) ** weight for sentence in wanted)
    return total, len(y) ** weight, once**weight, once


# ------------------------------------------------------------------------------------------------ many texts at once


def rouge_table(
    candidates: Sequence[str], references: Groups, *, progress: bool | None = None, **options: Any
) -> ScoreTable[RougeScore]:
    """Return ROUGE of many texts, counted together, as `rouge1_precision` and so on; the main F1 comes first."""
    tokenize, tok = checked_tokenizer(**options)
    types, stemmer, multi, compat, weight = (
        options[name] for name in ("types", "stemmer", "multi", "compat", "weight")
    )
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
            own = tokenize, tok, multi or _USUAL[compat], weight, compat
            chunks.append(done or score_chunk(some, others, types, *own))
    known = np.concatenate([ok for _, ok in chunks])
    arrays = {f"{_main(types)}_f1": known}  # stands first
    for kind in types:
        values = np.concatenate([scores[kind] for scores, _ in chunks])
        values[~known] = np.nan  # nothing was compared: no score, and never 0
        for part, column in zip(PrecisionRecallF1._fields, values.T, strict=True):
            arrays[f"{kind}_{part}"] = np.ascontiguousarray(column)
    sizes = {len(group) for group in groups}
    signature = _signed(options, sizes.pop() if len(sizes) == 1 else "var", tok)
    result_of = partial(_result_at, arrays, texts, groups, options, tok)
    several = [f"{kind}_f1" for kind in options["types"]] if len(options["types"]) > 1 else ()
    return ScoreTable(arrays=arrays, result_of=result_of, signature=signature, nothing=NOTHING, several=several)


rouge_many = batch(rouge_score, rouge_table)


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


class _Pairs(NamedTuple):
    """All (candidate, reference) pairs, in the numbers of the different texts."""

    texts: list[str]
    made: np.ndarray
    wanted: np.ndarray
    starts: np.ndarray  # where each candidate's pairs begin
    runs: list[tuple[int, int]]  # how many candidates in a row have the same references, and how many these are

    @classmethod
    def of(cls, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> _Pairs:
        """Pair each candidate with each of its references."""
        texts, own, groups = place_texts(candidates, references)
        sizes = np.fromiter(map(len, groups), np.int64, len(groups))
        wanted = np.fromiter(chain.from_iterable(groups), np.int64, int(sizes.sum()))
        runs = [(len(list(run)), len(group)) for group, run in groupby(groups)]
        return cls(texts, np.repeat(np.array(own), sizes), wanted, np.cumsum(sizes) - sizes, runs)


def score_chunk(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    types: Sequence[str],
    tokenize: Tokenizer,
    name: str,
    multi: str,
    weight: float,
    compat: str,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return {type: (texts, 3)}, and which texts have anything to compare."""
    pairs = _Pairs.of(candidates, references)
    tokens = number_texts(pairs.texts, tokenize)
    warn_of_lost_texts(pairs.texts, tokens.lengths, name)
    scores = {}
    for kind in types:
        if kind in ("rougeLsum", "rougeW"):
            counts = _line_counts(pairs, tokenize, kind, weight, compat)
        else:
            counts = _word_counts(pairs, tokens, kind)
        scores[kind] = _combine(counts, pairs.starts, multi, 1 / weight if kind == "rougeW" else 1)
    some = np.maximum(tokens.lengths[pairs.made], tokens.lengths[pairs.wanted])
    return scores, np.maximum.reduceat(some, pairs.starts) > 0


def _word_counts(pairs: _Pairs, tokens: NumberedTexts, kind: str) -> np.ndarray:
    """Return (matches, candidate, reference) of each pair for n-grams, ROUGE-L or ROUGE-S."""
    if kind in SKIP_TYPES:
        return skip_counts(pairs.made, pairs.wanted, tokens, kind)
    if kind == "rougeL":
        level, sequences = tokens, as_sequences(tokens)
    else:  # sorted n-grams have their clipped matches as their longest common subsequence
        *_, level = ngram_levels(tokens, int(kind[5:]))
        sequences = as_sequences(level, ordered=True)
    lengths = _common_lengths(pairs, sequences)
    return np.column_stack([lengths, level.lengths[pairs.made], level.lengths[pairs.wanted]]) * 1.0


def _common_lengths(pairs: _Pairs, sequences: Sequence[Sequence[Hashable]]) -> np.ndarray:
    """Return the length of the longest common subsequence of each pair; all against all where references repeat."""
    if 4 * len(pairs.runs) > len(pairs.starts):
        return common_lengths(*([sequences[text] for text in side.tolist()] for side in (pairs.made, pairs.wanted)))
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cdist

    found, at = [], 0
    for texts, size in pairs.runs:
        end = at + texts * size
        sides = pairs.made[at:end:size], pairs.wanted[at : at + size]
        own, others = ([sequences[text] for text in side.tolist()] for side in sides)
        found.append(cdist(others, own, scorer=LCSseq.similarity, dtype=np.int32).T.ravel())
        at = end
    return np.concatenate(found)


def _line_counts(
    pairs: _Pairs, tokenize: Tokenizer, kind: str, weight: float = 1.2, compat: str = "google"
) -> np.ndarray:
    """Return (matches, candidate, reference) of each pair for ROUGE-Lsum, or what `weighted_counts` has."""
    lines = [[line for line in text.split("\n") if line] for text in pairs.texts]
    numbered = number_texts(list(chain.from_iterable(lines)), tokenize)
    flat, ends = numbered.numbers.tolist(), [0, *numbered.ends.tolist()]
    cut = (tuple(flat[start:end]) for start, end in zip(ends, ends[1:], strict=False))
    texts = [[sentence for sentence in islice(cut, len(text)) if sentence] for text in lines]
    made, wanted = pairs.made.tolist(), pairs.wanted.tolist()
    if kind == "rougeW":
        weighed = [weighted_counts(texts[j], texts[i], weight, compat) for i, j in zip(made, wanted, strict=True)]
        return np.array(weighed).reshape(-1, 4)
    single = np.array([len(text) <= 1 for text in texts])
    whole = [list(text[0]) if text else [] for text in texts]
    short = np.flatnonzero(single[pairs.made] & single[pairs.wanted]).tolist()
    matches, sizes = np.zeros(len(made)), np.array([sum(map(len, text)) for text in texts], float)
    matches[short] = common_lengths([whole[made[p]] for p in short], [whole[wanted[p]] for p in short])
    longest = max(map(len, chain.from_iterable(texts)), default=0)
    path = lru_cache(maxsize=4096)(bit_path) if longest <= 256 else bit_path  # the same lines meet again
    for p in set(range(len(made))).difference(short):
        matches[p] = union_lcs_matches(texts[wanted[p]], texts[made[p]], path)
    return np.column_stack([matches, sizes[pairs.made], sizes[pairs.wanted]])


def _combine(counts: np.ndarray, starts: np.ndarray, multi: str, power: float = 1) -> np.ndarray:
    """Return precision, recall and F1 of each text from its references' counts, as `combine_references`."""
    if multi == "pooled":
        return _ratios(_totals(counts[:, :3], starts), power)
    each = _ratios(counts[:, :3], power)
    sizes = np.diff(np.r_[starts, len(each)])
    if multi == "average":
        return _totals(each, starts) / sizes[:, None]
    deciding = each[:, 2]
    if multi == "best_recall":  # a fourth count is the length by which ROUGE-1.5.5 chooses in ROUGE-W
        deciding = _powers(counts[:, 0] / np.maximum(counts[:, -1], 1), power)
    best = np.flatnonzero(deciding == np.repeat(np.maximum.reduceat(deciding, starts), sizes))
    return each[best[np.searchsorted(best, starts)]]  # the first of several best


def _ratios(counts: np.ndarray, power: float) -> np.ndarray:
    """Return precision, recall and F1 of rows of counts, to the last bit as `precision_recall_f1`."""
    matches, made, wanted = counts.T
    precision, recall = (_powers(matches / np.maximum(side, 1), power) for side in (made, wanted))
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return np.column_stack([precision, recall, f1])


def _powers(values: np.ndarray, power: float) -> np.ndarray:
    """Return Python's powers: numpy's have now and then another last digit."""
    return values if power == 1 else np.array([value**power for value in values.tolist()])


def _totals(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Add up each text's rows from left to right: numpy has another order for many."""
    sizes = np.diff(np.r_[starts, len(values)])
    totals = values[starts]
    for place in range(1, int(sizes.max(initial=0))):
        longer = sizes > place
        totals[longer] += values[starts[longer] + place]
    return totals


# rouge-score-rs, where it is installed, computes these to the last bit as we do, with one reference in less time.
ACCELERATED = True
_SERVED = frozenset({*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum"})
_TABLE = 16_000_000  # characters times characters of two lines: four million cells of its table of words, or fewer


@cache
def _scorer(types: tuple[str, ...], stemmer: bool) -> RougeScorer | None:
    if find_spec("rouge_score_rs") is None:
        return None
    from rouge_score_rs.rouge_scorer import RougeScorer

    return RougeScorer(list(types), use_stemmer=stemmer)


def compiled_chunk(
    candidates: Sequence[str], references: Sequence[Sequence[str]], types: Sequence[str], stemmer: bool
) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """Return what `score_chunk` does with ROUGE's own words, or None where we count ourselves."""
    if not ACCELERATED or not _SERVED.issuperset(types) or any(len(group) != 1 for group in references):
        return None
    others, scorer = [group[0] for group in references], _scorer(tuple(types), stemmer)
    if scorer is None or ("rougeLsum" in types and any(map(_takes_a_table, candidates, others))):
        return None
    found = scorer.score_batch(others, list(candidates))
    scores = {}
    for kind in types:
        flat = chain.from_iterable([values[kind] for values in found])
        scores[kind] = np.fromiter(flat, float, 3 * len(found)).reshape(-1, 3)
    known = np.ones(len(found), bool)
    unlike = np.flatnonzero(sum(values[:, 2] for values in scores.values()) == 0).tolist()
    held = {text: bool(re.search("[a-z0-9]", text.lower())) for i in unlike for text in (candidates[i], others[i])}
    if not all(held.values()):  # what shares a word has one on both sides
        known[unlike] = [held[candidates[i]] or held[others[i]] for i in unlike]
        lengths = {text: int(held.get(text, True)) for text in chain(candidates, others)}
        warn_of_lost_texts(list(lengths), lengths.values(), "rouge+porter" if stemmer else "rouge")
    return scores, known


def _takes_a_table(text: str, other: str) -> bool:
    """Whether two lines are so long that ROUGE-Lsum is better counted in our own memory."""
    if len(text) * len(other) <= _TABLE:
        return False
    line, longest = (max(map(len, side.split("\n"))) for side in (text, other))
    return line * longest > _TABLE


# ----------------------------------------------------------------------------------------------------- what is shared


def _panels(
    labels: Sequence[str], texts: Sequence[str], kind: str, tokenize: Tokenizer, weight: float
) -> tuple[Panels, list[JsonDict]]:
    """Mark what a type of ROUGE counts in a candidate and its reference, and list it."""

    def placed(text: str) -> Placed:  # a stem stands where its word does
        words = tokenize.surfaces(text) if isinstance(tokenize, WordTokenizer) else tokenize(text)
        return Placed(text, list(tokenize(text)), token_spans(text, words))

    if kind in SKIP_TYPES:
        return skip_panels(labels, [placed(text) for text in texts], kind)
    if kind not in ("rougeL", "rougeLsum", "rougeW"):
        return ngram_panels(labels, [placed(text) for text in texts], int(kind[5:]))[:2]
    path = partial(weighted_lcs_path, weight=weight) if kind == "rougeW" else lcs_path
    pattern = r"[\s\S]+" if kind == "rougeL" else "[^\n]+"
    sides, begins, whole = [], [], []
    for text in texts:
        found = [(line.start(), placed(line[0])) for line in re.finditer(pattern, text)]
        spans = [span and (start + span[0], start + span[1]) for start, line in found for span in line.spans]
        whole.append(Placed(text, [token for _, line in found for token in line.tokens], spans))
        sides.append([line.tokens for _, line in found])
        begins.append(list(accumulate(map(len, sides[-1]), initial=0)))
    matches = [
        (begins[0][p] + j, begins[1][q] + i)
        for q, wanted in enumerate(sides[1])
        for p, made in enumerate(sides[0])
        for i, j in path(wanted, made)
    ]
    numbered = enumerate(dict.fromkeys(i for _, i in matches), 1)
    rows: list[JsonDict] = [{"number": number, "word": str(whole[1].tokens[i])} for number, i in numbered]
    return match_panels(labels, whole, matches, "{word}: number {number} of the common subsequence"), rows


# ------------------------------------------------------------------------------- inherited: the reference comes first


def calculate_rouge(
    reference: str, generated: str, n: int = 1, tokenizer: str | Tokenizer | None = None
) -> dict[str, float]:
    """Return ROUGE-N of a generated text against one reference, as defined.

    Inherited: here the reference comes first. For several references or many texts use `rouge_score` and `rouge_many`,
    which take the text to judge first.

    Parameters
    ----------
    reference, generated : str
        One text each.
    n : int
        Order of the n-grams, at least 1.
    tokenizer : str or callable, optional
        By default ROUGE's own: lower-cased runs of a-z and 0-9.

    Returns
    -------
    dict
        `precision`, `recall` and `f1_score`, each in [0, 1]; 0 where a side has no n-gram.

    Examples
    --------
    >>> reference, generated = "The cat sat.", "The cat ran away."
    >>> calculate_rouge(reference=reference, generated=generated)["recall"]
    0.6666666666666666
    """
    wanted, made = _tokenize_pair(reference, generated, tokenizer)
    return _shares(ngram_matches(made, wanted, n), *(len(list_ngrams(side, n)) for side in (made, wanted)))


def calculate_rouge_l(reference: str, generated: str, tokenizer: str | Tokenizer | None = None) -> dict[str, float]:
    """Return ROUGE-L against one reference, the LCS over each text's length; the rest is as for `calculate_rouge`.

    Examples
    --------
    >>> reference, generated = "The cat sat.", "The cat ran away."
    >>> calculate_rouge_l(reference=reference, generated=generated)["precision"]
    0.5
    """
    wanted, made = _tokenize_pair(reference, generated, tokenizer)
    return _shares(lcs_length(wanted, made), len(made), len(wanted))


def _shares(matches: int, made: int, wanted: int) -> dict[str, float]:
    return dict(zip(("precision", "recall", "f1_score"), precision_recall_f1(matches, made, wanted), strict=True))


def _tokenize_pair(
    reference: str, generated: str, tokenizer: str | Tokenizer | None
) -> tuple[list[Hashable], list[Hashable]]:
    """Return the tokens of both texts; one that loses all its words is warned of."""
    tokenize, name = load_tokenizer(tokenizer or "rouge"), tokenizer_name(tokenizer or "rouge")
    texts = require_text(reference, "reference"), require_text(generated, "generated")
    remedy, judged = "the reference comes first, calculate_rouge(reference, generated)", ("the generated text is", "")
    sizes = [(len(texts[0].strip()), len(texts[1]))]
    warn_of_order(sizes, judged=judged, beside="the reference", remedy=remedy, times=4)
    wanted, made = (list(tokenize(text)) for text in texts)
    warn_of_lost_texts(texts, [len(wanted), len(made)], name)
    warn_of_lost_letters(texts, name)
    return wanted, made

"""Which configuration printed a score: what the usual programs print of the same texts, searched for a number."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import product

from summeval_nb.core.base import JsonDict, np, require_count, require_option
from summeval_nb.core.metric import Metric
from summeval_nb.core.results import Rows, Signature
from summeval_nb.text.split import split_sentences

from .bleu import SMOOTHING
from .chrf import chrf_from_counts
from .rouge import rouge_many
from .ter import ter_from_counts
from .tokens import require_pairs
from .translation import chrf_score, count_bleu, count_chrf, count_ter, ter_score

__all__ = ["METRICS_SEARCHED", "Configuration", "IdentifiedScore", "identify_among", "identify_score", "printed_scores"]

METRICS_SEARCHED = ("bleu", "rouge", "chrf")  # TER, too, if asked for: it takes ten times as long as the rest
_SAME = 1e-9  # two configurations that differ by less print the same number
_FLOAT32 = 3e-6  # what libraries that add up in 32 bits are off by, as a share


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """One way to score the texts, and the number that it prints.

    `value` is that number, unrounded, and `scale` what a perfect text gets from the `program`, 1 or 100 (TER may be
    higher). `signature` has every choice. `surprise` says how many unusual choices these are, weighed: 0 is what most
    programs do when nothing is said. `same` has the signatures of others that print the very same number.
    """

    value: float
    program: str
    signature: Signature
    surprise: int
    scale: float
    same: tuple[str, ...] = ()

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        return {**vars(self), "signature": str(self.signature), "same": list(self.same)}


@dataclass(frozen=True, repr=False, eq=False)
class IdentifiedScore(Rows, Sequence[Configuration]):
    """The configurations that print a number, the likeliest first; none if no one fits.

    `printed` is the number as it was given, `found` what fits, `nearest` what comes closest where nothing does, and
    `searched` how many configurations were tried.
    """

    printed: str
    found: Sequence[Configuration]
    nearest: Sequence[Configuration]
    searched: int

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place):  # type: ignore[no-untyped-def, override]
        return self.found[place]

    @property
    def line(self) -> str:
        """The answer in one sentence."""
        if not self:
            return f"None of {self.searched:,} configurations prints {self.printed}."
        among = f"among {self.searched:,} configurations"
        if len(self) == 1:
            return f"One number {among} is printed as {self.printed}."
        return f"{len(self)} numbers {among} are printed as {self.printed}, the likeliest first."

    def rows(self) -> list[JsonDict]:
        """Return one plain dictionary for each number that fits, or for the nearest."""
        return [
            {"value": own.value, "program": own.program, "signature": str(own.signature), "n_same": len(own.same)}
            for own in self.found or self.nearest
        ]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        lists = {name: [own.to_dict() for own in getattr(self, name)] for name in ("found", "nearest")}
        return {"printed": self.printed, "searched": self.searched, **lists}

    def wide_rows(self) -> list[JsonDict]:
        """Return the rows with as many digits as papers print."""
        return [row | {"value": f"{row['value']:.6f}"} for row in self.rows()]

    def remarks(self) -> list[str]:
        """Return the answer in one sentence, and what the rows are where nothing fits."""
        return [self.line] if self else [self.line, "The rows come nearest."]


class _Pairs:
    """Texts and their references, and each text beside each of its references."""

    def __init__(self, candidates: Iterable[str], references: Iterable[str | Iterable[str]]) -> None:
        self.texts, self.groups = require_pairs(candidates, references)
        if not self.texts:
            raise ValueError("candidates is empty: a score is of at least one text")
        self.sizes = np.array([len(group) for group in self.groups])
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.several = bool((self.sizes > 1).any())
        each = [text for text, group in zip(self.texts, self.groups, strict=True) for _ in group]
        self.flat = each, [[one] for group in self.groups for one in group]


Views = Mapping[str, np.ndarray]  # what was counted of each text, by which of several references; "" if there is one


def _ways(whole: Callable[[np.ndarray], float], rows: Views, scores: Views) -> Iterator[tuple[JsonDict, float]]:
    """Yield what a program prints of all texts together, and the mean of their scores, with the names of both."""
    for refs, counts in rows.items():
        named = {"refs": refs} if refs else {}
        yield {"of": "corpus", **named}, whole(counts)
        yield {"of": "mean of texts", **named}, float(scores[refs].mean())


_BLEU_TOKENIZERS = {"13a": 0, "none": 1, "intl": 2, "word_tokenize": 2, "char": 3, "zh": 3}
_NLTK_METHODS = {"method0": 0, "method1": 1, "method2": 1, "method3": 2, "method4": 2}


def _word_tokenize(text: str) -> list[str]:
    """Cut a text into sentences, and these into words by nltk's rules, as its `word_tokenize` does."""
    from nltk.tokenize.destructive import NLTKWordTokenizer

    cut = NLTKWordTokenizer().tokenize
    return [word for sentence in split_sentences(text) for word in cut(sentence.text)]


def _bleu(pairs: _Pairs) -> Iterator[Configuration]:
    """Yield sacrebleu's BLEU and nltk's, of the whole and as the mean of texts."""
    for (tokenizer, dear), lowercase in product(_BLEU_TOKENIZERS.items(), (False, True)):
        own = _word_tokenize if tokenizer == "word_tokenize" else tokenizer
        counted = count_bleu(pairs.texts, pairs.groups, tokenize=own, lowercase=lowercase)
        each = count_bleu(*pairs.flat, tokenize=own, lowercase=lowercase) if pairs.several else counted
        for n in (4, 3, 2, 1):
            columns = [0, 1, *range(2, 2 + n), *range(6, 6 + n)]
            asked: JsonDict = {"metric": f"bleu{n}", "case": "lc" if lowercase else "mixed", "tok": tokenizer}
            choices: list[tuple[str, str, bool | None, int]] = []
            if tokenizer != "word_tokenize":
                smooths = product(SMOOTHING, (False, True))
                choices += [("sacrebleu", smooth, eff, dear + (smooth != "exp")) for smooth, eff in smooths]
            if tokenizer in ("none", "word_tokenize"):
                more = 1 + (tokenizer == "word_tokenize")
                choices += [("nltk", method, None, more + cost) for method, cost in _NLTK_METHODS.items()]
            for program, smooth, eff, cost in choices:
                values = partial(_bleu_values, smooth=smooth, effective=bool(eff))
                rows = [_as_nltk(view) if eff is None else view for view in (counted, each)]
                parts = asked | {"smooth": smooth} | ({} if eff is None else {"eff": eff})
                scale = 1.0 if eff is None else 100.0
                for how, value in _bleu_ways(pairs, values, *(view[:, columns] for view in rows)):
                    paid = cost + lowercase + 2 * (n != 4) + (eff is (how["of"] == "corpus"))  # sacrebleu's defaults
                    yield _configured(scale * value, program, parts | how, paid, scale)


def _bleu_ways(
    pairs: _Pairs, values: Callable[[np.ndarray], np.ndarray], counted: np.ndarray, each: np.ndarray
) -> Iterator[tuple[JsonDict, float]]:
    """Yield each way to join texts and references: how it is called, and its number."""

    def whole(rows: np.ndarray) -> float:
        return float(values(rows.sum(axis=0, keepdims=True))[0])

    rows = {"all": counted, "first": each[pairs.starts]} if pairs.several else {"": counted}
    yield from _ways(whole, rows, {refs: values(view) for refs, view in rows.items()})
    if not pairs.several:
        return
    scores = values(each)
    yield {"of": "mean of texts", "refs": "best"}, float(np.maximum.reduceat(scores, pairs.starts).mean())
    yield {"of": "mean of texts", "refs": "mean"}, float((np.add.reduceat(scores, pairs.starts) / pairs.sizes).mean())
    if len(set(pairs.sizes.tolist())) == 1:  # the first reference of all texts is a corpus, the second is, and so on
        by_column = [whole(each[pairs.starts + number]) for number in range(int(pairs.sizes[0]))]
        yield {"of": "corpus", "refs": "mean"}, float(np.mean(by_column))
        yield {"of": "corpus", "refs": "best"}, max(by_column)


def _as_nltk(rows: np.ndarray) -> np.ndarray:
    """Return rows of counts in which each text has at least one n-gram of each order, as nltk counts."""
    return np.column_stack([rows[:, :6], np.maximum(rows[:, 6:], 1)])


def _bleu_values(rows: np.ndarray, smooth: str, effective: bool = False) -> np.ndarray:
    """Return BLEU for rows of counts, 0 to 1: as `bleu_from_counts`, or as nltk with a smoothing function of its own.

    nltk divides by at least one n-gram, where a text is too short to have any.
    """
    n, theirs = (rows.shape[1] - 2) // 2, smooth in _NLTK_METHODS
    parts = (rows[:, part].astype(float) for part in (0, 1, slice(2, 2 + n), slice(2 + n, None)))
    length, closest, matches, totals = parts
    added = float(smooth in ("add-k", "method2")) * (np.arange(n) > 0)
    there = (totals + added > 0) | theirs
    divisors = np.maximum(totals + added, 1)
    none = (matches + added == 0) & there
    halved = 2.0 ** -np.cumsum(none, axis=1)
    instead = {  # a count, where nothing matches
        **dict.fromkeys(("floor", "method1"), 0.1),
        **dict.fromkeys(("exp", "method3"), halved),
        "method0": sys.float_info.min * divisors,
        "method4": halved * np.log(np.maximum(length, 1))[:, None] / 5,
    }.get(smooth, 0.0)
    shares = np.where(none, instead, matches + added) / divisors * there
    counted = there if effective else np.ones_like(there)
    logs = np.log(shares, where=shares > 0, out=np.full_like(shares, 0.0 if theirs else -np.inf))
    used = np.maximum(counted.sum(axis=1), 1)
    penalty = np.exp(np.minimum(1 - closest / np.maximum(length, 1), 0))
    nothing = (matches[:, 0] == 0) if theirs else ~matches.any(axis=1)
    found = penalty * np.exp(np.where(counted, logs, 0.0).sum(axis=1) / used)
    return np.where(nothing | (length == 0), 0.0, found)


_ROUGE_COST = {"rouge1": 0, "rouge2": 0, "rougeL": 0, "rougeLsum": 1, "rouge3": 2, "rouge4": 2}
_PERL_COST = _ROUGE_COST | {"rougeW": 2, "rougeS4": 2, "rougeSU4": 2}


def _rouge(pairs: _Pairs) -> Iterator[Configuration]:
    """Yield rouge-score's ROUGE, also with a sentence on each line, and what the Perl script ROUGE-1.5.5 prints."""

    def in_lines(text: str) -> str:
        return text if "\n" in text else "\n".join(own.text for own in split_sentences(text))

    lined = list(map(in_lines, pairs.texts)), [list(map(in_lines, group)) for group in pairs.groups]
    for compat, stemmer in product(("google", "rouge-1.5.5"), (False, True)):
        perl = compat != "google"
        program, usual = ("ROUGE-1.5.5", "pooled") if perl else ("rouge-score", "best")
        asked: list[tuple[Sequence[str], Sequence[Sequence[str]], Mapping[str, int], JsonDict]]
        asked = [(pairs.texts, pairs.groups, _PERL_COST if perl else _ROUGE_COST, {})]
        asked += [] if perl else [(*lined, {"rougeLsum": 1}, {"lines": "sentences"})]
        for refs in (usual, "best_recall" if perl else "average", "first") if pairs.several else ("",):
            paid = stemmer + 3 * perl + (refs not in ("", usual))
            multi = None if refs in ("", "first") else refs
            for texts, groups, costs, how in asked:
                used = [group[:1] for group in groups] if refs == "first" else groups
                options: JsonDict = {"stemmer": stemmer, "compat": compat, "multi": multi, "progress": False}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # it is not we who chose
                    table = rouge_many(texts, used, types=[*costs], **options)
                named = {"tok": table.signature["tok"]} | ({"refs": refs} if refs else {}) | how
                for kind, cost in costs.items():
                    parts = {part: np.nan_to_num(table[f"{kind}_{part}"]) for part in ("f1", "recall", "precision")}
                    found = {part: float(values.mean()) for part, values in parts.items()}
                    both = found["precision"] + found["recall"]
                    found["f1 of the means"] = 2 * found["precision"] * found["recall"] / both if both else 0.0
                    for more, (part, value) in enumerate(found.items()):
                        choice = {"metric": kind, "part": part, **named}
                        yield _configured(value, program, choice, paid + cost + more, 1.0)


def _chrf(pairs: _Pairs) -> Iterator[Configuration]:
    """Yield sacrebleu's chrF and chrF++, of the whole and as the mean of texts."""
    for lowercase, whitespace in product((False, True), (False, True)):
        counts = count_chrf(*pairs.flat, word_order=2, lowercase=lowercase, whitespace=whitespace)
        for words, beta, eps in product((0, 2, 1), (2, 1, 3), (False, True)):
            chosen = {"word_order": words, "beta": beta, "eps_smoothing": eps}
            metric = Metric(chrf_score, lowercase=lowercase, whitespace=whitespace, **chosen)
            formula = partial(chrf_from_counts, beta=beta, eps_smoothing=eps)
            rows = counts[:, : counts.shape[1] - 2 + words]
            scores = np.array([formula(row) for row in rows.tolist()])
            best = [int(group.argmax()) for group in np.split(scores, pairs.starts[1:])] + pairs.starts
            views = {"best": best, "first": pairs.starts} if pairs.several else {"": best}
            cost = lowercase + 2 * whitespace + 2 * eps + 2 * (beta != 2) + 3 * (words == 1)
            yield from _sacrebleu(metric, formula, rows, scores, views, cost)


def _ter(pairs: _Pairs) -> Iterator[Configuration]:
    """Yield sacrebleu's TER, of the whole and as the mean of texts."""
    for normalized, no_punct, case in product((False, True), (False, True), (False, True)):
        metric = Metric(ter_score, normalized=normalized, no_punct=no_punct, case_sensitive=case)
        for refs in ("all", "first") if pairs.several else ("",):
            groups = [group[:1] for group in pairs.groups] if refs == "first" else pairs.groups
            rows = count_ter(pairs.texts, groups, metric.bound())
            scores = np.array([ter_from_counts(*row) for row in rows.tolist()])
            views = {refs: np.arange(len(rows))}
            cost = normalized + no_punct + case
            yield from _sacrebleu(metric, lambda row: ter_from_counts(*row), rows, scores, views, cost)


def _sacrebleu(
    metric: Metric, formula: Callable[..., float], rows: np.ndarray, scores: np.ndarray, views: Views, cost: int
) -> Iterator[Configuration]:
    """Yield what sacrebleu prints of rows of counts; `views` says which rows, by which of several references."""
    parts: JsonDict = {name: part for name, part in metric.signature.items() if name != "version"}
    chosen = [{refs: values[places] for refs, places in views.items()} for values in (rows, scores)]
    for how, value in _ways(lambda counts: formula(counts.sum(axis=0).tolist()), *chosen):
        yield _configured(value, "sacrebleu", parts | how, cost + (how["of"] != "corpus"), 100.0)


_SEARCHES: dict[str, Callable[[_Pairs], Iterator[Configuration]]]
_SEARCHES = {"bleu": _bleu, "rouge": _rouge, "chrf": _chrf, "ter": _ter}


def _configured(value: float, program: str, parts: Mapping[str, object], cost: int, scale: float) -> Configuration:
    more = (parts.get("refs") in ("first", "mean")) + (parts.get("of") == "mean of texts")
    signature = Signature({**parts, "scale": int(scale)})
    return Configuration(value=value, program=program, signature=signature, surprise=cost + more, scale=scale)


def _stands_for(value: float | str) -> tuple[float, float]:
    """Return a printed number, and half of its last digit: what lies closer is rounded to it."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        kind = type(value).__name__
        raise TypeError(f"value must be the printed number, such as 41.2 or '41.20', not {kind} ({value!r})")
    try:
        number = Decimal(str(value).strip().removesuffix("%"))
    except InvalidOperation:
        raise ValueError(f"value must be a number such as 41.2 or '41.20', not {value!r}") from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or number < 0:  # "n" or "F": not finite
        raise ValueError(f"value must be a finite number of at least 0, not {value!r}: no such score is printed")
    return float(number), float(Decimal(5).scaleb(exponent - 1))


def _values(own: Configuration) -> tuple[float, float]:
    """Return a number with the program's scale, and as people multiply it by hand, with the other scale."""
    return own.value, own.value * 100 if own.scale == 1 else own.value / 100


def _fits(own: Configuration, number: float, half: float) -> int | None:
    """Return how surprising it is that a configuration printed a number; None if it did not.

    Programs round, and a few cut off.
    """
    for more, value in enumerate(_values(own)):
        if abs(value - number) <= half + max(_FLOAT32 * value, 1e-12):
            return own.surprise + more
        if 0 <= value - number < 2 * half:
            return own.surprise + more + 2
    return None


def printed_scores(
    candidates: Iterable[str],
    references: Iterable[str | Iterable[str]],
    *,
    metrics: Sequence[str] = METRICS_SEARCHED,
    progress: bool | None = None,
) -> list[Configuration]:
    """Return every configuration that is searched, with the number that it prints of these texts.

    Parameters and errors as for `identify_score`.
    """
    from tqdm.auto import tqdm

    if isinstance(metrics, str) or not metrics:
        raise TypeError(f"metrics must be a list of names such as ['bleu', 'rouge'], not {metrics!r}")
    for name in metrics:
        require_option(name, "metrics", _SEARCHES)
    pairs, found = _Pairs(candidates, references), []
    with tqdm(desc="configurations", disable=None if progress is None else not progress) as bar:
        for name in dict.fromkeys(metrics):
            for own in _SEARCHES[name](pairs):
                found.append(own)
                bar.update()
    return found


def identify_score(
    value: float | str,
    candidates: Iterable[str],
    references: Iterable[str | Iterable[str]],
    *,
    metrics: Sequence[str] = METRICS_SEARCHED,
    n: int = 10,
    progress: bool | None = None,
) -> IdentifiedScore:
    """Return the configurations that print a number of these texts, the likeliest first.

    A paper says "ROUGE 41.2" and not how. With its texts at hand we try what the usual programs can be told: tokenizer,
    case, stemmer, smoothing, effective order, the whole corpus or the mean of texts, the best, the mean or the first of
    several references, precision, recall or F1.

    Parameters
    ----------
    value : float or str
        The printed number, from 0 to 1 or from 0 to 100. As many digits count as are printed: give `"41.20"` as a text
        to keep the zero.
    candidates, references : sequence
        The texts that were scored, as they were scored, and the reference or references of each.
    metrics : sequence of str
        What is searched: "bleu", "rouge", "chrf", and "ter" if it is named: it takes several times as long as the rest.
    n : int
        How many different numbers are returned at most.
    progress : bool, optional
        Show a bar; by default on terminals.

    Returns
    -------
    IdentifiedScore
        A sequence of `Configuration`, empty if none fits. Configurations with the very same number are one entry.

    Raises
    ------
    TypeError, ValueError
        If `value` is no number of at least 0, or texts and references do not pair.

    Notes
    -----
    Searched are sacrebleu's BLEU, chrF and TER, nltk's BLEU with its first five smoothing functions, rouge-score's
    ROUGE and that of ROUGE-1.5.5. Libraries such as torchmetrics print the same numbers. Bootstrapped means, as in
    older versions of rouge-score's aggregator, are random and not searched.

    Examples
    --------
    >>> texts = ["The cat sat on a mat.", "It rained."]
    >>> found = identify_score("0.9167", texts, ["The cat sat on the mat.", "It rained."], metrics=["rouge"])
    >>> found[0].program, found[0].signature["metric"], found[0].signature["part"]
    ('rouge-score', 'rouge1', 'f1')
    """
    _stands_for(value)  # before minutes of work
    return identify_among(value, printed_scores(candidates, references, metrics=metrics, progress=progress), n=n)


def identify_among(value: float | str, tried: Sequence[Configuration], *, n: int = 10) -> IdentifiedScore:
    """Return those of many configurations that print a number: `identify_score` for a second number of the same texts.

    Parameters
    ----------
    value, n
        As for `identify_score`.
    tried : sequence of Configuration
        What `printed_scores` returns.
    """
    number, half = _stands_for(value)
    require_count(n, "n")
    fitting = [(own, surprise) for own in tried if (surprise := _fits(own, number, half)) is not None]
    found: list[Configuration] = []
    for own, surprise in sorted(fitting, key=lambda pair: pair[1]):
        alike = [i for i, known in enumerate(found) if abs(known.value / known.scale - own.value / own.scale) < _SAME]
        if alike:
            found[alike[0]] = replace(found[alike[0]], same=(*found[alike[0]].same, str(own.signature)))
        else:
            found.append(replace(own, surprise=surprise))

    def distance(own: Configuration) -> float:
        scales = (own.scale, 100 / own.scale)
        return min(abs(value - number) / scale for value, scale in zip(_values(own), scales, strict=True))

    nearest = [] if found else sorted(tried, key=distance)[:3]
    return IdentifiedScore(str(value).strip(), found[:n], nearest, len(tried))

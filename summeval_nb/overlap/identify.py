"""Which configuration printed a score: what the usual programs print of the same texts, searched for a number."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property, partial
from itertools import product
from typing import TypeAlias

from summeval_nb.core.base import JsonDict, np, require_count, require_option
from summeval_nb.core.html import render
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

    Parameters
    ----------
    value : float
        The number, unrounded, on the scale of the program: 0 to 1 or 0 to 100.
    program : str
        What prints it.
    signature : Signature
        Every choice.
    surprise : int
        How many unusual choices it needs, weighed: 0 is what most programs do when nothing is said.
    scale : float
        1 or 100: what a perfect text gets from the program. TER may be higher.
    same : tuple of str
        Signatures of other configurations that print the very same number.
    """

    value: float
    program: str
    signature: Signature
    surprise: int
    scale: float
    same: tuple[str, ...] = ()

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        more = {"signature": str(self.signature), "same": list(self.same)}
        return {"value": self.value, "program": self.program, "surprise": self.surprise} | more


@dataclass(frozen=True, repr=False, eq=False)
class IdentifiedScore(Rows, Sequence[Configuration]):
    """The configurations that print a number, the likeliest first; none if no one fits.

    Attributes
    ----------
    printed : str
        The number as it was given.
    found, nearest : sequence of Configuration
        What fits, and what comes closest where nothing does.
    searched : int
        How many configurations were tried.
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
        if len(self) == 1:
            return f"One number among {self.searched:,} configurations is printed as {self.printed}."
        among = f"{len(self)} numbers among {self.searched:,} configurations"
        return f"{among} are printed as {self.printed}, the likeliest first."

    def rows(self) -> list[JsonDict]:
        """Return one plain dictionary for each number that fits, or for the nearest."""
        found = []
        for own in self.found or self.nearest:
            row: JsonDict = {"value": own.value, "program": own.program, "signature": str(own.signature)}
            found.append(row | {"the same": len(own.same)})
        return found

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        return {
            "printed": self.printed,
            "searched": self.searched,
            "found": [own.to_dict() for own in self.found],
            "nearest": [own.to_dict() for own in self.nearest],
        }

    def __repr__(self) -> str:
        lines = [self.line]
        if not self:
            lines.append("The nearest:")
        for row in self.rows():
            same = f"  (and {row['the same']} that print the same)" if row["the same"] else ""
            lines.append(f"  {row['value']:>12.6f}  {row['program']}: {row['signature']}{same}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        lines = [self.line] if self else [self.line, "These come nearest:"]
        return render("card.html", title="Score", number=self.printed, lines=lines, rows=self.rows(), signature="")


class _Pairs:
    """Texts, their references, and the ways to look at several references."""

    def __init__(self, candidates: Iterable[str], references: Iterable[str | Iterable[str]]) -> None:
        self.texts, self.groups = require_pairs(candidates, references)
        if not self.texts:
            raise ValueError("candidates is empty: a score is of at least one text")
        sizes = np.array([len(group) for group in self.groups])
        self.starts = np.cumsum(sizes) - sizes
        self.sizes = sizes
        self.several = bool((sizes > 1).any())

    @cached_property
    def flat(self) -> tuple[list[str], list[list[str]]]:
        """Each text beside each of its references."""
        pairs = [(text, [one]) for text, group in zip(self.texts, self.groups, strict=True) for one in group]
        return [text for text, _ in pairs], [one for _, one in pairs]

    def columns(self) -> range:
        """The numbers of references that each text has; empty where they have different numbers."""
        return range(int(self.sizes[0])) if self.several and len(set(self.sizes.tolist())) == 1 else range(0)

    def joined(self, values: np.ndarray) -> dict[str, float]:
        """Return the mean over texts of the best and of the mean of each one's references."""
        best = np.maximum.reduceat(values, self.starts)
        mean = np.add.reduceat(values, self.starts) / self.sizes
        return {"best": float(best.mean()), "mean": float(mean.mean())}


_BLEU_TOKENIZERS = {"13a": 0, "none": 1, "intl": 2, "word_tokenize": 2, "char": 3, "zh": 3}
_NLTK_METHODS = {"method0": 0, "method1": 1, "method2": 1, "method3": 2, "method4": 2}
_WHICH = {"all": 0, "best": 0, "first": 1, "mean": 1}  # of several references


def _word_tokenize(text: str) -> list[str]:
    """Cut a text into sentences, and these into words by nltk's rules, as its `word_tokenize` does."""
    from nltk.tokenize.destructive import NLTKWordTokenizer

    cut = NLTKWordTokenizer().tokenize
    return [word for sentence in split_sentences(text) for word in cut(sentence.text)]


def _bleu(pairs: _Pairs) -> Iterator[Configuration]:
    """Yield sacrebleu's BLEU and nltk's, of the whole and as the mean of texts."""
    for (tokenizer, cost), lowercase in product(_BLEU_TOKENIZERS.items(), (False, True)):
        own = _word_tokenize if tokenizer == "word_tokenize" else tokenizer
        views = {"all": count_bleu(pairs.texts, pairs.groups, tokenize=own, lowercase=lowercase)}
        if pairs.several:
            views["each"] = count_bleu(*pairs.flat, tokenize=own, lowercase=lowercase)
            views["first"] = views["each"][pairs.starts]
        padded = {name: _as_nltk(rows) for name, rows in views.items()}
        for n in (4, 3, 2, 1):
            columns = [0, 1, *range(2, 2 + n), *range(6, 6 + n)]
            asked: dict[str, object] = {"metric": f"bleu{n}", "case": "lc" if lowercase else "mixed", "tok": tokenizer}
            dear = cost + lowercase + 2 * (n != 4)
            if tokenizer != "word_tokenize":
                for smooth, effective in product(SMOOTHING, (False, True)):
                    scores = partial(_bleu_values, smooth=smooth, effective=effective)
                    parts = asked | {"smooth": smooth, "eff": effective}
                    paid = dear + (0 if smooth == "exp" else 1)
                    for how, whole, value in _ways(pairs, views, columns, scores):
                        unusual = effective == whole  # sacrebleu: yes for a text, no for a corpus
                        yield _configured(100 * value, "sacrebleu", parts | how, paid + unusual, 100.0)
            if tokenizer in ("none", "word_tokenize"):
                for method, more in _NLTK_METHODS.items():
                    scores = partial(_bleu_values, smooth=method)
                    parts = {**asked, "smooth": method}
                    paid = lowercase + 2 * (n != 4) + more + (tokenizer == "word_tokenize")
                    for how, _, value in _ways(pairs, padded, columns, scores):
                        yield _configured(value, "nltk", parts | how, 1 + paid, 1.0)


def _ways(
    pairs: _Pairs,
    views: Mapping[str, np.ndarray],
    columns: list[int],
    scores: Callable[[np.ndarray], np.ndarray],
) -> Iterator[tuple[dict[str, object], bool, float]]:
    """Yield each way to join texts and references: how it is called, whether of the whole, and its number."""
    used = {name: rows[:, columns] for name, rows in views.items()}

    def whole(rows: np.ndarray) -> float:
        return float(scores(rows.sum(axis=0, keepdims=True))[0])

    for which in ("all", "first") if pairs.several else ("all",):
        named = {"refs": which} if pairs.several else {}
        yield {"of": "corpus", **named}, True, whole(used[which])
        yield {"of": "mean of texts", **named}, False, float(scores(used[which]).mean())
    if pairs.several:
        for which, value in pairs.joined(scores(used["each"])).items():
            yield {"of": "mean of texts", "refs": which}, False, value
    if by_column := [whole(used["each"][pairs.starts + number]) for number in pairs.columns()]:
        yield {"of": "corpus", "refs": "mean"}, True, float(np.mean(by_column))
        yield {"of": "corpus", "refs": "best"}, True, max(by_column)


def _as_nltk(rows: np.ndarray) -> np.ndarray:
    """Return rows of counts in which each text has at least one n-gram of each order, as nltk counts."""
    return np.column_stack([rows[:, :6], np.maximum(rows[:, 6:], 1)])


def _bleu_values(rows: np.ndarray, smooth: str, effective: bool = False) -> np.ndarray:
    """Return BLEU for rows of counts, 0 to 1: as `bleu_from_counts`, or as nltk with a smoothing function of its own.

    nltk divides by at least one n-gram, where a text is too short to have any.
    """
    n = (rows.shape[1] - 2) // 2
    length, closest = rows[:, 0].astype(float), rows[:, 1].astype(float)
    matches, totals = rows[:, 2 : 2 + n].astype(float), rows[:, 2 + n :].astype(float)
    theirs = smooth in _NLTK_METHODS
    added = np.array([0.0] + [1.0] * (n - 1)) if smooth in ("add-k", "method2") else np.zeros(n)
    there = np.ones_like(totals, bool) if theirs else totals + added > 0
    divisors = np.maximum(totals + added, 1)
    none = (matches + added == 0) & there
    halved = 2.0 ** -np.cumsum(none, axis=1)
    instead: np.ndarray | float = 0.0  # a count, where nothing matches
    if smooth == "method0":
        instead = sys.float_info.min * divisors
    elif smooth in ("floor", "method1"):
        instead = 0.1
    elif smooth in ("exp", "method3"):
        instead = halved
    elif smooth == "method4":
        instead = halved * np.log(np.maximum(length, 1))[:, None] / 5
    shares = np.where(none, instead, matches + added) / divisors * there
    counted = there if effective else np.ones_like(there)
    logs = np.log(shares, where=shares > 0, out=np.full_like(shares, 0.0 if theirs else -np.inf))
    used = np.maximum(counted.sum(axis=1), 1)
    penalty = np.exp(np.minimum(1 - closest / np.maximum(length, 1), 0))
    nothing = (matches[:, 0] == 0) if theirs else ~matches.any(axis=1)
    found = penalty * np.exp(np.where(counted, logs, 0.0).sum(axis=1) / used)
    return np.where(nothing | (length == 0), 0.0, found)


_ROUGE_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum", "rouge3", "rouge4")
_PERL_TYPES = (*_ROUGE_TYPES, "rougeW", "rougeS4", "rougeSU4")
_ROUGE_COST = {"rouge1": 0, "rouge2": 0, "rougeL": 0, "rougeLsum": 1}


def _rouge(pairs: _Pairs) -> Iterator[Configuration]:
    """Yield rouge-score's ROUGE, and what the Perl script ROUGE-1.5.5 prints."""
    lines = _in_lines(pairs)
    for compat, stemmer in product(("google", "rouge-1.5.5"), (False, True)):
        ours = compat == "google"
        program, types = ("rouge-score", _ROUGE_TYPES) if ours else ("ROUGE-1.5.5", _PERL_TYPES)
        of_several = ("best", "average", "first") if ours else ("pooled", "best_recall", "first")
        for refs in of_several if pairs.several else ("one",):
            multi = None if refs in ("one", "first") else refs
            options: JsonDict = {"stemmer": stemmer, "compat": compat, "multi": multi}
            base = {} if refs == "one" else {"refs": refs}
            paid = stemmer + 3 * (not ours) + (refs in ("average", "best_recall", "first"))
            used = 1 if refs == "first" else None
            groups, line_groups = ([group[:used] for group in given] for given in (pairs.groups, lines[1]))
            yield from _rouge_means(pairs.texts, groups, types, options, base, program, paid)
            if ours:
                base = base | {"lines": "sentences"}
                yield from _rouge_means(lines[0], line_groups, ("rougeLsum",), options, base, program, paid)


def _in_lines(pairs: _Pairs) -> tuple[list[str], list[list[str]]]:
    """Return texts and references with a sentence on each line, as ROUGE-Lsum wants them."""

    def cut(text: str) -> str:
        return text if "\n" in text else "\n".join(own.text for own in split_sentences(text))

    return list(map(cut, pairs.texts)), [list(map(cut, group)) for group in pairs.groups]


def _rouge_means(
    texts: Sequence[str],
    groups: Sequence[Sequence[str]],
    types: Sequence[str],
    options: JsonDict,
    base: Mapping[str, object],
    program: str,
    paid: int,
) -> Iterator[Configuration]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is not we who chose
        table = rouge_many(texts, groups, types=types, progress=False, **options)
    base = {"tok": table.signature["tok"], **base}
    for kind in types:
        found = {part: float(np.nan_to_num(table[f"{kind}_{part}"]).mean()) for part in ("precision", "recall", "f1")}
        both = found["precision"] + found["recall"]
        found["f1 of the means"] = 2 * found["precision"] * found["recall"] / both if both else 0.0
        for part, more in (("f1", 0), ("recall", 1), ("precision", 2), ("f1 of the means", 3)):
            cost = paid + _ROUGE_COST.get(kind, 2) + more
            yield _configured(found[part], program, {"metric": kind, "part": part, **base}, cost, 1.0)


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
            cost = lowercase + 2 * whitespace + 2 * eps + 2 * (beta != 2) + 3 * (words == 1)
            best = [int(group.argmax()) for group in np.split(scores, pairs.starts[1:])] + pairs.starts
            views = {"best": best, "first": pairs.starts} if pairs.several else {"": best}
            for which, places in views.items():
                whole = formula(rows[places].sum(axis=0).tolist())
                yield from _whole_and_mean(metric.signature, whole, scores[places], which, cost)


def _ter(pairs: _Pairs) -> Iterator[Configuration]:
    """Yield sacrebleu's TER, of the whole and as the mean of texts."""
    first = [group[:1] for group in pairs.groups]
    views = {"all": pairs.groups, "first": first} if pairs.several else {"": pairs.groups}
    for normalized, no_punct, case in product((False, True), (False, True), (False, True)):
        metric = Metric(ter_score, normalized=normalized, no_punct=no_punct, case_sensitive=case)
        for which, groups in views.items():
            rows = count_ter(pairs.texts, groups, metric.bound())
            scores = np.array([ter_from_counts(*row) for row in rows.tolist()])
            whole = ter_from_counts(*rows.sum(axis=0).tolist())
            yield from _whole_and_mean(metric.signature, whole, scores, which, normalized + no_punct + case)


def _whole_and_mean(
    signature: Signature, whole: float, scores: np.ndarray, refs: str, cost: int
) -> Iterator[Configuration]:
    """Yield what sacrebleu prints of all texts together, and the mean of their scores."""
    parts: JsonDict = {name: part for name, part in signature.items() if name != "version"}
    parts |= {"refs": refs} if refs else {}
    yield _configured(whole, "sacrebleu", parts | {"of": "corpus"}, cost, 100.0)
    yield _configured(float(scores.mean()), "sacrebleu", parts | {"of": "mean of texts"}, cost + 1, 100.0)


_Search: TypeAlias = Callable[[_Pairs], Iterator[Configuration]]
_SEARCHES: dict[str, _Search] = {"bleu": _bleu, "rouge": _rouge, "chrf": _chrf, "ter": _ter}


def _configured(value: float, program: str, parts: Mapping[str, object], cost: int, scale: float) -> Configuration:
    more = _WHICH.get(str(parts.get("refs")), 0) + (parts.get("of") == "mean of texts")
    signature = Signature({**parts, "scale": int(scale)})
    return Configuration(value=value, program=program, signature=signature, surprise=cost + more, scale=scale)


def _stands_for(value: float | str) -> tuple[Decimal, Decimal]:
    """Return a printed number, and half of its last digit: what lies closer is rounded to it."""
    kind = type(value).__name__
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError(f"value must be the printed number, such as 41.2 or '41.20', not {kind} ({value!r})")
    try:
        number = Decimal(str(value).strip().removesuffix("%"))
    except InvalidOperation:
        raise ValueError(f"value must be a number such as 41.2 or '41.20', not {value!r}") from None
    if not number.is_finite() or number < 0:
        raise ValueError(f"value must be a finite number of at least 0, not {value!r}: no such score is printed")
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return number, Decimal(5).scaleb(exponent - 1)


def _on_both_scales(own: Configuration) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return a number with the program's scale, and as people multiply it by hand, with the other scale."""
    other = 100.0 if own.scale == 1 else 1.0
    return (own.value, own.scale), (own.value / own.scale * other, other)


def _fits(own: Configuration, number: float, half: float) -> int | None:
    """Return how surprising it is that a configuration printed a number; None if it did not.

    Programs round, and a few cut off.
    """
    for more, (value, _) in enumerate(_on_both_scales(own)):
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

    Parameters
    ----------
    candidates, references, metrics, progress
        As for `identify_score`.
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
    candidates : sequence of str
        The texts that were scored, as they were scored.
    references : sequence of str or of sequences of str
        The reference or references of each.
    metrics : sequence of str
        What is searched: "bleu", "rouge", "chrf", and "ter" if it is named: TER takes several times as long as the
        other three together.
    n : int
        How many different numbers are returned at most.
    progress : bool, optional
        Show a bar; by default on terminals.

    Returns
    -------
    IdentifiedScore
        A sequence of `Configuration`, empty if none fits. Configurations with the very same number are one entry: the
        texts cannot tell them apart.

    Raises
    ------
    TypeError, ValueError
        If `value` is no number of at least 0, or texts and references do not pair.

    Notes
    -----
    Searched are sacrebleu's BLEU, chrF and TER, nltk's BLEU with its first five smoothing functions, rouge-score's
    ROUGE and that of ROUGE-1.5.5. Libraries such as torchmetrics print the same numbers. A number with few digits is
    printed by many configurations, so more digits tell more. Bootstrapped means, as in older versions of
    `rouge-score`'s aggregator, are random and not searched.

    Examples
    --------
    >>> texts = ["The cat sat on a mat.", "It rained."]
    >>> found = identify_score("0.9167", texts, ["The cat sat on the mat.", "It rained."], metrics=["rouge"])
    >>> found[0].program, found[0].signature["metric"], found[0].signature["part"]
    ('rouge-score', 'rouge1', 'f1')
    >>> len(identify_score("0.9", texts, ["The cat sat on the mat.", "It rained."], metrics=["rouge"]))
    3
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
    number, half = map(float, _stands_for(value))
    require_count(n, "n")
    fitting = [(own, surprise) for own in tried if (surprise := _fits(own, number, half)) is not None]
    found: list[Configuration] = []
    for own, surprise in sorted(fitting, key=lambda pair: pair[1]):
        alike = [i for i, known in enumerate(found) if abs(known.value / known.scale - own.value / own.scale) < _SAME]
        if alike:
            first = found[alike[0]]
            found[alike[0]] = replace(first, same=(*first.same, str(own.signature)))
        else:
            found.append(replace(own, surprise=surprise))

    def distance(own: Configuration) -> float:
        return min(abs(value - number) / scale for value, scale in _on_both_scales(own))

    nearest = [] if found else sorted(tried, key=distance)[:3]
    return IdentifiedScore(str(value).strip(), found[:n], nearest, len(tried))

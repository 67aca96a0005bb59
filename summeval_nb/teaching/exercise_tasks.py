"""The class's tasks with drawn numbers: for each the right answer, from the package, and the values of known slips."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple, TypeVar

from summeval_nb.agreement.correlation import correlate
from summeval_nb.core.results import Verdict
from summeval_nb.evidence.faithfulness import supported_share
from summeval_nb.evidence.labelled import asset
from summeval_nb.overlap.bleu import bleu_score
from summeval_nb.overlap.rouge import calculate_rouge, calculate_rouge_l, rouge_score
from summeval_nb.text.similarity import cosine_similarity, topk_related

__all__ = ["DrawnTask", "SLIPS", "TASKS", "draw_task"]

_Item = TypeVar("_Item")
_NOUNS = "heron mill ferry baker harbour lantern orchard sailor tower market glacier violin".split()
_ADJECTIVES = "old grey quiet small young tall green narrow".split()
_VERBS = "watches finds leaves paints guards passes".split()
_PLACES = "near behind beside above".split()
_TIMES = ["at noon", "before dawn", "every evening", "in late summer"]


class _Draw:
    """Choices that follow from a text. They use `random()` alone, which every Python and machine gives alike."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def number(self, low: int, high: int) -> int:
        return low + int(self._random.random() * (high - low + 1))

    def some(self, items: Sequence[_Item], count: int) -> list[_Item]:
        left = list(items)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(count)]

    def sentence(self) -> list[str]:
        """Words of a sentence, nine or more, and three of them *the*."""
        first, second, third = self.some(_NOUNS, 3)
        adjective, other = self.some(_ADJECTIVES, 2)
        (verb,), (place,), (when,) = self.some(_VERBS, 1), self.some(_PLACES, 1), self.some(_TIMES, 1)
        middle = f"the {other} {second}" if self.number(0, 1) else f"the {second}"
        return f"the {adjective} {first} {verb} {middle} {place} the {third} {when}".split()

    def changed(self, words: list[str], dropped: int, replaced: int, added: Sequence[str] = ()) -> list[str]:
        """The words of a machine: some left out, some others in their place, some put in."""
        new = list(words)
        for _ in range(dropped):
            del new[self.number(0, len(new) - 1)]
        for word in self.some([word for word in (*_NOUNS, *_ADJECTIVES) if word not in words], replaced):
            new[self.number(0, len(new) - 1)] = word
        for word in added:
            new.insert(self.number(0, len(new)), word)
        return new


class DrawnTask(NamedTuple):
    """A task with its numbers: title, what is shown, the right answer, and the values of known slips by name."""

    title: str
    lines: list[str]
    answer: float
    slips: dict[str, float]
    decimals: int = 2

    def values(self) -> list[tuple[str, float, int]]:
        """Name, value and decimals: of the answer, the slips, and the answer on the wrong scale."""
        share = self.decimals == 2
        scale = ("percentage", self.answer * 100, 0) if share else ("share", self.answer / 100, 2)
        slips = [(name, value, self.decimals) for name, value in self.slips.items()]
        return [("right", self.answer, self.decimals), *slips, scale]

    def apart(self) -> bool:
        """Whether all of them differ by more than rounding, and none lies where rounding may go either way."""
        known = self.values()
        unclear = any(abs(value * 10**decimals % 1 - 0.5) < 0.01 + 1e-7 for _, value, decimals in known)
        pairs = ((a, b) for place, a in enumerate(known) for b in known[:place])
        # a ten-millionth more, so that the last digit of a float, which machines differ in, decides nothing
        return not unclear and all(abs(a[1] - b[1]) > 2.5 / 10 ** min(a[2], b[2]) + 1e-7 for a, b in pairs)


# what is said of each known slip, by its name
SLIPS: dict[str, str] = asset("exercise_slips.json")


def _two_texts(reference: list[str], generated: list[str]) -> dict[str, Any]:
    return {"reference": " ".join(reference), "generated": " ".join(generated)}


def _lines(shown: Mapping[str, object], asked: str) -> list[str]:
    return [*(f"{name}: {value}" for name, value in shown.items()), asked]


def _clipping(draw: _Draw) -> DrawnTask:
    reference = draw.sentence()
    generated = draw.changed(reference, draw.number(3, 5), draw.number(1, 2), ["the"] * draw.number(2, 4))
    texts = _two_texts(reference, generated)
    found = bleu_score(texts["generated"], texts["reference"], 1, tokenize="none")
    slips = {
        "unclipped": sum(word in reference for word in generated) / len(generated),
        "reference's words": found.counts[0] / len(reference),
        "distinct words": len(set(generated) & set(reference)) / len(set(generated)),
    }
    asked = "Clipped unigram precision of the generated text?"
    return DrawnTask("Clip", _lines(texts, asked), found.counts[0] / found.totals[0], slips)


def _recall(draw: _Draw) -> DrawnTask:
    reference = draw.sentence()
    added = draw.some(_ADJECTIVES, draw.number(0, 2))
    generated = draw.changed(reference, draw.number(2, 4), draw.number(0, 2), added)
    texts = _two_texts(reference, generated)
    found = calculate_rouge(**texts)
    slips = {"generated words": found["precision"], "f1": found["f1_score"]}
    slips |= {"distinct words": len(set(reference) & set(generated)) / len(reference)}
    return DrawnTask("Recall", _lines(texts, "ROUGE-1 recall?"), found["recall"], slips)


def _rouge_l(draw: _Draw) -> DrawnTask:
    reference, cut = draw.sentence(), draw.number(3, 6)
    turned = reference[cut:] + reference[:cut]
    generated = draw.changed(turned, draw.number(1, 4), 1, draw.some(_ADJECTIVES, 1))
    texts = _two_texts(reference, generated)
    found = calculate_rouge_l(**texts)
    run = SequenceMatcher(None, reference, generated, autojunk=False).find_longest_match().size
    slips = {"precision": found["precision"], "recall": found["recall"]}
    slips |= {"unordered": calculate_rouge(**texts)["f1_score"]}
    slips |= {"unbroken": 2 * run / (len(reference) + len(generated))}
    asked = "F1 of ROUGE-L, the longest common subsequence?"
    return DrawnTask("Order", _lines(texts, asked), found["f1_score"], slips)


def _references(draw: _Draw) -> DrawnTask:
    first, second = draw.sentence(), draw.sentence()
    texts = _two_texts(first, draw.changed(first, draw.number(2, 5), draw.number(1, 2)))
    both = [texts["reference"], " ".join(second)]

    def f1(references: list[str], multi: str = "best") -> float:
        return rouge_score(texts["generated"], references, types=["rouge1"], multi=multi)["rouge1"].f1

    slips = {"best": f1(both), "worst": min(f1([text]) for text in both), "joined": f1([" ".join(both)])}
    asked = _lines(texts | {"second reference": both[1]}, "Average of the two F1 of ROUGE-1?")
    return DrawnTask("Two references", asked, f1(both, "average"), slips)


def _bleu(draw: _Draw) -> DrawnTask:
    reference = draw.sentence()
    generated = draw.changed(reference, draw.number(3, 5), draw.number(0, 1), ["the"])
    texts = _two_texts(reference, generated)
    found = bleu_score(texts["generated"], texts["reference"], 2, tokenize="none", smooth="none")
    one, two = (count / total for count, total in zip(found.counts, found.totals, strict=True))
    loose = sum(word in reference for word in generated) / len(generated)
    slips = {
        "no penalty": 100 * math.sqrt(one * two),
        "arithmetic mean": 100 * found.bp * (one + two) / 2,
        "unclipped": 100 * found.bp * math.sqrt(loose * two),
        "no root": 100 * found.bp * one * two,
    }
    asked = "BLEU with unigrams and bigrams, from 0 to 100? The brevity penalty is exp(1 − r / c)."
    return DrawnTask("BLEU", _lines(texts, asked), float(found), slips, 1)


def _nearest(draw: _Draw) -> DrawnTask:
    own, *article = ([draw.number(0, 5), draw.number(0, 5), draw.number(1, 5)] for _ in range(4))
    cosines = cosine_similarity(article, [own])
    best, *others = topk_related(cosines, 3)[0].tolist()
    products = [sum(a * b for a, b in zip(own, vector, strict=True)) for vector in article]
    largest = products.index(max(products))
    norms = math.hypot(*own) * math.hypot(*article[best])
    another = next(place for place in others if place != largest)
    slips = {"dot product": float(products[best]), "squared lengths": products[best] / norms**2}
    slips |= {"largest product": float(cosines[0, largest]), "another": float(cosines[0, another])}
    shown = {"summary sentence": tuple(own), "article sentences": ", ".join(str(tuple(v)) for v in article)}
    asked = "Cosine of the summary sentence and the nearest article sentence?"
    return DrawnTask("Nearest", _lines(shown, asked), float(cosines[0, best]), slips)


def _faithfulness(draw: _Draw) -> DrawnTask:
    threshold, unjudged = draw.number(3, 7) / 10, draw.number(1, 2)
    given = [threshold, *(draw.number(5, 95) / 100 for _ in range(draw.number(5, 10)))]
    verdicts = [Verdict(probability=share, threshold=threshold) for share in given]
    verdicts += [Verdict(probability=None, reason="a heading") for _ in range(unjudged)]
    verdicts = draw.some(verdicts, len(verdicts))
    score = float(supported_share(verdicts)[0] or 0)
    slips = {"all sentences": score * len(given) / len(verdicts), "mean": math.fsum(given) / len(given)}
    slips |= {"unsupported": 1 - score, "at the threshold": score - 1 / len(given)}
    shown = ["heading" if v.probability is None else f"{v.probability:.2f}" for v in verdicts]
    table = {"probabilities of support": ", ".join(shown), "threshold": f"{threshold:.2f}"}
    asked = "Faithfulness: supported sentences / judged sentences?"
    return DrawnTask("Supported", _lines(table, asked), score, slips)


def _kendall(draw: _Draw) -> DrawnTask:
    people, metric = draw.some(range(1, 7), 6), draw.some(range(1, 10), 6)
    tables: dict[str, Any] = {"metric": [[share / 10 for share in metric]], "human": [people], "n_resamples": 0}
    tau, rho = (float(correlate(**tables, coefficient=name)) for name in ("kendall", "spearman"))
    slips = {"concordant": (1 + tau) / 2, "not divided": 15 * tau, "sign": -tau, "spearman": rho}
    shown = {"people": ", ".join(map(str, people)), "metric": ", ".join(f".{share}" for share in metric)}
    return DrawnTask("Judge the judge", _lines(shown, "Kendall's τ of the six summaries?"), tau, slips)


_ALL = (_clipping, _recall, _rouge_l, _references, _bleu, _nearest, _faithfulness, _kendall)
TASKS: dict[str, Callable[[_Draw], DrawnTask]] = {task.__name__.removeprefix("_"): task for task in _ALL}


def draw_task(seed: str, name: str) -> DrawnTask:
    """Draw a task of `TASKS` from a student number, and again until its answer and its slips can be told apart.

    Examples
    --------
    >>> drawn = draw_task("4711", "bleu")
    >>> print(drawn.lines[0])
    reference: the narrow sailor watches the violin behind the baker every evening
    >>> round(drawn.answer, drawn.decimals), sorted(drawn.slips)
    (27.6, ['arithmetic mean', 'no penalty', 'no root', 'unclipped'])
    """
    for attempt in range(10_000):
        drawn = TASKS[name](_Draw(f"{seed}/{name}/{attempt}"))
        if drawn.apart():
            return drawn
    raise RuntimeError(f"no task {name!r} could be drawn for {seed!r}: please report it")

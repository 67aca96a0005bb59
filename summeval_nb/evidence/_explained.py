"""Plumbing of chapter 22: what a verdict rests on, as a table that adds up. A plain module: edited directly, tested in
tests/test_explained.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from summeval_nb.ground.results import Verdict, require_count, require_texts
from summeval_nb.ground.viz import Markup, render, text_table

from ..ground._types import JsonDict

if TYPE_CHECKING:
    from summeval_nb.evidence.reading import EmbeddedChecker

__all__ = ["MEANING", "Explanation", "explained", "meaning"]

_NEAR = "in the nearest sentence"
MEANING = {
    "coverage": "share of the claim's words, by rarity, that the evidence holds",
    "familiarity": "1 for no new word, less for rare new ones",
    "unbroken": "share of words that continue a copied piece",
    "alignment": "share of the claim copied in one piece with a word",
    "pairs": "neighbouring words that are neighbours in one sentence",
    "token_match": "mean best match of the claim's token vectors",
    "token_match_weakest": "match of its weakest tenth of tokens",
    "token_match_one": "mean match within the best single sentence",
    "cosine": "cosine with the nearest sentence's vector",
    "numbers": "1: no number is new, 0.5: one is, 0: more are",
    "names": "1: no name is new, 0.5: one is, 0: more are",
    "negation": "1: negations agree, 0: one side denies",
    "words": "words in the claim",
    "new_words": "words that no evidence holds",
    "new_weight": "their weight by rarity",
    "left_over": f"words that are not {_NEAR}",
    "left_over_two": "words that are not in the nearest two sentences",
    "near_coverage": f"share of words, by rarity, {_NEAR}",
    "near_pairs": f"share of neighbouring words {_NEAR}",
    "taken": "share of the nearest sentence that the claim takes up",
    "edit": "likeness of both word for word, 1 is the same",
    "in_order": f"share of the claim's words in order {_NEAR}",
    "replaced": "places where other words stand between the same words",
    "replaced_words": "such places of a single new word",
    "antonyms": f"words whose opposite stands {_NEAR}",
    "antonyms_far": "words whose opposite stands elsewhere in the evidence",
    "antonyms_firm": "opposites in the same place",
    "negation_parity": "1: the number of negations differs by one",
    "negations": "words denied on one side only",
    "order": "share of shared words in the same order",
    "order_words": "shared words whose order was compared",
    "roles_turned": "pairs of names the other way round",
    "in_place": "words, numbers or names in another's place",
    "own_words": "how far told in words of its own, no name or number new",
    "numbers_all": "numbers in the claim",
    "numbers_missing": "numbers that the evidence does not hold",
    "numbers_moved": "numbers whose unit has another number there",
    "numbers_loose": "numbers that stand beside other words there",
    "names_all": "names in the claim",
    "names_new": "names that the evidence does not hold",
    "names_far": f"names that are not {_NEAR}",
    "names_replaced": "names that stand where another name stood",
    "quantifiers_new": "words such as all, most, never that came",
    "quantifiers_gone": "words such as all, most, never that went",
    "hedges_new": "words such as may, planned, alleged that came",
    "hedges_gone": "words such as may, planned, alleged that went",
    "connectives_new": "words such as because, after that came",
    "match_min": "weakest match of a token vector",
    "match_second": "second weakest match of a token vector",
    "match_quarter": "match of the weakest quarter of tokens",
    "near_mean": f"mean match of token vectors {_NEAR}",
    "near_min": f"weakest match {_NEAR}",
    "near_tenth": f"match of the weakest tenth {_NEAR}",
    "words_logit": "what the words checker of chapter 21 says, as log-odds",
    "near_entailed": "the reader, nearest two sentences: follows, as log-odds",
    "near_contradicted": "the reader, nearest two sentences: denied, as log-odds",
    "all_entailed": "the reader, all evidence: follows, as log-odds",
    "all_contradicted": "the reader, all evidence: denied, as log-odds",
    "worst_word": "the reader: its most doubtful word, as log-odds",
    "wrong_words": "the reader: how many words are wrong, expected",
}


def meaning(name: str) -> str:
    """Return in a few words what a feature is."""
    if name.startswith("nearest_"):
        return f"{MEANING[name.removeprefix('nearest_')]}; {_NEAR} alone"
    return MEANING[name]


@dataclass(frozen=True)
class Explanation:
    """What moved a verdict: rows that add up to its log-odds, and its evidence; made by `EmbeddedChecker.explain`.

    Parameters
    ----------
    sentence : str
        What was judged.
    evidence : list of str
        The sentences that it was judged by, best first.
    verdict : Verdict
        The verdict, with `details`.
    start : float
        The log-odds before any feature is looked at.
    added : float
        What a recalibration adds to the checker's own log-odds; 0 without one.
    most : int
        How many features are shown by themselves.
    """

    sentence: str
    evidence: list[str]
    verdict: Verdict
    start: float
    added: float = 0.0
    most: int = 10

    @property
    def log_odds(self) -> float:
        """The sum of all rows: the log-odds of the verdict's probability."""
        return self.verdict.details["logit"] + self.added

    def rows(self) -> list[JsonDict]:
        """Return what moved the verdict, the greatest first, as rows whose `moved` adds up to the last one's."""
        details = self.verdict.details
        ranked = sorted(details["contributions"].items(), key=lambda item: -abs(item[1]))[: self.most]
        rows = [_row("all claims start at", None, self.start, "")]
        rows += [_row(name, details["features"][name], moved, meaning(name)) for name, moved in ranked]
        others = details["logit"] - self.start - sum(moved for _, moved in ranked)
        rows.append(_row("all others", None, others, "each moved it by less"))
        rows += [_row("recalibration", None, self.added, "slope and offset of this checker")] if self.added else []
        return [*rows, _row("log-odds", None, self.log_odds, f"probability {self.verdict.probability:.3f}")]

    def __str__(self) -> str:
        return f"{self._title()}\n{text_table(self.rows())}"

    def _title(self) -> str:
        looked = ", ".join(f"{one.kind} “{one.text}”" for one in self.verdict.findings)
        return f"{self.verdict.state} {self.verdict.probability:.2f}: {self.sentence}" + (
            f" (look at: {looked})" if looked else ""
        )

    def _repr_html_(self) -> str:
        rows = [row | {"moved": _bar(row["moved"])} for row in self.rows()]
        return render("explained.html", title=self._title(), rows=rows, evidence=self.evidence)


def _row(feature: str, value: float | None, moved: float, what: str) -> JsonDict:
    return {"feature": feature, "value": value, "moved": moved, "meaning": what}


def _bar(moved: float) -> Markup:
    """Return a signed number with a bar as long as it is great; the sign says the direction, not the colour alone."""
    color = "#1f5f99" if moved >= 0 else "#a11212"
    return render("moved.html", moved=f"{moved:+.3f}", width=f"{min(abs(moved), 5) * 1.2:.2f}", color=color)


def explained(
    checker: EmbeddedChecker, text: str | Sequence[str], sentence: str, start: float, most: int
) -> Explanation:
    """Return what moved a checker's verdict on one sentence, over an article or over given evidence."""
    if isinstance(text, str):
        from summeval_nb.evidence.faithfulness import evaluate

        result = evaluate(text, sentence, checker=checker)
        sources, verdicts = [one.text for one in result.source_sentences], result.verdicts
        if not verdicts:
            raise ValueError(f"nothing to explain: {result.reason}")
    else:
        sources = require_texts(text, "text")
        verdicts = checker.check_many([(sources, sentence)])
    if len(verdicts) != 1:
        raise ValueError(f"explain takes one sentence, and these are {len(verdicts)}: explain each by itself")
    (verdict,) = verdicts
    if verdict.probability is None:
        raise ValueError(f"no verdict on {sentence!r:.60}: {verdict.reason}")
    own = verdict.details["logit"]
    added = checker.slope * own + checker.offset - own
    evidence = [sources[one.index] for one in verdict.evidence]
    return Explanation(sentence, evidence, verdict, start, added, require_count(most, "most"))

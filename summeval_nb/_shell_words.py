# A plain private module: edited here, exported by no notebook, tested in tests/test_shell_words.py.
"""The word metrics as commands: what each is called and which functions count it, and how a result reads in a shell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer

from summeval_nb.ground.results import Score, ScoreTable

Texts = Annotated[str, typer.Argument(help="Table, or plain file of candidates; - for standard input.")]
Each = Annotated[bool, typer.Option("--each", help="A score for each text instead of one for all.")]


Scoring = Callable[..., Any]  # a function of candidates, references and choices


@dataclass(frozen=True, kw_only=True)
class WordMetric:
    """What a command needs of a metric: functions by name, so that none is imported before it is wanted.

    `whole` scores a corpus by the counts of all texts; without it, one number for all is the mean over the texts.
    """

    title: str
    module: str
    each: str
    whole: str = ""
    help: str

    def functions(self) -> tuple[Scoring, Scoring]:
        """Return what scores each text, and what gives one number for all."""
        module = import_module(f"summeval_nb.overlap.{self.module}")
        return getattr(module, self.each), getattr(module, self.whole or self.each)

    def text(self, result: ScoreTable | Score, *, each: bool) -> str:
        """Return what a terminal shows: a line a text, or one number for all and how it was counted."""
        if each and isinstance(result, ScoreTable):
            scores = (outcome.score for outcome in result.outcomes())
            return "\n".join("none" if score is None else f"{score:.4f}" for score in scores)
        shown = self._mean(result) if isinstance(result, ScoreTable) else self._score(result.score, result.reason)
        return f"{shown}\n{result.signature}"

    def _score(self, score: float | None, reason: str) -> str:
        return f"{self.title} undefined: {reason}" if score is None else f"{self.title} {score:.4f}"

    def _mean(self, table: ScoreTable) -> str:
        """The mean of the main score, then those of its parts, and how many texts are in none of them."""
        (_, score), *parts = table.means().items()
        said = self._score(score, next(filter(None, table.reasons()), ""))
        if score is not None:
            said += "".join(f", {name} {mean:.4f}" for name, mean in parts)
            left_out = f" ({table.n_undefined} of {len(table)} texts undefined and left out)"
            said += left_out if table.n_undefined else ""
        return said


WORD_METRICS = {
    "bleu": WordMetric(
        title="BLEU",
        module="bleu",
        each="bleu_many",
        whole="corpus_bleu",
        help="""BLEU of texts against references: one score of the corpus, or one for each text.

        Example: summeval bleu predictions.jsonl --column candidate=prediction -o n=2
        """,
    ),
    "chrf": WordMetric(
        title="chrF",
        module="chrf",
        each="chrf_many",
        whole="corpus_chrf",
        help="""chrF, or chrF++ with word_order=2: one score of the corpus, or one for each text.

        Example: summeval chrf predictions.txt references.txt -o word_order=2
        """,
    ),
    "ter": WordMetric(
        title="TER",
        module="ter",
        each="ter_many",
        whole="corpus_ter",
        help="""Translation edit rate, lower is better: one score of the corpus, or one for each text.

        Example: summeval ter predictions.txt references.txt -o normalized=true
        """,
    ),
    "meteor": WordMetric(
        title="METEOR",
        module="matching",
        each="meteor_many",
        help="""METEOR by nltk's rules: the mean over the texts, or one for each text.

        Example: summeval meteor predictions.txt references.txt -o synonyms=null
        """,
    ),
    "bertscore": WordMetric(
        title="BERTScore",
        module="matching",
        each="bert_many",
        help="""BERTScore by the vectors of a model in a folder: mean F1, precision and recall, or F1 of each text.

        Example: summeval bertscore predictions.txt references.txt -o model=FOLDER -o layer=9
        """,
    ),
}

"""What judges that answer in bulk share: the kinds of questions, the seven methods, sentences and places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from summeval_nb.core.base import require_count, require_text, require_texts
from summeval_nb.core.results import Sentence
from summeval_nb.judged.judging import (
    Answer,
    Entailment,
    Flag,
    JudgeFailure,
    Keyphrase,
    Question,
    Resolution,
    Statement,
)
from summeval_nb.text.split import split_sentences, split_units

__all__ = ["TASKS", "BulkJudge", "Items", "place_keyphrase", "premise_sentences"]

Items: TypeAlias = Sequence[tuple[Any, ...]]  # the arguments of one of a judge's methods, a tuple an item

TASKS: Mapping[str, tuple[str, Any]] = {  # the judge's method, and the type of its answer
    "resolve": ("resolve_pronouns", Resolution),
    "statements": ("statements", list[Statement]),
    "entail": ("entail", list[Entailment]),
    "refusal": ("is_refusal", Flag),
    "keyphrases": ("keyphrases", list[Keyphrase]),
    "questions": ("questions", list[Question]),
    "answer": ("answer", list[Answer]),
}


class BulkJudge:
    """The seven methods, for judges that answer in bulk by `many(task, items)`."""

    fingerprint: str

    def many(self, task: str, items: Items) -> list[Any]:
        """Answer one kind of question for many items, each or with a `JudgeFailure`."""
        raise NotImplementedError

    def resolve_pronouns(self, text: str, units: Sequence[str] | None = None) -> Resolution:
        """Replace pronouns in the units of a text (by default one, the whole text)."""
        return self._one("resolve", require_text(text, "text"), None if units is None else list(units))

    def statements(self, hypothesis: str) -> list[Statement]:
        """Split a hypothesis into its statements."""
        return self._one("statements", require_text(hypothesis, "hypothesis"))

    def entail(self, premise: str, statements: Sequence[str]) -> list[Entailment]:
        """Say for each statement whether the premise entails it."""
        return self._one("entail", require_text(premise, "premise"), require_texts(statements, "statements"))

    def is_refusal(self, text: str) -> Flag:
        """Say whether a text declines to answer."""
        return self._one("refusal", require_text(text, "text"))

    def keyphrases(self, text: str, n: int = 10) -> list[Keyphrase]:
        """Return at most n important phrases of a text, best first."""
        return self._one("keyphrases", require_text(text, "text"), require_count(n, "n"))

    def questions(self, text: str, keyphrases: Sequence[str]) -> list[Question]:
        """Return yes/no questions on the keyphrases that the text answers with yes."""
        return self._one("questions", require_text(text, "text"), require_texts(keyphrases, "keyphrases"))

    def answer(self, text: str, questions: Sequence[Question]) -> list[Answer]:
        """Answer each question from the text alone."""
        return self._one("answer", require_text(text, "text"), list(questions))

    def _one(self, task: str, *item: object) -> Any:
        (answer,) = self.many(task, [item])
        if isinstance(answer, JudgeFailure):
            raise answer
        return answer


@lru_cache(maxsize=1024)
def premise_sentences(premise: str, max_chars: int = 500) -> tuple[Sentence, ...]:
    """Return the sentences of a premise with their places in it, those over `max_chars` characters cut."""
    found: list[Sentence] = []
    for whole in split_sentences(premise):
        pieces = split_units(whole.text, max_chars=max_chars) if len(whole) > max_chars else None
        if pieces is None:
            found.append(whole)
        else:
            found += [Sentence(piece.text, whole.start + piece.start, whole.start + piece.end) for piece in pieces]
    return tuple(found)


def place_keyphrase(text: str, phrase: str, weight: float | None) -> Keyphrase:
    """Return a keyphrase with its first place in the text, where it stands there word for word.

    Examples
    --------
    >>> found = place_keyphrase("The council met.", "council", None)
    >>> found.start, found.end
    (4, 11)
    """
    start = text.find(phrase)
    place = {"start": start, "end": start + len(phrase)} if start >= 0 else {}
    return Keyphrase(text=phrase, weight=None if weight is None else float(weight), **place)

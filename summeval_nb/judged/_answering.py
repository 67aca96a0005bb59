"""Many questions to many texts at once: entailments, and how much is said, row by row. See tests/test_judge.py.

Edited directly. Chapter 42 says when a text answers a question with yes; its functions are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from summeval_nb.evidence.checker import Checker
from summeval_nb.evidence.tokens import Parts
from summeval_nb.evidence.words import WordsChecker
from summeval_nb.ground.results import Sentence
from summeval_nb.judged._entailing import Labeller, entail_many
from summeval_nb.judged._refusals import premise_sentences
from summeval_nb.judged.judging import Answer, Entailment, JudgeFailure, Question
from summeval_nb.text.embed import LotEmbedder, SentenceVectors

AnswerSaid = Callable[[str, Sequence[Sentence], SentenceVectors], Answer]
AsAnswer = Callable[[Entailment, Answer | None], Answer]


def counted_things(parts: Parts) -> dict[str, set[str]]:
    """Numbers by the content word that follows them: what is counted."""
    found: dict[str, set[str]] = {}
    for place, token in enumerate(parts.tokens):
        if token.kind == "number":
            after = parts.tokens[place + 1 : place + 3]
            thing = next((one.key for one in after if one.kind == "content"), "")
            found.setdefault(thing, set()).add(token.key)
    return found


def denies(one: Parts, other: Parts) -> bool:
    """Whether a *not* in one text is about something that the other says, too; *without* denies nothing."""
    for place, token in enumerate(one.tokens):
        if token.kind == "negation" and one.text[token.start : token.end].lower() != "without":
            after = [word.key for word in one.tokens[place + 1 :] if word.kind in ("content", "number")][:2]
            if not after or other.content_set & set(after):
                return True
    return False


def answer_many(
    items: Sequence[tuple[str, Sequence[Question]]],
    embedder: LotEmbedder,
    checker: Checker,
    k: int,
    lang: str | None,
    label: Labeller,
    answer_said: AnswerSaid,
    as_answer: AsAnswer,
) -> list[list[Answer] | JudgeFailure]:
    """Answers: yes where the checker calls a question's statement supported, otherwise by what is said.

    A checker with one border has no second look; the words checker, blind to clashes, leaves all to what is said.
    """
    asked = [(text, [question.statement for question in questions]) for text, questions in items]
    blind = isinstance(checker, WordsChecker)
    looks = blind or any(getattr(checker, n, None) is not None for n in ("contradicted_below", "contradicted_below_of"))
    said = answers_said(embedder, asked, answer_said) if looks else [None] * len(asked)
    found = entail_many(asked, embedder, checker, k, lang, label)
    return [_join(*pair, as_answer, blind) for pair in zip(found, said, strict=True)]


def _join(
    found: list[Entailment] | JudgeFailure, said: list[Answer] | JudgeFailure | None, as_answer: AsAnswer, blind: bool
) -> list[Answer] | JudgeFailure:
    """The answers of one text."""
    if isinstance(found, JudgeFailure):
        return JudgeFailure("answer", found.reason)
    if isinstance(said, JudgeFailure):
        return JudgeFailure("answer", said.reason)
    second = [None] * len(found) if said is None else said
    return [
        looked if blind and looked is not None and not one.failed else as_answer(one, looked)
        for one, looked in zip(found, second, strict=True)
    ]


def answers_said(
    embedder: LotEmbedder, asked: Sequence[tuple[str, Sequence[str]]], answer_said: AnswerSaid
) -> list[list[Answer] | JudgeFailure]:
    """Answers to (text, statements) by what is said alone."""
    sentences = {text: premise_sentences(text) for text, _ in asked}
    texts = [s.text for group in sentences.values() for s in group]
    vectors = SentenceVectors(embedder, [*texts, *(one for _, statements in asked for one in statements)])
    empty = JudgeFailure("answer", "the text holds no sentence")
    return [
        [answer_said(one, sentences[text], vectors) for one in statements] if sentences[text] else empty
        for text, statements in asked
    ]

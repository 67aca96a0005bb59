# A plain private module: edited here, exported by no notebook, tested in tests/test_declared.py.
"""How many calls the cases of `_llm_plans` and `_llm_tasks` take at most, also where their texts are not known yet.

What bounds a reply (twelve statements, the room for them, 80 signs a key phrase) is checked where replies are read; a
text within a prompt is JSON, in which a sign takes six bytes at most.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from summeval_nb.judged._bounds import size
from summeval_nb.judged._llm_plans import MOST_STATEMENTS, plan_texts, plan_units, windows_of
from summeval_nb.judged._llm_tasks import RULE, choice_prompt, longest_statements, longest_unit, numbered
from summeval_nb.judged.judge import premise_sentences
from summeval_nb.judged.judging import Question
from summeval_nb.models.base import Calls, Most

SMALLEST_LOT = 64  # questions that `ask_many` hands over together, in the metric that hands over the fewest
STATEMENTS = 12  # of one hypothesis; `reply` of the task "statements"
SIGN = 6  # bytes of JSON
AROUND = 60  # bytes of JSON around the texts of a case: names, brackets, "Case 1: ", "n"
COMPLAINT = 60 + 200 * SIGN  # why a first reply could not be used


class Cases(NamedTuple):
    """At most so many cases of an item, the bytes of their texts, and the tokens of their replies.

    `units` are what is handed over by itself; where the unit is not the item, the item may be cut in two by the end of
    a lot, and then has `cut` cases more.
    """

    cases: int = 0
    texts: int = 0
    tokens: int = 0
    units: int = 1
    cut: int = 0


def all_cases(found: Sequence[Cases]) -> tuple[int, int, int, int]:
    """Cases, texts and tokens of all items, and in how many more lots than one they may be handed over."""
    if not found:
        return 0, 0, 0, 0
    cases, texts, tokens, units, cut = map(list, zip(*found, strict=True))
    lots = sum(units) // SMALLEST_LOT
    more = [lots * max(one) if any(cut) else 0 for one in (cut, texts, tokens)]
    return sum(cases) + more[0], sum(texts) + more[1], sum(tokens) + more[2], lots


def json_calls(prompt: str, cases: Sequence[Cases], group: int, group_chars: int) -> Calls:
    """Calls for cases that share calls: grouped as `packed` groups them, and then each case once more by itself.

    A group ends because it is full, or because the next case does not fit: then the two hold more than `group_chars`.
    """
    count, texts, tokens, lots = all_cases(cases)
    if not count:
        return Calls()
    shown = texts + AROUND * count
    first = min(count, count // group + 2 * shown // group_chars + 1 + lots)
    around = len(f"{prompt}\n{RULE}\n\n\n\nReply with JSON.".encode())
    return Calls(
        first + count,
        (first + count) * around + 2 * shown + count * COMPLAINT,
        20 * first + tokens + 2 * (20 * count + tokens),
    )


def choice_calls(prompt: str, options: Sequence[str], cases: Sequence[Cases]) -> Calls:
    """Calls for cases that are asked one by one, and never again."""
    count, texts = sum(one.cases for one in cases), sum(one.texts for one in cases)
    around = len(choice_prompt(prompt, {}, options).encode()) + AROUND
    return Calls(count, count * around + texts, count * max(len(one.encode()) for one in options))


def most_of_item(purpose: str, item: tuple[Any, ...], window: int, *, one_by_one: bool) -> tuple[Cases, Most]:
    """The cases of one question, and what its reply holds."""
    if purpose == "refusal":
        (text,) = item
        return Cases(int(bool(re.search(r"\w", text))), size(text), 0), Most()
    if purpose == "resolve":
        return _resolve(item[0], item[1], window)
    if purpose == "statements":
        (hypothesis,) = item
        return _statements(hypothesis)
    if purpose == "keyphrases":
        return _keyphrases(item[0], item[1], window)
    if purpose == "questions":
        return _questions(item[0], item[1], window)
    return _judged(item[0], item[1], window, one_by_one), Most()


def _resolve(text: str, units: Sequence[str] | None, window: int) -> tuple[Cases, Most]:
    plan = plan_units([(text, units)], window)
    shown = [own for _, own in plan]
    tokens = sum(40 + sum(map(len, own)) for own in shown)
    flat = [unit for own in shown for unit in own]
    return Cases(len(shown), sum(map(size, shown)), tokens), Most(len(flat), sum(map(longest_unit, flat)))


def _statements(hypothesis: str | Most) -> tuple[Cases, Most]:
    """Of one hypothesis, or of several that are not known yet."""
    count, characters = (hypothesis.count, hypothesis.size) if isinstance(hypothesis, Most) else (1, len(hypothesis))
    said = (count - 1) * longest_statements(0) + longest_statements(characters) if count else 0
    return Cases(count, size(hypothesis), 60 * count + 2 * characters, count), Most(STATEMENTS * count, said)


def _windows(text: str | Most, window: int) -> tuple[int, int]:
    """In how many windows a text is read, and the bytes of its numbered sentences."""
    if isinstance(text, Most):  # of two windows that follow each other the sentences do not fit into one
        windows = 1 if text.size <= window else 2 * text.size // window + 1
        return windows, 6 * text.size + 20  # "12. a.", for the shortest sentences
    own = windows_of(premise_sentences(text), window)
    return len(own), sum(size(numbered(one)) for one in own)


def _judged(text: str | Most, parts: Most | Sequence[str | Question], window: int, one_by_one: bool) -> Cases:
    """Statements by a premise, or questions by a text."""
    if not isinstance(parts, Most):
        parts = Most(len(parts), sum(size(getattr(one, "text", one)) + 2 for one in parts))
    windows, shown = _windows(text, window)
    lots = parts.count if one_by_one else -(-parts.count // MOST_STATEMENTS)
    cases, units = windows * lots, -(-parts.count // STATEMENTS)
    return Cases(cases, lots * shown + windows * parts.size, 40 * cases + 40 * windows * parts.count, units, windows)


def _keyphrases(text: str, n: int, window: int) -> tuple[Cases, Most]:
    plan = plan_texts("keyphrases", [(text, n)], window)
    tokens = sum(20 + 30 * share for _, _, share in plan)
    return Cases(len(plan), sum(size(one) for _, one, _ in plan), tokens), Most(n, n * (80 * SIGN + 4))


def _questions(text: str | Most, phrases: Most | Sequence[str], window: int) -> tuple[Cases, Most]:
    """Of one text, or, where neither is known, of several texts with a phrase each."""
    if not isinstance(phrases, Most):
        phrases = Most(len(phrases), sum(size(one) + 2 for one in phrases))
    if isinstance(text, Most):
        cases, shown = text.count, text.size
    else:
        windows, _ = _windows(text, window)
        cases, shown = min(windows, phrases.count), size(text) + 2 * windows
    return (
        Cases(cases, shown + phrases.size, 40 * cases + 120 * phrases.count, max(cases, 1)),
        Most(phrases.count, phrases.count * (200 * SIGN + 4)),
    )

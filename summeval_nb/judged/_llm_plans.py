# A plain private module: edited here, exported by no notebook, tested in tests/test_llm_plans.py.
"""Which cases share a call to a language model, in which windows long texts are read, and results put together again.

Chapter 46 says the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from summeval_nb.ground.results import Sentence
from summeval_nb.judged.judge import premise_sentences
from summeval_nb.judged.judging import JudgeFailure
from summeval_nb.models.base import as_json

MOST_STATEMENTS = 20
Case = TypeVar("Case", bound=tuple[Any, ...])
Found = TypeVar("Found")
Part = TypeVar("Part", bound=Hashable)


def packed(sizes: Sequence[int], most: int, characters: int) -> list[list[int]]:
    """Positions in groups of at most `most` members and `characters` characters; a larger one stands alone."""
    groups: list[list[int]] = []
    room = 0
    for position, size in enumerate(sizes):
        if not groups or len(groups[-1]) == most or size > room:
            groups.append([])
            room = characters
        groups[-1].append(position)
        room -= size
    return groups


def ask_cases(
    shown: Callable[..., Mapping[str, object]],
    cases: Sequence[Case],
    ask: Callable[[Sequence[Case], str], Sequence[Found | JudgeFailure]],
    *,
    most: int,
    characters: int,
    workers: int,
) -> list[Found | JudgeFailure]:
    """Results of all cases (`shown`: what the model sees of one), asked in groups, malformed ones again alone."""
    sizes = [len(as_json(shown(*case))) for case in cases]
    groups = packed(sizes, most, characters)
    results: dict[int, Found | JudgeFailure] = {}
    with ThreadPoolExecutor(max_workers=max(1, min(workers, len(groups)))) as pool:
        for group, found in zip(
            groups,
            pool.map(lambda g: ask([cases[i] for i in g], ""), groups),
            strict=True,
        ):
            results.update(zip(group, found, strict=True))
        again = {i: one.reason for i, one in results.items() if isinstance(one, JudgeFailure) and one.malformed}
        complaints = [f"A first reply could not be used: {as_json(reason[:200])}" for reason in again.values()]
        retried = pool.map(
            lambda i, complaint: ask([cases[i]], complaint)[0],
            again,
            complaints,
        )
        results.update(zip(again, retried, strict=True))
    return [results[i] for i in range(len(cases))]


def windows_of(sentences: Sequence[Sentence], characters: int) -> list[list[Sentence]]:
    """Sentences in windows of at most `characters` characters each."""
    groups = packed([len(one) for one in sentences], len(sentences) + 1, characters)
    return [[sentences[i] for i in group] for group in groups]


def plan_statements(
    items: Sequence[tuple[str, Sequence[Part]]], window: int
) -> list[tuple[str, list[Sentence], list[Part]]]:
    """Cases for (text, statements or questions): one for each text, window and lot of distinct statements."""
    wanted: dict[str, dict[Part, None]] = {}
    for text, parts in items:
        wanted.setdefault(text, {}).update(dict.fromkeys(parts))
    cases = []
    for text, distinct in wanted.items():
        lots = [list(distinct)[i : i + MOST_STATEMENTS] for i in range(0, len(distinct), MOST_STATEMENTS)]
        cases += [(text, one, lot) for one in windows_of(premise_sentences(text), window) for lot in lots]
    return cases


def collect(
    purpose: str,
    items: Sequence[tuple[str, Sequence[Part]]],
    plan: Sequence[tuple[str, Sequence[Sentence], Sequence[Part]]],
    results: Sequence[Sequence[Found] | JudgeFailure],
    put_together: Callable[[Sequence[Found | JudgeFailure]], Found | JudgeFailure],
) -> list[Sequence[Found | JudgeFailure] | JudgeFailure]:
    """The answers of each item, put together from its windows; one undecided statement makes the item a failure."""
    found: dict[tuple[str, Part], list[Found | JudgeFailure]] = {}
    for (text, _, lot), result in zip(plan, results, strict=True):
        answers: Sequence[Found | JudgeFailure] = [result] * len(lot) if isinstance(result, JudgeFailure) else result
        for part, one in zip(lot, answers, strict=True):
            found.setdefault((text, part), []).append(one)
    out: list[Sequence[Found | JudgeFailure] | JudgeFailure] = []
    for text, parts in items:
        if parts and (text, parts[0]) not in found:
            out.append(JudgeFailure(purpose, "the text holds no sentence"))
            continue
        merged = [put_together(found[text, part]) for part in parts]
        failed = next((one for one in merged if isinstance(one, JudgeFailure)), None)
        out.append(merged if failed is None else failed)
    return out


def plan_units(items: Sequence[tuple[str, Sequence[str] | None]], window: int) -> list[tuple[int, list[str]]]:
    """(item, units) for each window of each item's units."""
    plan = []
    for item, (text, units) in enumerate(items):
        own = list(units) if units is not None else [text]
        plan += [(item, [own[i] for i in group]) for group in packed([len(u) for u in own], len(own) + 1, window)]
    return plan


def plan_texts(purpose: str, items: Sequence[tuple[str, Any]], window: int) -> list[tuple[int, str, Any]]:
    """(item, text of a window, its share of n or of the keyphrases) for each window of each item's text."""
    plan: list[tuple[int, str, Any]] = []
    for item, (text, wanted) in enumerate(items):
        texts = [text[group[0].start : group[-1].end] for group in windows_of(premise_sentences(text), window)]
        if purpose == "keyphrases":
            plan += [(item, one, -(-wanted // len(texts))) for one in texts]
            continue
        home = [next((i for i, one in enumerate(texts) if p.casefold() in one.casefold()), 0) for p in wanted]
        lots = [[p for p, place in zip(wanted, home, strict=True) if place == i] for i in range(len(texts))]
        plan += [(item, one, lot) for one, lot in zip(texts, lots, strict=True) if lot]
    return plan


def rejoined(
    count: int, owners: Sequence[int], results: Sequence[list[Found] | JudgeFailure]
) -> list[list[Found] | JudgeFailure]:
    """The results of each item's windows one after the other; a failure of one window is a failure of the item."""
    out: list[list[Found] | JudgeFailure] = [[] for _ in range(count)]
    for owner, result in zip(owners, results, strict=True):
        before = out[owner]
        if not isinstance(before, JudgeFailure):
            out[owner] = result if isinstance(result, JudgeFailure) else before + result
    return out

"""The statements of a hypothesis by rules: clauses, and the items of a list with the words that lead into them.

Edited directly. A list that was kept together is one hypothesis; its items are its statements.
"""

from __future__ import annotations

from collections.abc import Sequence

from summeval_nb.ground.results import Sentence
from summeval_nb.judged.judging import Statement, as_statement
from summeval_nb.text.lists import before_items, denying_lead, list_parts, with_denying_leads, with_lead
from summeval_nb.text.split import split_claims, split_units

# Part of every judge's fingerprint: raise it when texts are taken apart, lists read or questions made differently, so
# that no store answers with what was said of other statements.
READING = 2


def is_list(text: str) -> bool:
    """Whether a text holds items of a list."""
    return bool(list_parts(text)[1])


def answer_units(text: str, *, keep_lists: bool = False, max_chars: int = 500) -> list[Sentence]:
    """The units of a text; a lead-in with a *not* stays with its first item, for by itself it says nothing.

    Examples
    --------
    >>> [one.text for one in answer_units("It does not include\\n- the very large charger\\n- loss or any damage")]
    ['It does not include\\n- the very large charger', '- loss or any damage']
    """
    units: list[Sentence] = []
    for unit in split_units(text, keep_lists=keep_lists, max_chars=max_chars):
        before, listed = before_items(unit.text)
        lead, already = before_items(units[-1].text) if units else ([], True)
        if listed and not before and not already and denying_lead(lead) and unit.end - units[-1].start <= max_chars:
            units[-1] = Sentence(text[units[-1].start : unit.end], units[-1].start, unit.end)
        else:
            units.append(unit)
    return units


def as_premise(units: Sequence[str]) -> str:
    """Units as one text that can be evidence: each item of a list under a *not* is a sentence with its lead-in.

    Examples
    --------
    >>> as_premise(["It does not cover\\n- scratches\\n- rust", "It is cheap."])
    'It does not cover scratches. It does not cover rust. It is cheap.'
    """
    out = list[str]()
    for unit in with_denying_leads(units):
        lead, items = list_parts(unit)
        denied = items and denying_lead(before_items(unit)[0])
        out += [f"{with_lead(lead, item).rstrip('.;, ')}." for item in items] if denied else [unit]
    return " ".join(out)


def clause_statements(hypothesis: str) -> list[Statement]:
    """Split a hypothesis by clause rules; one without a clause is one statement, and an item of a list is one at least.

    Examples
    --------
    >>> [one.text for one in clause_statements("The price includes:\\n- the charger\\n- a cable")]
    ['The price includes the charger', 'The price includes a cable']
    """
    lead, items = list_parts(hypothesis)
    texts = [with_lead(lead, item) for item in items] if items else [hypothesis]
    found = [as_statement(claim, hypothesis) for text in texts for claim in split_claims(text) or [text]]
    return found or [as_statement(hypothesis, hypothesis)]

"""The statements of a hypothesis by rules: clauses, and the items of a list with the words that lead into them.

Edited directly. A list that was kept together is one hypothesis; its items are its statements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from summeval_nb.ground.results import Sentence
from summeval_nb.judged.judging import Statement, as_statement
from summeval_nb.text.split import split_claims, split_sentences, split_units

_ITEM = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)]|[a-z][.)])\s+(?=\S)")
_NEGATED = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|except|excluding|neither|nor|cannot)\b|n['’]t\b", re.I
)
# what a lead-in ends with when the item goes on with its sentence: "the price includes:", "users can", "you need to"
_GOES_ON = re.compile(
    r"\b(?:includes?|included|contains?|covers?|covered|needs?|requires?|required|has|have|had|is|are|was|were|can|could|may"
    r"|must|should|will|would|to|offers?|provides?|means?|by|with|from|for|of|and|or|that|not|include|contain|cover)\s*:?$",
    re.I,
)


def _list_parts(text: str) -> tuple[str, list[str]]:
    """The words before a list, and its items; no items where there is no list."""
    lead: list[str] = []
    items: list[str] = []
    for line in text.splitlines():
        if _ITEM.match(line):
            items.append(_ITEM.sub("", line).strip())
        elif line.strip():
            if items:
                items[-1] += f" {line.strip()}"
            else:
                lead.append(line.strip())
    return " ".join(lead), items


_TURNED = re.compile(r"^(?:These|The following(?: \w+)?) (?P<rest>(?:are|were|is|was|can|may|must|will|do)\b.+?):?$")


def is_list(text: str) -> bool:
    """Whether a text holds items of a list."""
    return bool(_list_parts(text)[1])


def _denying_lead(lines: Sequence[str]) -> str:
    """The unfinished sentence with a *not* that these lines end with; '' if they end with none."""
    last = split_sentences(" ".join(line.strip() for line in lines))[-1:]
    ends = not last or last[0].text.endswith((".", "!", "?"))
    return "" if ends or not _NEGATED.search(last[0].text) else last[0].text


def _before_items(unit: str) -> tuple[list[str], bool]:
    """The lines of a unit before its first item, and whether it has one."""
    lines = [line for line in unit.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if _ITEM.match(line)), None)
    return lines[:first], first is not None


def answer_units(text: str, *, keep_lists: bool = False, max_chars: int = 500) -> list[Sentence]:
    """The units of a text; a lead-in with a *not* stays with its first item, for by itself it says nothing.

    Examples
    --------
    >>> [one.text for one in answer_units("It does not include\\n- the very large charger\\n- loss or any damage")]
    ['It does not include\\n- the very large charger', '- loss or any damage']
    """
    units: list[Sentence] = []
    for unit in split_units(text, keep_lists=keep_lists, max_chars=max_chars):
        before, listed = _before_items(unit.text)
        lead, already = _before_items(units[-1].text) if units else ([], True)
        if listed and not before and not already and _denying_lead(lead) and unit.end - units[-1].start <= max_chars:
            units[-1] = Sentence(text[units[-1].start : unit.end], units[-1].start, unit.end)
        else:
            units.append(unit)
    return units


def with_denying_leads(units: Sequence[str]) -> list[str]:
    """The units of a text as they are read: items whose lead-in holds a *not* stand below it, others by themselves.

    A bare item under "The warranty does not cover" is no assertion: what the text says of it is in the lead-in.

    Examples
    --------
    >>> with_denying_leads(["It does not cover\\n- scratches", "- rust", "It covers", "- the motor"])
    ['It does not cover\\n- scratches', 'It does not cover\\n- rust', 'It covers', '- the motor']
    """
    lead, out = "", list[str]()
    for unit in units:
        before, listed = _before_items(unit)
        if before or not listed:
            lead = _denying_lead(before)
        out.append(f"{lead}\n{unit}" if lead and not before else unit)
    return out


def _is_plural(item: str) -> bool:
    head = re.split(r" (?:of|against|for|in|on|with|from|to|at|by|that|which) ", item)[0].rstrip(".;,")
    return " and " in head or (head.endswith("s") and not head.endswith("ss"))


def _with_lead(lead: str, item: str) -> str:
    """An item as a statement: with its lead-in where the sentence goes on or a *not* stands in it, otherwise alone."""
    turned = _TURNED.match(lead)
    if turned:  # "These are not included:" and "- the charger" is "The charger are not included"
        rest = (
            turned["rest"] if _is_plural(item) else re.sub(r"^are\b", "is", re.sub(r"^were\b", "was", turned["rest"]))
        )
        return f"{item[:1].upper()}{item[1:].rstrip('.;,')} {rest}"
    goes_on = not lead.endswith(":") or _GOES_ON.search(lead) is not None
    if not lead or lead.endswith((".", "!", "?")) or not (goes_on or _NEGATED.search(lead)):
        return item
    if not _GOES_ON.search(lead) and lead.endswith(":"):
        return f"{lead} {item}"
    return f"{lead.rstrip(': ')} {item}"


def as_premise(units: Sequence[str]) -> str:
    """Units as one text that can be evidence: each item of a list under a *not* is a sentence with its lead-in.

    Examples
    --------
    >>> as_premise(["It does not cover\\n- scratches\\n- rust", "It is cheap."])
    'It does not cover scratches. It does not cover rust. It is cheap.'
    """
    out = list[str]()
    for unit in with_denying_leads(units):
        lead, items = _list_parts(unit)
        denied = items and _denying_lead(_before_items(unit)[0])
        out += [f"{_with_lead(lead, item).rstrip('.;, ')}." for item in items] if denied else [unit]
    return " ".join(out)


def clause_statements(hypothesis: str) -> list[Statement]:
    """Split a hypothesis by clause rules; one without a clause is one statement, and an item of a list is one at least.

    Examples
    --------
    >>> [one.text for one in clause_statements("The price includes:\\n- the charger\\n- a cable")]
    ['The price includes the charger', 'The price includes a cable']
    """
    lead, items = _list_parts(hypothesis)
    texts = [_with_lead(lead, item) for item in items] if items else [hypothesis]
    found = [as_statement(claim, hypothesis) for text in texts for claim in split_claims(text) or [text]]
    return found or [as_statement(hypothesis, hypothesis)]

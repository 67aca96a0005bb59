"""The statements of a hypothesis by rules: clauses, and the items of a list with the words that lead into them.

Edited directly. A list that was kept together is one hypothesis; its items are its statements.
"""

from __future__ import annotations

import re

from summeval_nb.judged.judging import Statement, as_statement
from summeval_nb.text.split import split_claims

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


def is_open_list(text: str) -> bool:
    """Whether a text is a list that can also be read without its lead-in: one without a *not*."""
    lead, items = _list_parts(text)
    return bool(items) and not _NEGATED.search(lead)


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

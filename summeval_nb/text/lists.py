"""Items of a list, and the words that lead into them: what an item under a *not* says stands in its lead-in.

`evaluate`, the judges and the retrieval measures read lists by these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from summeval_nb.text.markdown import HEADING
from summeval_nb.text.split import Reading, split_sentences

_ITEM = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)]|[a-z][.)])\s+(?=\S)")
_NEGATED = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|except|excluding|neither|nor|cannot)\b|n['’]t\b", re.I
)
# a heading that denies what is listed below it: "Not supported yet", "What the fee does not cover"
_DENIES = re.compile(r"\b(?:(?:not|never)(?! (?:only|just|to)\b)|no longer|cannot)\b|n['’]t\b", re.I)
# what a lead-in ends with when the item goes on with its sentence: "the price includes:", "users can", "you need to"
_GOES_ON = re.compile(
    r"\b(?:includes?|included|contains?|covers?|covered|needs?|requires?|required|has|have|had|is|are|was|were|can|could|may"
    r"|must|should|will|would|to|offers?|provides?|means?|by|with|from|for|of|and|or|that|not|include|contain|cover)\s*:?$",
    re.I,
)
_TURNED = re.compile(r"^(?:These|The following(?: \w+)?) (?P<rest>(?:are|were|is|was|can|may|must|will|do)\b.+?):?$")
# why the words before such a list are not judged by themselves
LEADS = "it leads into a list, whose items are read with it"


def list_parts(text: str) -> tuple[str, list[str]]:
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


def denying_lead(lines: Sequence[str]) -> str:
    """The unfinished sentence with a *not* that these lines end with; '' if they end with none."""
    joined = " ".join(line.strip() for line in lines)
    if not _NEGATED.search(joined):
        return ""
    last = split_sentences(joined, lang="en")[-1:]
    ends = not last or last[0].text.endswith((".", "!", "?"))
    return "" if ends or not _NEGATED.search(last[0].text) else last[0].text


def before_items(unit: str) -> tuple[list[str], bool]:
    """The lines of a unit before its first item, and whether it has one."""
    lines = [line for line in unit.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if _ITEM.match(line)), None)
    return lines[:first], first is not None


def with_denying_leads(units: Sequence[str]) -> list[str]:
    """The units of a text for judging: an item joins its lead-in if that holds a *not*, other items stand alone.

    A bare item under "The warranty does not cover" is no assertion: what the text says of it is in the lead-in.

    Examples
    --------
    >>> with_denying_leads(["It does not cover\\n- scratches", "- rust", "It covers", "- the motor"])
    ['It does not cover\\n- scratches', 'It does not cover\\n- rust', 'It covers', '- the motor']
    """
    lead, out = "", list[str]()
    for unit in units:
        before, listed = before_items(unit)
        if before or not listed:
            lead = denying_lead(before)
        out.append(f"{lead}\n{unit}" if lead and not before else unit)
    return out


def _is_plural(item: str) -> bool:
    head = re.split(r" (?:of|against|for|in|on|with|from|to|at|by|that|which) ", item)[0].rstrip(".;,")
    return " and " in head or (head.endswith("s") and not head.endswith("ss"))


def with_lead(lead: str, item: str) -> str:
    """An item as a statement: with its lead-in where the sentence continues or the lead-in denies, otherwise alone."""
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


class LedReading(Reading):
    """A list's item that is read with its lead-in; what stands in the lead-in is the whole item's."""

    def in_sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return where `plain[start:end]` stands in the item; all of it where it stands in the lead-in only."""
        own = [i for i in range(start, end) if self.places[i] >= 0]
        own = own or [i for i, place in enumerate(self.places) if place >= 0]
        return self.places[own[0]], self.ends[own[-1]] if self.ends else self.places[own[-1]] + 1

    @property
    def reworded(self) -> bool:
        """Whether a checker reads other words than stand in the sentence: the lead-in's, at least."""
        return True


def read_with_leads(text: str, readings: Sequence[Reading]) -> list[Reading]:
    """The sentences of a text as they are read: an item under a *not* with its lead-in, which says nothing alone.

    Examples
    --------
    >>> from summeval_nb.text.split import split_markdown
    >>> text = "The warranty does not cover:\\n- scratches\\n- rust"
    >>> [reading.plain for reading in read_with_leads(text, split_markdown([text], progress=False)[0])]
    ['The warranty does not cover:', 'The warranty does not cover scratches', 'The warranty does not cover rust']
    """
    units = [_unit(text, reading) for reading in readings]
    read = with_denying_leads(units)
    leads = leads_into_items(units, read)
    return [
        reading._replace(reason=reading.reason or LEADS)
        if leading
        else reading
        if whole == unit or not reading.plain.rstrip(".;,")
        else _led(reading, with_lead(whole.partition("\n- ")[0], reading.plain))
        for reading, unit, whole, leading in zip(readings, units, read, leads, strict=True)
    ]


def _unit(text: str, reading: Reading) -> str:
    """The text by which a sentence is grouped: an item keeps its marker, a heading counts only where it denies its
    items."""
    if reading.reason:
        return f"{reading.plain}:" if reading.reason == HEADING and _DENIES.search(reading.plain) else ""
    return f"- {reading.plain}" if _is_item(text, reading) else reading.plain


def leads_into_items(units: Sequence[str], read: Sequence[str]) -> list[bool]:
    """Whether each unit is only the lead-in of the next one, and so no statement.

    Examples
    --------
    >>> leads_into_items(["It is not", "- red"], ["It is not", "It is not\\n- red"])
    [True, False]
    """
    led = [reading != own for reading, own in zip(read, units, strict=True)]
    return [
        not own and following and not before_items(unit)[1]
        for unit, (own, following) in zip(units, pairwise([*led, False]), strict=True)
    ]


def _is_item(text: str, reading: Reading) -> bool:
    """Whether a sentence opens an item of a list."""
    place = reading.sentence.start
    return _ITEM.match(text[text.rfind("\n", 0, place) + 1 : place] + "x") is not None


def _led(reading: Reading, plain: str) -> LedReading:
    """A reading with the words of an item and of its lead-in; the lead-in has no places in the text."""
    own = reading.plain.rstrip(".;,")
    start = len(plain) - len(reading.plain) if plain.endswith(reading.plain) else 0
    after = len(plain) - start - len(own)
    places = [*[-1] * start, *reading.places[: len(own)], *[-1] * after]
    ends = [*[-1] * start, *reading.ends[: len(own)], *[-1] * after] if reading.ends else ()
    return LedReading(reading.sentence, plain, places, reading.reason, ends=ends)

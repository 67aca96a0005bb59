# A plain private module: edited directly, exported by no notebook, tested in tests/test_entities.py.
"""Names, numbers and dates of an English sentence, by rules; or by a stanza pipeline that is handed over."""

from __future__ import annotations

import re

from ._arcs import Annotator

_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_COMMON = (
    "A An The This That These Those He She It They We I You His Her Its Their Our My Your In On At By For From To With "
    "After Before When While As If But And Or So Yet Not No Some Many Most All Both Each Every One Two Three There "
    "Here Then Now What Who Why How Where According However Meanwhile Although Though Because Since During Under Over"
)
_OPENERS = "|".join(_COMMON.split())
_ENTITY = re.compile(
    rf"(?P<DATE>(?:\d{{1,2}}(?:st|nd|rd|th)?\s+)?{_MONTH}(?:\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\d))?(?:,?\s+\d{{4}})?"
    r"|\b(?:1[5-9]|20)\d\d\b)"
    r"|(?P<NUMBER>[$€£]?\d[\d,.]*\d%?|[$€£]?\d%?)"
    rf"|(?P<NAME>\b(?!(?:{_OPENERS})\b)[A-Z][\w’'-]*(?:\s+(?:(?:of|the|de|van|von|da|bin)\s+)?[A-Z][\w’'-]*)*)"
)


def entities_by_rules(sentence: str) -> list[tuple[int, int, str]]:
    """(start, end, type) of names, numbers and dates."""
    return [(*match.span(), str(match.lastgroup)) for match in _ENTITY.finditer(sentence)]


def entities(sentence: str, annotator: Annotator | None) -> list[tuple[int, int, str]]:
    """(start, end, type) by rules, or as the pipeline finds them that was handed over."""
    if annotator is None:
        return entities_by_rules(sentence)
    return [(one.start_char, one.end_char, one.type) for one in annotator(sentence).ents]

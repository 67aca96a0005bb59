"""Retrieved passages as a table holds them: a list of texts, one text, or a list that a file wrote down as a text."""

from __future__ import annotations

import ast
import json
import re

from .base import is_listed, require_text, require_texts, short_repr

__all__ = ["require_passages", "require_truth"]

# A string as Python's `repr` writes it. Only its own escapes are read, so that each is one that Python knows.
_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_STRING = rf"'(?:[^'\\\n]|{_ESCAPE})*'|\"(?:[^\"\\\n]|{_ESCAPE})*\""
_ITEM = re.compile(rf"(?:np\.str_\()?({_STRING})\)?(\s*,\s*|\s+|(?=[\])]))")
_OPENING = re.compile(r"((?:np\.|numpy\.)?array\()?([\[(])\s*(?=(?:np\.str_\()?['\"])")
_CLOSING = re.compile(r"[\])](?:,\s*dtype=[^()\n]{1,20})?\)?\Z")

# What tells a list that cannot be read from a sentence in brackets: several strings, and an end or none at all.
_SEVERAL = re.compile(r"['\"](?:\s*,\s*|\s+)(?:['\"]|None\b|nan\b|null\b|NaN\b)")
_ENDED = re.compile(r"(?:['\"]|\bNone|\bnan|\bnull|\bNaN)\s*\](?:,\s*dtype=[^()\n]{1,20})?\)?\Z")
_CUT_OFF = re.compile(r"(?:'[^']*|\"[^\"]*)?\Z")
_OBJECTS = re.compile(r"\[\s*(?:[A-Z]\w{0,60}\(\w{1,60}=|[\[({]\s*['\"])")


def require_passages(value: object, name: str) -> list[str]:
    """Return retrieved passages as a list: the texts of a list, or one text.

    A text that is wholly a list of texts is read as that list: JSON, or a list or an array as Python prints it. This
    is how a CSV holds a list.

    Parameters
    ----------
    value : str or sequence of str
        What a row holds.
    name : str
        What messages call it.

    Raises
    ------
    TypeError
        If it is neither a text nor a list of texts.
    ValueError
        If a text begins like the text of a list and cannot be read as one.

    Examples
    --------
    >>> require_passages("['It rained.' \\"It's dry.\\"]", "contexts")
    ['It rained.', "It's dry."]
    >>> require_passages("[1] It rained.", "contexts")
    ['[1] It rained.']
    """
    if not isinstance(value, str):
        return require_texts(value, name)
    text = value.strip()
    texts = _read(text)
    if texts is None and _looks_written(text):
        remedy = (
            "pass a list of texts, which json.loads reads from JSON and ast.literal_eval from a list that was printed"
        )
        raise ValueError(
            f"{name} looks like the text of a list and cannot be read as one ({short_repr(value)}): {remedy}"
        )
    return [value] if texts is None else texts


def require_truth(value: object, name: str) -> str:
    """Return the true answer of a row, which may stand alone in a list or in the text of a list.

    Raises
    ------
    TypeError
        If it is neither a text nor a list of texts.
    ValueError
        If there are several, or none; the message says what to do.

    Examples
    --------
    >>> require_truth(["It rained."], "truth"), require_truth("['It rained.']", "truth")
    ('It rained.', 'It rained.')
    """
    single = isinstance(value, str) or not is_listed(value)
    texts = require_passages(require_text(value, name), name) if single else require_texts(value, name)
    if len(texts) != 1:
        remedy = "join the parts of one answer to one text, or make a row of each answer"
        raise ValueError(f"{name} must be one true answer, not {len(texts)} ({short_repr(value)}): {remedy}")
    return texts[0]


def _read(text: str) -> list[str] | None:
    """The texts of a list that was written down; None where the text is something else."""
    if not text.endswith(("]", ")")):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _printed(text)
    return found if isinstance(found, list) and all(isinstance(part, str) for part in found) else None


def _strings(text: str, place: int) -> tuple[list[str], list[str], int]:
    """The strings that stand in a row from a place on, what separates them, and where they end."""
    strings, separators = [], []
    while item := _ITEM.match(text, place):
        strings.append(item[1])
        separators.append(item[2].strip())
        place = item.end()
    return strings, separators, place


def _printed(text: str) -> list[str] | None:
    """The texts of a list, tuple or array as Python or numpy prints it: one kind of separator between all of them."""
    opened = _OPENING.match(text)
    if opened is None:
        return None
    strings, separators, end = _strings(text, opened.end())
    no_tuple = opened[2] == "(" and "," not in separators
    if no_tuple or len(set(separators[:-1])) > 1 or not _CLOSING.match(text, end):
        return None
    try:
        return [ast.literal_eval(string) for string in strings]
    except (ValueError, SyntaxError):  # a character that there is not
        return None


def _looks_written(text: str) -> bool:
    """Whether a text that cannot be read as a list was one: cut off, badly quoted, or a list of something else."""
    if _OBJECTS.match(text):
        return text.endswith("]")
    opened = _OPENING.match(text)
    if opened is None or opened[2] == "(" or not _SEVERAL.search(text):
        return False
    return bool(_ENDED.search(text) or _CUT_OFF.match(text, _strings(text, opened.end())[2]))

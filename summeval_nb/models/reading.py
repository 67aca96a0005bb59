"""A model's reply read: as JSON, or as one of some options, without what models write around either."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from summeval_nb.text.wrapping import cut_out, reasoning_spans

if TYPE_CHECKING:
    import pydantic

__all__ = ["Objects", "read_choice", "read_reply", "written_objects"]

Schema = TypeVar("Schema", bound="pydantic.BaseModel")

# Each alternative reads on from where it begins, a string that never ends too: so the whole is linear in the length.
_OPENING = re.compile(r"\{(?=\s*(?:[\"}]|\Z))")
_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"?|[{}\[\]]|,(?=\s*[}\]])", re.DOTALL)


class Objects(NamedTuple):
    """The outermost JSON objects of a reply, and whether the reply ends before it is done."""

    whole: list[str]
    cut_off: bool


def written_objects(reply: str) -> Objects:
    """Return the JSON objects that stand in a reply, whatever is around them; nothing is evaluated.

    Reasoning between tags is passed over, and a comma before a closing bracket is left out. A reply is cut off where
    its last object, or its reasoning, never ends.

    Examples
    --------
    >>> written_objects('Here it is: {"label": "a }", "parts": [1, 2,],} Anything else?')
    Objects(whole=['{"label": "a }", "parts": [1, 2]}'], cut_off=False)
    >>> written_objects('{"label": "a')
    Objects(whole=[], cut_off=True)
    """
    spans = reasoning_spans(reply)
    text = cut_out(reply, spans)
    whole: list[str] = []
    place = 0
    while opening := _OPENING.search(text, place):
        start, depth, pieces = opening.start(), 0, []
        for token in _TOKEN.finditer(text, start):
            sign = token[0]
            if sign == ",":
                pieces.append(text[start : token.start()])
                start = token.end()
            depth += (sign in ("{", "[")) - (sign in ("}", "]"))
            if not depth:
                break
        else:
            return Objects(whole, True)
        place = token.end()
        whole.append("".join([*pieces, text[start:place]]))
    return Objects(whole, bool(spans) and not text.strip())


def read_reply(schema: type[Schema], reply: str) -> Schema | str:
    """Return the one instance of a pydantic model that a reply holds, or what is wrong with the reply.

    A reply that is JSON as it stands is taken as that. Of another one, its objects are tried, and all that fit the
    schema must say the same.
    """
    import pydantic

    try:
        return schema.model_validate_json(reply)
    except pydantic.ValidationError as error:
        wrong = str(error.errors(include_url=False, include_input=False)[0]["msg"])
    fitting: list[Schema] = []
    for written in written_objects(reply).whole:
        try:
            found = schema.model_validate_json(written)
        except pydantic.ValidationError as error:
            wrong = str(error.errors(include_url=False, include_input=False)[0]["msg"])
            continue
        if found not in fitting:
            fitting.append(found)
        if len(fitting) > 1:
            return "it holds several objects that differ"
    return fitting[0] if fitting else wrong


_MARKUP = r"[\s*_\"'`#>(\[\u201c\u2018]*"
_SAYS = rf"(?:answer|choice|grade|label|rating|score|verdict){_MARKUP}(?:is)?{_MARKUP}[:=]?{_MARKUP}"
_MOST_READ = 500  # characters of a reply's beginning, and of its end


def read_choice(reply: str, options: Sequence[str]) -> str | None:
    """Return the option that a reply states at its beginning or its end; None for none, and for two that differ.

    A word within a sentence states nothing: "there is no rain" does not say no.

    Examples
    --------
    >>> read_choice("**Yes.** The evidence says so.", ["yes", "no"])
    'yes'
    >>> read_choice("<think>Is it? No...</think> My answer is: no", ["yes", "no"])
    'no'
    >>> read_choice("There is no way to know.", ["yes", "no"])
    """
    named = {option.casefold(): option for option in options}
    text = cut_out(reply, reasoning_spans(reply)).strip()
    if text.casefold() in named:
        return named[text.casefold()]
    either = "|".join(re.escape(option) for option in sorted(options, key=len, reverse=True))
    said = [str(value) for written in written_objects(reply).whole for value in _answer_in(written)]
    stated = rf"(?<!\w)({either})(?![.,]\d)(?!\w)"
    ends = r"\s*(?:/\s*\d|out of\b|\Z|[^\w\s/])"
    first = re.match(
        rf"{_MARKUP}(?:(?:the |my )?(?:final )?{_SAYS})?{stated}(?=[^\S\n]*\n|{ends})", text[:_MOST_READ], re.I
    )
    last = re.search(rf"(?:{_SAYS}|\n{_MARKUP}){stated}(?:\s*(?:/|out of)\s*\d+)?[\W_]*\Z", text[-_MOST_READ:], re.I)
    said += [found[1] for found in (first, last) if found]
    known = {named.get(word.casefold()) for word in said}
    return known.pop() if len(known) == 1 else None


def _answer_in(written: str) -> list[object]:
    """What an object of JSON says under "answer", or under its only name."""
    with suppress(ValueError, RecursionError):
        fields = json.loads(written)
        return [value for name, value in fields.items() if name == "answer" or len(fields) == 1]
    return []

"""A model's reply read: as JSON, or as one of some options, without what models write around either."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
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
_NAMES = r"(?:the |my )?(?:final |overall )?(?:answer|choice|grade|label|rating|score|verdict)"
_SAYS = rf"{_NAMES}{_MARKUP}(?:is)?{_MARKUP}[:=]?{_MARKUP}"
_MOST_READ = 2000  # characters of a reply's beginning, and of its end


def read_choice(reply: str, options: Sequence[str]) -> str | None:
    r"""Return the option that a reply states; None for none, and where it states two that differ.

    An option is stated at the beginning or the end, after a name such as "Grade:", in double brackets, or under
    "answer" in JSON. A word within a sentence states nothing: "there is no rain" does not say no. The number or letter
    of a list item states nothing either, nor does an end of a range.

    Examples
    --------
    >>> read_choice("**Yes.** The evidence says so.", ["yes", "no"])
    'yes'
    >>> read_choice("<think>Is it? No...</think> My answer is: no", ["yes", "no"])
    'no'
    >>> read_choice("There is no way to know.", ["yes", "no"])
    >>> read_choice("1. It is faithful.\n2. It is short.\n\nGrade: 4", ["1", "2", "3", "4", "5"])
    '4'
    >>> read_choice("Yes. No, wait: the year differs.", ["yes", "no"])
    """
    named = {option.casefold(): option for option in options}
    whole = cut_out(reply, reasoning_spans(reply)).strip()
    if whole.casefold() in named:
        return named[whole.casefold()]
    said = [str(value) for written in written_objects(reply).whole for value in _answer_in(written)]
    either = "|".join(re.escape(option) for option in sorted(options, key=len, reverse=True))
    option = rf"(?<![\w-])({either})(?![.,]\d)(?!\w)"
    single = rf"{option}(?!{_MARKUP}\s*(?:[-\u2013\u2014]|to\b|or\b)\s*\d)"  # and no range
    ends = r"(?=[^\S\n]*\n|\s*(?:/\s*\d|out of\b|\Z|[^\w\s/]))"
    listed = r"(?!\d|[a-z][.):])" if _is_list(whole, named) else ""
    for text in dict.fromkeys([whole[:_MOST_READ], whole[-_MOST_READ:]]):
        said += re.findall(rf"\[\[\s*({either})\s*\]\]", text, re.I)
        said += re.findall(
            rf"(?:\A|\n|[.!?]\s){_MARKUP}{_NAMES}{_MARKUP}(?:is|[:=]){_SAYS[len(_NAMES) :]}{single}{ends}", text, re.I
        )
    first = re.match(rf"{_MARKUP}(?:{_SAYS})?{listed}{single}{ends}", whole[:_MOST_READ], re.I)
    last = rf"(?:{_SAYS}|\n{_MARKUP}){single}(?:\s*(?:/|out of)\s*\d+)?[\W_]*\Z"
    said += [found[1] for found in (first, re.search(last, whole[-_MOST_READ:], re.I)) if found]
    if said and not any(map(str.isdigit, options)):  # a later sentence that ends or opens with another takes it back
        closing = rf"(?<=[\s:]){option}(?=[*_\"'`)]*(?:[.!?\n]|\Z))"
        opening = rf"(?<=[.!?:;\n]){_MARKUP}{option}(?=\s*[,.;:!\n])"
        said += [
            word for rule in (closing, opening) for word in re.findall(rule, whole[:_MOST_READ], re.I) if len(word) > 1
        ]
    known = {named.get(word.casefold()) for word in said}
    return known.pop() if len(known) == 1 else None


def _is_list(text: str, named: Collection[str]) -> bool:
    """Whether a reply begins as a list does: "1. …" or "A) …" where such a mark is an option, or two such lines."""
    mark = re.match(r"[\s*_#]*(\w{1,2})[.)][*_]*\s+[*_]*\w", text)
    if mark and mark[1].casefold() in named and (mark[1].isdigit() or len(mark[1]) == 1):
        return True
    lines = re.findall(r"^[ \t*_#]*(\w{1,2})[.):]", text, re.M)
    return len({word.casefold() for word in lines} & {*named}) > 1


def _answer_in(written: str) -> list[object]:
    """What an object of JSON says under "answer", or under its only name."""
    with suppress(ValueError, RecursionError):
        fields = json.loads(written)
        return [value for name, value in fields.items() if name == "answer" or len(fields) == 1]
    return []

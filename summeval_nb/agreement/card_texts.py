"""Texts for a metric's card: the same text in other clothes, and items whose changes make it false or worse."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from summeval_nb.core.base import JsonDict, require_count, require_text, require_texts, short_repr
from summeval_nb.evidence.labelled import asset, asset_path

__all__ = ["CELLS", "GOOD", "KINDS", "MARKS", "ORDER", "OTHER", "WRAPPERS", "card_items", "changed", "date_forms"]

Rewrite: TypeAlias = Callable[[str], str]

# The same text in other clothes; the everyday set of `benchmarks/everyday.py` wears them, too.

MONTHS = "January February March April May June July August September October November December".split()


def date_forms(year: int, month: int, day: int) -> list[str]:
    """Return a date as people write it; the day is greater than 12.

    Examples
    --------
    >>> date_forms(2019, 1, 15)[:3]
    ['January 15, 2019', '15 January 2019', 'Jan 15, 2019']
    """
    name = MONTHS[month - 1]
    return [
        f"{name} {day}, {year}",
        f"{day} {name} {year}",
        f"{name[:3]} {day}, {year}",
        f"{day} {name[:3]} {year}",
        f"{year}-{month:02}-{day}",
        f"{day}/{month:02}/{year}",
        f"{day}.{month:02}.{year}",
    ]


def _rewrite(form: str) -> Rewrite:
    """What puts a text into a form, which may ask for it `bare`, without its full stop, and for its number of words."""
    return lambda text: form.format(text=text, bare=text.rstrip("."), words=len(text.split()))


_FORMS = asset("card_forms.json")
MARKS, WRAPPERS = (tuple(map(_rewrite, _FORMS[name])) for name in ("marks", "wrappers"))
SPACES: tuple[Rewrite, ...] = (
    lambda text: text.replace(" ", "  "),
    lambda text: f"\n{text}\n\n",
    lambda text: f"  {text}\t",
    lambda text: text.replace(" ", "\u00a0"),
    lambda text: text.replace(" ", "\n", 4).replace("\n", " ", 3),  # a line ends after the fourth word
)


# Items, and what becomes of them

GOOD, OTHER, ORDER = "good candidate", "another text", "order of references"
CELLS = ("candidate", "summary", "references", "text", "source", "contexts")  # what an item has for a metric
KINDS = dict.fromkeys(("citation marks", "date forms", "wrappers", ORDER, "white space"), "invariance")
KINDS |= dict.fromkeys((OTHER, "number changed", "negation", "roles exchanged"), "direction")
KINDS |= dict.fromkeys(("padding", "repetition", "truncation"), "direction")
_TEXTS, _LISTS = ("candidate", "a", "b", "date"), ("references", "source", "number", "verb")
_SLOTS = ("a", "b", "number", "verb", "date")
_SLOT = re.compile(rf"\{{({'|'.join(_SLOTS)})\}}")
_DAY = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(1[3-9]|2\d|3[01])")


def _checked(item: object, where: str) -> JsonDict:
    """An item whose fields have the form that `metric_card` describes; the field that has not is named."""
    if not isinstance(item, Mapping) or any(name not in item for name in _TEXTS + _LISTS):
        raise ValueError(f"{where} must map {', '.join(_TEXTS + _LISTS)} to texts, not be {short_repr(item)}")
    own: JsonDict = {name: require_text(item[name], f"{where}, {name}") for name in _TEXTS}
    own |= {name: require_texts(item[name], f"{where}, {name}") for name in _LISTS}
    if lacking := [slot for slot in _SLOTS if f"{{{slot}}}" not in own["candidate"]]:
        raise ValueError(f"{where}, candidate has no {{{lacking[0]}}}: write {{{lacking[0]}}} where it belongs")
    for name in _LISTS:
        if not own[name] or (name in ("number", "verb") and (len(own[name]) != 2 or len({*own[name]}) != 2)):
            wanted = "a text at least" if name in ("references", "source") else "two texts, the right and a wrong one"
            raise ValueError(f"{where}, {name} must hold {wanted}, not {short_repr(item[name])}")
    if not _DAY.fullmatch(own["date"]):
        raise ValueError(f"{where}, date must be like '2021-03-14', its day from 13 on, not {short_repr(item['date'])}")
    return own


def card_items(
    items: Sequence[Mapping[str, Any]] | None, limit: int | None, rng: np.random.Generator
) -> list[JsonDict]:
    """Return the items of a card, the package's or those given, checked; with `limit` so many, drawn by lot."""
    if items is None:
        lines = asset_path("card_items.jsonl").read_text(encoding="utf-8").splitlines()
        items = [json.loads(line) for line in lines]
    elif isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Sequence):
        raise TypeError(f"items must be a list of mappings, not {type(items).__name__}")
    checked = [_checked(item, f"items[{place}]") for place, item in enumerate(items)]
    if limit is not None and require_count(limit, "limit", minimum=2) < len(checked):
        checked = [checked[place] for place in sorted(rng.permutation(len(checked))[:limit])]
    if len(checked) < 2:
        raise ValueError(f"a card needs two items at least, not {len(checked)}: each is compared with another's text")
    return checked


def _filled(template: str, values: Mapping[str, str]) -> str:
    text = _SLOT.sub(lambda slot: values[slot[1]], template)
    return text[:1].upper() + text[1:]


def _cells(candidate: str, references: list[str], source: list[str]) -> JsonDict:
    text = " ".join(source)
    return dict(zip(CELLS, (candidate, candidate, references, text, text, source), strict=True))


def changed(items: Sequence[JsonDict], start: int) -> list[dict[str, JsonDict]]:
    """Return what a metric is given of each item, by the name of the change; forms rotate from `start`."""
    forms = [date_forms(*map(int, item["date"].split("-"))) for item in items]
    values = [
        {"a": item["a"], "b": item["b"], "number": item["number"][0], "verb": item["verb"][0], "date": form[1]}
        for item, form in zip(items, forms, strict=True)
    ]
    every = []
    for place, item in enumerate(items):
        right, turn, far = values[place], start + place, (place + len(items) // 2) % len(items)
        dates = [form for form in forms[place] if form != right["date"]]  # "May" is its own short form
        other, template = items[far], item["candidate"]
        good = _filled(template, right)
        words = good.split()
        texts = {
            GOOD: good,
            OTHER: _filled(other["candidate"], values[far]),
            "citation marks": MARKS[turn % len(MARKS)](good),
            "date forms": _filled(template, right | {"date": dates[turn % len(dates)]}),
            "wrappers": WRAPPERS[turn % len(WRAPPERS)](good),
            "white space": SPACES[turn % len(SPACES)](good),
            "number changed": _filled(template, right | {"number": item["number"][1]}),
            "negation": _filled(template, right | {"verb": item["verb"][1]}),
            "roles exchanged": _filled(template, right | {"a": item["b"], "b": item["a"]}),
            "padding": f"{good} {_filled(other['source'][0], values[far])}",
            "repetition": f"{good} {good}",
            "truncation": " ".join(words[: len(words) // 2]) + ".",
        }
        references, source = ([_filled(text, right) for text in item[name]] for name in ("references", "source"))
        cells = {name: _cells(text, references, source) for name, text in texts.items()}
        every.append(cells | {ORDER: _cells(good, references[::-1], source[::-1])})
    return every

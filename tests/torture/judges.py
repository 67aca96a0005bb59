"""What may come of a call: numbers that are numbers, pages that hold no markup of the input, quiet terminals."""

from __future__ import annotations

import contextlib
import html.parser
import inspect
import json
import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import numpy as np

from .corpus import MARK
from .harness import Wrong


def _words(text: str) -> set[str]:
    return set(text.split())


ELEMENTS = _words(
    "html head meta title style body main header footer nav section article figure figcaption h1 h2 h3 h4 "
    "p div span small strong em b i code pre blockquote ol ul li dl dt dd table caption thead tbody tfoot "
    "tr th td br sup sub details summary mark a svg g rect circle line path text tspan polyline polygon "
    "desc img label input "
)
ATTRIBUTES = _words(
    "lang charset name content http-equiv class id style title role scope tabindex open href colspan "
    "rowspan width height viewbox x y x1 x2 y1 y2 cx cy r d fill stroke stroke-width stroke-dasharray "
    "font-size font-weight text-anchor transform points opacity fill-opacity aria-label aria-hidden "
    "aria-labelledby aria-describedby dir rx ry dx dy dominant-baseline data-mime src alt border for type "
    "checked hidden translate start "
)
WORDS = {"title", "aria-label", "alt", "content"}  # attributes that hold text of the input, as text
PROPERTY = re.compile(r"^(--)?[a-z-]+$")


class _Page(html.parser.HTMLParser):
    """Collects what in a page is markup."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS:
            self.bad.append(f"<{tag}>")
        for name, value in attributes:
            if name not in ATTRIBUTES:
                self.bad.append(f"<{tag} {name}=...>")
            elif name not in WORDS and MARK in (value or ""):
                self.bad.append(f'<{tag} {name}="{value}">')
            elif name == "style":
                self.bad += [
                    f"style {value!r}" for declaration in _declarations(value or "") if not _allowed(declaration)
                ]
            elif name in ("href", "src") and not re.match(r"#|data:image/|https://summeval-nb\.", value or ""):
                self.bad.append(f'<{tag} {name}="{value}">')

    def handle_comment(self, data: str) -> None:
        if data != " summeval ":  # by which a page is known as ours
            self.bad.append(f"<!--{data[:40]}")

    def unknown_decl(self, data: str) -> None:
        self.bad.append(f"<![{data[:40]}")


def _declarations(style: str) -> list[str]:
    return [part.strip() for part in style.split(";") if part.strip()]


def _allowed(declaration: str) -> bool:
    name, colon, value = declaration.partition(":")
    return bool(colon and PROPERTY.match(name.strip())) and not re.search(r"url|fixed|absolute|expression|@", value)


def page(text: str, of: str) -> None:
    """A page or a fragment holds no element, attribute, property or address that is not its maker's."""
    parser = _Page()
    parser.feed(text)
    parser.close()
    found = [*parser.bad, *_styles(text)]
    if found:
        raise Wrong(f"{of} holds markup of the input: {found[:5]}", f"markup in {of.split(' of ')[0]}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Wrong(f"{of} cannot be written as UTF-8: {error}", f"surrogates in {of.split(' of ')[0]}") from None


def _styles(text: str) -> list[str]:
    """Style sheets with the mark in them."""
    return [style[:80] for style in re.findall(r"<style[^>]*>(.*?)</style>", text, re.S) if MARK in style]


def terminal(text: str, of: str) -> None:
    """Text for a terminal holds no control characters and nothing that turns the direction of text round."""
    bare = re.sub(r"\x1b\[[0-9;]*m", "", text)  # our own colours
    bad = {c for c in bare if c not in "\n\t" and (unicodedata.category(c) in ("Cc", "Cs") or c in BIDI)}
    if bad:
        raise Wrong(f"{of} sends {sorted(map(ascii, bad))} to the terminal", f"control characters in {of}")


BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # the marks U+200E, U+200F are harmless


def numbers(value: Any, depth: int = 0) -> Iterator[float]:
    """Every number inside a result."""
    if isinstance(value, (bool, str, bytes)) or value is None or depth > 12:
        return
    if isinstance(value, (int, float, np.number)):
        yield float(value) if not isinstance(value, int) or abs(value) < 1 << 900 else 0.0
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "fiu":
            yield from map(float, value.ravel()[:1000])
    elif callable(getattr(value, "to_dict", None)):
        yield from numbers(value.to_dict(), depth + 1)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from numbers(inner, depth + 1)
    elif isinstance(value, (list, tuple)):
        for inner in value[:1000]:
            yield from numbers(inner, depth + 1)


def result(value: Any, of: str, *, finite: bool = True) -> None:
    """Whatever a public name returned can be shown everywhere, and holds neither NaN nor infinity."""
    if finite and not all(map(math.isfinite, numbers(value))):
        raise Wrong(f"{of} returned NaN or infinity: {value!r:.500}", f"NaN in {of}")
    for inner in value[:3] if isinstance(value, (list, tuple)) else [value]:
        _shown(inner, of, finite)


def _shown(value: Any, of: str, finite: bool) -> None:
    if isinstance(value, (str, bytes, int, float, dict, list, tuple, np.ndarray)) and not hasattr(value, "_repr_html_"):
        return
    str(value), repr(value)
    if callable(getattr(value, "to_dict", None)) and finite:
        json.dumps(value.to_dict(), allow_nan=False)
    if callable(getattr(value, "_repr_html_", None)):
        page(value._repr_html_(), f"{type(value).__name__}._repr_html_ of {of}")
    if callable(getattr(value, "to_text", None)):
        terminal(value.to_text(), f"{type(value).__name__}.to_text")
    if callable(getattr(value, "rows", None)):
        value.rows()
    if callable(explain := getattr(value, "explain", None)):
        parameters = inspect.signature(explain).parameters.values()
        if all(parameter.default is not parameter.empty for parameter in parameters):
            _shown(explain(), of, finite)
            return
        for place in range(len(value.verdicts)):  # of sentences, which are explained one by one
            with contextlib.suppress(ValueError):  # of what was not judged, or by another checker
                _shown(explain(place), of, finite)

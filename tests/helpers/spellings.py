"""How a program may spell a text that it quotes, from the name of a notation to the function that writes it."""

import html
import json
from urllib.parse import quote


def _numbered(text: str, form: str) -> str:
    return "".join(form.format(ord(character)) for character in text)


SPELLINGS = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON with each slash escaped": lambda text: json.dumps(text, ensure_ascii=False).replace("/", "\\/"),
    "JSON within JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON in numbers": lambda text: _numbered(text, "\\u{:04x}"),
    "Python": repr,
    "HTML": html.escape,
    "HTML in numbers": lambda text: _numbered(text, "&#{};"),
    "HTML in hexadecimals": lambda text: _numbered(text, "&#x{:X};"),
    "HTML within JSON": lambda text: json.dumps(html.escape(text)).replace("&", "\\u0026"),
    "JSON within HTML": lambda text: html.escape(json.dumps(text)),
    "address": lambda text: quote(text, safe=""),
    "address within an address": lambda text: quote(quote(text, safe=""), safe=""),
    "JSON within an address": lambda text: quote(json.dumps(text)),
}

"""How a program may spell a text that it quotes, from the name of a notation to the function that writes it."""

import html
import json
from urllib.parse import quote

SPELLINGS = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON with each slash escaped": lambda text: json.dumps(text, ensure_ascii=False).replace("/", "\\/"),
    "JSON within JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON within Python": lambda text: repr(json.dumps(text)),
    "JSON with the signs of HTML escaped": lambda text: json.dumps(text).translate(
        {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
    ),
    "Python": repr,
    "HTML": html.escape,
    "HTML but for quotation marks": lambda text: html.escape(text, quote=False),
    "HTML within JSON": lambda text: json.dumps(html.escape(text)),
    "JSON within HTML": lambda text: html.escape(json.dumps(text)),
    "address": lambda text: quote(text, safe=""),
    "address within an address": lambda text: quote(quote(text, safe=""), safe=""),
    "JSON within an address": lambda text: quote(json.dumps(text)),
}

"""How a program may spell a text that it quotes, from the name of a notation to the function that writes it."""

import html
import json
from urllib.parse import quote

SPELLINGS = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON with each slash escaped": lambda text: json.dumps(text, ensure_ascii=False).replace("/", "\\/"),
    "Python": repr,
    "HTML": html.escape,
    "HTML but for quotation marks": lambda text: html.escape(text, quote=False),
    "address": lambda text: quote(text, safe=""),
}

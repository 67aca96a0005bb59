"""Addresses of servers, and what in them is secret."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import socket
import string
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, quote, quote_plus, unquote, unquote_plus, urlsplit


@dataclass(frozen=True)
class Address:
    """An address split into the part that may be shown and the parts that are only sent.

    Parameters
    ----------
    shown : str
        Scheme, host, port and path: what messages, fingerprints and manifests may hold. A part of the path that looks
        like a key is `***` with eight digits of its hash, by which two such addresses can be told apart.
    query, user, password : str
        What follows the question mark, and what stands before the host: sent, never shown.
    start : str
        Like `shown`, with the whole path: sent, never shown.
    """

    shown: str
    query: str = field(default="", repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    start: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse an address; a `ValueError` names the mistake and shows nothing that could be secret."""
        text = text.strip()
        parts, port = _split(text)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            plain = _PLAIN.fullmatch(text)
            shown = repr(without_keys(text)[:60]) if plain else "this one (not shown, since it may hold a password)"
            raise ValueError(f"base_url must be an address such as 'http://localhost:8000/v1', not {shown}")
        if port == 0:
            raise ValueError("base_url names port 0, which no server has: name the one that yours listens on")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        origin, path = f"{parts.scheme}://{host}{f':{port}' if port else ''}", parts.path.rstrip("/")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(origin + without_keys(path), parts.query, user, password, origin + path)

    @property
    def host(self) -> str:
        """The name of the host, in small letters."""
        return urlsplit(self.shown).hostname or ""

    @property
    def local(self) -> bool:
        """Whether the host is this machine by its name alone: localhost, 127.*, ::1 and their other spellings."""
        host = unquote(self.host).rstrip(".")
        if _LOCALHOST.fullmatch(host):
            return True
        with suppress(ValueError):
            known = ip_address(host.partition("%")[0])
            known = getattr(known, "ipv4_mapped", None) or known
            return known.is_loopback or known.is_unspecified
        with suppress(OSError):  # 127.1 and 0x7f000001, as the system reads them
            return socket.inet_aton(host)[0] in (0, 127)
        return False

    @property
    def encrypted(self) -> bool:
        """Whether what is sent there is encrypted."""
        return self.shown.startswith("https://")

    @property
    def basic(self) -> str:
        """The header's value for user and password, or ''."""
        if not (self.user or self.password):
            return ""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()

    @property
    def secrets(self) -> list[str]:
        """All that may not be shown."""
        whole = [f"?{self.query}", self.query] if self.query else []
        pairs = [pair.partition("=") for pair in re.split("[&;]", self.query)]
        values = [form for name, _, value in pairs for form in _spelled_in_an_address(value or name)]
        keys = [form for _, key in _keys_of(urlsplit(self.start).path) for form in (key, unquote(key))]
        return [*whole, *values, *keys, self.user, self.password, self.basic.removeprefix("Basic ")]


def _spelled_in_an_address(value: str) -> tuple[str, str, str]:
    return value, unquote(value), unquote_plus(value)


_LOCALHOST = re.compile(r"(.+\.)?localhost|(ip6-)?(localhost|loopback)[46]?(\.localdomain[46]?)?")


def _split(text: str) -> tuple[SplitResult | None, int | None]:
    """The parts of an address and its port; None where it is none (urlsplit's own messages quote the password)."""
    if re.search(r"[\s\x00-\x20\x7f\\]", text):
        return None, None
    try:
        parts = urlsplit(text)
        return parts, parts.port
    except ValueError:
        return None, None


_NAMED = re.compile(r"(x-)?(api|access|auth|private|secret)?[-_]?(keys?|tokens?|secrets?|passwords?)", re.IGNORECASE)
_PREFIXED = re.compile(r"(sk|pk|rk|hf|gh[opsu]|xox[abp]|pat|key|token|api|secret)[-_](?=.*\d).{4,}", re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9]+")


def looks_like_a_key(part: str) -> bool:
    """Whether a part of a path looks drawn by chance: letters mixed with digits, long hexadecimals, very long words.

    Examples
    --------
    >>> looks_like_a_key("7f3kd92mfa81jd0q"), looks_like_a_key("gpt-4o-mini-2024-07-18")
    (True, False)
    """
    part = unquote(part)
    runs = _RUN.findall(part)
    longest = max(runs, key=len, default="")
    mixed = [run for run in runs if re.search(r"\d", run) and re.search("[A-Za-z]", run)]
    hexadecimal = re.fullmatch(r"[0-9a-fA-F]+", "".join(runs)) is not None
    return (
        any(len(run) >= 12 for run in mixed)
        or len(longest) >= 24
        or (len(longest) >= 16 and (longest.isdigit() or not (longest.islower() or longest.istitle())))
        or (len(part) >= 16 and (len(mixed) >= 4 or (hexadecimal and bool(mixed) and len(runs) < 6)))
        or _PREFIXED.fullmatch(part) is not None
    )


def _keys_of(path: str) -> list[tuple[int, str]]:
    """The parts of a path that look like keys, or follow a part that is called one; each with its number."""
    parts = path.split("/")
    named = [bool(number and _NAMED.fullmatch(unquote(parts[number - 1]))) for number in range(len(parts))]
    return [
        (i, part) for i, part in enumerate(parts) if part and "*" not in part and (named[i] or looks_like_a_key(part))
    ]


def without_keys(path: str) -> str:
    """Return a path in which what looks like a key is `***` and digits that tell it from others."""
    parts = path.split("/")
    for number, key in _keys_of(path):
        told_apart = hashlib.sha256(key.encode()).hexdigest()[:8] if looks_like_a_key(key) else ""
        parts[number] = "***" + told_apart
    return "/".join(parts)


SHORTEST_SECRET = 4
"""Characters. What is shorter is no secret, and to hide it would make holes in every word."""


_SPELLINGS: tuple[Callable[[str], str], ...] = (  # as a server may quote what it was sent
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1].replace("/", "\\/"),
    lambda text: json.dumps(text)[1:-1].translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}),
    lambda text: repr(text)[1:-1],
    lambda text: repr(f'"{text}')[2:-1],  # in a text with quotation marks of its own, so that each ' is escaped
    html.escape,
    lambda text: html.escape(text, quote=False),
    lambda text: html.escape(text).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
    quote,
    lambda text: quote(text, safe=""),
    quote_plus,
)


_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Return `text` without the secrets: as they are, or escaped up to thrice for JSON, Python, HTML or an address.

    What is shorter than `SHORTEST_SECRET` stays, and what is hardly longer is hidden where it stands as a word.

    Examples
    --------
    >>> hidden("no such key: ab%2Fcd; model m1", ["ab/cd", "1"])
    'no such key: ***; model m1'
    """
    forms = set(secrets)
    for _ in range(3):  # a server's own escapes, those of its reply, and those of whoever shows it
        forms |= {spell(form) for form in forms for spell in _SPELLINGS}
    plain = text.translate(_SMALL)
    found: set[tuple[int, int]] = set()
    for form in {
        form.translate(_SMALL) for form in forms if len(form) >= SHORTEST_SECRET or re.fullmatch(r"\?.+", form)
    }:
        first = plain.find(form)
        while first >= 0:
            last = first + len(form)
            edges = plain[max(0, first - 1) : first + 1], plain[last - 1 : last + 1]
            within = len(form) <= SHORTEST_SECRET + 1 and any(re.fullmatch(r"[^\W_]{2}", edge) for edge in edges)
            found |= set() if within else {(first, last)}
            first = plain.find(form, first + 1)
    parts: list[str] = []
    end = 0
    for first, last in sorted(found):
        if first > end or not parts:
            parts += [text[end:first], "***"]
        end = max(end, last)
    return "".join([*parts, text[end:]])


_PLAIN = re.compile(r"([\w+-]+:/*)?[\w.-]*(:\d+)?(/[\w./-]*)?")
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:@\[\]]+)(:\d*)?")
_ADDRESS = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)(?P<rest>[^\s'\"<>]+)", re.IGNORECASE)


def without_secrets(text: str) -> str:
    """Return a text in which each address has lost its user, password, query, fragment and keys in its path.

    Examples
    --------
    >>> without_secrets("llm:small@http://me:word@host:1/v1?api_key=k")
    'llm:small@http://host:1/v1'
    """

    def stripped(match: re.Match[str]) -> str:
        whole = match["rest"].rstrip(",.;:!)}")  # what follows the address in its sentence
        rest = re.split(r"[?#]", whole, maxsplit=1)[0]
        rest = rest.rpartition("@")[2]  # a password may hold a slash; a path with an @ loses more than it must
        host, slash, path = rest.partition("/")
        after = match["rest"][len(whole) :] if rest == whole else ""
        shown = host + without_keys(slash + path) if _AUTHORITY.fullmatch(host) else "***"
        return match["scheme"] + shown + after

    return _ADDRESS.sub(stripped, text)

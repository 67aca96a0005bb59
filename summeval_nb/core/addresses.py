"""Addresses of servers, and the one function that takes what is secret out of a text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit


@dataclass(frozen=True)
class Address:
    """An address split into the part that may be shown and the parts that are only sent.

    `shown` is scheme, host, port and path, in which a part that looks like a key is `***` with eight digits of its
    hash, by which two such addresses can be told apart. `start` is the same with the whole path.
    """

    shown: str
    start: str = field(default="", repr=False)
    query: str = field(default="", repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse an address; a `ValueError` names the mistake and shows nothing that could be secret."""
        text, parts, port = text.strip(), urlsplit(""), None
        with suppress(ValueError):  # whose message quotes the password
            if not re.search(r"[\s\x00-\x20\x7f\\]", text):
                port, parts = urlsplit(text).port, urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            shown = "(yours is not shown, since it may hold a password)"
            raise ValueError(f"base_url must be an address such as 'http://localhost:8000/v1' {shown}")
        if port == 0:
            raise ValueError("base_url names port 0, which no server has: name the one that yours listens on")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        origin, path = f"{parts.scheme}://{host}{f':{port}' if port else ''}", parts.path.rstrip("/")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(origin + _without_keys(path), origin + path, parts.query, user, password)

    @property
    def host(self) -> str:
        """The name of the host, in small letters."""
        return urlsplit(self.shown).hostname or ""

    @property
    def local(self) -> bool:
        """Whether the host is this machine by its name alone: localhost, 127.*, ::1 and their other spellings."""
        host = self.host.rstrip(".")
        with suppress(OSError):  # 127.1 and 0x7f000001, too
            return socket.inet_aton(host)[0] in (0, 127)
        with suppress(ValueError):
            known = IPv6Address(host).ipv4_mapped or IPv6Address(host)
            return known.is_loopback or known.is_unspecified
        return host == "localhost" or host.endswith(".localhost")

    @property
    def basic(self) -> str:
        """User and password as a header sends them, or ''."""
        both = f"{self.user}:{self.password}"
        return base64.b64encode(both.encode()).decode() if both != ":" else ""

    @property
    def secrets(self) -> list[str]:
        """All that may not be shown."""
        pairs = [pair.partition("=") for pair in re.split("[&;]", self.query)]
        values = [form for name, _, value in pairs for form in (value or name, unquote_plus(value or name))]
        both = zip(self.start.split("/"), self.shown.split("/"), strict=True)
        keys = [form for key, shown in both if key != shown for form in (key, unquote(key))]
        return [f"?{self.query}", self.query, *values, *keys, self.user, self.password, self.basic]


_CALLED_A_KEY = re.compile(r"(x-)?(api|access|auth|secret)?[-_]?(key|token|secret|password)s?", re.IGNORECASE)
_LIKE_A_KEY = re.compile(  # letters mixed with digits, long numbers, very long words, and what calls itself a key
    r"(?<![a-z\d])((?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{12,}|\d{16,}|[a-z\d]{24,})|^(sk|pk|hf|key|token)[-_](?=.*\d)",
    re.IGNORECASE,
)


def _without_keys(path: str) -> str:
    """A path in which what looks like a key, or follows what is called one, is `***`; digits tell keys apart."""
    before, parts = "", path.split("/")
    for i, part in enumerate(parts):
        called, before = _CALLED_A_KEY.fullmatch(before), unquote(part)
        if part and not part.startswith("***"):
            if _LIKE_A_KEY.search(before):
                parts[i] = f"***{hashlib.sha256(part.encode()).hexdigest()[:8]}"
            elif called:
                parts[i] = "***"
    return "/".join(parts)


_SPELLINGS: tuple[Callable[[str], str], ...] = (  # as a server may quote what it was sent
    str,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1].replace("/", "\\/"),
    lambda text: repr(text)[1:-1],
    lambda text: repr(f'"{text}')[2:-1],  # in a text with quotation marks of its own, so that each ' is escaped
    html.escape,
    lambda text: html.escape(text, quote=False),
    lambda text: quote(text, safe=""),
    quote,
    quote_plus,
)
_ADDRESS = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)(?P<rest>[^\s'\"<>]+)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:@\[\]]+)(:\d*)?")


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text as it may be shown: without the secrets, and without what is secret in its addresses.

    A secret is hidden as it is, and escaped for JSON, Python, HTML or an address. One of four or five characters is
    hidden where it is a word of its own, a shorter one, which would make holes in every word, not at all.

    Examples
    --------
    >>> redacted("no such key: ab%2Fcd; model m1", ["ab/cd", "1"])
    'no such key: ***; model m1'
    >>> redacted("llm:small@http://me:word@host:1/v1?api_key=k")
    'llm:small@http://host:1/v1'
    """
    patterns = []
    for form in sorted({spell(secret) for secret in secrets for spell in _SPELLINGS}, key=len, reverse=True):
        if len(form) >= 6 or re.fullmatch(r"\?.+", form):
            patterns.append(re.escape(form))
        elif len(form) >= 4:
            patterns.append(rf"(?<![^\W_]){re.escape(form)}(?![^\W_])")
    if patterns:
        text = re.sub("|".join(patterns), "***", text, flags=re.IGNORECASE)
    return _ADDRESS.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    """An address within a text, without what is secret in it."""
    whole = match["rest"].rstrip(",.;:!)}")  # what follows the address in its sentence
    rest = re.split(r"[?#]", whole, maxsplit=1)[0]
    rest = rest.rpartition("@")[2]  # a password may hold a slash; a path with an @ loses more than it must
    host, slash, path = rest.partition("/")
    after = match["rest"][len(whole) :] if rest == whole else ""
    shown = host + _without_keys(slash + path) if _AUTHORITY.fullmatch(host) else "***"
    return match["scheme"] + shown + after

# A plain private module: edited here, exported by no notebook, tested in tests/test_addresses.py.
"""Addresses of servers, and what in them is secret."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, unquote, urlsplit


@dataclass(frozen=True)
class Address:
    """An address taken apart: what may be shown, and what is only sent.

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
        """Take an address apart; a `ValueError` says what is wrong and shows nothing that could be secret."""
        text = text.strip()
        parts, port = _split(text)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            plain = _PLAIN.fullmatch(text)
            shown = repr(without_keys(text)[:60]) if plain else "this one (not shown, since it may hold a password)"
            raise ValueError(f"base_url must be an address such as 'http://localhost:8000/v1', not {shown}")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        origin, path = f"{parts.scheme}://{host}{f':{port}' if port else ''}", parts.path.rstrip("/")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(origin + without_keys(path), parts.query, user, password, origin + path)

    @property
    def host(self) -> str:
        """The name of the host, in small letters."""
        return urlsplit(self.shown).hostname or ""

    @property
    def encrypted(self) -> bool:
        """Whether what is sent there is encrypted."""
        return self.shown.startswith("https://")

    def below(self, path: str, *, root: bool = False) -> str:
        """The full address of a page below this one (or below what stands above `/v1`), with the query."""
        start = self.start.removesuffix("/v1") if root else self.start
        return start + path + (f"?{self.query}" if self.query else "")

    @property
    def basic(self) -> str:
        """The header's value for user and password, or ''."""
        if not (self.user or self.password):
            return ""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()

    @property
    def secrets(self) -> list[str]:
        """All that may not be shown."""
        values = [value for _, value in parse_qsl(self.query)]
        keys = [form for _, one in _keys_of(urlsplit(self.start).path) for form in (one, unquote(one))]
        return [self.query, *values, *keys, self.user, self.password, self.basic.removeprefix("Basic ")]


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
    return [(i, one) for i, one in enumerate(parts) if one and "*" not in one and (named[i] or looks_like_a_key(one))]


def without_keys(path: str) -> str:
    """Return a path in which what looks like a key is `***` and digits that tell it from others."""
    parts = path.split("/")
    for number, one in _keys_of(path):
        told_apart = hashlib.sha256(one.encode()).hexdigest()[:8] if looks_like_a_key(one) else ""
        parts[number] = "***" + told_apart
    return "/".join(parts)


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Return `text` without the secrets, however they are spelled: as they are, quoted for an address, or escaped."""
    spelled = {
        form for one in secrets for form in (one, quote(one, safe=""), quote(one), quote_plus(one), repr(one)[1:-1])
    }
    for form in sorted(filter(None, spelled), key=len, reverse=True):
        text = text.replace(form, "***")
    return text


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

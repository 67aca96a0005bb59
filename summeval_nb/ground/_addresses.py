# A plain private module: edited here, exported by no notebook, tested in tests/test_addresses.py.
"""Addresses of servers, and what in them is secret."""

from __future__ import annotations

import base64
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
        Scheme, host, port and path: what messages, fingerprints and manifests may hold.
    query, user, password : str
        What follows the question mark, and what stands before the host: sent, never shown.
    """

    shown: str
    query: str = field(default="", repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str) -> Address:
        """Take an address apart; a `ValueError` says what is wrong and shows nothing that could be secret."""
        text = text.strip()
        parts, port = _split(text)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            shown = repr(text[:60]) if _PLAIN.fullmatch(text) else "this one (not shown, since it may hold a password)"
            raise ValueError(f"base_url must be an address such as 'http://localhost:8000/v1', not {shown}")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        shown = f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
        return cls(shown, parts.query, unquote(parts.username or ""), unquote(parts.password or ""))

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
        start = self.shown.removesuffix("/v1") if root else self.shown
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
        return [self.query, *values, self.user, self.password, self.basic.removeprefix("Basic ")]


def _split(text: str) -> tuple[SplitResult | None, int | None]:
    """The parts of an address and its port; None where it is none (urlsplit's own messages quote the password)."""
    if re.search(r"[\s\x00-\x20\x7f\\]", text):
        return None, None
    try:
        parts = urlsplit(text)
        return parts, parts.port
    except ValueError:
        return None, None


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
    """Return a text in which each address has lost its user, password, query and fragment.

    Examples
    --------
    >>> without_secrets("llm:small@http://me:word@host:1/v1?api_key=k")
    'llm:small@http://host:1/v1'
    """

    def stripped(match: re.Match[str]) -> str:
        whole = match["rest"].rstrip(",.;:!)}")  # what follows the address in its sentence
        rest = re.split(r"[?#]", whole, maxsplit=1)[0]
        rest = rest.rpartition("@")[2]  # a password may hold a slash; a path with an @ loses more than it must
        host = rest.partition("/")[0]
        after = match["rest"][len(whole) :] if rest == whole else ""
        return match["scheme"] + (rest if _AUTHORITY.fullmatch(host) else "***") + after

    return _ADDRESS.sub(stripped, text)

"""A checker around a checker, as people write them, and an embedder that notes what it is asked."""

from dataclasses import dataclass

from summeval_nb.evidence import Checker
from summeval_nb.text import load_embedder


@dataclass(frozen=True)
class Wrapped:
    inner: Checker

    @property
    def fingerprint(self):
        return f"wrapped;{self.inner.fingerprint}"

    @property
    def threshold(self):
        return self.inner.threshold

    @property
    def contradicted_below(self):
        return getattr(self.inner, "contradicted_below", None)

    @property
    def contradicted_below_of(self):
        return getattr(self.inner, "contradicted_below_of", None)

    def check_many(self, pairs, *, vectors=None):
        return self.inner.check_many(pairs)


class Noting:
    """The packaged vectors, and what was asked for."""

    def __init__(self, has_tokens: bool = True) -> None:
        self.inner, self.asked, self.has_tokens = load_embedder("minilm"), [], has_tokens
        self.fingerprint = self.inner.fingerprint

    def encode(self, sentences):
        self.asked.append(("vectors", list(sentences)))
        return self.inner.encode(sentences)

    def encode_with_tokens(self, sentences):
        assert self.has_tokens
        self.asked.append(("tokens", list(sentences)))
        return self.inner.encode_with_tokens(sentences)

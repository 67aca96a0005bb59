"""A checker around a checker, as people write them: it hands on what it is asked."""

from dataclasses import dataclass

from summeval_nb.evidence import Checker


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

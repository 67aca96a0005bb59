"""A checker that says what a function says of evidence and claim, and remembers what it was asked."""

from summeval_nb import Verdict


class Says:
    """The function returns a probability, a verdict, or the reason of a failure; None is a failure, too."""

    def __init__(self, say, fingerprint="says:1", threshold=0.5):
        self.say, self.fingerprint, self.threshold, self.asked = say, fingerprint, threshold, []

    def check_many(self, pairs, *, vectors=None):
        self.asked += pairs
        return [self._verdict(self.say(*pair)) for pair in pairs]

    def _verdict(self, said):
        if said is None or isinstance(said, str):
            return Verdict(probability=None, failed=True, reason=said or "no answer")
        return said if isinstance(said, Verdict) else Verdict(probability=float(said))


def told(answers):
    """A checker that has its answers in a table by claim."""
    return Says(lambda evidence, claim: answers[claim])

# A plain private module: edited directly, exported by no notebook, tested in tests/test_evidence.py.
"""Which sentences of a text a checker is shown: the ones nearest to the sentence that it judges."""

from __future__ import annotations

import numpy as np

from summeval_nb.ground.results import Evidence
from summeval_nb.text.retrieve import topk_related

__all__ = ["nearest_evidence"]


def nearest_evidence(similarities: np.ndarray, k: int | None = None) -> list[Evidence]:
    """Return the k sentences most similar to one that is judged, best first, ties by position; None: all of them.

    `similarities`, shape (M,), are those of the judged sentence with each sentence of the text.
    """
    if not similarities.size:
        return []
    (order,) = topk_related(similarities[None], similarities.size if k is None else k).tolist()
    return [Evidence(position, float(similarities[position])) for position in order]

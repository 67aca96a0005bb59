"""Search results with known identifiers: reciprocal rank, NDCG, recall at k and hit rate, without any model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from summeval_nb.core.base import require_count, require_texts
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Score, Signature

__all__ = ["RANKING", "hit_rate", "hit_rate_many", "mrr", "mrr_many", "ndcg", "ndcg_many"]
__all__ += ["recall_at_k", "recall_at_k_many"]


def _ranked(
    name: str, found: Sequence[str], wanted: Sequence[str], k: int | None, of: Callable[[list[bool], int], float]
) -> Score:
    """Return what a formula makes of the hits among the first k results, and of the number of wanted ones."""
    listed = require_texts(found, "retrieved_context_ids")
    true = set(require_texts(wanted, "reference_context_ids"))
    if k is not None:
        require_count(k, "k")
    if len(set(listed)) < len(listed):
        twice = next(own for place, own in enumerate(listed) if own in listed[:place])
        raise ValueError(f"retrieved_context_ids holds {twice!r} twice: list each result once, the best first")
    signature = Signature({"metric": name, "k": "all" if k is None else k})
    if not true:
        return Score(score=None, reason="reference_context_ids is empty: nothing was to be found", signature=signature)
    return Score(score=of([own in true for own in listed[:k]], len(true)), signature=signature)


@metric("mrr", batch_size=2000)
def mrr(retrieved_context_ids: Sequence[str], reference_context_ids: Sequence[str], *, k: int | None = None) -> Score:
    """Return 1 / rank of the first result that was wanted, and 0 where none is; its mean over questions is MRR.

    Parameters
    ----------
    retrieved_context_ids : sequence of str
        The identifiers of what a search found, the best first.
    reference_context_ids : sequence of str
        Those of what it should find, in any order.
    k : int, optional
        How many results count; by default all.

    Examples
    --------
    >>> float(mrr(["d3", "d1", "d7"], ["d1", "d7"]))
    0.5
    """
    first = lambda hits, _: next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)
    return _ranked("mrr", retrieved_context_ids, reference_context_ids, k, first)


@metric("ndcg", batch_size=2000)
def ndcg(retrieved_context_ids: Sequence[str], reference_context_ids: Sequence[str], *, k: int | None = None) -> Score:
    """Return the discounted gain of the wanted results, in [0, 1], as a share of the best possible order's.

    A wanted result at rank r gains 1 / log2(r + 1). Parameters are those of `mrr`.

    References
    ----------
    Järvelin and Kekäläinen 2002, Cumulated Gain-Based Evaluation of IR Techniques.

    Examples
    --------
    >>> round(float(ndcg(["d3", "d1", "d7"], ["d1", "d7"])), 3)
    0.693
    """

    def share(hits: list[bool], wanted: int) -> float:
        best = min(wanted, k or wanted)
        gain = math.fsum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit)
        return gain / math.fsum(1 / math.log2(rank + 1) for rank in range(1, best + 1))

    return _ranked("ndcg", retrieved_context_ids, reference_context_ids, k, share)


@metric("recall_at_k", batch_size=2000)
def recall_at_k(
    retrieved_context_ids: Sequence[str], reference_context_ids: Sequence[str], *, k: int | None = None
) -> Score:
    """Return the share of what was wanted that is among the first k results, in [0, 1].

    Parameters are those of `mrr`.

    Examples
    --------
    >>> float(recall_at_k(["d3", "d1", "d7"], ["d1", "d7"], k=2))
    0.5
    """
    share = lambda hits, wanted: sum(hits) / wanted
    return _ranked("recall_at_k", retrieved_context_ids, reference_context_ids, k, share)


@metric("hit_rate", batch_size=2000)
def hit_rate(
    retrieved_context_ids: Sequence[str], reference_context_ids: Sequence[str], *, k: int | None = None
) -> Score:
    """Return 1 where at least one of the first k results was wanted, else 0; its mean over questions is the hit rate.

    Parameters are those of `mrr`.

    Examples
    --------
    >>> float(hit_rate(["d3", "d1", "d7"], ["d1", "d7"], k=1))
    0.0
    """
    return _ranked("hit_rate", retrieved_context_ids, reference_context_ids, k, lambda hits, _: float(any(hits)))


mrr_many, ndcg_many, recall_at_k_many, hit_rate_many = map(batch, (mrr, ndcg, recall_at_k, hit_rate))
RANKING = {"mrr": mrr_many, "ndcg": ndcg_many, "recall_at_k": recall_at_k_many, "hit_rate": hit_rate_many}

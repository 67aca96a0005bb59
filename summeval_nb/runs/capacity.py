"""What a very large run needs: hours, disk, and the first wall, by arithmetic and by simulation."""

from __future__ import annotations

import math
from typing import NamedTuple

from summeval_nb.ground.base import is_finite, require_count

__all__ = ["Plan", "plan_run"]


class Plan(NamedTuple):
    """What a faithfulness run over many pairs needs: hours of each stage, disk in GB, and the slowest stage."""

    embed_hours: float
    judge_hours: float
    driver_hours: float
    results_gb: float
    store_gb: float
    bottleneck: str


def plan_run(
    pairs: float,
    *,
    workers: int = 16,
    sentences_per_pair: float = 33,
    share_new: float = 1.0,
    verdicts_per_pair: float = 3,
    embed_rate: float = 90,
    verdict_rate: float = 160,
    driver_rate: float = 20_000,
    bytes_per_result: float = 10_000,
    bytes_per_vector: float = 1_800,
) -> Plan:
    """Return hours and disk for a run; rates are per second and worker, `driver_rate` for the one driver.

    `share_new` is the share of sentences that no earlier pair of the same lot holds:
    with 16 summaries of each article about 0.15.

    Examples
    --------
    >>> plan_run(10_000_000, workers=16).bottleneck
    'embedding'
    """
    require_count(workers, "workers")
    rates = {"embed_rate": embed_rate, "verdict_rate": verdict_rate, "driver_rate": driver_rate, "pairs": pairs}
    for name, value in rates.items():
        if not (is_finite(value) and value > 0):
            raise ValueError(f"{name} must be a positive number, not {value}")
    shares = {"sentences_per_pair": sentences_per_pair, "share_new": share_new, "verdicts_per_pair": verdicts_per_pair}
    for name, value in (shares | {"bytes_per_result": bytes_per_result, "bytes_per_vector": bytes_per_vector}).items():
        if not (is_finite(value) and value >= 0):
            raise ValueError(f"{name} must be 0 or more, not {value}")
    embed = pairs * sentences_per_pair * share_new / embed_rate / workers / 3600
    judge = pairs * verdicts_per_pair / verdict_rate / workers / 3600
    driver = pairs / driver_rate / 3600
    stages = {"embedding": embed, "judging": judge, "the driver": driver}
    results = 2 * pairs * bytes_per_result / 1e9  # shards and the merged file
    store = pairs * (sentences_per_pair * share_new * bytes_per_vector + verdicts_per_pair * 500) / 1e9
    if not math.isfinite(sum(stages.values()) + results + store):
        raise ValueError(f"these numbers lead beyond all bounds: {pairs:g} pairs with {embed_rate:g} a second")
    return Plan(embed, judge, driver, results, store, max(stages, key=lambda name: stages[name]))

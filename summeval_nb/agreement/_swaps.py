# A plain private module: edited here, exported by no notebook, tested in tests/test_swaps.py.
"""The null distribution of a difference of two correlations, without a loop over permutations (chapter 53).

At the summary level, swapping an article exchanges two correlations that are already known. Swapping systems mixes
columns of A and B; the sign of x_j - x_k after the swap is one of four signs that do not depend on the permutation (A
against A, A against B, B against A, B against B). So a matrix product of "who is swapped" with these signs gives all
rank deviations, or all of Kendall's sums, at once. At the system level the means of the swapped articles come first.
Pooled, nothing helps: each permutation is computed by itself.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from ._coefficients import by_row, mean_or_none, system_means, tied
from .agreement import _estimate


class Choices(TypedDict):
    """How correlations are compared."""

    level: str
    coefficient: str
    n_resamples: int
    seed: int


def standardised(x: np.ndarray) -> np.ndarray:
    """A table with mean 0 and spread 1; a constant one stays 0."""
    spread = np.nanstd(x)
    return (x - np.nanmean(x)) / (spread if spread > 0 else 1.0)


def random_swaps(shape: tuple[int, int], n: int, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Which articles (n, articles) and which systems (n, systems) change sides in each of n permutations."""
    rng = np.random.default_rng(seed)
    articles, systems = (rng.random((n, size)) < 0.5 for size in shape)
    return articles & (kind != "systems"), systems & (kind != "articles")


def pair_signs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Signs of x[i, j] - y[i, k], 0 where one is missing: two (rows, s) -> (rows, s, s)."""
    return np.nan_to_num(np.sign(x[:, :, None] - y[:, None, :])).astype(np.float32)


def mixed_sums(a: np.ndarray, b: np.ndarray, swapped: np.ndarray, factor: np.ndarray | None) -> np.ndarray:
    """Sums over k of sign(x_j - x_k), times a factor or (None) squared, x being a with swapped columns of b.

    a, b (rows, s), swapped (n, s), factor (rows, s, s) -> (n, rows, s)
    """
    rows, columns = a.shape
    chosen = np.concatenate([~swapped, swapped], axis=1).astype(np.float32)
    sums = []
    for one in (a, b):
        signs = np.concatenate(
            [pair_signs(one, other) * (pair_signs(one, other) if factor is None else factor) for other in (a, b)],
            2,
        )
        sums.append((chosen @ signs.reshape(rows * columns, 2 * columns).T).reshape(-1, rows, columns))
    return np.where(swapped[:, None], sums[1], sums[0]).astype(float)


def swapped_rows(a: np.ndarray, b: np.ndarray, y: np.ndarray, swapped: np.ndarray, coefficient: str) -> np.ndarray:
    """The coefficient of every row of `a`, with columns of `b` swapped in: (rows, s), swapped (n, s) -> (n, rows)."""
    if coefficient == "pearson":
        mixed = np.where(swapped[:, None], b, a)
        human = np.broadcast_to(y, mixed.shape).reshape(-1, y.shape[1])
        return by_row(mixed.reshape(human.shape), human, coefficient).reshape(mixed.shape[:2])
    sy = pair_signs(y, y)
    if coefficient == "spearman":
        u, v = mixed_sums(a, b, swapped, np.ones_like(sy)), sy.sum(axis=-1, dtype=float)
        uv, uu, vv = (u * v).sum(axis=-1), (u * u).sum(axis=-1), (v * v).sum(axis=-1)
    else:
        uv, uu = (mixed_sums(a, b, swapped, factor).sum(axis=-1) for factor in (sy, None))
        vv = (sy * sy).sum(axis=(1, 2), dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((uu > 0) & (vv > 0), uv / np.sqrt(uu * vv), np.nan)


def both_sides(
    a: np.ndarray, b: np.ndarray, y: np.ndarray, level: str, coefficient: str, swaps: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The level's correlations of both sides after each permutation."""
    articles, systems = swaps
    if level == "summary":
        moved = systems if systems.any() else systems[:1]  # nothing to mix: one calculation serves all
        kept, given = (swapped_rows(a, b, y, s, coefficient) for s in (moved, ~moved))
        sides = np.where(articles, given, kept), np.where(articles, kept, given)
        with np.errstate(invalid="ignore", divide="ignore"):
            first, second = (np.nan_to_num(side).sum(axis=1) / (~np.isnan(side)).sum(axis=1) for side in sides)
        return first, second
    if level == "system":
        kept, given = swapped_means(a, b, y, articles)
        human = system_means(y, np.isnan(y), np.ones((1, len(y))))
        sides = np.where(systems, given, kept), np.where(systems, kept, given)
    else:
        cells = articles[:, :, None] ^ systems[:, None]
        sides = (
            np.where(cells, b, a).reshape(len(cells), -1),
            np.where(cells, a, b).reshape(len(cells), -1),
        )
        human = y.reshape(1, -1)
    first, second = (by_row(side, np.broadcast_to(human, side.shape), coefficient) for side in sides)
    return first, second


def swapped_means(a: np.ndarray, b: np.ndarray, y: np.ndarray, articles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of the columns of a with swapped articles of b, and of b with those of a: (n, s) each."""
    first, second = (np.where(np.isnan(y), 0.0, side) for side in (a, b))
    count = (~np.isnan(y)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = (first.sum(axis=0) + articles @ (second - first)) / count
        given = (second.sum(axis=0) + articles @ (first - second)) / count
    return tied(kept), tied(given)


def null_differences(
    a: np.ndarray, b: np.ndarray, y: np.ndarray, level: str, coefficient: str, swaps: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """The difference of the two correlations after each permutation."""
    y = np.where(np.isnan(a) | np.isnan(b), np.nan, y)
    a, b = (standardised(np.where(np.isnan(y), np.nan, side)) for side in (a, b))
    found = []
    for parts in zip(
        *(np.array_split(s, max(1, s.shape[0] * a.size // 2_000_000)) for s in swaps),
        strict=True,
    ):
        first, second = both_sides(a, b, y, level, coefficient, parts)
        found.append(first - second)
    return np.concatenate(found)


def p_value_of(null: np.ndarray, observed: float, alternative: str) -> float:
    """Share of permutations at least as extreme, the observed one included."""
    null = null[~np.isnan(null)]
    slack = 1e-12  # a permutation that changes nothing must count, whatever the rounding
    extreme = {"greater": null >= observed - slack, "less": null <= observed + slack}
    hits = extreme.get(alternative, np.abs(null) >= abs(observed) - slack)
    return float((1 + hits.sum()) / (1 + null.size))


def permutation_tests(
    a: np.ndarray,
    b: np.ndarray,
    y: np.ndarray,
    observed: float,
    alternative: str,
    kinds: tuple[str, ...],
    options: Choices,
) -> tuple[dict[str, float], np.ndarray]:
    """The p-value of each permutation test, and the null differences of the one with the largest."""
    shape, level, coefficient = (y.shape[0], y.shape[1]), options["level"], options["coefficient"]
    nulls = {}
    for kind in kinds:
        swaps = random_swaps(shape, options["n_resamples"], kind, options["seed"])
        nulls[kind] = null_differences(a, b, y, level, coefficient, swaps)
    found = {kind: p_value_of(null, observed, alternative) for kind, null in nulls.items()}
    return found, nulls[max(found, key=found.__getitem__)]


def pair_p_value(a: np.ndarray, b: np.ndarray, y: np.ndarray, options: Choices) -> float:
    """The two-sided p-value of `compare`, without its intervals."""
    y = np.where(np.isnan(a) | np.isnan(b), np.nan, y)
    means = [mean_or_none(_estimate(side, y, options["level"], options["coefficient"])) for side in (a, b)]
    if means[0] is None or means[1] is None:
        return 1.0  # they share too few cells: nothing can be said
    return max(
        permutation_tests(a, b, y, means[0] - means[1], "two-sided", ("articles", "systems"), options)[0].values()
    )

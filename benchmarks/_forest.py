"""A fitted HistGradientBoostingClassifier as plain arrays for `summeval_nb.evidence._trees`."""

from __future__ import annotations

from typing import Any

import numpy as np


def forest_arrays(model: Any, columns: list[int]) -> dict[str, np.ndarray]:
    """Return the arrays of a fitted binary classifier; `columns` maps its columns to those of all features."""
    feature, threshold, left, right, value, roots = [], [], [], [], [], []
    for (tree,) in model._predictors:
        nodes, start = tree.nodes, len(feature)
        means = np.array(nodes["value"], float)
        for i in range(len(nodes) - 1, -1, -1):
            if not nodes["is_leaf"][i]:
                a, b = int(nodes["left"][i]), int(nodes["right"][i])
                weights = np.array([nodes["count"][a], nodes["count"][b]], float)
                means[i] = float(np.average([means[a], means[b]], weights=weights))
        roots.append(start)
        for i, node in enumerate(nodes):
            leaf = bool(node["is_leaf"])
            feature.append(-1 if leaf else columns[int(node["feature_idx"])])
            threshold.append(0.0 if leaf else float(node["num_threshold"]))
            left.append(0 if leaf else start + int(node["left"]))
            right.append(0 if leaf else start + int(node["right"]))
            value.append(means[i])
    whole = {"feature": feature, "left": left, "right": right, "roots": roots}
    arrays = {key: np.array(items, np.int32) for key, items in whole.items()}
    arrays |= {"threshold": np.array(threshold), "value": np.array(value)}
    return arrays | {"offset": np.array(float(np.ravel(model._baseline_prediction)[0]))}

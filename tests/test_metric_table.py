"""What goes into a table of metrics, and what it shows: marks and ranks in the figure, and a table of nothing."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from summeval_nb.agreement.correlation import correlate
from summeval_nb.agreement.metrics import MetricTable, _point, _require_choices, _vectors_of, metric_table
from summeval_nb.ground.data import load_toy_summeval
from summeval_nb.ground.results import Signature

METRIC, HUMAN = np.array([[1.0, 3, 2, 4], [2, 1, 3, 4]]), np.array([[1.0, 2, 3, 4], [1, 2, 3, 4]])


def test_a_table_of_nothing_has_no_rows():
    empty = MetricTable({}, {}, {}, Signature({"metric": "metric-table"}))
    assert empty.qualities == [] and empty.to_dict()["rows"] == [] and empty.wide_rows() == []


def test_a_point_has_an_interval_and_a_rank_and_is_filled_in_the_first():
    figure, (first, second, cross) = plt.subplots(1, 3)
    _point(first, 0, correlate(METRIC, HUMAN), 1)
    _point(second, 0, correlate(METRIC, HUMAN), 2)
    _point(cross, 0, correlate(METRIC, np.ones_like(HUMAN)), None)
    assert len(first.lines) == 2 and first.texts[0].get_text() == "1"
    assert first.lines[1].get_markerfacecolor() != "white" and second.lines[1].get_markerfacecolor() == "white"
    assert [line.get_marker() for line in cross.lines] == ["x"] and not cross.texts
    plt.close(figure)


def test_rows_and_cells_say_the_same():
    cell, rank = correlate(METRIC, HUMAN, n_resamples=99), {"good": {"mine": 1}}
    table = MetricTable({"mine": METRIC}, {("mine", "good"): cell}, rank, Signature({"metric": "metric-table"}))
    (row,), (wide,) = table.rows(), table.wide_rows()
    assert row["correlation"] == cell.score and (row["low"], row["high"]) == cell.interval and row["rank"] == 1
    assert wide == {"metric": "mine", "good": f"{cell.score:.3f} [{row['low']:.3f}, {row['high']:.3f}] (1)"}
    assert table.to_frame(wide=True).loc["mine", "good"] == cell.score


def test_references_that_repeat_are_encoded_once():
    asked = []

    class Lengths:
        fingerprint = "lengths-1"

        def encode(self, texts):
            asked.extend(texts)
            return np.array([[len(text), 1.0] for text in texts])

    own, human = _vectors_of(Lengths(), ["a", "bb"], [["ccc", "dddd"], ["ccc", "dddd"]])
    assert asked == ["a", "bb", "ccc", "dddd"] and own.tolist() == [[[1, 1]], [[2, 1]]]
    assert [each.tolist() for each in human] == [[[3, 1], [4, 1]]] * 2


def test_choices_of_a_table_are_looked_at_first():
    toy = load_toy_summeval()
    assert _require_choices(toy, None, "summary", "kendall", 0, False) == list(toy.qualities)
    for wrong in (
        (["beauty"], "summary", "kendall", 9, True),
        (None, "article", "kendall", 9, True),
        (None, "summary", "tau", 9, True),
        (None, "summary", "kendall", 0, True),
    ):
        with pytest.raises(ValueError, match="'beauty'|'article'|'tau'|n_resamples"):
            _require_choices(toy, *wrong)


def test_a_table_says_every_choice():
    toy = load_toy_summeval()
    table = metric_table(toy, ["length"], qualities=["relevance"], n_resamples=0, rank=False)
    said = f"metric:metric-table|data:toy-{toy.fingerprint}|level:summary|coef:kendall|conf:0.95|n:0|seed:0|ranks:none"
    assert str(table.signature).startswith(f"{said}|embedder:none|version:")

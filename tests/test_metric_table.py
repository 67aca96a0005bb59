"""What a table of metrics shows: marks and ranks in the figure, and a table of nothing."""

import matplotlib.pyplot as plt
import numpy as np

from summeval_nb.agreement._metric_table import point
from summeval_nb.agreement.agreement import correlate
from summeval_nb.agreement.metrics import MetricTable
from summeval_nb.ground.results import Signature

METRIC, HUMAN = np.array([[1.0, 3, 2, 4], [2, 1, 3, 4]]), np.array([[1.0, 2, 3, 4], [1, 2, 3, 4]])


def test_a_table_of_nothing_has_no_rows():
    empty = MetricTable({}, {}, {}, Signature({"metric": "metric-table"}))
    assert empty.qualities == [] and empty.to_dict()["rows"] == [] and empty.wide_rows() == []


def test_a_point_has_an_interval_and_a_rank_and_is_filled_in_the_first():
    figure, (first, second, cross) = plt.subplots(1, 3)
    point(first, 0, correlate(METRIC, HUMAN), 1)
    point(second, 0, correlate(METRIC, HUMAN), 2)
    point(cross, 0, correlate(METRIC, np.ones_like(HUMAN)), None)
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

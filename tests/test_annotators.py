"""Agreement of annotators: published examples, peers, undefined and bad input."""

import math

import numpy as np
import pytest
from helpers.late import Late
from typer.testing import CliRunner

from summeval_nb.cli import app
from summeval_nb.core.base import InputWarning

FROM = "summeval_nb.agreement.annotators"  # it imports scipy
cohen_kappa, fleiss_kappa = Late(FROM, "cohen_kappa"), Late(FROM, "fleiss_kappa")
krippendorff_alpha = Late(FROM, "krippendorff_alpha")
read_ratings = Late(FROM, "read_ratings")
metric_ceiling = Late("summeval_nb.agreement.disagreement", "metric_ceiling")
krippendorff = Late("krippendorff")
pd = Late("pandas")
aggregate_raters = Late("statsmodels.stats.inter_rater", "aggregate_raters")
cohens_kappa = Late("statsmodels.stats.inter_rater", "cohens_kappa")
statsmodels_fleiss = Late("statsmodels.stats.inter_rater", "fleiss_kappa")

COHEN_1960 = np.repeat([(i, j) for i in range(3) for j in range(3)], [88, 14, 18, 10, 40, 10, 2, 6, 12], axis=0)
SAS = np.repeat([(0, 1), (0, 2), (1, 1), (2, 1), (2, 2)], [4, 1, 8, 1, 5], axis=0)
# Fleiss (1971), table 1: how many of six psychiatrists chose each of five diagnoses
FLEISS_1971 = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 00501
30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""
O = None  # noqa: E741 (a missing rating)
KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, O, O, O],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, O, 3],
    [O, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, O],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, O],
]
UNITS = [list(unit) for unit in zip(*KRIPPENDORFF_2011, strict=True)]


def test_cohens_kappa_as_published():
    for table, options, published, digits in (
        (COHEN_1960, {}, 0.492, 3),  # Cohen 1960
        (COHEN_1960, {"weights": [[0, 1, 3], [1, 0, 6], [3, 6, 0]]}, 0.348, 3),  # Cohen 1968
        (SAS, {}, 0.4842, 4),  # SAS, as in statsmodels' tests
        (SAS, {"weights": "linear"}, 0.4701, 4),
    ):
        assert cohen_kappa(*table.T, **options, n_resamples=0).score == pytest.approx(published, abs=0.5 * 10**-digits)


def test_fleiss_as_published():
    counts = [map(int, row) for row in FLEISS_1971.split()]
    rows = [[category for category, n in enumerate(row) for _ in range(n)] for row in counts]
    found = fleiss_kappa(rows, n_resamples=0)
    assert len(rows) == 30 and all(len(row) == 6 for row in rows)
    assert found.score == pytest.approx(0.4302445, abs=5e-8)  # R's irr, kappam.fleiss; 0.430 in the paper
    assert 1 - found.expected == pytest.approx(0.220, abs=5e-4)  # the paper's chance agreement


def test_alpha_as_published():
    for level, published in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)):
        found = krippendorff_alpha(UNITS, level=level)
        assert found.score == pytest.approx(published, abs=5e-4)
        assert (found.n_items, found.n_raters, found.n_missing, found.n_left_out) == (12, 4, 7, 1)
        assert found.interval[0] < found.score <= found.interval[1]


VALUES = {"two": [0, 1], "in a row": [1, 2, 3, 4, 5], "with gaps": [-1.5, 2, 2.25, 7]}


def random_ratings(seed, values):
    """Ratings of 30 items by 4 raters, half of them agreeing with the first, a quarter missing."""
    rng = np.random.default_rng(seed)
    ratings = rng.choice(values, (30, 4))
    ratings[:, 1:] = np.where(rng.random((30, 3)) < 0.5, ratings[:, :1], ratings[:, 1:])
    return np.where(rng.random((30, 4)) < 0.25, np.nan, ratings), rng


by_seed = pytest.mark.parametrize("seed", range(4))
by_values = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)


@by_values
@by_seed
def test_cohens_kappa_is_that_of_statsmodels(seed, values):
    ratings, rng = random_ratings(seed, values)
    first, second = ratings[:, 0], ratings[:, 1]
    both = ~np.isnan(first) & ~np.isnan(second)
    table = np.array([[np.sum((first == a) & (second == b) & both) for b in values] for a in values])
    distances = np.abs(np.subtract.outer(values, values))
    own = rng.integers(1, 9, distances.shape) * (distances > 0)
    for weights, theirs in ((None, None), ("linear", distances), ("quadratic", distances**2), (own, own)):
        expected = cohens_kappa(table, weights=theirs, return_results=False)
        found = cohen_kappa(first, second, weights=weights, categories=values, n_resamples=0)
        assert found.score == pytest.approx(expected, abs=1e-12) and found.n_items - found.n_left_out == both.sum()


@by_values
@by_seed
def test_fleiss_kappa_is_that_of_statsmodels(seed, values):
    ratings, rng = random_ratings(seed, values)
    ratings = np.where(np.isnan(ratings), rng.choice(values, ratings.shape), ratings)
    counts, _ = aggregate_raters(ratings)
    assert fleiss_kappa(ratings, n_resamples=0).score == pytest.approx(statsmodels_fleiss(counts), abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@by_values
@by_seed
def test_alpha_is_that_of_the_library_krippendorff(seed, values, level):
    ratings, _ = random_ratings(seed, values)
    ratings = np.abs(ratings) if level == "ratio" else ratings  # which begins at zero
    expected = krippendorff.alpha(ratings.T, level_of_measurement=level)
    assert krippendorff_alpha(ratings, level=level, n_resamples=0).score == pytest.approx(expected, abs=1e-12)


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    rng, hits = np.random.default_rng(0), 0
    for _ in range(120):
        truth = rng.normal(size=80)
        ratings = truth[:, None] + rng.normal(size=(80, 3))
        low, high = krippendorff_alpha(ratings, level="interval", n_resamples=300).interval
        hits += low <= 0.5 <= high  # equal variances: half of a rating is shared
    assert 0.86 <= hits / 120 <= 0.99


UNDEFINED = [
    (lambda: cohen_kappa(["a", "a"], ["a", "a"]), "chance could not disagree"),
    (lambda: fleiss_kappa([[3, 3], [3, 3], [3, 3]]), "chance could not disagree"),
    (lambda: krippendorff_alpha([[7, 7]] * 3, level="ordinal"), "chance could not disagree"),
    (lambda: krippendorff_alpha([[None, None]], level="interval"), "no item"),
    (lambda: krippendorff_alpha([[1, None], [None, math.nan]], level="nominal"), "no item"),
    (lambda: cohen_kappa([1, None], [None, 2]), "no item"),
]


def test_undefined_is_none_with_a_reason():
    for found, words in UNDEFINED:
        result = found()
        assert result.score is None and result.interval is None and words in result.reason and words in str(result)
        assert result.to_dict()["score"] is None and "undefined" in result._repr_html_()
        with pytest.raises(ValueError, match="has no number"):
            float(result)


def test_data_frames_labels_and_what_is_printed():
    frame = pd.DataFrame({"anna": ["good", "bad", None], "bert": ["good", "fair", "bad"]})
    order = ["bad", "fair", "good"]
    found = krippendorff_alpha(frame, level="ordinal", categories=order)
    same = krippendorff_alpha([[3, 3], [1, 2], [None, 1]], level="ordinal")
    assert found.score == same.score and found.categories == ("bad", "fair", "good")
    assert found.to_dict()["rows"][0]["n_missing"] == 1 and found.signature["coef"] == "alpha (ordinal)"
    hostile = cohen_kappa(["<b>", "x"], ["<b>", "<b>"])
    assert type(hostile).__name__ == "Agreement" and "<b>" not in hostile._repr_html_()
    assert cohen_kappa(frame["anna"], frame["bert"], n_resamples=0).n_left_out == 1
    for gap in (None, np.nan, pd.NA, "", "NA", "n/a", "nan"):
        assert cohen_kappa(pd.Series([1, 2, gap], dtype=object), [1, 2, 2], n_resamples=0).n_missing == 1
        assert fleiss_kappa([["a", "a"], ["b", "b"], ["a", gap]], n_resamples=0).n_left_out == 1
    assert cohen_kappa([True, False], [True, False], n_resamples=0).score == 1
    with pytest.warns(InputWarning, match="adds up to 5, as a table of counts"):
        fleiss_kappa([[0, 0, 5], [1, 2, 2], [5, 0, 0]], n_resamples=0)


def test_ratings_of_a_file_and_the_shell(tmp_path):
    assert read_ratings([["5", " "], [4, None]]) == [[5.0, None], [4, None]]
    assert read_ratings([["5", "no"], ["", "nan"]]) == [["5", "no"], [None, None]]
    assert read_ratings([["N/A", "1"], ["2", "NA"]]) == [[None, 1], [2, None]]
    file = tmp_path / "rated.csv"
    file.write_text("a,b,c\n5,5,4\n1,2,\n3,3,3\n2,2,1\n")
    for arguments, words in (
        ("--raters a,b,c -o level=interval", "alpha (interval)"),
        ("--raters a,b --coefficient fleiss", "Fleiss' kappa"),
        ("--raters a,b --level nominal --json", '"n_items": 4'),
    ):
        found = CliRunner().invoke(app, ["annotators", str(file), *arguments.split()])
        assert found.exit_code == 0 and words in found.output


def test_the_ceiling():
    assert metric_ceiling(1, 1) == 1 and metric_ceiling(-0.3, 5) == 0 and metric_ceiling(0, 10**9) == 0
    assert metric_ceiling(0.7127, 3) == pytest.approx(math.sqrt(3 * 0.7127 / (1 + 2 * 0.7127)))
    assert metric_ceiling(krippendorff_alpha(UNITS, level="interval"), 1) == pytest.approx(math.sqrt(0.849), abs=1e-3)

"""How well the packaged checkers work: what is printed comes from the stored items, and reports begin with one line."""

import importlib
import json
import os
import re
import sys
from collections import Counter
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from summeval_nb import (
    ChunkedChecker,
    EmbeddedChecker,
    LabelledSentence,
    WordsChecker,
    benchmark_checker,
    compare_reports,
    evaluate,
    load_checker,
    sample_articles,
)
from summeval_nb.cli import app
from summeval_nb.evidence import _bench_runs, _fitted
from summeval_nb.evidence._fitted import how_well, measured_rows

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
script = importlib.import_module("how_well")
ITEMS = pd.read_csv(script.ITEMS, keep_default_na=False)
DATA = os.environ.get("SUMMEVAL_NB_DATA")


def test_every_figure_comes_from_the_stored_items():
    found, stored = script.set_rows(ITEMS), how_well()["rows"]
    assert len(found) == len(stored) == 2 * len(script.NAMES)
    for new, old in zip(found, stored, strict=True):
        assert new.keys() == old.keys()
        for name, value in old.items():
            assert new[name] == (pytest.approx(value, abs=2e-4) if isinstance(value, float) else value), name


def test_the_page_says_what_the_rows_say():
    assert script.page(ITEMS, how_well()["rows"]) == script.PAGE.read_text(encoding="utf-8")


def test_the_figures_are_of_the_checkers_that_ship():
    for name, kept in how_well()["checkers"].items():
        checker = load_checker(name)
        assert (checker.fingerprint, checker.threshold) == (kept["fingerprint"], kept["threshold"])


def test_every_set_is_counted_whole():
    """A false summary counts as a true one does: by its worst sentence."""
    own = ITEMS[ITEMS["checker"] == "embedded"]
    sizes = Counter(own["key"])
    assert (sizes["summeval"], sizes["qags_cnndm"], sizes["summedits"]) == (1600, 714, 1113)
    for key, share in {"summeval": 0.82, "summedits": 0.37, "xsumfaith": 0.10, "defacto": 0.30}.items():
        assert own[own["key"] == key]["label"].mean() == pytest.approx(share, abs=0.07), key


@pytest.mark.skipif(DATA is None, reason="needs the labelled sets: SUMMEVAL_NB_DATA")
def test_every_item_of_the_labelled_sets_is_there():
    from _labelled import documents

    _, claims = documents(Path(DATA))
    human = [one for one in claims if one.kind == "human"]
    items = {(one.set, one.text if one.set == "qags_cnndm" else "", one.summary) for one in human}
    wanted = Counter(name for name, _, _ in items)
    stored = Counter(ITEMS[ITEMS["checker"] == "embedded"]["key"])
    for key, n in wanted.items():
        assert n - stored[key] <= 0.005 * n, f"{key}: {n} items, {stored[key]} stored"  # without a word: not judged


@pytest.mark.nightly
@pytest.mark.parametrize("checker", script.CHECKERS)
def test_what_no_fit_has_seen_is_judged_as_stored(checker):
    found = script.written_items(checker)
    stored = ITEMS[(ITEMS["checker"] == checker) & ITEMS["key"].isin(found["key"])]
    assert np.allclose(found["probability"], stored["probability"], atol=1e-4)
    assert (found["state"].to_numpy() == stored["state"].to_numpy()).mean() > 0.998


def text_before(report, first):
    """What stands above the first sentence: in HTML, what is shown and not folded, without the style sheet."""
    html = re.sub(r"<style>.*?</style>", "", report._repr_html_(), flags=re.S)
    shown, text = unescape(re.sub(r"<[^>]+>", " ", html)), report.to_text()
    line = "recognises four paraphrases in five, finds nearly all changed numbers, and misses half the changed names"
    assert line in EmbeddedChecker().judged_by
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert line in readme and "passes many errors that hide" in readme
    assert passed["kind"] > 0.25 and passed["role"] > 0.25

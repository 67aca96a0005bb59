"""One table decides: what every public function of the evidence pipeline does with bad or strange input.

Strange *text* works as documented and never gives NaN. What is not text, and arrays and counts that make no sense,
raise an error that names the argument.
"""

import json
import math

import numpy as np
import pytest

import summeval_nb as s
from summeval_nb import (
    checker,
    compare_runs,
    cosine_similarity,
    evaluate,
    evaluate_many,
    metric_table,
    run,
    sentence2embedding,
    split_text,
    topk_related,
)
from summeval_nb.core import load_toy_summeval
from summeval_nb.text import dot_similarity, split_claims, split_sentences, split_units

ARTICLE = "The bridge opened in 1931. It is 1,149 metres long."

STRANGE_TEXTS = {
    "empty": "",
    "white space": " \t\r\n\u00a0\u2003 ",
    "lone surrogates": "half \ud83d a \udc00 character. And more.",
    "NUL": "before\x00after. And more.",
    "emoji": "👩‍👩‍👧‍👦 laughed 😂. They left 🚗💨.",
    "right to left": "ذهب الولد إلى المدرسة. عاد في المساء.",
    "Chinese": "桥于一九三一年开放。它很长。",
    "combining marks": "Zoe\u0301 left a" + "\u0301" * 50,
    "controls": "\x1b[2J\x07 bell.",
    "punctuation": "... !!! ??? ---",
    "one character": "a",
    "CRLF": "One line.\r\nAnother line.\r\n\r\nA paragraph.",
    "html": "<script>alert('x')</script> & more.",
}


def checker_or_refusal(evidence, claim):
    """`checker` returns a bool, so it has no room for "not judged": a claim without a word is an error there."""
    if isinstance(claim, str) and not any(character.isalnum() for character in claim):
        with pytest.raises(ValueError, match="holds no word"):
            checker(evidence, claim)
        return None
    if not (evidence[0] + claim).isascii() and any(is_unread(text) for text in (evidence[0], claim)):
        with pytest.raises(ValueError, match="no verdict on .* in (Chinese|Arabic)"):
            checker(evidence, claim)
        return None
    return checker(evidence, claim)


def is_unread(text):
    """Whether most letters are of a script that an English model does not read."""
    letters = [character for character in text if character.isalpha()]
    return sum(ord(character) > 0x5FF for character in letters) > len(letters) / 2


TEXT_FUNCTIONS = {
    "split_text": split_text,
    "split_sentences": split_sentences,
    "split_units": split_units,
    "split_claims": split_claims,
    "sentence2embedding": lambda text: sentence2embedding([text]),
    "checker claim": lambda text: checker_or_refusal([ARTICLE], text),
    "checker evidence": lambda text: checker_or_refusal([text], ARTICLE),
    "evaluate article": lambda text: evaluate(text, ARTICLE),
    "evaluate summary": lambda text: evaluate(ARTICLE, text),
    "evaluate_many": lambda text: evaluate_many([text, ARTICLE], [ARTICLE, text]),
}

NOT_TEXTS = [None, b"bytes", 7, math.nan, {"a": 1}, ["a", "list"]]


def numbers_of(value):
    """Every number inside a result."""
    if isinstance(value, (bool, str, bytes)) or value is None:
        return
    if isinstance(value, (int, float, np.number)):
        yield float(value)
    elif isinstance(value, np.ndarray):
        yield from map(float, value.ravel())
    elif hasattr(value, "to_dict"):
        yield from numbers_of(value.to_dict())
    elif isinstance(value, dict):
        for inner in value.values():
            yield from numbers_of(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from numbers_of(inner)


@pytest.mark.parametrize("text", STRANGE_TEXTS.values(), ids=STRANGE_TEXTS.keys())
@pytest.mark.parametrize("function", TEXT_FUNCTIONS.values(), ids=TEXT_FUNCTIONS.keys())
def test_strange_text_works_and_is_never_nan(function, text):
    assert all(map(math.isfinite, numbers_of(function(text))))


@pytest.mark.parametrize("value", NOT_TEXTS, ids=[type(v).__name__ for v in NOT_TEXTS])
@pytest.mark.parametrize("function", TEXT_FUNCTIONS.values(), ids=TEXT_FUNCTIONS.keys())
def test_what_is_not_text_is_a_type_error_that_names_it(function, value):
    with pytest.raises(TypeError, match=type(value).__name__):
        function(value)


@pytest.mark.parametrize("text", STRANGE_TEXTS.values(), ids=STRANGE_TEXTS.keys())
def test_reports_of_strange_text_can_be_written(text, tmp_path):
    result = evaluate(ARTICLE + " " + text, "It opened in 1931. " + text)
    page = result.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    json.loads(json.dumps(result.to_dict()))
    assert not any(c in result.to_text() for c in "\x00\x1b\x07")


@pytest.mark.parametrize("length", [1_000_000])
def test_a_megabyte_without_a_space(length):
    text = "a" * length
    assert split_text(text) == [text]
    assert max(map(len, split_units(text))) <= 500
    assert sentence2embedding([text]).shape == (1, 384)


GOOD = np.ones((2, 3))
BAD_ARRAYS = {
    "NaN": np.array([[1.0, np.nan, 1.0]]),
    "inf": np.array([[1.0, np.inf, 1.0]]),
    "rank 1": np.ones(3),
    "rank 3": np.ones((2, 3, 1)),
    "no rows": np.ones((0, 3)),
    "no columns": np.ones((2, 0)),
    "another d": np.ones((2, 4)),
}


@pytest.mark.parametrize("array", BAD_ARRAYS.values(), ids=BAD_ARRAYS.keys())
@pytest.mark.parametrize("function", [cosine_similarity, dot_similarity])
def test_bad_vectors_are_value_errors(function, array):
    for arguments in ((array, GOOD), (GOOD, array)):
        with pytest.raises(ValueError, match="embed_text|embed_summary"):
            function(*arguments)


@pytest.mark.parametrize("array", [BAD_ARRAYS[name] for name in ("NaN", "inf", "rank 1", "rank 3")])
def test_bad_similarities_are_value_errors(array):
    with pytest.raises(ValueError, match="sim_matrix"):
        topk_related(array, 1)


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), (-3, ValueError), (1.5, TypeError), ("2", TypeError)])
def test_bad_k(k, error):
    with pytest.raises(error, match="k must"):
        topk_related(GOOD, k)
    with pytest.raises(error, match="k must"):
        evaluate(ARTICLE, "It is long.", k)


def test_k_beyond_the_article_is_the_whole_article():
    assert topk_related(GOOD, 99).shape == (2, 3)
    assert len(evaluate(ARTICLE, "It is long.", 99).verdicts[0].evidence) == 2


@pytest.mark.parametrize("option", ["splitter", "embedder", "checker"])
def test_unknown_options_name_the_known(option):
    with pytest.raises((ValueError, TypeError), match="no-such"):
        evaluate(ARTICLE, "It is long.", **{option: "no-such"})


HUGE = 10**400  # a whole number that no float can hold
TOO_LARGE = {
    "a share": (lambda: s.agreement.fleiss_kappa([[1, 2], [1, 1]], confidence=HUGE), "confidence must lie in"),
    "a share of failures": (
        lambda: s.judged.context_recall("a?", "a", "a", max_failed=-HUGE),
        "max_failed must lie in",
    ),
    "resamples": (lambda: s.cohen_kappa([1, 2], [1, 1], n_resamples=10**18), "n_resamples must be at most 10,000,000"),
    "resamples of votes": (
        lambda: s.judged.bradley_terry([("x", "y", "x")], n_resamples=HUGE),
        "n_resamples must be at most",
    ),
    "errors": (lambda: s.evidence.accepted_needed(HUGE), "errors must be at most"),
    "a risk that is nearly none": (lambda: s.evidence.accepted_needed(risk=5e-324), "risk must be at least 1e-09"),
    "an offset": (lambda: s.EmbeddedChecker(threshold=0.5, offset=HUGE), "offset finite"),
    "p-values": (lambda: s.agreement.adjust_p_values([0.1, HUGE]), "p_values holds a number that no float can hold"),
    "accepted": (lambda: s.evidence.error_bound([0], [HUGE]), "accepted holds a number that no float can hold"),
    "a tie": (
        lambda: s.agreement.pairwise_accuracy([[1, 2]], [[2, 1]], epsilon=HUGE),
        "epsilon holds a number that no float",
    ),
    "vectors": (
        lambda: s.agreement.reference_similarities(HUGE, [[[1.0]]]),
        "machine holds a number that no float can hold",
    ),
    "a vector": (
        lambda: s.agreement.reference_similarities([[[1.0]]], [[[HUGE]]]),
        "human holds a number that no float",
    ),
    "a smoothing value": (
        lambda: s.load_metric("bleu", smooth="add-k", smooth_value=HUGE),
        "smooth_value must be a finite number",
    ),
    "raters": (lambda: s.agreement.metric_ceiling(0.5, HUGE), "n_raters must be a number that a float can hold"),
}


@pytest.mark.parametrize("call, message", TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_numbers_beyond_reason_are_value_errors_at_once(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_cell_beyond_all_floats_is_no_number_of_a_table():
    with pytest.raises(TypeError, match="a must be a table of numbers.*no float can hold"):
        s.agreement.paired_test([[1, 2], [2, HUGE]], [[1, 2], [2, 1]], [[1, 2], [2, 1]])


@pytest.mark.parametrize("lang", ["\ud800", "中文"])
def test_a_language_is_a_code(lang):
    pytest.importorskip("sentencex")
    with pytest.raises(ValueError, match="lang must be the code of a language"):
        s.text.split_many(["It rained."], splitter="sentencex", lang=lang)


@pytest.mark.parametrize("items", [{"a": 1}, {}, "a", 3, None])
def test_questions_are_listed(items):
    with pytest.raises(TypeError, match="items must be a list of tuples"):
        s.judged.ask_many(s.judged.load_judge("embedded"), "statements", items)


def test_a_language_is_a_text():
    with pytest.raises(TypeError, match="lang must be a string"):
        s.evaluate("It rained.", "It rained.", lang={"en": 1})


def test_a_ceiling_of_no_agreement_is_0():
    assert s.agreement.metric_ceiling(-HUGE, 3) == 0.0


def test_a_number_beyond_all_floats_is_a_failed_metric(tmp_path):
    found = s.run([{"text": "a"}], lambda row: HUGE, out=tmp_path / "o", workers=0, progress=False)
    (row,) = found.rows()
    assert row["status"] == "failed" and "the metric returned 1000" in row["reason"]


def test_lists_must_pair_up():
    with pytest.raises(ValueError, match="2 texts and 1 summaries"):
        evaluate_many(["a", "b"], ["c"])
    with pytest.raises(TypeError, match="texts must be a list of strings"):
        evaluate_many("a", ["c"])
    assert len(evaluate_many([], [])) == 0


@pytest.mark.parametrize("infinite", [float("inf"), float("-inf")])
def test_an_infinite_score_is_not_compared(infinite):
    good, bad = np.array([0.1, 0.2, 0.3]), np.array([0.1, infinite, 0.3])
    for pair in ((good, bad), (bad, good)):
        with pytest.raises(ValueError, match="scores must be finite numbers"):
            compare_runs(*pair)


@pytest.mark.parametrize("name", [r"$\frac$", "a $5 system"])
def test_names_of_metrics_break_no_figure(name):
    ratings = load_toy_summeval()
    lengths = [[len(summary) for summary in row] for row in ratings.summaries]
    table = metric_table(ratings, {name: lengths, "other": lengths}, rank=False, n_resamples=0)
    table.plot().canvas.draw()


@pytest.mark.parametrize("name", [r"$\frac$", "a $5 system", "\ud83d \x1b[2J \u202e", "<script>"])
def test_names_of_systems_and_rubrics_break_no_figure(name):
    ranked = s.judged.bradley_terry([(name, "x", name), ("x", name, "tie")], n_resamples=5)
    ranked.plot().figure.canvas.draw()
    rubric = s.judged.RubricMetric(criteria="Is it polite?", title=name, backend=s.ScriptedBackend(lambda prompt: "4"))
    rubric.score("When?", "At nine.").plot().figure.canvas.draw()


@pytest.mark.parametrize("name", ["resume", "retry_failed", "recover"])
def test_a_flag_of_a_run_is_true_or_false(name, tmp_path):
    rows = [{"candidate": "a", "references": "a"}]
    with pytest.raises(TypeError, match=f"{name} must be True or False, not str"):
        run(rows, "bleu", out=tmp_path / "out", workers=0, progress=False, **{name: "no"})
    assert not (tmp_path / "out").exists()


def test_flags_of_tables_and_units_are_true_or_false():
    with pytest.raises(TypeError, match="rank must be True or False"):
        metric_table(load_toy_summeval(), ["rouge1"], rank="no")
    with pytest.raises(TypeError, match="keep_lists must be True or False"):
        split_units(ARTICLE, keep_lists="no")

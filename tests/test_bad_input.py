"""One table decides: what every public function of the evidence pipeline does with bad or strange input.

Strange *text* works as documented and never gives NaN. What is not text, and arrays and counts that make no sense,
raise an error that names the argument.
"""

import json
import math
import re
from functools import cache
from itertools import permutations

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


@pytest.mark.parametrize("function", TEXT_FUNCTIONS.values(), ids=TEXT_FUNCTIONS.keys())
def test_strange_text_works_and_what_is_no_text_is_named(function):
    for kind, text in STRANGE_TEXTS.items():
        assert all(map(math.isfinite, numbers_of(function(text)))), kind
    for value in NOT_TEXTS:
        with pytest.raises(TypeError, match=type(value).__name__):
            function(value)


def test_reports_of_strange_text_can_be_written(tmp_path):
    for text in STRANGE_TEXTS.values():
        result = evaluate(ARTICLE + " " + text, "It opened in 1931. " + text)
        page = result.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
        assert "<script" not in page
        json.loads(json.dumps(result.to_dict()))
        assert not any(c in result.to_text() for c in "\x00\x1b\x07")


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


def test_bad_vectors_are_value_errors():
    for array in BAD_ARRAYS.values():
        for function in (cosine_similarity, dot_similarity):
            for arguments in ((array, GOOD), (GOOD, array)):
                with pytest.raises(ValueError, match="embed_text|embed_summary"):
                    function(*arguments)


HUGE = 10**400  # a whole number that no float can hold
BAD_K = [(0, ValueError), (-3, ValueError), (1.5, TypeError), ("2", TypeError)]
TOY = {"cosine": np.ones((2, 3))}
YES = s.ScriptedBackend(lambda prompt: "yes")

# a call, the error, a word of its message
WRONG = [
    (lambda: s.agreement.summeval_scores(None, None), TypeError, "tables must map"),
    (lambda: s.agreement.summeval_scores({}, np.ones((2, 3))), TypeError, "tables must map"),
    (lambda: s.agreement.summeval_scores(TOY, np.ones((2, 4))), ValueError, "the same shape"),
    (lambda: s.agreement.summeval_scores(TOY, np.eye(3)[:2], main="dot"), ValueError, "main"),
    (lambda: s.core.Signature(None), TypeError, "parts must map"),
    (lambda: s.judged.ask_many(3, "statements", [("It rained.",)]), TypeError, "judge must be a Judge"),
    (lambda: s.evaluate_answer(context="a", documents="b"), TypeError, "'documents' is another name of 'contexts'"),
    (lambda: s.LLMChecker(3), TypeError, "TransformersBackend"),
    (lambda: s.LLMChecker(YES, prompt="Is {claim} true?"), ValueError, "{evidence} once"),
    (lambda: s.LLMChecker(YES, options=("yes", "yes")), ValueError, "two different answers"),
    (lambda: s.LLMChecker(YES, threshold=1.5), ValueError, "threshold"),
    (lambda: s.LLMChecker(YES, claims="arcs"), ValueError, "parser"),
    (lambda: s.LLMChecker(YES, splitter=1), ValueError, "splitter is for"),
    (lambda: s.LLMChecker(YES, workers=0), ValueError, "workers"),
    (lambda: s.TransformersBackend("somebody/some-model"), s.models.BackendRejected, "cannot be loaded.* a folder"),
    (lambda: s.ServerBackend("m", base_url="http://x/v1", dialect="klingon"), ValueError, "unknown dialect 'klingon'"),
    (lambda: s.ServerBackend("m", base_url="http://x/v1", max_retries=-1), ValueError, "max_retries"),
    (lambda: s.compare_runs(np.array([1.0, 2, 1e308]), np.zeros(3)), ValueError, "beyond 1e100"),
    (lambda: s.agreement.metric_scores(object(), ["length"]), TypeError, "data must be a SummEval"),
    (lambda: s.compare_metrics(float("nan"), np.ones((2, 3))), TypeError, "metrics must map"),
    (
        lambda: s.compare_metrics({"a": np.eye(3), "b": np.ones((3, 3))}, np.eye(3), alpha=5e-324),
        ValueError,
        "alpha must",
    ),
    (lambda: s.runs.plan_run([], "bleu", sample=1), ValueError, "sample must be at least 2"),
    (lambda: s.load_summeval("half \ud83d.jsonl"), ValueError, "half a character"),
    (lambda: s.Store("half \ud83d.sqlite"), ValueError, "half a character"),
    (lambda: s.evidence.faithfulness_from_dict({}), ValueError, "'schema' is missing"),
    (lambda: s.evidence.faithfulness_from_dict({"schema": 2}), ValueError, "'verdicts' is missing"),
    (
        lambda: s.evidence.faithfulness_from_dict(plain() | {"schema": 7}),
        ValueError,
        "schema 7, and only 2 can be read",
    ),
    (lambda: s.evidence.faithfulness_from_dict(None), ValueError, "not the plain data of a Faithfulness"),
    (
        lambda: s.evidence.faithfulness_from_dict(plain() | {"verdicts": [3]}),
        ValueError,
        "not the plain data of a Faithfulness",
    ),
    (lambda: s.agreement.fleiss_kappa([[1, 2], [1, 1]], confidence=HUGE), ValueError, "confidence must lie in"),
    (lambda: s.judged.context_recall("a?", "a", "a", max_failed=-HUGE), ValueError, "max_failed must lie in"),
    (lambda: s.cohen_kappa([1, 2], [1, 1], n_resamples=10**18), ValueError, "n_resamples must be at most 10,000,000"),
    (lambda: s.judged.bradley_terry([("x", "y", "x")], n_resamples=HUGE), ValueError, "n_resamples must be at most"),
    (lambda: s.evidence.accepted_needed(HUGE), ValueError, "errors must be at most"),
    (lambda: s.evidence.accepted_needed(risk=5e-324), ValueError, "risk must be at least 1e-09"),
    (lambda: s.EmbeddedChecker(threshold=0.5, offset=HUGE), ValueError, "offset finite"),
    (lambda: s.agreement.adjust_p_values([0.1, HUGE]), ValueError, "p_values holds a number that no float can hold"),
    (lambda: s.evidence.error_bound([0], [HUGE]), ValueError, "accepted holds a number that no float can hold"),
    (
        lambda: s.agreement.pairwise_accuracy([[1, 2]], [[2, 1]], epsilon=HUGE),
        ValueError,
        "epsilon holds a number that no float",
    ),
    (
        lambda: s.agreement.reference_similarities(HUGE, [[[1.0]]]),
        ValueError,
        "machine holds a number that no float can hold",
    ),
    (
        lambda: s.agreement.reference_similarities([[[1.0]]], [[[HUGE]]]),
        ValueError,
        "human holds a number that no float",
    ),
    (
        lambda: s.load_metric("bleu", smooth="add-k", smooth_value=HUGE),
        ValueError,
        "smooth_value must be a finite number",
    ),
    (
        lambda: s.agreement.paired_test([[1, 2], [2, HUGE]], [[1, 2], [2, 1]], [[1, 2], [2, 1]]),
        TypeError,
        "a must be a table of numbers.*no float can hold",
    ),
    (lambda: s.evaluate("It rained.", "It rained.", lang={"en": 1}), TypeError, "lang must be a string"),
    (lambda: evaluate_many(["a", "b"], ["c"]), ValueError, "2 texts and 1 summaries"),
    (lambda: evaluate_many("a", ["c"]), TypeError, "texts must be a list of strings"),
    (lambda: metric_table(load_toy_summeval(), ["rouge1"], rank="no"), TypeError, "rank must be True or False"),
    (lambda: split_units(ARTICLE, keep_lists="no"), TypeError, "keep_lists must be True or False"),
    *((lambda k=k: topk_related(GOOD, k), error, "k must") for k, error in BAD_K),
    *((lambda k=k: evaluate(ARTICLE, "It is long.", k), error, "k must") for k, error in BAD_K),
    *(
        (lambda name=name: topk_related(BAD_ARRAYS[name], 1), ValueError, "sim_matrix")
        for name in ("NaN", "inf", "rank 1", "rank 3")
    ),
    *(
        (lambda name=name: evaluate(ARTICLE, "It is long.", **{name: "no-such"}), (ValueError, TypeError), "no-such")
        for name in ("splitter", "embedder", "checker")
    ),
    *(
        (
            lambda items=items: s.judged.ask_many(s.judged.load_judge("embedded"), "statements", items),
            TypeError,
            "items must be a list of tuples",
        )
        for items in ({"a": 1}, {}, "a", 3, None)
    ),
    *(
        (lambda pair=pair: compare_runs(*pair), ValueError, "scores must be finite numbers")
        for pair in permutations(([0.1, 0.2, 0.3], [0.1, math.inf, 0.3]))
    ),
]


@cache
def plain():
    return s.evaluate("It rained.", "It rained.").to_dict()


def test_a_wrong_argument_is_named():
    """One table for the wrong arguments of all public calls; `make torture` found many of them."""
    missed = []
    for number, (call, error, message) in enumerate(WRONG):
        try:
            missed.append(f"row {number} returned {call()!r}: {message}")
        except error as raised:
            missed += [] if re.search(message, str(raised)) else [f"row {number}: {raised}, not {message}"]
    assert not missed, missed


@pytest.mark.parametrize("lang", ["\ud800"])
def test_a_language_is_a_code(lang):
    pytest.importorskip("sentencex")
    with pytest.raises(ValueError, match="lang must be the code of a language"):
        s.text.split_many(["It rained."], splitter="sentencex", lang=lang)


def test_names_of_systems_and_rubrics_break_no_figure():
    name = "$\\frac$ a $5 system \ud83d \x1b[2J \u202e <script>"
    ranked = s.judged.bradley_terry([(name, "x", name), ("x", name, "tie")], n_resamples=5)
    ranked.plot().figure.canvas.draw()
    rubric = s.load_metric("rubric", rubric="Is it polite?", title=name, judge=s.ScriptedBackend(lambda prompt: "4"))
    rubric.score("When?", "At nine.").plot().figure.canvas.draw()


@pytest.mark.parametrize("name", ["resume", "retry_failed"])
def test_a_flag_of_a_run_is_true_or_false(name, tmp_path):
    rows = [{"candidate": "a", "references": "a"}]
    with pytest.raises(TypeError, match=f"{name} must be True or False, not str"):
        run(rows, "bleu", out=tmp_path / "out", workers=0, progress=False, **{name: "no"})
    assert not (tmp_path / "out").exists()


def test_a_number_beyond_all_floats_is_a_failed_metric(tmp_path):
    (row,) = s.run([{"text": "a"}], lambda row: HUGE, out=tmp_path / "o", workers=0, progress=False).rows()
    assert row["status"] == "failed" and "the metric returned 1000" in row["reason"]

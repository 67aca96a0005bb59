"""Every metric is an object with one face, wherever it goes."""

import dataclasses
import json
import math
import pickle
import re
from types import SimpleNamespace

import pytest

import summeval_nb as s
from summeval_nb.agreement.registry import find_metric
from summeval_nb.core.metric import Metric, score_rows
from summeval_nb.runs.file import find_unknown
from summeval_nb.runs.running import Job

TOY = s.core.load_toy_summeval()
BACKEND = s.ScriptedBackend(lambda prompt: "4")
NEEDED = {
    "rating": {"quality": "fluency", "judge": BACKEND},
    "rubric": {"rubric": "Is it so?", "judge": BACKEND},
    **dict.fromkeys(("faithfulness", "citations"), {"judge": "words"}),
    "meteor": {"synonyms": None},  # by name alone it needs nltk's WordNet
}
TEXT, OPENED = "The bridge opened in 1931. It is long.", "The bridge opened in 1931."
ROW = {"text": TEXT, "contexts": [TEXT], "candidate": "a cat sat", "references": ["a cat sat", "a cat ran"]}
ROW |= dict.fromkeys(("summary", "ground_truth", "answer", "a"), OPENED) | {"question": "When did it open?"}
ROW |= {"b": "The bridge is blue.", "retrieved_context_ids": ["d1", "d2"], "reference_context_ids": ["d1"]}
NAMES = list(s.agreement.METRICS)


def made(name: str):
    return s.load_metric(name, **NEEDED.get(name, {}))


def changed(metric, **options):
    """The same metric with some other options."""
    if type(metric) is s.Metric:
        return s.Metric(metric.definition, **metric.options() | options)
    return dataclasses.replace(metric, **options)


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_has_the_same_face(name):
    metric, kind = made(name), find_metric(name)[0]
    assert isinstance(metric, s.Metric) and kind in (type(metric), getattr(metric, "definition", None))
    assert metric.name and metric.judged in metric.columns
    assert set(metric.columns.values()) <= {"text", "texts"} and s.core.Signature.parse(str(metric.signature))["metric"]
    assert metric.fingerprint == made(name).fingerprint and re.fullmatch(r"\w+-[0-9a-f]{16}", metric.fingerprint)
    assert changed(metric) == metric
    row = [ROW[column] for column in metric.columns]
    result, table = metric.score(*row), metric.score_many(*([value] * 2 for value in row))
    assert isinstance(table, s.core.ScoreTable) and len(table) == 2 and len(table.rows()) == 2
    json.dumps(table.to_dict(), allow_nan=False)
    assert table.n_undefined == 0 and math.isclose(table.mean(), float(table.scores[1]))
    assert set(table.means()) == set(table.arrays()) and len(table.to_frame()) == 2
    assert {"mean", "n_undefined", "rows", "signature"} <= set(table.to_dict())
    ranked = getattr(result, getattr(result, "rank", "score"), None)  # an exam's table ranks by the guarded value
    if ranked is not None:
        assert math.isclose(ranked, float(table.scores[0]), abs_tol=1e-6)
    outcomes = score_rows(metric, [ROW] * 2)
    assert [outcome.status for outcome in outcomes] == ["ok", "ok"] and outcomes[0].score == table.scores[0]
    assert s.core.Signature.parse(outcomes[0].signature)


def test_an_object_and_its_name_make_the_same_run(tmp_path):
    rows = [{"candidate": "the cat sat", "references": "the cat ran"}, {"candidate": "", "references": [""]}]
    for name, options in (
        ("bleu", {"n": 2}),
        ("rouge", {"types": ["rouge1"]}),
        ("chrf", {"word_order": 2}),
        ("length", {}),
    ):
        metric, how = s.load_metric(name, **options), {"workers": 0, "progress": False}
        outcome = s.run(rows, metric, out=tmp_path / f"{name} object", **how)
        two = s.run(rows, metric.name, options=metric.options(), out=tmp_path / name, **how)
        assert outcome.path.read_bytes() == two.path.read_bytes() and outcome.counts["failed"] == 0
        assert outcome.info["settings"] == two.info["settings"]


def test_a_metric_takes_its_store_and_its_choices_into_a_run(tmp_path):
    job = Job(s.load_metric("faithfulness", checker="words", k=2, store=tmp_path / "kept.sqlite"))
    assert (job.metric, job.options) == ("faithfulness", {"checker": "words", "k": 2})
    assert job.store == str(tmp_path / "kept.sqlite")
    metric = s.load_metric("faithfulness", checker="words", store=tmp_path / "kept.sqlite")
    first, again = (metric.score(TEXT, "The bridge opened in 1931.") for _ in range(2))
    assert first.to_dict() == again.to_dict() and (tmp_path / "kept.sqlite").is_file()


class Own:
    """A metric of somebody's that inherits nothing: the length, or what it was made with."""

    columns = {"candidate": "text"}
    judged, fingerprint = "candidate", "own-1"

    def __init__(self, answer=None):
        self.answer = answer

    def score_many(self, candidates):
        return self.answer or [len(candidate) or None for candidate in candidates]


def test_an_own_metric_needs_no_base_and_goes_wherever_ours_go(tmp_path):
    found = score_rows(Own([1, math.nan, None]), [{"candidate": "a"}] * 3)
    assert [(one.score, one.status) for one in found] == [(1.0, "ok"), (None, "failed"), (None, "undefined")]
    rows = [{"candidate": "a cat", "references": "a"}, {"candidate": "", "references": "a"}]
    report = s.run(rows, Own(), out=tmp_path / "own", workers=0, progress=False)
    assert report.counts == {"ok": 1, "undefined": 1, "failed": 0} and report.mean() == 5
    assert s.agreement.metric_scores(TOY, {"own": Own()})["own"][0, 0] == len(TOY.summaries[0][0])
    assert s.runs.plan_run(rows, Own()).items == 2


def test_the_names_are_one_list_and_metrics_can_be_sent_to_a_worker():
    metrics = s.agreement.METRICS
    assert len(metrics) == len(NAMES) and "chrf" in metrics and "blue" not in metrics
    assert metrics["chrf"].score("the cat sat", "the cat sat").score > 99.9 and "rougeL" in repr(metrics)
    for name in NAMES:
        Job(name, options={"synonyms": None} if name == "meteor" else {})
    for name in ("bleu", "rouge", "chrf", "length", "bertscore", "meteor", "answers", "summary_score", "faithfulness"):
        assert pickle.loads(pickle.dumps(made(name))) == made(name)


OTHERWISE = {
    "measures": ("length",), "tokenize": "char", "smooth": "floor", "smooth_value": 0.2, "types": ("rouge3",),
    "tokenizer": "char", "multi": "mean", "compat": "rouge-1.5.5", "exceptions": {"a": "b"}, "synonyms": {"a": ["b"]},
    "layer": 1, "baseline": [[0.1] * 3] * 7, "embedder": SimpleNamespace(fingerprint="ones-1", encode=len), "k": 2,
    "splitter": "sentencex", "checker": "embedded", "threshold": 0.9, "lang": "en", "judge": "llm:another",
    "length": "words", "n_keyphrases": 2, "rank": "score", "quality": "relevance", "scale": (1, 4),
    "noise": "irrelevant", "rubric": "Is it kind?", "metrics": ("context_recall",), "steps": ("Look.",),
    "title": "other",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_of_a_metric_is_part_of_a_runs_identity(name):
    """Another choice, another run: nothing that was scored before is kept."""
    metric = made(name)
    before = Job(metric).settings()
    function = type(metric) is s.Metric
    bound = metric.bound() if function else {n: getattr(metric, n) for n in type(metric).defaults()}
    for field, value in bound.items():
        if field in ("store", "model"):  # the store decides nothing; a model is another object
            continue
        if isinstance(value, bool):
            other = not value
        elif isinstance(value, (int, float)):
            other = value / 2 if isinstance(value, float) else value + 1
        else:
            other = OTHERWISE[field]
        try:
            another = changed(metric, **{field: other})
        except ValueError:
            continue  # a choice that goes only with another
        assert Job(another).settings() != before or find_unknown(before), f"{name}: {field}"


def shortened(candidate, longest: int = 3, model: object = None):
    return min(len(candidate), longest)


def test_a_signature_by_default_tells_the_options():
    assert str(Metric(shortened).signature).startswith("metric:shortened|version:")
    chosen = Metric(shortened, longest=5, model=SimpleNamespace(fingerprint="named-1"))
    assert chosen.signature["longest"] == "5" and chosen.signature["model"] == "named-1"
    assert Metric(shortened, model=object()).signature["model"] == "object", "no address in memory"
    assert len({Metric(shortened).fingerprint, chosen.fingerprint, Metric(shortened, longest=4).fingerprint}) == 3


def test_judge_and_checker_are_one_option():
    text, summary = "The dog slept. It rained.", "It rained."
    line = s.evaluate(text, summary, checker="words").signature
    calls = {
        "one": lambda **who: s.evaluate(text, summary, **who).signature,
        "many": lambda **who: s.evidence.evaluate_many([text], [summary], **who).signature,
        "asserted": lambda **who: s.assert_faithful(text, summary, **who).signature,
        "bound": lambda **who: s.load_metric("faithfulness", **who).signature,
        "of a run": lambda **who: s.load_metric("faithfulness", **Job("faithfulness", who).options).signature,
    }
    for name, call in calls.items():
        assert call(judge="words") == line, name
        with pytest.raises(ValueError, match="two names of one option"):
            call(checker="embedded", judge="words")
    assert Job("faithfulness", {"judge": "words"}).options == Job("faithfulness", {"checker": "words"}).options

"""Metrics in a training loop: `compute` by keyword, batches, columns of a Hugging Face data set, mistakes."""

import json
import math
import pickle

import numpy as np
import pytest

import summeval_nb as s

MADE = ["the cat sat on the mat", "a dog ran away", "nothing like it", "police kill the gunman"]
WANTED = [["the cat sat on a mat", "a cat sat"], ["the dog ran away"], ["it rained"], ["police killed the gunman"]]
ARTICLES = ["The cat sat on the mat. It slept.", "A dog ran away from home.", "It rained.", "Police came late."]
PAIRS = {"predictions": MADE, "references": WANTED}
METRICS = [
    (s.Bleu(n=2), WANTED),
    (s.Rouge(types=["rouge1", "rougeL"], stemmer=True), WANTED),
    (s.Chrf(word_order=2), WANTED),
    (s.Ter(), WANTED),
    (s.FaithfulnessMetric(checker="words"), ARTICLES),
]
each = pytest.mark.parametrize(("metric", "references"), METRICS, ids=[metric.name for metric, _ in METRICS])


def columns_of(metric, references):
    return [MADE if name == metric.judged else references for name in metric.columns]


@each
def test_compute_gives_the_means_of_the_table(metric, references):
    found, table = (
        metric.compute(predictions=MADE, references=references),
        metric.score_many(*columns_of(metric, references)),
    )
    assert type(found) is dict and json.loads(json.dumps(found, allow_nan=False)) == found
    assert {name: found[name] for name in table.arrays()} == table.means() and found["n_undefined"] == 0
    for name, values in table.arrays().items():
        assert math.isclose(found[name], values.mean())
    assert metric.compute(**dict(zip(metric.columns, columns_of(metric, references), strict=True))) == found


def test_the_means_by_hand():
    found = s.Rouge(types=["rouge1"]).compute(predictions=["a cat", "a cat"], references=["a cat", "a dog ran by"])
    assert found == pytest.approx(
        {"rouge1_f1": 2 / 3, "rouge1_precision": 3 / 4, "rouge1_recall": 5 / 8} | {"n_undefined": 0}
    )


@pytest.mark.parametrize(("metric", "corpus"), [(s.Bleu(), s.corpus_bleu), (s.Chrf(), s.corpus_chrf)])
def test_what_scores_a_corpus_does(metric, corpus):
    found = metric.compute(**PAIRS)
    assert found[f"corpus_{metric.name}"] == corpus(MADE, WANTED).score != found[metric.name]
    assert s.Ter().compute(**PAIRS)["corpus_ter"] == s.corpus_ter(MADE, WANTED).score
    assert "corpus_rouge" not in s.Rouge().compute(**PAIRS)


@each
@pytest.mark.parametrize("size", [1, 3, 4])
def test_batches_give_what_one_call_gives(metric, references, size):
    batches = metric.accumulator()
    for start in range(0, len(MADE), size):
        part = slice(start, start + size)
        batches.update(predictions=MADE[part], references=references[part])
    batches.update(predictions=[], references=[])
    whole = metric.compute(predictions=MADE, references=references)
    assert len(batches) == 4 and batches.compute() == whole == batches.compute()
    assert "4 texts" in repr(batches) and pickle.loads(pickle.dumps(batches)).compute() == whole
    batches.reset()
    assert len(batches) == 0
    with pytest.raises(ValueError, match="call update"):
        batches.compute()
    batches.update(predictions=MADE[:1], references=references[:1])
    assert batches.compute() == metric.compute(predictions=MADE[:1], references=references[:1])


def test_two_accumulators_share_nothing():
    metric = s.Chrf()
    one, other = metric.accumulator(), metric.accumulator()
    one.update(**PAIRS)
    assert (len(one), len(other)) == (4, 0) and MADE[0] == "the cat sat on the mat" and len(MADE) == 4


def test_columns_of_a_data_set():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"made": MADE, "wanted": WANTED, "article": ARTICLES})
    for metric, references in METRICS:
        column = "article" if metric.name == "faithfulness" else "wanted"
        whole = metric.compute(predictions=MADE, references=references)
        assert metric.compute(predictions=data["made"], references=data[column]) == whole
        batches = metric.accumulator()
        for batch in data.iter(batch_size=3):
            batches.update(predictions=batch["made"], references=batch[column])
        assert batches.compute() == whole
    assert s.Bleu().compute(predictions=np.array(MADE), references=WANTED) == s.Bleu().compute(**PAIRS)


def test_what_has_no_score_is_counted_and_in_no_mean():
    found = s.Chrf().compute(predictions=["a cat", ""], references=["a cat", ""])
    assert found["n_undefined"] == 1 and found["chrf"] == 100
    assert s.Rouge().compute(predictions=[""], references=[""])["rougeL_f1"] is None


def test_a_metric_of_ones_own_that_returns_a_list():
    class Long(s.Metric):
        name, columns, judged = "long", {"candidate": "text"}, "candidate"

        def score_many(self, candidates):
            return [len(one) or None for one in candidates]

    assert Long().compute(predictions=["ab", "", "abcd"]) == {"score": 3, "n_undefined": 1}
    assert Long().compute(predictions=[""]) == {"score": None, "n_undefined": 1}


def test_a_metric_of_many_columns_takes_their_names():
    rows = {"context": ["It rained."], "question": ["Did it rain?"], "ground_truth": ["It rained."]}
    metric = s.AnswerMetric()
    assert metric.compute(predictions=["It rained."], **rows) == metric.compute(answer=["It rained."], **rows)


CHRF, FAITHFUL = s.Chrf(), s.FaithfulnessMetric(checker="words")
WRONG = [
    ({"predictions": ["a", "b"], "references": ["a"]}, ValueError, "2 predictions, 1 references"),
    ({"predictions": [], "references": []}, ValueError, "at least one text"),
    ({"predictions": ["a"]}, ValueError, "give references= too"),
    ({}, ValueError, "give predictions=, references= too"),
    ({"predictions": ["a"], "references": ["a"], "labels": ["a"]}, ValueError, "no column for labels: it reads"),
    ({"predictions": ["a"], "candidate": ["a"], "references": ["a"]}, ValueError, "both the column candidate"),
    ({"predictions": "a", "references": ["a"]}, TypeError, "predictions must be a list of strings"),
    ({"predictions": ["a"], "references": "a"}, TypeError, "references must be a list"),
    ({"predictions": ["a", None], "references": ["a", "b"]}, TypeError, r"predictions\[1\]"),
    ({"predictions": ["a"], "references": [[None]]}, TypeError, r"references\[0\]\[0\]"),
    ({"predictions": ["a"], "references": [[]]}, ValueError, r"references\[0\] is empty"),
]


@pytest.mark.parametrize(("given", "kind", "message"), WRONG)
def test_a_mistake_names_the_remedy(given, kind, message):
    with pytest.raises(kind, match=message):
        CHRF.compute(**given)


@pytest.mark.parametrize(("given", "kind", "message"), WRONG[2:])
def test_a_wrong_batch_adds_nothing(given, kind, message):
    batches = CHRF.accumulator()
    batches.update(**PAIRS)
    with pytest.raises(kind, match=message):
        batches.update(**given)
    assert len(batches) == 4 and batches.compute() == CHRF.compute(**PAIRS)


def test_references_that_no_column_is():
    with pytest.raises(ValueError, match="Length has no column for references: it reads candidate"):
        s.Length().compute(predictions=["a"], references=["a"])
    with pytest.raises(ValueError, match="AnswerMetric has no column for references"):
        s.AnswerMetric().compute(predictions=["a"], references=["a"])
    with pytest.raises(ValueError, match=r"FaithfulnessMetric reads text, summary: give references= too"):
        FAITHFUL.compute(predictions=["a"])

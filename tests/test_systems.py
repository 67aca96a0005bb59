"""Several systems on the same texts, the numbers of short answers, and search results with identifiers."""

import math
import random

import pytest

import summeval_nb as s
from summeval_nb.agreement import compare_systems
from summeval_nb.judged import hit_rate, mrr, ndcg, recall_at_k
from summeval_nb.overlap import exact_match, token_f1

WORDS = ["the", "a", "cat", "dog", "mat", "sat", "ran", "on", "big", "old", "mill", "rain", "fell", "town"]


def systems(*noise: float) -> tuple[dict[str, list[str]], list[str]]:
    """References, and what systems make of them that exchange a share of the words."""
    lot = random.Random(1)
    references = [" ".join(lot.choices(WORDS, k=10)) for _ in range(60)]
    said = lambda share: [" ".join(w if lot.random() > share else "x" for w in r.split()) for r in references]
    return {str(share): said(share) for share in noise}, references


def test_scores_and_p_values_are_sacrebleus():
    from sacrebleu.metrics import BLEU, CHRF, TER
    from sacrebleu.significance import PairedTest

    outputs, references = systems(0.3, 0.32, 0.5)
    found = compare_systems(outputs, references, metrics=["bleu", "chrf", "ter"]).rows()
    theirs = {"bleu": BLEU, "chrf": CHRF, "ter": TER}
    for kind, column in (("bs", "p_bootstrap"), ("ar", "p_randomisation")):
        judges = {name: make(references=[references]) for name, make in theirs.items()}
        _, results = PairedTest(list(outputs.items()), judges, None, kind)()
        for name, own in zip(theirs, list(results.values())[1:], strict=True):
            rows = [row for row in found if row["metric"] == name]
            assert [row["score"] for row in rows] == pytest.approx([r.score for r in own], abs=1e-9)
            assert [row[column] for row in rows[1:]] == [r.p_value for r in own[1:]]


def test_a_metric_of_texts_is_compared_by_its_mean_and_a_text_without_score_is_left_out_in_all():
    outputs, references = systems(0.1, 0.4)
    outputs["0.4"][0] = references[0]

    def own(candidate: str, references: list[str]) -> float | None:
        return None if candidate == references[0] else len(candidate.split()) / 10

    rows = compare_systems(outputs, references, metrics=[own, "rougeL"]).rows()
    assert [row["metric"] for row in rows] == ["own", "own", "rougeL", "rougeL"]
    assert rows[0]["n"] < 60 and rows[0]["score"] == 1 and rows[0]["low"] < rows[0]["high"] == 1
    mean = s.rouge_many(outputs["0.4"], references, types=["rougeL"]).scores.mean()
    assert rows[3]["score"] == pytest.approx(mean) and rows[3]["low"] < mean < rows[3]["high"]
    assert rows[3]["p_bootstrap"] < 0.01 and rows[2]["p_bootstrap"] is None


def test_neither_the_same_system_twice_nor_too_few_texts_show_a_difference():
    outputs, references = systems(0.3)
    again = compare_systems({"a": outputs["0.3"], "b": outputs["0.3"]}, references).rows()
    assert {(row["p_bootstrap"], row["p_randomisation"]) for row in again[1::2]} == {(1, 1)}
    # Two texts can be exchanged in four ways, so no p-value is below a half; sacrebleu prints .0001.
    for n in (1, 2, 5, 6):
        outputs, references = systems(0.1, 0.9)
        few = {name: said[:n] for name, said in outputs.items()}
        row = compare_systems(few, references[:n], metrics=["bleu"]).rows()[1]
        assert [row["p_randomisation"] is None, row["p_bootstrap"] is None, "no test" in row["reason"]] == [n < 6] * 3


def test_metrics_of_one_name_have_a_row_and_a_signature_each():
    stemmed = s.load_metric("rouge1", stemmer=True)
    found = compare_systems({"a": ["cats ran", "x"]}, ["cat ran", "x"], metrics=["rouge1", stemmed, "bleu", "bleu"])
    assert list(found.signatures) == ["rouge1", "rouge1 (2)", "bleu", "bleu4"]
    assert [round(row["score"], 2) for row in found.rows()[:2]] == [0.75, 1]


def test_the_table_is_drawn_and_written():
    outputs, references = systems(0.1, 0.4)
    table = compare_systems({"A&B_1": outputs["0.1"], "<b>": outputs["0.4"]}, references, metrics=["bleu"])
    assert r"A\&B\_1 (baseline) & " in table.to_latex() and table.to_latex().count(r"\\") == 3
    assert "&lt;b&gt;" in table._repr_html_() and "p = 0.001" in repr(table)
    assert len(table.to_frame()) == 2 == len(table.to_dict()["rows"])


def test_short_answers_are_counted_as_squad_counts_them():
    for answer, truth, exact, f1 in (
        ("The old bridge.", "old bridge", 1, 1),
        ("the bridge of Leeds", "old bridge", 0, 0.4),
        ("Leeds", ["York", "leeds!"], 1, 1),
        ("a, the", "an", 1, 1),  # no word is left of either
        ("", "Leeds", 0, 0),
        ("to be or to be", "to be", 0, 4 / 7),
    ):
        assert exact_match(answer, truth).score == exact
        assert token_f1(answer, truth).score == pytest.approx(f1)
        assert s.load_metric("token_f1").score_many([answer], [truth])[0].score == pytest.approx(f1)


def test_search_results_by_identifiers():
    found, wanted = ["d3", "d1", "d7", "d9"], ["d1", "d7", "d8"]
    best = 1 + 1 / math.log2(3) + 1 / 2
    assert [metric(found, wanted).score for metric in (mrr, recall_at_k, hit_rate)] == [0.5, 2 / 3, 1]
    assert ndcg(found, wanted).score == pytest.approx((1 / math.log2(3) + 1 / 2) / best)
    assert [metric(found, wanted, k=1).score for metric in (mrr, ndcg, recall_at_k, hit_rate)] == [0, 0, 0, 0]
    assert mrr([], wanted).score == 0 and mrr(found, []).score is None
    assert "nothing was to be found" in mrr(found, []).reason
    rows = [{"retrieved_context_ids": found, "reference_context_ids": wanted}] * 2
    assert s.load_metric("mrr", k=2).score_many(rows).mean() == 0.5


def test_a_table_of_questions_is_measured_by_identifiers_beside_other_measures():
    row = {"retrieved_context_ids": ["d3", "d1"], "reference_context_ids": ["d1"], "question": "When?"}
    row |= {"contexts": ["It opened in 1931."], "ground_truth": "It opened in 1931."}
    found = s.evaluate_rag([row] * 2, ["mrr", "context_recall", "hit_rate"], progress=False)
    assert [list(found[0].scores), found[0].score] == [["mrr", "context_recall", "hit_rate"], 0.5]
    assert found.to_pandas()["context_recall"].tolist() == [1, 1] and found.to_frame()["hit_rate"].tolist() == [1, 1]
    assert [one["value"] for one in found.summary()] == [0.5, 1, 1, 0] and "mrr" in repr(found)
    names = {"retrieved_context_ids": "ids", "question": "asked"}
    renamed = {names.get(name, name): cell for name, cell in row.items()}
    again = s.evaluate_rag([renamed] * 2, iter(found[0].scores), columns=names, progress=False)
    assert again.means() == found.means()
    gap = s.load_metric("rag", metrics=["context_recall"]).score_many([{**row, "question": None}, row])
    assert gap.summary()[0]["n"] == 1 and "context_recall" in repr(gap) and gap._repr_html_()


def test_a_function_of_columns_is_a_metric_in_a_run_and_one_of_a_row_stays_one(tmp_path):
    def ratio(candidate, references):
        return len(candidate) / max(map(len, references))

    def own_names(prediction, target):
        return len(prediction) / len(target)

    rows = [{"candidate": "abcd", "references": ["abcdefgh"]}]
    kinds = {"columns": ratio, "own names": own_names, "row": lambda row: len(row["candidate"]) / 8}
    for name, function in kinds.items():
        assert s.run(rows, function, out=tmp_path / name, workers=0, progress=False).mean() == 0.5
    metric = s.load_metric(own_names)
    assert list(metric.score_many(["abcd", "a"], [["abcdefgh"], "a"]).scores) == [0.5, 1]
    assert metric.score(prediction="ab", target="abcd") == metric.score("ab", ["abcd"]) == 0.5
    assert s.compare_systems({"a": ["ab"] * 2}, ["abcd"] * 2, metrics=[own_names]).rows()[0]["score"] == 0.5
    with pytest.raises(ValueError, match="own_names takes one target, not 2: call the parameter references"):
        metric.score("ab", ["abcd", "ab"])

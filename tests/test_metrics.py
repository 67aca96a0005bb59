"""Metrics as tables: against their peers, of one's own, ranked, and as a figure."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb.agreement.registry import METRICS, find_metric, list_metrics, load_metric
from summeval_nb.agreement.tables import metric_scores, metric_table
from summeval_nb.core.data import QUALITIES, load_toy_summeval

plt = Late("matplotlib.pyplot")
correlate = Late("summeval_nb.agreement.correlation", "correlate")

TOY = load_toy_summeval()


def test_rouge_and_bleu_equal_their_reference_implementations():
    rouge_score, sacrebleu = pytest.importorskip("rouge_score.rouge_scorer"), pytest.importorskip("sacrebleu")
    names = ["rouge1", "rouge2", "rougeL", "bleu", "chrf"]
    found = metric_scores(TOY, names)
    scorer = rouge_score.RougeScorer(names[:3])
    for i, row in enumerate(TOY.summaries):
        for j, text in enumerate(row):
            every = [scorer.score(reference, text) for reference in TOY.references[i]]
            for name in names[:3]:
                assert found[name][i, j] == pytest.approx(max(scores[name].fmeasure for scores in every), abs=1e-12)
            for name, peer in (("bleu", sacrebleu.sentence_bleu), ("chrf", sacrebleu.sentence_chrf)):
                assert found[name][i, j] == pytest.approx(peer(text, TOY.references[i]).score, abs=1e-9)


def write_wordnet(folder: Path, synsets: dict[str, list[list[str]]]) -> None:
    """Write a WordNet of a few words in the format of the real files (wndb(5WN)), where nltk looks for it."""
    folder.mkdir(parents=True)
    for name in ("cntlist.rev", "index.sense", *(f"{part}.exc" for part in ("adj", "adv", "noun", "verb"))):
        (folder / name).write_text("")
    (folder / "lexnames").write_text("".join(f"{i:02d}\tpart.{i}\t1\n" for i in range(4)))
    for number, (part, letter) in enumerate((("adj", "a"), ("adv", "r"), ("noun", "n"), ("verb", "v"))):
        data = "  1 In the format of WordNet 3.0 Copyright 2006 by Princeton University.\n"
        places: dict[str, list[int]] = {}
        for words in synsets.get(part, []):
            place = len(data)  # a synset is found by its place in the file
            named = " ".join(f"{word} 0" for word in words)
            data += f"{place:08d} {number:02d} {letter} {len(words):02x} {named} 000 | a test\n"
            for word in words:
                places.setdefault(word, []).append(place)
        rows = [
            f"{w} {letter} {len(at)} 0 {len(at)} 0 {' '.join(f'{offset:08d}' for offset in at)}\n"
            for w, at in sorted(places.items())
        ]
        (folder / f"data.{part}").write_text(data)
        (folder / f"index.{part}").write_text("".join(rows))


METEOR_CASES = [  # summary, references, value by hand: 10PR / (R + 9P) * (1 - 0.5 * (chunks / pairs) ** 3)
    (
        "The auto stops near my boat",  # 2 equal words, 1 stem, 2 synonyms, in 2 chunks: P = R = 5/6
        ["the car stopped near our ship"],
        5 / 6 * (1 - 0.5 * (2 / 5) ** 3),
    ),
    ("a big rug", ["one great mat indeed", "nothing"], 10 * (2 / 3) * (2 / 4) / (2 / 4 + 9 * 2 / 3) * (1 - 0.5 / 8)),
    ("a tree", ["a shrub"], 0.5 * (1 - 0.5)),  # the small WordNet does not know them
    # nltk looks for synonyms of the stems that are left over, and "automobil" and "hous" are no words: two pairs
    # fewer than in the paper. When this fails, nltk was mended: then change the limits in chapter 66, too.
    ("The automobile stops near my house", ["the car stopped near our home"], 3 / 6 * (1 - 0.5 * (2 / 3) ** 3)),
]


@pytest.mark.nightly
def test_meteor_by_hand_with_a_small_wordnet(tmp_path):
    """The real nltk on real WordNet files of a few words, in a process of its own: nltk loads WordNet once."""
    nouns = [["car", "auto", "automobile"], ["ship", "boat"], ["house", "home"], ["mat", "rug"]]
    write_wordnet(tmp_path / "corpora" / "wordnet", {"noun": nouns, "adj": [["big", "great"]]})
    program = """
import json, sys
from summeval_nb.core.data import SummEval
from summeval_nb.agreement.tables import metric_scores
cases = json.load(sys.stdin)
n = len(cases)
data = SummEval("cases", [str(i) for i in range(n)], [""] * n, [c[1] for c in cases], ["one"], [[c[0]] for c in cases],
                {"relevance": [[1.0]] * n})
print(json.dumps(metric_scores(data, ["meteor"])["meteor"].ravel().tolist()))
"""
    how = {"env": os.environ | {"NLTK_DATA": str(tmp_path)}, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", program], input=json.dumps(METEOR_CASES), **how)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == pytest.approx([value for *_, value in METEOR_CASES], abs=1e-12)


def test_a_callable_gets_each_summary_with_its_own_article():
    seen = []
    watch = lambda summary, *, source, references: seen.append((summary, source, tuple(references))) or len(seen)
    table = metric_scores(TOY, {"watch": watch})["watch"]
    assert table.ravel().tolist() == list(range(1, 33))
    assert seen[9] == (TOY.summaries[2][1], TOY.sources[2], tuple(TOY.references[2]))


def second_word(summary, *, source, references):
    return None if len(summary.split()) < 18 else float(len(summary.split()[1]))


def test_no_score_is_a_missing_cell():
    table = metric_table(TOY, [second_word], rank=False, n_resamples=0)
    missing = int(np.isnan(table.scores["second_word"]).sum())
    assert missing > 0 and all(row["missing"] == missing for row in table.rows())


def fails_once(summary, *, source, references):
    return 1 / (summary != TOY.summaries[3][2])


def test_an_error_inside_a_metric_says_where():
    with pytest.raises(ZeroDivisionError) as caught:
        metric_scores(TOY, [fails_once])
    assert caught.value.__notes__ == ["raised by the metric 'fails_once', article 'painting', system 'careless'"]


def test_the_figure_has_a_panel_for_each_quality():
    import matplotlib.pyplot as plt

    constant = np.ones(TOY.shape)
    found = metric_table(TOY, {"length": "length", "<b>": constant}, n_resamples=20)
    figure = found.plot()
    assert [ax.get_title() for ax in figure.axes] == list(QUALITIES)
    assert {t.get_text() for t in figure.axes[0].get_yticklabels()} == {"length", "<b>"}
    assert list(found.to_frame(wide=True).columns) == list(QUALITIES)
    plt.close(figure)
    assert "<b>" not in found._repr_html_() and "–" in repr(found)


def test_choices_of_a_table_are_looked_at_first_and_all_said():
    with pytest.raises(ValueError, match="'beauty'"):
        metric_table(TOY, [lambda summary: pytest.fail("it was called")], qualities=["beauty"])
    table = metric_table(TOY, ["length"], qualities=["relevance"], n_resamples=0, rank=False)
    said = f"metric:metric-table|data:toy-{TOY.fingerprint}|level:summary|coef:kendall|conf:0.95|n:0|seed:0|ranks:none"
    assert str(table.signature).startswith(f"{said}|embedder:none|version:")


# ---------------------------------------------------------------- the list

RAINED, WHEN, OPENED = "It rained all day in Oslo.", "When?", "It opened in 1931."
GOOD_AND_BAD = {  # by columns: a row that a metric should like, and one that it should not
    "candidate, references": "a cat sat on the mat / a cat sat on the mat | prices rose / a cat sat on the mat",
    "text, summary": f"{RAINED} / It rained all day. | {RAINED} / It snowed.",
    "answer, contexts": "It rained [1]. / It rained. | It rained [1]. / It was sunny.",
    "contexts, summary": f"{RAINED} / {RAINED} | {RAINED} / A cat sat.",
    "contexts, question, ground_truth, answer": "It rained. / How was it? / It rained. / It rained. | "
    "It rained. / How was it? / It rained. / It snowed.",
    "question, contexts, ground_truth": f"{WHEN} / {OPENED} / {OPENED} | {WHEN} / Rain fell. / {OPENED}",
    "question, contexts": "How long is the bridge? / The bridge is 9 metres long. | "
    "How long is the bridge? / Cheese is made of milk.",
    "question, contexts, answer": f"{WHEN} / {OPENED} / {OPENED} | {WHEN} / {OPENED} / Rain fell.",
    "question, answer, ground_truth": "How was it? / It rained. / It rained. | How was it? / It snowed. / It rained.",
    "question, contexts, answer, ground_truth": f"{WHEN} / {OPENED} / {OPENED} / {OPENED} | "
    f"{WHEN} / {OPENED} It opened in 1950. / It opened in 1950. / {OPENED}",
    "rag": f"{WHEN} / {OPENED} / {OPENED} / {OPENED} | {WHEN} / {OPENED} / Rain fell. / {OPENED}",
}
GOOD_AND_BAD["question, answer"] = GOOD_AND_BAD["question, contexts"]
LISTED = list_metrics().rows()
RANKING = [row for row in LISTED if row["better"] != "neither" and row["asks_model"] != "yes"]


@pytest.mark.parametrize("row", RANKING, ids=lambda row: row["metric"])
def test_the_list_says_which_way_is_better_and_the_range(row):
    options = {"synonyms": None} if row["metric"] == "meteor" else {}
    metric = load_metric(row["metric"], **options)
    if row["reads"] == "retrieved_context_ids, reference_context_ids":
        columns = [[["d1", "d2"], ["d2"]], [["d1"], ["d1"]]]
    else:
        rows = GOOD_AND_BAD.get(row["metric"], GOOD_AND_BAD[row["reads"]]).split(" | ")
        columns = list(zip(*(text.split(" / ") for text in rows), strict=True))
    good, bad = metric.score_many(*columns).scores
    assert (good > bad) if row["better"] == "higher" else (good < bad)
    low, _, high = row["range"].partition(" to ")
    top = float(high) if high else np.inf
    assert float(low.removesuffix(" or more")) - 1e-6 <= min(good, bad) <= max(good, bad) <= top + 1e-6


def test_the_list_has_a_row_for_each_name_and_is_a_table():
    listed = list_metrics()
    assert [row["metric"] for row in LISTED] == list(METRICS) == list(listed.to_frame()["metric"])
    for row in LISTED:
        assert row["reads"] == ", ".join(find_metric(row["metric"])[0].columns) and row["purpose"]
    asked = {row["metric"]: row["asks_model"] for row in LISTED}
    assert (asked["bleu"], asked["faithfulness"], asked["rating"]) == ("no", "by option", "yes")
    assert "noise_sensitivity" in repr(listed) and "<table" in listed._repr_html_()
    assert json.loads(json.dumps(listed.to_dict()))["rows"] == LISTED

"""A name that somebody guessed leads to the place of what was meant."""

import pytest

import summeval_nb as s
from summeval_nb.core.base import _CALLED, parts, suggest

KNOWN = {*s.__all__, *parts()}
MEANT = {
    "compare": "compare_metrics",
    "bleu": "bleu_score",
    "BLEU": "bleu_score",
    "sentence_bleu": "bleu_score",
    "rouge": "rouge_score",
    "RougeScorer": "rouge_score",
    "rouge_l": "calculate_rouge_l",
    "CHRF": "chrf_score",
    "bert_score": "bertscore",
    "BERTScorer": "bertscore",
    "meteor": "meteor_score",
    "evaluate_summary": "evaluate",
    "nli": "NLIChecker",
    "summac": "NLIChecker",
    "hallucination": "evaluate",
    "HallucinationMetric": "evaluate",
    "Groundedness": "evaluate",
    "kappa": "cohen_kappa",
    "alpha": "krippendorff_alpha",
    "spearman": "correlate",
    "KendallRankCorrCoef": "correlate",
    "load_dataset": "load_summeval",
    "GEval": "rate",
    "novel_ngrams": "summeval_nb.overlap.extractiveness",
    "ContextualPrecisionMetric": "summeval_nb.judged.context_precision",
    "SemanticSimilarity": "summeval_nb.agreement.embedding_score",
}


@pytest.mark.parametrize("name", MEANT)
def test_a_guess_leads_to_what_was_meant_first(name):
    with pytest.raises(AttributeError) as caught:
        getattr(s, name)
    assert str(caught.value).startswith(f"module 'summeval_nb' has no attribute {name!r}; did you mean ")
    assert str(caught.value).partition("did you mean ")[2].removesuffix("?").replace(",", "").split()[0] == MEANT[name]


@pytest.mark.parametrize("line", ["from summeval_nb import bleu", "from summeval_nb.judged import bleu"])
def test_an_import_of_a_guess_says_the_same(line):
    with pytest.raises(ImportError, match=r"has no attribute 'bleu'; did you mean (summeval_nb\.)?bleu_score or"):
        exec(line)


def test_a_part_suggests_and_names_the_place_of_other_parts():
    with pytest.raises(AttributeError, match="did you mean bleu_score"):
        _ = s.overlap.blue_score
    with pytest.raises(AttributeError, match="did you mean summeval_nb.cohen_kappa"):
        _ = s.judged.kappa
    with pytest.raises(AttributeError, match="evaluate is in summeval_nb.evidence"):
        _ = s.judged.evaluate


def test_a_module_is_imported_though_no_name_is_like_it():
    exec("from summeval_nb import shell")
    exec("from summeval_nb.overlap import counting")


def test_what_is_elsewhere_or_nowhere_is_no_attribute():
    for name in ("split_units", "xyzzy", "_private", "bleu"):
        assert not hasattr(s, name) and not hasattr(s.judged, name)


def test_a_list_of_names_is_short_and_holds_no_lesson():
    for name in ("score", "Metric_", "play", "table", "evaluation", "BleuSomething", "x" * 1000, "é", "1"):
        found = suggest(name, sorted(KNOWN), first=s.__all__)
        assert len(found) <= 3 and set(found) <= KNOWN
    with pytest.raises(AttributeError) as caught:
        _ = s.bleus
    assert "play" not in str(caught.value)


def test_every_term_leads_to_a_name_that_there_is():
    named = {name for names in _CALLED for name in names.split()}
    assert named <= KNOWN | {row["metric"] for row in s.list_metrics().rows()}

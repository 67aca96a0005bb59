"""A name that somebody guessed leads to the place of what was meant."""

import pytest

import summeval_nb as s

MEANT = """compare compare_metrics; bleu bleu_score; sentence_bleu bleu_score; rouge rouge_score
RougeScorer rouge_score; rouge_l calculate_rouge_l; CHRF chrf_score; bert_score bertscore; BERTScorer bertscore
meteor meteor_score
evaluate_summary evaluate; nli NLIChecker; summac NLIChecker; HallucinationMetric evaluate; Groundedness evaluate
kappa cohen_kappa; alpha krippendorff_alpha; spearman correlate; KendallRankCorrCoef correlate
load_dataset load_summeval; GEval rate; novel_ngrams summeval_nb.overlap.extractiveness
ContextualPrecisionMetric summeval_nb.judged.context_precision
SemanticSimilarity summeval_nb.agreement.embedding_score"""


def test_a_guess_leads_to_what_was_meant_first():
    for name, meant in (pair.split() for pair in MEANT.replace("\n", ";").split(";")):
        with pytest.raises(AttributeError) as caught:
            getattr(s, name)
        said, _, guesses = str(caught.value).partition("did you mean ")
        assert said == f"module 'summeval_nb' has no attribute {name!r}; "
        assert guesses.removesuffix("?").replace(",", "").split()[0] == meant and "play" not in guesses
    for line in ("from summeval_nb import bleu", "from summeval_nb.judged import bleu"):
        with pytest.raises(ImportError, match=r"has no attribute 'bleu'; did you mean (summeval_nb\.)?bleu_score or"):
            exec(line)


def test_a_part_suggests_and_names_the_place_of_other_parts():
    for part, name, said in (
        (s.overlap, "blue_score", "did you mean bleu_score"),
        (s, "register_metric", "did you mean load_metric"),
        (s, "evaluate_dataset", "did you mean evaluate_many or evaluate_rag"),
        (s, "score_dataframe", "did you mean evaluate_many or rouge_many"),
        (s, "paired_bootstrap", "did you mean compare_systems or summeval_nb.agreement.paired_test"),
        (s, "confidence_interval", "did you mean compare_systems, correlate"),
        (s.judged, "kappa", "did you mean summeval_nb.cohen_kappa"),
        (s.judged, "evaluate", "evaluate is in summeval_nb.evidence"),
    ):
        with pytest.raises(AttributeError, match=said):
            getattr(part, name)
    exec("from summeval_nb import shell")  # a module, though no name is like it
    exec("from summeval_nb.overlap import counting")
    assert not any(hasattr(where, name) for where in (s, s.judged) for name in ("split_units", "xyzzy", "_private"))

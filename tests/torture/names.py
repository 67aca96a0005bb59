"""Every public name, called with what was not made for it: a good result or a typed error with words."""

from __future__ import annotations

import dataclasses
import inspect
import math
import random
import re
import sys
import tempfile
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

import summeval_nb
from summeval_nb.runs.workers import WorkerDied, WorkerRefused
from tests.helpers.public import NAMES, public

from . import corpus, judges
from .harness import Wrong

TYPED = (
    *(ValueError, TypeError, OSError, ImportError, NotImplementedError),
    *(
        summeval_nb.models.StoreError,
        summeval_nb.models.BackendError,
        summeval_nb.judged.JudgeFailure,
        summeval_nb.runs.RunStopped,
    ),
    *(WorkerDied, WorkerRefused),
)
ACCIDENTS = (UnicodeError, RecursionError)  # ValueErrors of others that name nothing of the caller's


def _words(text: str) -> set[str]:
    return set(text.split())


# ---------------------------------------------------------------- what is handed over

texts = st.one_of(
    st.sampled_from([*corpus.HOSTILE, *corpus.SANE, *corpus.SANE, *corpus.SANE]),
    st.lists(st.sampled_from([*corpus.HOSTILE, *corpus.SANE]), min_size=2, max_size=3).map(" ".join),
    st.text(max_size=40),
)
numbers = st.one_of(
    st.floats(), st.integers(-3, 9), st.sampled_from([0.0, 1e308, -1e308, 5e-324, 1 << 70, 10**400, -(10**400)])
)
shares = st.floats(0, 1)
words = st.lists(st.sampled_from(["the", "a", "cat", "dog", "sat", "ran", "on"]), max_size=9)
anything: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    numbers,
    texts,
    st.binary(max_size=9),
    st.lists(st.one_of(numbers, texts, st.none()), max_size=3),
    st.dictionaries(texts, numbers, max_size=2),
    st.builds(object),
    st.just(len),
    st.just(np.ones((2, 2))),
    st.just(float("nan")),
)
not_asking = anything.filter(lambda value: value is not True)  # who says download=True asks the hub, as told
safe_names = texts.map(lambda value: re.sub(r"[/\\]", "_", value)[:60]).filter(lambda value: value.strip(".~ "))
counts = st.one_of(st.integers(1, 6), st.integers(1, 6), st.integers(-2, 40))
cells = st.one_of(st.integers(1, 5), st.floats(0, 1), st.sampled_from([None, float("nan"), 1e308, 0.1 + 0.2]))


@st.composite
def tables(draw: Any, shape: tuple[int, int] | None = None) -> list[list[Any]]:
    rows, columns = shape or (draw(st.integers(1, 4)), draw(st.integers(1, 5)))
    return [[draw(cells) for _ in range(columns)] for _ in range(rows)]


vectors = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(st.floats(-9, 9, width=32), min_size=d, max_size=d), min_size=1, max_size=4)
)
ratings_given = st.lists(st.one_of(st.integers(1, 5), st.sampled_from(["yes", "no", None, True])), max_size=4)
groups = st.one_of(texts, st.lists(texts, min_size=1, max_size=3))


def options(*known: str) -> st.SearchStrategy[Any]:
    return st.one_of(st.sampled_from(known), st.sampled_from(known), texts)


def scripted(reply: str) -> Any:
    return summeval_nb.ScriptedBackend(lambda prompt: reply)


replies = st.one_of(
    texts, st.sampled_from(["yes", "no", "3", '{"answer": "yes"}', "{}", "[" * 2000, '{"statements": ["a"]}'])
)
backends = replies.map(scripted)


@st.composite
def records(draw: Any) -> list[dict[str, Any]]:
    systems = draw(st.lists(texts, min_size=1, max_size=3, unique=True))
    qualities = ("coherence", "consistency", "fluency", "relevance")
    rating = st.one_of(st.floats(1, 5), st.none(), st.sampled_from([1.666667, 3]))
    return [
        {
            "id": f"{number}{draw(texts)}",
            "source": draw(texts),
            "references": draw(st.lists(texts, min_size=1, max_size=2)),
            "systems": [{"system": s, "summary": draw(texts)} | {q: draw(rating) for q in qualities} for s in systems],
        }
        for number in range(draw(st.integers(1, 3)))
    ]


data_sets = records().map(summeval_nb.core.SummEval.from_records)
pairs = st.lists(st.fixed_dictionaries({"candidate": texts, "references": groups}), max_size=4)
findings = st.builds(summeval_nb.core.Finding, kind=texts, text=texts, start=st.integers(0, 3), end=st.integers(3, 5))
signatures = st.dictionaries(st.sampled_from("abc"), st.one_of(texts, st.integers(0, 9)), max_size=2).map(
    lambda parts: summeval_nb.core.Signature({"metric": "m", **parts})
)
verdicts = st.builds(
    summeval_nb.Verdict,
    probability=shares,
    threshold=shares,
    evidence=st.lists(st.builds(summeval_nb.core.Evidence, index=st.integers(0, 2), similarity=shares), max_size=2),
    findings=st.lists(findings, max_size=2),
    reason=texts,
)
reports = st.tuples(texts, texts).map(lambda pair: summeval_nb.evaluate(*pair))
scores = st.tuples(texts, groups).map(lambda pair: summeval_nb.bleu_score(*pair))

systems = st.sampled_from(["x", "y", "<zzq>", "\x1b[2J", "$\\frac$", "\ud83d"])
votes = st.one_of(
    st.tuples(systems, systems, st.one_of(systems, st.just("tie"))),
    st.tuples(systems, systems, st.just("tie"), st.one_of(texts, st.integers(0, 2), st.lists(texts, max_size=1))),
    anything,
)
entries = st.fixed_dictionaries({"question": texts, "system": systems, "answer": texts, "truth": texts})
labelled_given = st.one_of(
    st.fixed_dictionaries(
        {"sentence": texts, "label": st.integers(0, 1)},
        optional={"evidence": st.lists(texts, max_size=2), "article": texts, "article_id": st.one_of(texts, numbers)},
    ),
    anything,
)
labelled_sentences = st.builds(
    summeval_nb.evidence.LabelledSentence, article=texts, text=texts, supported=st.booleans(), kind=texts
)
sets_given = st.one_of(st.dictionaries(texts, st.lists(labelled_sentences, max_size=2), min_size=1, max_size=1), texts)

PARAMETERS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(
        _words("text summary candidate generated reference question ground_truth truth answer sen_summary"), texts
    ),
    **dict.fromkeys(_words("sentence word reason exercise help message note purpose what name course unit"), texts),
    **dict.fromkeys(_words("references contexts context"), groups),
    **dict.fromkeys(_words("texts summaries sentences sens_text candidates keys"), st.lists(texts, max_size=3)),
    **dict.fromkeys(_words("n k max_k n_bins n_keyphrases batch_size group window n_threads"), counts),
    **dict.fromkeys(_words("n_resamples"), st.integers(0, 30)),
    **dict.fromkeys(_words("metric metric_a metric_b human sim_matrix ratings"), tables((3, 4))),
    **dict.fromkeys(_words("embed_text embed_summary value"), vectors),
    **dict.fromkeys(
        _words("threshold confidence alpha coeff max_failed probability share_new"), st.one_of(shares, numbers)
    ),
    **dict.fromkeys(_words("slope offset weight smooth_value epsilon"), numbers),
    **dict.fromkeys(_words("workers_ pairs sentences_per_pair verdicts_per_pair embed_rate"), numbers),
    **dict.fromkeys(_words("verdict_rate driver_rate bytes_per_result bytes_per_vector"), numbers),
    **dict.fromkeys(
        _words("lowercase stemmer effective_order keep_lists guard conciseness check_questions"), st.booleans()
    ),
    **dict.fromkeys(_words("normalized no_punct asian_support case_sensitive whitespace idf"), st.booleans()),
    "download": st.just(False),  # who says True asks the hub
    **dict.fromkeys(_words("clash resume retry_failed recover"), st.booleans()),
    **dict.fromkeys(_words("beta gamma prior risk margin"), st.one_of(shares, numbers)),
    **dict.fromkeys(_words("char_order word_order layer limit"), st.one_of(st.none(), counts)),
    **dict.fromkeys(_words("contradicted_below precision"), st.one_of(st.none(), shares, numbers)),
    **dict.fromkeys(_words("raters workers_of_calls"), st.one_of(st.none(), counts)),
    **dict.fromkeys(_words("connect_timeout total_timeout"), st.one_of(st.just(0.3), numbers)),
    "eps_smoothing": st.booleans(),
    "baseline": st.none(),
    "groups": st.one_of(st.none(), st.lists(st.one_of(texts, st.integers(0, 3), numbers), max_size=9)),
    "side": options("supported", "contradicted"),
    "aggregate": options("max", "mean"),
    "languages": st.one_of(st.none(), st.lists(texts, max_size=2)),
    "source": texts,
    "a": texts,
    "b": texts,
    "relevant": st.one_of(shares, numbers),
    "criteria": texts,
    **dict.fromkeys(_words("score_refusals rank probabilities_"), st.booleans()),
    "seed": st.integers(0, 9),
    "progress": st.just(False),
    "splitter": options("punkt", "sentencex"),
    "lang": options("en", "de"),
    "embedder": options("minilm"),
    "checker": options("embedded"),
    "using": options("embedded"),
    "judge": options("embedded"),
    "store": st.none(),
    "level": options("summary", "system", "pooled"),
    "coefficient": options("kendall", "spearman", "pearson"),
    "correction": options("holm", "bonferroni", "fdr", "none"),
    "alternative": options("greater", "two-sided", "less"),
    "permute": options("each", "articles", "systems", "jointly"),
    "resample": options("both", "articles", "systems"),
    "tokenize": options("13a", "intl", "char", "none"),
    "tokenizer": st.one_of(st.none(), options("13a", "char")),
    "choice": options("13a", "intl", "char"),
    "smooth": options("exp", "floor", "add-k", "none"),
    "types": st.lists(options("rouge1", "rouge2", "rougeL", "rougeLsum", "rouge3", "rougeSU4"), min_size=1, max_size=3),
    "multi": st.one_of(st.none(), options("best", "mean", "pooled")),
    "compat": options("google", "rouge-1.5.5"),
    "dialect": options("nltk", "auto"),
    "similarity": options("cosine", "dot"),
    "variant": options("v2", "v1"),
    "quality": options("relevance", "fluency"),
    "main": options("cosine"),
    "phrases": st.just("counted"),
    "length": options("characters", "words"),
    "scale": st.one_of(st.just((1, 5)), st.tuples(st.integers(-3, 9), st.integers(-3, 12))),
    "backend": backends,
    "max_chars": st.integers(-1, 90),
    "min_chars": st.integers(-1, 90),
    "mode": options("sentence", "statements", "entities", "arcs"),
    "claims": options("sentence"),
    "noise": options("relevant", "irrelevant", "made_up"),
    "measures": st.lists(options("context_recall", "answer_relevancy", "noise_sensitivity"), min_size=1, max_size=2),
    "combine": options("minimum", "mean"),
    "p_values": st.lists(st.one_of(shares, numbers), max_size=5),
    "labels": st.lists(st.one_of(shares, st.integers(0, 1)), max_size=9),
    "probabilities": st.lists(st.one_of(shares, st.none(), numbers), max_size=9),
    "data": data_sets,
    "table": st.lists(
        st.fixed_dictionaries(
            dict.fromkeys(["context", "question", "ground_truth", "truth", "answer", "contexts", "summary"], texts)
        ),
        max_size=2,
    ),
    "path": safe_names,
    "folder": safe_names,
    "out": safe_names,
    "shard_size": counts,
    "size": counts,
    "format": st.one_of(st.none(), options("jsonl", "csv")),
    "columns": st.one_of(st.none(), st.dictionaries(options("candidate"), texts, max_size=1)),
    "signature": signatures,
    "score": st.one_of(shares, st.none()),
    "results": st.lists(reports, min_size=1, max_size=2),
    "names": st.one_of(st.none(), st.lists(texts, max_size=2)),
    "first": scores,
    "second": scores,
    "points": st.one_of(st.none(), st.lists(st.tuples(numbers, numbers), max_size=5)),
    "kind": texts,
    "value": vectors,
}
LISTED: dict[str, dict[str, Any]] = {
    "adjust_p_values": {},
    "average_precision": {"relevant": st.one_of(st.lists(st.booleans(), max_size=5), anything)},
    "benchmark_checker": {"sets": sets_given, "limit": st.just(2), "n_resamples": st.integers(-1, 9)},
    "bradley_terry": {"outcomes": st.lists(votes, max_size=6)},
    "guarantee_thresholds": {"labelled": st.lists(labelled_given, max_size=3)},
    "error_bound": {"errors": counts, "accepted": counts},
    "guaranteed_threshold": {"probabilities": st.lists(st.one_of(shares, st.none()), max_size=9)},
    "rank_systems": {"table": st.lists(entries, max_size=4)},
    "compare_answers_many": {
        "questions": st.lists(st.fixed_dictionaries(dict.fromkeys(_words("question a b truth"), texts)))
    },
    "rubric_score": {"backend": backends, "steps": st.lists(texts, max_size=2), "workers": st.just(1), "title": texts},
    "LabelledSentence": {"article": texts, "supported": st.booleans()},
    "accepted_needed": {"errors": st.one_of(counts, numbers)},
    "ask_many": {
        "judge": backends.map(lambda b: summeval_nb.judged.LLMJudge(b)),
        "task": options("refusal", "statements"),
        "items": st.lists(st.tuples(texts), max_size=2),
    },
    "bleu_many": {"references": st.lists(groups, max_size=3)},
    "reliability": {},
    "benchmark_judge": {
        "judge": st.one_of(options("words"), backends.map(lambda b: summeval_nb.judged.LLMJudge(b))),
        "sets": st.one_of(st.just("pairs"), sets_given, st.just({"mine": ["a text"]})),
        "limit": st.one_of(st.just(2), counts),
    },
    "cohen_kappa": {
        "first": ratings_given,
        "second": ratings_given,
        "weights": st.one_of(st.none(), options("linear", "quadratic"), tables((2, 2))),
        "categories": st.one_of(st.none(), ratings_given),
    },
    "chrf_many": {"references": st.lists(groups, max_size=3)},
    "clipped_counts": {"candidate": words, "references": st.lists(words, max_size=3)},
    "paired_test": {},
    "compare_metrics": {"metrics": st.dictionaries(texts, tables((3, 4)), max_size=3)},
    "compare_runs": {
        "a": st.lists(numbers, min_size=3, max_size=3).map(np.array),
        "b": st.lists(numbers, min_size=3, max_size=3).map(np.array),
    },
    "corpus_bleu": {"references": st.lists(groups, max_size=3)},
    "corpus_chrf": {"references": st.lists(groups, max_size=3)},
    "corpus_ter": {"references": st.lists(groups, max_size=3)},
    "bertscore_many": {"references": st.lists(groups, max_size=3), "model": st.just("minilm")},
    "bertscore": {"model": st.just("minilm"), "layer": st.none()},
    "meteor_many": {"references": st.lists(groups, max_size=3), "synonyms": st.none()},
    "meteor_score": {"synonyms": st.none()},
    "ter_many": {"references": st.lists(groups, max_size=3)},
    "plan_run": {"items": pairs, "metric": options("bleu", "rouge"), "options": st.just({})},
    "fleiss_kappa": {"ratings": tables()},
    "krippendorff_alpha": {
        "ratings": st.one_of(tables(), st.lists(ratings_given, max_size=3)),
        "level": options("nominal", "ordinal", "interval"),
        "categories": st.one_of(st.none(), ratings_given),
    },
    "metric_ceiling": {"alpha": st.one_of(shares, numbers), "n_raters": counts},
    "lcs_length": {"x": words, "y": words},
    "list_ngrams": {"tokens": words},
    "make_shards": {
        "items": st.lists(
            st.builds(summeval_nb.core.Item, place=st.integers(0, 9), data=st.binary(max_size=9)), max_size=5
        )
    },
    "metric_scores": {"metrics": st.lists(options("length", "bleu", "rouge1", "chrf"), max_size=2, unique=True)},
    "metric_table": {
        "metrics": st.lists(options("length", "bleu", "rouge1"), max_size=2, unique=True),
        "qualities": st.none(),
    },
    "open_items": {"items": st.one_of(pairs, safe_names)},
    "qa_score": {"answers": st.lists(st.one_of(st.integers(0, 1), st.booleans(), texts), max_size=4)},
    "rate_many": {"summaries": st.lists(texts, max_size=2), "texts": st.lists(texts, max_size=2)},
    "reference_similarities": {
        "machine": st.just(np.ones((1, 2, 3))),
        "human": st.lists(vectors, max_size=2),
        "references": st.one_of(options("max", "mean"), st.integers(-1, 4)),
    },
    "rouge_many": {
        "candidates": st.lists(texts, max_size=2),
        "references": st.lists(groups, max_size=2),
        "exceptions": st.none(),
    },
    "rouge_score": {"exceptions": st.none()},
    "rouge_tokenizer": {"exceptions": st.none()},
    "run": {
        "items": pairs,
        "metric": options("bleu", "rouge"),
        "options": st.dictionaries(
            options("n", "lowercase"), st.one_of(st.integers(0, 4), st.booleans(), texts), max_size=1
        ),
        "workers": st.just(0),
        "engine": options("local"),
        "address": st.none(),
        "num_gpus": st.just(0),
        "timeout": st.none(),
        "on_error": options("record", "raise"),
        "output": options("jsonl", "parquet"),
    },
    "summeval_scores": {
        "tables": st.dictionaries(st.just("cosine"), tables((3, 4)).map(lambda t: np.array(t, dtype=float)), min_size=1)
    },
    "summeval_task": {"data": data_sets, "references": options("max", "mean")},
    "faithfulness_from_dict": {
        "data": st.one_of(reports.map(lambda r: r.to_dict()), st.dictionaries(texts, anything, max_size=3))
    },
    "content_key": {},
    "find_backends": {"value": anything},
    "splitter_name": {},
    "check_exercise": {"exercise": st.one_of(texts, st.just("21_ngrams/1")), "answer": anything},
    "common_slip": {"exercise": st.one_of(texts, st.just("21_ngrams/1")), "answer": anything},
    "my_progress": {"folder": safe_names},
    "play_correlation": {},
    # what is built
    "Answer": {"value": st.sampled_from([0, 1, None]), "said": st.one_of(st.none(), shares), "evidence": st.just(())},
    "ExerciseCheck": {"outcome": texts},
    "Choice": {"label": texts, "probabilities": st.dictionaries(texts, shares, max_size=2), "probability_mass": shares},
    "Claim": {"start": st.integers(0, 3), "end": st.integers(3, 9)},
    "ClaimFinder": {"annotator": st.none(), "splitter": st.none()},
    "Entailment": {
        "label": st.sampled_from(["entailed", "contradicted", "neutral", None]),
        "evidence": st.just(()),
        "findings": st.lists(findings, max_size=2),
    },
    "Evidence": {"index": st.integers(0, 9), "similarity": shares},
    "Finding": {"start": st.integers(0, 3), "end": st.integers(3, 9)},
    "Flag": {"value": st.sampled_from([True, False, None])},
    "Job": {
        "metric": options("bleu", "rouge", "faithfulness"),
        "options": st.dictionaries(texts, anything, max_size=2),
        "columns": st.just({}),
        "store": st.none(),
    },
    "Keyphrase": {"weight": shares, "start": st.none(), "end": st.none()},
    "LLMChecker": {
        "prompt": st.one_of(texts, st.just("{evidence} {claim}")),
        "options": st.one_of(st.just(("yes", "no")), st.tuples(texts, texts)),
        "annotator": st.none(),
        "splitter": st.none(),
    },
    "LLMJudge": {"prompts": st.none(), "group_chars": counts, "workers": st.just(1), "probabilities": st.booleans()},
    "Ledger": {
        "stages": st.one_of(st.none(), st.dictionaries(texts, st.dictionaries(texts, numbers, max_size=2), max_size=2))
    },
    "NLIChecker": {
        "model": safe_names,
        "labels": st.none(),
        "annotator": st.none(),
        "splitter": st.none(),
        "tokenizer": st.none(),
        "device": st.just("cpu"),
    },
    "ObjectEmbedder": {"source": anything},
    "Outcome": {"status": texts, "parts": st.dictionaries(texts, anything, max_size=2), "signature": texts},
    "Passage": {"start": st.integers(0, 3), "end": st.integers(3, 9), "similarity": shares},
    "Question": {"statement": texts, "keyphrases": st.lists(texts, max_size=2).map(tuple)},
    "Rating": {
        "distribution": st.dictionaries(st.integers(1, 5), shares, max_size=3),
        "probability_mass": shares,
        "quality": texts,
    },
    "Resolution": {"units": st.lists(texts, max_size=2).map(tuple)},
    "RunReport": {
        "manifest": st.just(
            {
                "complete": True,
                "results": "results.jsonl",
                "counts": {},
                "mean": None,
                "items": 0,
                "settings": {"metric": "m"},
            }
        )
    },
    "Score": {},
    "ScriptedBackend": {"responder": st.just(str)},
    "Sentence": {"start": st.integers(0, 3), "end": st.integers(3, 9)},
    "SentenceTransformerEmbedder": {"model": safe_names, "device": st.just("cpu"), "download": st.just(False)},
    "ServerBackend": {
        "model": texts,
        "base_url": st.one_of(st.just("http://127.0.0.1:9/v1"), texts.map(lambda t: f"http://127.0.0.1:9/{t}"), texts),
        "api_key": texts,
        "timeout": st.one_of(st.just(0.2), numbers),
        "max_retries": st.just(0),
        "context": st.one_of(st.none(), counts),
    },
    "Signature": {"parts": st.dictionaries(texts, st.one_of(texts, numbers), max_size=3)},
    "Statement": {"start": st.none(), "end": st.none(), "added": st.lists(texts, max_size=2).map(tuple)},
    "Store": {},
    "TransformersBackend": {
        "model": safe_names,
        "tokenizer": st.none(),
        "device": st.none(),
        "dtype": st.none(),
        "download": st.just(False),
    },
    "LlamaCppBackend": {"path": safe_names, "context": counts, "n_threads": st.none()},
    "Verdict": {
        "evidence": st.just(()),
        "findings": st.lists(findings, max_size=2),
        "details": st.dictionaries(texts, anything, max_size=2),
        "failed": st.booleans(),
    },
    "RunPlan": dict.fromkeys(_words("items scored to_score unreadable sample"), st.integers(0, 9))
    | {"stages": st.just({}), "total": st.none(), "seconds": st.none()},
    "Estimate": dict.fromkeys(_words("value low high"), st.floats(0, 9)),
    "RecordingBackend": {"name": safe_names, "inner": st.none()},
    "BackendError": {},
    "BackendRejected": {},
    "BackendUnavailable": {},
    "ContextTooLong": {},
    "InvalidOutput": {},
    "JudgeFailure": {"malformed": st.booleans()},
    "EmbeddedChecker": {},
    "EmbeddedJudge": {},
    "load_checker": {},
    "load_embedder": {},
    "load_judge": {},
}
# Names that are called without arguments, are types to be checked against, or come out of the calls above.
PASSIVE = _words(
    "METRICS Splitter Backend Checker Embedder Judge BatchEmbedder AnswerReport BleuComparison "
    "BleuScore Reliability ChrfScore ReportComparison MetricComparisons Correlation Faithfulness "
    "Item ItemStream TerScore BertScore "
    "MeteorScore "
    "MetricTable MiniLMEmbedder PairVectors PairedTest PairwiseAccuracy Picture PrecisionRecallF1 RougeScore "
    "RunComparison RunStopped SampleArticle SampleSummary Shard StoreError SummEval "
    "SummEvalResult SummarizationScore Usage example_model load_toy_summeval "
    "sample_articles hash_answers Metric ScoreTable "
)
MAY_HOLD_NAN = _words(
    "metric_scores Signature Outcome Verdict Score RunPlan Ledger Choice Job RunReport content_key "
    "find_backends ObjectEmbedder common_slip Rating Keyphrase Passage Evidence Answer Entailment Flag "
)  # pass on what they are given, or say that NaN is a missing cell


def public_names() -> list[str]:
    """What the stubs of the package's parts list."""
    return list(NAMES)


def handed_on(function: Any, annotation: Any) -> list[str]:
    """The names that `**choices: Unpack[Choices]` stands for."""
    if not str(annotation).startswith("Unpack["):
        return []
    kind = eval(annotation, function.__globals__).__args__[0]  # noqa: S307 (of our own source)
    return list(
        typing.get_type_hints(kind, {**vars(typing), **vars(sys.modules[kind.__module__])}) or kind.__annotations__
    )


def calls(function: Any, own: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments for a function: each from its list, now and then from anything at all."""
    required, optional = {}, {}
    record = dataclasses.is_dataclass(function) or (isinstance(function, type) and issubclass(function, tuple))
    parameters = dict(inspect.signature(function).parameters)
    for parameter in list(parameters.values()):
        if parameter.kind is parameter.VAR_KEYWORD:
            del parameters[parameter.name]
            parameters |= {
                name: inspect.Parameter(name, parameter.KEYWORD_ONLY, default=None)
                for name in handed_on(function, parameter.annotation)
            }
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            continue
        known = own.get(name, PARAMETERS.get(name))
        if known is None:
            if parameter.default is parameter.empty:
                known = anything
            else:
                continue
        fixed = name in (
            "progress",
            "store",
            "workers",
            "n_threads",
            "path",
            "out",
            "folder",
            "base_url",
            "model",
            "backend",
            "manifest",
        )
        odd = not_asking if name == "download" else anything
        strategy = (
            known if fixed or record else st.integers(0, 19).flatmap(lambda i, k=known, o=odd: o if i == 0 else k)
        )
        (required if parameter.default is parameter.empty else optional)[name] = strategy
    for name in {"progress", "sets", "limit"} & set(optional):  # what they are otherwise shows bars, or takes minutes
        required[name] = optional.pop(name)
    if "workers" in own:
        required["workers"] = optional.pop("workers", own["workers"])
    return st.fixed_dictionaries(required, optional=optional)


COSTLY = {"benchmark_checker": 2, "benchmark_judge": 3}  # examples of what takes ten seconds and more for one good call


@cache
def called() -> list[str]:
    """The names that are called."""
    return [name for name in public_names() if name not in PASSIVE and not _is_made(name)]


def _is_made(name: str) -> bool:
    """Warnings, and records that functions make and nobody else has to: those of which no list says what they hold."""
    value = public(name)
    record = isinstance(value, type) and (issubclass(value, (Warning, tuple)) or dataclasses.is_dataclass(value))
    return record and name not in LISTED and not issubclass(value, summeval_nb.Metric)


def names(rng: random.Random, folder: Path) -> None:
    """One public name with several sets of arguments."""
    name = rng.choice(called())
    fuzz(name, rng.randrange(1 << 30), examples=COSTLY.get(name, 12))


def fuzz(name: str, seed: int, *, examples: int, function: Callable[..., Any] | None = None) -> None:
    """Call a public name with arguments drawn by hypothesis."""
    target = function or public(name)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @hypothesis.given(calls(target, LISTED.get(name, {})))
    def call(arguments: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory(dir=".") as inner:
            arguments = {k: Path(inner) / v if k in ("path", "folder", "out") else v for k, v in arguments.items()}
            attempt(target, name, arguments)

    call()


def attempt(target: Callable[..., Any], name: str, arguments: dict[str, Any]) -> None:
    """One call, judged."""
    shown = f"{name}({', '.join(f'{key}={value!r:.400}' for key, value in arguments.items())})"
    try:
        value = target(**arguments)
        if isinstance(value, summeval_nb.Metric):
            use(value, name)
        judges.result(
            list(_few(value)) if isinstance(value, Iterator) else value, name, finite=name not in MAY_HOLD_NAN
        )
        if callable(getattr(value, "close", None)):
            value.close()
    except ACCIDENTS as error:
        raise Wrong(f"{shown} raises {type(error).__name__}: {error}", f"{type(error).__name__} of {name}") from error
    except Wrong as error:
        error.args = (f"{shown}: {error.args[0]}", *error.args[1:])
        raise
    except LookupError as error:  # of data that nltk lacks; a KeyError or an IndexError is an accident
        if type(error) is not LookupError or "nltk.download" not in str(error):
            raise Wrong(f"{shown} raises {error!r:.500}", f"{type(error).__name__} of {name}") from error
    except TYPED as error:
        if not str(error).strip():
            raise Wrong(f"{shown} raises {type(error).__name__} without words", f"no words of {name}") from error
    except Exception as error:
        error.add_note(shown)
        raise Wrong(
            f"{shown} raises {type(error).__name__}: {str(error)[:500]}", f"{type(error).__name__} of {name}"
        ) from error


def use(metric: Any, name: str) -> None:
    """What everybody does with a metric that was made: a score, a row of a training loop, the same in batches."""
    cells = dict.fromkeys(metric.columns, "It rained <zzq>. The cat \x1b[2J sat.")
    cells |= {column: [text] for column, text in cells.items() if column in ("references", "contexts")}
    judges.result(metric.score(*cells.values()), name, finite=name not in MAY_HOLD_NAN)
    rows = {column: [cell] * 2 for column, cell in cells.items()}
    whole, batches = metric.compute(**rows), metric.accumulator()
    for _ in range(2):
        batches.update(**{column: [cell] for column, cell in cells.items()})
    if not all(map(math.isfinite, judges.numbers(whole))):
        raise Wrong(f"{metric} computes {whole}", f"NaN in compute of {name}")
    if batches.compute() != whole:
        raise Wrong(f"{metric}: {batches.compute()} in batches and {whole} in one", f"batches of {name} differ")


def _few(values: Iterator[Any]) -> Iterator[Any]:
    with suppress(StopIteration):
        for _ in range(100):
            yield next(values)

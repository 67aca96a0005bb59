"""The numbers of the sample data stay what they are, whatever house the code lives in.

A table of scores by every public metric over the package's sample data was stored before modules moved. A change that
means to change a number stores it again, and says so in the changelog:
`UPDATE_SCORES=1 pytest tests/test_same_scores.py`.
"""

import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest

import summeval_nb as s

STORED = Path(__file__).with_name("same_scores.json")
# What torch adds up differs between processors, and between its versions, by up to 4e-6 in a logit. Whoever moves code
# stores the scores of the old code on the same machine, in another checkout, and compares with SCORES_WITHIN=1e-12.
WITHIN = float(os.environ.get("SCORES_WITHIN", "1e-5"))
WORDS = ("bleu", "corpus", "rouge", "chrf", "ter", "meteor", "agreement")  # no torch in these: to the last digit


def table() -> dict[str, float | None]:
    """Return every score by name: metric, sample and part."""
    found: dict[str, float | None] = {}
    references, candidates = [], []
    for article in s.sample_articles():
        for quality in ("faithful", "subtle", "wrong"):
            summary, name = " ".join(getattr(article, quality).sentences), f"{article.name} {quality}"
            for checker in ("embedded", "words"):
                report = s.evaluate(article.text, summary, checker=checker)
                found |= {f"evaluate {checker} {name}{k}": v for k, v in flat(report.to_dict()).items()}
            references.append(article.text)
            candidates.append(summary)
            for kind, result in (
                ("bleu", s.bleu_score(summary, article.text)),
                ("rouge", s.rouge_score(summary, article.text)),
                ("summarization score", s.summarization_score(article.text, summary)),
                ("answer", s.evaluate_answer(article.text, article.title, article.faithful.sentences[0], summary)),
                ("chrf", s.chrf_score(summary, article.text)),
                ("ter", s.ter_score(summary, article.faithful.sentences[0])),
                ("meteor", s.meteor_score(summary, article.text, synonyms=None)),
                ("bert", s.bertscore(summary, article.faithful.sentences[0])),
            ):
                found |= {f"{kind} {name}{k}": v for k, v in flat(result.to_dict()).items()}
    for kind in ("bleu", "chrf", "ter"):
        result = getattr(s, f"corpus_{kind}")(candidates, references)
        found |= {f"corpus {kind}{k}": v for k, v in flat(result.to_dict()).items()}
    toy = s.core.load_toy_summeval()
    rows = s.metric_table(toy, ["bleu", "rouge1", "rougeL", "chrf", "embedding"]).to_dict()
    found |= {f"metric table{k}": v for k, v in flat(rows).items()}
    for variant in ("v1", "v2"):
        task = s.summeval_task(toy, variant=variant)
        found |= {f"summeval {variant}{k}": v for k, v in flat(task.to_dict()).items()}
    return found | agreement()


def agreement() -> dict[str, float | None]:
    """Return coefficients of drawn numbers: by level, with intervals, of two and of more annotators, of comparisons."""
    draw, found = np.random.default_rng(7), {}
    human = draw.normal(size=(12, 5)).round(1)
    metrics = {name: human + draw.normal(scale=scale, size=human.shape) for name, scale in (("a", 0.5), ("b", 2.0))}
    for level, coefficient in itertools.product(("summary", "system", "pooled"), ("kendall", "pearson", "spearman")):
        result = s.correlate(metrics["a"], human, level=level, coefficient=coefficient, n_resamples=200)
        found |= {f"{level} {coefficient}{k}": v for k, v in flat(result.to_dict()).items()}
    grades = draw.integers(1, 6, (40, 3)).astype(float)
    results = {
        "compare": s.agreement.paired_test(metrics["a"], metrics["b"], human, n_resamples=200),
        "compare all": s.compare_metrics(metrics, human, n_resamples=200),
        "pairwise accuracy": s.agreement.pairwise_accuracy(metrics["b"], human),
        "cohen": s.cohen_kappa(grades[:, 0], grades[:, 1], weights="quadratic", n_resamples=200),
        "fleiss": s.agreement.fleiss_kappa(grades, n_resamples=200),
        "krippendorff": s.krippendorff_alpha(grades, level="ordinal", n_resamples=200),
        "threshold": s.evidence.guaranteed_threshold(draw.random(300), draw.random(300) < 0.8, risk=0.3),
    }
    for name, result in results.items():
        found |= {f"{name}{k}": v for k, v in flat(result.to_dict()).items()}
    found["ceiling"] = s.agreement.metric_ceiling(0.6, 3)
    found |= {f"adjusted/{i}": float(p) for i, p in enumerate(s.agreement.adjust_p_values([0.01, 0.02, 0.2]))}
    return {f"agreement {name}": value for name, value in found.items()}


def flat(value: object, prefix: str = "") -> dict[str, float | None]:
    """Return the numbers of a nested result, by path."""
    if isinstance(value, dict):
        return {k: v for key, inner in value.items() for k, v in flat(inner, f"{prefix}/{key}").items()}
    if isinstance(value, list):
        return {k: v for key, inner in enumerate(value) for k, v in flat(inner, f"{prefix}/{key}").items()}
    return {prefix: value} if isinstance(value, float) else {}


def test_scores_are_what_they_were():
    found = table()
    if os.environ.get("UPDATE_SCORES") == "1":
        STORED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    assert found.keys() == stored.keys()
    assert len(found) > 200
    for name, value in stored.items():
        within = 1e-12 if name.startswith(WORDS) else WITHIN
        within *= 10 if "/details/" in name else 1  # log-odds of the reader move more than its probabilities
        assert found[name] == (None if value is None else pytest.approx(value, abs=within)), name

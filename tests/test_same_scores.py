"""The numbers of the sample data stay what they are, whatever house the code lives in.

A table of scores by every public metric over the package's sample data was stored before modules moved. A change that
means to change a number stores it again, and says so in the changelog:
`UPDATE_SCORES=1 pytest tests/test_same_scores.py`.
"""

import json
import os
from pathlib import Path

import pytest

import summeval_nb as s

STORED = Path(__file__).with_name("same_scores.json")
# What torch adds up differs between processors, and between its versions, by up to 4e-6 in a logit. Whoever moves code
# stores the scores of the old code on the same machine, in another checkout, and compares with SCORES_WITHIN=1e-12.
WITHIN = float(os.environ.get("SCORES_WITHIN", "1e-5"))
WORDS = ("bleu", "corpus", "rouge")  # no torch in these: to the last digit everywhere


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
            ):
                found |= {f"{kind} {name}{k}": v for k, v in flat(result.to_dict()).items()}
    found["corpus bleu"] = s.corpus_bleu(candidates, references).score
    toy = s.load_toy_summeval()
    rows = s.metric_table(toy, ["bleu", "rouge1", "rougeL", "chrf", "embedding"]).to_dict()
    found |= {f"metric table{k}": v for k, v in flat(rows).items()}
    return found


def flat(value: object, prefix: str = "") -> dict[str, float | None]:
    """Return the numbers of a nested result, by path."""
    if isinstance(value, dict):
        return {k: v for key, one in value.items() for k, v in flat(one, f"{prefix}/{key}").items()}
    if isinstance(value, list):
        return {k: v for key, one in enumerate(value) for k, v in flat(one, f"{prefix}/{key}").items()}
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

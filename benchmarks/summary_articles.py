"""The Summarization Score on ten articles of ten domains, each with a good summary and three that are none.

    python benchmarks/summary_articles.py

The articles are of 328 to 356 words. Five of them were used to choose how facts are weighed and how much of a statement
must be said; the other five were kept aside. The table gives the score as defined, the QA score, and the guarded value.
"""

from __future__ import annotations

import json
from pathlib import Path

from summeval_nb import summarization_scores

SET = Path(__file__).with_name("summary_articles.json")
KINDS = ("good", "first words", "trivia", "x")


def main() -> None:
    """Print a row for each article, and the means of either half."""
    articles = json.loads(SET.read_text(encoding="utf-8"))
    rows = []
    for one in articles:
        texts = (one["good"], " ".join(one["text"].split()[:70]), one["trivial"], "x")
        rows += [{"contexts": one["text"], "summary": text} for text in texts]
    results = iter(summarization_scores(rows, progress=False).results)
    found = {one["name"]: {kind: next(results) for kind in KINDS} for one in articles}
    print(f"{'score (QA score) guarded':28}" + "".join(f"{kind:>22}" for kind in KINDS))
    for part in ("tuned", "aside"):
        own = [one["name"] for one in articles if one["part"] == part]
        for name in own:
            cells = [f"{r.score:.3f} ({r.qa_score:.2f}) {r.guarded:.3f}" for r in found[name].values()]
            print(f"{part:6} {name:21}" + "".join(f"{cell:>22}" for cell in cells))
        ordered = sum(in_order([one.guarded for one in found[name].values()]) for name in own)
        good = sum(found[name]["good"].qa_score for name in own) / len(own)
        print(f"{part:6} {ordered} of {len(own)} in order by the guarded value, mean QA score of the good {good:.3f}\n")


def in_order(values: list[float]) -> bool:
    """Whether numbers fall strictly."""
    return all(one > other for one, other in zip(values, values[1:], strict=False))


if __name__ == "__main__":
    main()

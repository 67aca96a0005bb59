"""The Summarization Score on fourteen articles of as many domains, each with a good summary and three that are none.

    python benchmarks/summary_articles.py

The exam asks one fact a question, spread over the article, and a yes needs the checker and enough that is said. The
articles are of 327 to 361 words. With five of the first ten it was chosen how facts are weighed, how many questions are
spread, and how much must be said. The other five were kept aside at first, and four more were written last. All have
been read since, so articles of your own are the fair test. The table gives the score as defined, the QA score, and the
guarded value.
"""

from __future__ import annotations

import json
from pathlib import Path

from summeval_nb.judged import summarization_scores

SETS = [Path(__file__).with_name(name) for name in ("summary_articles.json", "summary_articles_last.json")]
KINDS = ("good", "first words", "trivia", "x")


def main() -> None:
    """Print a row for each article, and the means of either half."""
    articles = [article for path in SETS for article in json.loads(path.read_text(encoding="utf-8"))]
    rows = []
    for article in articles:
        texts = (article["good"], " ".join(article["text"].split()[:70]), article["trivial"], "x")
        rows += [{"contexts": article["text"], "summary": text} for text in texts]
    results = iter(summarization_scores(rows, progress=False).results)
    found = {article["name"]: {kind: next(results) for kind in KINDS} for article in articles}
    print(f"{'score (QA score) guarded':28}" + "".join(f"{kind:>22}" for kind in KINDS))
    for part in ("tuned", "aside", "written last"):
        own = [article["name"] for article in articles if article["part"] == part]
        for name in own:
            cells = [f"{r.score:.3f} ({r.qa_score:.2f}) {r.guarded:.3f}" for r in found[name].values()]
            print(f"{part:12} {name:15}" + "".join(f"{cell:>22}" for cell in cells))
        ordered = sum(in_order([score.guarded for score in found[name].values()]) for name in own)
        good = sum(found[name]["good"].qa_score for name in own) / len(own)
        print(
            f"{part:12} {ordered} of {len(own)} in order by the guarded value, mean QA score of the good {good:.3f}\n"
        )


def in_order(values: list[float]) -> bool:
    """Whether numbers fall strictly."""
    return all(value > other for value, other in zip(values, values[1:], strict=False))


if __name__ == "__main__":
    main()

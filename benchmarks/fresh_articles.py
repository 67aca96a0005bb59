"""The package's checkers on ten articles that were written after the default checker was fitted, and never tuned on.

    python benchmarks/fresh_articles.py

Ten articles of about 350 words in ten domains, each with fifteen true sentences (eight of them in other words) and
fifteen false ones of eight kinds, as `evaluate` judges them: eight evidence sentences chosen by similarity.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from summeval_nb import evaluate_many

SET = Path(__file__).with_name("fresh_articles.json")


def judged(checker: str) -> pd.DataFrame:
    """Return one row for each sentence: its article, whether it is true, its kind, and its state."""
    rows = []
    for article in json.loads(SET.read_text(encoding="utf-8")):
        sentences = article["sentences"]
        results = evaluate_many([article["text"]] * len(sentences), [one["text"] for one in sentences], checker=checker)
        for one, result in zip(sentences, results, strict=True):
            states = {verdict.state for verdict in result.verdicts}
            state = next(name for name in ("contradicted", "unclear", "supported", None) if name in states)
            rows.append({"article": article["name"], "true": one["supported"], "kind": one["kind"], "state": state})
    return pd.DataFrame(rows)


def main() -> None:
    """Print one table a checker, and the states by kind."""
    for checker in ("words", "embedded"):
        table = judged(checker)
        passed = table["state"] == "supported"
        true, false = table["true"], ~table["true"]
        print(
            f"\n{checker}: {true.sum()} true and {false.sum()} false sentences of {table['article'].nunique()} articles"
        )
        print(f"  balanced accuracy       {(passed[true].mean() + (~passed)[false].mean()) / 2:.3f}")
        print(f"  precision of supported  {true[passed].mean():.3f}")
        print(f"  true ones supported     {passed[true].mean():.3f}")
        print(f"  false ones not          {(~passed)[false].mean():.3f}")
        print(pd.crosstab([table["true"], table["kind"]], table["state"]).to_string())


if __name__ == "__main__":
    main()

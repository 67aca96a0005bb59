"""Fit the weights by which the embedded judge tells a refusal from an answer, and measure them.

    python benchmarks/fit_refusals.py            # measure the stored weights on every labelled set
    python benchmarks/fit_refusals.py --write    # fit them again and write assets/refusal_weights.json

Fitted on the development parts of `refusals.jsonl`, `refusals_styles.jsonl` and `refusals_last.jsonl`, and on all of
`refusals_second.jsonl`, whose errors had been read. Never fitted to: the test part of the first, a third of the second
(seventy texts in thirty styles), `refusals_fresh.jsonl` and the sixty sentences of `tests/refusals_held.json`. All of
these were measured before some change of the marks, so they are no fair test any more. Two of their 309
texts ("No." and "Not stated.") were written again for the last set, and so are fitted.

`refusals_last.jsonl` is the fair one. A language model wrote it in one go, as thirty kinds of people would write, four
refusals and four answers each, before it had seen how refusals are told, what was fitted, or what is missed. A refusal
tells nothing of what was asked: the speaker does not know, may not or will not say, or the source does not say. An
answer tells something of it, be it "No", a hedge, a part of what was asked, somebody else's ignorance or refusal. Ten
of the thirty styles, drawn by `random.Random(20261122).sample(sorted(styles), 10)`, were kept aside. They were measured
once, when marks and weights stood (`--last`): 72 of 80 right, 35 of 40 refusals found, 3 of 40 answers taken for one.
Whoever changes marks or weights after that has to write new ones.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression

from summeval_nb.judged._refusals import _marks, _phrase_values, _phrases, mean_vectors, refusal_flags, refusal_signs
from summeval_nb.text.embed import load_embedder

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "summeval_nb" / "assets"
MEANING, WORDS = 3.0, 4.0  # how strongly vectors and turns of phrase stand beside the marks, chosen on development data


def read(name: str, part: str = "") -> list[dict]:
    lines = (ASSETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if not part or row["part"] == part]


def tabulate(rows: list[dict], vectors: np.ndarray, words: list[str]) -> np.ndarray:
    """The features of texts: meaning, marks, words and pairs."""
    place = {one: column for column, one in enumerate(words)}
    phrases = np.zeros((len(rows), len(words)))
    for row, one in enumerate(rows):
        for phrase, value in _phrase_values(one["text"], place).items():
            phrases[row, place[phrase]] = value
    marks = [list(_marks(one["text"], refusal_signs(one["text"])).values()) for one in rows]
    return np.hstack([MEANING * vectors, marks, WORDS * phrases])


def fitted(rows: list[dict], vectors: np.ndarray) -> tuple[LogisticRegression, list[str]]:
    """Ridge-penalised logistic regression over marks, words and pairs met twice, and the mean sentence vector."""
    met = Counter(phrase for one in rows for phrase in _phrases(one["text"]))
    words = sorted(phrase for phrase, count in met.items() if count > 1)
    table = tabulate(rows, vectors, words)
    return LogisticRegression(C=1.0, max_iter=5000).fit(table, [one["refused"] for one in rows]), words


def folds(rows: list[dict]) -> np.ndarray:
    """Ten parts, shape (n,): the texts of a style in one part, those of the mixed style spread over all."""
    draw = np.random.default_rng(0)
    place = {style: number % 10 for number, style in enumerate(draw.permutation(sorted({r["style"] for r in rows})))}
    return np.array([i % 10 if one["style"] == "mixed" else place[one["style"]] for i, one in enumerate(rows)])


def choose_threshold(rows: list[dict], vectors: np.ndarray) -> float:
    """The lowest of .50, .51, ... at which at most 2 % of answers are flagged, every text judged without its style."""
    group = folds(rows)
    chance, truth = np.zeros(len(rows)), np.array([one["refused"] for one in rows])
    for number in range(10):
        away = group == number
        model, words = fitted([rows[i] for i in np.flatnonzero(~away)], vectors[~away])
        table = tabulate([rows[i] for i in np.flatnonzero(away)], vectors[away], words)
        chance[away] = model.predict_proba(table)[:, 1]
    chosen = 0.95
    for threshold in np.arange(0.5, 0.95, 0.01).round(2):
        said = chance >= threshold
        alarms = float(said[~truth].mean())
        told = f"threshold {threshold:.2f}: right {(said == truth).mean():.3f}, answers taken for refusals {alarms:.3f}"
        print(told, end="\r" if alarms > 0.02 else "\n")
        chosen = min(chosen, float(threshold)) if alarms <= 0.02 else chosen
    return chosen


def fit(rows: list[dict], embedder) -> dict:
    """What the package stores: the threshold, and a weight for each mark, phrase and direction of meaning."""
    vectors = mean_vectors([one["text"] for one in rows], embedder)
    model, words = fitted(rows, vectors)
    border = choose_threshold(rows, vectors)  # where the stored log-odds are 0
    marks = list(_marks("", refusal_signs("")))
    found, size = model.coef_[0], vectors.shape[1]
    return {
        "intercept": round(float(model.intercept_[0]) - np.log(border / (1 - border)), 4),
        "marks": dict(zip(marks, found[size : size + len(marks)].round(4).tolist(), strict=True)),
        "words": dict(zip(words, (WORDS * found[size + len(marks) :]).round(4).tolist(), strict=True)),
        "meaning": (MEANING * found[:size]).round(4).tolist(),
    }


def measure(name: str, rows: list[dict], embedder, *, show: bool = False) -> None:
    flags = [bool(flag) for flag in refusal_flags([row["text"] for row in rows], embedder)]
    truth = [row["refused"] for row in rows]
    right = sum(f == t for f, t in zip(flags, truth, strict=True))
    alarms = sum(f and not t for f, t in zip(flags, truth, strict=True))
    found = sum(f and t for f, t in zip(flags, truth, strict=True))
    print(
        f"{name:30} {right:3} of {len(rows):3} right ({right / len(rows):.3f}); "
        f"{found} of {sum(truth)} refusals found; {alarms} of {len(rows) - sum(truth)} answers taken for one"
    )
    for row, flag in zip(rows, flags, strict=True):
        if show and flag != row["refused"]:
            print("   ", "refusal" if row["refused"] else "answer ", row["text"][:100].replace("\n", " / "))


def tell_last(rows: list[dict], embedder) -> None:
    """The shares on texts that were kept aside, with exact binomial intervals (Clopper and Pearson)."""
    flags = np.array([bool(flag) for flag in refusal_flags([row["text"] for row in rows], embedder)])
    truth = np.array([row["refused"] for row in rows])
    hits = {"right": flags == truth, "refusals found": flags[truth], "answers taken for refusals": flags[~truth]}
    for name, one in hits.items():
        interval = binomtest(int(one.sum()), len(one)).proportion_ci()
        print(f"{name}: {one.sum()} of {len(one)}, {one.mean():.3f} [{interval.low:.3f}, {interval.high:.3f}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="fit again")
    parser.add_argument("--last", action="store_true", help="measure the styles that were kept aside, and nothing else")
    parser.add_argument("--show", action="store_true", help="show what is judged wrong")
    arguments = parser.parse_args()
    embedder = load_embedder("minilm")
    if arguments.last:
        tell_last(read("refusals_last", "aside"), embedder)
        return
    development = read("refusals", "development") + read("refusals_styles", "development")
    development += read("refusals_second") + read("refusals_last", "development")
    if arguments.write:
        weights = fit(development, embedder)
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in weights.items()]
        (ASSETS / "refusal_weights.json").write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    held = json.loads((ROOT / "tests" / "refusals_held.json").read_text(encoding="utf-8"))
    sets = {
        "development (fitted)": development,
        "kept aside, thirty styles": read("refusals_styles", "aside"),
        "test": read("refusals", "test"),
        "fresh": read("refusals_fresh"),
        "held": [{"text": text, "refused": kind == "refused"} for kind, texts in held.items() for text in texts],
    }
    for name, rows in sets.items():
        measure(name, rows, embedder, show=arguments.show)


if __name__ == "__main__":
    main()

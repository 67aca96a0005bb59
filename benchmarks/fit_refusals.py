"""Fit the weights by which the embedded judge tells a refusal from an answer, and measure them.

    python benchmarks/fit_refusals.py            # measure the stored weights on every labelled set
    python benchmarks/fit_refusals.py --write    # fit them again and write assets/refusal_weights.json
    python benchmarks/fit_refusals.py --ablate   # with form and without, on kinds of texts that were left out

Fitted on the development parts of `refusals.jsonl`, `refusals_styles.jsonl` and `refusals_last.jsonl`, on all of
`refusals_second.jsonl`, and on `benchmarks/refusals_written.jsonl`, which the package does not carry: texts of earlier
rounds whose errors had been read, texts that were written against errors, and three times thirty styles by writers who
had seen nothing of this. Never fitted to: the test part of the first, a third of the second (seventy texts in thirty
styles), `refusals_fresh.jsonl` and the sixty sentences of `tests/refusals_held.json`. All of these were measured before
some change of the marks, so they are no fair test any more.

A refusal tells nothing of what was asked: the speaker does not know, may not or will not say, or the source does not
say. An answer tells something of it, be it "No", a hedge, a part of what was asked, somebody else's ignorance or
refusal.

`refusals_last.jsonl` is the fair test. A language model wrote it in one go, as thirty kinds of people and machines
would write, eight refusals and eight answers each, before it had seen how refusals are told, what was fitted, or what
is missed. Ten of the thirty styles, drawn by `random.Random(20261124).sample(sorted(styles), 10)`, were kept aside and
measured once, when marks and weights stood (`--last`): 147 of 160 right, 68 of 80 refusals found, 1 of 80 answers taken
for one; one refusal was undecided, for a Japanese letter in it. The 69 plain refusals of the set `plain` were added
after that, since "The article does not say who designed the bridge." had fallen below the border; all 160 flags stayed.

It is the third of its kind. The first (80 texts aside) gave 72 right, 35 of 40 refusals found and 3 of 40 answers taken
for one; the second (120 aside) 106 right, 48 of 60, and 2 of 60, with weights that had seen less. Both are fitted
since. Whoever changes marks or weights after this has to write a fourth.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression

from summeval_nb.judged.refusals import (
    _marks,
    _phrase_values,
    _phrases,
    mean_states,
    mean_vectors,
    refusal_flags,
    refusal_signs,
)
from summeval_nb.text.embed import load_embedder

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "summeval_nb" / "assets"
WRITTEN = Path(__file__).with_name("refusals_written.jsonl")
# How strongly vectors, states and turns of phrase stand beside the marks, chosen on sets that were left out.
MEANING, FORM, WORDS = 2.0, 3.0, 4.0


def read(name: str, part: str = "") -> list[dict]:
    lines = (ASSETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if not part or row["part"] == part]


class Means(NamedTuple):
    """What two networks make of the texts: sentence vectors, and states, centred and of length one in the mean."""

    meaning: np.ndarray
    form: np.ndarray

    def rows(self, chosen: np.ndarray) -> Means:
        return Means(self.meaning[chosen], self.form[chosen])


def means_of(rows: list[dict], embedder) -> tuple[Means, np.ndarray, float]:
    """The means of texts, with the centre and the scale of the states."""
    texts = [row["text"] for row in rows]
    states = mean_states(texts)
    centre = states.mean(axis=0)
    scale = float(np.linalg.norm(states - centre, axis=1).mean())
    return Means(mean_vectors(texts, embedder), (states - centre) / scale), centre, scale


def tabulate(rows: list[dict], means: Means, words: list[str]) -> np.ndarray:
    """The features of texts: meaning, form, marks, words and pairs."""
    place = {word: column for column, word in enumerate(words)}
    phrases = np.zeros((len(rows), len(words)))
    for row, row_of_words in enumerate(rows):
        for phrase, value in _phrase_values(row_of_words["text"], place).items():
            phrases[row, place[phrase]] = value
    marks = [list(_marks(labelled_row["text"], refusal_signs(labelled_row["text"])).values()) for labelled_row in rows]
    return np.hstack([MEANING * means.meaning, FORM * means.form, marks, WORDS * phrases])


def fitted(rows: list[dict], means: Means) -> tuple[LogisticRegression, list[str]]:
    """Ridge-penalised logistic regression over marks, words and pairs met twice, sentence vectors and states."""
    met = Counter(phrase for row in rows for phrase in _phrases(row["text"]))
    words = sorted(phrase for phrase, count in met.items() if count > 1)
    table = tabulate(rows, means, words)
    return LogisticRegression(C=3.0, max_iter=5000).fit(table, [row["refused"] for row in rows]), words


def folds(rows: list[dict]) -> np.ndarray:
    """Ten parts, shape (n,): the texts of a style in one part, those of the mixed style spread over all."""
    draw = np.random.default_rng(0)
    place = {style: number % 10 for number, style in enumerate(draw.permutation(sorted({r["style"] for r in rows})))}
    return np.array([i % 10 if row["style"] == "mixed" else place[row["style"]] for i, row in enumerate(rows)])


def choose_threshold(rows: list[dict], means: Means) -> float:
    """The lowest of .50, .51, ... at which at most 2 % of the answers that have a style are flagged.

    Every text is judged by weights that were fitted without its style. Of the mixed texts, which have none, neighbours
    are always fitted, so they do not count.
    """
    group = folds(rows)
    chance, truth = np.zeros(len(rows)), np.array([row["refused"] for row in rows])
    for number in range(10):
        away = group == number
        model, words = fitted([rows[i] for i in np.flatnonzero(~away)], means.rows(~away))
        table = tabulate([rows[i] for i in np.flatnonzero(away)], means.rows(away), words)
        chance[away] = model.predict_proba(table)[:, 1]
    styled = np.array([row["style"] != "mixed" for row in rows])
    chance, truth = chance[styled], truth[styled]
    for threshold in np.arange(0.5, 0.95, 0.01).round(2):
        said = chance >= threshold
        alarms = float(said[~truth].mean())
        print(f"threshold {threshold:.2f}: right {(said == truth).mean():.3f}, answers taken for refusals {alarms:.3f}")
        if alarms <= 0.02:
            return float(threshold)
    return 0.95


def fit(rows: list[dict], embedder) -> dict:
    """What the package stores: weights of marks, phrases and numbers of the vectors, the threshold at log-odds 0."""
    means, centre, scale = means_of(rows, embedder)
    model, words = fitted(rows, means)
    border = choose_threshold(rows, means)
    names, found, size = list(_marks("", refusal_signs(""))), model.coef_[0], means.meaning.shape[1]
    meaning, form, marks, phrases = np.split(found, [size, 2 * size, 2 * size + len(names)])
    form = (FORM * form / scale).round(5)
    return {
        "intercept": round(float(model.intercept_[0] - form @ centre) - np.log(border / (1 - border)), 4),
        "marks": dict(zip(names, marks.round(4).tolist(), strict=True)),
        "words": dict(zip(words, (WORDS * phrases).round(4).tolist(), strict=True)),
        "meaning": (MEANING * meaning).round(4).tolist(),
        "form": form.tolist(),
    }


def ablate(rows: list[dict], embedder) -> None:
    """Share right where 2.5 % of the answers pass for refusals, on each round of texts, fitted on all the others."""
    means, _, _ = means_of(rows, embedder)
    bare = Means(means.meaning, np.zeros_like(means.form))
    sets = np.array([row.get("set", "") for row in rows])
    shares: dict[str, list[float]] = {"with form": [], "without": []}
    for name in sorted({*sets} - {"", "more"}):
        away = sets == name
        rest, left = ([rows[i] for i in np.flatnonzero(chosen)] for chosen in (~away, away))
        truth = np.array([left_row["refused"] for left_row in left])
        for kind, probabilities in (("with form", means), ("without", bare)):
            model, words = fitted(rest, probabilities.rows(~away))
            odds = model.decision_function(tabulate(left, probabilities.rows(away), words))
            shares[kind].append(float(((odds > np.quantile(odds[~truth], 0.975)) == truth).mean()))
            print(f"{name:10} {kind:10} {shares[kind][-1]:.3f}")
    print("  ".join(f"{kind}: {np.mean(found):.3f}" for kind, found in shares.items()))


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
    flags = [flag.value for flag in refusal_flags([row["text"] for row in rows], embedder)]
    truth = np.array([row["refused"] for row in rows])
    right = np.array([flag == truly for flag, truly in zip(flags, truth, strict=True)])  # an undecided one is not
    alarms = np.array([flag is True for flag in flags])[~truth]
    hits = {"right": right, "refusals found": right[truth], "answers taken for refusals": alarms}
    print(f"undecided, and so not right: {flags.count(None)}")
    for name, hit in hits.items():
        interval = binomtest(int(hit.sum()), len(hit)).proportion_ci()
        print(f"{name}: {hit.sum()} of {len(hit)}, {hit.mean():.3f} [{interval.low:.3f}, {interval.high:.3f}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="fit again")
    parser.add_argument("--last", action="store_true", help="measure the styles that were kept aside, and nothing else")
    parser.add_argument("--show", action="store_true", help="show what is judged wrong")
    parser.add_argument("--ablate", action="store_true", help="measure what the form adds")
    arguments = parser.parse_args()
    embedder = load_embedder("minilm")
    if arguments.last:
        tell_last(read("refusals_last", "aside"), embedder)
        return
    development = read("refusals", "development") + read("refusals_styles", "development")
    development += read("refusals_second") + read("refusals_last", "development")
    development += [json.loads(line) for line in WRITTEN.read_text(encoding="utf-8").splitlines()]
    if arguments.ablate:
        ablate(development, embedder)
        return
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

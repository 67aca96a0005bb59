"""Fit the words checker on four human-labelled data sets, leaving whole sets out, and say how good it is.

    python benchmarks/fit_checker.py [--table FEATURES.csv.gz] [--write]

Reads SummEval, QAGS-CNN/DM, XSumFaith and DeFacto from the folder that SUMMEVAL_NB_DATA names. Labels: a summary is
supported when SummEval's experts all gave consistency 5, when each sentence of QAGS has a majority of yes, when more
than half of XSumFaith's annotators marked nothing, and as DeFacto says. A summary's score is the mean over its
sentences.

The first stage embeds every sentence and computes the features for several numbers of evidence sentences. It takes
minutes, so `--table` keeps its result in a file (numbers, no text) and reads it from there the next time. The second
stage fits and measures, in a minute. `--write` stores the weights, the stem counts and the derived tables
in `summeval_nb/assets/`; without it the script compares what it found with what is shipped.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.stats import rankdata
from tqdm.auto import tqdm

from summeval_nb.evidence import base, tokens, words
from summeval_nb.evidence.base import encode_pairs
from summeval_nb.text.embed import load_embedder
from summeval_nb.text.split import split_text

ASSETS = Path(__file__).parents[1] / "summeval_nb" / "assets"
SETS = ("qags_cnndm", "summeval", "xsumfaith", "defacto")
KS = (1, 2, 3, 5, 8, 0)  # 0: all sentences
FIT_KS = (5, 0)  # the mixture is fitted on few and on all evidence sentences at once
RIDGES = (0.01, 0.1, 1.0, 10.0)
# What the evidence does not hold, counted: rare, and different in kind from the others.
FINDINGS = ("numbers", "names", "negation")
SHARES = tuple(name for name in words.FEATURES if name not in FINDINGS)


# ---------------------------------------------------------------------------------------------------- the data


@dataclass
class Summary:
    """One labelled summary: its sentences, its label, and labels of single sentences where people gave them."""

    sentences: list[str]
    label: int
    sentence_labels: list[int] | None = None


@dataclass
class Article:
    """One article of a data set with its summaries."""

    data_set: str
    text: str
    summaries: list[Summary]


def load(folder: Path) -> list[Article]:
    """Read the four sets."""
    readers = {"qags_cnndm": _qags, "summeval": _summeval, "xsumfaith": _xsum, "defacto": _xsum}
    articles = []
    for name in SETS:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            articles += [Article(name, *readers[name](json.loads(line))) for line in lines]
    return articles


def _summeval(row: dict) -> tuple[str, list[Summary]]:
    return row["source"], [Summary(split_text(s["summary"]), int(s["consistency"] >= 5)) for s in row["systems"]]


def _qags(row: dict) -> tuple[str, list[Summary]]:
    yes = [[answer["response"] == "yes" for answer in s["responses"]] for s in row["summary_sentences"]]
    labels = [int(2 * sum(answers) > len(answers)) for answers in yes]
    return row["article"], [Summary([s["sentence"] for s in row["summary_sentences"]], int(all(labels)), labels)]


def _xsum(row: dict) -> tuple[str, list[Summary]]:
    return row["source"], [Summary(split_text(s["summary"]), int(s["supported"] > 0.5)) for s in row["summaries"]]


def count_stems(articles: Sequence[Article]) -> str:
    """Return the stem counts as text: the number of distinct articles, then stem, tab, articles that hold it."""
    counts: Counter[str] = Counter()
    texts = list(dict.fromkeys(article.text for article in articles))
    for text in texts:
        counts.update({token.key for token in tokens.sentence_tokens(text) if token.kind in ("content", "number")})
    lines = [f"{stem}\t{count}" for stem, count in sorted(counts.items()) if count > 1]
    return "\n".join([str(len(texts)), *lines]) + "\n"


def shared_articles(articles: Sequence[Article], share: float = 0.08) -> set[tuple[int, int]]:
    """Return pairs of articles of different sets where one holds at least `share` of the other's 8-grams."""
    grams = []
    for article in articles:
        words = [token.key for token in tokens.sentence_tokens(article.text)]
        grams.append({tuple(words[i : i + 8]) for i in range(len(words) - 7)})
    holders = defaultdict(list)
    for index, own in enumerate(grams):
        for gram in own:
            holders[gram].append(index)
    common: Counter[tuple[int, int]] = Counter()
    for indices in holders.values():
        common.update((a, b) for a in indices for b in indices if articles[a].data_set != articles[b].data_set)
    return {(a, b) for (a, b), n in common.items() if n >= share * min(len(grams[a]), len(grams[b]))}


# ------------------------------------------------------------------------------------------------- the features


def features(articles: Sequence[Article]) -> pd.DataFrame:
    """Return one row for each summary sentence and number of evidence sentences, with all features."""
    rows = []
    embedder = load_embedder("minilm")
    for start in tqdm(range(0, len(articles), 16), desc="features", unit="16 articles"):
        lot = articles[start : start + 16]
        pairs = [(split_text(article.text), c) for article in lot for s in article.summaries for c in s.sentences]
        places = [(start + i, j, n) for i, article in enumerate(lot) for j, n in _places(article)]
        for place, pair, vectors in zip(places, pairs, encode_pairs(pairs, embedder), strict=True):
            where = dict(zip(("article", "summary", "sentence"), place, strict=True))
            rows += [where | row for row in _rows(*pair, vectors)]
    table = pd.DataFrame(rows)
    table.insert(0, "set", [articles[index].data_set for index in table["article"]])
    return table


def _places(article: Article) -> Iterator[tuple[int, int]]:
    for number, summary in enumerate(article.summaries):
        yield from ((number, index) for index in range(len(summary.sentences)))


def _rows(evidence: list[str], sentence: str, vectors: base.PairVectors) -> Iterator[dict[str, float]]:
    """Yield the features of one sentence for each number of evidence sentences."""
    claim = tokens.take_apart(sentence)
    if not claim.keys:
        return
    order = [ranked.index for ranked in base.nearest_evidence(vectors.cosines())]
    for k in KS:
        chosen = order[:k] if k else order
        part = base.PairVectors(
            vectors.embedder,
            vectors.evidence[chosen],
            vectors.claim,
            [vectors.evidence_tokens[index] for index in chosen],
            vectors.claim_tokens,
        )
        found, _ = words.word_features(claim, [tokens.take_apart(evidence[index]) for index in chosen], part)
        yield {"k": k, **found}


# ------------------------------------------------------------------------------------------------------ the fit


def by_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of the features over each summary's sentences."""
    return table.groupby(["set", "article", "summary", "k"], as_index=False).mean(numeric_only=True)


def fit(summaries: pd.DataFrame, ridge: float) -> dict[str, float]:
    """Return the mixture's weights, all at least 0 and adding up to 1, fitted in two steps.

    Nine features say much the same in different ways: how much of the sentence was found. A strong ridge lets each
    speak about as loudly as it deserves alone, and they become one score. The findings (numbers, names, negation) are
    rare and different in kind; among nine related features the ridge would drown them. So they are weighed
    against that one score, in a second step.
    """
    shares = _regression(summaries, SHARES, ridge)
    score = summaries.assign(found=mixture(summaries, shares))
    second = _regression(score, ("found", *FINDINGS), ridge)
    weights = {name: weight * second["found"] for name, weight in shares.items()}
    weights |= {name: second[name] for name in FINDINGS}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def _regression(summaries: pd.DataFrame, names: Sequence[str], ridge: float) -> dict[str, float]:
    """Return weights >= 0 of a logistic regression on standardised features, for features as they are.

    Each set (and each number of evidence sentences) has an offset of its own, so only the ranking *within* sets
    is fitted; each set counts alike, and in it both labels. Features are standardised within sets, so that the
    differences between copied and free summaries do not count as spread.
    """
    values, labels = summaries[list(names)].to_numpy(float), summaries["label"].to_numpy(float)
    group, groups = pd.factorize(summaries["set"] + summaries["k"].astype(str))
    one_hot = np.eye(len(groups))[group]
    centers = one_hot.T @ values / one_hot.sum(axis=0)[:, None]
    spread = np.sqrt(np.mean([values[group == g].var(axis=0) for g in range(len(groups))], axis=0))
    spread[spread == 0] = 1
    standard = (values - centers[group]) / spread
    weight = np.zeros(len(labels))
    for g in range(len(groups)):
        for label in (0, 1):
            inside = (group == g) & (labels == label)
            weight[inside] = 0.5 / inside.sum() / len(groups)

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        weights, offsets = np.split(parameters, [len(names)])
        logit = standard @ weights + offsets[group]
        residual = weight * (1 / (1 + np.exp(-logit)) - labels)
        gradient = np.concatenate([standard.T @ residual + 2 * ridge * weights, one_hot.T @ residual])
        return float((weight * (np.logaddexp(0, logit) - labels * logit)).sum() + ridge * (weights**2).sum()), gradient

    bounds = [(0, None)] * len(names) + [(None, None)] * len(groups)
    start = np.concatenate([np.full(len(names), 0.1), np.zeros(len(groups))])
    options = {"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-9}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return dict(zip(names, (found[: len(names)] / spread).tolist(), strict=True))


def mixture(table: pd.DataFrame, weights: dict[str, float]) -> np.ndarray:
    """Return the weighted sum of features of each row."""
    return table[list(weights)].to_numpy(float) @ np.array(list(weights.values()))


def without(summaries: pd.DataFrame, left_out: str, shared: set[tuple[int, int]]) -> pd.DataFrame:
    """Return the training rows when a set is left out: no row of it, and no article that it shares."""
    held = set(summaries.loc[summaries["set"] == left_out, "article"])
    dropped = {a for a, b in shared if b in held}
    return summaries[(summaries["set"] != left_out) & ~summaries["article"].isin(dropped) & summaries["k"].isin(FIT_KS)]


def choose_ridge(training: pd.DataFrame, shared: set[tuple[int, int]]) -> float:
    """Return the strongest ridge that is as good as the best (within .005 of its mean ROC-AUC).

    Each of the training sets is left out in turn, so the set that is tested later has no say.
    """

    def quality(ridge: float) -> float:
        areas = []
        for name in training["set"].unique():
            weights = fit(without(training, name, shared), ridge)
            rows = training[(training["set"] == name) & (training["k"] == 0)]
            areas.append(area(mixture(rows, weights), rows["label"].to_numpy()))
        return float(np.mean(areas))

    found = {ridge: quality(ridge) for ridge in RIDGES}
    return max(ridge for ridge, mean in found.items() if mean >= max(found.values()) - 0.005)


# -------------------------------------------------------------------------------------------------- calibration


def calibrate(table: pd.DataFrame, weights: dict[str, float], labels: pd.DataFrame) -> tuple[float, float]:
    """Return slope and offset that turn the mixture into a probability that a *sentence* is supported.

    Most labels are of whole summaries: supported means that all sentences are. So the likelihood of a summary is
    the product of its sentences' probabilities; where people judged single sentences, each counts for itself.
    Each set weighs alike.
    """
    rows = table.merge(labels, on=["set", "article", "summary", "sentence"])
    score = mixture(rows, weights)
    unit, _ = pd.factorize(rows["unit"])
    first = np.unique(unit, return_index=True)[1]
    truth, names = rows["unit_label"].to_numpy(float)[first], rows["set"].to_numpy()[first]
    weight = 1 / pd.Series(names).map(pd.Series(names).value_counts()).to_numpy(float) / len(set(names))

    def loss(parameters: np.ndarray) -> float:
        logit = parameters[0] * score + parameters[1]
        together = np.bincount(unit, -np.logaddexp(0, -logit))  # log of the product
        return -float((weight * np.where(truth == 1, together, np.log(-np.expm1(np.minimum(together, -1e-12))))).sum())

    options = {"xatol": 1e-6, "fatol": 1e-12, "maxiter": 5000}
    slope, offset = minimize(loss, np.array([10.0, -5.0]), method="Nelder-Mead", options=options).x
    return float(slope), float(offset)


def label_table(articles: Sequence[Article]) -> pd.DataFrame:
    """Return a label for each summary sentence, and the unit (summary or sentence) that people judged."""
    rows = []
    for index, article in enumerate(articles):
        for number, summary in enumerate(article.summaries):
            for place in range(len(summary.sentences)):
                own = summary.sentence_labels
                row = {"set": article.data_set, "article": index, "summary": number, "sentence": place}
                row |= {"label": summary.label, "unit_label": summary.label if own is None else own[place]}
                rows.append(row | {"unit": f"{index}-{number}" + (f"-{place}" if own else "")})
    return pd.DataFrame(rows)


# -------------------------------------------------------------------------------------------------- measurement


def area(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the ROC-AUC: the probability that a supported item scores above an unsupported one, ties half."""
    positive = labels == 1
    n, m = int(positive.sum()), int((~positive).sum())
    return float((rankdata(scores)[positive].sum() - n * (n + 1) / 2) / (n * m))


def interval(rows: pd.DataFrame, scores: np.ndarray, *, n_resamples: int = 300, seed: int = 0) -> tuple[float, float]:
    """Return the 95 % interval of the ROC-AUC when whole articles are resampled."""
    generator, labels = np.random.default_rng(seed), rows["label"].to_numpy()
    members = list(rows.reset_index(drop=True).groupby("article").indices.values())
    areas = []
    for _ in range(n_resamples):
        chosen = np.concatenate([members[i] for i in generator.integers(len(members), size=len(members))])
        if 0 < labels[chosen].sum() < len(chosen):
            areas.append(area(scores[chosen], labels[chosen]))
    low, high = np.percentile(areas, [2.5, 97.5])
    return float(low), float(high)


def measure(rows: pd.DataFrame, scores: np.ndarray, **names: object) -> dict[str, object]:
    """Return one line of the agreement table."""
    low, high = interval(rows, scores)
    return {**names, "auc": area(scores, rows["label"].to_numpy()), "low": low, "high": high, "n": len(rows)}


@dataclass
class Model:
    """A fitted mixture: weights that add up to 1, and the calibration from its score to a probability."""

    weights: dict[str, float]
    slope: float
    offset: float
    ridge: float

    def probability(self, table: pd.DataFrame) -> np.ndarray:
        """Return the probability of support of each row."""
        return 1 / (1 + np.exp(-(self.slope * mixture(table, self.weights) + self.offset)))


def train(summaries: pd.DataFrame, table: pd.DataFrame, labels: pd.DataFrame, shared: set[tuple[int, int]]) -> Model:
    """Choose the ridge, fit the weights, calibrate: all on the sets that are given."""
    ridge = choose_ridge(summaries, shared)
    weights = fit(summaries[summaries["k"].isin(FIT_KS)], ridge)
    own = table[table["article"].isin(summaries["article"]) & table["k"].isin(FIT_KS)]
    slopes = [calibrate(own[own["k"] == k], weights, labels) for k in FIT_KS]
    slope, offset = np.mean(slopes, axis=0)
    return Model(weights, float(slope), float(offset), ridge)


def agreement(
    table: pd.DataFrame, labels: pd.DataFrame, shared: set[tuple[int, int]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the agreement table, and each sentence's probability from the model that never saw its set."""
    summaries, lines, left_out = by_summary(table), [], []
    for name in SETS:
        rows = summaries[summaries["set"] == name]
        for feature in words.FEATURES:
            for k in KS:
                some = rows[rows["k"] == k]
                lines.append(measure(some, some[feature].to_numpy(), set=name, k=k, score=feature))
        model = train(without(summaries, name, shared), table, labels, shared)
        print(f"{name:11} left out: ridge {model.ridge:g}, weights {_short(model.weights)}", flush=True)
        own = table[table["set"] == name]
        own = own.assign(probability=model.probability(own))
        left_out.append(own[["set", "article", "summary", "sentence", "k", "probability"]])
        means = by_summary(own)
        for k in KS:
            some = means[means["k"] == k]
            lines.append(measure(some, some["probability"].to_numpy(), set=name, k=k, score="mixture"))
    return pd.DataFrame(lines), pd.concat(left_out)


def _short(weights: dict[str, float]) -> str:
    return ", ".join(f"{name} {weight:.3f}" for name, weight in weights.items())


def _balanced_accuracy(supported: np.ndarray, labels: np.ndarray) -> float:
    return float(np.mean([(supported == label)[labels == label].mean() for label in (0, 1)]))


# -------------------------------------------------------------------------------------------------------- output


def package_data(model: Model, lines: pd.DataFrame, sentences: pd.DataFrame, stems: str) -> dict[str, bytes]:
    """Return the files for the package: weights, stem counts, the agreement table, the derived sentence table."""
    weights = {name: round(weight * model.slope, 4) for name, weight in model.weights.items()}
    fitted = {
        "embedder": load_embedder("minilm").fingerprint,
        "intercept": round(model.offset, 4),
        "weights": weights,
        "fitted_on": list(SETS),
        "fitted_by": "benchmarks/fit_checker.py",
    }
    files = {"checker.json": (json.dumps(fitted, indent=1) + "\n").encode(), "stem_counts.tsv.gz": _packed(stems)}
    rounded = lines.round({"auc": 4, "low": 4, "high": 4})
    files["checker_agreement.csv"] = rounded.to_csv(index=False, lineterminator="\n").encode()
    files["checker_sentences.csv.gz"] = _packed(sentences.to_csv(index=False, lineterminator="\n", float_format="%.3f"))
    return files


def _packed(text: str) -> bytes:
    return gzip.compress(text.encode("utf-8"), mtime=0)


def sentence_table(table: pd.DataFrame, labels: pd.DataFrame, left_out: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return, for one number of evidence sentences, features, labels and left-out probabilities: numbers only."""
    keys = ["set", "article", "summary", "sentence"]
    rows = (
        table[table["k"] == k].drop(columns=["k", "label"], errors="ignore").merge(labels.drop(columns="unit"), on=keys)
    )
    rows = rows.merge(left_out[left_out["k"] == k].drop(columns="k"), on=keys)
    single = rows.groupby(["set", "article", "summary"])["sentence"].transform("count") == 1
    rows["judged_alone"] = ((rows["set"] == "qags_cnndm") | single).astype(int)
    columns = [*keys, "label", "unit_label", "judged_alone", *words.FEATURES, "probability"]
    return rows[columns].rename(columns={"probability": "left_out_probability"})


def report(model: Model, lines: pd.DataFrame, left_out: pd.DataFrame, labels: pd.DataFrame) -> None:
    """Print what the chapter shows."""
    shown = lines[lines["k"] == 0].round(3)
    shown["text"] = [f"{a:.3f} [{b:.3f}, {c:.3f}]" for a, b, c in shown[["auc", "low", "high"]].itertuples(index=False)]
    order = [*words.FEATURES, "mixture"]
    print("\nROC-AUC, all sentences as evidence; the mixture was fitted without the set (95 % by resampled articles)\n")
    print(shown.pivot(index="score", columns="set", values="text").loc[order, list(SETS)].to_string())
    mixed = lines[lines["score"] == "mixture"].pivot(index="k", columns="set", values="auc")
    print("\nthe mixture by number of evidence sentences (0: all)\n")
    print(mixed[list(SETS)].round(3).to_string())
    truth = labels.groupby(["set", "article", "summary"], as_index=False)["label"].first()
    means = by_summary(left_out).merge(truth, on=["set", "article", "summary"])
    print("\nbalanced accuracy of 'mean probability >= .5' on a set that was left out (a threshold does not travel)\n")
    for name, rows in means[means["k"] == 0].groupby("set"):
        print(f"  {name:11} {_balanced_accuracy(rows['probability'].to_numpy() >= 0.5, rows['label'].to_numpy()):.3f}")
    print(f"\nfitted on all four: ridge {model.ridge:g}, slope {model.slope:.3f}, offset {model.offset:.3f}")
    print(_short({name: weight * model.slope for name, weight in model.weights.items()}))


def main() -> None:
    """Run, print, and write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, help="keep the features in this file, and read them if it is there")
    parser.add_argument("--write", action="store_true", help="write the package data")
    parser.add_argument("--k", type=int, default=8, help="evidence sentences of the derived sentence table (0: all)")
    options = parser.parse_args()
    if "SUMMEVAL_NB_DATA" not in os.environ:
        sys.exit("needs the four labelled sets: set SUMMEVAL_NB_DATA to their folder")
    articles = load(Path(os.environ["SUMMEVAL_NB_DATA"]))
    stems = count_stems(articles)
    if options.write:  # the features below read the stem counts
        (ASSETS / "stem_counts.tsv.gz").write_bytes(_packed(stems))
    if options.table and options.table.is_file():
        table = pd.read_csv(options.table)
    else:
        table = features(articles)
        if options.table:
            table.to_csv(options.table, index=False)
    labels = label_table(articles)
    table = table.merge(labels[["article", "summary", "sentence", "label"]], on=["article", "summary", "sentence"])
    shared = shared_articles(articles)
    pairs = Counter(tuple(sorted((articles[a].data_set, articles[b].data_set))) for a, b in shared if a < b)
    print("articles that two sets share:", dict(pairs))
    lines, left_out = agreement(table, labels, shared)
    model = train(by_summary(table), table, labels, shared)
    report(model, lines, left_out, labels)
    files = package_data(model, lines, sentence_table(table, labels, left_out, options.k), stems)
    for name, content in files.items():
        path = ASSETS / name
        same = path.is_file() and path.read_bytes() == content
        if options.write:
            path.write_bytes(content)
        state = "unchanged" if same else "written" if options.write else "DIFFERS from what is shipped"
        print(f"{name}: {len(content)} bytes, {state}")


if __name__ == "__main__":
    main()

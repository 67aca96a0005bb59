"""Fit the embedded checker's ten weights, leaving whole sets out, and say how good it is.

    python benchmarks/fit_embedded.py [--folder WORK] [--left-out CSV] [--write]

Reads SummEval, QAGS-CNN/DM, XSumFaith, DeFacto and SummEdits from the folder that SUMMEVAL_NB_DATA names, and the
claims that were written for this project. The ten numbers of all claims (an hour) are kept in WORK and read from
there the next time; what the reader makes of each pair is kept beside them, so that after a change of rules alone
only the rules are run again. Each set is predicted by weights that were fitted without its claims and articles, and
read by a reader that was trained without its labels (`benchmarks/readers`). `--write` puts weights and threshold into
`summeval_nb/assets/embedded.json`; `--left-out` writes what the left-out weights say of each item that people judged,
and the words checker as well: `how_well.py` makes the published figures of it.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from _labelled import SETS, Claim, Document, documents, same_article
from _reader_rows import wording_weights, written_passages
from fit_checker import area
from fit_checker import fit as fit_words
from tqdm.auto import tqdm

from summeval_nb import evaluate_many
from summeval_nb.evidence import tokens, words
from summeval_nb.evidence.base import encode_pairs
from summeval_nb.evidence.builtin import MEASURED_K, numbers_mark
from summeval_nb.evidence.embedded import NUMBERS, fitted, pair_features, parse_pair, windows
from summeval_nb.text.embed import SentenceVectors, load_embedder
from summeval_nb.text.normalize import in_one_form
from summeval_nb.text.similarity import cosine_similarity, topk_related

if TYPE_CHECKING:
    from summeval_nb.evidence.reader import Reader, Reading

ASSETS = Path(__file__).parents[1] / "summeval_nb" / "assets"
READERS = Path(__file__).parent / "readers"  # as differences from the packaged one, 0.7 MB each
LEFT_OUT = {
    "summeval,defacto": READERS / "saw_qags_cnndm_xsumfaith_summedits.npz",
    "qags_cnndm,xsumfaith,summedits": READERS / "saw_summeval_defacto.npz",
}
RIDGE = 1e-3  # the inverse strength of the penalty on weights, for numbers of unit variance
EDITS, WRITTEN = 0.3, 2.0  # how much a set's edits by rules, and the written claims, weigh beside a set's human labels
COPIED = 3.0  # what one changed place in a copy costs, before calibration
TOLERANCE = 0.005  # another processor adds in another order, and reads a little differently in bfloat16
WORTH_A_MOVE = 0.001  # of balanced accuracy
STATES = ("contradicted", "unclear", "supported")
WORDS = list(words.FEATURES)


class Table:
    """All labelled claims as arrays: their ten numbers, what clashes in them, and which sets they belong to."""

    def __init__(self, claims: list[Claim], looked: dict[str, np.ndarray], held: Sequence[Collection[str]]):
        self.held = [held[claim.article] for claim in claims]  # the sets that hold a claim's article
        self.claims = claims
        self.numbers, self.words = looked["numbers"], looked["words"]
        self.copied, self.clash = looked["copied"] == 1, looked["clash"] == 1
        self.usable = ~np.isnan(self.numbers).any(axis=1)
        self.set = np.array([claim.set for claim in claims])
        self.label = np.array([claim.label for claim in claims])
        self.article = np.array([claim.article for claim in claims])
        self.summary = np.array([claim.summary for claim in claims])
        self.alone = np.array([claim.unit for claim in claims]) == 1
        self.human = np.array([claim.kind for claim in claims]) == "human"
        balance = wording_weights(written_passages())
        self.balance = np.array([WRITTEN * balance[claim.text] if claim.set == "written" else 1.0 for claim in claims])
        self.balance[~self.human] = EDITS

    def allowed(self, left_out: str | None) -> np.ndarray:
        """Return which rows are of articles that the set left out does not hold."""
        return np.array([left_out not in sets for sets in self.held])

    def training(self, left_out: str | None) -> np.ndarray:
        """Return which rows may be trained on: no sentence whose own label is unknown."""
        unsure = self.human & (self.label == 0) & ~self.alone
        return self.usable & self.allowed(left_out) & ~unsure

    def weights(self, rows: np.ndarray) -> np.ndarray:
        """Return weights that give each set, human labels and edits, and both labels the same say."""
        weight = np.zeros(len(self.label))
        for name in set(self.set[rows]):
            for human in (True, False):
                for label in (0, 1):
                    inside = rows & (self.set == name) & (self.human == human) & (self.label == label)
                    weight[inside] = 1000 / max(inside.sum(), 1)
        return weight * self.balance


def regression(**options: float) -> Any:
    """Return scikit-learn's logistic regression; the library is large, so it is imported here."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(**options)


def words_logit(table: Table, left_out: str | None) -> np.ndarray:
    """Return the logit of the words checker, its weights fitted as in `fit_checker.py`, without the set left out."""
    rows = table.usable & table.human & ~np.isin(table.set, ["summedits", "written"])
    frame = pd.DataFrame(table.words, columns=WORDS)
    frame["set"], frame["article"], frame["summary"], frame["k"] = table.set, table.article, table.summary, 8
    frame["label"] = table.label
    labels = frame[rows].groupby(["set", "article", "summary", "k"], as_index=False).mean(numeric_only=True)
    labels["label"] = (labels["label"] > 0.999).astype(int)
    weights = fit_words(labels[labels["set"] != left_out], 0.1)
    score = frame[list(weights)].to_numpy() @ np.array(list(weights.values()))
    seen = rows & table.allowed(left_out)
    model = regression(C=1e6).fit(score[seen][:, None], table.label[seen])
    return float(model.coef_[0, 0]) * score + float(model.intercept_[0])


def fit(table: Table, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Return weights and intercept of a ridge logistic regression.

    Sets differ in how often a claim is true and in how it is told. So each set's means are taken out, and only the
    order within sets is fitted.
    """
    weight = table.weights(rows)[rows]
    weight /= weight.mean()
    values = table.numbers[rows].copy()
    middle = np.average(values, axis=0, weights=weight)
    group = np.array([f"{name} {human}" for name, human in zip(table.set[rows], table.human[rows], strict=True)])
    for group_number in np.unique(group):
        inside = group == group_number
        values[inside] -= np.average(values[inside], axis=0, weights=weight[inside])
    scale = np.sqrt(np.average(values**2, axis=0, weights=weight))
    model = regression(C=RIDGE, max_iter=2000).fit(values / scale, table.label[rows], sample_weight=weight)
    found = model.coef_[0] / scale
    return found, -float(middle @ found)


def left_out_scores(table: Table) -> np.ndarray:
    """Return for each claim the sum of weights that were fitted to nothing of its set, before calibration."""
    scores = np.zeros(len(table.label))
    for name in (*SETS, "written"):
        weights, intercept = fit(table, table.training(name))
        own = table.set == name
        scores[own] = table.numbers[own] @ weights + intercept
    return scores - COPIED * table.copied


def calibrated(table: Table, scores: np.ndarray) -> tuple[float, float]:
    """Return slope and offset that make probabilities of left-out sums."""
    rows = table.training(None)
    weight = table.weights(rows)[rows]
    model = regression(C=1e6).fit(scores[rows][:, None], table.label[rows], sample_weight=weight / weight.mean())
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def items(table: Table, probability: np.ndarray, threshold: float, clash: np.ndarray, name: str) -> pd.DataFrame:
    """Return a row for each item that people judged, or that was written: a sentence, or a summary's worst sentence."""
    yes = (probability >= threshold) & ~clash
    no = (probability < threshold) & clash
    alone = np.isin(table.set, ["qags_cnndm", "written"])  # labelled one by one
    whole = {"key": table.set, "article": table.article, "item": table.summary}
    whole["place"] = np.where(alone, np.arange(len(alone)), -1)
    said = {"label": table.label, "probability": probability, "state": np.where(yes, 2, np.where(no, 0, 1))}
    frame = pd.DataFrame(whole | said)[table.usable & table.human]
    found = frame.groupby(list(whole), as_index=False, sort=False).min()
    return found.assign(checker=name, state=found["state"].map(dict(enumerate(STATES)))).drop(columns="place")


def balanced_accuracy(found: pd.DataFrame) -> dict[str, float]:
    """Return for each set the mean of the shares of true items called supported and false ones not called so."""
    yes = (found["state"] == "supported").groupby([found["key"], found["label"]]).mean().unstack()
    return ((yes[1] + 1 - yes[0]) / 2).to_dict()


def sentences(articles: dict[str, np.ndarray], logit: np.ndarray, threshold: float) -> pd.DataFrame:
    """Return a row for each sentence of the written articles, as `items` does for the sets."""
    probability = 1 / (1 + np.exp(-logit))
    state = np.where((probability >= threshold) & (articles["clash"] == 0), "supported", "unclear")
    return pd.DataFrame({"key": "articles", "label": articles["label"].astype(int), "state": state})


def chosen_threshold(
    table: Table,
    probability: np.ndarray,
    articles: dict[str, np.ndarray] | None = None,
    logit: np.ndarray | None = None,
) -> float:
    """Return the threshold of the best balanced accuracy, in the mean over the left-out sets and what was written.

    The one that ships stays while none is better by `WORTH_A_MOVE`: so little is chance, and every verdict hangs on it.
    """
    tried, means = np.round(np.arange(0.2, 0.8, 0.01), 2), []
    for threshold in tried.tolist():
        found = balanced_accuracy(items(table, probability, threshold, table.clash, ""))
        if articles is not None and logit is not None:
            found |= balanced_accuracy(sentences(articles, logit, threshold))
        means.append(np.mean(list(found.values())))
    ships = int(np.argmin(np.abs(tried - fitted()["threshold"])))
    best = int(np.argmax(means))
    return float(tried[ships if means[best] - means[ships] < WORTH_A_MOVE else best])


def kept_in(path: Path) -> dict[str, np.ndarray] | None:
    """Return what an earlier fit kept, if it is of the same rules and networks."""
    if not path.is_file():
        return None
    with np.load(path) as kept:
        found = dict(kept)
    return found if found.pop("mark", None) == numbers_mark() else None


def articles_looked_at(path: Path) -> dict[str, np.ndarray]:
    """Return the numbers and labels of the sentences about the written articles, which no weight is fitted to."""
    if kept := kept_in(path):
        return kept
    given = []
    for file in sorted(Path(__file__).parent.glob("fresh_articles*.json")):
        if file.stem != "fresh_articles_16":  # on those ten nothing is chosen
            for article in json.loads(file.read_text(encoding="utf-8")):
                given += [(article["text"], own["text"], own["supported"]) for own in article["sentences"]]
    results = evaluate_many([item[0] for item in given], [item[1] for item in given], progress=True)
    rows = []
    for (_, _, label), result in zip(given, results, strict=True):
        for verdict in result.verdicts:
            numbers = [verdict.details["numbers"][name] for name in NUMBERS]
            rows.append([*numbers, "copied" in verdict.details["terms"], any(f.clash for f in verdict.findings), label])
    values = np.array(rows, float)
    names = ("copied", "clash", "label")
    found = {"numbers": values[:, : len(NUMBERS)]} | dict(zip(names, values[:, len(NUMBERS) :].T, strict=True))
    np.savez_compressed(path, **found, mark=np.array(numbers_mark()))
    return found


def readers() -> dict[str, Reader]:
    """Return for each set a reader that learnt nothing of its labels; "" for what is of no public set."""
    from summeval_nb.evidence.reader import changed, load_reader, unpacked

    found, raw = {"": load_reader("float32")}, (ASSETS / "reader.npz").read_bytes()
    first = unpacked(raw)
    for names, path in LEFT_OUT.items():
        own, content = copy.copy(found[""]), path.read_bytes()
        own.network = changed(first, raw, content)
        own.fingerprint = hashlib.sha256(raw + content).hexdigest()[:12]
        found |= dict.fromkeys(names.split(","), own)
    return found


class KeptReadings:
    """What readers made of pairs, kept in a file: the rules may change, and a pair reads the same."""

    def __init__(self, path: Path):
        self.path = path
        self.found: dict[str, tuple[float, ...]] = {}
        if path.is_file():
            with np.load(path) as kept:
                self.found = dict(zip(kept["keys"].tolist(), map(tuple, kept["readings"].tolist()), strict=True))

    def read(self, reader: Reader, pairs: Sequence[tuple[Sequence[str], str]]) -> list[Reading]:
        """Return one reading a pair; only pairs that this reader has not read before are read."""
        from summeval_nb.evidence.reader import Reading

        keys = [hashlib.sha256(json.dumps([reader.fingerprint, *pair]).encode()).hexdigest()[:24] for pair in pairs]
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self.found}
        self.found |= dict(zip(new, map(tuple, reader.read(list(new.values()))), strict=True))
        return [Reading(*self.found[key]) for key in keys]

    def save(self) -> None:
        """Write the file, whole or not at all."""
        draft = self.path.with_suffix(".draft.npz")
        np.savez_compressed(draft, keys=np.array(list(self.found)), readings=np.array(list(self.found.values())))
        draft.replace(self.path)


def read_rows(claims: Sequence[Claim]) -> np.ndarray:
    """Return which claims are looked at: all that people judged, three in eight of the others with their edits."""
    generator, keep, inside = np.random.default_rng(0), np.zeros(len(claims), bool), True
    for number, claim in enumerate(claims):
        if claim.kind == "true":  # its edits follow it
            inside = bool(generator.random() < 0.38)
        keep[number] = claim.kind == "human" or inside
    return keep


def looked_at(articles: Sequence[Document], claims: Sequence[Claim], path: Path) -> dict[str, np.ndarray]:
    """Return the ten numbers of claims and what clashes in them; NaN for those that are not looked at, or wordless."""
    if kept := kept_in(path):
        return kept
    found = {"numbers": np.full((len(claims), len(NUMBERS)), np.nan), "copied": np.zeros(len(claims))}
    found |= {"clash": np.zeros(len(claims)), "words": np.zeros((len(claims), len(words.FEATURES)))}
    embedder, by_set = load_embedder("minilm"), readers()
    kept_readings = KeptReadings(path.with_name("readings.npz"))
    by_article: dict[int, list[int]] = {}
    for number in np.flatnonzero(read_rows(claims)).tolist():
        by_article.setdefault(claims[number].article, []).append(number)
    for count, (place, numbers) in enumerate(tqdm(by_article.items(), desc="articles")):
        if count % 200 == 199:
            kept_readings.save()
        raw, reader = articles[place].sentences, by_set.get(articles[place].set, by_set[""])
        told, whole = [in_one_form(sentence).text for sentence in raw], " ".join(raw)
        said = {n: in_one_form(claims[n].text, whole).text for n in numbers}
        numbers = [n for n in numbers if told and tokens.take_apart(said[n]).keys]
        if not numbers:
            continue
        held = SentenceVectors(embedder, [*told, *(said[n] for n in numbers)])
        similarity = cosine_similarity(held.of(told), held.of([said[n] for n in numbers]))
        pairs = [
            ([told[i] for i in chosen], said[n])
            for n, chosen in zip(numbers, topk_related(similarity, MEASURED_K).tolist(), strict=True)
        ]
        vectors = encode_pairs(pairs, embedder)
        seen = [parse_pair(*pair, own) for pair, own in zip(pairs, vectors, strict=True)]
        asked = [window for pair, looked in zip(pairs, seen, strict=True) for window in windows(*pair, looked.nearest)]
        read = kept_readings.read(reader, asked)
        for row, (n, own, looked) in enumerate(zip(numbers, vectors, seen, strict=True)):
            counted = pair_features(looked, own, read[2 * row], read[2 * row + 1])
            found["numbers"][n] = list(counted.values())
            found["copied"][n] = any(clash.in_place for clash in looked.clashes.found)
            found["clash"][n] = any(clash.firm for clash in looked.clashes.found)
            found["words"][n] = list(words.word_features(looked.claim, looked.evidence, own)[0].values())
    kept_readings.save()
    np.savez_compressed(path, **found, mark=np.array(numbers_mark()))
    return found


def main() -> None:
    """Fit, measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("fit_work"))
    parser.add_argument("--write", action="store_true", help="put weights and threshold into the package")
    parser.add_argument("--left-out", type=Path, metavar="CSV", help="write what the left-out weights say of each item")
    options = parser.parse_args()
    if "SUMMEVAL_NB_DATA" not in os.environ:
        sys.exit("needs the labelled sets: set SUMMEVAL_NB_DATA to their folder")
    options.folder.mkdir(parents=True, exist_ok=True)
    articles, claims = documents(Path(os.environ["SUMMEVAL_NB_DATA"]), written=True)
    looked = looked_at(articles, claims, options.folder / "looked.npz")
    table = Table(claims, looked, same_article(articles))
    scores = left_out_scores(table)
    slope, offset = calibrated(table, scores)
    probability = 1 / (1 + np.exp(-(slope * scores + offset)))
    weights, intercept = fit(table, table.training(None))
    written = articles_looked_at(options.folder / "articles.npz")
    logit = slope * (written["numbers"] @ weights + intercept - COPIED * written["copied"]) + offset
    threshold = chosen_threshold(table, probability, written, logit)
    found = items(table, probability, threshold, table.clash, "embedded")
    for name, own in found.groupby("key"):
        auc = area(own["probability"].to_numpy(), own["label"].to_numpy() == 1)
        print(f"{name:12} AUC {auc:.3f}, balanced accuracy {balanced_accuracy(own)[name]:.3f}")
    draft = {"weights": {name: round(slope * w, 4) for name, w in zip(NUMBERS, weights.tolist(), strict=True)}}
    draft |= {"intercept": round(slope * intercept + offset, 4), "copied": round(-slope * COPIED, 4)}
    draft |= {"threshold": threshold}
    print(json.dumps(draft, indent=1))
    before = fitted()
    moved = max(abs(draft["weights"][name] - before["weights"].get(name, 0.0)) for name in NUMBERS)
    print(f"the weights that ship differ by at most {moved:.4f}; another processor may move them by {TOLERANCE}")
    if options.left_out:
        words = np.zeros(len(claims))
        for name in SETS:
            words[table.set == name] = words_logit(table, name)[table.set == name]
        said = items(table, 1 / (1 + np.exp(-words)), 0.5, np.zeros(len(claims), bool), "words")
        said["state"] = said["state"].replace("unclear", "contradicted")  # it knows two states
        both = pd.concat([found, said]).query("key != 'written'").round({"probability": 5})
        domains = {
            place: article.domain if article.set == "summedits" else "" for place, article in enumerate(articles)
        }
        both.assign(domain=both["article"].map(domains)).to_csv(options.left_out, index=False)
    if options.write:
        (ASSETS / "embedded.json").write_text(json.dumps(draft, indent=1) + "\n")
    elif moved > TOLERANCE:
        sys.exit("these are not the weights that ship")


if __name__ == "__main__":
    main()

"""Fit the trees that weigh words in their places and the reader, leaving whole sets out, and say how good they are.

    python benchmarks/fit_reading.py --written [--folder WORK] [--no-reader] [--write]

Reads SummEval, QAGS-CNN/DM, XSumFaith, DeFacto and SummEdits from the folder that SUMMEVAL_NB_DATA names. The features
of all labelled claims (half an hour) and the reader's numbers are kept in WORK and read from there the next time. Each
set is predicted by a model that saw no claim and no article of it; with `--left-out-readers` the reader, which learns
from judged sentences, too (`train_checker.py` says how), is one that left the set out. `--write` puts trees and their
calibration into `summeval_nb/assets/`. The shipped trees are fitted with `--written`: also to claims that were written
for this project, in passages that the reader has not read. `--left-out FILE` writes what the left-out models say of
each item that people judged; `how_well.py` makes the published figures of it.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import io
import json
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).parent))
from _checker_features import K, all_features
from _forest import forest_arrays
from _labelled import SETS, Claim, documents, same_article
from _reader_rows import wording_weights, written_passages
from fit_checker import fit as fit_words
from tqdm.auto import tqdm
from train_checker import area

from summeval_nb.evidence import _reading, check
from summeval_nb.evidence._differences import findings_of, word_differences
from summeval_nb.evidence._fitted import fitted

if TYPE_CHECKING:
    from summeval_nb.evidence._reader import Reader

ASSETS = Path(__file__).parents[1] / "summeval_nb" / "assets"
READERS = Path(__file__).parent / "readers"  # as differences from the packaged one, 0.7 MB each
LEFT_OUT = {
    "summeval,defacto": READERS / "saw_qags_cnndm_xsumfaith_summedits.npz",
    "qags_cnndm,xsumfaith,summedits": READERS / "saw_summeval_defacto.npz",
}
# From where on a sentence is supported, below which it is contradicted if something clashes, and, on the log-odds, if
# nothing does but the reader denies it.
THRESHOLDS = {"supported": 0.57, "contradicted": 0.5, "unfound": -0.15}
# How loud each part is, as multiples of how much it varies; of the two mixtures the first decides about claims in the
# evidence's words, or with a name or number that is new, the second about claims in words of their own. `OWN_LOWER` is
# by how much the second starts lower: of two claims of which the parts say the same, the freer one must be surer.
SHARES = {
    "same_words": {"tree": 12.0, "words": 7.0, "reader": 2.0, "denied": 1.0},
    "own_words": {"tree": 7.0, "words": 1.0, "reader": 9.0, "denied": 5.0},
}
OWN_LOWER = 7.0
# What else was measured on the sets left out: one mixture for all, without and with a louder denial, and a second one
# that starts no lower.
MIXED_TRIED: dict[str, tuple[dict[str, dict[str, float]], float]] = {
    "one mixture": (dict.fromkeys(SHARES, {"tree": 10.0, "words": 7.0, "reader": 2.0, "denied": 4.0}), 0.0),
    "one mixture, denial twice as loud": (
        dict.fromkeys(SHARES, {"tree": 10.0, "words": 7.0, "reader": 2.0, "denied": 8.0}),
        0.0,
    ),
    "two mixtures": (SHARES, OWN_LOWER),
    "two mixtures, starting alike": (SHARES, 0.0),
}
WRITTEN = 2.0  # claims written for this project count as two public sets
WORDS = list(check.FEATURES)
# More of these speaks for a claim, more of those against it; trees may not learn the opposite from one kind of text.
FOR = {
    *_reading.FEATURES,
    *(f"nearest_{name}" for name in WORDS),
    *("words_logit", "near_coverage", "near_pairs", "taken", "edit", "in_order", "order"),
    *("match_min", "match_second", "match_quarter", "near_mean", "near_min", "near_tenth"),
    *("near_entailed", "all_entailed"),
}
AGAINST = {
    *("new_words", "new_weight", "left_over", "left_over_two", "replaced", "replaced_words", "antonyms"),
    *("antonyms_far", "antonyms_firm", "negation_parity", "negations", "roles_turned", "numbers_missing"),
    *(
        "numbers_moved",
        "numbers_loose",
        "names_new",
        "names_far",
        "names_replaced",
        "quantifiers_new",
        "quantifiers_gone",
    ),
    *("hedges_gone", "connectives_new", "near_contradicted", "all_contradicted", "worst_word", "wrong_words"),
}


class Table:
    """All labelled claims: their columns as arrays, their features, and which sets they belong to."""

    def __init__(
        self,
        claims: list[Claim],
        values: np.ndarray,
        usable: np.ndarray,
        names: list[str],
        held: Sequence[Collection[str]],
        without: Collection[str] = (),
        domains: Sequence[str] = (),
    ):
        self.domain = np.array([domains[claim.article] if domains else "" for claim in claims])
        self.held = [held[claim.article] for claim in claims]  # the sets that hold a claim's article
        self.without = frozenset(without)  # measured on, but in no fit
        self.claims, self.values, self.usable, self.names = claims, values, usable, names
        self.set = np.array([claim.set for claim in claims])
        self.kind = np.array([claim.kind for claim in claims])
        self.label = np.array([claim.label for claim in claims])
        self.article = np.array([claim.article for claim in claims])
        self.summary = np.array([claim.summary for claim in claims])
        self.alone = np.array([claim.unit for claim in claims]) == 1
        self.human = self.kind == "human"
        self.sets = [name for name in (*SETS, "written") if (self.set == name).any()]
        balance = wording_weights(written_passages())
        self.balance = np.array([WRITTEN * balance[one.text] if one.set == "written" else 1.0 for one in claims])

    def column(self, name: str) -> np.ndarray:
        """Return one feature."""
        return self.values[:, self.names.index(name)]

    def training(self, left_out: str | None) -> np.ndarray:
        """Return which rows may be trained on: not the set left out; no sentence whose own label is unknown."""
        unsure = self.human & (self.label == 0) & ~self.alone
        return self.usable & self.allowed(left_out) & ~unsure

    def allowed(self, left_out: str | None) -> np.ndarray:
        """Return which rows are of sets that a fit may see, and of articles that no set left out holds."""
        out = {left_out, *self.without}
        return np.array([not out.intersection(sets) for sets in self.held])

    def weights(self, rows: np.ndarray) -> np.ndarray:
        """Return weights that give each set, human labels and edits, and both labels the same say."""
        weight = np.zeros(len(self.label))
        for name in set(self.set[rows]):
            for human in (True, False):
                for label in (0, 1):
                    inside = rows & (self.set == name) & (self.human == human) & (self.label == label)
                    weight[inside] = 1000 / max(inside.sum(), 1)
        return weight * self.balance


def words_logit(table: Table, left_out: str | None) -> np.ndarray:
    """Return the logit of the words checker, its weights fitted as in `fit_checker.py`, without the set left out."""
    rows = table.usable & table.human & ~np.isin(table.set, ["summedits", "written"])
    frame = pd.DataFrame(table.values[:, : len(WORDS)], columns=WORDS)
    frame["set"], frame["article"], frame["summary"], frame["k"] = table.set, table.article, table.summary, K
    frame["label"] = table.label
    labels = frame[rows].groupby(["set", "article", "summary", "k"], as_index=False).mean(numeric_only=True)
    labels["label"] = (labels["label"] > 0.999).astype(int)
    weights = fit_words(labels[~labels["set"].isin([left_out, *table.without])], 0.1)
    score = frame[list(weights)].to_numpy() @ np.array(list(weights.values()))
    seen = rows & table.allowed(left_out)
    model = LogisticRegression(C=1e6).fit(score[seen][:, None], table.label[seen])
    return float(model.coef_[0, 0]) * score + float(model.intercept_[0])


def shipped_words(table: Table) -> np.ndarray:
    """Return the logit of the words checker as it is in the package."""
    weights = check.feature_weights()
    return fitted()["intercept"] + table.values[:, [WORDS.index(name) for name in weights]] @ np.array(
        list(weights.values())
    )


def trees(table: Table, rows: np.ndarray, names: list[str], seed: int) -> HistGradientBoostingClassifier:
    """Fit boosted trees to the rows, monotone where a feature can only speak for or against a claim."""
    signs = [1 if name in FOR else -1 if name in AGAINST else 0 for name in names]
    columns = [table.names.index(name) for name in names]
    model = HistGradientBoostingClassifier(
        max_iter=320, learning_rate=0.06, max_leaf_nodes=4, min_samples_leaf=60, l2_regularization=5.0,
        max_features=0.4, monotonic_cst=signs, random_state=seed,
    )  # fmt: skip
    return model.fit(table.values[rows][:, columns], table.label[rows], sample_weight=table.weights(rows)[rows])


def left_out_logits(table: Table, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return for each claim the trees' and the words' logits from models that saw nothing of its set."""
    tree, words = np.zeros(len(table.label)), np.zeros(len(table.label))
    for name in tqdm(table.sets, desc="leaving sets out"):
        own = table.set == name
        logit = words_logit(table, name)
        words[own] = logit[own]
        kept, table.values[:, table.names.index("words_logit")] = table.column("words_logit").copy(), logit
        model = trees(table, table.training(name), names, 0)
        columns = [table.names.index(one) for one in names]
        tree[own] = model.decision_function(table.values[own][:, columns])
        table.values[:, table.names.index("words_logit")] = kept
    return tree, words


def mixed(
    table: Table,
    tree: np.ndarray,
    words: np.ndarray,
    shares: Mapping[str, Mapping[str, float]] = SHARES,
    lower: float = OWN_LOWER,
) -> tuple[dict[str, dict[str, float]], np.ndarray]:
    """Return how trees, words and reader are mixed (`SHARES`, or others) and calibrated, and the probabilities.

    Without a reader there is one mixture: nobody else could judge a claim that is told in words of its own.
    """
    rows, parts = table.training(None), {"tree": tree, "words": words}
    if _reading.BESIDE_TREES["reader"] in table.names:
        parts |= {name: table.column(_reading.BESIDE_TREES[name]) for name in ("reader", "denied")}
    else:
        shares, lower = dict.fromkeys(shares, shares["same_words"]), 0.0
    own = _reading.own_words({name: table.column(name) for name in ("names_new", "numbers_missing", "near_coverage")})
    middle = {name: float(np.median(part)) for name, part in parts.items()}
    loud = {
        which: {
            name: share[name] / float(part[rows].std()) * (-1 if name == "denied" else 1)
            for name, part in parts.items()
        }
        for which, share in shares.items()
    }
    score = {which: sum(loud[which][name] * (part - middle[name]) for name, part in parts.items()) for which in shares}
    both = (1 - own) * score["same_words"] + own * (score["own_words"] - lower)
    model = LogisticRegression(C=1e6).fit(
        both[rows][:, None], table.label[rows], sample_weight=table.weights(rows)[rows]
    )
    slope, offset = float(model.coef_[0, 0]), float(model.intercept_[0])
    found = {}
    for which, below in (("same_words", 0.0), ("own_words", lower)):
        found[which] = {name: slope * loud[which][name] for name in parts}
        shifted = sum(loud[which][name] * middle[name] for name in parts) + below
        found[which]["offset"] = offset - slope * shifted
    return found, 1 / (1 + np.exp(-(slope * both + offset)))


def by_summary(
    table: Table, name: str, scores: np.ndarray, some: np.ndarray | bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a score, a label and an article for each summary of a set that people judged, or of some of them."""
    rows = table.usable & table.human & (table.set == name) & some
    frame = pd.DataFrame(
        {"s": scores[rows], "y": table.label[rows], "k": table.summary[rows], "a": table.article[rows]}
    )
    how = "min" if name == "summedits" else "mean"
    grouped = frame.groupby("k").agg(s=("s", how), y=("y", "min"), a=("a", "first"))
    return grouped["s"].to_numpy(), grouped["y"].to_numpy(), grouped["a"].to_numpy()


def interval(scores: np.ndarray, labels: np.ndarray, articles: np.ndarray) -> list[float]:
    """Return the 95 % interval of the ROC-AUC when whole articles are resampled."""
    generator = np.random.default_rng(0)
    members = [np.flatnonzero(articles == one) for one in np.unique(articles)]
    found = []
    for _ in range(300):
        chosen = np.concatenate([members[i] for i in generator.integers(len(members), size=len(members))])
        if 0 < labels[chosen].sum() < len(chosen):
            found.append(area(scores[chosen], labels[chosen] == 1))
    return [round(float(one), 3) for one in np.percentile(found, [2.5, 97.5])]


def measured(table: Table, scores: np.ndarray) -> dict[str, Any]:
    """Return AUC of each set, and how many edits are found where three quarters of their true twins are kept."""
    figures: dict[str, Any] = {"auc": {}, "interval": {}}
    for name in table.sets:
        values, labels, articles = by_summary(table, name, scores)
        figures["auc"][name] = round(area(values, labels == 1), 3)
        figures["interval"][name] = interval(values, labels, articles)
    domains = sorted({one for one in table.domain if one})
    figures["domains"] = {}
    for name in domains:
        values, labels, _ = by_summary(table, "summedits", scores, table.domain == name)
        figures["domains"][str(name)] = round(area(values, labels == 1), 3)
    edits = table.usable & ~table.human
    true, false = edits & (table.label == 1), edits & (table.label == 0)
    figures["edits_auc"] = round(area(scores[edits], table.label[edits] == 1), 3)
    kept = float(np.quantile(scores[true], 0.25))
    figures["edits_found_at_75_kept"] = round(float((scores[false] < kept).mean()), 3)
    figures["edits_found_by_set"] = {}
    for name in [one for one in SETS if (true & (table.set == one)).any()]:
        kept = float(np.quantile(scores[true & (table.set == name)], 0.25))
        figures["edits_found_by_set"][name] = round(float((scores[false & (table.set == name)] < kept).mean()), 3)
    return figures


class Clashing(NamedTuple):
    """Which claims have a finding that forbids *supported*, one in another's place, and one that condemns."""

    firm: np.ndarray
    in_place: np.ndarray
    condemns: np.ndarray


def firm_clashes(table: Table, found: list[dict]) -> Clashing:
    """Return what the rules find in each claim."""
    out = Clashing(*(np.zeros(len(found), bool) for _ in range(3)))
    for number in np.flatnonzero(table.usable):
        one = found[number]
        told = [check.take_apart(text) for text in one["evidence"]]
        claim, weakest = check.take_apart(table.claims[number].text), float(table.column("near_min")[number])
        _, clashes = word_differences(claim, told, tuple(one["nearest"]), weakest)
        out.firm[number] = any(clash.firm for clash in clashes)
        out.in_place[number] = any(clash.in_place for clash in clashes)
        near = {"near_coverage": float(table.column("near_coverage")[number])}
        out.condemns[number] = _reading.condemns(findings_of(claim, clashes), near)
    return out


def read_rows(claims: list[Claim], usable: np.ndarray) -> np.ndarray:
    """Return which claims the reader reads: all that people judged, three in eight of the others with their edits."""
    generator, keep, inside = np.random.default_rng(0), np.zeros(len(claims), bool), True
    for number, claim in enumerate(claims):
        if claim.kind == "true":  # its edits follow it
            inside = bool(generator.random() < 0.38)
        keep[number] = usable[number] and (claim.kind == "human" or inside)
    return keep


def readers(left_out: Mapping[str, Path], narrow: Path | None = None, wide: Path | None = None) -> dict[str, Reader]:
    """Return the reader for each set: one whose wide network saw none of its labels, where a file with it is named.

    A file holds a whole network, which is cut to what the package would keep of it, or what `packed_difference` made of
    one. "" is for all other claims: the packaged reader, or one of two networks of other training.
    """
    from summeval_nb.evidence._reader import Reader, changed, load_reader, packed_difference, unpacked

    found, raw = {"": load_reader("bfloat16")}, (ASSETS / "reader.npz").read_bytes()
    if narrow:
        raw = narrow.read_bytes()
        found[""] = Reader(raw, precision="bfloat16")
        if wide:
            content = wide.read_bytes()
            found[""].wide = changed(found[""].network, raw, packed_difference(raw, unpacked(content)))
            found[""].fingerprint = hashlib.sha256(raw + content).hexdigest()[:12]
    for name, path in left_out.items():
        own = copy.copy(found[""])
        content = path.read_bytes()
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            cut = content if "of" in arrays.files else packed_difference(raw, unpacked(content))
        own.wide = changed(own.network, raw, cut)
        own.fingerprint = hashlib.sha256(raw + content).hexdigest()[:12]
        found[name] = own
    return found


def reader_numbers(table: Table, found: list[dict], folder: Path, by_set: Mapping[str, Reader]) -> np.ndarray:
    """Return the reader's six numbers of each claim that it reads, NaN for the others; kept in files of the folder."""
    out = np.full((len(found), len(_reading.READER)), np.nan)
    asked = read_rows(table.claims, table.usable)
    for name in table.sets:
        reader = by_set.get(name, by_set[""])
        rows = np.flatnonzero(asked & (table.set == name))
        path = folder / f"reader_{name}_{reader.fingerprint.replace(':', '_')}.npy"  # other weights, another file
        if path.is_file():
            out[rows] = np.load(path)
            continue
        for start in tqdm(range(0, len(rows), 96), desc=f"reading {name}", unit="96 claims"):
            lot = rows[start : start + 96]
            pairs = [
                pair
                for n in lot
                for pair in _reading.windows(found[n]["evidence"], table.claims[n].text, tuple(found[n]["nearest"]))
            ]
            read = reader.read(pairs, wide=range(1, len(pairs), 2))
            for i, n in enumerate(lot):
                out[n] = list(_reading.reader_features(read[2 * i], read[2 * i + 1]).values())
        np.save(path, out[rows])
    return out


def named_files(texts: Sequence[str]) -> dict[str, Path]:
    """Return the files of `--left-out-readers`, by the sets that they leave out.

    Examples
    --------
    >>> {name: str(path) for name, path in named_files(["summeval,defacto=saw_summedits.npz"]).items()}
    {'summeval': 'saw_summedits.npz', 'defacto': 'saw_summedits.npz'}
    """
    parts = [text.partition("=") for text in texts]
    found = {name: Path(path) for names, _, path in parts for name in names.split(",")}
    if unknown := [text for text, part in zip(texts, parts, strict=True) if not part[2] or not part[0]]:
        sys.exit(f"--left-out-readers wants SET,SET=FILE, not {unknown[0]!r}")
    if other := sorted(set(found) - set(SETS)):
        sys.exit(f"--left-out-readers: no such set: {', '.join(other)}; there are {', '.join(SETS)}")
    if seen := [f"{name}={path}" for name, path in found.items() if name in path.stem.partition("saw_")[2]]:
        sys.exit(f"--left-out-readers: by its name this reader learnt from the set that it is to read: {seen[0]}")
    return found


def main() -> None:
    """Fit, measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("reading_work"))
    parser.add_argument("--no-reader", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument(
        "--written", action="store_true", help="also the claims of written_claims.jsonl; use a folder of its own"
    )
    parser.add_argument(
        "--left-out-readers",
        nargs="+",
        default=[],
        metavar="SETS=NPZ",
        help="readers that were trained without the judged sentences of these sets, which they read here; else those "
        "of benchmarks/readers",
    )
    parser.add_argument("--narrow", type=Path, metavar="NPZ", help="another reader in place of the packaged one")
    parser.add_argument(
        "--wide", type=Path, metavar="NPZ", help="with --narrow: what reads all evidence, else the same"
    )
    parser.add_argument(
        "--without",
        nargs="+",
        default=[],
        choices=SETS,
        help="fit nothing to these sets",
    )
    parser.add_argument("--left-out", type=Path, metavar="CSV", help="write what the left-out models say of each item")
    options = parser.parse_args()
    if "SUMMEVAL_NB_DATA" not in os.environ:
        sys.exit("needs the labelled sets: set SUMMEVAL_NB_DATA to their folder")
    options.folder.mkdir(parents=True, exist_ok=True)
    articles, claims = documents(Path(os.environ["SUMMEVAL_NB_DATA"]), written=options.written)
    values, found = all_features(articles, claims, options.folder / "features.npy")
    usable = np.array([bool(one) for one in found])
    columns, every = list(_reading.WORD_FEATURES), np.c_[values, np.zeros(len(values))]
    domains = [one.domain for one in articles]
    table = Table(claims, every, usable, columns, same_article(articles), options.without, domains)
    tried: dict[str, dict[str, Any]] = {}
    names = list(_reading.WORD_FEATURES)
    if not options.no_reader:
        named = [] if options.narrow else [f"{sets}={path}" for sets, path in LEFT_OUT.items()]
        left_out = named_files(options.left_out_readers or named)
        numbers = reader_numbers(table, found, options.folder, readers(left_out, options.narrow, options.wide))
        table.usable = ~np.isnan(numbers[:, 0])
        table.values, table.names = np.c_[table.values, np.nan_to_num(numbers)], [*names, *_reading.READER]
        names = list(table.names)
        alone = {
            "near_entailed": "the reader, nearest two sentences",
            "all_entailed": "the reader, all evidence",
        }
        tried |= {label: short(measured(table, table.column(name))) for name, label in alone.items()}
        before = options.folder / "left_out_words.npz"
        if before.is_file() and len(kept := np.load(before)["tree"]) == len(claims):
            tried["trees, without the reader"] = short(measured(table, kept))
    tree, words = left_out_logits(table, names)
    np.savez(options.folder / ("left_out_words.npz" if options.no_reader else "left_out.npz"), tree=tree, words=words)
    tried["words checker"] = short(measured(table, words))
    tried["trees"] = short(measured(table, tree))
    calibration, probability = mixed(table, tree, words)
    tried["trees, words checker and reader"] = short(measured(table, probability))
    clash = firm_clashes(table, found)
    probability = moved_by(probability, clash.in_place)
    figures = measured(table, probability)
    tried["all three, and words in another's place"] = short(figures)
    for label, found_out in tried.items():
        print(label, found_out, flush=True)
    if not options.no_reader:
        for name, (shares, lower) in MIXED_TRIED.items():
            found_out = measured(table, moved_by(mixed(table, tree, words, shares, lower)[1], clash.in_place))
            print(name, short(found_out) | {"domains": found_out["domains"]}, flush=True)
    if options.left_out:
        left_out_items(table, probability, 1 / (1 + np.exp(-words)), clash).to_csv(options.left_out, index=False)
    if options.write and (options.without or options.narrow):
        sys.exit("--write is for the model that ships: without --without and --narrow")
    if options.write:
        write(table, names, calibration)


def moved_by(probability: np.ndarray, in_place: np.ndarray) -> np.ndarray:
    """Return the probabilities, lower where a word stands in another's place."""
    return 1 / (1 + (1 / probability - 1) * np.exp(_reading.IN_PLACE * in_place))


def short(figures: dict[str, Any]) -> dict[str, Any]:
    """Return the figures that the table of what was tried shows."""
    return {name: figures[name] for name in ("auc", "edits_auc", "edits_found_at_75_kept")}


def contradicted(table: Table, probability: np.ndarray, condemns: np.ndarray, unfound: float) -> np.ndarray:
    """Return which claims are contradicted: something clashes, or the probability is lower than the reader's border."""
    low = np.zeros(len(probability), bool)
    if "all_contradicted" in table.names:
        border = unfound + _reading.DENIED * table.column("all_contradicted")
        low = (np.log(probability / (1 - probability)) < border) & (table.column("edit") < _reading.NEAR_COPY)
    return (probability < THRESHOLDS["contradicted"]) & (condemns | low)


def left_out_items(table: Table, probability: np.ndarray, words: np.ndarray, clash: Clashing) -> pd.DataFrame:
    """Return a row for each checker and item that people judged: what models say that had not seen its set.

    An item is what was labelled: a sentence, or a summary, which is judged by its worst sentence, as `evaluate` does.
    """
    yes = (probability >= THRESHOLDS["supported"]) & ~clash.firm
    no = contradicted(table, probability, clash.condemns, THRESHOLDS["unfound"])
    states = {"embedded": np.where(yes, 2, np.where(no, 0, 1)), "words": np.where(words >= 0.5, 2, 0)}
    said = {"embedded": probability, "words": words}
    rows = table.usable & table.human & (table.set != "written")
    sentence = np.where(table.set == "qags_cnndm", np.arange(len(rows)), -1)  # labelled one by one
    whole = {
        "key": table.set,
        "domain": table.domain,
        "article": table.article,
        "item": table.summary,
        "place": sentence,
    }
    found = []
    for name, p in said.items():
        frame = pd.DataFrame(whole | {"label": table.label, "probability": p, "state": states[name]})[rows]
        items = frame.groupby(list(whole), as_index=False, sort=False).agg(
            label=("label", "min"), probability=("probability", "min"), state=("state", "min")
        )
        found.append(
            items.drop(columns="place").assign(checker=name, state=items["state"].map(dict(enumerate(STATES))))
        )
    return pd.concat(found).round({"probability": 5})


STATES = ("contradicted", "unclear", "supported")


def write(table: Table, names: list[str], calibration: dict[str, dict[str, float]]) -> None:
    """Fit to everything and write the trees and how they are mixed."""
    refitted, shipped = words_logit(table, None), shipped_words(table)
    slope, offset = np.polyfit(shipped[table.usable], refitted[table.usable], 1)
    for one in calibration.values():
        one["offset"] += one["words"] * float(offset)
        one["words"] *= float(slope)
    table.values[:, table.names.index("words_logit")] = shipped
    model = trees(table, table.training(None), names, 0)
    out = io.BytesIO()
    np.savez_compressed(out, **forest_arrays(model, list(range(len(names)))))
    (ASSETS / "reading_trees.npz").write_bytes(out.getvalue())
    calibration["usual"] = {
        part: float(table.column(name)[table.training(None)].mean())
        for part, name in _reading.BESIDE_TREES.items()
        if part in calibration["same_words"]
    }
    draft = {"features": names, "calibration": calibration, "thresholds": THRESHOLDS}
    (ASSETS / "reading.json").write_text(json.dumps(draft, indent=1) + "\n")
    print("wrote", len(out.getvalue()), "bytes of trees")


if __name__ == "__main__":
    main()

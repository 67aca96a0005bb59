"""Say how good a careful reader is, beside the quick checker, on what it has not learnt from.

    python benchmarks/measure_careful.py --mpnet MODEL --weights WORK/decayed.safetensors [--saw FILE FILE]

The five public sets (so many items of each label, drawn by lot), near copies and the ten held-out articles: the quick
checker's probabilities are those of `how_well_items.csv.gz`, of a reader that had left the set out. Of the everyday set
every other pair of items is judged by it now, so are sentences about the other written articles, drawn by lot, and the
pairs of a file (`--pairs`: lists of evidence, claim, supported).
Each reader is MPNet with the low-rank part of what was learnt, as it ships. `--saw` names weights that saw the labels
of the sets in the files' names: a public set is read by those that did not see it.
What the checker gives is the quick logit with a share of the careful one added. For some thresholds the mean balanced
accuracy over the public sets and the written articles is printed.
`--write` puts share, threshold and the low-rank part into the package.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(Path(__file__).parent))
from _careful_reader import low_rank
from _labelled import SETS, documents
from _reader_rows import read
from train_checker import area, nearest

from summeval_nb import evaluate_many
from summeval_nb.evidence import load_checker
from summeval_nb.evidence.embedded import LOGIT_CLIP
from summeval_nb.evidence.reader import CarefulReader, raised
from summeval_nb.text.embed import mpnet_files
from summeval_nb.text.split import split_text

HERE = Path(__file__).parent
ASSETS = HERE.parent / "summeval_nb" / "assets"
WRITTEN = {"held_out": "fresh_articles_16", "near_copies": "near_copies"}
QUICK_THRESHOLD = load_checker("quick").threshold
# Of the careful logit, beside the quick one. From .2 to .6 the mean AUC of the left-out sets is within .006 of its
# best, and from .5 on short pairs with one exchanged word are told apart.
WEIGHT = 0.5
THRESHOLD = 0.35  # the best in the mean over the left-out sets and the written articles, if only probabilities count
ARTICLES = 200  # sentences of the written articles, to look at the threshold with
SIZE = 8_000_000  # bytes of what ships, at most


class Item(NamedTuple):
    """What is judged: sentences over an article, true if all of them are, and the quick checker's probability."""

    set: str
    article: tuple[str, ...]
    texts: tuple[str, ...]
    label: int
    quick: float
    row: int = -1  # of `how_well_items.csv.gz`


def public_items(folder: Path, each: int) -> Iterator[Item]:
    """Yield items of the public sets, `each` of either label."""
    articles, claims = documents(folder)
    frame = pd.read_csv(HERE / "how_well_items.csv.gz")
    random_ = random.Random(0)
    for name in SETS:
        own = frame[(frame["key"] == name) & (frame["checker"] == "embedded")]
        said: dict[int, list[tuple[float, int]]] = {}
        for row, item, probability in zip(own.index, own["item"], own["probability"], strict=True):
            said.setdefault(int(item), []).append((float(probability), int(row)))
        found: dict[int, list[Item]] = {0: [], 1: []}
        groups: dict[int, list[Any]] = {}
        for claim in claims:
            if claim.set == name and claim.kind == "human":
                groups.setdefault(claim.summary, []).append(claim)
        for number, some in groups.items():
            alone = name == "qags_cnndm"
            lots = [[claim] for claim in some] if alone else [some]
            if len(said.get(number, ())) != len(lots):
                continue  # a sentence without a word
            for lot, (quick, row) in zip(lots, said[number], strict=True):
                texts = tuple(claim.text for claim in lot)
                label = min(claim.label for claim in lot)
                found[label].append(Item(name, tuple(articles[lot[0].article].sentences), texts, label, quick, row))
        for some in found.values():
            yield from random_.sample(some, min(each, len(some)))


def written_items() -> Iterator[Item]:
    """Yield near copies and the sentences of the held-out articles."""
    frame = pd.read_csv(HERE / "how_well_items.csv.gz")
    for name, file in WRITTEN.items():
        own = frame[(frame["key"] == name) & (frame["checker"] == "embedded")].sort_values("item")
        said = iter(own["probability"].tolist())
        for article in json.loads((HERE / f"{file}.json").read_text(encoding="utf-8")):
            sentences = tuple(split_text(article["text"]))
            for sentence in article["sentences"]:
                yield Item(name, sentences, (sentence["text"],), int(sentence["supported"]), next(said))


def drawn_items() -> Iterator[Item]:
    """Yield sentences of the written articles, without the ten that nothing is chosen on."""
    given = []
    for file in sorted(HERE.glob("fresh_articles*.json")):
        if file.stem != WRITTEN["held_out"]:
            for article in json.loads(file.read_text(encoding="utf-8")):
                given += [(article["text"], own["text"], own["supported"]) for own in article["sentences"]]
    yield from judged_now("articles", random.Random(0).sample(given, ARTICLES))


def judged_now(name: str, given: Sequence[tuple[str, str, bool]]) -> Iterator[Item]:
    """Yield items that the quick checker judges now."""
    results = evaluate_many([item[0] for item in given], [item[1] for item in given], progress=False)
    for (text, claim, label), result in zip(given, results, strict=True):
        quick = min((verdict.probability or 0.0 for verdict in result.verdicts), default=0.5)
        yield Item(name, tuple(split_text(text)), tuple(split_text(claim)), int(label), quick)


def readings(reader: CarefulReader, items: Sequence[Item]) -> np.ndarray:
    """Return the log-odds of entailment of each item, that of its worst sentence; k is eight, the nearest first."""
    pairs, owner = list[tuple[list[str], str]](), list[int]()
    for number, item in enumerate(items):
        for text, order in zip(item.texts, nearest(item.texts, item.article), strict=True):
            pairs.append(([item.article[i] for i in order[:8] if item.article[i].strip()], text))
            owner.append(number)
    chance = np.array([reading.entailment for reading in reader.read(pairs)]).clip(1e-6, 1 - 1e-6)
    found = np.full(len(items), np.inf)
    np.minimum.at(found, owner, np.log(chance / (1 - chance)))
    return found


def left_out_items(items: Sequence[Item], logit: np.ndarray) -> pd.DataFrame:
    """Return a row of `how_well_items.csv.gz` for each public item; what clashes is what clashed for the quick one."""
    frame = pd.read_csv(HERE / "how_well_items.csv.gz", keep_default_na=False)
    chosen = [place for place, item in enumerate(items) if item.row >= 0]
    found = frame.loc[[items[place].row for place in chosen]].copy()
    before = found["probability"].astype(float) >= QUICK_THRESHOLD
    clash = np.where(before, found["state"] != "supported", found["state"] == "contradicted")
    probability = 1 / (1 + np.exp(-logit[chosen]))
    low, high = np.where(clash, "contradicted", "unclear"), np.where(clash, "unclear", "supported")
    found["state"] = np.where(probability >= THRESHOLD, high, low)
    return found.assign(checker="careful", probability=probability.round(5))


def balanced(sets: np.ndarray, truth: np.ndarray, logit: np.ndarray, threshold: float) -> float:
    """Return the balanced accuracy in the mean over sets."""
    yes = 1 / (1 + np.exp(-logit)) >= threshold
    rates = [
        (yes[(sets == name) & truth].mean() + 1 - yes[(sets == name) & ~truth].mean()) / 2
        for name in dict.fromkeys(sets.tolist())
    ]
    return float(np.mean(rates))


def main() -> None:
    """Read, and print a row a set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpnet", type=Path, required=True, help="the folder of all-mpnet-base-v2")
    parser.add_argument("--weights", type=Path, required=True, help="decayed.safetensors of the training")
    parser.add_argument("--saw", type=Path, nargs="*", default=[], help="weights named after the sets they saw")
    parser.add_argument("--items", type=int, default=100, help="of each label and public set")
    parser.add_argument("--pairs", type=Path, nargs="*", default=[], help="JSON lists of evidence, claim, supported")
    parser.add_argument("--kept", type=Path, default=Path("careful_items.json"), help="where the items are kept")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--left-out", type=Path, metavar="CSV", help="what the left-out weights say of public items")
    parser.add_argument("--write", action="store_true", help="put the low-rank part and the fit into the package")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    weights = mpnet_files(options.mpnet)[1]
    narrow = low_rank(weights, {name: value.float() for name, value in load_file(options.weights).items()}, SIZE)
    if options.kept.is_file():
        items = [Item(s, tuple(a), tuple(t), y, q, r) for s, a, t, y, q, r in json.loads(options.kept.read_text())]
    else:
        lines = read(HERE.parent / "summeval_nb" / "assets" / "everyday.jsonl.gz")
        everyday = [item for number, item in enumerate(lines) if number % 4 < 2]  # a true one, then a false one
        items = [*judged_now("everyday", [(i["article"], i["text"], i["supported"]) for i in everyday])]
        for path in options.pairs:
            items += judged_now(path.stem, json.loads(path.read_text(encoding="utf-8")))
        items += [*drawn_items(), *written_items(), *public_items(Path(os.environ["SUMMEVAL_NB_DATA"]), options.items)]
        options.kept.write_text(json.dumps(items))
    names, careful = np.array([item.set for item in items]), np.full(len(items), np.nan)
    for path in [None, *options.saw]:
        changes = raised(weights, low_rank(weights, load_file(path), SIZE) if path else narrow)
        own = [name for name in SETS if path and name not in path.stem]
        places = np.flatnonzero(np.isin(names, own) if path else ~np.isin(names, SETS) | (not options.saw))
        reader = CarefulReader(options.precision, changes=changes, folder=options.mpnet)
        careful[places] = readings(reader, [items[place] for place in places])
    careful = careful.clip(-LOGIT_CLIP, LOGIT_CLIP)
    truth = np.array([item.label == 1 for item in items])
    chance = np.array([item.quick for item in items]).clip(1e-6, 1 - 1e-6)
    quick = np.log(chance / (1 - chance))
    both = quick + WEIGHT * careful
    rows = []
    for name in dict.fromkeys(names.tolist()):
        own = names == name
        values = [area(score[own], truth[own]) for score in (quick, careful, both)]
        values += [balanced(names[own], truth[own], quick[own], QUICK_THRESHOLD)]
        values += [balanced(names[own], truth[own], both[own], THRESHOLD)]
        rows.append([name, int((own & ~truth).sum()), int((own & truth).sum()), *np.round(values, 3)])
    columns = ["set", "false", "true", "quick", "careful", "both", "quick balanced", "both balanced"]
    frame = pd.DataFrame(rows, columns=columns)
    print(frame.to_string(index=False))
    chosen = np.isin(names, [*SETS, "articles"])
    tried = np.arange(0.2, 0.5, 0.03).round(2).tolist()
    print({at: round(balanced(names[chosen], truth[chosen], both[chosen], at), 3) for at in tried})
    print(frame[frame["set"].isin(SETS)].mean(numeric_only=True).round(3).to_dict())
    if options.left_out:
        left_out_items(items, both).to_csv(options.left_out, index=False)
    if options.write:
        save_file(narrow, ASSETS / "careful.safetensors")
        mark = hashlib.sha256((ASSETS / "careful.safetensors").read_bytes()).hexdigest()
        text = json.dumps({"weight": WEIGHT, "threshold": THRESHOLD, "sha256": mark}, indent=1)
        (ASSETS / "careful.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

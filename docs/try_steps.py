"""The five steps on the page "Try it": article and summary in, blocks to draw out, step by step.

It runs where `try_in_browser` runs. Two things come from outside, because no compiled library is there: `embed` makes
the vector of a sentence from its tokens, and `read` asks the checker's reader about a claim and some of the sentences.
In the browser onnxruntime-web calculates both; while the site is built the package's own models do.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from importlib import resources
from operator import mul
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

try:
    import numpy  # noqa: F401
except ImportError:  # some modules import it at their top; nothing that is called here uses it
    sys.modules["numpy"] = ModuleType("numpy")
    sys.modules["numpy"].ndarray = list  # type: ignore[attr-defined]
    os.environ["RAPIDFUZZ_IMPLEMENTATION"] = "python"

from summeval_nb.core.results import Verdict
from summeval_nb.evidence.builtin import findings_in
from summeval_nb.evidence.embedded import fitted, pair_features, parse_pair, weighted, windows
from summeval_nb.evidence.words import sigmoid
from summeval_nb.text.embed import encodable
from summeval_nb.text.minilm import MINILM_PACKAGE
from summeval_nb.text.split import split_text

MOST_SENTENCES = {"article": 60, "summary": 10}  # so that a page answers within seconds
MOST_CHARACTERS, LONGEST, WINDOW, CLS, SEP = 20_000, 80, 160, 101, 102
UNSEEN = ("Cc", "Cf", "Co")
SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
IDEOGRAPHS = re.compile("([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b920-\U0002ceaf"
                        "\uf900-\ufaff\U0002f800-\U0002fa1f])")  # fmt: skip
Block = dict[str, Any]


@cache
def vocabulary() -> dict[str, int]:
    """Return MiniLM's word pieces with their numbers."""
    file = resources.files(MINILM_PACKAGE).joinpath("model/tokenizer.json")
    return json.loads(file.read_text(encoding="utf-8"))["model"]["vocab"]


def word_pieces(text: str) -> list[int]:
    """Return the numbers of a text's word pieces as MiniLM's own tokenizer gives them, without the special ones."""
    known, found = vocabulary(), []
    for part in SPECIAL.split(*encodable([text])):
        if SPECIAL.fullmatch(part):
            found.append(known[part])
            continue
        for word in _words(part):
            found += _greedy(word, known)
    return found


def _words(text: str) -> Iterator[str]:
    """Lower case, no accents, no control characters; punctuation and ideographs stand alone."""
    kept = (" " if char in "\t\n\r" or unicodedata.category(char)[0] == "Z" else char for char in text)
    clean = "".join(
        char for char in kept if char == " " or char != "\ufffd" and unicodedata.category(char) not in UNSEEN
    )
    apart = unicodedata.normalize("NFD", IDEOGRAPHS.sub(r" \1 ", clean))
    plain = "".join(char.lower() for char in apart if unicodedata.category(char) != "Mn")
    marked = (f" {char} " if _is_mark(char) else char for char in plain)
    yield from "".join(marked).split()


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "P" or char in "$+<=>^`|~"


def _greedy(word: str, known: dict[str, int]) -> list[int]:
    """The longest known beginning, then the longest known continuation, and so on; [UNK] if one is not known."""
    found, start = [], 0
    while start < len(word) <= 100:
        ends = range(len(word), start, -1)
        end = next((end for end in ends if "##" * (start > 0) + word[start:end] in known), None)
        if end is None:
            return [known["[UNK]"]]
        found.append(known["##" * (start > 0) + word[start:end]])
        start = end
    return found or [known["[UNK]"]]


class Row(NamedTuple):
    """Cosines of a claim with its evidence, where the checker expects the vectors from which it computes them."""

    row: list[float]

    def cosines(self) -> list[float]:
        """Return them."""
        return self.row


def window(claim: list[int], evidence: list[list[int]]) -> tuple[int, list[list[float]]]:
    """Return how many evidence sentences fit beside a claim, and six marks of each token, as the reader has them.

    A row of marks for [CLS], the claim, [SEP], and each evidence sentence with its [SEP].
    """
    room, kept = WINDOW - len(claim) - 2, []
    for sentence in evidence:
        room -= len(sentence) + 1
        if room < 0 and kept:
            break
        kept.append([*sentence, SEP])
    others = {token for sentence in kept for token in sentence}
    pairs = {pair for sentence in kept for pair in zip(sentence, sentence[1:], strict=False)}
    own = set(zip(claim, claim[1:], strict=False))
    marks = [[1.0, float(token in others), hit, 0.0, 0.0, 0.0] for token, hit in _hits(claim, pairs)]
    theirs = [(token, hit) for sentence in kept for token, hit in _hits(sentence, own)]
    nothing = [0.0] * 6
    return len(kept), [nothing, *marks, nothing, *([0.0] * 3 + [1.0, float(t in claim), hit] for t, hit in theirs)]


def _hits(tokens: list[int], pairs: set[tuple[int, int]]) -> Iterator[tuple[int, float]]:
    """Each token, and whether a pair holds it together with a neighbour."""
    for place, token in enumerate(tokens):
        yield token, float(any(tuple(tokens[i : i + 2]) in pairs for i in (place - 1, place) if i >= 0))


def _split(article: str, summary: str, k: int) -> tuple[list[str], list[str]]:
    """The sentences of both texts; what is wrong with them is a ValueError."""
    if len(article) + len(summary) > MOST_CHARACTERS:
        raise ValueError(f"the texts are longer than {MOST_CHARACTERS:,} characters: install the package for these")
    texts = {"article": split_text(article, lang="en"), "summary": split_text(summary, lang="en")}
    for name, sentences in texts.items():
        if not sentences:
            raise ValueError(f"the {name} has no sentence: write at least one")
        if len(sentences) > (most := MOST_SENTENCES[name]):
            raise ValueError(f"the {name} has {len(sentences)} sentences, and this page takes {most}: shorten it")
        for number, sentence in enumerate(sentences):
            if len(word_pieces(sentence)) > LONGEST:
                raise ValueError(f"sentence {number} of the {name} is too long for this page: end it earlier")
    if not 1 <= k <= len(texts["article"]):
        raise ValueError(f"k must lie between 1 and {len(texts['article'])}, the number of article sentences, not {k}")
    return texts["article"], texts["summary"]


def shaded(cosine: float) -> list[str]:
    """A cell of the heat map: what stands there, its background, and a color that can be read on it."""
    share = min(max(cosine, 0), 1)
    ends = zip((247, 251, 255), (8, 48, 107), strict=True)
    color = ",".join(str(round(low + share * (high - low))) for low, high in ends)
    return [f"{cosine:.2f}", f"rgb({color})", "#fff" if share > 0.65 else "#1a1a1a"]


def table(caption: str, columns: list[str], rows: list[list[Any]]) -> Block:
    """A block with a table."""
    return {"kind": "table", "caption": caption, "columns": columns, "rows": rows}


Call = Callable[[str], Awaitable[str]]


async def blocks(
    article: str, summary: str, k: str, embed: Call, read: Call, show: Callable[[str], Any]
) -> list[Block]:
    """Take the five steps, and show after each what there is.

    `embed` takes the numbers of a sentence's tokens and gives its vector; `read` takes the places of the claim and of
    evidence among the sentences that were embedded, and the tokens' marks, and gives three probabilities: of
    entailment, neutral and contradiction. Both take and give JSON.
    """
    try:
        if not k.strip().isdecimal():
            raise ValueError(f"k must be a whole number such as 3, not {k[:20]!r}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            told, said = _split(article, summary, int(k))
    except ValueError as error:
        return [{"kind": "error", "text": str(error)}]
    numbered = [[f"A{i}", text] for i, text in enumerate(told)] + [[f"S{i}", text] for i, text in enumerate(said)]
    counts = f"1 Split: {len(told)} sentences of the article (A), {len(said)} of the summary (S)"
    done: list[Block] = [{"kind": "note", "text": str(one.message)} for one in caught]
    done.append(table(counts, ["", "sentence"], numbered))
    show(json.dumps(done))

    tokens = [word_pieces(text) for text in (*told, *said)]
    vectors = [json.loads(await embed(json.dumps([CLS, *ids, SEP]))) for ids in tokens]
    first = [["S" + str(i), *(f"{x:.3f}" for x in v[:4]), "…"] for i, v in enumerate(vectors[len(told) :])]
    caption = f"2 Embed: {len(vectors)} vectors of {len(vectors[0])} numbers; these are the first of the summary's"
    done.append(table(caption, ["", "1", "2", "3", "4", ""], first))

    sides = vectors[len(told) :], vectors[: len(told)]  # each has length 1
    cosine = [[math.fsum(map(mul, one, other)) for other in sides[1]] for one in sides[0]]
    heat = [[f"S{i}", *map(shaded, row)] for i, row in enumerate(cosine)]
    done.append(table("3 Compare: the cosines", ["", *(f"A{i}" for i in range(len(told)))], heat))

    nearest = [sorted(range(len(told)), key=lambda i, row=row: -row[i])[: int(k)] for row in cosine]
    places = [[f"S{i}", f"A{j}", f"{cosine[i][j]:.2f}", told[j]] for i, near in enumerate(nearest) for j in near]
    done.append(table(f"4 Find: the {int(k)} nearest sentences of the article", ["", "", "cosine", "evidence"], places))
    show(json.dumps(done))

    rows, supported, judged = [], 0, 0
    caption = f"5 Check: supported from {fitted()['threshold']:.2f} on, if nothing clashes"
    for i, (claim, near) in enumerate(zip(said, nearest, strict=True)):
        evidence, row = [told[j] for j in near], Row([cosine[i][j] for j in near])
        pair = parse_pair(evidence, claim, row)
        if pair is None:
            rows.append([f"S{i}", "not judged", "", "the sentence holds no word that could be checked"])
            continue
        place, shares = dict(zip(evidence, near, strict=True)), []
        for texts, _ in windows(evidence, claim, pair.nearest):
            kept, marks = window(tokens[len(told) + i], [tokens[place[text]] for text in texts])
            asked = [len(told) + i, *(place[text] for text in texts[:kept])]
            answer = json.loads(await read(json.dumps([asked, marks])))
            shares.append(SimpleNamespace(entailment=answer[0], neutral=answer[1], contradiction=answer[2]))
        numbers = pair_features(pair, row, *shares)
        logit = math.fsum(weighted(numbers, any(clash.in_place for clash in pair.clashes.found)).values())
        findings = findings_in(pair)
        verdict = Verdict(probability=sigmoid(logit), threshold=fitted()["threshold"], findings=findings)
        judged, supported = judged + 1, supported + bool(verdict.supported)
        clashing = ", ".join(found.text for found in findings if found.clash)
        rows.append(
            [f"S{i}", "supported" if verdict.supported else "not supported", f"{verdict.probability:.2f}", clashing]
        )
        show(json.dumps([*done, table(caption, ["", "verdict", "probability", "clashes"], rows)]))
    done.append(table(caption, ["", "verdict", "probability", "clashes"], rows))
    score = (
        f"Score: {supported} of {judged} supported, or {supported / judged:.2f}." if judged else "There is no score."
    )
    return [*done, {"kind": "score", "text": score}]


async def answer(given: str, embed: Call, read: Call, show: Callable[[str], Any]) -> str:
    """The same from JSON to JSON, for the page's script."""
    return json.dumps(await blocks(**json.loads(given), embed=embed, read=read, show=show))

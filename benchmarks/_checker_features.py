"""The features of all labelled claims, with the evidence that the pipeline would choose; kept in a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _labelled import Claim, Document
from tqdm.auto import tqdm

from summeval_nb.evidence import check
from summeval_nb.evidence._differences import DIFFERENCES, compare
from summeval_nb.evidence._packaged import cosines
from summeval_nb.text.cosine import cosine_similarity
from summeval_nb.text.embed import load_embedder
from summeval_nb.text.retrieve import topk_related

K = 8
WORDS = tuple(check.FEATURES)
NAMES = (*WORDS, *(f"near_{name}" for name in WORDS), *DIFFERENCES)


def one_sentence(vectors: check.PairVectors, place: int) -> check.PairVectors:
    """Return the vectors of the claim and one of its evidence sentences."""
    return check.PairVectors(
        vectors.embedder,
        vectors.evidence[[place]],
        vectors.claim,
        [vectors.evidence_tokens[place]],
        vectors.claim_tokens,
    )


def claim_features(
    evidence: Sequence[str], claim: str, vectors: check.PairVectors
) -> tuple[np.ndarray, tuple[int, int], list[str]]:
    """Return all features of one pair, the places of its nearest two sentences, and the kinds of its clashes."""
    parts, told = check.take_apart(claim), [check.take_apart(text) for text in evidence]
    words, _ = check.pair_features(parts, told, vectors)
    differences, clashes, nearest = compare(parts, told, vectors, cosines(vectors))
    near, _ = check.pair_features(parts, [told[nearest[0]]], one_sentence(vectors, nearest[0]))
    values = [*words.values(), *near.values(), *differences.values()]
    return np.array(values), nearest, [clash.kind for clash in clashes]


def all_features(articles: Sequence[Document], claims: Sequence[Claim], path: Path) -> tuple[np.ndarray, list[dict]]:
    """Return features, shape (claims, features), and for each claim its evidence; from the file where it is there."""
    lines = path.with_suffix(".jsonl")
    if path.is_file():
        return np.load(path), [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    embedder = load_embedder("minilm")
    values, found = np.zeros((len(claims), len(NAMES))), [{}] * len(claims)
    by_article: dict[int, list[int]] = {}
    for number, claim in enumerate(claims):
        by_article.setdefault(claim.article, []).append(number)
    order = list(by_article)
    for start in tqdm(range(0, len(order), 16), desc="features", unit="16 articles"):
        lot = order[start : start + 16]
        texts = [text for place in lot for text in articles[place].sentences]
        texts = list(dict.fromkeys([*texts, *(claims[n].text for place in lot for n in by_article[place])]))
        sentences, tokens = embedder.encode_with_tokens(texts)
        number = {text: i for i, text in enumerate(texts)}
        for place in lot:
            told = articles[place].sentences
            rows = [number[text] for text in told]
            for n in by_article[place]:
                text = claims[n].text
                if not told or not check.take_apart(text).keys:
                    continue
                similar = cosine_similarity(sentences[rows], sentences[[number[text]]])
                chosen = topk_related(similar, K)[0].tolist()
                vectors = check.PairVectors(
                    embedder.fingerprint,
                    sentences[[rows[i] for i in chosen]],
                    sentences[number[text]],
                    [tokens[rows[i]] for i in chosen],
                    tokens[number[text]],
                )
                evidence = [told[i] for i in chosen]
                values[n], nearest, kinds = claim_features(evidence, text, vectors)
                found[n] = {"evidence": evidence, "nearest": nearest, "clashes": kinds}
    np.save(path, values)
    lines.write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
    return values, found


if __name__ == "__main__":
    import sys

    from _labelled import documents

    articles, claims = documents(Path(sys.argv[1]))
    print(len(articles), "articles", len(claims), "claims", flush=True)
    all_features(articles, claims, Path(sys.argv[2]))

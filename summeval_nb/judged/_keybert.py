"""Key phrases by KeyBERT, with the mean sentence vector as the text's. Edited directly; see tests/test_exam.py.

Chapter 42 says why the mean: the model reads only the first 256 tokens of a text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from summeval_nb.ground.base import require_module
from summeval_nb.judged._exam import candidate_phrases, place_keyphrase
from summeval_nb.judged._refusals import premise_sentences
from summeval_nb.judged.judging import Keyphrase
from summeval_nb.text.embed import LotEmbedder, SentenceVectors


def keybert_phrases(items: Sequence[tuple[str, int]], embedder: LotEmbedder) -> list[list[Keyphrase]]:
    """Key phrases of many (text, most) by KeyBERT over our candidates."""
    texts = list(dict.fromkeys(text for text, _ in items if candidate_phrases(text)))
    if not texts:
        return [[] for _ in items]
    backend = require_module("keybert.backend", "models").BaseEmbedder
    encode = {"embed": lambda self, documents, verbose=False: embedder.encode(list(documents))}
    local = type("Local", (backend,), encode)
    vectorizer = require_module("sklearn.feature_extraction.text", "models").CountVectorizer
    sentences = {text: [s.text for s in premise_sentences(text)] for text in texts}
    vectors = SentenceVectors(embedder, [s for group in sentences.values() for s in group])
    means = np.stack([vectors.of(sentences[text]).mean(axis=0) for text in texts])
    model = require_module("keybert", "models").KeyBERT(model=local())
    found = model.extract_keywords(
        texts,
        vectorizer=vectorizer(analyzer=candidate_phrases),
        use_mmr=True,
        diversity=0.5,
        top_n=max(n for _, n in items),
        doc_embeddings=means,
    )
    by_text = dict(zip(texts, [found] if len(texts) == 1 else found, strict=True))
    return [[place_keyphrase(text, *pair) for pair in by_text.get(text, [])[:n]] for text, n in items]

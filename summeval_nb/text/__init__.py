"""From text to evidence: sentences, vectors, cosine similarity, the nearest sentences."""

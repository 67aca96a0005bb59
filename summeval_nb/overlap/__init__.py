"""Counting what two texts share: n-grams, BLEU, ROUGE."""

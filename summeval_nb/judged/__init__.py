"""Judged answers, summary scores and ratings."""

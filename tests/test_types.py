"""Public signatures in the eyes of a type checker: what is documented passes, as lists or as columns of a DataFrame."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.nightly  # mypy reads the package, and the libraries whose types it names

CODE = """
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sentence_transformers import SentenceTransformer

import summeval_nb as s


class OwnChecker:
    fingerprint = "own-1"
    threshold = 0.5

    def check_many(self, pairs: Sequence[tuple[Sequence[str], str]], *, vectors: object = None) -> list[s.Verdict]:
        return [s.Verdict(probability=1.0) for _ in pairs]


class OwnEmbedder:
    fingerprint = "own-1"

    def encode(self, sentences: list[str]) -> np.ndarray:
        return np.ones((len(sentences), 3))


BACKEND = s.ScriptedBackend(lambda prompt: "yes")
nli, llm = s.NLIChecker("folder"), s.LLMChecker(BACKEND)
for checker in (OwnChecker(), nli, llm, s.EmbeddedChecker()):
    s.evaluate("a", "b", checker=checker)
    s.load_metric("faithfulness", checker=checker, store=Path("kept.sqlite"), splitter=lambda text: [(0, 1)])
    s.benchmark_checker({"one": checker})
s.evaluate("a", "b", checker="nli:folder", embedder=SentenceTransformer("folder"))
s.evaluate("a", "b", checker=3)  # refused
s.evaluate("a", "b", embedder=3)  # refused
for embedder in (OwnEmbedder(), s.text.load_embedder(), SentenceTransformer("folder")):
    s.sentence2embedding(["a"], embedder=embedder)
s.meteor_score("a", "b", synonyms={"a": ["b"]})
s.meteor_score("a", "b", synonyms=3)  # refused
s.bleu_score("a", "b", tokenize=str.split)
for items in ([{"n": 1}], pd.DataFrame(), Path("items.jsonl"), open("items.jsonl", "rb")):
    s.core.open_items(items)
s.core.open_items(3)  # refused
frame = pd.DataFrame({"a": ["It rained."], "b": ["It rained."], "n": [1.0]})
s.evaluate_many(frame["a"], frame["b"]).results[0].verdicts
s.evaluate_many(frame["a"], frame["b"], cheker="embedded")  # refused
s.rouge_many(frame["a"], frame["b"], stemmer=True)
s.rouge_many(frame["a"], 3)  # refused
s.corpus_bleu(frame["a"], frame["b"])
s.evaluate_answers(frame["a"], frame["b"], frame["a"], frame["b"])
s.sentence2embedding(frame["a"])
s.cohen_kappa(frame["a"], frame["b"])
s.correlate(frame["n"], frame["n"])
s.evidence.guarantee_thresholds([{"sentence": "a", "label": 1, "article": "b"}])
"""


def test_what_a_user_may_pass_passes_a_type_checker(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(CODE, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    refused = {number for number, line in enumerate(CODE.splitlines(), 1) if line.endswith("# refused")}
    found = {int(number) for number in re.findall(r"user\.py:(\d+): error", done.stdout)}
    assert len(refused) == 6 and found == refused, done.stdout + done.stderr

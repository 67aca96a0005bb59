"""What the embedded judge and a small language model are worth side by side, as graders and for retrieval.

    python benchmarks/clear_cases.py [--server http://127.0.0.1:8080/v1 --model SmolLM2-135M-Instruct]

Twelve questions, each with its true answer, the same in a few other words, a wrong answer of the same form, gibberish,
a sentence about something else and one about the same thing. Chapters 54 and 57 give the numbers.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

from summeval_nb import LLMChecker, ServerBackend, load_metric
from summeval_nb.judged import LLMJudge, compare_answers_many, evaluate_rag

CASES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
PAIRS = [("truth", "gibberish"), ("truth", "beside"), ("right", "gibberish"), ("right", "wrong"), ("truth", "wrong")]


def compared(better: str, worse: str, *, truth: bool, **who: Any) -> None:
    """Print how often the better answer wins, how often it is preferred, and how the places weigh."""
    rows = [
        {"question": c["question"], "a": c[better], "b": c[worse], "ground_truth": c["truth"] * truth} for c in CASES
    ]
    found = [result for result in compare_answers_many(rows, progress=False, **who).results if result.score is not None]
    won, tied = (sum(result.winner == name for result in found) for name in ("a", "tie"))
    leans = [round(result.lean, 2) for result in found if result.lean is not None]
    shown = f"{better} against {worse}{', truth shown' if truth else ''}"
    preferred = sum(result.score > 0.5 for result in found)
    print(f"{shown}: {won} of {len(found)} won, {tied} tied, {preferred} preferred, leans {min(leans, default=None)}"
          f" to {max(leans, default=None)}")  # fmt: skip


def retrieved(good: str, bad: str, judge: Any) -> None:
    """Print how often a passage scores above a worse one that stands before it."""
    rows = [{"question": c["question"], "contexts": [c[bad], c[good]], "ground_truth": c["truth"]} for c in CASES]
    table = evaluate_rag(rows, ["context_precision"], judge=judge, progress=False)
    found = [row.scores["context_precision"] for row in table]
    scores = [[p.score or 0 for p in result.passages] for result in found if result.score is not None]
    reasons = {result.reason for result in found if result.reason}
    print(f"passage {good} above {bad}: {sum(b > a for a, b in scores)} of {len(scores)}", *reasons)


def entailed(name: str, chances: list[float | None]) -> None:
    """Print how often the passage that is the truth gets the higher probability; pairs with a failure are left out."""
    pairs = [(a, b) for a, b in zip(chances[::2], chances[1::2], strict=True) if a is not None and b is not None]
    print(f"{name}: {sum(a > b for a, b in pairs)} of {len(pairs)}")


def main() -> None:
    """The embedded judge, and a model behind a server where one is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", help="the address of a model's server")
    parser.add_argument("--model", default="SmolLM2-135M-Instruct", help="its name there")
    arguments = parser.parse_args()
    print("the embedded judge")
    for better, worse in PAIRS:
        compared(better, worse, truth=True)
    for good, bad in product(("truth", "right"), ("beside", "other", "wrong")):
        retrieved(good, bad, "embedded")
    if not arguments.server:
        return
    backend = ServerBackend(arguments.model, base_url=arguments.server, timeout=240)
    print(arguments.model)
    for (better, worse), truth in zip(PAIRS[:4], (False, False, True, True), strict=True):
        compared(better, worse, truth=truth, judge=backend, workers=1)
    for rubric in (
        "Does the answer answer the question? 1: it is nonsense. 5: it answers the question.",
        "Is the answer right and clear?",
    ):
        grader = load_metric("rubric", rubric=rubric, judge=backend, workers=1)
        grades = {
            name: [
                result.score or 0
                for result in grader.score_many(*([c[k] for c in CASES] for k in ("question", name))).results
            ]
            for name in ("truth", "right", "gibberish", "beside")
        }
        for better, worse in product(("truth", "right"), ("gibberish", "beside")):
            right = sum(a > b for a, b in zip(grades[better], grades[worse], strict=True))
            print(f"rubric {rubric!r}: {better} above {worse} in {right} of {len(CASES)}")
    retrieved("truth", "beside", LLMJudge(backend, workers=1))
    asked = [(c[name], c["truth"]) for c in CASES for name in ("truth", "beside")]
    found = LLMJudge(backend, workers=1, probabilities=True).many(
        "entail", [(text, [statement]) for text, statement in asked]
    )
    entailed(
        "three labels",
        [
            getattr(entailments[0], "probability", None) if isinstance(entailments, list) else None
            for entailments in found
        ],
    )
    verdicts = LLMChecker(backend, workers=1).check_many([([text], statement) for text, statement in asked])
    entailed("yes or no", [verdict.probability for verdict in verdicts])


if __name__ == "__main__":
    main()

# A plain private module: edited directly, exported by no notebook, tested in tests/test_inference.py.
"""A sequence classifier at work: loaded from a folder, asked in batches of like length, its best answer kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm.auto import tqdm

from summeval_nb.evidence.claims import Judged, Question
from summeval_nb.ground.base import hub_only_if, require_count, require_module
from summeval_nb.models.base import BackendRejected, ContextTooLong

from ..ground.base import JsonDict

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Row = dict[str, list[int]]  # one input of the classifier: its token ids by name
Rows = list[tuple[int | None, Row]]  # with the place of the evidence sentence; None: all of them


def load_classifier(
    model: str | Path | PreTrainedModel, tokenizer: PreTrainedTokenizerBase | None, download: bool
) -> tuple[Any, Any]:
    """Load a sequence classifier and its tokenizer from a folder or a local copy, or take the loaded ones."""
    require_module("transformers", "models")
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    if not isinstance(model, (str, Path)):
        if tokenizer is None:
            raise ValueError("a loaded model needs its tokenizer: NLIChecker(model, tokenizer=...)")
        return model, tokenizer
    try:
        with hub_only_if(download) as where:
            where |= {"trust_remote_code": False}  # else the user is asked, and a piped table may answer
            tokenizer = AutoTokenizer.from_pretrained(str(model), **where)
            loaded = AutoModelForSequenceClassification.from_pretrained(
                str(model), dtype=torch.float32, use_safetensors=True, **where
            )
    except (OSError, ValueError) as error:
        remedy = "give a folder that holds a classifier, or a hub name with download=True"
        raise BackendRejected(f"{model} cannot be loaded: {str(error).splitlines()[0]}", remedy=remedy) from error
    return loaded, tokenizer


def fitting_window(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, window: int | None) -> int:
    """The window in tokens: the model's own limit, or the smaller one asked for."""
    config = model.config.get_text_config()
    limits = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None) or 10**9]
    limit = int(min(limits))
    if limit >= 10**9:
        limit = 512
    if window is None:
        return limit
    if require_count(window, "window", minimum=32) > limit:
        raise ValueError(f"window={window} is more than the {limit} tokens that this model takes")
    return window


def probabilities(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Sequence[Row], batch_size: int
) -> np.ndarray:
    """Return the softmax of the outputs, (rows, labels), batched by length."""
    import torch

    order = sorted(range(len(rows)), key=lambda i: len(rows[i]["input_ids"]))
    results: list[np.ndarray] = [np.zeros(0)] * len(rows)
    fill = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": 0, "attention_mask": 0}
    for start in range(0, len(order), batch_size):
        part = [
            dict(rows[i], attention_mask=[1] * len(rows[i]["input_ids"])) for i in order[start : start + batch_size]
        ]
        longest = max(len(row["input_ids"]) for row in part)
        padded = {
            name: torch.tensor([row[name] + [fill[name]] * (longest - len(row[name])) for row in part]).to(model.device)
            for name in part[0]
        }
        with torch.no_grad():
            out = model(**padded).logits.double().softmax(-1).cpu().numpy()
        for i, row in zip(order[start : start + batch_size], out, strict=True):
            results[i] = row
    return np.stack(results) if results else np.zeros((0, 0))


def judged(
    questions: Sequence[Question],
    rows_of: Callable[[Sequence[str], str], Rows],
    outputs_of: Callable[[Sequence[Row]], np.ndarray],
    places: Mapping[str, int],
    *,
    progress: bool,
) -> list[Judged | Exception]:
    """Answer each question: the best of its premises and windows, or the reason why it cannot be judged."""
    answers: list[Judged | Exception] = []
    lots = [questions[start : start + 64] for start in range(0, len(questions), 64)]
    for lot in tqdm(lots, desc="inference", disable=not progress):
        rows: list[Row] = []
        spans: list[list[tuple[int, int | None]] | Exception] = []
        for evidence, claim in lot:
            try:
                parts = rows_of(evidence, claim)
            except ContextTooLong as error:
                spans.append(error)
                continue
            spans.append([(len(rows) + i, place) for i, (place, _) in enumerate(parts)])
            rows += [row for _, row in parts]
        outputs = outputs_of(rows)
        answers += [s if isinstance(s, Exception) else _best(s, outputs, places) for s in spans]
    return answers


def _best(spans: Sequence[tuple[int, int | None]], outputs: np.ndarray, places: Mapping[str, int]) -> Judged:
    row, evidence = max(spans, key=lambda span: outputs[span[0], places["entailment"]])
    details: JsonDict = {name: float(outputs[row, place]) for name, place in places.items()}
    if evidence is not None:
        details["decided_by"] = evidence
    return min(1.0, details["entailment"]), details

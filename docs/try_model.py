"""MiniLM and the reader as one ONNX file each for the page "Try it": weights in eight bits, calculation in floats.

Each row of a weight matrix has one scale, as `summeval_nb.evidence.reader` keeps the reader's own. A file has a quarter
of the size then, and a cosine moves by a hundredth at most.
"""

from __future__ import annotations

import gzip
import io
import json
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from summeval_nb.evidence.reader import Network, load_minilm, load_reader
from summeval_nb.text.minilm import minilm_files


class Embed(nn.Module):
    """MiniLM on the tokens of one sentence, shape (1, t): its vector, and the states after the third layer."""

    def __init__(self) -> None:
        super().__init__()
        self.network = Network()
        load_minilm(self.network, minilm_files()[1])

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vector, shape (1, 384), and the states, shape (1, t, 384)."""
        mask = torch.ones_like(ids, dtype=torch.bool)
        states = self.network.encode(ids, mask)
        x = states
        for layer in self.network.upper:
            x = layer(x, mask[:, None, None])
        return F.normalize(x.mean(1), dim=-1), states


class Read(nn.Module):
    """The reader on one claim with its evidence: probabilities of entailment, neutral, contradiction."""

    def __init__(self) -> None:
        super().__init__()
        self.network = load_reader().network

    def forward(self, states: Tensor, marks: Tensor) -> Tensor:
        """Return three probabilities, shape (1, 3); the first mark says which tokens are the claim's."""
        claim = marks[..., 0] > 0
        return self.network(states, torch.ones_like(claim), claim, marks)[0].softmax(-1)


def exported(module: nn.Module, given: dict[str, Tensor], out: list[str]) -> bytes:
    """Return a module as ONNX with its large matrices in eight bits, the same bytes each time."""
    import onnx

    buffer = io.BytesIO()
    axes = {name: {1: "t"} for name in given}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(), tuple(given.values()), buffer, input_names=list(given), output_names=out,
            dynamic_axes=axes, opset_version=17, dynamo=False,
        )  # fmt: skip
    model = onnx.load_from_string(buffer.getvalue())
    graph = model.graph
    large = [one for one in graph.initializer if len(one.dims) == 2 and one.dims[0] * one.dims[1] > 10_000]
    nodes: list[Any] = []
    for one in large:
        values = torch.from_numpy(onnx.numpy_helper.to_array(one).copy())
        axis = 0 if one.dims[0] > 2000 or one.name.endswith("weight") else 1  # a table's row, or a matrix's output
        scale = values.abs().amax(1 - axis, keepdim=True).clamp(min=1e-12) / 127
        small = torch.round(values / scale).to(torch.int8).numpy()
        kept = {f"{one.name}:8": small, f"{one.name}:scale": scale.flatten().numpy()}
        graph.initializer.remove(one)
        graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in kept.items())
        nodes.append(onnx.helper.make_node("DequantizeLinear", list(kept), [one.name], axis=axis))
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *rest])
    onnx.checker.check_model(model)
    return model.SerializeToString()


def write(folder: Path) -> None:
    """Write both models into a folder, packed."""
    ids, states, marks = torch.tensor([[101, 2009, 102]]), torch.rand(1, 7, 384), torch.rand(1, 7, 6)
    made = {
        "embed": exported(Embed(), {"ids": ids}, ["vector", "states"]),
        "read": exported(Read(), {"states": states, "marks": marks}, ["shares"]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        (folder / f"{name}.bin").write_bytes(gzip.compress(content, mtime=0))


class Calls:
    """The same two models in 32 bits, called as the page's script calls its own: for the example that stands there."""

    def __init__(self) -> None:
        self.embedder, self.reader = Embed().eval(), Read().eval()
        self.states: list[Tensor] = []

    async def embed(self, given: str) -> str:
        """Return a sentence's vector and keep its states."""
        with torch.inference_mode():
            vector, states = self.embedder(torch.tensor([json.loads(given)]))
        self.states.append(states)
        return json.dumps(vector[0].tolist())

    async def read(self, given: str) -> str:
        """Return three probabilities of a claim and evidence."""
        (claim, *evidence), marks = json.loads(given)
        states = torch.cat([self.states[claim], *(self.states[place][:, 1:] for place in evidence)], 1)
        with torch.inference_mode():
            return json.dumps(self.reader(states, torch.tensor([marks]))[0].tolist())

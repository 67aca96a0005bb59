"""Bulk questions beside guidance as it comes, and beside the ideal of a server with a fixed latency.

    python benchmarks/llm.py [--articles 4] [--claims 8]

(a) `choose_many` on a local model against guidance called pair by pair with role blocks, on the same loaded model,
    with premises of about 400 tokens; and against `choose` one by one. Two models: the tiny Llama, where guidance's own
    work counts most, and one of 11 million random weights, where the model's does. Floor 2 times, goal 4 times as fast.
(b) `choose_many` on a server that answers each question after L seconds, with w workers, against n·L/w.
    Floor 1.3 times the ideal, goal 1.1 times. The server is a process of its own.

Ratios are of CPU seconds of this process for (a), of seconds for (b). Exits with 1 if a floor is missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import guidance
import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

from summeval_nb import ServerBackend, TransformersBackend
from summeval_nb.core.html import text_table
from summeval_nb.evidence.llm import PROMPT, filled
from summeval_nb.models import example_model

OPTIONS = ["yes", "no"]
TESTS = Path(__file__).parents[1] / "tests"


def larger_model() -> TransformersBackend:
    """The tiny Llama's shape and tokenizer with more and wider layers; the weights are random."""
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(example_model())
    config = LlamaConfig.from_pretrained(example_model())
    config.hidden_size, config.intermediate_size, config.num_hidden_layers = 384, 1152, 6
    config.num_attention_heads = config.num_key_value_heads = 6
    config.head_dim = 64
    return TransformersBackend(LlamaForCausalLM(config), tokenizer=tokenizer)


def questions(articles: int, claims: int) -> list[str]:
    """Prompts over premises of about 400 tokens, the claims of an article side by side."""
    people, things = ["Anna", "Ben", "Maria", "Peter", "Tom"], ["car", "boat", "lamp", "horse", "coat"]
    prompts = []
    for a in range(articles):
        evidence = [f"{people[(a + i) % 5]} bought a red {things[i % 5]} in Paris." for i in range(42)]
        prompts += [
            filled(PROMPT, evidence, f"{people[c % 5]} sold a blue {things[(a + c) % 5]}.") for c in range(claims)
        ]
    return prompts


def with_role_blocks(backend: TransformersBackend, prompts: list[str]) -> list[str]:
    """guidance as its documentation shows it: role blocks, one pair after the other."""
    model, answers = backend._reader.guided(), []
    for prompt in prompts:
        state = model
        with guidance.user():
            state += guidance.string(prompt)
        with guidance.assistant():
            state += guidance.select(OPTIONS, name="answer")
        answers.append(state["answer"])
    return answers


def cpu_seconds(call: Callable[[], Any], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def local(name: str, backend: TransformersBackend, prompts: list[str]) -> dict[str, Any]:
    length = len(backend._reader.encode(backend._rendered(prompts[0], 1)))
    single = [backend.choose(prompt, OPTIONS) for prompt in prompts]
    bulk = backend.choose_many(prompts, OPTIONS)
    apart = max(abs(a.probabilities["yes"] - b.probabilities["yes"]) for a, b in zip(single, bulk, strict=True))
    peer = cpu_seconds(lambda: with_role_blocks(backend, prompts))
    one_by_one = cpu_seconds(lambda: [backend.choose(prompt, OPTIONS) for prompt in prompts])
    together = cpu_seconds(lambda: backend.choose_many(prompts, OPTIONS))
    return {
        "model": name,
        "tokens": length,
        "role blocks, pairs/s": round(len(prompts) / peer, 1),
        "choose, pairs/s": round(len(prompts) / one_by_one, 1),
        "choose_many, pairs/s": round(len(prompts) / together, 1),
        "ratio": round(peer / together, 2),
        "largest difference": f"{apart:.0e}",
    }


def served(latency: float, workers: int, count: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "servers.misbehaving", str(latency)]
    with subprocess.Popen(command, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        backend = ServerBackend("scripted", base_url=process.stdout.readline().strip())
        backend.choose("Once, for the probe.", OPTIONS)
        start = time.perf_counter()
        backend.choose_many([f"question {n}" for n in range(count)], OPTIONS, workers=workers)
        seconds = time.perf_counter() - start
        process.stdin.close()
    ideal = count * latency / workers
    return {"latency": latency, "workers": workers, "questions": count, "ideal s": ideal, "s": round(seconds, 2),
            "ratio": round(seconds / ideal, 3)}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--articles", type=int, default=4)
    parser.add_argument("--claims", type=int, default=8)
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    prompts = questions(options.articles, options.claims)
    rows = [
        local("tiny, 0.2 million", TransformersBackend(example_model()), prompts),
        local("random, 11 million", larger_model(), prompts),
    ]
    print(text_table(rows))
    servers = [served(0.3, 8, 80), served(1.0, 16, 64)]
    print(text_table(servers))
    missed = any(row["ratio"] < 2 for row in rows) or any(row["ratio"] > 1.3 for row in servers)
    print("FLOOR MISSED" if missed else "all floors reached")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())

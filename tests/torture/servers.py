"""A server that lies: each question has its own answer or a typed error, within the time that was given."""

from __future__ import annotations

import random
import time
from pathlib import Path

from summeval_nb.models.base import BackendError, Choice
from summeval_nb.models.server import ServerBackend

from ..servers.behaviours import BEHAVIOURS
from ..servers.misbehaving import MisbehavingServer, true_probability
from . import corpus
from .harness import Wrong

OPTIONS = ["yes", "no"]
TIMEOUT = 1.5


def servers(rng: random.Random, folder: Path) -> None:
    """Some questions get good answers and some bad ones; then one question of each other kind."""
    names = [rng.choice(list(BEHAVIOURS)) for _ in range(rng.randint(1, 3))]
    dialect = rng.choice(["llamacpp", "vllm", "openai"])
    prompts = [f"{number}: {corpus.text(rng)[:500]}" for number in range(rng.randint(1, 5))]
    what = f"{dialect}, answers {names}"
    chosen = {f"{number}: ": rng.choice([*names, "ok"]) for number in range(len(prompts))}
    behave = lambda number, prompt: next(name for own, name in chosen.items() if prompt.startswith(own))
    with MisbehavingServer(behave, dialect=dialect, slowness=0.3) as server:
        start = time.monotonic()
        try:
            limits = {"timeout": TIMEOUT, "total_timeout": 4.0, "max_retries": rng.choice([0, 1])}
            backend = ServerBackend("scripted", base_url=server.url, api_key="sk-zzq-secret", **limits)
            answers = backend.choose_many(prompts, OPTIONS)
        except BackendError as error:
            answers = [error] * len(prompts)
        took = time.monotonic() - start
        asked = [body["messages"][-1]["content"] for body in server.questions]  # what became of the prompts
    for (own, behaviour), answer in zip(chosen.items(), answers, strict=True):
        said = {true_probability(prompt) for prompt in asked if prompt.startswith(own)}
        judge_answer(said, answer, f"{what}: {behaviour} for question {own}")
    if took > 200:  # the probe and one question, twenty times what they may take
        raise Wrong(f"{what}: {took:.0f} s for {len(prompts)} questions", "a server holds its client")


def judge_answer(said: set[float], answer: object, what: str) -> None:
    """Raise `Wrong` unless an answer is what the server meant, or a typed error that tells no key."""
    if isinstance(answer, BackendError):
        if "sk-zzq-secret" in f"{answer} {answer!r} {vars(answer)}":
            raise Wrong(f"{what}: the key stands in the error {answer!r}", "a key in an error")
        if not str(answer).strip():
            raise Wrong(f"{what}: {answer!r}", "a BackendError without a message")
    elif isinstance(answer, Choice):
        if all(abs(answer.probabilities["yes"] - share) > 1e-6 for share in said):
            raise Wrong(f"{what}: {answer} where the server meant {said}", "a lie becomes a number")
    else:
        raise Wrong(f"{what}: {answer!r} is neither a choice nor a typed error", "an untyped answer")

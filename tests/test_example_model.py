"""The tiny Llama that chapters and tests run on is right in its own world, small, and safe to load."""

import random

from helpers.late import Late, needs

from summeval_nb.models.base import example_model
from summeval_nb.models.local import TransformersBackend

needs("torch", "transformers")
training = Late("train_example_model")


def test_it_is_small_and_holds_no_pickle():
    files = list(example_model().iterdir())
    assert sum(path.stat().st_size for path in files) < 1_000_000
    assert {path.suffix for path in files} <= {".json", ".jinja", ".safetensors"}


def test_it_is_right_about_its_own_world():
    """200 fresh examples of each size, through guidance."""
    backend, chance = TransformersBackend(example_model()), random.Random(20240)
    for facts in (1, 2, 3):
        drawn = [training.example(chance, facts) for _ in range(200)]
        prompts = [
            training.PROMPT.format(evidence="\n".join(map(training.sentence, evidence)), claim=claim)
            for evidence, claim, _ in drawn
        ]
        choices = backend.choose_many(prompts, ["yes", "no"])
        right = sum((choice.label == "yes") == true for choice, (_, _, true) in zip(choices, drawn, strict=True))
        assert right >= 188, f"{right} of 200 with {facts} sentences"
        assert min(choice.probability_mass for choice in choices) > 0.9

"""A language model made up for tests: it fills schemas from what its prompts show, soberly or by lot."""

import json
import random
import re

from summeval_nb.models.base import Backend, BackendUnavailable, Choice, InvalidOutput, Usage


class MadeUpModel(Backend):
    """A language model that fills schemas from what its prompts show.

    `usual` finds one statement in a hypothesis, refuses nothing and is never asked again; `varied` draws lengths,
    labels, refusals and failures by lot.
    """

    def __init__(self, manner="usual", seed=0):
        self.manner, self.seed, self.name = manner, seed, f"{manner}-{seed}"
        self.usage = Usage()

    @property
    def fingerprint(self):
        return self.name

    def _draw(self, prompt):
        return random.Random(f"{self.seed} {prompt}")

    def _choose(self, prompt, options):
        draw = self._draw(prompt)
        if self.manner == "varied" and draw.random() < 0.05:
            raise BackendUnavailable("no answer")
        label = draw.choice(options) if self.manner == "varied" else options["refuse" in prompt]
        return Choice(label, {option: float(option == label) for option in options}, 1.0)

    def _json(self, prompt, schema, max_tokens):
        draw = self._draw(prompt)
        if self.manner == "varied" and draw.random() < 0.2:
            raise InvalidOutput("so " * 300, model=self.name)
        found = re.findall(r"^Case (\d+): (.*)$", prompt, re.MULTILINE)
        cases = {f"case_{number}": json.loads(shown) for number, shown in found}
        said = {"hypothesis": "".join(re.findall(r">\n(.*)\n<", prompt, re.DOTALL))}
        parts = schema["properties"].items()
        return json.dumps({name: self._fill(part, cases.get(name, said), schema, draw) for name, part in parts})

    def _fill(self, part, case, schema, draw):
        part = schema["$defs"][part["$ref"].split("/")[-1]] if "$ref" in part else part
        if "units" in case:
            return case["units"]
        if part["type"] == "object":
            return {name: self._fill(field, case, schema, draw) for name, field in part["properties"].items()}
        if part["type"] == "array":
            least, most = part.get("minItems", 0), part["maxItems"]
            usual = max(least, 1 if "hypothesis" in case else most)
            count = draw.randint(least, most) if self.manner == "varied" else usual
            return [self._fill(part["items"], case | {"place": place}, schema, draw) for place in range(count)]
        if part["type"] == "integer":
            return draw.randint(part.get("minimum", 0), part.get("maximum", 3))
        if "enum" in part:
            return draw.choice(part["enum"]) if self.manner == "varied" else part["enum"][-1]
        words = case.get("hypothesis", " ".join(case.get("keyphrases", [case.get("text", "")]))).split() or ["rain"]
        place = case.get("place", 0) % len(words)
        text = " ".join(words) if "hypothesis" in case else " ".join(words[place : place + 2])
        return text[: part["maxLength"]]

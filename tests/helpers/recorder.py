"""A language model made up for tests: it fills schemas by lot, and writes down what it was sent."""

import json
import random
import re

from summeval_nb.models.base import Backend, BackendUnavailable, Choice, InvalidOutput, Usage

MANNERS = ("usual", "varied", "greatest")


class Recorder(Backend):
    """A language model that fills schemas by lot, and writes down what it was sent and what it wrote.

    `usual` finds one statement in a hypothesis and is never asked again, `varied` draws lengths, labels and failures,
    `greatest` is misunderstood at first and then writes as much as it may.
    """

    def __init__(self, manner, seed):
        self.manner, self.seed, self.name = manner, seed, f"{manner}-{seed}"
        self.usage, self.prompt_bytes = Usage(), 0

    @property
    def fingerprint(self):
        return self.name

    def _draw(self, prompt):
        return random.Random(f"{self.seed} {prompt}")

    def _sent(self, prompt, reply, room):
        pieces = re.findall(r"\s*\w{1,6}|\s*[^\w\s]|\s+", reply)[:room]  # tokens; a server stops where there is no room
        self.prompt_bytes += len(prompt.encode("utf-8", "surrogatepass"))
        self.usage.add(prompt_tokens=len(re.findall(r"\w{1,6}|[^\w\s]", prompt)), generated_tokens=len(pieces))
        return "".join(pieces)

    def _choose(self, prompt, options):
        draw = self._draw(prompt)
        if self.manner == "varied" and draw.random() < 0.05:
            self._sent(prompt, "", 0)
            raise BackendUnavailable("no answer")
        label = draw.choice(options) if self.manner == "varied" else options[-1]
        label = "no" if "refuse" in prompt and self.manner != "varied" else label
        self._sent(prompt, label, 10)
        return Choice(label, {option: float(option == label) for option in options}, 1.0)

    def _json(self, prompt, schema, max_tokens):
        draw = self._draw(prompt)
        again = "could not be used" in prompt
        malformed = {"usual": 0.0, "varied": 0.2, "greatest": 0.0 if again or "Case" not in prompt else 1.0}
        if draw.random() < malformed[self.manner]:
            self._sent(prompt, "so ", 1)
            raise InvalidOutput("so " * 300, model=self.name)
        found = re.findall(r"^Case (\d+): (.*)$", prompt, re.MULTILINE)
        cases = {f"case_{number}": json.loads(shown) for number, shown in found}
        said = re.findall(r">\n(.*)\n<", prompt, re.DOTALL)
        filled = {
            name: self._fill(part, cases.get(name, {"hypothesis": "".join(said)}), schema, draw)
            for name, part in schema["properties"].items()
        }
        return self._sent(prompt, json.dumps(filled, ensure_ascii=draw.random() < 0.3), max_tokens)

    def _fill(self, part, case, schema, draw):
        part = schema["$defs"][part["$ref"].split("/")[-1]] if "$ref" in part else part
        if "units" in case:
            more = {"usual": "", "varied": draw.choice(["", " she", " <b> “x”"]), "greatest": " Rain" * 20}[self.manner]
            return [unit + more[: 60 + len(unit)] for unit in case["units"]]
        if part["type"] == "object":
            return {name: self._fill(inner, case, schema, draw) for name, inner in part["properties"].items()}
        if part["type"] == "array":
            least, most = part.get("minItems", 0), part["maxItems"]
            usual = 1 if "hypothesis" in case else most
            count = {"usual": max(least, usual), "varied": draw.randint(least, most), "greatest": most}[self.manner]
            return [self._fill(part["items"], case | {"place": n}, schema, draw) for n in range(count)]
        if part["type"] == "integer":
            return draw.randint(part.get("minimum", 0), part.get("maximum", 3))
        if "enum" in part:
            return draw.choice(part["enum"]) if self.manner == "varied" else part["enum"][-1]
        return self._text(part, case, draw)

    def _text(self, part, case, draw):
        if self.manner == "usual":
            text = case.get("hypothesis") or " ".join(case.get("keyphrases", case.get("text", "rain").split())[:4])
            return text[: part.get("maxLength", 80)] or "rain"
        words = re.findall(r"\w+", case.get("hypothesis", case.get("text", ""))) or ["rain"]
        if "hypothesis" in case and self.manner == "greatest":
            room = (200 + 8 * len(case["hypothesis"])) // 12 - 14  # for each of twelve, so that all are accepted
            text = f"{case['hypothesis'][:room]} {words[case['place'] % len(words)]} {case['place']}"
        else:
            more = draw.choice(["", " <", ' "[x', "。"])
            text = " ".join(draw.choices(words, k=draw.randint(1, 2 * len(words)))) + more
        return text[: min(300 if self.manner == "greatest" else 700, part["maxLength"])]

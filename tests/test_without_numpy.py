"""One pair of texts is scored where no compiled library is installed, and to the last bit as in lists of many."""

import json
import random
import subprocess
import sys
import warnings
from itertools import product

import pytest

from summeval_nb.core.base import np
from summeval_nb.overlap.bleu import SMOOTHING
from summeval_nb.overlap.rouge import MULTI, TYPES, rouge_many, rouge_score
from summeval_nb.overlap.translation import bleu_many, bleu_score

REFUSED = ["numpy", "scipy", "pandas", "rapidfuzz", "torch", "nltk", "regex", "sacrebleu", "rouge_score", "sklearn"]
REFUSED += ["jinja2", "markupsafe", "matplotlib", "tqdm", "sentence_transformers", "transformers", "tokenizers", "yaml"]
REFUSED += ["pydantic", "IPython", "ipywidgets", "anywidget", "pyarrow", "pysbd", "requests", "httpx2", "openai"]

SCRIPT = """
import json, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused}:
            raise ModuleNotFoundError(f"{name} is not there", name=name)

sys.meta_path.insert(0, Refuse())
from summeval_nb import bleu_score, calculate_rouge, calculate_rouge_l, rouge_score
from summeval_nb.overlap import lcs_length
from summeval_nb.overlap.rouge import TYPES

found = []
for made, references in json.loads({pairs!r}):
    bleu = bleu_score(made, references)
    found.append([bleu.score, *bleu.precisions, bleu.bp, str(bleu.signature)])
    rouge = rouge_score(made, references, types=TYPES, stemmer=True)
    found += [list(item) for item in rouge.values()] + [str(rouge.signature)]
    one = calculate_rouge(references[0], made, 2), calculate_rouge_l(references[0], made)
    found += [list(item.values()) for item in one] + [lcs_length(made, references[0])]
    found += [repr(bleu), repr(rouge["rougeL"])]
print(json.dumps(found))
"""
PAIRS = [
    ("The cat is on the mat.", ["The cat sat on the mat.", "A cat is resting on the mat."]),
    ("Profits fell by 3 % in May, the firm said.", ["The firm said that profits fell 3 % in May."]),
    ("it slept\nthe cat sat", ["the cat sat\nit slept\nand slept"]),
    ("one", ["one two three"]),
    ("", ["nothing of it"]),
]


def run(refused):
    """What the script prints, word by word, with these packages refused."""
    script = SCRIPT.replace("{refused}", repr(set(refused)) if refused else "()")
    script = script.replace("{pairs!r}", repr(json.dumps(PAIRS)))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_pair_is_scored_where_nothing_compiled_is_installed():
    without = run(REFUSED)
    assert without == run([])
    assert without[0][0] == bleu_score(*PAIRS[0]).score and len(without) == len(PAIRS) * (len(TYPES) + 7)


def texts(rng, vocabulary="abcde"):
    lines = (" ".join(rng.choices(vocabulary, k=rng.randint(0, 9))) for _ in range(rng.randint(1, 3)))
    return "\n".join(lines)


@pytest.mark.parametrize(("multi", "compat"), product(MULTI, ["google", "rouge-1.5.5"]))
def test_rouge_of_one_is_rouge_of_many_to_the_last_bit(multi, compat):
    rng = random.Random(f"{multi} {compat}")
    generated = [texts(rng) for _ in range(40)]
    references = [[texts(rng) for _ in range(rng.choice([1, 2, 3, 11, 20]))] for _ in generated]
    choices = {"types": TYPES, "multi": multi, "compat": compat, "stemmer": True}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = rouge_many(generated, references, **choices)
        for place, (text, group) in enumerate(zip(generated, references, strict=True)):
            score = rouge_score(text, group, **choices)
            assert bool(len(score)) == bool(table.defined[place])
            for kind, item in score.items():
                assert item == tuple(table[f"{kind}_{part}"][place] for part in item._fields), (kind, text, group)
                assert {type(number) for number in item} == {float}


@pytest.mark.parametrize("smooth", SMOOTHING)
def test_bleu_of_one_is_bleu_of_many_to_the_last_bit(smooth):
    rng = random.Random(smooth)
    generated = [texts(rng) for _ in range(200)]
    references = [[texts(rng) for _ in range(rng.choice([1, 2, 11]))] for _ in generated]
    table = bleu_many(generated, references, smooth=smooth)
    for place, (text, group) in enumerate(zip(generated, references, strict=True)):
        score = bleu_score(text, group, smooth=smooth)
        assert score.score is None or score.score == table.scores[place]
        assert score.statistics.tolist() == table[place].statistics.tolist()


def test_a_flag_of_numpy_is_a_flag():
    assert bleu_score("A", "a", lowercase=np.bool_(True)).score == 100 and np.bool_ is type(np.array(True)[()])

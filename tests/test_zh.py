"""The Chinese pages teach and export nothing, and their numbers are sacrebleu's."""

import json
import re
from pathlib import Path

import pytest

from summeval_nb import bleu_score

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("nbs/zh/*.ipynb"))


def cells(path, kind):
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_teaches_and_exports_nothing(path):
    prose, code = cells(path, "markdown"), cells(path, "code")
    assert len(prose) + len(code) <= 45 and len(prose) >= 0.6 * len(code)
    assert not any("#| export" in source or "default_exp" in source for source in code)
    assert any(re.search(r"^ *assert ", source, re.M) for source in code[:2]), "no proof early on"
    assert any("explain(" in source or "plt." in source for source in code), "no picture"
    assert "读完本章，你可以" in prose[1] and "英文版" in prose[1] and "## 想一想" in "\n".join(prose)
    assert re.search(r"\.\./\d_\w+/\d+_\w+\.ipynb", prose[1]), "no link to the English chapter"
    text = re.sub(r"\]\([^)]*\)|`[^`]*`|\$[^$]*\$", "", "\n".join(prose))
    assert len(re.findall("[\u4e00-\u9fff]", text)) > 500
    half = re.findall("[\u4e00-\u9fff][,;?:!]|[,;?!](?=[\u4e00-\u9fff])", text)
    assert not half, f"half-width signs in Chinese: {half[:5]}"


def test_the_numbers_of_the_page_are_sacrebleus():
    sacrebleu = pytest.importorskip("sacrebleu")
    names = {}
    (block,) = [cell for cell in cells(PAGES[0], "code") if "by_sacrebleu = [" in cell]
    exec(block.partition("with warnings")[0], names)
    assert len(names["others"]) == len(names["by_sacrebleu"]) == 2
    for (right, guess), numbers in zip(names["others"], names["by_sacrebleu"], strict=True):
        for tokenize, value in numbers.items():
            theirs = sacrebleu.sentence_bleu(guess, [right], tokenize=tokenize, use_effective_order=True).score
            assert value == pytest.approx(theirs, abs=1e-12)
            assert bleu_score(guess, [right], tokenize=tokenize).score == pytest.approx(theirs, abs=1e-9)

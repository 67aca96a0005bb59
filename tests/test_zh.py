"""The Chinese pages teach and export nothing: their numbers are sacrebleu's, and those of the English chapters."""

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


def test_a_page_teaches_and_exports_nothing():
    for path in PAGES:
        owes_its_reader(path)


def owes_its_reader(path):
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


def test_the_first_page_names_both_pages_in_both_languages():
    index = "\n".join(cells(ROOT / "nbs" / "index.ipynb", "markdown"))
    assert [path.stem for path in PAGES] == ["1_bleu_rouge", "2_summeval"]
    for path in PAGES:
        (line,) = [entry for entry in index.splitlines() if f"zh/{path.name}" in entry]
        assert re.search("[\u4e00-\u9fff]", line) and "in Chinese" in line


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


def test_the_asserts_are_those_of_the_english_chapter():
    ours = "\n".join(cells(PAGES[1], "code"))
    theirs = "\n".join(cells(ROOT / "nbs" / "6_judging_the_judges" / "64_summeval.ipynb", "code"))
    for proof in (
        "assert first > 0.2 and mended < 0.05",
        "assert abs(wrong - 0.3158) < 1e-3",
        ".mean() - 0.25767) < 1e-5",
        "assert np.isclose(np.mean(results), (",
        "assert curve[-1][1] > 0.2 and curve[0][1] < 0.51",
    ):
        assert proof in ours and proof in theirs, proof

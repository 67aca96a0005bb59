"""The exercises of the book: three a chapter, sealed, solved, and a checker that neither tells nor is fooled."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb.teaching import check_exercise, common_slip, hash_answers, my_progress

nbformat = Late("nbformat")
pd = Late("pandas")

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("nbs/[1-9]_*/*.ipynb"))
CHAPTERS = [path for path in PAGES if "default_exp" in path.read_text("utf-8")]  # lessons export nothing
SEALS = ROOT / "summeval_nb" / "assets" / "exercises"
CALL = re.compile(r'check_exercise\("(\w+/\d+)", answer\)')


def code(path: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_has_three_exercises_with_seals_and_solutions(path):
    expected = [f"{path.stem}/{number}" for number in (1, 2, 3)]
    asked = [source for source in code(path) if CALL.search(source)]
    assert [CALL.search(source)[1] for source in asked] == expected
    for source in asked:
        assert re.search(r"^answer = \.\.\.", source, re.M), f"an exercise starts unanswered:\n{source}"
    prose = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    assert re.findall(r"^### Exercise (\d): \S", prose, re.M) == ["1", "2", "3"]
    part = path.parent.name.partition("_")[2]
    assert f"solutions/{part}.ipynb#{path.stem.replace('_', '-')})" in prose, "no link to the solutions"

    solved = "\n".join(code(ROOT / "nbs" / "solutions" / f"{part}.ipynb"))
    assert re.findall(rf'assert check_exercise\("({path.stem}/\d+)", answer\)', solved) == expected
    assert re.search(rf'common_slip\(\s*"{path.stem}/', solved), "name at least one usual slip"
    assert sorted(json.loads((SEALS / f"{path.stem}.json").read_text(encoding="utf-8"))) == ["1", "2", "3"]


@pytest.fixture
def sealed(tmp_path, monkeypatch):
    """Seal some answers, and let the package read them; returns the function that does it."""

    def seal(answers: dict, slips: dict | None = None) -> None:
        folder = tmp_path / "assets" / "exercises"
        with hash_answers(folder):
            for number, answer in answers.items():
                assert check_exercise(f"test/{number}", answer)
            for number, (answer, sentence) in (slips or {}).items():
                common_slip(f"test/{number}", answer, sentence)
        monkeypatch.setattr("summeval_nb.teaching.exercises.resources.files", lambda package: tmp_path)

    return seal


def test_what_counts_as_the_same_answer(sealed):
    cases = [
        (2 / 3, [0.6667, np.float32(2 / 3), np.float64(0.66671)], [0.667, 0.6668, "0.6667", [0.6667], None]),
        (True, [np.bool_(True)], [1, 1.0, "True", False]),
        ("Two  Words", ["two words", " TWO\nWORDS "], ["twowords", "two-words", ["two words"]]),
        ("café", ["cafe\u0301"], ["cafe"]),
        ([1, 2.5], [(1, 2.5), np.array([1, 2.5]), pd.Series([1.0, 2.5])], [[2.5, 1], {1, 2.5}, [1, 2.5, 0], [[1]]]),
        ({"b", "a"}, [frozenset("AB")], [["a", "b"], "ab", {"a"}]),
        ({"x": 1, "y": None}, [{"Y": None, "x": 1.0}], [{"x": 1}, {"x": None, "y": 1}, [1, None]]),
        (None, [], [0, "", False, "None", []]),
    ]  # fmt: skip
    for answer, same, different in cases:
        sealed({1: answer})
        assert [attempt for attempt in [answer, *same] if not check_exercise("test/1", attempt)] == []
        assert [attempt for attempt in different if check_exercise("test/1", attempt)] == []


def test_the_message_names_the_kind_and_never_the_answer(sealed):
    sealed({1: 0.4321, 2: "hypothesis"}, {1: (0.1234, "swap <b>them</b>")})
    assert check_exercise("test/1", "x").message == "not yet: you gave a text, and this exercise wants a number"
    assert check_exercise("test/1", 0.1235).message == check_exercise("test/1", 7).message == "not yet"
    assert "yours is rounded" in check_exercise("test/1", 0.432).message
    slip = check_exercise("test/1", 0.1234)
    assert slip.outcome == "slip" and "swap" in slip.message and "<b>" not in slip._repr_html_()
    said = " ".join(str(check_exercise(f"test/{n}", wrong)) for n in (1, 2) for wrong in (..., 0, "no", None, [1]))
    assert "0.4321" not in said and "hypothesis" not in said


HINTS = [  # an answer, a wrong one, what is said
    ([1, 2], [1, "2"], "you gave a list of numbers and texts, and this exercise wants a list of numbers"),
    ([["a"]], ["a", [True]], "you gave a list of lists of True or False and texts, and this exercise wants a list of"),
    ([1.5, {"x": [1 / 3]}], [1.5, {"x": [0.333]}], "yours is rounded"),
    ([0.25, 1 / 3], [0.25, 0.333], "the first number is right; the second number is rounded"),
    (list(range(12)), [0, *range(12, 22), 11], "the first and 12th numbers are right"),
    (0.42, 42, "a share between 0 and 1"),
    ({"x": -1.5}, {"x": 1.5}, "only the sign"),
    (0.3, 0.7, "add up to 1"),
    (["a", "b", "c"], ["c", "a", "b"], "their order is not"),
    (2, 10**400, "too large"),
]


def test_kinds_inside_and_rounding_are_named(sealed):
    """A hint is given where it is true."""
    for answer, wrong, named in HINTS:
        sealed({1: answer})
        message = check_exercise("test/1", wrong).message
        assert named in message and "(" not in message


def saved(path: Path, *cells: tuple[str, str]) -> None:
    """Write a notebook with code cells and what each printed."""
    made = []
    for source, text in cells:
        shown = [nbformat.v4.new_output("execute_result", {"text/plain": text})] if text else []
        made.append(nbformat.v4.new_code_cell(source, outputs=shown))
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)


def test_progress_is_read_from_saved_notebooks(tmp_path, monkeypatch):
    asked = 'answer = 1\ncheck_exercise("{}", answer)'.format
    saved(tmp_path / "2_counting" / "24_bleu.ipynb",
          (asked("24_bleu/1"), "✗ 24_bleu/1: not yet"), (asked("24_bleu/2"), "✓ 24_bleu/2: right"),
          (asked("24_bleu/3"), "… 24_bleu/3: not answered yet: put your answer in the place of ..."),
          ('check_exercise("24_bleu/9", shown)', "✓ 24_bleu/9: right"))  # fmt: skip
    saved(tmp_path / "22_rouge.ipynb", (asked("22_rouge/1"), ""), ("1 + 1", "2"))
    saved(tmp_path / "solutions" / "22_rouge.ipynb", (asked("22_rouge/1"), "✓ 22_rouge/1: right"))
    saved(tmp_path / ".ipynb_checkpoints" / "22_rouge.ipynb", (asked("22_rouge/1"), "✓ 22_rouge/1: right"))
    (tmp_path / "<b>.ipynb").write_text("[1]")
    before = sorted(tmp_path.rglob("*"))
    found = my_progress(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before, "reading writes nothing"
    states = {"24_bleu/1": "not yet", "24_bleu/2": "right", "24_bleu/3": "not tried", "22_rouge/1": "not tried"}
    assert found.to_dict() == states and found.unread == ("<b>.ipynb",)
    assert found.summary() == "1 of 4 exercises right, 1 not yet, 2 not tried; not read: <b>.ipynb"
    assert "24_bleu   ✗ ✓ ·" in repr(found) and "<b>" not in found._repr_html_()
    folds = re.findall(r"<details([^>]*)>.*?<summary[^>]*>(.*?)</summary>(.*?)</details>", found._repr_html_())
    assert [(title, "24_bleu" in page, "22_rouge" in page) for _, title, page in folds] == [
        ("2 · Counting: 1 of 4 right", True, True)
    ]
    assert " open" in folds[0][0], "a part on which one works is open"

    saved(tmp_path / "index.ipynb")
    (tmp_path / "glossary.md").touch()
    for here in (tmp_path / "2_counting", tmp_path):
        monkeypatch.chdir(here)
        assert my_progress().states == states


@pytest.mark.parametrize("content", ["[" * 20_000, '{"cells": 5}'])
def test_progress_in_hostile_notebooks(content, tmp_path):
    saved(tmp_path / "good.ipynb", ('check_exercise("24_bleu/1", answer)', "✓ 24_bleu/1: right"))
    (tmp_path / "\x1b[2J\u202e<b>.ipynb").write_text(content)
    os.mkfifo(tmp_path / "pipe.ipynb")
    found = my_progress(tmp_path)
    assert found.to_dict() == {"24_bleu/1": "right"} and len(found.unread) == 1
    for shown in (repr(found), found.summary(), found._repr_html_()):
        assert not {"\x1b", "\u202e"} & set(shown)
    assert "<b>" not in found._repr_html_()


def test_progress_without_a_book_says_what_to_give_and_an_unknown_exercise_names_the_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in (None, tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ValueError, match="give the (folder|one)"):
            my_progress(folder)
    for name in ("", "24_bleu", "24_bleu/", "/1", "../x/1", "24_bleu/99", "nowhere/1", 7):
        with pytest.raises(ValueError, match=r"known|named chapter/number"):
            check_exercise(name, 1)


def test_a_slip_must_be_sealed_and_have_an_answer(sealed, tmp_path):
    sealed({1: 3}, {1: (2, "count again")})
    assert common_slip("test/1", 2, "count again").outcome == "slip"
    for answer, sentence in ((2, "another sentence"), (3, "count again"), (4, "count again")):
        with pytest.raises(ValueError, match="seal the chapter again"):
            common_slip("test/1", answer, sentence)
    with pytest.raises(ValueError, match="a slip but no answer: test/2"), hash_answers(tmp_path / "other"):
        common_slip("test/2", 2, "count again")
    assert not (tmp_path / "other").exists()
    assert check_exercise("test/1", 3), "sealing that failed must leave the checker as it was"

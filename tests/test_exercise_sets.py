"""Own exercises for every student: no two sets alike, slips told apart, and a class's hand-ins graded."""

import csv
import json
import math
import os
import random
from itertools import combinations

import pytest

from summeval_nb.cli import main
from summeval_nb.teaching import exercise_set, grade
from summeval_nb.teaching.exercise_sets import SLIPS, TASKS, draw_task

SEEDS = [str(1_000_000 + 37 * place) for place in range(200)]


def drawn(seed: str) -> dict:
    """The tasks of a student with their answers, which the student's own object does not have."""
    return {name: draw_task(seed, name) for name in TASKS}


def as_written(value: float, decimals: int) -> float:
    """A value as people round it: five up."""
    return math.copysign(math.floor(abs(value) * 10**decimals + 0.5) / 10**decimals, value)


@pytest.fixture(scope="module")
def sets():
    return {seed: drawn(seed) for seed in SEEDS}


def test_no_two_of_200_students_have_one_set(sets):
    answers = [tuple(round(task.answer, task.decimals) for task in tasks.values()) for tasks in sets.values()]
    assert len(set(answers)) == 200
    same = [sum(a == b for a, b in zip(*pair, strict=True)) for pair in combinations(answers, 2)]
    assert sum(same) / len(same) < 0.75, "two students share less than one answer of eight, on average"
    for name in TASKS:
        shown = {tuple(tasks[name].lines) for tasks in sets.values()}
        assert len(shown) >= 199, name
        assert len({round(tasks[name].answer, tasks[name].decimals) for tasks in sets.values()}) >= 10, name


def test_every_slip_is_recognised_in_99_of_100(sets):
    """Exactly, and rounded as asked; what is right is never called a slip, and no slip is called right."""
    told, missed = 0, []
    for seed, tasks in sets.items():
        mine = exercise_set(seed)
        for name, task in tasks.items():
            assert mine._judge(name, task.answer).outcome == "right", (seed, name)
            assert mine._judge(name, as_written(task.answer, task.decimals)).outcome == "right", (seed, name)
            for slip, value, decimals in task.values()[1:]:
                found = mine._judge(name, as_written(value, decimals))
                assert found.outcome != "right", (seed, name, slip)
                told += 1
                if (found.slip, found.message) != (slip, f"not yet: {SLIPS[slip]}"):
                    missed.append((seed, name, slip))
    print(f"{len(missed)} of {told} slips were not recognised")
    assert told > 200 * 8 * 3 and len(missed) <= told / 100, missed[:5]


def test_a_seed_draws_the_same_on_every_machine():
    assert exercise_set("4711").fingerprint == "f6f47ad7bdd84f1a"
    assert exercise_set(4711).student == exercise_set(" 4711 ").student == "4711"
    assert exercise_set("04711").fingerprint != exercise_set("4711").fingerprint


def test_the_answers_stand_in_no_object():
    mine, tasks = exercise_set("4711"), drawn("4711")
    for name, task in tasks.items():
        held = {**mine.tasks[name]._asdict(), "lines": []}  # in which one can read what is asked
        assert "." not in json.dumps(held), "no number at all"
        values = {as_written(value, decimals) for _, value, decimals in task.values()}
        assert len(values) == len(mine.tasks[name].slips) + 1
    assert vars(mine).keys() == {"student", "tasks", "answers"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (..., "not answered yet"),
        ("0.5", "a finite number is asked for"),
        (True, "a finite number is asked for"),
        (10**400, "a finite number is asked for"),
        (1e300, "not yet"),
    ],
)
def test_what_is_said_to_an_odd_value(value, said):
    mine = exercise_set("4711")
    assert mine.check("recall", value).message.endswith(said)
    assert set(mine.answers) == ({"recall"} if value == 1e300 else set())


@pytest.mark.parametrize("seed", ["", "  ", "x" * 101, "a\x1b[2J", "\u202e7", 1.5, None, True, b"7"])
def test_what_is_no_student_number_is_refused(seed):
    with pytest.raises((TypeError, ValueError), match="a student number"):
        exercise_set(seed)


def hand_in(folder, student, answers, /, **changed):
    """Write a hand-in as `hand_in` does, with some of its entries changed; return its path."""
    mine = exercise_set(student)
    for task, value in answers.items():
        mine.check(task, value)
    path = mine.hand_in(folder / f"{student.strip('=+@ ')}.json")
    if changed:
        path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    return path


def test_a_class_of_thirty_is_graded_right(tmp_path):
    """Ten have all right, fifteen make slips drawn by lot or leave tasks out, and five files are broken."""
    chance, expected = random.Random(5), {}
    for place in range(30):
        student, answers, outcomes = f"s{place:02}", {}, {}
        for name, task in drawn(student).items():
            slip, value, decimals = ("right", task.answer, task.decimals)
            if 10 <= place < 25:
                slip, value, decimals = chance.choice(task.values())
            if 20 <= place < 25 and chance.random() < 0.3:
                outcomes[name] = ("not answered yet", "")
                continue
            answers[name] = as_written(value, decimals)
            outcomes[name] = ("right", "") if slip == "right" else ("slip", slip)
        path = hand_in(tmp_path, student, answers)
        expected[student] = outcomes
        if place >= 25:
            path.write_text(["", "{", "[1]", '{"answers": 3}', "\x00"][place - 25])
    grades = grade(tmp_path)
    found: dict = {}
    for row in grades.rows():
        found.setdefault(row["student"], {})[row["task"]] = (row["outcome"], row["slip"])
    assert {student: found[student] for student in list(expected)[:25]} == dict(list(expected.items())[:25])
    assert len(grades.failed) == len(grades.hand_ins) - 25 == 5
    slips = {slip for outcomes in list(expected.values())[:25] for _, slip in outcomes.values() if slip}
    assert len(slips) > 20, "nearly every slip is among them"
    for row in grades.students()[:25]:
        right = sum(outcome == "right" for outcome, _ in expected[row["student"]].values())
        assert row["points"] == sum(row[task] for task in TASKS) == right and row["of"] == 8 and not row["reason"]


def test_what_is_no_hand_in_has_a_reason_and_no_points(tmp_path):
    right = {name: task.answer for name, task in drawn("good").items()}
    hand_in(tmp_path, "good", right)
    (tmp_path / "sub").mkdir()
    hand_in(tmp_path / "sub", "version", right, exercise_set="0" * 16, version="99\x1b<b>")
    hand_in(tmp_path, "twice", {})
    (tmp_path / "sub" / "again.JSON").write_bytes((tmp_path / "twice.json").read_bytes())
    hand_in(tmp_path, "other", right, student="of_another")
    hand_in(tmp_path, "number", right, student=None)
    hand_in(tmp_path, "long", right, student="x" * 1000)
    hand_in(tmp_path, "large", right, more="x" * 70_000)
    hand_in(tmp_path, "list", right, answers=[1, 2])
    (tmp_path / "deep.json").write_text("[" * 50_000)
    (tmp_path / "digits.json").write_text("1" * 10_000)
    (tmp_path / "utf16.json").write_bytes("{}".encode("utf-16"))
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "good.json")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "._good.json").write_text("of a Mac, and no hand-in")
    grades = grade(tmp_path)
    reasons = {row["file"]: row["reason"] for row in grades.students()}
    assert reasons.pop("good.json") == "" and all(reasons.values()) and len(reasons) == 14
    assert {row["points"] for row in grades.students() if row["reason"]} == {None}
    assert "not the tasks that this version draws" in reasons["sub/version.json"]
    assert "not the tasks that this version draws" in reasons["other.json"], "the answers of another student"
    assert "another hand-in of this student" in reasons["twice.json"] == reasons["sub/again.JSON"]
    assert reasons["large.json"] == "larger than 64 kB" and reasons["link.json"] == "no ordinary file"
    for shown in (repr(grades), grades._repr_html_(), grades.to_csv()):
        assert "\x1b" not in shown
    assert "<b>" not in grades._repr_html_()


def test_a_spreadsheet_runs_no_cell_of_the_table(tmp_path):
    for student in ("=1+1", "+7", "@x", "plain"):
        hand_in(tmp_path, student, {})
    rows = list(csv.DictReader(grade(tmp_path).to_csv().splitlines()))
    assert {row["student"] for row in rows} == {"'=1+1", "'+7", "'@x", "plain"}
    assert not [cell for row in rows for cell in row.values() if cell[:1] in tuple("=+-@\t\r")]


def test_a_folder_without_hand_ins_is_named(tmp_path):
    for folder, said in ((tmp_path / "nowhere", "no folder"), (tmp_path, "no hand-ins")):
        with pytest.raises(ValueError, match=said):
            grade(folder)


def summeval(capsys, *words):
    """Run a command; return its exit code and what it printed."""
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return left.value.code, *capsys.readouterr()


def test_the_command_writes_a_table_for_the_platform(tmp_path, capsys):
    hand_ins, table = tmp_path / "hand_ins", tmp_path / "grades.csv"
    hand_ins.mkdir()
    hand_in(hand_ins, "7", {name: task.answer for name, task in drawn("7").items()})
    for _ in range(2):  # a table of ours may be written anew
        code, out, err = summeval(capsys, "grade", hand_ins, "-o", table)
        assert code == 0 and "faithfulness" in out and "written to" in err
        (row,) = csv.DictReader(table.read_text().splitlines())
        assert (row["student"], row["points"], row["of"], row["feedback"]) == ("7", "8", "8", "")
    (hand_ins / "broken.json").write_text("{")
    code, out, err = summeval(capsys, "grade", hand_ins, "--json")
    assert code == 3 and "1 of 2 hand-ins could not be graded" in err
    assert [one["points"] for one in json.loads(out)["students"]] == [8, None]
    code, _, err = summeval(capsys, "grade", hand_ins, "-o", hand_ins / "7.json")
    assert code == 2 and "holds no grades" in err

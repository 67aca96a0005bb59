"""Side by side: both orders, what a judge measures, rankings by hand, rubrics, runs, the shell, a model."""

import json

import pytest
from helpers.late import Late
from typer.testing import CliRunner

import summeval_nb as s
from summeval_nb import cli
from summeval_nb.models.base import Choice

pd = Late("pandas")


class Believes(s.ScriptedBackend):
    """A backend whose chances are a function of the two answers as they are shown."""

    def __init__(self, belief):
        super().__init__(lambda prompt: "", name="believes")
        self.belief, self.asked = belief, []

    def _choose(self, prompt, options):
        self.asked.append(prompt)
        shown = prompt.partition("Answer A: ")[2].partition("\n\nReply")[0]
        first, _, second = shown.partition("\n\nAnswer B: ")
        chances = dict(zip(options, self.belief(json.loads(first), json.loads(second)), strict=True))
        return Choice(max(chances, key=chances.get), chances, 0.8)


def longer(first, second):
    if len(first) == len(second):
        return 0.1, 0.1, 0.8
    return (0.8, 0.1, 0.1) if len(first) > len(second) else (0.1, 0.8, 0.1)


FIRST = Believes(lambda first, second: (0.9, 0.05, 0.05))
LONGER = Believes(longer)


def down(prompt):
    raise s.models.BackendUnavailable("no answer within 60 s")


def test_a_judge_that_sees_only_the_place_decides_nothing_a_swap_swaps_and_a_store_keeps_both(tmp_path):
    backend = Believes(longer)
    for _ in range(2):
        s.compare_answers("Why?", "x", "longer", judge=backend, store=tmp_path / "kept.sqlite")
    assert len(backend.asked) == 2
    found = s.compare_answers("Why?", "x", "longer", judge=FIRST)
    assert (found.winner, found.consistent, found.score) == ("tie", False, 0.5) and found.lean == pytest.approx(0.85)
    assert [one.winner for one in found.orders] == ["a", "b"] and found.orders[0].probability_mass == 0.8
    one, two = (s.compare_answers("Why?", *pair, judge=LONGER) for pair in (("x", "longer"), ("longer", "x")))
    assert (one.winner, two.winner) == ("b", "a") and one.score == pytest.approx(1 - two.score) and one.consistent


def test_a_failed_call_is_no_verdict_and_is_counted():
    metric = s.load_metric("side_by_side", judge=s.ScriptedBackend(down))
    table = metric.score_many(["q", "q"], ["x", ""], ["y", "y"], ["", ""])
    assert [outcome.status for outcome in table.outcomes()] == ["failed", "undefined"]
    assert table[0].reason == "no answer within 60 s" and table[1].reason == "answer a is empty"


def test_rates_of_a_table_by_hand():
    rows = [{"question": "q", "a": a, "b": b} for a, b in (("xx", "y"), ("x", "yy"), ("x", "yy"), ("x", "y"))]
    found = s.judged.compare_answers_many(rows, judge=LONGER, progress=False)
    rates = {row["measure"]: (row["value"], row["n"]) for row in found.summary()}
    assert rates["a wins"] == (0.25, 4) and rates["b wins"] == (0.5, 4) and rates["ties"] == (0.25, 4)
    assert rates["orders disagree"] == (0, 4) and rates["first shown wins"] == (0.5, 6)
    assert rates["preference for a"][0] == pytest.approx((0.85 + 0.15 + 0.15 + 0.5) / 4)
    assert "a wins" in repr(found) and "<table>" in found._repr_html_()


def test_votes_are_counted_and_ties_halved_and_a_ranking_has_intervals_or_no_maximum():
    found = s.judged.bradley_terry([("x", "y", "x"), ("y", "x", "tie"), ("x", "z", "z", "unit")])
    assert found.wins["x", "y"] == 1.5 and found.wins["y", "x"] == 0.5 and found.wins["z", "x"] == 1
    votes = [("x", "y", "x"), ("x", "y", "y"), ("x", "y", "x"), ("y", "z", "y"), ("y", "z", "z")] * 20
    many = s.judged.bradley_terry(votes)
    assert many.systems[0] == "x" and many.rank("x") == 1
    assert all(many.intervals[name][0] <= many.strengths[name] <= many.intervals[name][1] for name in many.systems)
    assert many.to_dict() == s.judged.bradley_terry(votes).to_dict()
    json.dumps(many.to_dict(), allow_nan=False)
    sure = s.judged.bradley_terry([("x", "y", "x")] * 3, prior=0)
    assert sure.strengths == {"x": None, "y": None} and "not finite" in sure.reason and sure.rank("x") is None
    assert "not finite" in repr(sure) and sure.systems == ("x", "y")
    assert s.judged.bradley_terry([("x", "y", "x")], n_resamples=0).intervals["x"] is None


def test_systems_are_ranked_question_by_question():
    sizes = {"short": 1, "long": 9, "middle": 4}
    row = lambda n, name: {"question": f"q{n}", "system": name, "answer": "x" * sizes[name]}
    rows = [row(n, name) for n in range(4) for name in sizes]
    found = s.judged.rank_systems(rows, judge=Believes(longer), progress=False)
    assert found.systems == ("long", "middle", "short") and len(found.comparisons) == 12
    assert found.wins["long", "short"] == 4 and [row["rank"] for row in found.rows()][0] == 1
    with pytest.raises(ValueError, match="no comparison has a winner: there is no true answer"):
        s.judged.rank_systems(rows, progress=False)


def polite(**rest):
    usual = {"rubric": "Is it polite?", "judge": s.ScriptedBackend(lambda prompt: "4")}
    return s.load_metric("rubric", **(usual | rest))


def test_a_failed_call_and_an_empty_answer_have_no_grade():
    table = polite(judge=s.ScriptedBackend(down)).score_many(["", ""], ["x", " "])
    assert [outcome.status for outcome in table.outcomes()] == ["failed", "undefined"]
    assert table[1].reason == "the answer is empty"


def shell(*arguments):
    found = CliRunner().invoke(cli.app, ["compare", *map(str, arguments)])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_the_shell(tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    row = {"question": "How?", "ground_truth": "It rained."}
    pairs.write_text(json.dumps(row | {"a": "It rained.", "b": "It snowed."}) + "\n")
    assert json.loads(shell(pairs, "--json", "-o", "margin=0.1"))["rows"][0]["winner"] == "a"
    shell(pairs, "--html", tmp_path / "page.html")
    assert (tmp_path / "page.html").is_file()

"""Rows of tables: what an article says of each cell, in summaries and in answers."""

from helpers.cases import cases
from helpers.patience import comes_back

from summeval_nb import evaluate, evaluate_answer
from summeval_nb.evidence.rows import cells_said, rows_say
from summeval_nb.text.markdown import Row


def table(*rows):
    head, *body = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


def states(article, text):
    return [verdict.state for verdict in evaluate(article, text).verdicts if verdict.judged]


def test_true_rows_are_supported_and_exchanged_ones_are_not():
    for article, name, value, other, theirs in cases("""
Adults and students pay 14 and 9 dollars. | Adults | 14 dollars | Students | 9 dollars
Mount Arden is 2,310 metres high and Mount Belk 1,870 metres. | Mount Arden | 2,310 metres | Mount Belk | 1,870 metres
Otto Renn composed the ballet. The opera was composed by Ivo Marsh. | ballet | Otto Renn | opera | Ivo Marsh
The shop's lease ends on 3 March 2027. The barn's ends on 15 May 2028. | shop | March 3, 2027 | barn | May 15, 2028
Turnout was 61 percent in Norfield and 48 percent in Westbrook. | Norfield | 61% | Westbrook | 48%
Vitamin C is found in oranges. Vitamin A is found in carrots. | C | oranges | A | carrots
"""):
        assert states(article, table(["what", "value"], [name, value], [other, theirs])) == ["supported"] * 2
        assert "supported" not in states(article, table(["what", "value"], [name, theirs], [other, value]))


def test_a_contradicted_cell_is_placed_in_its_row():
    text = table(["name", "age", "city"], ["Mara", "**29**", "Bergen"], ["Tove", "29", "Oslo"], ["Ida", "34", "Rome"])
    report = evaluate("Mara is 34 and lives in Bergen. Tove is 29 and lives in Oslo.", text)
    judged = [(s, v) for s, v in zip(report.sentences, report.verdicts, strict=True) if v.judged]
    assert [verdict.state for _, verdict in judged] == ["contradicted", "supported", "unclear"]
    sentence, (found,) = judged[0][0], judged[0][1].findings
    assert found.text == "29" == text[found.start : found.end]
    assert sentence.start <= found.start < found.end <= sentence.end
    assert text[sentence.start : sentence.end] == sentence.text
    assert "read as “Tove is 29" in judged[1][1].details["note"]
    text = table(["shop", "hours"], ["bakery", "Opens at 8 a.m. Closes at 6 p.m."])
    report = evaluate("The bakery opens at 8 a.m. and closes at 6 p.m.", text)
    assert sum(verdict.judged for verdict in report.verdicts) == 1, "a row is never split"


def test_a_row_is_not_said_by_doubt_and_says_no_more_than_its_cells():
    for article, row in cases("""
The blue key does not open the cellar. | blue, the cellar
If it rains, tea costs 5 euros. | tea, 5 euros
Tea costs 5 euros and coffee 3 euros. | tea, 3 euros
Tea is cheap and coffee costs 3 euros. | tea, 3 euros
Gold costs 60 euros. | platinum, 60 euros
"""):
        assert "supported" not in states(article, table(["what", "value"], row.split(", ")))
    rows = [Row(("drink", "price"), (("tea", "5 euros"),), 0)]
    assert rows_say(rows, "Tea costs 5 euros in Leeds.") is None
    assert rows_say(rows, "Tea costs 7 euros.") is False
    either = Row(("Winner", "Loser"), (("Linton", "Harrow"),), 0)  # of two parties, one or the other
    assert cells_said(either, ["Harrow beat Linton."])[0].said is None


def test_a_table_may_be_the_answer_or_the_truth():
    for first, second, right in [("110 km/h", "70 km/h", True), ("70 km/h", "110 km/h", False)]:
        told = "A cheetah can run at 110 km/h. A greyhound can run at 70 km/h."
        made = table(["Animal", "Top speed"], ["Cheetah", first], ["Greyhound", second])
        for answer, truth in ((made, told), (told, made)):
            report = evaluate_answer(told, "How fast can they run?", answer, truth)
            assert str(report).startswith("right") is right


def test_long_tables_are_read_in_linear_time():
    rows = tuple((f"name{i}", f"{i} euros") for i in range(300))
    told = [f"name{i} costs {i} euros." for i in range(300)]
    with comes_back():
        assert all(cells_said(Row(("name", "price"), rows, i), told)[0].said for i in range(300))

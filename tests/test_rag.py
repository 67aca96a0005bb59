"""One call for a RAG table: names of columns, missing cells, lists in cells, separators, in Python, shell and runs."""

import json
from itertools import product

import numpy as np
import pytest
from helpers.late import Late
from test_retrieval import ROW, Letters, row

from summeval_nb import cli, evaluate_answers, evaluate_rag, load_metric, run
from summeval_nb.core import files
from summeval_nb.core.files import COLUMN_NAMES, find_column, nearest_column
from summeval_nb.judged.rag import MEASURES

pd = Late("pandas")

QUIET = {"judge": Letters(), "progress": False}


def renamed(given=None, /, **names):
    return {names.get(name, name): value for name, value in (given or row(["a", "x"], answer="a b")).items()}


RAGAS = {"question": "user_input", "contexts": "retrieved_contexts", "answer": "response", "ground_truth": "reference"}


def test_every_known_name_is_found_and_a_table_scores_the_same_under_each():
    for name, column in [(one, column) for one, known in COLUMN_NAMES.items() for column in known]:
        assert find_column(name, ["id", column]) == column == find_column(name, ["id", column.upper()]).lower()
        assert nearest_column(name, [column[:-1]]) == column[:-1] and find_column(name, ["id"]) is None
    assert find_column("contexts", ["article", "summary"]) == "article"
    wanted = evaluate_rag([renamed()], **QUIET).rows()
    for name, column in [(one, column) for one in RAGAS for column in COLUMN_NAMES[one]]:
        found = evaluate_rag([renamed(**{name: column})], **QUIET)
        assert found.rows() == wanted and not found[0].left_out, column


def test_two_names_of_one_thing_are_both_named():
    rows = [renamed() | {"response": "x"}]
    with pytest.raises(ValueError, match="'answer' and 'response' can both be the column answer"):
        evaluate_rag(rows, **QUIET)
    found = evaluate_rag(rows, columns={"answer": "answer"}, **QUIET)
    assert found.rows() == evaluate_rag([renamed()], **QUIET).rows()
    assert evaluate_rag(rows, ["context_recall"], **QUIET).mean() == 0.5  # it reads no answer


def test_an_unknown_name_gets_a_suggestion_or_a_mapping():
    rows = [renamed(answer="anwser")]
    with pytest.raises(ValueError, match=r"did you mean 'anwser'\? say so with columns={'answer': 'anwser'}"):
        evaluate_rag(rows, ["answer_relevancy"], **QUIET)
    assert "did you mean 'anwser'?" in evaluate_rag(rows, **QUIET)[0].left_out["answer_relevancy"]
    found = evaluate_rag(rows, columns={"answer": "anwser"}, **QUIET)
    assert found.rows() == evaluate_rag([renamed()], **QUIET).rows()
    for table, columns, said in (
        (rows, {"answers": "anwser"}, "unknown column 'answers'"),
        (rows, {"answer": "reply"}, "there is no 'reply'; there is: question"),
        (pd.DataFrame({"question;answer": ["q;a"]}), None, "read the file with sep=';'"),
        ([{"question": "q", "anwser": "a"}], None, "no column answer, did you mean 'anwser'"),  # nothing to measure
    ):
        with pytest.raises(ValueError, match=said):
            evaluate_rag(table, columns=columns, **QUIET)


def test_two_columns_give_relevancy_and_a_flag():
    answers = "The bridge opened in 1931.", "I cannot answer this question."
    rows = [{"query": "When did it open?", "prediction": answer} for answer in answers]
    found = evaluate_rag(rows, progress=False)
    assert list(found.arrays()) == ["answer_relevancy", "answer_refused"] and found[1].refused["answer_refused"].value
    assert [line["measure"] for line in found.summary()] == list(found.arrays())
    assert repr(found).count("left out:") == 1 and "no column contexts" in repr(found)
    assert found._repr_html_().count("no column ground_truth") == 1 and not any(found.reasons())


def test_a_missing_cell_is_none_with_its_reason_and_an_empty_search_is_none():
    good = renamed()
    for cell, name in product((None, float("nan"), pd.NA, " "), ("contexts", "answer", "ground_truth")):
        assert files.is_missing(cell)
        whole, found = evaluate_rag([good, good | {name: cell}], **QUIET).rows()
        assert [n for n, value in whole.items() if value is None] == ["answer_relevancy"]  # of single letters
        kinds = [n for n in MEASURES if n != "answer_relevancy"]
        assert {n for n in kinds if found[n] is None} == {n for n in kinds if name in MEASURES[n].columns}
        assert "is empty: " in found["reason"]
    found = evaluate_rag([row(["a"]), row([])], **QUIET).rows()[1]
    assert found["context_recall"] == found["answer_faithfulness"] == 0 and found["context_precision"] is None


def test_each_measure_is_the_one_of_its_own_metric_and_correctness_that_of_evaluate_answers():
    told = [
        ("When did it open?", "In 1931.", "It opened in 1931."),
        ("When did it open?", "It opened in 1932. It is red.", "It opened in 1931."),
        ("Who won?", "Derby", "Derby won the cup."),
        ("Who won?", "I do not know.", "Derby won the cup."),
        ("Who won?", "", "Derby won the cup."),
    ]
    rows = [{"question": q, "answer": a, "ground_truth": t, "context": ["Derby won."]} for q, a, t in told]
    wanted = [report.correctness.f1 for report in evaluate_answers(rows, progress=False)]
    found = evaluate_rag(rows, progress=False)
    assert [own["answer_correctness"] for own in found.rows()] == wanted and wanted[0] == 1 and wanted[3:] == [None] * 2
    found = evaluate_rag([ROW], progress=False)
    for name, score in found[0].scores.items():
        metric = load_metric(name)
        assert score.score == metric.score(*(ROW[column] for column in metric.columns)).score


def test_rows_with_failed_calls_are_counted():
    rows = [row(["a"]), row(["a"], ground_truth="a b? c?"), row(["a"], ground_truth="~")]
    found = evaluate_rag(rows, **QUIET)
    lines = {line["measure"]: line for line in found.summary()}
    assert lines["context_recall"]["failed"] == 2 and lines["truth_refused"]["failed"] == 1
    assert "2 rows with a failed call of the judge" in repr(found) and found.n_failed > 2
    assert found.outcomes()[0].status == "ok" and found.outcomes()[2].parts["n_failed"]


def test_one_truth_may_stand_in_a_list():
    for truth in (["a b"], "['a b']", '["a b"]', np.array(["a b"])):
        assert files.require_truth(truth, "ground_truth") == "a b"
        found = evaluate_rag([renamed(ground_truth="ground_truths") | {"ground_truths": truth}], **QUIET)
        assert found.rows() == evaluate_rag([renamed()], **QUIET).rows()
    for several in (["a", "b"], "['a', 'b']", []):
        with pytest.raises(ValueError, match="row 0: ground_truth must be one true answer, not"):
            evaluate_rag([renamed() | {"ground_truth": several}], **QUIET)


def test_a_frame_and_its_csv_score_the_same(tmp_path):
    frame = pd.DataFrame([renamed(ROW, **RAGAS), renamed(ROW, **RAGAS) | {"response": None}])
    wanted = evaluate_rag(frame, progress=False).rows()
    for sep in ",;\t":
        frame.to_csv(tmp_path / "rows.csv", sep=sep, index=False)
        assert evaluate_rag(pd.read_csv(tmp_path / "rows.csv", sep=sep), progress=False).rows() == wanted
    frame["retrieved_contexts"] = ["['a', 'b"] * 2
    with pytest.raises(ValueError, match="row 0: contexts looks like the text of a list"):
        evaluate_rag(frame, progress=False)


def test_a_separator_is_seen_in_the_header(tmp_path):
    lines = [["question", '"a, b; c"'], ["q", '"x, y; z"']]
    for sep, ending, mark in product(",;\t", ("csv", "tsv"), ("", "\ufeff")):
        path = tmp_path / f"rows.{ending}"
        path.write_text(mark + "".join(sep.join(line) + "\n" for line in lines), encoding="utf-8")
        if ending == "csv" or sep == "\t":
            assert [json.loads(item.data) for item in files.open_items(path)] == [
                {"question": "q", "a, b; c": "x, y; z"}
            ]


def said(capsys, *words):
    with pytest.raises(SystemExit) as leaving:
        cli.main([str(word) for word in words])
    return leaving.value.code, capsys.readouterr()


def test_shell_and_run_say_what_python_says(tmp_path, capsys):
    rows = [renamed(ROW, **RAGAS), renamed(ROW, **RAGAS) | {"response": None}]
    rows += [renamed(ROW, **RAGAS) | {"retrieved_contexts": []}, {"user_input": "Who?", "response": "Me."}]
    wanted = evaluate_rag(rows, progress=False)
    table = tmp_path / "rows.jsonl"
    table.write_text("".join(json.dumps(own) + "\n" for own in rows))
    code, shown = said(capsys, "score", "rag", table, "--json")
    assert code == 0 and json.loads(shown.out) == json.loads(json.dumps(wanted.to_dict()))
    report = run(table, "rag", out=tmp_path / "run", workers=0, progress=False)
    lines = [json.loads(line) for line in report.path.read_text().splitlines()]
    assert [line["score"] for line in lines] == [None if np.isnan(own) else own for own in wanted.scores]
    table.write_text(json.dumps(renamed(answer="anwser")) + "\n")
    code, shown = said(capsys, "score", "rag", table)
    assert code == 0 and "did you mean 'anwser'? say so with --column answer=anwser\n" in shown.err
    for line, own in zip(lines, wanted.rows(), strict=True):
        assert all(line["parts"][name] == value for name, value in own.items() if name != "reason")


def test_a_shared_statement_is_judged_by_each_row_s_own_words():
    context = "Leeds won and Derby lost the match in 1931, when the new stadium opened."
    asked = {  # each answer is read as "Derby won the match."
        "Who won the match?": "Derby.",
        "What happened at the stadium?": "Derby won the match.",
        "Which match did Derby win?": "The match.",
    }
    rows = [{"question": question, "contexts": [context], "answer": answer} for question, answer in asked.items()]

    def judged(some):
        found = evaluate_rag(some, ["answer_faithfulness"], progress=False)
        assert all(len(one.scores["answer_faithfulness"].statements) == 1 for one in found)
        return [one.scores["answer_faithfulness"].statements[0].label for one in found]

    alone = [judged([row])[0] for row in rows]
    assert alone[0] == "neutral" and judged(rows) == alone and judged(rows[::-1]) == alone[::-1]

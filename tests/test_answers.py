"""Evaluating answers: arithmetic by hand, three premises, refusals, failures, tables; bulk equals row by row."""

import json
import math
import re

import pytest
from helpers.late import Late

from summeval_nb import evaluate_answer, evaluate_answers
from summeval_nb.core.data import sample_articles
from summeval_nb.core.files import table_records
from summeval_nb.core.results import Sentence, Signature
from summeval_nb.judged.answers import PAIRS, AnswerReport, Hypothesis, Inference, JudgedStatement
from summeval_nb.judged.correctness import correctness, hypothesis_score
from summeval_nb.judged.judging import Entailment, Flag, JudgeFailure, Resolution, Statement, as_statement
from summeval_nb.judged.session import Unit

pd = Late("pandas")

CONTEXT = ["The ferry has run since 1994. It carries 400 passengers.", "Tickets cost 9 euros for adults."]
QUESTION = "We are two adults with bicycles. What does the ferry cost?"
TRUTH = "Tickets cost 9 euros for adults. Bicycles travel free of charge."
ANSWER = "Adults pay 9 euros on the ferry. She takes bicycles free of charge."
YES, NO, DENIED = (Entailment(label=label) for label in ("entailed", "neutral", "contradicted"))
FAILED = Entailment(label=None, reason="time-out")


class AnswerKey:
    """A judge that has all answers from tables, remembers what it was asked, and fails where told to."""

    fingerprint = "answer-key-1"

    def __init__(self, split=None, entailed=(), contradicted=(), lost=(), refusals=(), resolved=None):
        self.split, self.resolved = split or {}, resolved or {}
        self.entailed, self.contradicted, self.lost, self.refusals = entailed, contradicted, lost, refusals
        self.asked = []

    def _note(self, *what):
        self.asked.append(what)
        if any(part in self.lost for part in what):
            raise JudgeFailure(what[0], "no reply")

    def resolve_pronouns(self, text, units=None):
        self._note("resolve", text)
        return Resolution(units=tuple(self.resolved.get(u, u) for u in units), note="from the key")

    def statements(self, hypothesis):
        self._note("statements", hypothesis)
        return [as_statement(s, hypothesis) for s in self.split.get(hypothesis, [hypothesis])]

    def entail(self, premise, statements):
        self._note("entail", premise, *statements)
        labels = dict.fromkeys(self.contradicted, "contradicted") | dict.fromkeys(self.entailed, "entailed")
        told = [labels.get(statement, "neutral") for statement in statements]
        return [Entailment(label=label, probability={"entailed": 0.9}.get(label, 0.1)) for label in told]

    def is_refusal(self, text):
        self._note("refusal", text)
        return Flag(value=text in self.refusals, probability=0.75)

    def keyphrases(self, text, n=10): ...
    def questions(self, text, keyphrases): ...
    def answer(self, text, questions): ...


def judged(key=None, answer=ANSWER, **options):
    return evaluate_answer(CONTEXT, QUESTION, TRUTH, answer, judge=key or AnswerKey(), **options)


def test_the_mean_of_means_by_hand():
    whole, other = "The plan passed, cost 5 million, was late and won praise.", "The mayor welcomed it on Monday."
    parts = ["It passed", "It cost 5 million", "It was late", "It won praise"]
    key = AnswerKey({whole: parts}, entailed=["It passed", other], contradicted=["It was late"])
    report = evaluate_answer("c", "What happened there?", "The plan passed on Monday.", f"{whole} {other}", judge=key)
    assert report.answer_given_context == (1 / 4 + 1) / 2 == report.answer_given_truth
    assert report.truth_given_answer == 0.0
    frame = report.to_frame()
    assert list(frame["label"][:5]) == ["entailed", "neutral", "contradicted", "neutral", "entailed"]
    assert list(frame["counts"][:5]) == [1, 0, 0, 0, 1] and frame["probability"][0] == 0.9
    means = frame.groupby(["pair", "hypothesis"])["counts"].mean().groupby("pair").mean()
    for name, inference in report.inferences.items():
        assert math.isclose(means[name], inference.score)


def test_each_pair_has_its_premise_its_hypotheses_and_its_pronouns_and_nothing_is_asked_twice():
    report = judged(key := AnswerKey())
    premises = {name: inference.premise for name, inference in report.inferences.items()}
    assert premises["answer_given_context"] == "\n\n".join(CONTEXT)
    assert (premises["answer_given_truth"], premises["truth_given_answer"]) == (TRUTH, ANSWER)
    said = [" ".join(one.unit.place.text for one in inference.hypotheses) for inference in report.inferences.values()]
    assert said == [ANSWER, ANSWER, TRUTH]
    assert {what[1] for what in key.asked if what[0] == "entail"} == set(premises.values())
    assert len(key.asked) == len(set(key.asked)) and sum(what[0] == "resolve" for what in key.asked) == 2
    she, ferry = "She takes bicycles free of charge.", "The ferry takes bicycles free of charge."
    report = judged(key := AnswerKey(resolved={she: ferry}))
    unit = report.inferences["answer_given_context"].hypotheses[1].unit
    assert ANSWER[unit.place.start : unit.place.end] == unit.place.text == she and unit.resolved == ferry
    assert report.inferences["truth_given_answer"].premise.endswith(ferry)
    assert ("statements", ferry) in key.asked and report.notes == ("from the key",)


def test_refusals_and_undecided_flags_make_scores_undefined():
    for refused, scored in (
        ((False, False), [True, True, True]),
        ((True, False), [False, False, False]),
        ((False, True), [True, False, False]),
        ((True, True), [False, False, False]),
    ):
        key = AnswerKey(refusals=[text for text, flag in zip((ANSWER, TRUTH), refused, strict=True) if flag])
        report = judged(key)
        assert (bool(report.answer_refused), bool(report.truth_refused)) == refused
        assert [inference.score is not None for inference in report.inferences.values()] == scored
        assert all("is a refusal" in reason for reason in report.reasons.values())
        assert report.answer_refused.probability == 0.75 and not judged(key, score_refusals=True).reasons
    judged(key, "One is here now. Two is here now. Three is here now. I cannot answer.")
    assert ("refusal", "One is here now. Two is here now. Three is here now.") in key.asked  # only the opening
    report = judged(AnswerKey(lost=[ANSWER]))
    assert report.answer_refused.value is None and set(report.reasons) == set(report.inferences)
    assert "undecided" in report.reasons["answer_given_context"] and "no reply" in report.answer_refused.reason
    assert "undecided (" in report._repr_html_()


def test_what_failed_is_left_out_counted_and_said():
    first, second = "Adults pay 9 euros on the ferry.", "She takes bicycles free of charge."
    report = judged(key := AnswerKey(entailed=[first, second], lost=[second]))
    inference = report.inferences["answer_given_context"]
    assert inference.score == 1.0 and inference.n_failed == 1 and report.n_failed >= 2
    assert any("no reply" in row["reason"] for row in report.rows())
    strict = judged(key, max_failed=0.4)
    assert strict.answer_given_context is None and "1 of 2" in strict.reasons["answer_given_context"]

    def fails(*_):
        raise JudgeFailure("task", "malformed twice")

    def failing(task):
        key = AnswerKey()
        setattr(key, task, fails)
        return judged(key)

    report = failing("statements")
    assert report.n_failed == 6 and all(inference.score is None for inference in report.inferences.values())
    assert "malformed twice" in report.reasons["truth_given_answer"]
    report = failing("resolve_pronouns")
    assert report.answer_given_context is not None
    assert report.notes == ("pronouns were left as they are: malformed twice",)
    pair = failing("entail").inferences["answer_given_context"]
    assert pair.premise and 0 < len(pair.tags) == pair.n_failed
    assert all("malformed twice" in tag.reason for tag in pair.tags)


def test_empty_parts_have_no_score_and_a_reason():
    of_truth = {"answer_given_truth", "truth_given_answer"}
    for arguments, undefined in (
        ((CONTEXT, QUESTION, TRUTH, " \n"), {"answer_given_context", *of_truth}),
        ((CONTEXT, QUESTION, "", ANSWER), of_truth),
        (("", QUESTION, TRUTH, ANSWER), {"answer_given_context"}),
        (([], QUESTION, TRUTH, ANSWER), {"answer_given_context"}),
        ((["", *CONTEXT], "", TRUTH, ANSWER), set()),
    ):
        report = evaluate_answer(*arguments, judge=AnswerKey())
        assert set(report.reasons) == undefined and all("empty" in reason for reason in report.reasons.values())
        assert isinstance(json.loads(json.dumps(report.to_dict())), dict) and "<section" in report._repr_html_()
    assert "1 of 3 contexts are empty" in " ".join(report.notes)


def test_lists_can_be_kept_with_their_lead_in():
    listed = "These are not included in the price:\n\n- the charger and its cable\n- insurance against loss"
    apart, kept = judged(answer=listed), judged(answer=listed, keep_lists=True)
    count = lambda report: len(report.inferences["answer_given_context"].hypotheses)
    assert count(apart) == 2 and count(kept) == 1  # a lead-in with a not stays with its first item
    open_list = listed.replace("These are not", "These are")
    assert count(judged(answer=open_list)) == 3
    assert apart.signature.differences(kept.signature) == {"keep_lists": ("no", "yes")}


def test_hostile_text_stays_text(tmp_path):
    attack = '"><script>alert(1)</script></style><img src=x onerror=alert(1)>'
    report = evaluate_answer([attack], attack, attack + " It rained.", attack + " It snowed.", judge=AnswerKey())
    page = report.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page and "<img" not in page and page.count("</style>") == 1
    assert not re.search(r"https?:|src=|url\(", page.replace("&lt;img src=x", ""))


def rows():
    told = [(article, own.text) for article in sample_articles()[:3] for own in article.summaries.values()]
    made = [(article.text, "What happened?", article.faithful.text, answer) for article, answer in told]
    made += [("It rained.", "Who won?", "The text does not say.", "I don't know."), ("", "", "", "")]
    return [dict(zip(("contexts", "question", "ground_truth", "answer"), row, strict=True)) for row in made]


def alike(left, other):
    """Whether two results are the same but for what batching may change: the sixth digit of a number."""
    if isinstance(left, float) and isinstance(other, float):
        return left == pytest.approx(other, abs=2e-6)
    if isinstance(left, dict):
        return left.keys() == other.keys() and all(alike(left[key], other[key]) for key in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(other) and all(map(alike, left, other))
    return left == other


@pytest.fixture(scope="module")
def table():
    return evaluate_answers(rows(), progress=False)


@pytest.mark.nightly
def test_a_table_equals_its_rows_and_every_kind_of_table_gives_the_same(table):
    without = lambda report: {k: v for k, v in report.to_dict().items() if k != "refusal_reasons"}
    for row, report in zip(rows(), table, strict=True):
        assert alike(without(evaluate_answer(**row)), without(report))
    datasets, made = pytest.importorskip("datasets"), rows()
    columns = {name: [row[name] for row in made] for name in made[0]}
    renamed = [{"context": [row["contexts"]], **{n: row[n] for n in row if n != "contexts"}} for row in made]
    for kind in (pd.DataFrame(made), columns, datasets.Dataset.from_dict(columns), renamed):
        assert evaluate_answers(kind, progress=False).rows() == table.rows()


def test_the_summary_counts_what_is_defined(table):
    summary = {row["measure"]: row for row in table.summary()}
    assert summary["answer_given_context"]["n"] == 9 and summary["answers refused"]["n"] == 10
    assert summary["answers refused"]["value"] == 0.1 and summary["refusal recall"]["value"] == 1.0
    assert all(row["low"] <= row["value"] <= row["high"] for row in summary.values())
    assert table.summary() == table.summary() and len(table.to_frame()) == len(table) == 11
    assert len(table.to_frame(by="sentence")) == sum(len(report.rows()) for report in table)
    json.dumps(table.to_dict())
    assert "<table" in table._repr_html_() and "11 texts" in repr(table) and "verdict: right" in repr(table)


def test_refusal_precision_and_recall_by_hand():
    no, silent = "I refuse to say it.", "The text is silent here."
    made = [("yes it is so", "it is so now"), (no, silent), (no, "it is so"), ("something is said", silent)]
    data = [{"context": "c", "question": "q", "ground_truth": t, "answer": a} for a, t in made]
    table = evaluate_answers(data, judge=AnswerKey(refusals=[no, silent]), progress=False)
    summary = {row["measure"]: row for row in table.summary()}
    assert summary["refusal precision"]["value"] == 0.5 and summary["refusal precision"]["n"] == 2
    assert summary["refusal recall"]["value"] == 0.5 and summary["answers refused"]["value"] == 0.5


def test_bad_tables_name_row_and_column_and_a_missing_cell_is_undefined():
    key = AnswerKey()
    with pytest.raises(TypeError, match="row 11: answer"):
        evaluate_answers([*rows(), {**rows()[0], "answer": 7}], judge=key)
    assert key.asked == []  # everything is checked before anything is asked
    found = evaluate_answers(pd.DataFrame([{**rows()[0], "answer": math.nan}, rows()[0]]), judge=key)
    assert found[0].reason == "answer is missing in this row" and found[1].score is not None
    assert found.worst_first() == [1, 0] and found.summary()[0]["n"] == 1 and repr(found) and found._repr_html_()
    assert len(evaluate_answers([], judge=key)) == 0
    for table, error, words in (
        ([{"context": "a"}], ValueError, "row 0: there is no 'summary'; there is: context"),
        ({"context": ["a"], "summary": []}, ValueError, "same length"),
        (["a"], TypeError, "row 0 must be a dictionary, not str"),
        ({"context": ["a"], "summary": "b"}, TypeError, "the column 'summary' must be a list, not str"),
        (5, TypeError, "table must be a table, not int .5.: pass a DataFrame"),
    ):
        with pytest.raises(error, match=words):
            table_records(table, ["contexts", "summary"])


def test_a_second_run_asks_only_what_failed(tmp_path):
    data, key = rows()[:5], AnswerKey()
    again = lambda: evaluate_answers(data, judge=key, store=tmp_path / "answers.sqlite", progress=False)
    key.lost = [data[0]["answer"].split(". ")[0] + "."]
    assert again().n_failed > 0
    key.lost, key.asked = (), []
    second = again()
    assert second.n_failed == 0 and 0 < len(key.asked) <= 6
    key.asked = []
    assert again().rows() == second.rows() and key.asked == []


NO_ANSWER = "wrong: it answers what, by the ground truth, has no answer"
PASSAGE = "The bridge opened in 1931. It is 1,149 metres long. Some 40,000 cars cross it every day."
EXPECTED = "The bridge opened in 1931. Some 40,000 cars cross the bridge every day."
VERDICTS = {
    "right": "Some 40,000 cars cross the bridge every day. The bridge opened in 1931.",
    "partly right": "The bridge opened in 1931.",
    "wrong": "The bridge opened in 1954. Some 70,000 cars cross the bridge every day.",
    "refused": "I cannot answer this from the text.",
    "the judge cannot tell": "Whales were seen near the coast.",
}


def test_the_first_line_is_a_verdict():
    for verdict, answer in VERDICTS.items():
        report = evaluate_answer(PASSAGE, "What do you know about the bridge?", EXPECTED, answer)
        assert report.verdict == verdict == report.row()["verdict"], report
        assert repr(report).startswith(f"{verdict}: ") and f"<p><strong>{verdict}: " in report._repr_html_()
    answers = ("The king of Spain paid for it.", "I don't know.", "")
    wrong, both, empty = (evaluate_answer(PASSAGE, "Who paid?", "The text does not say.", own) for own in answers)
    assert wrong.first_line == NO_ANSWER and both.first_line.endswith("and so does the ground truth")
    assert empty.verdict == "the judge cannot tell"


def report_of(answer, truth):
    """A report whose pairs of answer and ground truth have these tags."""
    unit = Unit(Sentence("It rained.", 0, 10), "It rained.")

    def inference(name, tags):
        if not tags:
            return Inference(name=name, reason="there is no statement to judge")
        own = tuple(JudgedStatement(statement=Statement(text="It rained."), entailment=tag) for tag in tags)
        return Inference(name=name, hypotheses=(Hypothesis(unit=unit, statements=own),), score=hypothesis_score(tags))

    inferences = {name: inference(name, tags) for name, tags in zip(PAIRS, ([], answer, truth), strict=True)}
    texts = {"question": "How was it?", "ground_truth": "It rained.", "answer": "It rained.", "contexts": ()}
    flags = dict.fromkeys(("answer_refused", "truth_refused"), Flag(value=False))
    return AnswerReport(inferences=inferences, signature=Signature({"metric": "answer"}), **texts, **flags)


def test_first_lines_word_for_word():
    none, agrees = "0 of 1 expected statements are said", "that it says agrees with the ground truth"
    one = "1 of 1 expected statements are said"
    for answer, truth, line in (
        ([YES, NO], [YES], f"right: {one}"),
        ([YES, DENIED], [YES], f"partly right: {one}, 1 of 2 that it says is contradicted"),
        ([YES], [NO], f"the judge cannot tell: {none}, 1 of 1 {agrees}"),
        ([DENIED, DENIED], [NO], f"wrong: {none}, 2 of 2 that it says are contradicted"),
        ([YES, DENIED], [NO], f"wrong: {none}, 1 of 2 {agrees}, 1 is contradicted"),
        ([YES, FAILED], [YES, FAILED], f"right: {one}, 2 could not be judged"),
    ):
        assert report_of(answer, truth).first_line == line


def test_correctness_by_hand():
    for answer, truth, expected in (
        ([YES], [YES], (1.0, 1.0, 1.0, 0.0)),
        ([YES, NO], [YES, DENIED, NO, NO], (1 / 2, 1 / 4, 1 / 3, 0.0)),
        ([NO], [NO], (0.0, 0.0, 0.0, 0.0)),
        ([DENIED], [DENIED], (0.0, 0.0, 0.0, 1.0)),
        ([YES, DENIED, NO, NO], [DENIED], (1 / 4, 0.0, 0.0, 1 / 4)),
        ([YES, FAILED], [YES], (1.0, 1.0, 1.0, 0.0)),
    ):
        found = correctness(answer, truth)
        assert (found.precision, found.recall, found.f1, found.contradicted) == pytest.approx(expected)
    found = correctness([YES], [FAILED])
    assert found.f1 is None and found.reason == "no statement of the ground truth could be judged"

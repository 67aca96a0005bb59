"""Evaluating answers: arithmetic by hand, three premises, refusals, failures, tables; bulk equals row by row."""

import json
import math
import re
from itertools import combinations_with_replacement, product

import pytest
from helpers.late import Late

from summeval_nb import evaluate_answer, evaluate_answers
from summeval_nb.core.data import sample_articles
from summeval_nb.core.files import table_records
from summeval_nb.core.results import Sentence, Signature
from summeval_nb.judged.answers import PAIRS, AnswerReport, Hypothesis, Inference, JudgedStatement
from summeval_nb.judged.correctness import correctness, hypothesis_score
from summeval_nb.judged.judging import Entailment, Flag, JudgeFailure, Resolution, Statement, as_statement
from summeval_nb.judged.llm import LLMJudge
from summeval_nb.judged.session import Unit
from summeval_nb.models.base import BackendUnavailable, ScriptedBackend
from summeval_nb.models.store import Store

pd = Late("pandas")

CONTEXT = ["The ferry has run since 1994. It carries 400 passengers.", "Tickets cost 9 euros for adults."]


QUESTION = "We are two adults with bicycles. What does the ferry cost?"


TRUTH = "Tickets cost 9 euros for adults. Bicycles travel free of charge."


ANSWER = "Adults pay 9 euros on the ferry. She takes bicycles free of charge."


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
        labels = [
            "entailed" if s in self.entailed else "contradicted" if s in self.contradicted else "neutral"
            for s in statements
        ]
        return [Entailment(label=label, probability={"entailed": 0.9}.get(label, 0.1)) for label in labels]

    def is_refusal(self, text):
        self._note("refusal", text)
        return Flag(value=text in self.refusals, probability=0.75)

    def keyphrases(self, text, n=10): ...
    def questions(self, text, keyphrases): ...
    def answer(self, text, questions): ...


# Arithmetic ----------------------------------------------------------------------------------------------------------

SPLIT = {
    "The plan passed, cost 5 million, was late and won praise.": (
        ["It passed", "It cost 5 million", "It was late", "It won praise"]
    ),
    "The mayor welcomed it on Monday.": ["The mayor welcomed it on Monday."],
}


def test_the_mean_of_means_by_hand():
    key = AnswerKey(SPLIT, entailed=["It passed", "The mayor welcomed it on Monday."], contradicted=["It was late"])
    report = evaluate_answer("c", "What happened there?", "The plan passed on Monday.", " ".join(SPLIT), judge=key)
    assert report.answer_given_context == (1 / 4 + 1) / 2 == report.answer_given_truth
    assert report.truth_given_answer == 0.0
    frame = report.to_frame()
    assert list(frame["label"][:5]) == ["entailed", "neutral", "contradicted", "neutral", "entailed"]
    assert list(frame["counts"][:5]) == [1, 0, 0, 0, 1] and frame["probability"][0] == 0.9
    means = frame.groupby(["pair", "hypothesis"])["counts"].mean().groupby("pair").mean()
    for name, inference in report.inferences.items():
        assert math.isclose(means[name], inference.score)


def test_each_pair_has_its_premise_and_its_hypotheses():
    key = AnswerKey()
    report = evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=key)
    premises = {name: inference.premise for name, inference in report.inferences.items()}
    assert premises["answer_given_context"] == "\n\n".join(CONTEXT)
    assert (premises["answer_given_truth"], premises["truth_given_answer"]) == (TRUTH, ANSWER)
    judged = {
        n: " ".join(h.unit.place.text for h in inference.hypotheses) for n, inference in report.inferences.items()
    }
    assert judged == {"answer_given_context": ANSWER, "answer_given_truth": ANSWER, "truth_given_answer": TRUTH}
    asked = {what[1] for what in key.asked if what[0] == "entail"}
    assert asked == set(premises.values())


def test_pronouns_are_replaced_and_both_texts_kept():
    resolved = {"She takes bicycles free of charge.": "The ferry takes bicycles free of charge."}
    key = AnswerKey(resolved=resolved)
    report = evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=key)
    unit = report.inferences["answer_given_context"].hypotheses[1].unit
    assert ANSWER[unit.place.start : unit.place.end] == unit.place.text == next(iter(resolved))
    assert unit.resolved == resolved[unit.place.text]
    assert report.inferences["truth_given_answer"].premise.endswith(unit.resolved)
    assert ("statements", unit.resolved) in key.asked and report.notes == ("from the key",)


def test_units_are_resolved_and_split_once_though_judged_twice():
    key = AnswerKey()
    evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=key)
    assert len(key.asked) == len(set(key.asked))
    assert sum(what[0] == "resolve" for what in key.asked) == 2


# Refusals ------------------------------------------------------------------------------------------------------------

REFUSED = {
    (False, False): (True, True, True),
    (True, False): (False, False, False),
    (False, True): (True, False, False),
    (True, True): (False, False, False),
}


def test_refusals_make_scores_undefined():
    for refused, scored in REFUSED.items():
        key = AnswerKey(refusals=[text for text, flag in zip((ANSWER, TRUTH), refused, strict=True) if flag])
        report = evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=key)
        assert (bool(report.answer_refused), bool(report.truth_refused)) == refused
        assert tuple(inference.score is not None for inference in report.inferences.values()) == scored
        assert all("is a refusal" in reason for reason in report.reasons.values())
        assert report.answer_refused.probability == 0.75
        assert not evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=key, score_refusals=True).reasons


def test_only_the_first_three_sentences_are_looked_at():
    key = AnswerKey()
    text = "One is here now. Two is here now. Three is here now. I cannot answer."
    evaluate_answer(CONTEXT, QUESTION, TRUTH, text, judge=key)
    assert ("refusal", "One is here now. Two is here now. Three is here now.") in key.asked


def test_an_undecided_flag_leaves_scores_undefined():
    report = evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=AnswerKey(lost=[ANSWER]))
    assert report.answer_refused.value is None and set(report.reasons) == set(report.inferences)
    assert "undecided" in report.reasons["answer_given_context"] and "no reply" in report.answer_refused.reason


# Failures ------------------------------------------------------------------------------------------------------------


def test_failed_statements_are_left_out_and_counted():
    first, second = "Adults pay 9 euros on the ferry.", "She takes bicycles free of charge."
    key = AnswerKey(entailed=[first, second], lost=[second])
    report = evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=key)
    inference = report.inferences["answer_given_context"]
    assert inference.score == 1.0 and inference.n_failed == 1 and report.n_failed >= 2
    assert any("no reply" in row["reason"] for row in report.rows())
    strict = evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=key, max_failed=0.4)
    assert strict.answer_given_context is None and "1 of 2" in strict.reasons["answer_given_context"]


def test_a_failed_call_counts_and_is_said():
    class Fails(AnswerKey):
        def __init__(self, task):
            super().__init__()
            setattr(self, task, self.fail)

        def fail(self, *_):
            raise JudgeFailure("task", "malformed twice")

    report = evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=Fails("statements"))
    assert report.n_failed == 6 and all(inference.score is None for inference in report.inferences.values())
    assert "malformed twice" in report.reasons["truth_given_answer"]
    report = evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=Fails("resolve_pronouns"))
    assert report.answer_given_context is not None
    assert report.notes == ("pronouns were left as they are: malformed twice",)
    pair = evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, judge=Fails("entail")).inferences["answer_given_context"]
    assert pair.premise and 0 < len(pair.tags) == pair.n_failed
    assert all("malformed twice" in tag.reason for tag in pair.tags)


# Input ---------------------------------------------------------------------------------------------------------------

EMPTY = {
    "answer": ((CONTEXT, QUESTION, TRUTH, " \n"), {"answer_given_context", "answer_given_truth", "truth_given_answer"}),
    "truth": ((CONTEXT, QUESTION, "", ANSWER), {"answer_given_truth", "truth_given_answer"}),
    "context": (("", QUESTION, TRUTH, ANSWER), {"answer_given_context"}),
    "no contexts": (([], QUESTION, TRUTH, ANSWER), {"answer_given_context"}),
    "blank contexts": ((["", " "], QUESTION, TRUTH, ANSWER), {"answer_given_context"}),
    "question": ((CONTEXT, "", TRUTH, ANSWER), set()),
}


def test_empty_parts_have_no_score_and_a_reason():
    for arguments, undefined in EMPTY.values():
        report = evaluate_answer(*arguments, judge=AnswerKey())
        assert set(report.reasons) == undefined and all("empty" in reason for reason in report.reasons.values())
        assert isinstance(json.loads(json.dumps(report.to_dict())), dict) and "<section" in report._repr_html_()
        assert list(report.to_frame().columns)[:2] == ["pair", "hypothesis"]


@pytest.mark.filterwarnings("ignore:the splitter")
def test_short_and_strange_answers_are_judged_or_undefined():
    for answer in ("Yes.", "1994", "a", "雨停了。", "half \ud83d", "\x00 and more", "...", "e\u0301" * 30):
        report = evaluate_answer(CONTEXT, QUESTION, TRUTH, answer)
        for inference in report.inferences.values():
            assert inference.score is None or 0 <= inference.score <= 1
            assert (inference.score is None) == bool(inference.reason)
        assert "<script" not in report._repr_html_()


def test_bad_input_is_named():
    for arguments in (
        (None, QUESTION, TRUTH, ANSWER),
        (["a", None], QUESTION, TRUTH, ANSWER),
        (CONTEXT, b"q", TRUTH, ANSWER),
        (CONTEXT, QUESTION, ["truth", 3], ANSWER),
        (CONTEXT, QUESTION, TRUTH, math.nan),
    ):
        with pytest.raises(TypeError, match="must be"):
            evaluate_answer(*arguments, judge=AnswerKey())
    for option, words in (({"max_failed": 2}, "max_failed"), ({"judge": "oracle"}, "embedded")):
        with pytest.raises(ValueError, match=words):
            evaluate_answer(CONTEXT, QUESTION, TRUTH, ANSWER, **option)


def test_lists_can_be_kept_with_their_lead_in():
    listed = "These are not included in the price:\n\n- the charger and its cable\n- insurance against loss"
    apart = evaluate_answer(CONTEXT, QUESTION, TRUTH, listed, judge=AnswerKey())
    kept = evaluate_answer(CONTEXT, QUESTION, TRUTH, listed, judge=AnswerKey(), keep_lists=True)
    count = lambda report: len(report.inferences["answer_given_context"].hypotheses)
    assert count(apart) == 2 and count(kept) == 1  # a lead-in with a not stays with its first item
    open_list = listed.replace("These are not", "These are")
    assert count(evaluate_answer(CONTEXT, QUESTION, TRUTH, open_list, judge=AnswerKey())) == 3
    assert apart.signature.differences(kept.signature) == {"keep_lists": ("no", "yes")}


def test_hostile_text_stays_text(tmp_path):
    attack = '"><script>alert(1)</script></style><img src=x onerror=alert(1)>'
    report = evaluate_answer([attack], attack, attack + " It rained.", attack + " It snowed.", judge=AnswerKey())
    page = report.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page and "<img" not in page and page.count("</style>") == 1
    assert not re.search(r"https?:|src=|url\(", page.replace("&lt;img src=x", ""))


# Tables --------------------------------------------------------------------------------------------------------------


def rows():
    names = ("context", "question", "ground_truth", "answer")
    made = [
        (article.text, "What happened?", article.faithful.text, summary.text)
        for article in sample_articles()[:3]
        for summary in article.summaries.values()
    ]
    made += [("It rained.", "Who won?", "The text does not say.", "I don't know."), ("", "", "", "")]
    return [dict(zip(names, row, strict=True)) for row in made]


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
def test_a_table_equals_its_rows(table):
    without = lambda report: {k: v for k, v in report.to_dict().items() if k != "refusal_reasons"}
    for row, report in zip(rows(), table, strict=True):
        assert alike(without(evaluate_answer(**row)), without(report))


@pytest.mark.nightly
def test_every_kind_of_table_gives_the_same(table):
    datasets, made = pytest.importorskip("datasets"), rows()
    columns = {name: [row[name] for row in made] for name in made[0]}
    renamed = [{"contexts": [row["context"]], **{n: row[n] for n in row if n != "context"}} for row in made]
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
    says = {"I refuse to say it.", "The text is silent here."}
    made = [
        ("yes it is so here", "it is so here now"),
        *[("I refuse to say it.", t) for t in ("The text is silent here.", "it is so")],
        ("something is said", "The text is silent here."),
    ]
    data = [{"context": "c", "question": "q", "ground_truth": t, "answer": a} for a, t in made]
    summary = {
        r["measure"]: r for r in evaluate_answers(data, judge=AnswerKey(refusals=says), progress=False).summary()
    }
    assert summary["refusal precision"]["value"] == 0.5 and summary["refusal precision"]["n"] == 2
    assert summary["refusal recall"]["value"] == 0.5 and summary["answers refused"]["value"] == 0.5


def test_bad_tables_name_row_and_column():
    with pytest.raises(ValueError, match="row 0: there is no 'ground_truth'; there is: context"):
        evaluate_answers([{"context": "c", "question": "q", "answer": "a"}], judge=AnswerKey())
    key = AnswerKey()
    with pytest.raises(TypeError, match="row 11: answer"):
        evaluate_answers([*rows(), {**rows()[0], "answer": 7}], judge=key)
    assert key.asked == []  # everything is checked before anything is asked
    found = evaluate_answers(pd.DataFrame([{**rows()[0], "answer": math.nan}, rows()[0]]), judge=key)
    assert found[0].reason == "answer is missing in this row" and found[1].score is not None
    assert len(evaluate_answers([], judge=key)) == 0


def test_a_second_run_asks_only_what_failed(tmp_path):
    store, key = Store(tmp_path / "answers.sqlite"), AnswerKey()
    data = rows()[:5]
    key.lost = [data[0]["answer"].split(". ")[0] + "."]
    first = evaluate_answers(data, judge=key, store=store, progress=False)
    assert first.n_failed > 0
    key.lost, key.asked = (), []
    second = evaluate_answers(data, judge=key, store=store, progress=False)
    assert second.n_failed == 0 and 0 < len(key.asked) <= 6
    key.asked = []
    assert evaluate_answers(data, judge=key, store=store, progress=False).rows() == second.rows() and key.asked == []


# With a language model -----------------------------------------------------------------------------------------------


def well_behaved(prompt):
    """A scripted model: nobody refuses, 'She' is the ferry, one statement each; entailed when the premise holds it."""
    if prompt.startswith("Does the answer refuse"):
        return "no"
    reply = {}
    cases = [json.loads(line.partition(": ")[2]) for line in prompt.splitlines() if line.startswith("Case ")]
    for i, case in enumerate(cases, 1):
        if "units" in case:
            reply[f"case_{i}"] = [unit.replace("She ", "The ferry ") for unit in case["units"]]
        elif "hypothesis" in case:
            reply[f"case_{i}"] = [case["hypothesis"]]
        else:
            premise = " ".join(case["premise"])
            held = [s in premise for s in case["statements"]]
            reply[f"case_{i}"] = [
                {"label": "entailed" if is_entailed else "neutral", "evidence": [1] * is_entailed}
                for is_entailed in held
            ]
    return json.dumps(reply)


def test_a_language_model_needs_no_calls_in_a_second_run(tmp_path):
    store = Store(tmp_path / "answers.sqlite")
    judge = LLMJudge(ScriptedBackend(well_behaved))
    report = evaluate_answer(CONTEXT, QUESTION, ANSWER, ANSWER, judge=judge, store=store)
    assert report.answer_given_truth == report.truth_given_answer == 1.0 and report.answer_given_context == 0.0
    assert "The ferry takes" in report.inferences["answer_given_truth"].premise
    calls = judge.calls
    assert calls <= 4  # pronouns, statements, entailment, one refusal (the two texts are equal)
    evaluate_answer(CONTEXT, QUESTION, ANSWER, ANSWER, judge=judge, store=store)
    assert judge.calls == calls


def test_a_server_that_dies_is_counted_and_never_a_no():
    def dies(prompt):
        if "premise" in prompt:
            raise BackendUnavailable("connection refused", remedy="start the server")
        return well_behaved(prompt)

    table = evaluate_answers(rows()[:3], judge=LLMJudge(ScriptedBackend(dies)), progress=False)
    assert table.n_failed > 0 and all(
        inference.score is None for report in table for inference in report.inferences.values()
    )
    assert "connection refused" in table[0].reasons["answer_given_context"]
    assert table.summary()[0]["value"] is None and table.summary()[0]["n"] == 0


def test_a_table_may_be_a_dataset_that_can_only_be_indexed():
    class Rows:
        __len__ = lambda self: 1
        __getitem__ = lambda self, place: [ROW][place]

    assert len(evaluate_answers(Rows(), judge="words", progress=False)) == 1


ROW = {
    "context": "It rained in Oslo. It was late.",
    "question": "Where did it rain?",
    "ground_truth": "It rained in Oslo.",
    "answer": "It rained in Oslo.",
}


def test_signs_alone_lose_no_other_row():
    for signs in ("???", "— —", "…"):
        odd = [{**ROW, name: signs} for name in ROW]
        beside = [{**ROW, name: f"{text}{between}{signs}"} for name, text in ROW.items() for between in (" ", "\n\n")]
        rows = evaluate_answers([ROW, *odd, *beside, ROW], progress=False).rows()
        assert rows[0] == rows[13] and rows[0]["correctness"] == 1
        # question and context have no part in it
        assert [row["correctness"] for row in rows[1:5]] == [1, 1, None, None]
        assert [row["correctness"] for row in rows[5:]] == [1] * 9


# The verdict ---------------------------------------------------------------------------------------------------------

YES, NO, DENIED = (Entailment(label=label) for label in ("entailed", "neutral", "contradicted"))


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


def test_answering_the_unanswerable_is_wrong():
    unanswerable = "The text does not say."
    report = evaluate_answer(PASSAGE, "Who paid?", unanswerable, "The king of Spain paid for it.")
    assert report.first_line == "wrong: it answers what, by the ground truth, has no answer"
    both = evaluate_answer(PASSAGE, "Who paid?", unanswerable, "I don't know.")
    assert both.first_line.endswith("and so does the ground truth")
    empty = evaluate_answer(PASSAGE, "Who paid?", unanswerable, "")
    assert empty.verdict == "the judge cannot tell"


FAILED = Entailment(label=None, reason="time-out")


ANSWERED, REFUSED_, UNDECIDED = Flag(value=False), Flag(value=True), Flag(value=None, reason="time-out")


def report_of(answer, truth, *, answer_refused=ANSWERED, truth_refused=ANSWERED, reason=""):
    """A report whose pairs of answer and ground truth have these tags; with a reason, no pair was judged."""
    unit = Unit(Sentence("It rained.", 0, 10), "It rained.")

    def inference(name, tags):
        if reason or not tags:
            return Inference(name=name, reason=reason or "there is no statement to judge")
        own = tuple(JudgedStatement(statement=Statement(text="It rained."), entailment=tag) for tag in tags)
        return Inference(name=name, hypotheses=(Hypothesis(unit=unit, statements=own),), score=hypothesis_score(tags))

    tags = dict(zip(PAIRS, ([], answer, truth), strict=True))
    return AnswerReport(
        inferences={name: inference(name, own) for name, own in tags.items()},
        question="How was it?",
        ground_truth="It rained.",
        answer="It rained.",
        context=(),
        answer_refused=answer_refused,
        truth_refused=truth_refused,
        signature=Signature({"metric": "answer"}),
    )


def mixes(most=3):
    """All mixes of one to three labels, without regard to order."""
    sizes = range(1, most + 1)
    return [list(labels) for size in sizes for labels in combinations_with_replacement((YES, NO, DENIED), size)]


def check_the_counts_beside_a_verdict(answer, truth):
    verdict, _, told = report_of(answer, truth).first_line.partition(": ")
    said, expected = map(int, re.match(r"(\d+) of (\d+) expected statements are said", told).groups())
    f1 = correctness(answer, truth).f1
    agrees = int(found[1]) if (found := re.search(r"(\d+) of \d+ that it says agrees?", told)) else 0
    contradicted = re.search(r"(\d+)(?: of \d+ that it says)? (?:is|are) contradicted", told)
    denied = int(contradicted[1]) if contradicted else 0
    labels = [tag.label for tag in answer]
    assert (said, expected) == (sum(tag is YES for tag in truth), len(truth))
    assert denied == labels.count("contradicted") and agrees == (0 if said else labels.count("entailed"))
    by_hand = {
        "right": f1 > 0 and said == expected and not denied,
        "partly right": f1 > 0 and (said < expected or denied > 0),
        "wrong": f1 == 0 and denied > 0,
        "the judge cannot tell": f1 == 0 and denied == 0,
    }
    assert [name for name, holds in by_hand.items() if holds] == [verdict]


def test_the_verdict_is_never_at_odds_with_the_counts_beside_it():
    for answer, truth in product(mixes(), mixes()):
        check_the_counts_beside_a_verdict(answer, truth)


FIRST_LINES = [
    # answer's statements, expected statements, first line
    ([YES], [YES], "right: 1 of 1 expected statements are said"),
    ([YES, NO], [YES], "right: 1 of 1 expected statements are said"),
    ([YES, DENIED], [YES], "partly right: 1 of 1 expected statements are said, 1 of 2 that it says is contradicted"),
    ([YES], [YES, DENIED], "partly right: 1 of 2 expected statements are said"),
    (
        [YES],
        [NO],
        "the judge cannot tell: 0 of 1 expected statements are said, 1 of 1 that it says agrees with the ground truth",
    ),
    ([NO], [DENIED], "the judge cannot tell: 0 of 1 expected statements are said"),
    ([DENIED, DENIED], [NO], "wrong: 0 of 1 expected statements are said, 2 of 2 that it says are contradicted"),
    (
        [YES, DENIED],
        [NO],
        "wrong: 0 of 1 expected statements are said, "
        "1 of 2 that it says agrees with the ground truth, 1 is contradicted",
    ),
    ([YES, FAILED], [YES, FAILED], "right: 1 of 1 expected statements are said, 2 could not be judged"),
    ([YES], [FAILED], "the judge cannot tell: no statement of the ground truth could be judged"),
]


def test_first_lines_word_for_word():
    for answer, truth, line in FIRST_LINES:
        # a pair without a score has its own reason
        reason = "no statement of the ground truth could be judged" if truth == [FAILED] else ""
        assert report_of(answer, truth, reason=reason).first_line == line


NO_ANSWER = "wrong: it answers what, by the ground truth, has no answer"


def test_refusals_come_before_counts():
    refused, open_ = "refused: the answer declines to answer", "the judge cannot tell: why not"
    for answer_refused, truth_refused, unscored, scored in (
        (ANSWERED, ANSWERED, open_, "right"),
        (ANSWERED, REFUSED_, NO_ANSWER, NO_ANSWER),
        (ANSWERED, UNDECIDED, open_, "right"),
        (REFUSED_, ANSWERED, refused, "refused"),
        (REFUSED_, REFUSED_, f"{refused}, and so does the ground truth", "refused"),
        (REFUSED_, UNDECIDED, refused, "refused"),
        (UNDECIDED, ANSWERED, open_, "right"),
        (UNDECIDED, REFUSED_, open_, "right"),
    ):
        flags = {"answer_refused": answer_refused, "truth_refused": truth_refused}
        assert report_of([], [], reason="why not", **flags).first_line == unscored
        assert report_of([YES], [YES], **flags).first_line.startswith(scored)


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


WANTED = ["contexts", "summary"]


def test_bad_tables_are_named():
    for table, error, words in (
        ([{"context": "a"}], ValueError, "row 0: there is no 'summary'; there is: context"),
        ({"context": ["a"], "summary": []}, ValueError, "same length"),
        (["a"], TypeError, "row 0 must be a dictionary, not str"),
        ({"context": ["a"], "summary": "b"}, TypeError, "the column 'summary' must be a list, not str"),
        (5, TypeError, "table must be a table, not int .5.: pass a DataFrame"),
        (None, TypeError, "table must be a table, not NoneType"),
        ("a.jsonl", TypeError, "table must be a table, not str .'a.jsonl'."),
    ):
        with pytest.raises(error, match=words):
            table_records(table, WANTED)


def test_the_premise_is_the_truth_and_not_the_question_and_notes_say_how_a_text_was_read():
    question = "It was the middle of May. Was there a match on Sunday?"
    report = evaluate_answer("c", question, "There was none.", "The ferry runs. It stops at six today.")
    assert report.inferences["answer_given_truth"].premise == "There was none."
    assert report.notes == ("“It” (sentence 2) is read as “The ferry”",)


def test_a_time_of_day_is_one_value():
    told, times = "The ferry leaves at 18:15 and arrives at 21:30. It has a cafe.", ("18:15", "6:15 p.m.", "At 6:15 pm")
    rows = [
        (truth, answer) for truth in ("18:15", "6:15 p.m.", "At 18:15.") for answer in (*times, "18:45", "7:15 p.m.")
    ]
    given = {"context": told, "question": "When does the ferry leave?"}
    table = evaluate_answers([given | {"ground_truth": t, "answer": a} for t, a in rows], progress=False)
    assert [report.correctness.f1 == 1 for report in table] == [answer in times for _, answer in rows]

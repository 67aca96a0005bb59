"""What metrics, checkers and judges declare to call at most is never exceeded, whatever a model replies."""

import random
from dataclasses import replace
from itertools import count as count_from

import pytest
from helpers.recorder import MANNERS, Recorder

from summeval_nb.core.metric import score_rows
from summeval_nb.core.results import Verdict
from summeval_nb.evidence.bench import ChunkedChecker, HistogramChecker
from summeval_nb.evidence.faithfulness import FaithfulnessMetric
from summeval_nb.evidence.llm import LLMChecker
from summeval_nb.evidence.load import load_checker
from summeval_nb.judged import retrieval
from summeval_nb.judged.answers import AnswerMetric
from summeval_nb.judged.embedded import EmbeddedJudge
from summeval_nb.judged.judging import BulkJudge
from summeval_nb.judged.llm import LLMJudge
from summeval_nb.judged.pairwise import Rubric, SideBySide
from summeval_nb.judged.ratings import RatingMetric
from summeval_nb.judged.summary_score import SummaryScoreMetric
from summeval_nb.models.base import Calls, Most, NotDeclared, added, asks_models, by_stage, declared
from summeval_nb.runs.costs import Ledger, calls_at_most, find_backends, metered

LONG = " ".join(f"On day {n} it rained in the village, and nobody said <why> the “road” was wet." for n in range(14))
LIST = "It does not include\n- the charger\n- a cable, and the very long bag that goes with it\n\nIt includes\n- rust"
TEXTS = [
    "",
    "It rained.",
    "It rained all day. She said that it was cold, and Ben sold the boat.",
    LONG,
    LIST,
    "他昨天来了。她很高兴！",
]


def items(seed, count=5):
    """Rows with every column that any metric reads: empty ones, one sentence, long ones, lists."""
    draw, told = random.Random(seed), count_from(1)

    def text(texts):
        return draw.choice(texts).replace("It ", f"On day {next(told)} it ")  # no two are the same

    for n in range(count):
        a, b, c, d = (text(TEXTS[1:] if n % 3 else TEXTS) for _ in range(4))
        passages = [text(TEXTS) for _ in range(draw.randint(0, 3))]
        row = {"text": a, "summary": b, "question": draw.choice(["How was it?", "", "I came. Why?"]), "answer": b}
        row |= {"ground_truth": c, "truth": c, "a": b, "b": d}
        yield row | {"context": passages or a, "contexts": passages or [a]}


def judge(backend, **choices):
    return LLMJudge(backend, **choices)


MEASURES = [one for one in vars(retrieval).values() if isinstance(one, type) and getattr(one, "needs", ())]
JUDGED = [AnswerMetric(), AnswerMetric(keep_lists=True), AnswerMetric(score_refusals=True), SummaryScoreMetric()]
JUDGED += [SummaryScoreMetric(n_keyphrases=3, check_questions=False), SideBySide(), *(kind() for kind in MEASURES)]
JUDGES = {"plain": {}, "narrow": {"window": 200, "group": 1}, "choices": {"probabilities": True, "window": 900}}
CHECKERS = {
    "sentence": LLMChecker,
    "clauses": lambda one: LLMChecker(one, claims="statements"),
    "split": lambda one: LLMChecker(one, claims="statements", splitter=one),
    "chunks": lambda one: ChunkedChecker(LLMChecker(one), words=20),
    "chunks split": lambda one: ChunkedChecker(LLMChecker(one, claims="statements", splitter=one)),
    "histogram": lambda one: HistogramChecker(LLMChecker(one), (1.0,) * 10, 0.0),
}
CASES = [
    pytest.param(lambda one, m=m, c=c: replace(m, judge=judge(one, **c)), id=f"{type(m).__name__}-{n}-{name}")
    for n, m in enumerate(JUDGED)
    for name, c in JUDGES.items()
]
CASES += [
    pytest.param(lambda one, m=m: FaithfulnessMetric(checker=m(one)), id=f"FaithfulnessMetric-{name}")
    for name, m in CHECKERS.items()
]
CASES += [
    pytest.param(lambda one: RatingMetric(quality="coherence", backend=one), id="RatingMetric"),
    pytest.param(lambda one: Rubric(criteria="good", backend=one, scale=(0, 9)), id="Rubric"),
    pytest.param(lambda one: SideBySide(backend=one), id="SideBySide-backend"),
]


def used(make, rows, manner, seed):
    """The bound of a metric over rows, by stage and in all, and what it really used."""
    backend = Recorder(manner, seed)
    metric, ledger = make(backend), Ledger()
    bound = calls_at_most(metric, rows)
    assert backend.usage.calls == 0, "a bound calls nobody"
    put, _ = metered(metric.options(), ledger)
    score_rows(replace(metric, **put), rows, progress=False)
    return bound, ledger, backend


@pytest.mark.nightly
@pytest.mark.parametrize("make", CASES)
def test_a_declared_bound_is_never_exceeded(make):
    total = 0
    for seed, manner in enumerate(MANNERS):
        bound, ledger, backend = used(make, list(items(seed)), manner, seed)
        whole, total = sum(bound.values(), Calls()), total + backend.usage.calls
        for stage, row in ledger.stages.items() if set(ledger.stages) == set(bound) else []:
            assert row["calls"] <= bound[stage].calls, (stage, manner)
            assert row["generated_tokens"] <= bound[stage].generated_tokens, (stage, manner)
        assert backend.usage.calls <= whole.calls, manner
        assert backend.usage.prompt_tokens <= backend.prompt_bytes <= whole.prompt_bytes, manner
    assert total > 5, "the metric has to ask something"


FAR = {"Rating": 1, "Rubric": 1, "sentence": 1, "clauses": 1, "backend": 1, "AnswerRel": 35, "ContextRel": 80}


@pytest.mark.parametrize("make", [one for one in CASES if not one.id.endswith(("-narrow", "-choices"))])
def test_a_bound_is_not_silly_for_the_usual_reply(make, request):
    """How far it may stand above what a sensible model takes; nothing, where nothing depends on a reply."""
    bound, _, backend = used(make, list(items(1)), "usual", 1)
    far = next((times for name, times in FAR.items() if name in request.node.callspec.id), 15)
    assert backend.usage.calls <= sum(bound.values(), Calls()).calls <= far * backend.usage.calls


def test_a_checker_without_declared_calls_is_named():
    class Silent:
        fingerprint, threshold, backends = "silent", 0.5, [Recorder("usual", 0)]

        def check_many(self, pairs, *, vectors=None):
            return [Verdict(probability=1.0) for _ in pairs]

    class SilentJudge(BulkJudge):
        fingerprint, backends = "silent", [Recorder("usual", 0)]

    rows = list(items(3))
    with pytest.raises(NotDeclared, match=r"Silent does not say what it asks: give it calls_for\(pairs\)"):
        calls_at_most(FaithfulnessMetric(checker=Silent()), rows)
    with pytest.raises(TypeError, match=r"Silent does not say"):
        calls_at_most(FaithfulnessMetric(checker=ChunkedChecker(Silent())), rows)
    with pytest.raises(NotDeclared, match=r"SilentJudge does not say .* calls_for\(purpose, items\)"):
        calls_at_most(AnswerMetric(judge=SilentJudge()), rows)
    around = EmbeddedJudge(checker=LLMChecker(Recorder("usual", 0)))  # how its checker is asked only the texts tell
    assert len(find_backends({"judge": around})) == 1 and find_backends({"judge": EmbeddedJudge()}) == []
    with pytest.raises(NotDeclared, match="EmbeddedJudge does not say"):
        calls_at_most(AnswerMetric(judge=around), rows)
    with pytest.raises(NotDeclared, match=r"len does not say .* calls_for\(rows\)"):
        calls_at_most(len, rows)


def test_an_own_judge_declares_calls_and_replies():
    class Own(BulkJudge):
        fingerprint, backends = "own", [Recorder("usual", 0)]

        def calls_for(self, purpose, items):
            return len(items), [Most(2, 100) for _ in items]

    row = {"context": "It rained.", "question": "Why?", "ground_truth": "It rained.", "answer": "Wet."}
    bound = calls_at_most(AnswerMetric(judge=Own()), [row])
    assert bound == {"refusals": Calls(2), "pronouns": Calls(2), "statements": Calls(2), "entailment": Calls(3)}


def test_what_is_declared_is_checked_and_added_up():
    assert by_stage(3, "metric", "mine") == {"metric": Calls(3)}
    assert by_stage({"a": 1, "b": Calls(2, 5)}, "metric", "mine") == {"a": Calls(1), "b": Calls(2, 5)}
    for wrong in (-1, 2.5, None, "two"):
        with pytest.raises((TypeError, ValueError), match="mine.calls_for"):
            by_stage(wrong, "metric", "mine")
    assert added({"a": Calls(1, 2, 3)}, {"a": Calls(1), "b": Calls(4)}) == {"a": Calls(2, 2, 3), "b": Calls(4)}
    assert declared(load_checker("words"), "checking", []) == {} and not asks_models("embedded")
    assert find_backends(load_checker("words")) == []


def test_replies_beyond_measure_are_asked_for_again():
    from summeval_nb.judged.cases import of_measure, read_units

    assert of_measure(["It rained."] * 12, "It rained.") and read_units(["Ben came."], ["He came."]) == ["Ben came."]
    with pytest.raises(ValueError, match="many times as long"):
        of_measure(["It rained all day."] * 60, "It rained.")
    for new in ("He came. " * 20, "- He came."):
        with pytest.raises(ValueError, match="rewritten"):
            read_units([new], ["He came."])

"""Servers without probabilities or constraints give hard verdicts; a full store needs no server."""

import json
import subprocess
import sys

import pytest
from helpers.patience import comes_back
from servers.misbehaving import PROBE, MisbehavingServer
from servers.raw import RawServer, response

from summeval_nb import (
    LLMChecker,
    ServerBackend,
    Store,
    benchmark_checker,
    evaluate,
    evaluate_many,
    rate,
)
from summeval_nb.evidence import guarantee_thresholds
from summeval_nb.evidence.faithfulness import checker, faithfulness_from_dict
from summeval_nb.evidence.model_checkers import load_checker
from summeval_nb.judged import LLMJudge, compare_answers, load_judge, rubric_score
from summeval_nb.models.base import BackendRejected, InvalidOutput, Undecided, read_choice

ARTICLE = "Anna bought a red car in Paris. Ben sold a blue boat."
SUMMARY = "Anna bought a red car in Paris. Ben sold a yellow boat."
OPTIONS = ["yes", "no"]


class Modest:
    """A server of plain text: it refuses each field that it was not made with, and answers in the words of `says`."""

    def __init__(self, says, *knows, finish="stop"):
        self.says, self.finish, self.asked = says, finish, []
        self.knows = {"model", "messages", *knows}

    def __call__(self, head, body):
        request = json.loads(body)
        self.asked.append(request)
        if unknown := request.keys() - self.knows:
            error = {"error": {"message": f"unknown field {min(unknown)}"}}
            return response(json.dumps(error).encode(), status="422 Unprocessable Entity")
        prompt = request["messages"][-1]["content"]
        text = self.says(prompt) if callable(self.says) else self.says
        choice = {"message": {"content": text}, "finish_reason": self.finish}
        return response(json.dumps({"choices": [choice]}).encode())


def backend_for(server, **settings):
    return ServerBackend("modest", base_url=server.url, **{"max_retries": 0, "timeout": 10, **settings})


def by_colour(prompt):
    return "No, the boat was blue." if "yellow" in prompt.rpartition("<claim>")[2] else "**Yes.** So it says."


def test_a_plain_reply_is_a_hard_verdict():
    for knows in ((), ("temperature", "max_tokens"), ("temperature", "max_completion_tokens")):
        modest = Modest(by_colour, *knows)
        with RawServer(modest) as server:
            result = evaluate(ARTICLE, SUMMARY, checker=LLMChecker(backend_for(server), threshold=0.9))
        assert result.score == 0.5 and [verdict.hard for verdict in result.verdicts] == ["supported", "contradicted"]
        assert all(verdict.probability is None and verdict.judged for verdict in result.verdicts)
        assert "2 hard" in result.report().title and "supported (hard)" in result.to_text()
        assert result.signature["verdicts"] == "hard" and result.mean_probability is None
        again = faithfulness_from_dict(json.loads(json.dumps(result.to_dict())))
        assert again.verdicts == result.verdicts and again.score == 0.5
        assert all(request.keys() - {"model", "messages"} == set(knows) for request in modest.asked[-2:])


def test_constraints_without_probabilities_are_kept():
    kept = {"llamacpp": ("grammar", 4), "vllm": ("structured_outputs", 5), "openai": ("response_format", 6)}
    for dialect, named in ((own, named) for own in kept for named in (own, "auto")):
        with MisbehavingServer("no_logprobs", dialect=dialect, also_probe=True) as server:
            backend = backend_for(server, dialect=named)
            choice = backend.choose("Well?", OPTIONS)
            assert choice.hard and choice.label in OPTIONS and choice.probabilities == {}
            field, probes = kept[dialect]
            assert field in server.questions[-1] and "logprobs" not in server.questions[-1]
            asked = sum(PROBE in asked["messages"][-1]["content"] for asked in server.questions)
            assert asked == (probes if named == "auto" else 2)


def test_a_model_that_says_neither_is_unclear_not_unsupported():
    with RawServer(Modest("That depends on the \x1b[2J<b>weather</b>.")) as server:
        result = evaluate(ARTICLE, SUMMARY, checker=LLMChecker(backend_for(server)))
    assert [verdict.state for verdict in result.verdicts] == ["unclear", "unclear"]
    assert (result.score, result.score_high, result.n_failed) == (0.0, 1.0, 0)
    assert "unclear (hard)" in result.to_text() and "says neither" in result.to_text()
    assert "\x1b" not in result.to_text() and "<b>weather" not in result._repr_html_()


def test_a_reply_that_holds_nothing_is_a_failure():
    for text, finish, words in (
        ("", "stop", "it is empty"),
        ("Let me think about this", "length", "cut off"),
        ("x" * 500, "length", "x" * 200),
    ):
        replies = Modest(lambda prompt, text=text: "zebra-4" if "zebra" in prompt else text, finish=finish)
        with RawServer(replies) as server, pytest.raises(InvalidOutput, match=words) as caught:
            backend_for(server).choose("Well?", OPTIONS)
        assert not isinstance(caught.value, Undecided) and "x" * 201 not in str(caught.value)


def test_where_nothing_can_be_had_the_server_is_refused_for_good():
    modest = Modest("yes")
    modest.knows = set()
    with RawServer(modest) as server:
        backend = backend_for(server)
        for _ in range(2):
            with pytest.raises(BackendRejected, match="422"):
                backend.choose("Well?", OPTIONS)
    assert len(modest.asked) == 9  # 2 ways in 3 dialects, 2 in none; one twice, by either name of the most tokens


STATED = {
    "yes": [
        *("yes", " YES!", '{"verdict": "yes"}', "<think>yes? no?</think>\n\nThe final answer is **yes**."),
        *("The evidence says so.\n\nAnswer: yes", "Yes. There is no doubt."),
    ],
    "no": ["No, it does not.", '```json\n{"answer": "no",}\n```', "My answer is: no"],
    None: [
        *("Yes, at first.\nFinal answer: no", "There is no way to know", "yes/no", "", "No evidence denies it"),
        *("Yes. No, wait: the year differs.", "{" * 100_000, "answer is " * 50_000, "\n" * 100_000 + "maybe"),
    ],
    "4": ["4/5", "Grade: 4 out of 5", "I'd give it a 4.", "On a scale of 1 to 5, I give 4."],
    "2": ["**Score:** 2", "- Clear: yes\n- Short: yes\n\nOverall score: 2", "My grade is 2 because 3 facts are wrong."],
    "B": ["A: good. B: better. Verdict: B", "I prefer B.", "[[B]]"],
}
NO_GRADES = ["3.5", "-1", "Between 3 and 4.", "1. Coherent\n2. Fluent", "I would give 5 but for the date"]
NO_GRADES += ["I don't think I'd give it a 5.", "Grade: 5. On reflection, grade: 3."]


def test_an_option_is_read_where_it_is_stated():
    with comes_back():
        for option, replies in STATED.items():
            options = list("12345") if option in ("2", "4") else ["A", "B", "tie"] if option == "B" else OPTIONS
            assert {reply[:40]: read_choice(reply, options) for reply in replies} == {r[:40]: option for r in replies}
    assert [read_choice(reply, list("12345")) for reply in NO_GRADES] == [None] * len(NO_GRADES)


def test_samples_are_counted_and_stored_one_by_one(tmp_path):
    replies = iter(["yes", "no", "yes", "yes", "no"])
    modest = Modest(lambda prompt: "zebra-4" if "zebra" in prompt else next(replies), "temperature", "max_tokens")
    with RawServer(modest) as server:
        backend = backend_for(server)
        settings = {"store": Store(tmp_path / "s.sqlite")}
        three = evaluate(ARTICLE, "Ben sold a boat.", checker=LLMChecker(backend, samples=3), **settings)
        assert backend.usage.calls == 3 and three.verdicts[0].probability == pytest.approx(2 / 3)
        five = evaluate(ARTICLE, "Ben sold a boat.", checker=LLMChecker(backend, samples=5), **settings)
        assert backend.usage.calls == 5 and five.verdicts[0].probability == pytest.approx(3 / 5)
        assert all(request["temperature"] == 1 for request in modest.asked[-5:])
    assert five.verdicts[0].supported and "3 of 5 samples" in five.to_text() and "samples=5" in str(five.signature)


def test_a_rubric_of_your_own_needs_no_probabilities(tmp_path):
    grades = iter("4453")
    modest = Modest(lambda prompt: "zebra-4" if "zebra" in prompt else f"Grade: {next(grades)}")
    with RawServer(modest) as server:
        backend = backend_for(server)
        hard = rate(ARTICLE, SUMMARY, rubric="Is it {polite}?", judge=backend)
        assert "Is it {polite}?" in modest.asked[-1]["messages"][0]["content"]
        drawn = rate(ARTICLE, SUMMARY, rubric="Is it kind?", judge=backend, samples=3)
    assert (hard.score, hard.probability_mass, hard.spread, hard.quality) == (4.0, None, None, "rubric")
    assert hard.signature["choices"] == "hard" and "hard" in hard.note
    assert drawn.score == pytest.approx(4.0) and drawn.signature["samples"] == "3"
    with pytest.raises(ValueError, match="what is graded"):
        rate(ARTICLE, SUMMARY, judge=backend, quality="fluency", rubric="x")


def test_judges_rubrics_and_comparisons_take_hard_choices():
    def says(prompt):
        return "A" if "Answer A" in prompt or "tie" in prompt else "5" if "grade" in prompt else "entailed"

    with RawServer(Modest(says)) as server:
        backend = backend_for(server)
        (found,) = LLMJudge(backend, probabilities=True).many("entail", [(ARTICLE, ["Ben sold a boat."])])
        assert (found[0].label, found[0].probability) == ("entailed", None)
        assert rubric_score("When?", "Now.", rubric="Polite?", judge=backend).score == 5.0
        compared = compare_answers("When?", "Now.", "Never.", judge=backend)
    assert (compared.score, compared.consistent, compared.signature["choices"]) == (0.5, False, "hard")


def test_json_is_asked_for_in_words_where_no_schema_is_known():
    import pydantic

    class Said(pydantic.BaseModel):
        word: str

    with RawServer(modest := Modest('Here it is:\n```json\n{"word": "rain",}\n```')) as server:
        assert backend_for(server).generate_json("Say a word.", Said).word == "rain"
    assert '"word"' in modest.asked[-1]["messages"][0]["content"]


def test_what_needs_a_probability_refuses_a_hard_verdict():
    row = {"evidence": ["It rained."], "sentence": "It rained.", "label": 1}
    with RawServer(Modest("yes")) as server:
        judge = LLMChecker(backend_for(server))
        assert checker(["It rained."], "It rained.", using=judge) == (True, None)
        with pytest.raises(ValueError, match="guarantee is about probabilities"):
            guarantee_thresholds([row], judge)
        article = {"article": "It rained. The sun shone.", "sentence": "It rained.", "supported": True}
        rows = [article, article | {"sentence": "It snowed.", "supported": False}]
        (found,) = benchmark_checker(judge, {"mine": rows}, n_resamples=0).rows()
    assert found["false_found"] == 0.0 and found["calibration_error"] is None and found["declined"] == 0


def test_an_unknown_name_lists_every_form():
    forms = ("embedded", "quick", "careful", "words", "nli:FOLDER", "llm:FOLDER", "llm:NAME@https://HOST/v1")
    for load in (load_checker, load_judge):
        with pytest.raises(ValueError, match="'llm:gpt-4o-mini@https://HOST/v1'") as caught:
            load("gpt-4o-mini")
        assert all(form in str(caught.value) for form in forms)
        with pytest.raises(ValueError) as caught:
            load("small@http://someone:hunter2@host/v1?key=k-777")
        assert "hunter2" not in str(caught.value) and "k-777" not in str(caught.value)


OFFLINE = """
import sys
from summeval_nb import LLMChecker, ServerBackend, evaluate
url, dialect, store, text, summary = sys.argv[1:]
backend = ServerBackend("scripted", base_url=url, dialect=dialect)
result = evaluate(text, summary, checker=LLMChecker(backend), store=store)
print(result.score, result.signature, backend.usage.calls)
"""


@pytest.mark.parametrize(("dialect", "behaviour"), [("auto", "ok"), ("openai", "ok"), ("auto", "no_logprobs")])
def test_a_full_store_needs_no_server_in_another_process(dialect, behaviour, tmp_path):
    store = str(tmp_path / "store.sqlite")
    kind = "llamacpp" if dialect == "auto" else dialect
    with MisbehavingServer(behaviour, dialect=kind, also_probe=True) as server:
        backend = backend_for(server, dialect=dialect)
        backend.name = "scripted"
        first = evaluate(ARTICLE, SUMMARY, checker=LLMChecker(backend), store=store)
        url = server.url
    command = [sys.executable, "-c", OFFLINE, url, dialect, store, ARTICLE, SUMMARY]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert said.stdout.split() == [str(first.score), str(first.signature), "0"], said.stderr


def test_only_a_missing_answer_asks_the_server_and_fails_once(tmp_path):
    store = tmp_path / "store.sqlite"
    with MisbehavingServer() as server:
        url = server.url
        evaluate_many([ARTICLE], [SUMMARY], checker=LLMChecker(backend_for(server)), store=store)
    gone = ServerBackend("modest", base_url=url, timeout=10, max_retries=1)
    questions = [SUMMARY, *(f"Ben sold {n} boats." for n in range(39))]
    with comes_back():
        both = evaluate_many([ARTICLE] * 40, questions, checker=LLMChecker(gone), store=store)
    assert gone.usage.retries == 1
    assert both[0].score is not None and both[1].score is None and "cannot be reached" in both[1].reason

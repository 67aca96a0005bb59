"""The embedded judge: the same one by one and in bulk, as right as the chapter says; no text changes its rules."""

import json
from pathlib import Path

import pytest
from helpers.cases import ATTACKS, BRIDGE, JPMORGAN, STATEMENTS
from helpers.says import Says
from helpers.stores import kept

from summeval_nb import evaluate, sample_articles
from summeval_nb.core.results import Finding, Verdict
from summeval_nb.judged import EmbeddedJudge, JudgeFailure, LLMJudge, Question, ask_many, load_judge
from summeval_nb.judged.embedded import TASKS
from summeval_nb.models.base import example_model
from summeval_nb.models.local import TransformersBackend
from summeval_nb.models.store import Store

PREMISE = BRIDGE
QUESTIONS = [Question(text=f"Is it true that {s[:-1]}?", statement=s) for s in STATEMENTS]


@pytest.fixture(scope="module")
def judge() -> EmbeddedJudge:
    return load_judge("embedded")


def is_so(statement: str) -> list[Question]:
    return [Question(text="Is it so?", statement=statement)]


def labelled(name: str) -> list[dict]:
    path = Path(__file__).parents[1] / "summeval_nb" / "assets" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_refusals_are_recognised_as_often_as_the_chapter_says_and_hardly_an_answer_is_taken_for_one(judge):
    """Sixty sentences were kept aside while the patterns were made: few answers are taken for refusals."""
    flagged = lambda texts: [bool(flag) for flag in ask_many(judge, "refusal", [(text,) for text in texts])]
    old, fresh = labelled("refusals"), labelled("refusals_fresh")
    rows = [row for row in old if row["part"] == "test"]
    flags = flagged(row["text"] for row in rows)
    assert sum(flag == row["refused"] for flag, row in zip(flags, rows, strict=True)) / len(rows) >= 0.9
    assert sum(flagged(row["text"] for row in fresh if not row["refused"])) <= 2
    held = json.loads(Path(__file__).with_name("refusals_held.json").read_text(encoding="utf-8"))
    assert sum(flagged(held["answered"])) <= 2 and sum(flagged(held["refused"])) >= 25


ITEMS = {
    "resolve": [("She left.", ["She left."]), ("It rained.", None)],
    "statements": [("The rain stopped, but the match was cancelled.",), ("Blue.",), ("雨停了。",)],
    "entail": [(PREMISE, STATEMENTS), (PREMISE, [STATEMENTS[2]]), ("It rained.", ["It snowed."])],
    "refusal": [("I don't know.",), ("It opened in 1931.",), ("The text does not say.",)],
    "keyphrases": [(PREMISE, 3), ("The council of Lund approved a tram line.", 2), ("...", 4)],
    "questions": [(PREMISE, ["cars", "1931"]), (PREMISE, ["submarine"])],
    "answer": [(PREMISE, QUESTIONS), ("It is painted green.", QUESTIONS)],
}


def test_one_by_one_equals_bulk_and_what_a_store_gives_back(judge, tmp_path):
    store = Store(tmp_path / "judge.sqlite")

    def rounded(value):
        plain = json.loads(json.dumps(value, default=vars), parse_float=lambda text: round(float(text), 4))
        return json.dumps(plain, sort_keys=True)

    for task, (method, _) in TASKS.items():
        bulk, single = judge.many(task, ITEMS[task]), [getattr(judge, method)(*item) for item in ITEMS[task]]
        assert rounded(bulk) == rounded(single), task
        first, again = (ask_many(judge, task, ITEMS[task], store=store) for _ in range(2))
        assert first == again and rounded(first) == rounded(bulk), task
    assert sum(map(len, kept(store.path).values())) == sum(map(len, ITEMS.values()))


LABELS = {"supported": "entailed", "unclear": "neutral", "contradicted": "contradicted"}  # of a judge, by state


def test_the_judge_and_evaluate_have_the_same_verdict(judge):
    kinds = set()
    for article, summary in [(one, own) for one in sample_articles() for own in one.summaries.values()]:
        result = evaluate(article.text, summary.text)
        texts = [sentence.text for sentence in result.sentences]
        questions = [Question(text=f"Is it true that {text}?", statement=text) for text in texts]
        entailed, answered = judge.entail(article.text, texts), judge.answer(article.text, questions)
        for place, verdict, tag, answer in zip(result.sentences, result.verdicts, entailed, answered, strict=True):
            assert tag.probability == pytest.approx(verdict.probability, abs=1e-3) == answer.probability
            assert tag.label == LABELS[verdict.state]
            moved = [f._replace(start=f.start + place.start, end=f.end + place.start) for f in tag.findings]
            assert [tuple(finding) for finding in moved] == [tuple(finding) for finding in verdict.findings]
            told = [result.source_sentences[sentence.index] for sentence in verdict.evidence]
            place_of = lambda sentence: (sentence.text, sentence.start, sentence.end)
            assert [*map(place_of, tag.evidence)] == [*map(place_of, told)]
            assert answer.value == 0 or tag.label == "entailed" or (answer.said >= 0.6 and tag.probability > 0.34)
            kinds.add((verdict.state, any(finding.clash for finding in verdict.findings)))
    assert kinds == {("supported", False), ("unclear", True), ("unclear", False), ("contradicted", True)}


def test_unclear_is_neutral_only_a_clash_contradicts_and_answers_follow_the_verdicts():
    def borders(evidence, claim):
        """The probability stands in the statement, with or without a clash."""
        number = [Finding("number", "9", 0, 1, clash=True)] if "clash" in claim else []
        borders = {"threshold": 0.6, "contradicted_below": 0.4 if number else 0.0}
        return Verdict(probability=float(claim.split()[1]) / 100, findings=number, **borders)

    checker = Says(borders, "borders-1", threshold=0.6)
    checker.contradicted_below = 0.4
    judge = EmbeddedJudge(checker=checker)
    for statement, label, value in (
        ("say 90 and nothing", "entailed", 1),
        ("say 90 and clash", "neutral", 0),
        ("say 50 and nothing", "neutral", 0),
        ("say 20 and nothing", "neutral", 0),
        ("say 20 and clash", "contradicted", 0),
    ):
        (entailment,) = judge.entail(PREMISE, [statement])
        assert (entailment.label, entailment.probability) == (label, float(statement.split()[1]) / 100)
        (answer,) = judge.answer("Nothing. They say 50 and nothing.", is_so(statement))
        assert (answer.value, answer.probability, answer.said) == (value, entailment.probability, None)


QUESTIONS_OF_RAGAS = {
    "is an American multinational finance company.": 1,
    "is headquartered in New York City.": 1,
    "is the largest bank in the United States.": 1,
    "is the world's largest bank by market capitalization as of 2023.": 1,
    "is considered systemically important by the Financial Stability Board.": 0,
    "was founded in 1799 as the Chase Manhattan Company.": 0,
    "is a major provider of investment banking services.": 1,
    "is the fifth-largest bank in the world by assets.": 0,
    "operates the largest investment bank by revenue.": 0,
    "was ranked #1 in the Forbes Global 2000 ranking.": 1,
    "provides investment banking services.": 1,
}


def test_the_eleven_questions_of_the_definition_and_words_of_the_subject_answer_nothing(judge):
    asked = [question for told in QUESTIONS_OF_RAGAS for question in is_so("JPMorgan Chase & Co. " + told)]
    assert [answer.value for answer in judge.answer(JPMORGAN, asked)] == list(QUESTIONS_OF_RAGAS.values())
    lund = "Lund Bank has 40 branches and was founded in 1990."
    for summary, statement, value in (
        (lund, "Lund Bank was founded in 1990.", 1),
        (lund, "Lund Bank was founded in 1991.", 0),
        ("The repair ship Aurelia joined the cable.", "The repair ship Aurelia reached the place at noon.", 0),
        ("Leeds beat Derby on Saturday.", "Derby beat Leeds.", 0),
        ("No one was hurt when the old pier collapsed in 1998.", "The new pier collapsed in 1998.", 0),
    ):
        (answer,) = judge.answer(summary, is_so(statement))
        assert answer.value == value and 0 <= answer.said <= 1, statement


GERMAN = "Die Brücke wurde im Jahr 1931 für den Verkehr geöffnet und ist nicht sehr lang."


def test_what_the_checker_does_not_read_is_not_judged_unless_the_language_was_declared(judge):
    foreign, own = judge.entail(PREMISE, [GERMAN, STATEMENTS[0]])
    assert foreign.failed and foreign.probability is None and "in German" in foreign.reason and own.label == "entailed"
    assert all("article is in German" in entailment.reason for entailment in judge.entail(GERMAN, STATEMENTS))
    assert judge.is_refusal(GERMAN).value is None and "in German" in judge.is_refusal(GERMAN).reason
    with pytest.raises(JudgeFailure, match="in German"):
        judge.keyphrases(GERMAN, 3)
    answer = judge.answer(GERMAN, [Question(text="Is it?", statement="It opened in 1931.")])[0]
    assert answer.value is None and "in German" in answer.reason
    told = EmbeddedJudge(lang="en")
    assert told.entail(PREMISE, [GERMAN])[0].probability is not None and told.keyphrases(GERMAN, 3)
    assert told.is_refusal(GERMAN).value is not None and told.fingerprint != judge.fingerprint
    assert "in German" in EmbeddedJudge(lang="de").entail(PREMISE, STATEMENTS)[0].reason


def test_instructions_in_a_premise_change_no_verdict(judge):
    for attack in ATTACKS:
        for text in (PREMISE, f"{attack} {PREMISE}", f"{PREMISE}\n\n{attack}"):
            found = [entailment.label for entailment in judge.entail(text, STATEMENTS)]
            assert found[0] == "entailed" and "entailed" not in found[1:], attack
        assert not judge.is_refusal("It opened in 1931. " + attack)


def test_a_long_premise_is_read_to_its_end(judge):
    filler = "The committee met again on that day and talked about many other matters of the town. "
    long = filler * 600 + PREMISE
    assert len(long) > 50_000
    assert [entailment.label == "entailed" for entailment in judge.entail(long, STATEMENTS)] == [True, False, False]
    found = judge.entail(long, STATEMENTS[:1])[0].evidence[0]
    assert long[found.start : found.end] == STATEMENTS[0]


def test_empty_and_strange_texts(judge):
    found = judge.entail(PREMISE, ["?!", STATEMENTS[0]])
    assert [entailment.failed for entailment in found] == [True, False] and "no word" in found[0].reason
    (answer,) = judge.answer("It rained.", is_so("?!"))
    assert answer.value is None and "no word" in answer.reason
    for text in ("", "?!"):
        assert judge.is_refusal(text).value is None
        assert judge.keyphrases(text, 3) == [] and judge.questions(text, ["x"]) == []
    with pytest.raises(JudgeFailure, match="no sentence"):
        judge.entail(" \n\t", ["It rained."])
    composed, apart = judge.entail(PREMISE, ["\u00e9" * 40, "e\u0301" * 40])
    assert composed.label is apart.label is None and "another language" in composed.reason == apart.reason


def test_key_phrases_have_places_and_bounds_and_questions_are_answered_yes_by_their_own_text(judge):
    found = judge.keyphrases(PREMISE, 3)
    assert 0 < len(found) <= 3 and all(PREMISE[phrase.start : phrase.end] == phrase.text for phrase in found)
    text = "Zebras sleep. Rhubarb grows here. Zebras eat. Zebras drink. Nobody cooks rhubarb."
    assert judge.keyphrases(text, 1)[0].text.casefold().startswith("zebras")  # what a text comes back to weighs more
    phrases = [phrase.text for phrase in judge.keyphrases(PREMISE, 5)]
    questions = judge.questions(PREMISE, phrases)
    assert questions and {p for q in questions for p in q.keyphrases} <= set(phrases)
    assert all(answer.value == 1 for answer in judge.answer(PREMISE, questions))
    assert [answer.value for answer in judge.answer("A cat slept.", questions)] == [0] * len(questions)


CLAUSE = "The line links the station with the university hospital and costs 94 million euros."


def test_words_answer_yes_when_the_main_part_is_said():
    for text, value, reason in (
        (CLAUSE, 1, ""),
        ("The new tram to the hospital costs Lund 94 million euros.", 1, ""),
        (CLAUSE.replace("94", "49"), 0, "numbers differ: 94 and 49"),
        (CLAUSE.replace("costs", "never costs"), 0, "negated"),
        ("It rained.", 0, "too little of it is said"),
    ):
        (answer,) = load_judge("words").answer(text, is_so(CLAUSE))
        assert answer.value == value and reason in answer.reason
        assert answer.said == 1 if text == CLAUSE else 0 <= answer.said <= 1
        assert answer.probability is None and all(text[s.start : s.end] == s.text for s in answer.evidence)


def test_a_judge_by_its_name(judge):
    assert load_judge("embedded") is judge is not load_judge("words")
    llama = example_model()
    assert load_judge(f"llm:{llama}").fingerprint == LLMJudge(TransformersBackend(llama)).fingerprint
    assert EmbeddedJudge(k=3).fingerprint != judge.fingerprint == EmbeddedJudge().fingerprint


def test_each_distinct_pair_is_checked_once():
    checker = Says(lambda evidence, claim: 0.9)
    judge = EmbeddedJudge(checker=checker, k=2)
    items = [(PREMISE, ["It rained.", "It snowed."]), (PREMISE, ["It rained."]), (" ", ["It rained."]), (PREMISE, [])]
    first, again, blank, nothing = judge.many("entail", items)
    assert sorted(claim for _, claim in checker.asked) == ["It rained.", "It snowed."]
    assert all(len(evidence) == 2 for evidence, _ in checker.asked)
    assert first[:1] == again and len(first) == 2 and isinstance(blank, JudgeFailure) and nothing == []
    answers = judge.answer(PREMISE, is_so("It rained."))
    assert [(answer.value, answer.probability, answer.said) for answer in answers] == [(1, 0.9, None)]

"""Sentences cut into statements, entities and arcs, and the answers put together again."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb import LLMChecker, ScriptedBackend, TransformersBackend
from summeval_nb.evidence.claims import entities_by_rules
from summeval_nb.evidence.model_checkers import ClaimFinder, annotator_name, judge_claims
from summeval_nb.models import InvalidOutput, example_model


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    """A real stanza pipeline for names and one for dependencies, trained here."""
    stanza = pytest.importorskip("stanza")
    from helpers.stanza_parser_tiny import train_parser

    common, names, arcs = train_parser(tmp_path_factory.mktemp("stanza"))
    return (
        stanza.Pipeline("en", processors="tokenize,ner", **common, **names),
        stanza.Pipeline("en", processors="tokenize,pos,lemma,depparse", **common, **arcs),
    )


@pytest.mark.nightly
def test_entities_and_arcs_of_real_pipelines(pipelines):
    finder = ClaimFinder("entities", annotator=pipelines[0])
    sentence = "Anna Smith met Ben in Paris."
    found = finder.find(sentence)
    assert [sentence[claim.start : claim.end] for claim in found] == ["Anna Smith", "Ben", "Paris"]
    assert [claim.text for claim in found][1:] == ["Someone met Ben in a place.", "Someone met someone in Paris."]
    assert finder.fingerprint.startswith("entities:stanza-") and finder.fingerprint.endswith("-en:minimum")
    evidence = ["Anna bought a red car in Paris.", "Ben sold a blue boat."]
    found = ClaimFinder("arcs", annotator=pipelines[1]).find(evidence[0])
    assert [claim.text for claim in found] == ["Anna bought.", "A red car.", "Bought a car.", "Bought in Paris."]
    assert [evidence[0][claim.start : claim.end] for claim in found][:2] == ["Anna bought", "red car"]
    checker = LLMChecker(TransformersBackend(example_model()), claims="arcs", annotator=pipelines[1])
    right, wrong = checker.check_many([(evidence, evidence[0]), (evidence, "Anna bought a green car in Paris.")])
    weak = {part["text"]: part["probability"] for part in wrong.details["claims"]}
    assert wrong.supported is False and min(weak, key=weak.get) == "A green car."
    assert right.probability > wrong.probability and "arcs:stanza-" in checker.fingerprint


NEGATION = """
# text = The bank did not close its two branches.
1	The	the	DET	DT	_	2	det	_	_
2	bank	bank	NOUN	NN	_	5	nsubj	_	_
3	did	do	AUX	VBD	_	5	aux	_	_
4	not	not	PART	RB	_	5	advmod	_	_
5	close	close	VERB	VB	_	0	root	_	_
6	its	its	PRON	PRP$	_	8	nmod:poss	_	_
7	two	two	NUM	CD	_	8	nummod	_	_
8	branches	branch	NOUN	NNS	_	5	obj	_	SpaceAfter=No
9	.	.	PUNCT	.	_	5	punct	_	_

"""


def test_arcs_of_parses_read_from_conllu():
    pytest.importorskip("stanza")
    from stanza.utils.conll import CoNLL

    parsed, sentence = CoNLL.conll2doc(input_str=NEGATION), "The bank did not close its two branches."
    found = ClaimFinder("arcs", annotator=lambda text: parsed).find(sentence)
    expected = ["The bank did not close.", "Its branches.", "Two branches.", "Did not close branches."]
    assert [claim.text for claim in found] == expected
    assert all(0 <= claim.start < claim.end <= len(sentence) for claim in found)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="Anna Ben 13 Paris, and but July .!?\n‘’\u200b模型\ud83d", max_size=60))
def test_any_text_has_claims_with_places(sentence):
    for mode in ("sentence", "statements", "entities"):
        claims = ClaimFinder(mode).find(sentence)
        assert claims and all(0 <= claim.start <= claim.end <= len(sentence) for claim in claims)


def test_a_splitter_that_misbehaves_fails_only_its_sentence():
    for reply in ("Sure!", '{"statements": "one"}', '{"statements": [', "{}"):
        bad_or_good = lambda prompt, bad=reply: bad if "boat" in prompt else '{"statements": ["A", "B", "A", " "]}'
        splitter = ScriptedBackend(bad_or_good)
        checker = LLMChecker(ScriptedBackend(lambda prompt: "yes"), claims="statements", splitter=splitter)
        bad, good = checker.check_many([(["e"], "The boat sank."), (["e"], "The car stood.")])
        assert bad.failed and bad.reason.startswith("InvalidOutput") and bad.probability is None
        assert [part["text"] for part in good.details["claims"]] == ["A", "B"] and good.supported


def test_parts_are_combined_and_the_weak_ones_are_findings():
    answers, asked = {"Anna bought a car.": 0.9, "Ben sold a boat.": 0.3}, []

    def ask(questions):
        asked.extend(questions)
        return [(answers[claim], {"probability_mass": 0.5 + answers[claim] / 2, "note": "text"}) for _, claim in asked]

    pair = (["evidence"], "Anna bought a car, and Ben sold a boat.")
    least, twice = judge_claims([pair, pair], ClaimFinder("statements"), 0.5, ask)
    assert len(asked) == 2 and twice == least
    assert (least.probability, least.supported) == (0.3, False)
    assert [(f.kind, f.text, f.start, f.end) for f in least.findings] == [("claim", "Ben sold a boat", 23, 38)]
    assert least.details["probability_mass"] == pytest.approx(0.65) and least.details["combine"] == "minimum"
    asked.clear()
    mean = judge_claims([pair], ClaimFinder("statements", combine="mean"), 0.5, ask)[0]
    assert mean.probability == pytest.approx(0.6)
    failed = [(0.9, {}), InvalidOutput("no"), (0.9, {})]
    pairs = [pair, (["e"], "Anna bought a car.")]
    found, other = judge_claims(pairs, ClaimFinder("statements"), 0.5, lambda questions: failed)
    assert found.failed and found.probability is None and found.reason == "InvalidOutput: no" and not other.failed


def test_what_does_not_help_is_refused_and_an_annotator_is_named_by_fingerprint_library_or_itself():
    for mode, options, message in (
        ("arcs", {}, "needs a parser"),
        ("statements", {"annotator": print}, "annotator is for claims='entities' or 'arcs', not for 'statements'"),
        ("entities", {"splitter": "llm:x"}, "splitter is for claims='statements'"),
    ):
        with pytest.raises(ValueError, match=message):
            ClaimFinder(mode, **options)
    Foreign = type("Pipeline", (), {"__module__": "stanza.pipeline", "lang": "de"})
    assert annotator_name(SimpleNamespace(fingerprint="mine:1")) == "mine:1" and annotator_name(print) == "print"
    stanza = pytest.importorskip("stanza")
    assert annotator_name(Foreign()) == f"stanza-{stanza.__version__}-de"


def test_entities_by_rules_or_by_the_pipeline_that_is_handed_over():
    for sentence, expected in (
        ("The mayor met Anna Hidalgo on 14 July 2019.", ["Anna Hidalgo", "14 July 2019"]),
        ("On July 14, 2019, it cost $1,300.50.", ["July 14, 2019", "$1,300.50"]),
        ("The Bank of England raised rates.", ["Bank of England"]),
        ("It rained.", []),
        ("In Berlin nobody slept.", ["Berlin"]),
    ):
        assert [sentence[start:end] for start, end, _ in entities_by_rules(sentence)] == expected
    found = entities_by_rules("The mayor of Paris, Anna Hidalgo, met 1,300 people on 14 July 2019.")
    assert [kind for _, _, kind in found] == ["NAME", "NAME", "NUMBER", "DATE"]
    seen = [SimpleNamespace(start_char=0, end_char=4, type="PERSON")]
    (claim,) = ClaimFinder("entities", annotator=lambda text: SimpleNamespace(ents=seen)).find("Anna left Paris.")
    assert (claim.start, claim.end) == (0, 4)

"""The embedded checker: numbers, weights, verdicts, fingerprints, and why a verdict is what it is."""

import json
import math
from functools import cache
from pathlib import Path

import pytest
from helpers.late import Late

from summeval_nb import EmbeddedChecker, evaluate, sample_articles
from summeval_nb.evidence import builtin
from summeval_nb.evidence.base import encode_pairs
from summeval_nb.evidence.embedded import LOGIT_CLIP, NUMBERS, fitted, number_weights, pair_features, parse_pair
from summeval_nb.evidence.faithfulness import MEANING, Explanation, faithfulness_from_dict
from summeval_nb.evidence.words import sigmoid
from summeval_nb.text.embed import load_embedder
from summeval_nb.text.split import split_text

Reading = Late("summeval_nb.evidence.reader", "Reading")
Reading = Late("summeval_nb.evidence.reader", "Reading")
load_reader = Late("summeval_nb.evidence.reader", "load_reader")

ARTICLE = [
    "The harbour board approved the new ferry terminal on Tuesday after a debate of four hours.",
    "It will cost 48 million crowns, of which the state pays 12 million.",
    "Mayor Ilse Brandt defeated Henrik Solberg in the vote.",
    "No one was hurt when the old pier collapsed in 1998.",
]
TRUE = ["The harbour board approved the new ferry terminal on Tuesday.", "It will cost 48 million crowns."]
OTHER_WORDS = ["A new ferry terminal was approved by the harbour board.", "Brandt defeated Solberg."]
FALSE = [
    "The harbour board rejected the new ferry terminal on Tuesday.",
    "It will cost 84 million crowns.",
    "The state pays 48 million of which.",
    "The harbour board did not approve the new ferry terminal on Tuesday.",
    "Henrik Solberg defeated Mayor Ilse Brandt in the vote of the board.",
    "The harbour board approved the new ferry terminal on Friday.",
]
LIKELY, UNSAID = "The new pier collapsed in 1998.", "Zebras graze quietly."  # a clash above the threshold; and nothing
OPEN = ["The state pays a quarter of the cost.", "Heavy rain flooded the cellar.", "The harbour has a library.", UNSAID]
MORE = ["The old pier collapsed in 1989.", "Solberg defeated Brandt.", "Nobody was injured in 1998.", LIKELY]


@cache
def pairs():
    """Claims about the article, and the first sentences of the packaged ones."""
    own = [(ARTICLE, claim) for claim in [*TRUE, *OTHER_WORDS, *FALSE, *OPEN, *MORE]]
    texts = [
        (article.text, summary.text) for article in sample_articles()[:4] for summary in article.summaries.values()
    ]
    return own + [(split_text(text)[:8], split_text(summary)[0]) for text, summary in texts]


@pytest.fixture(scope="module")
def verdicts():
    return EmbeddedChecker().check_many(pairs())


@pytest.fixture(scope="module")
def by_claim(verdicts):
    return {claim: verdict for (_, claim), verdict in zip(pairs(), verdicts, strict=True)}


def clashes(verdict):
    return [finding for finding in verdict.findings if finding.clash]


def test_terms_are_weights_times_numbers_and_add_up_to_the_probability_exactly(verdicts):
    weights = number_weights()
    assert set(weights) == {*NUMBERS, "copied"} and len(verdicts) == 30
    for verdict in verdicts:
        numbers, terms = verdict.details["numbers"], dict(verdict.details["terms"])
        assert sigmoid(sum(terms.values())) == verdict.probability
        assert sum(terms.values()) == verdict.details["logit"]
        assert tuple(numbers) == NUMBERS and ("copied" not in terms or clashes(verdict))
        assert json.loads(json.dumps(verdict.details, allow_nan=False)) == verdict.details
        assert terms.pop("copied", weights["copied"]) == weights["copied"] == fitted()["copied"] < 0
        assert terms == {"intercept": fitted()["intercept"]} | {name: weights[name] * numbers[name] for name in NUMBERS}


def test_numbers_are_those_of_the_day_they_were_fitted():
    """Other numbers need other weights, and another RULES. Another machine's differ a little, the reader's most."""
    stored = json.loads((Path(__file__).parent / "reading_numbers.json").read_text(encoding="utf-8"))
    found = EmbeddedChecker().check_many([(ARTICLE, row["claim"]) for row in stored])
    for row, verdict in zip(stored, found, strict=True):
        numbers = verdict.details["numbers"]
        for name, value in row["numbers"].items():
            near = 5e-3 if name in NUMBERS[:4] else 2e-5
            assert numbers[name] == pytest.approx(value, abs=near), f"{row['claim']}: {name}"


def test_what_is_missing_counts_up_to_two_and_a_sure_reading_has_its_limit():
    claims = ["In 2001, 2002 and 2003 Oslo, Rome and Paris were full.", "In 2001 Oslo was full.", TRUE[0]]
    pairs, sure = [(ARTICLE, claim) for claim in claims], Reading(1.0, 0.0, 0.0)
    vectors = encode_pairs(pairs, load_embedder("minilm"))
    found = [pair_features(parse_pair(*pair, own), own, sure, sure) for pair, own in zip(pairs, vectors, strict=True)]
    for name in ("numbers_missing", "names_missing"):
        assert [features[name] for features in found] == [2.0, 1.0, 0.0]
    assert all((features["near_follows"], features["all_denied"]) == (LOGIT_CLIP, -LOGIT_CLIP) for features in found)


def test_a_state_follows_from_probability_and_clash_and_one_changed_fact_is_contradicted(verdicts, by_claim):
    seen = set()
    for verdict in verdicts:
        above, clash = verdict.probability >= verdict.threshold, bool(clashes(verdict))
        against = any(finding.kind != "modality" for finding in clashes(verdict))
        wanted = "supported" if above and not clash else "contradicted" if against and not above else "unclear"
        assert verdict.state == wanted and verdict.threshold == fitted()["threshold"]
        assert verdict.contradicted_below == (verdict.threshold if against else 0.0)
        seen.add((above, clash))
    assert len(seen) == 4, "supported, contradicted, and unclear in both ways"
    likely = by_claim[LIKELY]
    assert clashes(likely) and likely.probability > likely.threshold and likely.state == "unclear"
    assert [by_claim[claim].state for claim in (*TRUE, *OTHER_WORDS)] == ["supported"] * 4
    assert [by_claim[claim].state for claim in FALSE] == ["contradicted"] * 6


def test_a_noun_in_anothers_place_is_doubted_unless_both_name_one_thing():
    """The reader alone supports each of these."""
    other = {"fire": "flood", "doctor": "lawyer", "bridge": "tunnel", "cat": "dog"}
    same = {"car": "automobile", "doctor": "physician", "film": "movie", "dog": "animal"}
    for exchanged, state in ((other, "unclear"), (same, "supported")):
        pairs = [
            ([f"Nobody had seen the {told} before."], f"Nobody had seen the {said} before.")
            for told, said in exchanged.items()
        ]
        for verdict, (told, said) in zip(EmbeddedChecker().check_many(pairs), exchanged.items(), strict=True):
            assert (verdict.state, verdict.probability >= verdict.threshold) == (state, True), (told, said)
            assert [finding.text for finding in clashes(verdict)] == [said] * (state == "unclear")
            assert verdict.details.get("against", {}) == ({said: told} if state == "unclear" else {})


def test_with_threshold_moves_nothing_but_the_border():
    claims = [TRUE[1], FALSE[0], LIKELY, UNSAID]
    checker, found = EmbeddedChecker(slope=1.5), {}
    for threshold in (0.0, 0.3, 0.95):
        other = checker.with_threshold(threshold)
        assert (type(other), other.threshold, other.slope) == (EmbeddedChecker, threshold, 1.5)
        assert other.fingerprint == checker.fingerprint
        found[threshold] = other.check_many([(ARTICLE, claim) for claim in claims])
    assert len({tuple(verdict.probability for verdict in verdicts) for verdicts in found.values()}) == 1
    assert [[verdict.state for verdict in verdicts] for verdicts in found.values()] == [
        ["supported", "unclear", "unclear", "supported"],
        ["supported", "contradicted", "unclear", "unclear"],
        ["unclear", "contradicted", "contradicted", "unclear"],
    ]


def test_it_does_not_matter_who_made_the_vectors_nor_who_is_judged_beside_even_one_without_a_word(verdicts):
    given = EmbeddedChecker().check_many(pairs(), vectors=encode_pairs(pairs(), load_embedder("minilm")))
    alone = [EmbeddedChecker().check_many([pair])[0] for pair in pairs()[::6]]
    for own, verdict in [*zip(given, verdicts, strict=True), *zip(alone, verdicts[::6], strict=True)]:
        assert own.probability == pytest.approx(verdict.probability, abs=1e-5)
        assert (own.state, own.findings, own.evidence) == (verdict.state, verdict.findings, verdict.evidence)
    bad, good = EmbeddedChecker().check_many([(ARTICLE, "***"), (ARTICLE, TRUE[0])])
    assert bad.failed and "no word" in bad.reason and bad.details == {} and bad.state is None
    assert good.state == "supported" and EmbeddedChecker().check_many([]) == []


def test_the_same_window_is_read_once(monkeypatch):
    read, reader = [], load_reader()

    class Counting:
        def read(self, pairs):
            read.extend(pairs)
            return reader.read(pairs)

    monkeypatch.setattr("summeval_nb.evidence.reader.load_reader", lambda precision, device: Counting())
    EmbeddedChecker().check_many([(ARTICLE[:2], TRUE[0]), (ARTICLE[:1], TRUE[0]), (ARTICLE, TRUE[0])])
    assert len(read) == len(set(read)) < 6  # two windows a pair


def test_recalibration_moves_the_logit_only(verdicts):
    moved = EmbeddedChecker(slope=2.0, offset=-1.0).check_many(pairs()[:6])
    for moved_verdict, verdict in zip(moved, verdicts, strict=False):
        assert moved_verdict.details["terms"] == pytest.approx(verdict.details["terms"], abs=1e-5)
        assert moved_verdict.probability == sigmoid(2.0 * moved_verdict.details["logit"] - 1.0)


def test_all_that_decides_a_probability_is_part_of_the_fingerprint(monkeypatch):
    def name(**options):
        builtin.numbers_mark.cache_clear()
        builtin._model_mark.cache_clear()
        return EmbeddedChecker(**options).fingerprint

    standard = name()
    found = [standard, name(precision="bfloat16"), name(slope=2), name(offset=1)]
    weights = {"weights": fitted()["weights"] | {"cosine": 9.0}}
    others = [fitted() | changed for changed in ({"intercept": 9.0}, {"copied": 9.0}, weights)]
    for of, part, value in (
        (builtin, "RULES", builtin.RULES + "x"),
        *((builtin, "fitted", lambda other=other: other) for other in others),
        (builtin.MiniLMEmbedder, "fingerprint", "another"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(of, part, value)
            found.append(name())
    assert len(set(found)) == len(found) and name() == standard == name(threshold=0.9)
    with pytest.raises(ValueError, match="precision"):
        EmbeddedChecker(precision="int4")


@pytest.mark.parametrize("recalibrated", [False, True])
def test_explain_adds_up_to_the_verdict_of_evaluate(recalibrated):
    checker = EmbeddedChecker(**{"slope": 2.0, "offset": -1.0} if recalibrated else {})
    result = evaluate(" ".join(ARTICLE), f"{TRUE[0]} {FALSE[1]}", checker=checker)
    for i, verdict in enumerate(result.verdicts):
        explanation = result.explain(i)
        *rows, total = explanation.rows()
        assert math.fsum(row["moved"] for row in rows) == pytest.approx(total["moved"], abs=1e-6)
        assert sigmoid(total["moved"]) == pytest.approx(verdict.probability, abs=1e-12)
        assert total["moved"] == explanation.log_odds and total["number"] == "log-odds"
        by_name = {row["number"]: row for row in rows}
        assert list(by_name)[0] == "intercept" and ("recalibration" in by_name) == recalibrated
        assert ("copied" in by_name) == (i == 1)
        for name, number in verdict.details["numbers"].items():
            moved = verdict.details["terms"][name]
            assert by_name[name] == {"number": name, "value": number, "moved": moved, "meaning": MEANING[name]}
    assert set(MEANING) == {*NUMBERS, "careful_follows", "intercept", "copied", "recalibration"}
    again = faithfulness_from_dict(json.loads(json.dumps(result.to_dict())))
    assert str(again.explain(0)) == str(result.explain(0))


def test_an_explanation_is_escaped_and_bears_certainty():
    evidence = ["The harbour board approved the new ferry terminal on Tuesday.", "It will cost <b>48</b> crowns."]
    claim = "The harbour board rejected the new ferry terminal on Tuesday. <script>alert(1)</script>"
    (verdict,) = EmbeddedChecker(slope=1e4).check_many([(evidence, claim)])
    page = Explanation(claim, evidence, verdict)
    assert verdict.probability == 0 and page.log_odds == -math.inf and "-inf" in str(page)
    assert "<script>" not in page._repr_html_() and "&lt;script&gt;" in page._repr_html_()
    assert "<b>48" not in page._repr_html_() and "antonym “rejected”" in str(page)


def test_a_report_says_why_a_sentence_is_left_open_and_what_it_clashes_with():
    hints = {LIKELY: "something clashes: not called supported", UNSAID: "too little of it is in the article"}
    hints[OPEN[0]] = "cannot tell"
    result = evaluate(" ".join(ARTICLE), " ".join([*hints, TRUE[0], FALSE[0]]))
    assert [verdict.state for verdict in result.verdicts] == ["unclear"] * 3 + ["supported", "contradicted"]
    notes = [entry.note for entry in result.report().entries]
    assert all(note.endswith(hint) for note, hint in zip(notes, hints.values(), strict=False)) and notes[3] == ""
    assert all("the article has" in note for note in (notes[0], notes[4])), notes
    for page in (" ".join(result.to_text().split()), result._repr_html_()):
        assert all(hint in page for hint in hints.values())
    for article, claim, against in (
        ("It rained in Oslo on Monday.", "It rained in Oslo on Tuesday.", {"Tuesday": "Monday"}),
        ("The room will not open in May.", "The room will open in May.", {"open": "not open"}),
        ("In May Leeds beat West Ham.", "In May West Ham beat Leeds.", {"West Ham": "Leeds", "Leeds": "West Ham"}),
        ("The dog slept.", "The dog slept.", {}),
    ):
        result = evaluate(article, claim)
        note, named = result.report().entries[0].note, (f"“{a}”: the article has “{b}”" for a, b in against.items())
        assert result.verdicts[0].details.get("against", {}) == against
        assert note == "; ".join(named) if against else "the article has" not in note

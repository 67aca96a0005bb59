"""What judged sentences show of themselves: titles, rows, plain data and back, a heat map, several side by side."""

import itertools
import json
import re
import sys
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest

from summeval_nb import evaluate
from summeval_nb.evidence import faithfulness
from summeval_nb.evidence.faithfulness import Faithfulness, compare_reports, faithfulness_from_dict
from summeval_nb.evidence.load import load_checker
from summeval_nb.ground.report import Entry, Report, evidence_text
from summeval_nb.ground.results import Evidence, Finding, Sentence, Signature, Verdict

LOW = {"threshold": 0.7, "contradicted_below": 0.3}


def made(*verdicts, score=1.0, reason="", **parts):
    sentences = [Sentence(f"S{i}.", 4 * i, 4 * i + 3) for i in range(len(verdicts))]
    told = {
        "source": "It rained. It snowed.",
        "summary": " ".join(one.text for one in sentences),
        "source_sentences": [Sentence("It rained.", 0, 10), Sentence("It snowed.", 11, 21)],
        "sentences": sentences,
        "similarity": np.full((len(verdicts), 2), 0.5),
        "judged_by": "words",
    }
    signature = Signature({"metric": "faithfulness", "k": 1})
    return Faithfulness(score=score, reason=reason, signature=signature, verdicts=list(verdicts), **(told | parts))


YES = Verdict(probability=0.9, evidence=[Evidence(0, 0.5)])
UNCLEAR = Verdict(probability=0.5, **LOW)
FAILED = Verdict(probability=None, failed=True, reason="the server did not answer")
HEADING = Verdict(probability=None, reason="a heading")


@pytest.mark.parametrize(
    ("result", "title"),
    [
        (made(YES), "Faithfulness 1.00: 1 of 1 sentences supported"),
        (made(YES, FAILED), "Faithfulness 1.00: 1 of 1 judged sentences supported"),
        (made(YES, UNCLEAR, score=0.5), "Faithfulness 0.50: 1 of 2 sentences supported"),
        (made(FAILED, score=0.5), "Faithfulness 0.50: 0 of 0 judged sentences supported"),
        (made(FAILED, score=None, reason="no"), "Faithfulness undefined: no"),
    ],
)
def test_the_title_counts(result, title):
    assert result.report().title == title
    assert title in result.to_text()


FOLDED = """\
A report

  1  supported 0.94      It opened in 1931, which took nine
                         years of hard work by many.
          0.90  [1] The bridge opened in 1931 after nine
                    years of work by four hundred people.
          0.20  [2] It is 1,149 metres long."""


def test_long_lines_go_on_below_their_own_text():
    article = "The bridge opened in 1931 after nine years of work by four hundred people. It is 1,149 metres long."
    sentence = "It opened in 1931, which took nine years of hard work by many."
    entry = Entry(text=sentence, probability=0.94, supported=True, evidence=[(0, 0.9), (1, 0.2)])
    report = Report(title="A report", source=article, spans=[(0, 74), (75, 99)], entries=[entry], signature="k:1")
    assert evidence_text(report, width=60).startswith(FOLDED)


def wide_report():
    words = "one hundred and eleven people crossed the bridge on Monday and Tuesday " * 4
    marks = [("word", found.start(), found.end()) for found in re.finditer("bridge|Monday|people", words)]
    entry = Entry(text=words, probability=0.5, supported=False, evidence=[(0, 0.9)], findings=marks, note=words)
    signature = "|".join(f"choice{n}:value" for n in range(20))
    told = {"title": words, "judged_by": words, "signature": signature}
    return Report(**told, source=words, spans=[(0, len(words))], entries=[entry])


def test_a_report_is_as_wide_as_the_terminal_and_elsewhere_88(monkeypatch):
    report = wide_report()
    lines = evidence_text(report).split("\n")
    assert 80 < max(map(len, lines)) <= 88
    assert "".join(line.strip() for line in lines).endswith(report.signature)
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setenv("COLUMNS", "120")
    assert 110 < max(map(len, evidence_text(report).split("\n"))) <= 120
    monkeypatch.setattr(sys, "stdout", None)  # a program without a console
    assert max(map(len, evidence_text(report).split("\n"))) <= 88


def test_who_judged_goes_on_with_an_indent():
    lines = evidence_text(wide_report(), width=60).split("\n\n")[0].split("\n")
    ahead = [line.startswith("    ") for line in lines]
    assert not ahead[0] and sum(not one for one in ahead) == 2  # the title and who judged begin at the edge


def test_the_printed_form_tells_how_far_the_unclear_reach():
    assert "score" in repr(made(YES)) and "high" not in repr(made(YES))
    printed = repr(made(YES, UNCLEAR, score=0.5))
    assert printed.startswith("Faithfulness(score=0.5000, score_high=1.0000, n_unclear=1, signature=")
    both = compare_reports([made(YES), made(YES, UNCLEAR, score=0.5)], ["a", "b"])
    assert repr(both) == "Comparison(a=1.0, b=0.5, up to 1.0)"
    assert [row["unclear"] for row in both.rows()] == [0, 1] and both.rows()[1]["score_high"] == 1.0


def test_below_the_sentences_stands_how_far_the_unclear_reach():
    note = "Up to 1.00 if the unclear ones are true."
    for page in (made(YES, UNCLEAR, score=0.5).to_text(), made(YES, UNCLEAR, score=0.5)._repr_html_()):
        assert page.rindex("S1.") < page.index(note)
    assert "Up to" not in made(YES).to_text() + made(YES)._repr_html_()


def test_failed_and_unjudged_are_counted_apart():
    result = made(YES, FAILED, HEADING)
    assert (result.n_failed, result.n_unjudged, result.n_unclear) == (1, 1, 0)
    assert [row["reason"] for row in result.rows()] == ["", "the server did not answer", "a heading"]


def test_plain_data_and_back_keep_everything():
    clash = Finding("number", "S1", 0, 2, clash=True)
    result = made(YES, Verdict(probability=0.8, findings=[clash], **LOW), HEADING, score=0.5)
    again = faithfulness_from_dict(json.loads(json.dumps(result.to_dict())))
    assert again.to_dict() == result.to_dict() and again.verdicts[1].state == result.verdicts[1].state
    assert list(result.to_dict())[:4] == ["schema", "score", "reason", "score_low"]
    short = {name: part for name, part in result.to_dict().items() if name != "similarity"}
    again = faithfulness_from_dict(short)
    assert np.isnan(again.similarity).all() and again.to_dict()["similarity"] == [[None, None]] * 3
    assert np.isnan(faithfulness_from_dict(json.loads(json.dumps(again.to_dict(), allow_nan=False))).similarity).all()


def test_what_lies_outside_the_texts_is_refused():
    for verdict in (
        Verdict(probability=0.9, evidence=[Evidence(2, 0.5)]),
        Verdict(probability=0.9, findings=[Finding("word", "long", 0, 9)]),
    ):
        with pytest.raises(ValueError, match="lies outside the texts"):
            faithfulness_from_dict(made(verdict).to_dict())
    with pytest.raises(ValueError, match="not the plain data of a Faithfulness: 'verdicts' is missing"):
        faithfulness_from_dict({"schema": 1, "score": 1.0})


def test_each_sentence_has_a_verdict():
    data = made(YES, FAILED).to_dict()
    with pytest.raises(ValueError, match="there are 2 sentences and 1 verdicts: pass what to_dict"):
        faithfulness_from_dict(data | {"verdicts": data["verdicts"][:1]})


ALL_FAILED = [*itertools.product([None, 0.0, 1.0, float("nan")], ["", "the server is down"])]


@pytest.mark.parametrize(("score", "reason"), ALL_FAILED)
def test_data_of_which_all_verdicts_failed_are_refused_or_can_be_shown(score, reason, tmp_path):
    data = made(YES, YES).to_dict() | {"score": score, "reason": reason}
    for verdict in data["verdicts"]:
        verdict |= {"probability": None, "failed": True, "reason": "no answer"}
    if score is not None or not reason:
        with pytest.raises(ValueError, match="the score is|needs a reason"):
            faithfulness_from_dict(data)
        return
    result = faithfulness_from_dict(data)
    assert repr(result).startswith(f"Faithfulness(score=None ({reason})")
    assert result.report().title == f"Faithfulness undefined: {reason}" and result.n_failed == 2
    for page in (result._repr_html_(), result.to_text(), result.to_html(tmp_path / "page.html").read_text()):
        assert "no answer" in page and reason in page
    assert "score_high" not in repr(compare_reports([result, result]))


@pytest.mark.parametrize(
    ("score", "verdicts"), [(0.5, [FAILED]), (0.5, [YES]), (None, [YES]), (1.0, [YES, UNCLEAR])], ids=str
)
def test_a_score_that_its_verdicts_do_not_say_is_refused(score, verdicts):
    data = made(*verdicts).to_dict() | {"score": score, "reason": "" if score else "none"}
    with pytest.raises(ValueError, match=f"the score is {score}, but its . judged verdicts say"):
        faithfulness_from_dict(data)


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (made(YES), "ok"),
        (made(FAILED, score=None, reason="all failed"), "failed"),
        (made(HEADING, score=None, reason="none was judged"), "undefined"),
    ],
)
def test_a_run_writes_down_all_but_the_similarities(result, status):
    outcome = faithfulness.outcome_of(result)
    assert (outcome.score, outcome.status, outcome.reason) == (result.score, status, result.reason)
    assert "verdicts" in outcome.parts and "similarity" not in outcome.parts


@pytest.mark.parametrize(
    ("verdicts", "why"),
    [
        ([FAILED, HEADING], "the checker failed on all 1 sentences; the first: the server did not answer"),
        ([HEADING], "no sentence was judged; the first of 1: a heading"),
        ([], "there is no sentence to judge"),
    ],
)
def test_why_none_was_judged(verdicts, why):
    assert faithfulness.why_none_judged(verdicts) == why


def test_the_heat_map_counts_from_one_and_needs_something_to_draw():
    ax = made(YES, YES).plot()
    assert [one.get_text() for one in ax.get_yticklabels()] == ["1", "2"]
    with pytest.raises(ValueError, match="nothing to draw: empty"):
        made(score=None, reason="empty").plot()


def test_side_by_side_has_the_article_once(tmp_path):
    both = compare_reports([made(YES), made(YES, FAILED)], ["a", "<b>"])
    assert repr(both) == "Comparison(a=1.0, <b>=1.0)"
    assert [row["failed"] for row in both.rows()] == [0, 1]
    page = both.to_html(tmp_path / "both.html").read_text(encoding="utf-8")
    assert page.count('class="sr-article ') == 1 and "&lt;b&gt; — Faithfulness" in page and "<b> —" not in page
    assert both.to_dict()["results"][0] == made(YES).to_dict()
    assert compare_reports([made(YES)]).names == ["summary 1"]


NEAR = {"threshold": 0.57, "contradicted_below": 0.5}


def sum_of(coverage):
    return {"numbers": {"cosine": 2.0}, "terms": {"intercept": -0.5, "cosine": 1.0}, "coverage": coverage}


@pytest.mark.parametrize(
    ("verdict", "label", "note"),
    [
        (Verdict(probability=0.5667, **NEAR), "unclear 0.567", ""),  # 0.57 would look like supported
        (Verdict(probability=0.5749, **NEAR), "supported 0.57", ""),
        (
            Verdict(probability=0.61, findings=[Finding("number", "S0", 0, 2, True)], **NEAR),
            "unclear 0.61",
            "something clashes: not called supported",
        ),
        (Verdict(probability=0.4, **NEAR | {"contradicted_below": 0.3}), "unclear 0.40", ""),
        (
            Verdict(probability=0.4, details=sum_of(0.49), **NEAR | {"contradicted_below": 0.0}),
            "unclear 0.40",
            "too little of it is in the article",
        ),
        (
            Verdict(probability=0.4, details=sum_of(0.5), **NEAR | {"contradicted_below": 0.0}),
            "unclear 0.40",
            "cannot tell",
        ),
        (
            Verdict(
                probability=0.61,
                findings=[Finding("number", "S0", 0, 2, True)],
                details=sum_of(0.2),
                **NEAR | {"contradicted_below": 0.57},
            ),
            "unclear 0.61",
            "something clashes: not called supported",
        ),
        (
            Verdict(
                probability=0.4,
                findings=[Finding("number", "S0", 0, 2, True)],
                details=sum_of(0.2),
                **NEAR | {"contradicted_below": 0.57},
            ),
            "contradicted 0.40",
            "",
        ),
        (Verdict(probability=0.9, details=sum_of(0.2), **NEAR), "supported 0.90", ""),
    ],
)
def test_what_is_printed_shows_why_a_verdict_is_what_it_is(verdict, label, note):
    (entry,) = made(verdict).report().entries
    assert (entry.label, entry.note) == (label, note)


def test_a_sentence_has_the_colour_of_its_state():
    states = [Verdict(probability=p, **NEAR) for p in (0.9, 0.55, 0.1)]
    assert [entry.tone for entry in made(*states).report().entries] == [1.0, 0.5, 0.0]
    assert [entry.tone for entry in made(YES, HEADING).report().entries] == [0.9, None]


def test_only_what_is_a_sum_is_explained():
    terms = {"intercept": -0.5, "cosine": 1.0}
    details = {"terms": terms, "numbers": {"cosine": 2.0}, "logit": 0.5}
    verdict = Verdict(probability=1 / (1 + np.exp(-0.5)), details=details, evidence=[Evidence(1, 0.5)])
    result = made(verdict, YES, FAILED, HEADING)
    assert result.explain(0).evidence == ["It snowed."] and result.explain(-4).rows() == result.explain(0).rows()
    assert [row["moved"] for row in result.explain(0).rows()] == pytest.approx([-0.5, 1.0, 0.5])
    for i, why in ((1, "its checker is not the embedded one"), (2, "the server did not answer"), (-1, "a heading")):
        with pytest.raises(ValueError, match=f"nothing to explain of 'S{i % 4}.': {why}"):
            result.explain(i)
    for i in (4, -5):
        with pytest.raises(IndexError, match=f"there is no sentence {i}: the summary has 4, counted from 0"):
            result.explain(i)


@pytest.mark.parametrize(
    "details",
    [
        {"terms": 3, "against": 4},
        {"terms": {"cosine": 1.0}, "numbers": [2.0], "against": ["a"]},
        {"terms": {"my own": 1.0}, "numbers": {"my own": 2.0}, "coverage": 0.1},
        {"against": {"S0": "S1"}, "coverage": "high"},
    ],
)
def test_what_another_checker_calls_terms_is_not_taken_for_a_sum(details):
    result = made(Verdict(probability=0.4, details=details, **NEAR | {"contradicted_below": 0.0}))
    assert "S1" not in result.to_text() and "too little" not in result.to_text() and result._repr_html_()
    with pytest.raises(ValueError, match="its checker is not the embedded one"):
        result.explain(0)


def test_who_judged_is_not_said_where_nothing_was():
    assert made(YES).report().judged_by == "words"
    assert made(FAILED, score=None, reason="no").report().judged_by == ""


def test_several_summaries_as_text_and_each_with_a_name_of_its_own():
    two = compare_reports([made(YES), made(UNCLEAR, score=0.0)], names=["first", "second"])
    text = two.to_text()
    assert text.index("first — ") < text.index("  1  supported 0.90") < text.index("second — ")
    assert text.count("\n  1  ") == 2
    with pytest.raises(ValueError, match="two summaries are called 'A'"):
        compare_reports([made(YES)] * 3, names=["A", "B", "A"])


@pytest.mark.parametrize("number", [2, 0, "1", None, [1]], ids=str)
def test_data_of_another_schema_are_refused_with_their_number(number):
    with pytest.raises(ValueError, match=re.escape(f"schema {number!r}, and only 1 can be read here: read it")):
        faithfulness_from_dict(made(YES).to_dict() | {"schema": number})
    bare = {name: part for name, part in made(YES).to_dict().items() if name != "schema"}
    with pytest.raises(ValueError, match="'schema' is missing; pass what to_dict"):
        faithfulness_from_dict(bare)


CLASH = Verdict(probability=0.8, findings=[Finding("number", "S0", 0, 2, clash=True)], details={"note": "a"}, **LOW)
ARTICLE = "The bridge opened in 1931. It is 1,149 metres long."
KINDS = {
    "supported": lambda: made(YES),
    "contradicted": lambda: made(Verdict(probability=0.1, **LOW), score=0.0),
    "unclear": lambda: made(UNCLEAR, CLASH, score=0.0),
    "failed": lambda: made(YES, FAILED),
    "undefined": lambda: made(FAILED, score=None, reason="all failed"),
    "a heading": lambda: made(HEADING, YES),
    "nothing": lambda: evaluate("", "It rained."),
    "signs alone": lambda: evaluate("???", "It rained."),
    "evaluated": lambda: evaluate(ARTICLE, "# Bridge\n\nIt opened in 1931. It is 5,000 metres long. ???"),
    "by words": lambda: evaluate(ARTICLE, "It opened in 1930.", checker="words"),
    "of a row": lambda: faithfulness_from_dict({k: v for k, v in made(YES).to_dict().items() if k != "similarity"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_what_the_schema_describes(kind):
    data = json.loads(json.dumps(KINDS[kind]().to_dict(), allow_nan=False))
    jsonschema.Draft202012Validator(faithfulness.faithfulness_schema()).validate(data)
    assert faithfulness_from_dict(data).to_dict() == data


def objects(schema):
    """Each object of a schema that lists its properties."""
    if isinstance(schema, dict):
        found = [schema] if "properties" in schema and isinstance(schema["properties"], dict) else []
        return found + [one for part in schema.values() for one in objects(part)]
    return []


def test_the_schema_describes_and_requires_every_key_and_no_other():
    schema = faithfulness.faithfulness_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    told = objects(schema)
    assert len(told) == 5 and all(one["required"] == list(one["properties"]) for one in told)
    assert all(one["additionalProperties"] is False for one in told)
    assert all(part.get("description") for one in told for part in one["properties"].values())
    result = made(YES, CLASH, score=0.5).to_dict()
    assert list(schema["properties"]) == list(result)
    first, second = result["verdicts"]
    parts = {"sentence": result["sentences"][0], "verdict": first, "evidence": first["evidence"][0]}
    for name, part in (parts | {"finding": second["findings"][0]}).items():
        assert list(schema["$defs"][name]["properties"]) == list(part), name
    for changed in ({"schema": 2}, {"more": 1}, {"score": 1.5}, {"verdicts": [first | {"state": "maybe"}]}):
        assert not jsonschema.Draft202012Validator(schema).is_valid(result | changed), changed


@pytest.mark.parametrize("name", ["embedded", "words"])
def test_who_judged_stands_in_every_form_of_a_report(name, tmp_path):
    result, version = evaluate("It rained.", "It rained.", checker=name), load_checker(name).fingerprint
    assert version.startswith(f"{name}-") and f"|checker:{version}|" in result.to_dict()["signature"]
    page = result.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert version in page and version in "".join(result.to_text().split())


def test_side_by_side_says_who_judged_which_where_they_differ():
    signatures = [Signature({"metric": "faithfulness", "checker": f"embedded-{mark}"}) for mark in ("aaaa", "bbbb")]
    one, two = ([Faithfulness(**vars(made(YES)) | {"signature": own})][0] for own in signatures)
    for page in ((both := compare_reports([one, two], ["old", "new"])).to_text(), both._repr_html_()):
        assert "1 of 1 sentences supported, by embedded-aaaa" in page and "supported, by embedded-bbbb" in page
        assert all(str(own) in "".join(page.split()) for own in signatures)
    assert ", by " not in compare_reports([one, one]).to_text()

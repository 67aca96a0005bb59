"""Text as it comes: Markdown, swapped texts, paths, other languages, thresholds and names of checkers."""

import json
import re
from importlib import resources
from pathlib import Path

import pytest
from helpers.cases import cases, sentences

import summeval_nb as s
from summeval_nb.core import InputWarning
from summeval_nb.evidence.base import unread_reasons
from summeval_nb.judged import EmbeddedJudge

ARTICLE = (
    "A fire broke out in the old harbour on Monday night. The fire destroyed 13 houses. "
    "Nobody was hurt. The mayor promised help to all the families."
)
PLAIN = "The fire destroyed 13 houses. Nobody was hurt. The mayor promised help."
MARKED = """# Summary of the fire

- The fire destroyed **13** houses.
- [Nobody](https://example.com "Nobody died") was hurt.
- The *mayor* promised help.

```
code = 1
```
"""
GERMAN = "Das Feuer zerstörte 13 Häuser, und der Bürgermeister wurde in der Nacht schwer verletzt."


def test_a_markdown_summary_gets_what_its_plain_form_gets_and_an_article_is_the_same_evidence():
    plain, marked = s.evaluate(ARTICLE, PLAIN), s.evaluate(ARTICLE, MARKED)
    judged = [verdict for verdict in marked.verdicts if verdict.judged]
    assert (marked.score, marked.n_failed, marked.n_unjudged) == (plain.score, 0, 2) and plain.score == 1
    assert [verdict.probability for verdict in judged] == [verdict.probability for verdict in plain.verdicts]
    assert all(MARKED[s.start : s.end] == s.text for s in marked.sentences)
    assert "not judged" in marked.to_text() and "heading" in marked.to_text()
    body = ARTICLE.replace("13", "**13**") + "\n\n---\n\n```\nx = 31\n```"
    marked, headed = s.evaluate(body, PLAIN), s.evaluate("# News\n\n" + body, PLAIN)
    assert [round(v.probability, 9) for v in marked.verdicts] == [round(v.probability, 9) for v in plain.verdicts]
    assert len(marked.source_sentences) == len(plain.source_sentences)  # neither line nor code
    assert len(headed.source_sentences) == len(plain.source_sentences) + 1  # a heading is read with the rest
    assert [v.state for v in headed.verdicts] == [v.state for v in plain.verdicts]
    assert [v.probability for v in headed.verdicts] == pytest.approx([v.probability for v in plain.verdicts], abs=0.01)


def test_a_text_in_an_unread_language_is_not_judged():
    result = s.evaluate(ARTICLE, GERMAN)
    assert result.score is None and result.verdicts[0].supported is None and result.n_unjudged == 1
    assert "German" in result.reason and "lang='en'" in result.reason and result.n_failed == 0
    mixed = s.evaluate(ARTICLE, f"{PLAIN} {GERMAN}")
    assert mixed.score == 1 and [verdict.judged for verdict in mixed.verdicts] == [True] * 3 + [False]
    assert "article is in German" in s.evaluate(GERMAN, PLAIN).reason


@pytest.mark.filterwarnings("ignore:the splitter 'punkt'")
def test_a_short_sentence_is_in_the_language_of_the_rest():
    article = "Add a bay leaf, but no salt yet. Salt it only at the end. It freezes well for up to three months."
    result = s.evaluate(article, "Die Suppe lässt sich gut einfrieren. Das Salz kommt erst am Ende hinein.")
    assert result.n_unjudged == 2 and "German" in result.reason
    assert s.evaluate(article, f"{PLAIN} Add no salt yet.").n_unjudged == 0
    assert s.evaluate(article, f"{GERMAN} Add no salt yet.").n_unjudged == 1  # English, though nobody else is


ABROAD = json.loads((Path(__file__).parent / "language_abroad.json").read_text(encoding="utf-8"))["false"]


@pytest.mark.filterwarnings("ignore:the splitter 'punkt'")
@pytest.mark.parametrize("name", ["embedded", "words"])
def test_false_summaries_in_twenty_four_languages(name):
    """Measured once: of 124, nine short ones with one word in lower case are read, none is supported; before, 56."""
    pairs = [(code, *pair) for code, listed in ABROAD.items() for pair in listed]
    assert len(ABROAD) == 24 and len(pairs) == 124
    read = []
    results = s.evaluate_many([pair[1] for pair in pairs], [pair[2] for pair in pairs], checker=name)
    for (code, _, summary), result in zip(pairs, results, strict=True):
        # the checker that counts words sees no order, in English neither: only what it cannot read at all concerns it
        if name == "embedded" or code in ("zh", "ja", "ko", "ar", "hi", "ru", "el") or len(summary) > 31:
            assert not any(verdict.supported for verdict in result.verdicts), (code, summary)
        read += [] if result.score is None else [summary]
    assert len(read) <= 10 and max(map(len, read)) < 32, read


@pytest.mark.filterwarnings("ignore:the splitter 'punkt'")
def test_a_false_answer_in_another_language_is_never_right():
    rows = [
        {"contexts": article, "question": article, "ground_truth": article, "answer": answer}
        for listed in ABROAD.values()
        for article, answer in listed
    ]
    table = s.evaluate_answers(rows, judge=EmbeddedJudge(), progress=False)
    verdicts = [row["verdict"] for row in table.rows()]
    assert "right" not in verdicts and verdicts.count("the judge cannot tell") >= 118
    assert not any(row["answer_given_truth"] for row in table.rows())


SAID = cases("""
He met 江泽民 in Oslo. | He met 习近平 in Oslo. | the sentence says '习近平', which the article does not
He met 习近平 in Oslo. | He met 习近平 in Oslo. |
Sales rose, said Владимир Путин on Monday. | Sales rose, said Путин on Monday. | says 'Путин'
The angle α was measured. | The angle β was measured. |
Rais alifika Nairobi na kusema kuwa serikali itajenga. | Serikali haitajenga daraja. | in Swahili
Sue Gray resigned. | Sue Gray did not resign. |
Café owner jailed. | Café owner freed. |
Mayor resigns amid bribery probe | Mayor stays amid bribery probe |
Ursula von der Leyen met Emmanuel Macron. | Emmanuel Macron met Ursula von der Leyen. |
""")


def test_what_cannot_be_read_is_said_and_short_and_labelled_english_is_read():
    for article, summary, reason in SAID:
        (found,) = unread_reasons(article, [summary], s.EmbeddedChecker(), None)
        assert reason in found and bool(reason) == bool(found), summary
        assert unread_reasons(article, [summary], s.EmbeddedChecker(), "en") == [""]
    stored = resources.files("summeval_nb").joinpath("assets/bench_sentences.json").read_text(encoding="utf-8")
    texts = [text for text in re.findall(r'"((?:[^"\\\\]|\\\\.)+)"', stored) if text.count(" ") > 3]
    assert len(texts) > 100
    for text in texts:
        assert unread_reasons(text, [text], s.EmbeddedChecker(), None) == [""], text


def test_what_the_user_says_about_the_language_is_believed():
    assert s.evaluate(ARTICLE, GERMAN, lang="en").score is not None

    class Reader:
        """A checker of one's own is trusted with what it declares."""

        fingerprint, threshold = "reader", 0.5

        def __init__(self, languages):
            self.languages = languages

        def check_many(self, pairs, *, vectors=None):
            return [s.Verdict(probability=1.0) for _ in pairs]

    assert s.evaluate(ARTICLE, GERMAN, checker=Reader(None)).score == 1
    assert s.evaluate(ARTICLE, GERMAN, checker=Reader(("en", "de"))).score == 1
    assert s.evaluate(ARTICLE, GERMAN, checker=Reader(("fr",))).score is None
    with pytest.raises(TypeError, match="with_threshold"):
        s.evaluate(ARTICLE, PLAIN, checker=Reader(None), threshold=0.7)


def test_swapped_texts_and_paths_are_said_aloud_and_usual_texts_get_no_warning(recwarn):
    with pytest.warns(InputWarning, match="article comes first"):
        s.evaluate(PLAIN, ARTICLE * 4)
    with pytest.warns(InputWarning, match="'article.txt' and 1 more.*read_text"):
        s.evaluate("article.txt", "summary.txt")
    with pytest.warns(InputWarning, match="2 summaries are .*first in pair 1"):
        s.evaluate_many([ARTICLE, PLAIN, PLAIN], [PLAIN, ARTICLE * 4, ARTICLE * 4])
    with pytest.raises(TypeError, match="read_text"):
        s.evaluate(Path("article.txt"), "summary")
    recwarn.clear()
    s.evaluate(ARTICLE, PLAIN)
    s.evaluate("It rained in Oslo.", "See example.com/a.html for more. It rained there.")
    assert not [warning for warning in recwarn if issubclass(warning.category, InputWarning)]


def test_a_threshold_for_one_call():
    strict, loose = s.evaluate(ARTICLE, PLAIN, threshold=1.0), s.evaluate(ARTICLE, PLAIN, threshold=0.05)
    assert (strict.score, loose.score) == (0, 1) and loose.signature["threshold"] == "0.05"
    own = s.EmbeddedChecker(threshold=0.2, slope=2.0)
    s.evaluate(ARTICLE, PLAIN, checker=own, threshold=0.9)
    assert own.threshold == 0.2


BRIDGE = (
    "The old bridge over the river was closed on Monday. The mayor resigned after the council voted against the plan. "
    "Elena lives in Rome and works at a museum there."
)
FEW_FOREIGN = sentences("""
Die Schule öffnet wieder. / Elle a deux chiens. / Trabaja en Sevilla. / Il ponte è chiuso. / Hij heeft twee honden. /
Skolan öppnar igen. / Szkoła jest zamknięta. / Az iskola zárva van. / İki köpeği var. / Школа закрыта. / 学校关闭了。
""")
FEW_ENGLISH = sentences("""
Der Kaiser abdicated. / La Niña weakened. / Les Bleus beat Brazil 2-0. / Dvořák's symphony was played. / Grand Prix in
Monza postponed / Glycolysis yields pyruvate. / bayern beat ajax / Population: 84 million / Derby. /
Vincent van Gogh cut off his ear. / He said adiós. / Die Hard was filmed in Los Angeles. / Rome 12 Paris 14
""")


def test_a_few_words_are_judged_where_they_are_english_with_foreign_names_or_the_articles_own():
    beside, checker = "The bridge over the river was closed on Monday.", s.EmbeddedChecker()
    for sentence in FEW_FOREIGN:
        for texts in ([sentence], [beside, sentence]):
            assert "this checker reads English" in unread_reasons(BRIDGE, texts, checker, None)[-1], sentence
        assert unread_reasons(BRIDGE, [sentence], checker, "en") == [""], sentence
    for sentence in FEW_ENGLISH:
        assert unread_reasons(BRIDGE, [sentence], checker, None) == [""], sentence
    article = BRIDGE + " The dish is called rösti and is made with schmalz."
    assert unread_reasons(article, ["Elena makes rösti with schmalz."], s.EmbeddedChecker(), None) == [""]

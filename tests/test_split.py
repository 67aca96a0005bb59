"""Splitting: exact spans, no character lost, every splitter by its own real engine, every trap of plain text."""

import gzip
import json
import re
import sys
import warnings
from pathlib import Path

import pytest
from helpers.patience import comes_back
from helpers.stanza_tiny import train_stanza
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from summeval_nb import split_text
from summeval_nb.text import split_claims, split_many, split_sentences, split_units, splitter_name
from summeval_nb.text.punkt import sentence_ends, sentence_places
from summeval_nb.text.splitters import stanza_pipeline

pytestmark = pytest.mark.filterwarnings("ignore:the splitter 'punkt' does not end sentences:UserWarning")


@pytest.fixture(scope="session")
def stanza_folder(tmp_path_factory):
    """A folder as stanza's downloads make it, with a tokenizer that stanza's own trainer made just now."""
    return train_stanza(tmp_path_factory.mktemp("stanza"))


@pytest.fixture
def with_stanza(stanza_folder, monkeypatch):
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(stanza_folder))


def check_promises(text, sentences):
    """What is promised of every splitter: exact spans in order, each character but white space in one of them."""
    end = 0
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ""
        assert text[end : sentence.start].strip() == ""
        end = sentence.end
    assert text[end:].strip() == ""
    assert not any(re.search(r"\n[ \t]*\n", sentence.text) for sentence in sentences), "an empty line inside a sentence"


# A text and its sentences, a sentence and its claims, between bars; sentences that make one claim.
CASES = json.loads(Path(__file__).with_name("sentence_cases.json").read_text(encoding="utf-8"))
# Kinds of full stop, both ways, a bar where a reader cuts; the second half was written after the rules.
KINDS = json.loads(Path(__file__).with_name("split_cases.json").read_text(encoding="utf-8"))
MISSED = {
    "They left...|Nobody knew.",  # nothing but meaning tells it from: They left... Nobody.
    "The concert feat. Anna was good.",  # feat is a word
    "See https://t.co/x.|Nobody did.",  # x is an initial
}


def test_full_stops_are_cut_as_a_reader_would():
    for case in (case for kind in KINDS.values() for case in kind):
        text, wanted = case.replace("|", " "), [" ".join(part.split()) for part in case.split("|")]
        sentences = split_sentences(text)
        check_promises(text, sentences)
        assert ([" ".join(s.text.split()) for s in sentences] == wanted) is (case not in MISSED), case


def test_a_full_stop_reads_the_same_far_into_a_text():
    """What a decision looks at begins with its sentence, and ends sixty characters away."""
    for case in KINDS["time"] + KINDS["measure"] + KINDS["list"] + KINDS["small letter"]:
        text = "The old bridge was closed for repairs. " + case.replace("|", " ")
        assert [s.text for s in split_sentences(text)][1:] == split_text(case.replace("|", " "))


def test_layout():
    for text, expected in CASES["layout"]:
        sentences = split_sentences(text)
        check_promises(text, sentences)
        assert [s.text for s in sentences] == expected.split("|")
    for text in ("", " ", "\n\n", "\u00a0\u2003\t\r\n"):
        assert split_sentences(text) == split_text(text) == split_units(text) == []
    assert [s.start for s in split_sentences("It rained. It rained. It rained.")] == [0, 11, 22]


def choices(*lines):
    """Return the pieces between the bars."""
    return st.sampled_from([piece for line in lines for piece in line.split("|")])


PIECES = choices(
    "Dr. Lee|the U.S.|No. 5|he said|It rained|J. K.|e.g.|3.5|a@b.org|www.a.de/x.y|Why|桥",
    ".|.|. |. |? |! |...|…| . . . |。|؟|;|, |.”|.\"|'|“|(|)|[1]",
    " | | |\n|\n\n|\r\n|\r\n\r\n|\u2028|\u2029|\x85|\t|\u00a0|\x1f|\x0c",
    "- |\n- |\n1. |\n• |\n# |*|\x00|\u200d|\u200b|\ufeff|👩‍👩‍👧|e\u0301|\ud83d|\udc00",
)
TEXTS = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=60))
relaxed = settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(TEXTS, st.sampled_from(["punkt", "sentencex"]))
@relaxed
def test_promises_hold(text, splitter):
    check_promises(text, split_sentences(text, splitter=splitter))


@given(st.lists(TEXTS, max_size=5))
@relaxed
def test_many_is_the_same_as_one_by_one(texts):
    assert split_many(texts) == [split_sentences(text) for text in texts]


@given(TEXTS, st.integers(1, 40), st.integers(0, 40), st.booleans())
@relaxed
def test_units_keep_their_promises(text, max_chars, min_chars, keep_lists):
    units = split_units(text, max_chars=max_chars, min_chars=min_chars, keep_lists=keep_lists)
    end = 0
    for unit in units:
        assert text[unit.start : unit.end] == unit.text == unit.text.strip() != ""
        assert text[end : unit.start].strip() == "" and len(unit) <= max_chars
        end = unit.end
    assert text[end:].strip() == ""
    for short, following in zip(units, units[1:], strict=False):  # joined wherever max_chars allows it
        assert len(short) >= min_chars or following.end - short.start > max_chars


STORY_SENTENCES = [
    "The old dog saw the cat.", "Dr. Smith liked the river!", "She found a bank?", "Mr. Lee read the paper.",
]  # fmt: skip
STORY = " ".join(STORY_SENTENCES)


def test_stanza_in_lots_is_the_same_as_one_by_one(with_stanza):
    texts = [" ".join(STORY_SENTENCES[i % 4 :]) + "\n\n" + STORY for i in range(70)] + ["", "  \n"]
    together = split_many(texts, splitter="stanza")
    assert [s.text for s in together[1]] == STORY_SENTENCES[1:] + STORY_SENTENCES
    assert together == [split_sentences(text, splitter="stanza") for text in texts]
    for text, sentences in zip(texts, together, strict=True):
        check_promises(text, sentences)


def test_stanza_positions_are_stanzas_own(with_stanza, stanza_folder):
    """Our cuts lie where stanza's tokens begin, in strange text too: no offset has slipped."""
    import stanza

    pipeline = stanza_pipeline("en", str(stanza_folder))
    for text in (
        STORY,
        "It\u00a0rained.  He left!\tThe\u2003end. 👩‍👩‍👧 e\u0301 桥. a\x00b.",
        STORY.replace(" ", "  \n "),
    ):
        document = pipeline.bulk_process([stanza.Document([], text=text), stanza.Document([], text=STORY)])[0]
        starts = [sentence.tokens[0].start_char for sentence in document.sentences]
        assert [s.start for s in split_sentences(text, splitter="stanza")] == starts


def test_a_stanza_that_lacks_something_says_how_to_get_it(with_stanza, stanza_folder, tmp_path, monkeypatch):
    assert stanza_pipeline("en", str(stanza_folder)) is stanza_pipeline("en", str(stanza_folder))
    with pytest.raises((FileNotFoundError, ValueError), match=r"'xx'.*stanza\.download\('xx'"):
        split_text("It rained.", splitter="stanza", lang="xx")
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"stanza\.download\('en'"):
        split_text("It rained.", splitter="stanza")
    stanza_pipeline.cache_clear()
    (tmp_path / "resources.json").write_text((stanza_folder / "resources.json").read_text())  # half a download
    with pytest.raises(FileNotFoundError, match=r"stanza\.download\('en'"):
        split_text("It rained.", splitter="stanza")


def test_sentencex_in_other_languages_or_not_at_all(monkeypatch):
    assert split_text("我们来了。你好吗？好！", splitter="sentencex", lang="zh") == ["我们来了。", "你好吗？", "好！"]
    arabic = ["ذهب الولد.", "هل أنت بخير؟", "نعم!"]
    assert split_text(" ".join(arabic), splitter="sentencex", lang="ar") == arabic
    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(ImportError, match=r"pip install -e '\.\[splitters\]'"):
        split_text("It rained.", splitter="sentencex")


def test_marks_that_punkt_does_not_know_are_said(monkeypatch):
    monkeypatch.setattr("summeval_nb.text.splitters.find_spec", lambda name: None)
    for text in ("桥开放了。它很长。", "هل أنت بخير؟ نعم", "वह आया। वह गया।"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert split_text(text) == [text]
        assert "name the language" in str(caught[-1].message)


def test_names_carry_versions_and_no_address_in_memory():
    import stanza

    assert splitter_name("stanza", lang="zh") == f"stanza-zh-{stanza.__version__}"
    assert re.fullmatch(r"sentencex-\d+\.\d+.*", splitter_name("sentencex"))
    Mine = type("Mine", (), {"__call__": lambda self, text: [(0, len(text))]})
    assert "Mine" in splitter_name(Mine()) and "0x" not in splitter_name(Mine())
    Mine.fingerprint = "mine-1"
    assert splitter_name(Mine()) == "mine-1"


LONG = {
    "no white space": "a" * 1_000_000, "dots without white space": "a." * 500_000, "only dots": "." * 1_000_000,
    "spaced dots": ". " * 500_000, "only quotes": '"' * 1_000_000, "white space": "." + " " * 1_000_000 + "x",
    "line ends": "a\n" * 500_000, "empty lines": "\n" * 1_000_000,
    "prose": "The bridge opened in 1931. Mr. Lee paid $2.5 million. " * 18_000, "quotes alone": ".' " * 70_000,
    "abbreviations": "U.S. " * 40_000, "acronyms": "F.B.I. " * 30_000, "initials": "J. " * 70_000,
    "one acronym": "A." * 100_000 + " B", "dollars": "$a. " * 50_000, "formulae that never close": "\\\\( " * 70_000,
    "hours": "at 5 p.m. " * 20_000, "numbers of lists": "1. 2. " * 40_000, "German days": "am 1. Mai " * 20_000,
    "list items": "- a\n" * 50_000, "headings": "# a\n" * 50_000,
}  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_a_megabyte_is_cut_and_does_not_take_for_ever(text):
    """Linear in the length: a quadratic search over a megabyte would take hours."""
    with comes_back():
        sentences = split_sentences(text)
    assert sum(len("".join(s.text.split())) for s in sentences) == len("".join(text.split()))


def test_real_articles_agree_with_punkt_but_for_the_rules(data_folder):
    """On 80 articles: our way of asking Punkt finds nearly the same ends as Punkt's own search with our tables."""
    from summeval_nb.text.punkt import english_punkt

    own, theirs = set(), set()
    with gzip.open(data_folder / "xsumfaith.jsonl.gz", "rt", encoding="utf-8") as lines:
        articles = [json.loads(line)["source"] for _, line in zip(range(80), lines, strict=False)]
    for number, text in enumerate(articles):
        own |= {(number, place) for place in sentence_places(text, sentence_ends)}
        theirs |= {(number, start) for start, _ in list(english_punkt().span_tokenize(text))[1:]}
    assert len(own & theirs) / len(own | theirs) > 0.98


LEAD_INS = {
    "colon": ("These are not included:\n- a charger of any kind\n- a case of any kind", 1),
    "empty line between": ("These are not included:\n\n- a charger of any kind\n\n- a case of any kind", 1),
    "no full stop": ("Things that are not included\n- a charger of any kind\n- a case of any kind", 1),
    "full stop: no lead-in": ("The price has gone up a lot.\n- a charger of any kind\n- a case of any kind", 3),
    "text after the list": ("These are not included:\n- a charger of any kind\n\nThe offer ends in May.", 2),
    "items of two sentences": ("These are not included:\n1. A charger. It costs ten pounds.\n2. A case.", 1),
}


def test_lists_are_kept_with_their_lead_in_as_long_as_there_is_room():
    for text, count in LEAD_INS.values():
        assert len(split_units(text, keep_lists=True)) == count
        assert len(split_units(text, min_chars=0)) > count or count == 3
    assert [u.text for u in split_units("It rained in the old town. Yes.")] == ["It rained in the old town. Yes."]
    text = "These are not included:\n" + "\n".join(f"- a charger of kind {n}" for n in range(20))
    kept = split_units(text, keep_lists=True, max_chars=100)
    assert max(map(len, kept)) <= 100 and kept[0].text.startswith("These") and kept[0].text.count("\n- ") == 3


def test_claims_and_doubtful_sentences_that_stay_whole():
    for sentence, claims in CASES["claims"]:
        assert split_claims(sentence) == claims.split("|")
    assert split_claims("") == split_claims(" \n") == []
    for sentence in CASES["whole"]:
        assert split_claims(sentence) == [sentence.strip()]


CONNECTIVES = {"and", "but", "yet", "though", "although", "even", "whereas", "while", "who", "which"}
PHRASES = choices(
    "the bank|Anna Lee|he|closed|closed a branch|went home|has sold|was built|will open|rose",
    "and|but|or|although|while|who|which|that|not|said|if|,|;|:|-|in 2010",
    "(a test)|\"yes and no\"|“|(|quickly|then|two branches|jobs|to|didn't|A.B.|'|e\u0301|\x00",
)


@given(st.one_of(st.lists(PHRASES, max_size=18).map(" ".join), st.text(max_size=60)))
@settings(max_examples=500)
def test_claims_lose_and_invent_nothing(sentence):
    claims = split_claims(sentence)
    before = set(re.findall(r"\w+", sentence.lower()))
    after = {word for claim in claims for word in re.findall(r"\w+", claim.lower())}
    assert after <= before
    assert before - after <= CONNECTIVES
    assert all(claim == claim.strip() != "" for claim in claims)
    if len(claims) == 1:
        assert claims == [sentence.strip()]

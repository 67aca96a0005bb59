"""The language of a text: measured on sentences in twelve languages, silent where a text is short."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.cases import cases, sentences
from helpers.wrapping import Wrapped

from summeval_nb import EmbeddedChecker, LLMChecker, ScriptedBackend, evaluate, sample_articles, split_text
from summeval_nb.core import InputWarning
from summeval_nb.evidence import WordsChecker
from summeval_nb.judged import EmbeddedJudge, LLMJudge
from summeval_nb.judged import refusals as _refusals
from summeval_nb.text import languages_of
from summeval_nb.text.language import foreign_language, language_of

HERE = Path(__file__).parent
NAMES = ("sentences", "fresh", "sixty", "abroad")
SENTENCES, FRESH, SIXTY, ABROAD = (json.loads((HERE / f"language_{name}.json").read_text("utf-8")) for name in NAMES)


def test_twelve_languages():
    """In the sentences that were read when the lists were made, in two sets written later, whole and cut at sixty
    characters, and in sixty sentences written after all others: of these all are right."""
    cut, fresh = [60, None], ABROAD["fresh"]
    read, sets = (SENTENCES, [None], 0.98, 20, 0), ((FRESH, 10, 55), (SIXTY, 12, 60), (fresh, 5, 60))
    for listed, ends, share, n, least in (
        read,
        *((own, cut, 1 if own is fresh else 0.98, *rest) for own, *rest in sets),
    ):
        assert len(listed) == 12 and all(len(set(own)) >= n for own in listed.values())
        assert min(len(sentence) for own in listed.values() for sentence in own) >= least
        for end in ends:
            cases = [(code, sentence[:end]) for code, own in listed.items() for sentence in own]
            wrong = [(code, text) for code, text in cases if language_of(text) != code]
            assert 1 - len(wrong) / len(cases) >= share, wrong
            assert all((language_of(text) == "en") == (code == "en") for code, text in cases)
            if listed is fresh:
                assert all((foreign_language(text, ("en",)) is None) == (code == "en") for code, text in cases)


def test_a_short_text_is_known_by_its_script_or_not_guessed():
    for text, languages, found in [
        ("市议会投票。", ("en",), "zh"),  # a script decides where a word would not
        ("これはペンです。", ("en",), "ja"),
        ("Мэр ушёл.", ("en", "de"), "ru"),
        ("Мэр ушёл.", ("uk",), None),
        ("Beijing (北京) voted.", ("en",), None),
        ("市议会投票。", ("tlh",), None),  # who knows how it is written
        ("市议会投票。", (), "zh"),
        ("Ich weiß es nicht.", ("en",), "de"),  # three small words, and no English one
        ("Van der Berg resigned.", ("en",), None),
        *((text, ("en",), None) for text in ("", "Paris", "Der Rat ging.", "!!! ??? ...", "A" * 60, "1,234,567 " * 20)),
    ]:
        assert foreign_language(text, languages) == found


def test_any_language_and_regions():
    german = SENTENCES["de"][0]
    assert foreign_language(german, None) is None and foreign_language(german, ("de-AT",)) is None
    assert foreign_language(german, ("en-GB",)) == "de"
    text = "Bystyret vedtok mandag planen for en ny bro over elven, som skal stå ferdig neste år."
    assert all(foreign_language(text, (code,)) is None for code in ("no", "nb", "nn", "nb-NO"))


YES = ScriptedBackend(lambda prompt: "yes")
GERMAN = "Der Rat hat am Montag den Plan für eine neue Brücke gebilligt."


def test_objects_declare_their_languages():
    for name, kind in (("embedded", EmbeddedChecker), ("words", WordsChecker)):
        assert languages_of(kind()) == languages_of(EmbeddedJudge(checker=name)) == ("en",) == _refusals._READS
        assert repr(kind()).endswith("languages=en)")
    assert languages_of(LLMChecker(YES)) is languages_of(LLMJudge(YES)) is None
    assert languages_of(LLMChecker(YES, languages=["en", "zh"])) == ("en", "zh")
    assert languages_of(Wrapped(WordsChecker())) == ("en",)
    assert "languages=de" in repr(LLMJudge(YES, languages=("de",))) and "languages=any" in repr(LLMChecker(YES))


def test_a_model_with_declared_languages_is_not_asked_others():
    judge = LLMJudge(YES, languages=("en",))
    assert judge.is_refusal(GERMAN).value is None and "German" in judge.is_refusal(GERMAN).reason
    first, second = judge.entail(GERMAN, ["It rained.", "It snowed."])
    assert first.label is second.label is None and "reads English" in first.reason
    assert judge.entail("It rained in Oslo.", [GERMAN])[0].label is None
    assert judge.calls == 0
    assert LLMJudge(YES).is_refusal(GERMAN).value is True  # trusted with any


@pytest.mark.parametrize("splitter", ["punkt", "sentencex"])
def test_a_language_that_is_found_has_its_splitter_or_a_warning(splitter, recwarn, monkeypatch):
    if splitter == "sentencex":
        pytest.importorskip("sentencex")
    for lang in ("en", "de")[: 1 if splitter == "punkt" else 2]:
        split_text(GERMAN, splitter=splitter, lang=lang)
    split_text("It rained in Oslo on Monday, and nobody had expected that it would.", splitter=splitter)
    split_text("Der Rat ging.", splitter=splitter)
    assert not [warning for warning in recwarn if issubclass(warning.category, InputWarning)]
    assert split_text(GERMAN, splitter=splitter) == split_text(GERMAN, splitter="sentencex", lang="de")
    monkeypatch.setattr("summeval_nb.text.splitters.find_spec", lambda name: None)
    with pytest.warns(InputWarning, match="in German.*; lang='en' if it is English"):
        split_text(GERMAN, splitter=splitter)


AROUND_NAMES = {  # an article, a summary that says the opposite, and the language in which both are
    "Tesla": ("Tesla Model Y 通过 European New Car Assessment Programme 测试。", "通过", "未通过", "zh"),
    "Swift": ("Taylor Swift 的 The Eras Tour 在 Singapore National Stadium 开始。", "开始", "取消", "zh"),
    "Samsung": ("Samsung Galaxy Ultra 는 New York 에서 출시됐다.", "출시됐다", "출시되지 않았다", "ko"),
    "Euro NCAP": ("Tesla Model Y прошла European New Car Assessment Programme.", "прошла", "не прошла", "ru"),
    "Apple": ("أطلقت Apple Vision Pro في United States of America.", "أطلقت", "لم تطلق", "ar"),
}


def test_a_sentence_full_of_names_keeps_its_language_and_no_english_checker_supports_it():
    """The names are the same on both sides, so that a checker for English finds nearly every word."""
    for article, old, new, code in AROUND_NAMES.values():
        summary = article.replace(old, new)
        assert summary != article
        for text in (article, summary):
            assert foreign_language(text, ("en",)) == code and foreign_language(text, ("en", code)) is None
            assert foreign_language(text, None) is None and foreign_language(text, ("de", "en")) == code
        for checker in ("embedded", "words"):
            judged = evaluate(article, summary, splitter="sentencex", checker=checker)
            assert [verdict.state for verdict in judged.verdicts] == [None] * len(judged.verdicts)
            assert "this checker reads English" in judged.verdicts[0].reason
    for code, text in [(code, text) for code, listed in ABROAD["mixed"].items() for text in listed]:
        assert foreign_language(text, ("en",)) == code and foreign_language(text, ("en", code)) is None
    for text in ("Компания Apple выпустила iPhone в США.", "Tesla Model Y не прошла Euro NCAP."):
        assert foreign_language(text, ("ru",)) is None
    assert foreign_language("小米 SU7 在 Berlin 上市。", ("zh",)) is None


ENGLISH = sentences("""
Apple and Google signed the agreement in 北京 (Beijing). / The word 龙 means dragon, and 凤 means phoenix. / Let α
be the angle, and let β and γ be the others. / "我不知道" is what he said, and "我知道" what she heard. / The ministry
(Министерство обороны) denied the report on Monday. / She sang 'Für Elise' at the Carnegie Hall, and the
audience was moved. / Xi Jinping (习近平) met the president in Beijing. / Messi; Xavi, Iniesta, Busquets; Puyol,
Pique, Alves, Abidal; Valdes; Villa, Pedro / Kasey Palmer, Arturo Juan Rodriguez Perez, Graziano Pellè, Boris
Johnson, Cheikhou Kouyaté / Replacements: 16-Badri Alkhazashvili, 17-Kakha Asieshvili, 18-Dudu Kubriashvili,
19-Lasha Lomidze / Source: https://www.example.co.uk/sport/football/12345678 and www.example.org/politics / GDP
+2.4%, CPI 3.1%, PMI 52.3, NFP 210k, UST10Y 4.2%, DXY 103, WTI 78, EURUSD 1.08, VIX 14 / Quinoa, tofu, kimchi,
tempeh, edamame, miso, nori, wasabi, sake, udon, soba / SMITH, JONES AND TAYLOR WIN COUNCIL SEATS AS LABOUR
LOSES LEEDS
""")


def test_english_with_foreign_names_and_words_and_lists_of_them_is_english():
    for text in [*ENGLISH, *ABROAD["english"]]:
        assert foreign_language(text, ("en",)) is None, text


RARER = cases("""
sw | Baraza la mji liliidhinisha mpango wa daraja jipya siku ya Jumatatu.
lv | Dome pirmdien apstiprināja plānu par jauna tilta būvniecību pār upi.
mk | Градскиот совет во понеделникот го одобри планот за новиот мост.
pa | ਨਗਰ ਕੌਂਸਲ ਨੇ ਸੋਮਵਾਰ ਨੂੰ ਨਵੇਂ ਪੁਲ ਦੀ ਯੋਜਨਾ ਨੂੰ ਮਨਜ਼ੂਰੀ ਦਿੱਤੀ।
und | ནང་པའི་ཆོས་ལུགས་ནི་འཛམ་གླིང་གི་ཆོས་ལུགས་ཆེན་པོ་ཞིག་ཡིན།
""")  # the last is Tibetan: no model need know it


def test_a_rarer_language_is_not_english_and_vietnamese_is_known_by_its_letters():
    for code, text in RARER:
        assert language_of(text) == code == foreign_language(text, ("en",)) and foreign_language(text, (code,)) is None
    for text in ("Huế thắng Hà Nội 2-1.", "Hà Nội thắng Huế 2-1."):
        assert language_of(text) == "vi"
    for text in ("Nguyễn Văn Thiệu resigned.", "He flew to Huế and Hội An.", "Phở is a soup."):
        assert language_of(text) is None, "names keep their letters in every language"


def test_plain_english_loads_no_model_of_languages():
    article = sample_articles()[0].text
    program = (
        "import sys; from summeval_nb.text.language import foreign_language as f; "
        f"assert f({article[:4000]!r}, ('en',)) is None and 'py3langid' not in sys.modules; "
        f"assert f({GERMAN!r}, ('en',)) == 'de' and 'py3langid' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)

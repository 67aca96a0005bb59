"""Stems of other languages: nltk's Snowball on words of any script, and rouge-score's numbers on the same words."""

import unicodedata

import pytest
from nltk.stem.snowball import SnowballStemmer
from rouge_score.rouge_scorer import RougeScorer

from summeval_nb import InputWarning, Rouge, languages_of, rouge_many, rouge_score
from summeval_nb.overlap.ngrams import rouge_tokenizer
from summeval_nb.overlap.tokens import (
    SNOWBALL,
    clean_words,
    irregular_forms,
    wordnet_exceptions,
)

PAIRS = {
    "german": (
        "Die alten Brücken wurden am Montag für alle gesperrt, weil sie nicht mehr sicher sind.",
        "Eine alte Brücke wird montags gesperrt, sagt man.",
    ),
    "french": ("Les ponts fermés ne rouvriront pas.", "Le pont fermé ne rouvrira pas avant l'été."),
    "russian": ("Старые мосты закрыли в понедельник.", "Старый мост закрыт с понедельника."),
    "arabic": ("أغلقت الجسور القديمة يوم الاثنين.", "الجسر القديم مغلق منذ الاثنين."),
    "swedish": ("De gamla broarna stängdes i måndags.", "En gammal bro stängs på måndagar."),
    "spanish": ("Los viejos puentes cerraron el lunes.", "Cerraron un puente viejo los lunes."),
}


def test_the_languages_are_those_of_nltk():
    assert {*SNOWBALL, "porter"} == set(SnowballStemmer.languages)
    assert languages_of("german", kind="stemmer") == ("de",) and languages_of("porter") == ("en",)


@pytest.mark.parametrize("language", PAIRS)
def test_equal_to_rouge_score_on_the_same_words(language):
    stem = SnowballStemmer(language).stem

    class Words:
        def tokenize(self, text):
            return [stem(word) if len(word) > 3 else word for word in clean_words(text).split()]

    types = ["rouge1", "rouge2", "rougeL"]
    for made, wanted in (PAIRS[language], PAIRS[language][::-1]):
        expected = RougeScorer(types, tokenizer=Words()).score(wanted, made)
        found = rouge_score(made, wanted, types=types, stemmer=language)
        table = rouge_many([made], [wanted], types=types, stemmer=language)
        assert found["rouge1"].f1 > 0
        for kind in types:
            assert found[kind] == pytest.approx(tuple(expected[kind]), abs=1e-12)
            assert table[kind].f1[0] == found[kind].f1
        assert f"tok:words+snowball-{language}|" in f"{found.signature}|"


def test_words_keep_their_marks_whatever_form_they_are_stored_in():
    cut = rouge_tokenizer(stemmer="french")
    assert cut(unicodedata.normalize("NFD", "L'été, 3,5 km")) == cut("L'ÉTÉ, 3,5 km") == ["l", "été", "3", "5", "km"]
    assert clean_words("हिन्दी भाषा!").split() == ["हिन्दी", "भाषा"]


@pytest.mark.parametrize("wrong", ["no", "de", "German", "porter", "klingon", "", 1, None, ["german"]])
def test_a_name_that_snowball_has_not_is_an_error(wrong):
    with pytest.raises(TypeError, match="True or False, or the name of a language"):
        Rouge(stemmer=wrong)


def test_a_language_is_no_choice_of_the_perl_script():
    with pytest.raises(ValueError, match="needs compat='google'"):
        Rouge(stemmer="german", compat="rouge-1.5.5")
    with pytest.raises(ValueError, match="stem inside it"):
        Rouge(stemmer="german", tokenizer="13a")


def test_a_stemmer_of_another_language_is_said_aloud(recwarn):
    made, wanted = PAIRS["german"]
    for function, arguments in ((rouge_score, (made, wanted)), (rouge_many, ([made], [wanted]))):
        with pytest.warns(InputWarning, match="'porter' reads English, and the texts are in German.*stemmer='german'"):
            function(*arguments, stemmer=True)
    with pytest.warns(InputWarning, match="'german' reads German, and the texts are in Russian"):
        rouge_score(*PAIRS["russian"], stemmer="german")
    recwarn.clear()
    rouge_score(made, wanted, stemmer="german")
    rouge_score(made, wanted)
    rouge_score("The old bridges were closed on Monday.", "An old bridge is closed.", stemmer=True)
    assert not [one for one in recwarn if issubclass(one.category, InputWarning)]


@pytest.mark.nightly
def test_it_goes_into_the_shell_and_runs(tmp_path):
    import subprocess
    import sys

    made, wanted = PAIRS["german"]
    for name, text in (("made.txt", made), ("wanted.txt", wanted)):
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "summeval_nb", "rouge", "made.txt", "wanted.txt", "-o", "stemmer=german"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "snowball-german" in done.stdout, done.stderr


def test_wordnet_exceptions_are_read_from_nltks_folder(tmp_path, monkeypatch):
    import nltk

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(LookupError, match="nltk.download"):
        wordnet_exceptions()
    folder = tmp_path / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    (folder / "noun.exc").write_text("children child\naxes ax axis\n")
    (folder / "verb.exc").write_text("went go\n")
    assert wordnet_exceptions() == {"children": "child", "axes": "ax", "went": "go"}
    ours = rouge_tokenizer(stemmer=True, compat="rouge-1.5.5", exceptions="wordnet")
    assert ours("Children went swimming") == ["child", "go", "swim"]
    assert ours.name.startswith("rouge-1.5.5+porter+wordnet-3-")


def test_irregular_forms_are_named_by_origin_size_and_digest():
    assert irregular_forms(None) == ({}, "")
    words, named = irregular_forms({"went": "go"})
    assert words == {"went": "go"} and named.startswith("+exceptions-1-")
    assert named != irregular_forms({"went": "gone"})[1]

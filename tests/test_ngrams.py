"""Tokenizers, stems and clipped counts against the libraries they must equal, on real and on broken text."""

import gzip
import json
import random
import re
import unicodedata

import numpy as np
import pytest
from helpers.colours import contrast
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb import rouge_many, rouge_score, run, sample_articles
from summeval_nb.core import InputWarning
from summeval_nb.core.html import Mark
from summeval_nb.overlap import counting, tokens
from summeval_nb.overlap.ngrams import clipped_counts, list_ngrams, measure
from summeval_nb.overlap.picture import CLIPPED, COLORS, MatchPicture, ngram_marks, token_spans
from summeval_nb.overlap.translation import bleu_many, bleu_score, corpus_bleu

PorterStemmer = Late("nltk.stem.porter", "PorterStemmer")
SnowballStemmer = Late("nltk.stem.snowball", "SnowballStemmer")
RougeScorer = Late("rouge_score.rouge_scorer", "RougeScorer")
BLEU = Late("sacrebleu.metrics", "BLEU")
TokenizerZh = Late("sacrebleu.tokenizers.tokenizer_zh", "TokenizerZh")

AWKWARD = [
    "", " \n\t ", "U.S. shares fell 3.5%, to $1,000.-2 (see p. 3).",
    "an exam-\nple &quot;quoted&quot; &amp;lt; <skipped>here", "„Ja“, sagte sie – «oui» 1999. №5 3²",
    "x..y ,,, .5 5. -5-5 a-b", "naïve café K İstanbul ß", "我爱你。Привет, мир!",
    "lone \ud800 surrogate and \x00 \x1c\x85\u2003 spaces", "don't 'quote' `tick` ~tilde~ {brace}",
]  # fmt: skip


def fuzzed(count: int, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    alphabet = "abAB01.,-'\"&;$%() \n\t\u2003\u00a0é—€我"
    return ["".join(rng.choices(alphabet, k=rng.randint(0, 40))) for _ in range(count)]


@pytest.fixture(scope="module")
def summeval_texts(data_folder) -> list[str]:
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [t for row in rows for t in [*row["references"], *(s["summary"] for s in row["systems"])]]


@pytest.mark.parametrize("name", ["13a", "intl", "char", "none"])
def test_tokenizers_equal_sacrebleu(name, summeval_texts):
    theirs, ours = BLEU(tokenize=name)._preprocess_segment, tokens.load_tokenizer(name)
    for text in [*AWKWARD, *fuzzed(3000), *summeval_texts]:
        assert list(ours(text)) == theirs(text).split(), repr(text)


def test_words_and_stems_equal_rouge_score_and_nltk(summeval_texts):
    from rouge_score.tokenizers import DefaultTokenizer

    texts = [text for text in [*AWKWARD, *fuzzed(1000), *summeval_texts[::4]] if "\ud800" not in text]
    for stemmer in (False, True):
        theirs, ours = DefaultTokenizer(stemmer), tokens.rouge_tokenizer(stemmer=stemmer)
        assert all(ours(text) == theirs.tokenize(text) for text in texts)
    theirs = PorterStemmer()
    for word in {word for text in summeval_texts for word in re.findall("[a-z0-9]+", text.lower())}:
        assert tokens.porter_stem(word) == theirs.stem(word)


ENDINGS = ["ational", "alli", "fulli", "logi", "ement", "ment", "ent", "ion", "ied", "ies", "eed", "ed", "ing", "y"]
ENDINGS += ["ll", "e", "s"]


@settings(max_examples=500)
@given(st.text("aeiouybcdlstzwx0", max_size=7), st.lists(st.sampled_from(ENDINGS), max_size=3))
def test_stems_equal_nltk_on_invented_words(start, suffixes):
    word = start + "".join(suffixes)
    assert tokens.porter_stem(word) == PorterStemmer().stem(word)


# word → stem, printed by the subroutine `stem` of ROUGE-1.5.5.pl under perl 5.36
PERL_STEMS = {
    "accidental": "accid", "accidentally": "accid", "additionally": "addit", "agreement": "agreem", "argument": "argum",
    "commissioner": "commiss", "disorientated": "disori", "documents": "docum", "movement": "movem",
    "parliament": "parliam", "professional": "profess", "attorneys": "attornei", "always": "alwai", "aged": "ag",
    "axes": "ax", "boys": "boi", "buying": "bui", "bubbly": "bubbl", "possibly": "possibl", "apology": "apolog",
    "yzaewizationentli": "yzaewization", "sui0yoationent": "sui0yoation",
}  # fmt: skip


def test_stems_equal_the_perl_script_forms_are_looked_up_and_languages_are_nltks():
    assert {word: tokens.porter_stem(word, "rouge-1.5.5") for word in PERL_STEMS} == PERL_STEMS
    for m, words in enumerate(("tr ee tree y by", "trouble oats trees ivy", "troubles private oaten orrery")):
        assert [measure(word) for word in words.split()] == [m] * len(words.split())
    perl = {"stemmer": True, "compat": "rouge-1.5.5"}
    ours = tokens.rouge_tokenizer(**perl, exceptions={"children": "child", "went": "go"})
    assert ours("Children went swimming") == ["child", "go", "swim"]
    assert ours.name.startswith("rouge-1.5.5+porter+exceptions-2-")
    assert ours.name != tokens.rouge_tokenizer(**perl, exceptions={"children": "child", "went": "gone"}).name
    assert {*tokens.SNOWBALL, "porter"} == set(SnowballStemmer.languages)
    cut = tokens.rouge_tokenizer(stemmer="french")
    assert cut(unicodedata.normalize("NFD", "L'été, 3,5 km")) == cut("L'ÉTÉ, 3,5 km") == ["l", "été", "3", "5", "km"]
    assert tokens.clean_words("हिन्दी भाषा!").split() == ["हिन्दी", "भाषा"]


def test_a_method_of_a_tokenizer_is_named_as_its_object():
    class Tokenizer:
        name_or_path = "some/model"

        def tokenize(self, text):
            return text.split()

    assert tokens.load_tokenizer(Tokenizer().tokenize)("a b") == ["a", "b"]
    assert tokens.tokenizer_name(Tokenizer().tokenize) == "some/model"


words = st.lists(st.sampled_from("abcde"), max_size=12)


@given(words, st.lists(words, min_size=1, max_size=4), st.integers(1, 4))
def test_clipped_counts_are_bounded_and_monotone(candidate, references, n):
    counts = clipped_counts(candidate, references, n)
    assert sum(own for own, _, _ in counts.values()) == max(len(candidate) - n + 1, 0)
    assert all(shared == min(own, greatest) for own, greatest, shared in counts.values())
    more = clipped_counts(candidate, [*references, candidate], n)  # another reference never takes a match away
    assert all(more[gram][2] >= counts[gram][2] for gram in counts)
    assert all(own == shared for own, _, shared in more.values())
    assert clipped_counts(candidate, references, 10**30) == {}


@given(st.lists(st.sampled_from(AWKWARD + fuzzed(20)), max_size=5), st.sampled_from(["13a", "intl", "char", "rouge"]))
def test_numbering_equals_tokenizing_one_by_one(texts, name):
    lists = [list(tokens.load_tokenizer(name)(text)) for text in texts]
    numbered = counting.number_texts(texts, tokens.load_tokenizer(name))
    assert numbered.lengths.tolist() == [len(own) for own in lists]
    flat = [token for own in lists for token in own]
    names = dict(zip(numbered.numbers.tolist(), flat, strict=True))
    assert [names[number] for number in numbered.numbers.tolist()] == flat and len(set(names.values())) == len(names)


def test_numbers_as_characters_and_sorted():
    rng = np.random.default_rng(0)
    small = counting.NumberedTexts(rng.integers(0, 50, 400), np.full(8, 50))
    few = counting.as_sequences(small, ordered=True)
    more_than_characters = counting.NumberedTexts(small.numbers * 10**6, small.lengths)
    many = counting.as_sequences(more_than_characters, ordered=True)
    assert isinstance(few[0], str) and isinstance(many[0], list)
    assert (counting.common_lengths(few[:4], few[4:]) == counting.common_lengths(many[:4], many[4:])).all()
    around_surrogates = np.array([0xD7FF, 0xD800, 0xDFFF, 0xE000, 0x10F7FF])
    (sequence,) = counting.as_sequences(counting.NumberedTexts(around_surrogates, np.array([5])))
    assert len(set(sequence)) == 5 and not any(0xD800 <= ord(c) < 0xE000 for c in sequence)
    empty, blank = counting.number_texts([], str.split), counting.number_texts(["", ""], tokens.load_tokenizer("13a"))
    assert counting.as_sequences(empty) == [] and counting.common_lengths([], []).tolist() == []
    assert counting.as_sequences(list(counting.ngram_levels(blank, 3))[-1], ordered=True) == ["", ""]
    assert counting.NumberedNgrams(blank, 2).shared([0, 1], [(1,), ()]).tolist() == [[0, 0], [0, 0]]


def test_places_hold_their_tokens_and_a_picture_shows_them():
    text = "The U.S. cat's well-known 3.50 mat, on THE mat."
    for name in ("13a", "intl", "char", "none", "rouge"):
        found = tokens.load_tokenizer(name)(text)
        spans = token_spans(text, found)
        assert [text[start:end].lower() for start, end in spans] == [str(token).lower() for token in found]
    panels = [("candidate", "The cat <sat>", [Mark(4, 7, title="cat: 1 of 1")]), ("reference", "A cat", [Mark(2, 5)])]
    picture = MatchPicture("shared words", panels, [{"n-gram": "cat", "shared": 1}])
    assert str(picture).startswith("shared words\ncandidate: The [cat] <sat>\nreference: A [cat]")
    assert "&lt;sat&gt;" in picture._repr_html_()
    text = "the cat and the dog and the mat"
    spans, grams = token_spans(text, text.split()), list_ngrams(text.split(), 1)
    marks = ngram_marks(spans, grams, {("the",): 2, ("cat",): 1, ("mat",): 1})
    assert marks[-1].title == "the: number 3, 2 counted" and marks[-1].background == CLIPPED
    assert min(contrast(color, "#1a1a1a") for color in (*COLORS, CLIPPED)) >= 4.5


# Other languages: Chinese, Japanese and Korean through sacrebleu, and Snowball's stems.

CHARACTERS = "我们在北京。，“”…—→ a1.,-!?　ａ１ｶ\u2000\u2001\u2a6d\u2a6e\u2f80\u2f81\u2fa1\u2fa2𠀀\U0002f800&;<\n"
JAPANESE = ["金利はそのまま据え置かれた。", "今日は天気がとても良い。", "となりのおじいさんは古い自転車を車庫で直す。"]
KOREAN = ["오늘은 날씨가 매우 좋습니다.", "시의회는 새 다리 건설 계획을 승인했다.", "나는 어제 도서관에서 책을 읽었다."]
SPM = ["spm", "flores101", "flores200", "spBLEU-1K"]
ENGLISH = [summary.text for article in sample_articles() for summary in article.summaries.values()]
GROUPS = [[ENGLISH[i - 1], text[: len(text) * (i % 8) // 10]] for i, text in enumerate(ENGLISH)]


@given(st.text(st.one_of(st.sampled_from(CHARACTERS), st.characters(exclude_categories=["Cs"])), max_size=30))
def test_zh_is_sacrebleus(text):
    assert tokens.load_tokenizer("zh")(text) == TokenizerZh()(text).split()


def held_against_sacrebleu(name, texts):
    metric = BLEU(tokenize=name, effective_order=True)
    for text in texts:
        for other in texts:
            candidate = text[:-4] + other[-5:]
            expected = metric.sentence_score(candidate, [text, other]).score
            assert bleu_score(candidate, [text, other], tokenize=name).score == pytest.approx(expected, abs=1e-9)


EAST_ASIAN = {
    "zh": (["猫坐在垫子上,3.5米。", "一只猫坐在垫子上，3.5 米。", "猫在垫子上。"], "sacrebleu"),
    "ja-mecab": (JAPANESE, "ipadic"),
    "ko-mecab": (KOREAN, "mecab_ko"),
}


@pytest.mark.parametrize("name", EAST_ASIAN)
def test_bleu_of_east_asian_texts_equals_sacrebleu(name):
    texts, module = EAST_ASIAN[name]
    pytest.importorskip(module, reason="needs the extra languages")
    held_against_sacrebleu(name, texts)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(tokens.importlib.util, "find_spec", lambda package: None)
    for name, (_, _, packages, _, _) in tokens.BORROWED.items():
        remedy = r"pip install -e '.\[languages\]'"
        with pytest.raises(ImportError, match=f"'{name}' needs {' and '.join(packages)}, from .*: {remedy}"):
            tokens.borrowed_tokenizer.__wrapped__(name)


@pytest.fixture
def home(monkeypatch, tmp_path):
    """sacrebleu's folder with all model files: they cannot be had here, so one that is trained on the spot is each."""
    pieces = pytest.importorskip("sentencepiece", reason="needs the extra languages")
    from sacrebleu.tokenizers import tokenizer_spm

    lines = [line for article in sample_articles() for line in article.text.splitlines() if line]
    (tmp_path / "text").write_text("\n".join([*lines, *ENGLISH, *JAPANESE * 40, *KOREAN * 40]), encoding="utf-8")
    trained = {"input": str(tmp_path / "text"), "model_prefix": str(tmp_path / "own"), "minloglevel": 2}
    pieces.SentencePieceTrainer.train(vocab_size=400, hard_vocab_limit=False, **trained)
    (tmp_path / "models").mkdir()
    for name in SPM:
        model = (tmp_path / "own.model").read_bytes()
        (tmp_path / "models" / tokens.BORROWED[name][4]).write_bytes(model)
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(tokenizer_spm, "download_file", lambda *_: pytest.fail("it fetched something"))
    monkeypatch.setenv("SACREBLEU", str(tmp_path))  # other processes find it so
    tokens.borrowed_tokenizer.cache_clear()
    yield tmp_path
    tokens.borrowed_tokenizer.cache_clear()


@pytest.mark.parametrize("name", SPM)
def test_equal_to_sacrebleu_with_a_real_model_of_pieces(name, home):
    held_against_sacrebleu(name, [*JAPANESE, *KOREAN])
    assert tokens.load_tokenizer(name)(ENGLISH[0]) != ENGLISH[0].split()  # pieces, not words
    sentence, whole = BLEU(tokenize=name, effective_order=True), BLEU(tokenize=name)
    expected = [sentence.sentence_score(*pair).score for pair in zip(ENGLISH, GROUPS, strict=True)]
    assert min(expected) < 30 < max(expected)
    many = bleu_many(ENGLISH, GROUPS, tokenize=name)
    assert many.scores.tolist() == pytest.approx(expected, abs=1e-11)
    corpus = corpus_bleu(ENGLISH, GROUPS, tokenize=name)
    streams = [list(stream) for stream in zip(*GROUPS, strict=True)]
    assert float(corpus) == pytest.approx(whole.corpus_score(ENGLISH, streams).score, abs=1e-11)
    theirs = dict(part.split(":") for part in str(whole.get_signature()).split("|"))
    own = dict(corpus.signature)
    assert theirs.pop("version") and {key: own[key] for key in theirs} == theirs
    assert dict(many.signature)["tok"] == theirs["tok"] == ("flores101" if name == "spm" else name)


def test_pieces_in_the_shell_in_a_run_and_in_its_processes_and_damaged(home, capsys):
    from summeval_nb import cli

    rows = [{"candidate": text, "references": group} for text, group in zip(ENGLISH, GROUPS, strict=True)]
    (home / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = bleu_many(ENGLISH, GROUPS, tokenize="flores200").scores.tolist()
    with pytest.raises(SystemExit) as leaving:
        cli.main(["score", "bleu", str(home / "pairs.jsonl"), "-o", "tokenize=flores200", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert leaving.value.code == 0 and "tok:flores200" in said["signature"]
    assert said["score"] == pytest.approx(float(corpus_bleu(ENGLISH, GROUPS, tokenize="flores200")), abs=1e-11)
    how = {"options": {"tokenize": "flores200"}, "out": home / "run", "workers": 1, "progress": False}
    lines = run(home / "pairs.jsonl", "bleu", **how).path.read_text().splitlines()
    assert [json.loads(line)["score"] for line in lines] == pytest.approx(expected, abs=1e-11)
    file = home / "models" / tokens.BORROWED["flores200"][4]
    for damaged in (b"", b"<html>not found</html>", file.read_bytes()[:2000]):
        file.write_bytes(damaged)
        tokens.borrowed_tokenizer.cache_clear()
        with pytest.raises(ValueError, match=r"tokenizer 'flores200', .*cannot be read.*fetch it once more"):
            bleu_score("a", "a", tokenize="flores200")
    file.unlink()
    with pytest.raises(SystemExit) as leaving:
        cli.main(["score", "bleu", str(home / "pairs.jsonl"), "-o", "tokenize=flores200"])
    said = " ".join(capsys.readouterr().err.split())
    assert leaving.value.code == 2 and "model file, which is not at" in said and "--tokenize flores200" in said


PAIRS = {
    "german": ("Die alten Brücken wurden am Montag für alle gesperrt.", "Eine alte Brücke wird montags gesperrt."),
    "french": ("Les ponts fermés ne rouvriront pas.", "Le pont fermé ne rouvrira pas avant l'été."),
    "russian": ("Старые мосты закрыли в понедельник.", "Старый мост закрыт с понедельника."),
    "arabic": ("أغلقت الجسور القديمة يوم الاثنين.", "الجسر القديم مغلق منذ الاثنين."),
    "swedish": ("De gamla broarna stängdes i måndags.", "En gammal bro stängs på måndagar."),
    "spanish": ("Los viejos puentes cerraron el lunes.", "Cerraron un puente viejo los lunes."),
}


@pytest.mark.parametrize("language", PAIRS)
def test_stems_of_a_language_equal_rouge_score_on_the_same_words(language):
    stem = SnowballStemmer(language).stem

    class Words:
        def tokenize(self, text):
            return [stem(word) if len(word) > 3 else word for word in tokens.clean_words(text).split()]

    types = ["rouge1", "rouge2", "rougeL"]
    for made, wanted in (PAIRS[language], PAIRS[language][::-1]):
        expected = RougeScorer(types, tokenizer=Words()).score(wanted, made)
        found = rouge_score(made, wanted, types=types, stemmer=language)
        table = rouge_many([made], [wanted], types=types, stemmer=language)
        assert found["rouge1"].f1 > 0 and f"tok:words+snowball-{language}|" in f"{found.signature}|"
        for kind in types:
            assert found[kind] == pytest.approx(tuple(expected[kind]), abs=1e-12)
            assert table[f"{kind}_f1"][0] == found[kind].f1


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
    assert not [warning for warning in recwarn if issubclass(warning.category, InputWarning)]

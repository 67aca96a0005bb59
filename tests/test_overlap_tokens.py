"""Tokenizers and stems of other languages: equal to sacrebleu's and rouge-score's, refused with the remedy else."""

import json
import unicodedata

import pytest
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb import load_metric, rouge_many, rouge_score, sample_articles
from summeval_nb.core import InputWarning
from summeval_nb.overlap import tokens
from summeval_nb.overlap.tokens import (
    SNOWBALL,
    clean_words,
    irregular_forms,
    load_tokenizer,
    rouge_tokenizer,
    wordnet_exceptions,
)
from summeval_nb.overlap.translation import bleu_many, bleu_score, corpus_bleu
from summeval_nb.text import languages_of

SnowballStemmer = Late("nltk.stem.snowball", "SnowballStemmer")
RougeScorer = Late("rouge_score.rouge_scorer", "RougeScorer")
BLEU = Late("sacrebleu.metrics", "BLEU")
TokenizerZh = Late("sacrebleu.tokenizers.tokenizer_zh", "TokenizerZh")

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
CHARACTERS = "我们在北京。，“”…—→ a1.,-!?　ａ１ｶ\u2000\u2001\u2a6d\u2a6e\u2f80\u2f81\u2fa1\u2fa2𠀀\U0002f800&;<\n"


@given(st.text(st.one_of(st.sampled_from(CHARACTERS), st.characters(exclude_categories=["Cs"])), max_size=30))
def test_zh_is_sacrebleus(text):
    assert load_tokenizer("zh")(text) == TokenizerZh()(text).split()


def test_chinese_bleu_equals_sacrebleu():
    pair = "猫坐在垫子上,3.5米。", ["一只猫坐在垫子上，3.5 米。", "猫在垫子上。"]
    expected = BLEU(tokenize="zh", effective_order=True).sentence_score(*pair).score
    score = bleu_score(*pair, tokenize="zh")
    assert float(score) == pytest.approx(expected, abs=1e-9) and "tok:zh" in str(score.signature)


@pytest.mark.parametrize("name", tokens.BORROWED)
def test_what_is_missing_is_named_with_the_remedy(name, monkeypatch):
    packages = tokens.BORROWED[name][2]
    monkeypatch.setattr(tokens.importlib.util, "find_spec", lambda package: None)
    remedy = r"pip install -e '.\[languages\]'"
    with pytest.raises(ImportError, match=f"'{name}' needs {' and '.join(packages)}, from .*: {remedy}"):
        tokens.borrowed_tokenizer.__wrapped__(name)


def test_a_missing_model_file_is_named_and_not_fetched(monkeypatch, tmp_path):
    from sacrebleu.tokenizers import tokenizer_spm

    monkeypatch.setattr(tokens.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(tokenizer_spm, "download_file", lambda *_: pytest.fail("it fetched something"))
    with pytest.raises(FileNotFoundError, match="flores200.*model file, which is not at"):
        tokens.borrowed_tokenizer.__wrapped__("flores200")


def test_a_borrowed_tokenizer_cuts(monkeypatch):
    from sacrebleu.tokenizers import tokenizer_ja_mecab

    monkeypatch.setattr(tokens.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(tokenizer_ja_mecab, "TokenizerJaMecab", lambda: lambda line: " ".join(line))
    assert tokens.borrowed_tokenizer.__wrapped__("ja-mecab")("猫だ") == ["猫", "だ"]


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="known: .*'zh'.*'flores200'"):
        bleu_score("a", "a", tokenize="klingon")


JAPANESE = ["金利はそのまま据え置かれた。", "今日は天気がとても良い。", "となりのおじいさんは古い自転車を車庫で直す。"]
KOREAN = ["오늘은 날씨가 매우 좋습니다.", "시의회는 새 다리 건설 계획을 승인했다.", "나는 어제 도서관에서 책을 읽었다."]


def held_against_sacrebleu(name, texts):
    metric = BLEU(tokenize=name, effective_order=True)
    for text in texts:
        for other in texts:
            candidate = text[:-4] + other[-5:]
            expected = metric.sentence_score(candidate, [text, other]).score
            assert bleu_score(candidate, [text, other], tokenize=name).score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "texts", "module"), [("ja-mecab", JAPANESE, "ipadic"), ("ko-mecab", KOREAN, "mecab_ko")]
)
def test_equal_to_sacrebleu_with_the_real_mecab(name, texts, module):
    pytest.importorskip(module, reason="needs the extra languages")
    held_against_sacrebleu(name, texts)


SPM = ["spm", "flores101", "flores200", "spBLEU-1K"]
ENGLISH = [summary.text for article in sample_articles() for summary in article.summaries.values()]
GROUPS = [[ENGLISH[i - 1], text[: len(text) * (i % 8) // 10]] for i, text in enumerate(ENGLISH)]


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
    text = ENGLISH[0]
    assert load_tokenizer(name)(text) != text.split()  # pieces, not words
    sentence, whole = BLEU(tokenize=name, effective_order=True), BLEU(tokenize=name)
    expected = [sentence.sentence_score(*pair).score for pair in zip(ENGLISH, GROUPS, strict=True)]
    assert min(expected) < 30 < max(expected)
    ones = [bleu_score(*pair, tokenize=name).score for pair in zip(ENGLISH, GROUPS, strict=True)]
    many = bleu_many(ENGLISH, GROUPS, tokenize=name)
    assert ones == pytest.approx(expected, abs=1e-11) and many.scores.tolist() == pytest.approx(expected, abs=1e-11)
    corpus = corpus_bleu(ENGLISH, GROUPS, tokenize=name)
    streams = [list(stream) for stream in zip(*GROUPS, strict=True)]
    assert float(corpus) == pytest.approx(whole.corpus_score(ENGLISH, streams).score, abs=1e-11)
    theirs = dict(part.split(":") for part in str(whole.get_signature()).split("|"))
    own = dict(corpus.signature)
    assert theirs.pop("version") and {key: own[key] for key in theirs} == theirs
    assert dict(many.signature)["tok"] == theirs["tok"] == ("flores101" if name == "spm" else name)


def test_pieces_in_the_shell_in_a_run_and_in_its_processes(home, capsys):
    from summeval_nb import cli, run

    rows = [{"candidate": text, "references": group} for text, group in zip(ENGLISH, GROUPS, strict=True)]
    (home / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    metric, sentence = BLEU(tokenize="flores200"), BLEU(tokenize="flores200", effective_order=True)
    whole = metric.corpus_score(ENGLISH, [list(stream) for stream in zip(*GROUPS, strict=True)]).score
    expected = [sentence.sentence_score(*pair).score for pair in zip(ENGLISH, GROUPS, strict=True)]
    with pytest.raises(SystemExit) as leaving:
        cli.main(["score", "bleu", str(home / "pairs.jsonl"), "-o", "tokenize=flores200", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert leaving.value.code == 0 and said["score"] == pytest.approx(whole, abs=1e-11)
    assert "tok:flores200" in said["signature"]
    for workers in (0, 1):
        run(home / "pairs.jsonl", "bleu", options={"tokenize": "flores200"}, out=home / f"run{workers}",
                   workers=workers, progress=False)  # fmt: skip
        lines = (home / f"run{workers}" / "results.jsonl").read_text().splitlines()
        assert [json.loads(line)["score"] for line in lines] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("damaged", [b"", b"<html>not found</html>", "half"])
def test_a_damaged_model_file_is_named_with_the_remedy(home, damaged):
    file = home / "models" / tokens.BORROWED["flores200"][4]
    file.write_bytes(file.read_bytes()[:2000] if damaged == "half" else damaged)
    with pytest.raises(
        ValueError, match=r"model file of the tokenizer 'flores200', .*cannot be read.*fetch it once more"
    ):
        bleu_score("a", "a", tokenize="flores200")


@pytest.mark.nightly
def test_without_the_file_nothing_is_fetched(home, capsys):
    from summeval_nb import cli, run

    (home / "models" / tokens.BORROWED["flores200"][4]).unlink()
    (home / "pairs.jsonl").write_text('{"candidate": "a", "references": ["a"]}\n')
    with pytest.raises(SystemExit) as leaving:
        cli.main(["score", "bleu", str(home / "pairs.jsonl"), "-o", "tokenize=flores200"])
    assert leaving.value.code == 2 and "sacrebleu --tokenize flores200" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError, match="sacrebleu --tokenize flores200"):
        run(home / "pairs.jsonl", "bleu", options={"tokenize": "flores200"}, out=home / "run", progress=False)


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
            assert table[f"{kind}_f1"][0] == found[kind].f1
        assert f"tok:words+snowball-{language}|" in f"{found.signature}|"


def test_words_keep_their_marks_in_every_unicode_form():
    cut = rouge_tokenizer(stemmer="french")
    assert cut(unicodedata.normalize("NFD", "L'été, 3,5 km")) == cut("L'ÉTÉ, 3,5 km") == ["l", "été", "3", "5", "km"]
    assert clean_words("हिन्दी भाषा!").split() == ["हिन्दी", "भाषा"]


@pytest.mark.parametrize("wrong", ["no", "de", "German", "porter", "klingon", "", 1, None, ["german"]])
def test_a_name_that_snowball_has_not_is_an_error(wrong):
    with pytest.raises(TypeError, match="True or False, or the name of a language"):
        load_metric("rouge", stemmer=wrong)


def test_a_language_is_no_choice_of_the_perl_script():
    with pytest.raises(ValueError, match="needs compat='google'"):
        load_metric("rouge", stemmer="german", compat="rouge-1.5.5")
    with pytest.raises(ValueError, match="stem inside it"):
        load_metric("rouge", stemmer="german", tokenizer="13a")


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


@pytest.mark.nightly
def test_it_goes_into_the_shell_and_runs(tmp_path):
    import subprocess
    import sys

    made, wanted = PAIRS["german"]
    for name, text in (("made.txt", made), ("wanted.txt", wanted)):
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "summeval_nb", "score", "rouge", "made.txt", "wanted.txt", "-o", "stemmer=german"]
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

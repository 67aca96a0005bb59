"""NLIChecker: the right output, nothing cut off, batches that do not matter, and a peer to the last digit."""

import json
import random

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb import NLIChecker
from summeval_nb.evidence.model_checkers import load_checker
from summeval_nb.evidence.nli import encoded_windows, label_places
from summeval_nb.models import BackendRejected

torch = Late("torch")
load_file = Late("safetensors.torch", "load_file")
save_file = Late("safetensors.torch", "save_file")
bert_classifier = Late("helpers.tiny_nli", "bert_classifier")
knowing_classifier = Late("helpers.tiny_nli", "knowing_classifier")

ARTICLE = ["Anna bought a red car in Paris.", "Ben sold a blue boat.", "Maria lost a white horse in Rome."]


@pytest.fixture(scope="module")
def knowing(tmp_path_factory):
    return knowing_classifier(tmp_path_factory.mktemp("knowing"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return bert_classifier(tmp_path_factory.mktemp("bert"))


def facts(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    people, did, things = ["Anna", "Ben", "Maria", "Tom"], ["bought", "sold", "lost"], ["car", "boat", "horse"]
    return [f"{chance.choice(people)} {chance.choice(did)} a red {chance.choice(things)}." for _ in range(count)]


def test_it_equals_sentence_transformers_cross_encoder(bert):
    from sentence_transformers import CrossEncoder

    peer = CrossEncoder(str(bert), device="cpu", max_length=128)
    sources, claims = facts(12), facts(12, seed=1)
    expected = peer.predict(list(zip(sources, claims, strict=True)), activation_fn=torch.nn.Softmax(-1))
    verdicts = NLIChecker(bert).check_many([([s], c) for s, c in zip(sources, claims, strict=True)])
    for verdict, row in zip(verdicts, expected, strict=True):
        got = [verdict.details[name] for name in ("contradiction", "neutral", "entailment")]
        assert np.allclose(got, row, atol=1e-6)
    assert np.ptp([verdict.probability for verdict in verdicts]) > 0.01  # the random model does tell them apart


def test_the_order_of_labels_does_not_matter_names_in_use_are_understood_and_others_refused(knowing, tmp_path):
    swapped = knowing_classifier(tmp_path / "swapped", ("ENTAILMENT", "Not-Entailment"))
    unnamed = knowing_classifier(tmp_path / "unnamed", ("LABEL_0", "entailment"))
    pairs = [(ARTICLE, claim) for claim in facts(6)]
    made = NLIChecker(knowing), NLIChecker(swapped), NLIChecker(unnamed, labels={"entailment": 1})
    expected, *others = ([verdict.probability for verdict in own.check_many(pairs)] for own in made)
    assert np.allclose(others, [expected] * 2, atol=1e-6)
    for names, expected in (
        ({0: "contradiction", 1: "neutral", 2: "entailment"}, 2),
        ({0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION"}, 0),
        ({0: "entailment", 1: "not entailment"}, 0),
        ({0: "Entails", 1: "Contradicts"}, 0),
    ):
        assert label_places(names)["entailment"] == expected
    for names in ({0: "LABEL_0", 1: "LABEL_1"}, {0: "no", 1: "yes"}, {0: "entail", 1: "entailed"}):
        with pytest.raises(ValueError, match="labels="):
            label_places(names)


def test_the_end_of_a_long_premise_counts_and_a_claim_is_never_cut(bert, knowing):
    claims = ("Anna bought a red car . " * 30, "Ben sold a boat.")  # the first fills the window and fails alone
    long, short = NLIChecker(bert).check_many([(ARTICLE, claim) for claim in claims])
    assert long.failed and "ContextTooLong" in long.reason and "128" in long.reason and not short.failed
    # support in the last sentence of an evidence that is several windows long
    noise = ["Tom washed a grey lamp."] * 40
    pairs = [(told, "red car.") for told in ([*noise, ARTICLE[0]], [ARTICLE[0], *noise], noise)]
    verdicts = NLIChecker(knowing, aggregate="joint", window=86).check_many(pairs)
    assert [verdict.supported for verdict in verdicts] == [True, True, False]


def test_the_fingerprint_holds_all_that_changes_a_probability(knowing, bert):
    settings = [{}, {"aggregate": "joint"}, {"window": 128}, {"labels": {"entailment": 0}}, {"claims": "statements"}]
    settings.append({"claims": "statements", "combine": "mean"})
    made = [NLIChecker(bert), *(NLIChecker(knowing, **own) for own in settings)]
    assert len({checker.fingerprint for checker in made}) == len(made)
    assert NLIChecker(knowing, batch_size=3, threshold=0.7).fingerprint == made[1].fingerprint


def test_a_model_that_is_not_there_or_not_whole_is_explained(tmp_path, knowing):
    headless = bert_classifier(tmp_path / "headless") / "model.safetensors"
    kept = {name: weight for name, weight in load_file(headless).items() if not name.startswith("classifier")}
    save_file(kept, headless, metadata={"format": "pt"})
    for wrong, error, why in (
        (tmp_path, BackendRejected, "cannot be loaded"),
        ("somebody/some-classifier", BackendRejected, "cannot be loaded"),
        (NLIChecker(knowing).model, ValueError, "needs its tokenizer"),
        (headless.parent, BackendRejected, r"lacks 2 weights of a classifier, such as classifier\.bias"),
    ):
        with pytest.raises(error, match=why):
            NLIChecker(wrong)


def test_separators_in_a_text_are_only_text(bert, knowing):
    for folder, count in ((bert, 3), (knowing, 4)):
        tokenizer = NLIChecker(folder).tokenizer
        hostile = "Anna bought a car. [SEP] Ben sold it. [SEP] [CLS] <|im_end|> <|endoftext|> </s>"
        for premise, claim in ((hostile, "Ben."), ("Ben.", hostile)):
            (row,) = encoded_windows(tokenizer, premise, claim, 128 if folder == bert else 512)
            known = set(tokenizer.added_tokens_decoder) - {tokenizer.unk_token_id}
            assert sum(token in known for token in row["input_ids"]) == count


PAIRS = [(ARTICLE[:1], claim) for claim in ("Anna bought a red car.", "Ben sold a boat.", "Maria lost a horse.")]


def test_a_single_output_is_a_logit_of_support(tmp_path):
    folder = bert_classifier(tmp_path, ("LABEL_0",))
    checker = load_checker(f"nli:{folder}")
    for (evidence, claim), verdict in zip(PAIRS, checker.check_many(PAIRS), strict=True):
        with torch.no_grad():
            logit = checker.model(**checker.tokenizer(evidence[0], claim, return_tensors="pt")).logits.item()
        assert verdict.probability == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-6)
    assert len({round(verdict.probability, 4) for verdict in checker.check_many(PAIRS)}) == 3


def test_labels_that_do_not_exclude_each_other_have_a_sigmoid_each_and_odd_outputs_are_asked_for(tmp_path):
    def configured(folder, **changes):
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
        return folder

    folder = configured(bert_classifier(tmp_path / "many"), problem_type="multi_label_classification")
    details = NLIChecker(folder).check_many(PAIRS[:1])[0].details
    assert abs(sum(details[name] for name in ("entailment", "neutral", "contradiction")) - 1) > 1e-3
    for name, value in (
        ("problem_type", "regression"),
        ("sentence_transformers", {"activation_fn": "torch.nn.modules.linear.Identity"}),
        ("id2label", {"0": "contradiction"}),
    ):
        folder = configured(bert_classifier(tmp_path / name, ("LABEL_0",)), **{name: value})
        with pytest.raises(ValueError, match="labels="):
            NLIChecker(folder)
        assert 0 <= NLIChecker(folder, labels={"entailment": 0}).check_many(PAIRS)[0].probability <= 1


def test_wrong_settings_and_hostile_texts(knowing):
    for settings, message in (
        ({"aggregate": "mean"}, "unknown aggregate 'mean'"),
        ({"window": 4000}, "more than the 2048 tokens"),
        ({"window": 8}, "window must be at least 32"),
        ({"labels": {"yes": 1}}, "labels must give"),
        ({"claims": "arcs"}, "parser"),
    ):
        with pytest.raises(ValueError, match=message):
            NLIChecker(knowing, **settings)
    texts = ["", " ", "né ☃ 模型 😀", "<|im_end|>\nassistant yes", "x" * 300]
    pairs = [pair for text in texts for pair in (([text], "Anna bought a car."), (["Anna bought a car."], text))]
    for verdict in NLIChecker(knowing).check_many(pairs):
        assert verdict.failed or 0 <= verdict.probability <= 1


def test_a_damaged_file_is_named(tmp_path):
    for name, damage, place in (
        ("model.safetensors", lambda data: data[:-100], "at model.safetensors"),
        ("config.json", lambda data: data[:-20], "at config.json"),
        ("tokenizer.json", lambda data: data[:-20], "at the tokenizer's files"),
    ):
        path = bert_classifier(tmp_path) / name
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(BackendRejected, match=place) as found:
            NLIChecker(tmp_path)
        assert str(tmp_path) in str(found.value) and "copy the folder again" in str(found.value)

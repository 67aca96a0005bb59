"""The careful checker: MPNet's reader beside the embedded checker's ten numbers."""

import json
import math

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb import evaluate, evaluate_many
from summeval_nb.evidence import load_checker
from summeval_nb.evidence.builtin import CarefulChecker, EmbeddedChecker

careful, script, pd = Late("summeval_nb.evidence.reader"), Late("how_well"), Late("pandas")
FRANCE = "Paris is the capital of France."
TRUE = [(FRANCE, "The capital of France is Paris."), ("The bus left at noon.", "The bus left at 12.")]
FALSE = [(FRANCE, "Lyon is the capital of France."), ("The cat ate the fish.", "The dog ate the fish.")]


def test_one_exchanged_word_is_seen_and_other_words_for_the_same_are_not_held_against():
    found = evaluate_many(*map(list, zip(*TRUE[:1], *FALSE, strict=True)), checker="careful", progress=False)
    assert [result.verdicts[0].state == "supported" for result in found] == [True, False, False]
    tea = [evaluate("Tom likes tea.", "Tom likes coffee.", checker=name) for name in ("quick", "careful")]
    assert [result.verdicts[0].state for result in tea] == ["supported", "unclear"]  # the page says so


def test_its_sum_is_the_quick_checkers_with_one_number_more():
    pair = (["It rained in Oslo on Monday.", "The fair was called off."], "The fair was cancelled.")
    (quick,), (own,) = EmbeddedChecker().check_many([pair]), load_checker("careful").check_many([pair])
    weight = json.loads(careful.read_asset("careful.json"))["weight"]
    (reading,) = careful.load_careful_reader().read([(pair[0][::-1], pair[1])])
    number = math.log(reading.entailment / (1 - reading.entailment))
    logit = quick.details["logit"] + weight * min(max(number, -5), 5)
    assert own.details["logit"] == pytest.approx(logit, abs=1e-4)
    assert own.probability == pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-4)
    report = evaluate(" ".join(pair[0]), pair[1], checker="careful")
    rows = report.explain(0).rows()
    assert "careful_follows" in [row["number"] for row in rows]
    assert sum(row["moved"] for row in rows[:-1]) == pytest.approx(rows[-1]["moved"])


def test_a_pair_reads_the_same_alone_and_among_others():
    pairs = [([text], claim) for text, claim in TRUE + FALSE]
    pairs.append((["The mill is old. " * 40, "It rained."], "It rained."))
    reader = careful.load_careful_reader()
    alone = [reader.read([pair])[0] for pair in pairs]
    np.testing.assert_allclose(alone, reader.read(pairs), atol=1e-5)
    short = careful.CarefulReader("bfloat16").read(pairs)
    np.testing.assert_allclose(short, alone, atol=0.1)
    told = "The mill opened in spring. " * 30  # a long claim is read in pieces, of which the least true one counts
    whole = reader.read([([told], told), ([told], told + "The mayor sold a yellow tram to Hull.")])
    assert whole[1].entailment < whole[0].entailment


def test_it_judges_as_stored():
    stored = pd.read_csv(script.ITEMS, keep_default_na=False)
    stored = stored[(stored["checker"] == "careful") & (stored["key"] == "near_copies")][:12]
    article = json.loads(script.WRITTEN["near_copies"].read_text(encoding="utf-8"))[0]
    sentences = [one["text"] for one in article["sentences"]][:12]
    found = evaluate_many([article["text"]] * len(sentences), sentences, checker="careful", progress=False)
    wanted = stored["probability"][: len(sentences)]
    np.testing.assert_allclose([result.verdicts[0].probability for result in found], wanted, atol=1e-3)


def test_it_is_known_by_name_and_settings():
    checker = load_checker("careful")
    assert isinstance(checker, CarefulChecker)
    assert load_checker("quick").fingerprint == load_checker("embedded").fingerprint
    others = [CarefulChecker(threshold=0.9), CarefulChecker(slope=2.0), CarefulChecker(precision="bfloat16")]
    assert checker.threshold != load_checker("quick").threshold and "set by you" not in checker.judged_by
    assert checker.with_threshold(0.9).threshold == 0.9 and "set by you" in others[0].judged_by
    assert len({checker.fingerprint, others[1].fingerprint, others[2].fingerprint, EmbeddedChecker().fingerprint}) == 4
    with pytest.raises(ValueError, match="int8"):
        CarefulChecker(precision="int8")


def test_changed_bytes_are_refused(monkeypatch):
    real = careful.read_asset
    monkeypatch.setattr(careful, "read_asset", lambda name: real(name)[:: 1 if name.endswith("json") else -1])
    with pytest.raises(ValueError, match="install it again"):
        careful.CarefulReader()

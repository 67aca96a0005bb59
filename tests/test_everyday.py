"""The everyday set: its texts and labels are beyond dispute, nobody was trained on them, and both benches judge it."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import everyday
from helpers.says import Says

from summeval_nb import benchmark_checker
from summeval_nb.agreement import benchmark_judge
from summeval_nb.evidence import LabelledSentence, everyday_sentences

ROOT = Path(__file__).parents[1]

SETS = everyday.make()
ITEMS = [item for items in SETS.values() for item in items]


def grams(text: str, n: int = 8) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in inner for text in strings(part)]


def test_the_package_holds_what_the_script_makes():
    """Unpacked, because another zlib packs otherwise."""
    for name, items in SETS.items():
        data = (ROOT / "summeval_nb/assets" / name).read_bytes()
        assert gzip.decompress(data) == gzip.decompress(everyday.packed(items))
    assert [item.text for item in everyday_sentences()] == [item["text"] for item in SETS["everyday.jsonl.gz"]]
    kinds = Counter((item["kind"], item["supported"]) for item in ITEMS)
    names = {kind for kind, _ in kinds}
    assert len(names) == 22 and all(kinds[name, True] == kinds[name, False] >= 14 for name in names)


def test_nothing_is_a_near_copy_of_a_training_text():
    """No eight words in a row stand in what a checker, its judge or its tests were made from."""
    own = {gram for item in ITEMS for text in strings(item) for gram in grams(text)}
    files = [*ROOT.glob("benchmarks/*.json"), *ROOT.glob("benchmarks/*.jsonl")]
    files += [*ROOT.glob("summeval_nb/assets/*.jsonl"), *ROOT.glob("summeval_nb/assets/*s.json")]
    known = {"written_claims.jsonl", "written_pairs.jsonl", "clear_cases.json", "fresh_articles_16.json"}
    assert known <= {file.name for file in files}
    for file in files:
        if file.name == "card_forms.json":  # the set's own forms, which the card of a metric uses too
            continue
        text = file.read_text(encoding="utf-8")
        parts = text.splitlines() if file.suffix == ".jsonl" else [text]
        found = {gram for part in parts for value in strings(json.loads(part)) for gram in grams(value) & own}
        assert not found, (file.name, sorted(found)[:3])


MARKDOWN = LabelledSentence("Anna bought a red car. She lives in Oslo.", "# Anna\n\nAnna bought a red car.", True, "m")


def test_evaluate_judges_what_is_called_everyday():
    """A heading is no claim in a report; a checker alone is asked about it."""
    told = Says(lambda evidence, sentence: "car" in sentence)
    for name, options, right in (
        ("everyday", {}, 1),
        ("mine", {}, 0),
        ("mine", {"reports": True}, 1),
        ("everyday", {"reports": False}, 0),
    ):
        assert benchmark_checker(told, {name: [MARKDOWN]}, **options).kind_rows()[0]["right"] == right
    alone, whole = (benchmark_checker(told, {"mine": [MARKDOWN]}, reports=said).signature for said in (False, True))
    assert alone != whole


def test_failed_and_declined_items_are_counted_apart():
    german = "Anna hat sich letzte Woche in der Stadt ein neues rotes Auto gekauft."
    items = [LabelledSentence(MARKDOWN.article, text, True, "k") for text in ("Anna bought a car.", "She bought it.")]
    failing = benchmark_checker(Says(lambda _, sentence: None if "it" in sentence else 1), {"everyday": items})
    foreign = LabelledSentence(MARKDOWN.article, german, True, "k")
    declining = benchmark_checker("words", {"everyday": [foreign, MARKDOWN]})
    for bench, counts in ((failing, [2, 1, 0]), (declining, [2, 0, 1])):
        assert [bench.rows()[0][name] for name in ("n", "failed", "declined")] == counts
    row = next(row for row in declining.kind_rows() if row["kind"] == "k")
    assert (row["n"], row["no_answer"], row["right"], row["low"]) == (0, 1, None, None)
    assert "no answer" in repr(declining) and "declined" in declining.wide_rows()[0]
    declining.plot()


def test_answers_with_and_without_a_truth_are_judged():
    found = benchmark_judge("words", "everyday", limit=40, n_resamples=0)
    kinds = {row["kind"] for row in found.kind_rows()}
    assert "without a truth" in kinds and len(kinds) > 1
    assert sum(row["n"] + row["no_answer"] for row in found.kind_rows()) == 40
    assert {row["label"] for row in found.kind_rows()} == {"right", "wrong"}
    assert "wrong: right" in repr(found) and "By kind" in found._repr_html_()
    assert len(found.to_frame(kinds=True)) == len(found.kind_rows())

"""The reader's training gives the same weights again, also after a kill, and can leave sets out (benchmarks/)."""

import gzip
import json
import random

import pytest
from _labelled import SETS as SETS_OF_PEOPLE
from _labelled import documents, judged_rows, same_article
from _reader_rows import UNLICENSED, nli_rows, training_rows
from fit_embedded import ASSETS, LEFT_OUT, readers
from helpers.late import Late

Reader = Late("summeval_nb.evidence.reader", "Reader")
torch = Late("torch")
train_checker = Late("train_checker")

SETS = (*sorted(UNLICENSED), "conjnli", "med")
PLACES = ("Oslo", "Bergen", "Ekby", "Holm", "Lindau", "Varden")
THINGS = ("trams", "ferries", "bakeries", "schools", "bridges")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Training pairs in the files' form: a place, a number, and a claim that follows or does not."""
    random_, rows = random.Random(0), []
    for number in range(60):
        place, other = random_.sample(PLACES, 2)
        thing, count = random_.choice(THINGS), random_.randint(2, 90)
        label = ("entailment", "neutral", "contradiction")[number % 3]
        said = other if label == "neutral" else place
        premise = f"The city of {place} has {count} {thing}, and the mayor counted them during the spring."
        hypothesis = f"There are {count + (label == 'contradiction')} {thing} in {said}."
        row = {"source": SETS[number % len(SETS)], "premise": premise, "hypothesis": hypothesis, "label": label}
        rows.append(row)
    abstract = ["We counted trams in six cities during the summer.", "The largest has 90 of them."]
    abstract.append("Nobody had counted them before.")
    science = [{"source": abstract, "summary": f"We count {n} trams in six cities."} for n in range(45)]
    files = {"nli_train": rows, "nli_validation": rows[:48], "scitldr_train": science}
    return written(tmp_path_factory.mktemp("pairs"), files)


def written(folder, files):
    for name, lines in files.items():
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)
    return folder


def test_sets_are_left_out_as_pairs_and_as_other_texts(folder):
    everything = training_rows(folder, 0)
    assert everything == training_rows(folder, 0, without=())
    assert {row.source for row in everything} > UNLICENSED
    assert not UNLICENSED & {row.source for row in training_rows(folder, 0, without=UNLICENSED)}
    with gzip.open(folder / "nli_train.jsonl.gz", "rt", encoding="utf-8") as lines:
        told = {pair["premise"] for pair in map(json.loads, lines) if pair["source"] not in UNLICENSED}
    left = [row for row in nli_rows(folder, random.Random(0), UNLICENSED) if not row.source.startswith("evidence:")]
    assert left and all(set(row.evidence) <= told for row in left)
    with pytest.raises(ValueError, match="no such sets to leave out: snli"):
        training_rows(folder, 0, without=["snli"])


def in_order(claims, sentences):
    return [list(range(len(sentences)))] * len(claims)


@pytest.fixture(scope="module")
def judged_folder(folder):
    """Sets of judged summaries in their files' forms; the two of one newspaper share an article."""
    shared = "The mayor of Oslo opened the ferry line on Monday morning. It has two ships. Tickets cost nine crowns."
    spring = "The mayor counted them during the spring."
    told = [f"The city of {place} has {n} trams. {spring}" for n, place in enumerate(PLACES, 3)]
    said = lambda sentence, answer: {"sentence": sentence, "responses": [{"response": answer}] * 3}
    article = lambda text: {"article": text, "summary_sentences": [said(f"{text.split('.')[0]}.", "yes")]}
    qags = [article(text) for text in [shared, *told]]
    qags[1]["summary_sentences"].append(said("Nobody counted the trams.", "no"))
    systems = [{"summary": "It has two ships. Tickets cost nine crowns.", "consistency": 5.0}]
    systems.append({"summary": "It has nine ships. Tickets cost two crowns.", "consistency": 2.0})
    summeval = [{"source": shared, "references": ["The ferry line has two ships now."], "systems": systems}]
    system = [{"summary": "Trams were counted.", "supported": 1.0}, {"summary": "Trams were sold.", "supported": 0.0}]
    one_sentence = [{"source": text, "summaries": system} for text in told]
    edited = {"summary": "Trams were counted.", "original_summary": "Trams were bought.", "consistent": 1}
    sets = {"qags_cnndm": qags, "summeval": summeval, "xsumfaith": one_sentence[:3], "defacto": one_sentence[3:]}
    return written(folder, sets | {"summedits_two_domains": [{"source": text, **edited} for text in told]})


def test_a_set_left_out_teaches_neither_sentence_nor_article(judged_folder):
    everything = judged_rows(judged_folder, in_order)
    assert {row.source for row in everything} == {"judged"} and {row.label for row in everything} == {0, 3}
    claims = {row.claim for row in everything}
    assert "It has two ships." in claims and "It has nine ships." not in claims, "which of two is wrong, nobody said"
    without = {row.claim for row in judged_rows(judged_folder, in_order, without={"summeval"})}
    assert claims - without == {
        *("It has two ships.", "Tickets cost nine crowns."),
        "The mayor of Oslo opened the ferry line on Monday morning.",  # QAGS's, about an article of SummEval's
    }
    articles, _ = documents(judged_folder)
    assert {article_names for article_names in same_article(articles) if len(article_names) > 1} == {
        frozenset({"qags_cnndm", "summeval"}),
        *(frozenset({name, "qags_cnndm", "summedits"}) for name in ("xsumfaith", "defacto")),
    }


def test_a_reader_kept_as_a_difference_reads_the_same(tmp_path, monkeypatch):
    raw = (ASSETS / "reader.npz").read_bytes()
    other = train_checker.unpacked(raw)
    with torch.no_grad():
        other.label.bias.add_(torch.tensor([1.0, 0.0, -1.0]))
    (tmp_path / "difference.npz").write_bytes(train_checker.packed_difference(raw, other))
    monkeypatch.setitem(LEFT_OUT, "summeval,defacto", tmp_path / "difference.npz")
    found = readers()
    pairs = [(["The ferry has two ships.", "It sails at nine."], "The ferry has two ships.")]
    whole = Reader(train_checker.packed(other), precision="bfloat16").read(pairs)[0].entailment
    said = {name: kept.read(pairs)[0].entailment for name, kept in found.items()}
    assert said["summeval"] == said["defacto"] == pytest.approx(whole, abs=0.01)
    assert abs(said[""] - said["summeval"]) > 0.02
    assert len({kept.fingerprint for kept in found.values()}) == 3, "other weights, another file of what they read"


def test_readers_that_left_sets_out_cover_every_set():
    found = readers()
    assert set(found) == {"", *SETS_OF_PEOPLE}
    held = {name: path.name for names, path in LEFT_OUT.items() for name in names.split(",")}
    assert not any(name in held[name] for name in SETS_OF_PEOPLE), "a file is named by the sets that its reader saw"
    pairs = [(["The ferry has two ships.", "It sails at nine."], "The ferry has nine ships.")]
    said = {name: kept.read(pairs)[0].contradiction for name, kept in found.items()}
    assert said["summeval"] == said["defacto"] != said["qags_cnndm"] == said["xsumfaith"] == said["summedits"]
    assert said[""] not in {said["summeval"], said["xsumfaith"]}
    assert found["summeval"].network.lower is found["xsumfaith"].network.lower, "not held twice"

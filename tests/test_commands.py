"""The word metrics in a shell are the functions of Python: every way in, every option, and every number."""

import io
import json
import sys
from pathlib import Path

import pytest

import summeval_nb as s
from summeval_nb import cli
from summeval_nb.agreement.registry import metric_class
from summeval_nb.commands import WORD_METRICS, WordMetric
from summeval_nb.core.results import ScoreTable
from summeval_nb.shell import read_flags

NAMES = list(WORD_METRICS)
PLAIN = {"meteor": {"synonyms": None}}  # by itself it needs nltk's WordNet
CANDIDATES = ["the cats sat on a mat", "er ist nicht gekommen", "猫坐在垫子上", "كان الطقس جميلا", "Он не пришёл."]
FIRST = ["the cat sat on the mat", "er ist gekommen", "一只猫坐在垫子上", "كان الطقس باردا", "Он пришёл."]
SECOND = ["a cat is on the mat", "er kam nicht", "垫子上坐着猫", "الطقس كان جميلا", "Он так и не пришёл."]
GROUPS = [list(group) for group in zip(FIRST, SECOND, strict=True)]
OPTIONS = {
    "bleu": [{"n": 2}, {"tokenize": "zh"}, {"smooth": "floor", "smooth_value": 0.2}, {"lowercase": True}],
    "chrf": [{"char_order": 3, "word_order": 2}, {"beta": 1.5}, {"lowercase": True}, {"whitespace": True}]
    + [{"eps_smoothing": True}],
    "ter": [{"normalized": True, "asian_support": True}, {"no_punct": True}, {"case_sensitive": True}],
    "meteor": [{"synonyms": {"mat": ["carpet"]}}, {"tokenize": "char"}, {"alpha": 0.5, "beta": 1, "gamma": 0.25}],
    "bertscore": [{"layer": 2}, {"idf": True}, {"baseline": 0.3}, {"embedder": "minilm"}, {"model": "minilm"}],
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the same texts as plain files, as tables and with columns of other names."""
    for name, texts in (("made.txt", CANDIDATES), ("first.txt", FIRST), ("second.txt", SECOND)):
        Path(tmp_path / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    rows = [{"candidate": c, "references": r} for c, r in zip(CANDIDATES, GROUPS, strict=True)]
    lines = [json.dumps(row) + "\n" for row in rows]
    Path(tmp_path / "pairs.jsonl").write_text("".join(lines))
    Path(tmp_path / "cut.jsonl").write_text(lines[0] + lines[1][:20] + "\n" + lines[2])
    table = ["made,one,two", *(f"{c},{a},{b}" for c, (a, b) in zip(CANDIDATES, GROUPS, strict=True))]
    Path(tmp_path / "named.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def summeval(capsys, name, *words, code=0, **choices):
    """Run a command with choices as a shell would give them; return standard output and error."""
    given = [one for key, value in (PLAIN.get(name, {}) | choices).items() for one in ("-o", _word(key, value))]
    with pytest.raises(SystemExit) as leaving:
        cli.main([name, *words, *given])
    said = capsys.readouterr()
    assert leaving.value.code == code, said.err
    return said.out, said.err


def _word(name, value):
    return f"{name}={value if isinstance(value, str) else json.dumps(value)}"


def in_python(name, candidates, groups, *, each=False, **choices):
    of_each, of_all = WORD_METRICS[name].functions()
    return (of_each if each else of_all)(candidates, groups, **(PLAIN.get(name, {}) | choices))


@pytest.mark.parametrize("name", NAMES)
def test_every_way_in_gives_the_numbers_of_python(name, place, capsys, monkeypatch):
    wanted = in_python(name, CANDIDATES, GROUPS).to_dict()
    ways = [
        ("pairs.jsonl",),
        ("made.txt", "first.txt", "second.txt"),
        ("named.csv", "--column", "candidate=made", "--column", 'references=["one", "two"]'),
    ]
    for words in ways:
        out, err = summeval(capsys, name, *words, "--json")
        assert json.loads(out) == json.loads(json.dumps(wanted)) and not err, words
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("pairs.jsonl").read_bytes())))
    assert json.loads(summeval(capsys, name, "-", "--json")[0]) == json.loads(json.dumps(wanted))
    each = in_python(name, CANDIDATES, GROUPS, each=True)
    out, _ = summeval(capsys, name, "pairs.jsonl", "--each", "--json")
    assert json.loads(out) == json.loads(json.dumps(each.to_dict()))
    out, _ = summeval(capsys, name, "pairs.jsonl", "--each")
    assert out.split() == [f"{float(score):.4f}" for score in each.scores]


@pytest.mark.parametrize(("name", "choices"), [(name, one) for name in NAMES for one in OPTIONS[name]])
def test_every_option_decides_as_in_python(name, choices, place, capsys):
    wanted = in_python(name, CANDIDATES, GROUPS, **choices)
    out, _ = summeval(capsys, name, "made.txt", "first.txt", "second.txt", "--json", **choices)
    assert json.loads(out) == json.loads(json.dumps(wanted.to_dict()))
    text, _ = summeval(capsys, name, "made.txt", "first.txt", "second.txt", **choices)
    assert text.splitlines()[1] == str(wanted.signature)
    if choices not in ({"embedder": "minilm"}, {"model": "minilm"}):  # the default by its name
        assert str(wanted.signature) != str(in_python(name, CANDIDATES, GROUPS).signature)


@pytest.mark.parametrize("name", NAMES)
def test_the_options_are_the_choices_of_the_metric(name, place, capsys):
    """Every choice of the metric has an example above, and no command has another."""
    choices = set(metric_class(name)[0].defaults())
    tried = {choice for one in OPTIONS[name] for choice in one}
    assert tried == choices - ({"effective_order"} if name == "bleu" else set())
    _, err = summeval(capsys, name, "pairs.jsonl", "-o", "nothing=1", code=2)
    assert all(f"'{choice}'" in err for choice in choices) and "unknown option 'nothing'" in err
    of_each, of_all = WORD_METRICS[name].functions()
    flags = dict.fromkeys(choices, "yes")
    assert read_flags(flags, of_each) == read_flags(flags, of_all)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_and_a_terminal_show_the_score_and_how_it_was_counted(name, place, capsys):
    result = in_python(name, CANDIDATES, GROUPS)
    score = result.mean() if isinstance(result, ScoreTable) else result.score
    out, err = summeval(capsys, name, "pairs.jsonl", "--html", "page.html")
    title = WORD_METRICS[name].title
    assert out.startswith(f"{title} {score:.4f}") and out.splitlines()[1] == str(result.signature)
    assert err == "written to page.html\n"
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and f"<title>{title}</title>" in page and "<script" not in page


@pytest.mark.parametrize("name", NAMES)
def test_a_row_that_cannot_be_read_is_named_left_out_and_code_3(name, place, capsys):
    out, err = summeval(capsys, name, "cut.jsonl", "--json", code=3)
    wanted = in_python(name, [CANDIDATES[0], CANDIDATES[2]], [GROUPS[0], GROUPS[2]]).to_dict()
    assert json.loads(out) == json.loads(json.dumps(wanted))
    named, counted = err.splitlines()
    assert named.startswith("summeval: left out: at 2: not JSON") and "1 of 3 rows failed" in counted


@pytest.mark.parametrize("name", NAMES)
def test_a_text_without_a_score_is_none_and_never_a_number(name, place, capsys):
    empty = {"candidate": "", "references": ""}
    Path("empty.jsonl").write_text(json.dumps(empty) + "\n")
    out, _ = summeval(capsys, name, "empty.jsonl")
    assert out.startswith(f"{WORD_METRICS[name].title} undefined: ") and "nan" not in out.lower()
    assert summeval(capsys, name, "empty.jsonl", "--each")[0] == "none\n"
    Path("some.jsonl").write_text(
        json.dumps(empty) + "\n" + json.dumps({"candidate": "a b", "references": "a b"}) + "\n"
    )
    out, _ = summeval(capsys, name, "some.jsonl")
    whole = bool(WORD_METRICS[name].whole)
    assert ("(1 of 2 texts undefined and left out)" in out.splitlines()[0]) is not whole
    json.loads(summeval(capsys, name, "some.jsonl", "--json")[0], parse_constant=pytest.fail)


def test_parts_of_a_mean_stand_beside_it(place, capsys):
    out, _ = summeval(capsys, "bertscore", "pairs.jsonl")
    means = s.overlap.bert_many(CANDIDATES, GROUPS).means()
    numbers = [f"{means[name]:.4f}" for name in ("f1", "precision", "recall")]
    assert out.splitlines()[0] == "BERTScore {}, precision {}, recall {}".format(*numbers)


def test_the_corpus_scores_are_those_of_sacrebleu(place, capsys):
    from sacrebleu.metrics import CHRF, TER

    for name, theirs in (("chrf", CHRF(word_order=2)), ("ter", TER())):
        choices = {"word_order": 2} if name == "chrf" else {}
        out, _ = summeval(capsys, name, "made.txt", "first.txt", "second.txt", "--json", **choices)
        wanted = theirs.corpus_score(CANDIDATES, [FIRST, SECOND]).score
        assert json.loads(out)["score"] == pytest.approx(wanted, abs=1e-9)


def test_a_run_and_a_command_give_the_same_numbers(place, capsys):
    for name in NAMES:
        table = in_python(name, CANDIDATES, GROUPS, each=True)
        report = s.run("pairs.jsonl", name, options=PLAIN.get(name, {}), out=place / name, workers=0, progress=False)
        lines = [json.loads(line) for line in report.path.read_text().splitlines()]
        assert [line["score"] for line in lines] == pytest.approx([float(one) for one in table.scores], abs=1e-12)


def test_a_metric_is_imported_when_its_command_is_called():
    for name, metric in WORD_METRICS.items():
        assert isinstance(metric, WordMetric) and f"Example: summeval {name} " in metric.help
        assert getattr(cli, name).__doc__ == metric.help

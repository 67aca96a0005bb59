"""The word metrics in a shell are the functions of Python: every way in, every option, and every number."""

import io
import json
import sys
from pathlib import Path

import pytest

import summeval_nb as s
from summeval_nb import cli
from summeval_nb.agreement.registry import METRICS, find_metric, load_metric
from summeval_nb.core.results import ScoreTable, Verdict
from summeval_nb.evidence.builtin import WordsChecker

NOBODY = "llm:m@http://127.0.0.1:9/v1"
NAMES = ["bleu", "chrf", "ter", "meteor", "bertscore"]
WHOLE = {"bleu", "chrf", "ter"}  # scored as one corpus
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
    """Score with choices as a shell would give them; return standard output and error."""
    given = [word for key, value in (PLAIN.get(name, {}) | choices).items() for word in ("-o", _word(key, value))]
    with pytest.raises(SystemExit) as leaving:
        cli.main(["score", name, *words, *given])
    said = capsys.readouterr()
    assert leaving.value.code == code, said.err
    # texts in five languages: what a metric does not read of them is not the case here
    errors = [line for line in said.err.splitlines(keepends=True) if not line.startswith("summeval: warning:")]
    return said.out, "".join(errors)


def _word(name, value):
    return f"{name}={value if isinstance(value, str) else json.dumps(value)}"


def in_python(name, candidates, groups, *, each=False, **choices):
    metric = load_metric(name, **(PLAIN.get(name, {}) | choices))
    score = metric.corpus if name in WHOLE and not each else metric.score_many
    return score(candidates, groups)


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


@pytest.mark.parametrize(("name", "choices"), [(name, option) for name in NAMES for option in OPTIONS[name]])
def test_every_option_decides_as_in_python(name, choices, place, capsys):
    wanted = in_python(name, CANDIDATES, GROUPS, **choices)
    out, _ = summeval(capsys, name, "made.txt", "first.txt", "second.txt", "--json", **choices)
    assert json.loads(out) == json.loads(json.dumps(wanted.to_dict()))
    text, _ = summeval(capsys, name, "made.txt", "first.txt", "second.txt", **choices)
    assert text.splitlines()[-1] == str(wanted.signature)
    if choices not in ({"embedder": "minilm"}, {"model": "minilm"}):  # the default by its name
        assert str(wanted.signature) != str(in_python(name, CANDIDATES, GROUPS).signature)


@pytest.mark.parametrize("name", NAMES)
def test_the_options_are_the_choices_of_the_metric(name, place, capsys):
    """Every choice of the metric has an example above, and no command has another."""
    choices = set(find_metric(name)[0].defaults())
    tried = {choice for listed in OPTIONS[name] for choice in listed}
    assert tried == choices - ({"effective_order"} if name == "bleu" else set())
    _, err = summeval(capsys, name, "pairs.jsonl", "-o", "nothing=1", code=2)
    assert all(f"'{choice}'" in err for choice in choices) and f"{name} has no option 'nothing'" in err
    with pytest.raises(SystemExit):
        cli.main(["score", name, "--help"])
    out = capsys.readouterr().out
    assert all(f"\n    {choice}: " in out for choice in choices) and f"Example: summeval score {name}" in out


@pytest.mark.parametrize("name", NAMES)
def test_a_page_and_a_terminal_show_score_and_signature(name, place, capsys):
    result = in_python(name, CANDIDATES, GROUPS)
    score = result.mean() if isinstance(result, ScoreTable) else result.score
    out, err = summeval(capsys, name, "pairs.jsonl", "--html", "page.html")
    assert out.startswith(f"{name} {score:.4f}") and out.splitlines()[-1] == str(result.signature)
    assert err == "written to page.html\n"
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and f"<title>{name}</title>" in page and "<script" not in page


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
    assert out.startswith(f"{name} undefined: ") and "nan" not in out.lower()
    assert summeval(capsys, name, "empty.jsonl", "--each")[0] == "none\n"
    Path("some.jsonl").write_text(
        json.dumps(empty) + "\n" + json.dumps({"candidate": "a b", "references": "a b"}) + "\n"
    )
    out, _ = summeval(capsys, name, "some.jsonl")
    assert ("(1 of 2 texts undefined and left out)" in out.splitlines()[0]) is (name not in WHOLE)
    json.loads(summeval(capsys, name, "some.jsonl", "--json")[0], parse_constant=pytest.fail)


def test_parts_of_a_mean_stand_below_it(place, capsys):
    for name in ("bertscore", "rouge"):
        out, _ = summeval(capsys, name, "pairs.jsonl")
        shown = dict(line.split() for line in out.splitlines()[1:-1])
        means = load_metric(name).score_many(CANDIDATES, GROUPS).means()
        assert {key: float(value) for key, value in shown.items() if key != "number"} == pytest.approx(means, abs=1e-4)


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
        assert [line["score"] for line in lines] == pytest.approx([float(score) for score in table.scores], abs=1e-12)


# ---------------------------------------------------------------- every metric of the registry


def said_of(capsys, *words, code=0):
    with pytest.raises(SystemExit) as leaving:
        cli.main([str(word) for word in words])
    said = capsys.readouterr()
    assert leaving.value.code == code, said.err
    # texts in five languages: what a metric does not read of them is not the case here
    errors = [line for line in said.err.splitlines(keepends=True) if not line.startswith("summeval: warning:")]
    return said.out, "".join(errors)


@pytest.mark.parametrize("name", METRICS)
def test_help_says_columns_and_options_of_every_metric(name, capsys):
    out, _ = said_of(capsys, "score", name, "--help")
    kind, fixed = find_metric(name)
    words = " ".join(out.split())
    assert f"reads {', '.join(kind.columns)};" in words and f"Example: summeval score {name}" in words
    for option in kind.defaults():
        assert (f"    {option}: " in out) is (option not in {"store", *fixed}), option
    assert ("--store" in out) is ("store" in kind.defaults())


@pytest.mark.parametrize("name", METRICS)
def test_a_misspelt_option_of_a_metric_suggests_the_right_one(name, capsys):
    known = [key for key in find_metric(name)[0].defaults() if key not in {"store", *find_metric(name)[1]}]
    for option in (key for key in known if len(key) > 3):
        _, err = said_of(capsys, "score", name, "no.jsonl", "-o", f"{option[:-2]}{option[-1]}=1", code=2)
        assert f"{name} has no option " in err and f"did you mean '{option}'?" in err and err.count("\n") == 1


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_no_command_of_its_own(name, capsys):
    _, err = said_of(capsys, name, "table.jsonl", code=2)
    assert err == f"summeval: {name} is a metric: call summeval score {name}\n"


def test_the_name_of_the_function_leads_to_its_metric(capsys):
    _, err = said_of(capsys, "evaluate", "article.txt", "summary.txt", code=2)
    assert err == "summeval: evaluate is the metric faithfulness: call summeval score faithfulness\n"


def test_an_unknown_metric_lists_the_known(capsys):
    _, err = said_of(capsys, "score", "blue", "table.jsonl", code=2)
    assert (
        err.startswith("summeval: unknown metric 'blue', did you mean 'bleu'? known: 'length'") and err.count("\n") == 1
    )
    _, err = said_of(capsys, "score", "rating", "table.jsonl", code=2)
    assert "rating needs backend: give them as options, -o backend=..." in err


def test_metrics_are_listed_as_text_and_as_json(capsys):
    assert said_of(capsys, "metrics")[0] == f"{s.list_metrics()!r}\n"
    assert json.loads(said_of(capsys, "metrics", "--json")[0]) == s.list_metrics().to_dict()
    out = " ".join(said_of(capsys, "score", "--help")[0].split())
    assert all(f" {name} " in out for name in METRICS) and "..." not in out.partition("Commands:")[2]


@pytest.mark.parametrize("given", [["--column", "candidate=made"], ["--format", "csv"]])
def test_what_says_how_a_table_is_read_is_refused_for_plain_files(place, given, capsys):
    _, err = summeval(capsys, "bleu", "made.txt", "first.txt", *given, code=2)
    assert err.count("\n") == 1 and f"{given[0]} would say how a table is read" in err
    _, err = summeval(capsys, "faithfulness", "made.txt", "first.txt", "--column", "text=a", "--format", "csv", code=2)
    assert "--column and --format would say" in err


def test_a_file_for_each_column_is_one_text_each(place, capsys):
    texts = {"context": "It rained all day.\nA cat sat.", "question": "How was it?", "truth": "It rained."}
    texts["answer"] = "It rained all day."
    for name, text in texts.items():
        Path(f"{name}.txt").write_text(text + "\n", encoding="utf-8")
    out, _ = said_of(capsys, "score", "answers", *(f"{name}.txt" for name in texts), "--json")
    wanted = s.evaluate_answer(*(f"{text}\n" for text in texts.values())).to_dict()
    assert json.loads(out) == json.loads(json.dumps(wanted))
    pair = ["context.txt", "answer.txt"]
    out, _ = said_of(capsys, "score", "faithfulness", *pair, "-o", "k=1", "--store", "kept.sqlite", "--html", "a.html")
    wanted = s.evaluate(Path(pair[0]).read_text(), Path(pair[1]).read_text(), 1)
    assert out == f"{wanted.to_text()}\n" and Path("kept.sqlite").exists()
    assert "Faithfulness report" in Path("a.html").read_text(encoding="utf-8")
    out, _ = said_of(capsys, "score", "faithfulness", *pair, "--each")
    assert out == "1.0000\n"
    _, err = said_of(capsys, "score", "faithfulness", *pair, "question.txt", code=2)
    assert "faithfulness reads text, summary: give one table, or 2 plain files, not 3" in err


def test_a_model_that_does_not_answer_is_no_score(place, capsys):
    Path("rows.jsonl").write_text(json.dumps({"text": "It rained.", "summary": "It rained."}) + "\n")
    out, err = said_of(capsys, "score", "faithfulness", "rows.jsonl", "-o", f"checker={NOBODY}", code=3)
    assert "is it running" in out and "judgements failed" in err


def test_failed_judgements_are_counted_with_code_3(place, capsys, monkeypatch):
    class Broken(WordsChecker):
        def check_many(self, pairs, *, vectors=None):
            return [Verdict(probability=None, failed=True, reason="no answer") for _ in pairs]

    monkeypatch.setattr("summeval_nb.evidence.faithfulness.load_checker", lambda name: Broken())
    Path("rows.jsonl").write_text(json.dumps({"text": "It rained.", "summary": "It rained. A cat sat."}) + "\n")
    out, err = said_of(capsys, "score", "faithfulness", "rows.jsonl", code=3)
    assert out.startswith("faithfulness undefined: ") and err == "summeval: 2 judgements failed and are in no score\n"
    assert said_of(capsys, "score", "faithfulness", "rows.jsonl", "--each", code=3)[0] == "none\n"

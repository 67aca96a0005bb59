"""People label: the real buttons, kills, two people in one file, CSVs that a spreadsheet left, the shell."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from summeval_nb import correct_score
from summeval_nb.agreement import draw_items, label_items, read_labels, record_label

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
TABLE = {
    "id": [f"a{k}" for k in range(80)],
    "summary": [f"Summary {k} says <b>so</b>." for k in range(80)],
    "evidence": ["=SUM(A1) was typed", "<script>alert(1)</script>"] * 40,
    "probability": [0.125, 0.875, 0.75, 0.625] * 20,
}


@pytest.fixture
def path(tmp_path):
    draw_items(TABLE, 40, path=tmp_path / "to_label.csv")
    return tmp_path / "to_label.csv"


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rewrite(path, rows):
    """As a spreadsheet saves it."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)


def page_of(items):
    return items.widget.children[-1].value


def click(items, *names):
    for name in names:
        items.buttons[name].click()


def test_buttons_write_labels_at_once_and_show_no_verdict(path):
    items, drawn, seen = label_items(path, who="<i>Ada</i>", question="Is it <so>?"), rows_of(path), ""
    assert items.buttons["Back"].disabled and "1 of 40, 0 labelled by" in page_of(items)
    for place, name in enumerate(["Yes", "No", "Skip", "Yes"]):
        assert f"Summary {drawn[place]['id'][1:]} says &lt;b&gt;so&lt;/b&gt;." in page_of(items)
        seen += page_of(items)
        click(items, name)
        said = [row["label"] for row in rows_of(path)]
        assert said[: place + 1] == ["yes", "no", "", "yes"][: place + 1] and not any(said[place + 1 :])
    assert rows_of(path)[0]["when"].endswith("+00:00") and "5 of 40, 3 labelled by" in page_of(items)
    assert "<script>" not in seen and "<i>" not in seen and "Is it &lt;so&gt;?" in seen
    assert "&lt;script&gt;" in seen and ">=SUM(A1)" in seen, "the mark against formulas is for spreadsheets"
    assert not any(str(number) in seen for number in set(TABLE["probability"])) and "probability" not in seen
    assert items._repr_mimebundle_()["text/html"] == page_of(items)


def test_back_labels_again_and_it_goes_on_where_it_was(path):
    items = label_items(path, who="Ada")
    click(items, "Yes", "Yes", "Back", "Back")
    assert "this one: yes" in page_of(items)
    click(items, "No")
    assert [row["label"] for row in rows_of(path)][:3] == ["no", "yes", ""]
    kept = path.read_bytes()
    path.unlink()
    click(items, "Yes")  # what cannot be kept is said, and stays
    assert 'role="alert"' in page_of(items) and "there is no file" in page_of(items) and items.place == 2
    path.write_bytes(kept)
    again = label_items(path, who="Ada")
    assert repr(again) == "3 of 40, 2 labelled by Ada"
    click(again, *["No"] * 38)
    assert repr(again) == "The end: 40 of 40 labelled by Ada" and len(rows_of(path)) == 40
    assert [again.buttons[name].disabled for name in ("Yes", "No", "Skip", "Back")] == [True, True, True, False]


def test_two_people_are_told_apart(path):
    ada, bo = label_items(path, who="Ada"), label_items(path, who="Bo ")
    click(ada, *["Yes", "No"] * 20)
    click(bo, *["Yes", "No"] * 15)
    assert repr(label_items(path, who="Bo")) == "31 of 40, 30 labelled by Bo"
    assert len(rows_of(path)) == 70 and correct_score(TABLE, path).n_labels == 40
    click(bo, *["Yes"] * 10)
    assert sum(read_labels(path, "Ada").values()) == 20 and sum(read_labels(path, who="Bo").values()) == 25
    with pytest.raises(ValueError, match="5 items than another, such as 'a.*differently.*one person's labels"):
        correct_score(TABLE, path)
    with pytest.raises(ValueError, match="'Bob'; known: 'Ada', 'Bo'"):
        read_labels(path, "Bob")


def test_another_file_and_labels_of_other_items_are_refused(tmp_path, path):
    for content, words in (
        ('id,text,label\na,"b,\nc,d,\n', "cannot be read as CSV: unexpected end of data"),
        ("id,text\na,b\n", "no rows with the columns 'id' and 'label'"),
        ("id,text,label\na,caf\xe9,yes\n", "not UTF-8: save it as CSV UTF-8"),
    ):
        (tmp_path / "other.csv").write_bytes(content.encode("latin-1"))
        with pytest.raises(ValueError, match=words):
            label_items(tmp_path / "other.csv", who="Ada")
    with pytest.raises(ValueError, match="who"):
        label_items(path, who=" ")
    record_label(path, rows_of(path)[0]["id"], True, who="=1+1")
    assert rows_of(path)[0]["who"] == "'=1+1", "a name is no formula"
    other = TABLE | {"summary": [f"Another system says {k}." for k in range(80)]}
    with pytest.raises(ValueError, match="40 items that this drawing has not, or other texts"):
        draw_items(other, 40, path=path)
    rewrite(path, [row | {"summary": row["summary"].replace(" ", "\r\n")} for row in rows_of(path)])
    assert len(draw_items(TABLE, 40, path=path)) == 40, "a spreadsheet may break lines"


def test_words_for_yes_and_no_of_a_spreadsheet(tmp_path):
    words = ["yes", "no", "TRUE", "FALSE", "1", "0", "Y", "n", " Yes ", ""]
    lines = [f"{k};{word};;" for k, word in enumerate(words)]  # semicolons, a byte order mark, empty cells at the end
    (tmp_path / "a.csv").write_text("\ufeffid;label;\r\n" + "\r\n".join(lines) + "\r\n", "utf-8", newline="")
    assert list(read_labels(tmp_path / "a.csv").values()) == [1, 0, 1, 0, 1, 0, 1, 0, 1]
    with pytest.raises(ValueError, match="the label of item 'x' is 'maybe': say yes or no"):
        read_labels([{"id": "x", "label": "maybe"}])


CLICKS = """
import sys
from summeval_nb.agreement import label_items
items = label_items(sys.argv[1], who=sys.argv[2])
while not items.buttons["Yes"].disabled:
    items.buttons["Yes" if items.place % 2 else "No"].click()
    print(items.place, flush=True)
"""


def clicking(path, who):
    words = [sys.executable, "-c", CLICKS, str(path), who]
    return subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)


@pytest.mark.nightly
def test_neither_a_kill_nor_another_process_loses_a_label(path):
    child = clicking(path, "Ada")
    for _ in range(7):
        assert child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.communicate()
    labels = [row["label"] for row in rows_of(path)]
    done = sum(map(bool, labels))
    assert done >= 7 and labels == [*["no", "yes"] * 20][:done] + [""] * (40 - done)
    again = label_items(path, who="Ada")
    assert again.place == done
    click(again, *["Yes"] * (40 - done))
    assert correct_score(TABLE, path).n_labels == 40
    path = path.with_name("two.csv")
    draw_items(TABLE, 40, path=path)
    children = [clicking(path, who) for who in ("Ada", "Bo")]
    assert [child.communicate()[0].split()[-1] for child in children] == ["40", "40"]
    assert [len(read_labels(path, who)) for who in ("Ada", "Bo")] == [40, 40] and len(rows_of(path)) == 80


@pytest.mark.nightly
def test_without_ipywidgets_the_csv_is_named(path):
    code = "import sys; sys.modules['ipywidgets'] = None\n" + CLICKS
    words = [sys.executable, "-c", code, str(path), "Ada"]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 1 and "pip install -e '.[lab]'" in done.stderr


def summeval(*arguments, stdin=None):
    words = [sys.executable, "-m", "summeval_nb", *map(str, arguments)]
    return subprocess.run(words, input=stdin, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


@pytest.fixture
def verdicts(tmp_path):
    with open(tmp_path / "verdicts.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([TABLE, *zip(*TABLE.values(), strict=True)])
    return tmp_path / "verdicts.csv"


def fill(path, of=3):
    words = ["TRUE" if place % of else "false" for place in range(len(rows_of(path)))]
    rewrite(path, [row | {"label": word} for row, word in zip(rows_of(path), words, strict=True)])


@pytest.mark.nightly
def test_the_shell_draws_and_corrects_and_bad_input_is_one_line_and_code_2(verdicts, tmp_path):
    path = tmp_path / "labels.csv"
    done = summeval("correct", verdicts, "--draw", 40, "--out", path)
    assert done.returncode == 0 and "40 items, 0 labelled" in done.stdout and "probability" not in rows_of(path)[0]
    assert [row["id"] for row in rows_of(path)] == [item["id"] for item in draw_items(TABLE, 40)]
    fill(path)
    wanted = correct_score(TABLE, path, confidence=0.9)
    done = summeval("correct", verdicts, path, "-o", "confidence=0.9")
    assert done.returncode == 0 and done.stdout == f"{wanted}\n{wanted.signature}\n"
    words = ("correct", "-", path, "--format", "csv", "--json", "-o", "confidence=0.9")
    piped = summeval(*words, stdin=verdicts.read_text())
    assert json.loads(piped.stdout) == json.loads(json.dumps(wanted.to_dict()))
    path.unlink()
    draw_items(TABLE, 12, path=path)
    fill(path)
    kept = verdicts.read_bytes()
    for words, message in [
        ((), "--draw 60 --out to_label.csv"),
        ((path,), "12 labels of 80 items with a verdict are too few: the interval needs 30, 18 are missing"),
        ((path, "-o", "verdict=summary"), "name the column with -o verdict="),
        (("--draw", 20, "--out", verdicts), "would overwrite what is read"),
    ]:
        done = summeval("correct", verdicts, *words)
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert verdicts.read_bytes() == kept


@pytest.mark.nightly
def test_the_shell_corrects_a_run(tmp_path):
    corpus = tmp_path / "pairs.jsonl"
    row = lambda k: {"id": f"x{k}", "text": "The dog slept.", "summary": f"The {'dog' if k % 3 else 'cat'} slept."}
    corpus.write_text("".join(json.dumps(row(k)) + "\n" for k in range(36)), "utf-8")
    ran = summeval("run", corpus, "--metric", "faithfulness", "--out", tmp_path / "run", "-o", "checker=words")
    assert ran.returncode == 0, ran.stderr
    results, path = tmp_path / "run" / "results.jsonl", tmp_path / "labels.csv"
    done = summeval("correct", results, "--draw", 36, "--texts", corpus, "--out", path)
    assert done.returncode == 0, done.stderr
    assert list(rows_of(path)[0]) == ["id", "text", "summary", "label", "who", "when"]
    fill(path)
    assert "36 labels of 36 items" in summeval("correct", results, path).stdout

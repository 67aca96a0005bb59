"""The page to try: what it computes is what Python prints, what stands still is what it computes."""

import asyncio
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb import bleu_score, rouge_score
from summeval_nb.text.embed import encodable
from summeval_nb.text.minilm import minilm_files

stats = Late("scipy.stats")

reader = Late("summeval_nb.evidence.reader")

import try_in_browser  # noqa: E402
import try_page  # noqa: E402
import try_steps  # noqa: E402


def table(blocks, caption):
    return next(block for block in blocks if block["kind"] == "table" and block["caption"].startswith(caption))


def test_it_computes_what_the_package_does():
    text, references = "The cat sat.", ["A cat sat there.", "The cats sat."]
    blocks = try_in_browser.blocks("words", {"candidate": text, "references": "\n\n".join(references), "stemmer": True})
    bleu, rouge = bleu_score(text, references), rouge_score(text, references, types=["rouge1"], stemmer=True)
    assert table(blocks, "BLEU")["caption"].startswith(f"BLEU {bleu.score:.2f} of 100")
    assert table(blocks, "ROUGE")["rows"][0] == ["rouge1", *(f"{number:.4f}" for number in rouge["rouge1"])]
    notes = [block["text"] for block in blocks if block["kind"] == "note"]
    assert str(bleu.signature) in notes and any("stem" in note or "porter" in note for note in notes)
    marked = next(block for block in blocks if block["kind"] == "marks")["texts"]
    assert "".join(piece[0] for piece in marked[0][1]) == text


NUMBERS = st.lists(st.tuples(*[st.integers(-5, 5) | st.floats(-100, 100)] * 2), min_size=2, max_size=12)


@settings(deadline=None)  # the first of them imports scipy
@given(NUMBERS)
def test_coefficients_are_scipys(pairs):
    x, y = zip(*pairs, strict=True)
    if max(x) - min(x) < 1e-3 or max(y) - min(y) < 1e-3:
        return  # scipy's own digits are lost there
    found = try_in_browser.coefficients(x, y)
    references = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    assert list(found.values()) == pytest.approx([reference(x, y).statistic for reference in references], abs=1e-6)


def test_wrong_input_is_answered_in_words():
    words = {"candidate": "a", "references": "a", "stemmer": False}
    for form, typed, said in (
        ("words", words | {"references": " \n"}, "at least one reference"),
        ("words", words | {"candidate": "a" * 20_001}, "longer than 20,000"),
        ("numbers", {"metric": "1 2 <b>", "people": "1 2 3"}, "'<b>' is no number"),
        ("numbers", {"metric": "1 2", "people": "1 2 3"}, "equally many"),
        ("numbers", {"metric": "", "people": ""}, "two pairs"),
        ("numbers", {"metric": "1 nan", "people": "1 2"}, "finite"),
        ("numbers", {"metric": "2 2", "people": "1 2"}, "constant"),
    ):
        (block,) = try_in_browser.blocks(form, typed)
        assert block["kind"] == "error" and said in block["text"] and "<b>" not in try_page.drawn(block)
    nothing = try_in_browser.blocks("words", {"candidate": "", "references": "кот", "stemmer": False})
    assert "no token" in nothing[0]["text"]  # ROUGE's tokenizer leaves nothing: the warning is shown


def test_the_still_page_shows_the_example_with_its_result():
    for running in (tuple(try_page.FORMS), ()):
        text = try_page.page(running=running)
        assert "2 of 3 supported, or 0.67" in text and "<td>not supported</td><td>0.05</td><td>84</td>" in text
        assert "BLEU 53.73 of 100" in text and ">0.8333<" in text and "Kendall</td><td>0.6000<" in text
        assert ("Python itself runs" in text) is bool(running)
        assert ("try.js" in text) is bool(running) and (try_page.STILL in text) is not bool(running)
    assert "hidden" not in try_page.page(running=())  # no button that does nothing
    assert try_page.page(running=("words", "numbers")).count(try_page.STILL) == 1  # without the models


def test_the_archive_runs_where_nothing_is_installed(tmp_path):
    """Unpacked into an empty folder, by a Python without this project's packages."""
    archive = tmp_path / "try.zip"
    try_page.write_archive(archive)
    first = archive.read_bytes()
    try_page.write_archive(archive)
    assert archive.read_bytes() == first and len(first) < 700_000
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path / "home")
    example = try_in_browser.EXAMPLES["words"]
    program = f"import sys, try_in_browser; print(try_in_browser.answer('words', {json.dumps(json.dumps(example))}))"
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    where = {"capture_output": True, "text": True, "cwd": tmp_path / "home", "env": {"PATH": ""}, "timeout": 60}
    run = subprocess.run([base, "-S", "-c", program], **where)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == try_in_browser.blocks("words", example)
    typed = {"article": "Ann Lee sold 9 red cars. She was not there.", "summary": "Ann Li has sold 8 cars.", "k": "2"}
    program = f"""import asyncio, json, try_steps
async def embed(given): return json.dumps([1.0] + [0.0] * 383)
async def read(given): return json.dumps([0.9, 0.05, 0.05])
print(asyncio.run(try_steps.answer({json.dumps(json.dumps(typed))}, embed, read, len)))"""
    run = subprocess.run([base, "-S", "-c", program], **where)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == steps(**typed)


async def embed(given):
    return json.dumps([1.0] + [0.0] * 383)


async def read(given):
    (claim, *evidence), marks = json.loads(given)
    assert evidence and len(marks) > len(evidence) and all(len(row) == 6 for row in marks)
    return json.dumps([0.9, 0.05, 0.05])


def steps(**typed):
    given = {"article": "Ann sold 9 cars.", "summary": "Ann sold 8 cars.", "k": "1"} | typed
    made = try_steps.blocks(**given, embed=embed, read=read, show=lambda shown: None)
    with ThreadPoolExecutor(1) as pool:  # a browser's test leaves a loop of events in this thread
        return pool.submit(asyncio.run, made).result()


def test_the_steps_refuse_in_words():
    for typed, said in (
        ({"article": " "}, "article has no sentence"),
        ({"summary": "It rained. " * 11}, "this page takes 10"),
        ({"article": "word " * 81}, "sentence 0 of the article is too long"),
        ({"k": "2"}, "between 1 and 1"),
        ({"k": "<b>"}, "k must be a whole number"),
    ):
        (block,) = steps(**typed)
        assert block["kind"] == "error" and said in block["text"] and "<b>" not in try_page.drawn(block)
    *_, checked, score = steps(summary="Ann sold 8 cars. 🙂!")  # no word, not judged
    assert [row[1] for row in checked["rows"]] == ["not supported", "not judged"] and "0 of 1" in score["text"]


TEXTS = ["Zoë paid $4.50 (naïve!) at 5 p.m.", "東京 and 京都—two cities…", "[SEP] a[CLS]b [sep]", "x" * 101]
TEXTS.append("e\u0301\u200b\ufffd\x07 \ud800 İ ΑΣ")
DRAWN = st.text(st.characters(exclude_categories=["Cn", "Mn", "Po"])) | st.text(st.characters(codec="latin-1"))


@given(st.sampled_from(TEXTS) | DRAWN)
@settings(deadline=None)
def test_word_pieces_are_the_tokenizers(text):
    (clean,) = encodable([text])
    assert try_steps.word_pieces(text) == minilm_files()[0].encode(clean).ids[1:-1]


IDS = st.lists(st.integers(103, 108), min_size=1, max_size=70)


@given(IDS, st.lists(IDS, min_size=1, max_size=4))
def test_marks_are_the_readers(claim, evidence):
    kept, marks = try_steps.window(claim, evidence)
    size = len(claim) + 2 + sum(len(sentence) + 1 for sentence in evidence[:kept])
    more = len(evidence[kept]) + 1 if kept < len(evidence) else reader.WINDOW
    assert len(marks) == size and (size <= reader.WINDOW or kept == 1) and size + more > reader.WINDOW
    arrays = [np.array([*sentence, reader.SEP]) for sentence in evidence[:kept]]
    wanted = reader.token_marks(np.array(claim), arrays)
    assert np.array_equal(np.array(marks[1 : len(claim) + 1] + marks[len(claim) + 2 :]), wanted)


def test_another_archive_is_refused_and_without_npm_it_says_so(tmp_path, monkeypatch):
    """A registry, or whoever stands between, brings something else: it is not unpacked."""
    with tarfile.open(tmp_path / "other.tgz", "w:gz") as archive:
        for name in try_page.PYODIDE.files:
            archive.addfile(tarfile.TarInfo(f"package/{name}"), io.BytesIO())
    with pytest.raises(ValueError, match="it is not used"):
        try_page.unpack(tmp_path / "other.tgz", tmp_path / "core")
    assert not (tmp_path / "core").exists()
    monkeypatch.setattr(try_page, "BUILD", tmp_path / "nowhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(try_page.NotFetched, match="npm"):
        try_page.fetch()
    assert not try_page.place(tmp_path / "static") and not list((tmp_path / "static").iterdir())

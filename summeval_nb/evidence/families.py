"""Three families of published checkers, each read from a folder: MiniCheck, HHEM and AlignScore."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from summeval_nb.core.base import require_module
from summeval_nb.evidence.nli import require_room
from summeval_nb.models.base import BackendRejected, neutralise
from summeval_nb.models.local import read_model, require_weights, special_texts, unreadable

if TYPE_CHECKING:
    import torch

__all__ = ["FAMILIES", "AlignScore", "Family", "Hhem", "MiniCheck"]


class Family:
    """A family reads its folder (a `BackendRejected` says what is missing), writes its input and reads its outputs."""

    support: int  # the output that is the probability of support
    limit: int | None = None  # tokens that its own code reads; None: what model and tokenizer say
    by_sentence = False  # each sentence of a claim is asked, and the mean counts

    def __init__(self, folder: Path):
        require_module("transformers", "models")
        self.folder = folder
        if not folder.is_dir():
            raise BackendRejected(f"there is no folder {folder}", remedy="give the folder that holds the model's files")
        self.model, self.tokenizer = self._load()

    def _load(self) -> tuple[Any, Any]:
        raise NotImplementedError

    def pieces(self, evidence: Sequence[str]) -> list[str]:
        """The evidence sentences, joined as the family reads them; the best piece counts."""
        return [" ".join(evidence)]

    def ids(self, piece: str, claim: str) -> list[int]:
        """The tokens of a piece and a claim."""
        return list(self.tokenizer(piece, claim)["input_ids"])

    def logits(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """The outputs for a batch, (rows, labels), before the softmax."""
        return cast("torch.Tensor", self.model(**batch).logits)

    def rows(self, evidence: Sequence[str], claim: str, window: int) -> list[list[int]]:
        """The tokens of every piece with the claim; a piece that does not fit is read in overlapping windows."""
        marks = special_texts(self.tokenizer)
        claim = neutralise(claim, marks)
        require_room(len(self.ids("", claim)), window)
        pieces = [neutralise(piece, marks) for piece in self.pieces(evidence)]
        return [row for piece in pieces for row in self._windows(piece, claim, window)]

    def _windows(self, piece: str, claim: str, window: int) -> list[list[int]]:
        count = 1
        while True:
            width = math.ceil(2 * len(piece) / (count + 1))
            rows = [self.ids(piece[i * width // 2 : i * width // 2 + width], claim) for i in range(count)]
            if max(map(len, rows)) <= window:
                return rows
            count = math.ceil(1.5 * count)

    def _refused(self, what: str, remedy: str) -> BackendRejected:
        return BackendRejected(f"{self.folder} is no folder for recipe={self.recipe!r}: {what}", remedy=remedy)

    @property
    def recipe(self) -> str:
        """Its name."""
        return next(name for name, family in FAMILIES.items() if isinstance(self, family))


class MiniCheck(Family):
    """MiniCheck (Tang, Laban and Durrett 2024, EMNLP), as RoBERTa, DeBERTa or Flan-T5.

    Evidence and claim are one text with an end mark between them. Evidence is read in chunks of whole sentences: 400
    tokens, or 500 words for Flan-T5. That one answers in its first token: "1" (token 209) against token 3.
    """

    support = 1

    def _load(self) -> tuple[Any, Any]:
        remedy = "give the folder of a MiniCheck model, such as a copy of lytang/MiniCheck-RoBERTa-Large"
        config = _config(self.folder, remedy)
        self.seq2seq = config.get("model_type") == "t5"
        kind = ("SequenceClassification", "a classifier") if not self.seq2seq else ("Seq2SeqLM", "a model that writes")
        kind = (f"AutoModelFor{kind[0]}", kind[1])
        model, tokenizer = read_model(self.folder, kind, False, remedy=remedy)
        if tokenizer.eos_token is None:
            raise self._refused("its tokenizer has no end mark (eos_token)", remedy)
        if self.seq2seq and model.config.vocab_size <= 209:
            raise self._refused(f"its vocabulary has {model.config.vocab_size} tokens, and no token 209", remedy)
        if not self.seq2seq and model.config.num_labels != 2:
            raise self._refused(f"it has {model.config.num_labels} outputs, MiniCheck has 2", remedy)
        self.limit = 2048 if config["model_type"] in ("t5", "deberta-v2") else None
        return model, tokenizer

    def pieces(self, evidence: Sequence[str]) -> list[str]:
        found: list[list[str]] = []
        size = most = 500 if self.seq2seq else 400
        for sentence in evidence:
            own = None if self.seq2seq else self.tokenizer(sentence, add_special_tokens=False)["input_ids"]
            more = len(sentence.split() if own is None else own)
            if not found or size + more > most:
                found.append([])
                size = 0
            found[-1].append(sentence)
            size += more
        return [" ".join(sentences) for sentences in found]

    def ids(self, piece: str, claim: str) -> list[int]:
        text = f"{piece}{self.tokenizer.eos_token}{claim}"
        return list(self.tokenizer("predict: " + text if self.seq2seq else text)["input_ids"])

    def logits(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        if not self.seq2seq:
            return super().logits(batch)
        start = batch["input_ids"].new_zeros((len(batch["input_ids"]), 1))
        return cast("torch.Tensor", self.model(**batch, decoder_input_ids=start).logits[:, 0, [3, 209]])


class Hhem(Family):
    """HHEM-2.1-open (Vectara 2024): the encoder of a T5 with two outputs for each token, of which the first's count.

    Its own code is not run. The sizes of the model are read from its weights. All evidence is one premise.
    """

    support = 1
    limit = 4096
    prompt = (
        "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {premise}\n\nHypothesis: {hypothesis}"
    )

    def _load(self) -> tuple[Any, Any]:
        from safetensors.torch import load_file
        from transformers import T5ForTokenClassification

        remedy = "give a copy of vectara/hallucination_evaluation_model, version 2.1"
        _config(self.folder, remedy)
        with _reading(self.folder, "model.safetensors", remedy):
            stored = load_file(self.folder / "model.safetensors")
        weights = {name.removeprefix("t5."): weight.float() for name, weight in stored.items() if name[:3] == "t5."}
        block = "transformer.encoder.block.0.layer"
        needed = {
            "transformer.shared.weight",
            "classifier.weight",
            f"{block}.0.SelfAttention.q.weight",
            f"{block}.0.SelfAttention.relative_attention_bias.weight",
            f"{block}.1.DenseReluDense.wo.weight",
        }
        if missing := needed - set(weights):
            raise self._refused(f"its model.safetensors has no weight t5.{min(missing)}", remedy)
        if len(weights["classifier.weight"]) != 2:
            raise self._refused(f"it has {len(weights['classifier.weight'])} outputs, HHEM has 2", remedy)
        weights["transformer.encoder.embed_tokens.weight"] = weights["transformer.shared.weight"]
        model = T5ForTokenClassification(_t5_config(weights, block))
        with _reading(self.folder, "model.safetensors", remedy):  # its weights may have other shapes
            require_weights(self.folder, model.load_state_dict(weights, strict=False).missing_keys, "a T5 with a head")
        return model, _tokenizer(self.folder, "the tokenizer's files of google/flan-t5-base")

    def ids(self, piece: str, claim: str) -> list[int]:
        return list(self.tokenizer(self.prompt.format(premise=piece, hypothesis=claim))["input_ids"])

    def logits(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return super().logits(batch)[:, 0]


class AlignScore(Family):
    """AlignScore (Zha et al. 2023, ACL), from its .ckpt file beside the config.json and the tokenizer of its RoBERTa.

    The file is read as weights only. Evidence is read in chunks of whole sentences, of about 350 words. The mean over
    the sentences of a claim counts.
    """

    support = 0
    by_sentence = True

    def _load(self) -> tuple[Any, Any]:
        import torch
        from transformers import RobertaConfig, RobertaForSequenceClassification

        remedy = "put AlignScore's .ckpt beside config.json and the tokenizer's files of its RoBERTa (base or large)"
        config = _config(self.folder, remedy)
        files = sorted(self.folder.glob("*.ckpt"))
        if len(files) != 1:
            raise self._refused(f"it has {len(files)} files that end in .ckpt, one is needed", remedy)
        if config.get("model_type") != "roberta":
            raise self._refused(f"its config.json is of a {config.get('model_type')}, not of a roberta", remedy)
        with _reading(self.folder, files[0].name, remedy):
            stored = torch.load(files[0], map_location="cpu", weights_only=True)["state_dict"]
            stored = {name: weight.float() for name, weight in stored.items()}
        weights = {}
        for name, weight in stored.items():
            name = name.replace("base_model.pooler.dense.", "classifier.dense.")
            name = name.replace("tri_layer.", "classifier.out_proj.").replace("base_model.", "roberta.")
            weights[name] = weight
        names = {0: "aligned", 1: "LABEL_1", 2: "LABEL_2"}
        model = RobertaForSequenceClassification(RobertaConfig.from_dict(config | {"id2label": names}))
        with _reading(self.folder, files[0].name, remedy):  # of the large one beside the base one's config.json
            missing = model.load_state_dict(weights, strict=False).missing_keys
        require_weights(self.folder, missing, "an AlignScore model")
        return model, _tokenizer(self.folder, "the tokenizer's files of its RoBERTa")

    def pieces(self, evidence: Sequence[str]) -> list[str]:
        chunks = len(" ".join(evidence).split()) // 350 + 1
        size = max(len(evidence) // chunks, 1)
        return [" ".join(evidence[at : at + size]) for at in range(0, len(evidence), size)]


FAMILIES: dict[str, type[Family]] = {"minicheck": MiniCheck, "hhem": Hhem, "alignscore": AlignScore}


@contextmanager
def _reading(folder: Path, part: str, remedy: str) -> Iterator[None]:
    """Refuse a folder of which a part cannot be read; the readers of damaged files have no class for it."""
    try:
        yield
    except BackendRejected:
        raise
    except Exception as error:
        raise unreadable(folder, part, error, remedy) from error


def _config(folder: Path, remedy: str) -> dict[str, Any]:
    """Return the content of config.json."""
    with _reading(folder, "config.json", remedy):  # missing, cut, no object
        return dict(json.loads((folder / "config.json").read_text(encoding="utf-8")).items())


def _tokenizer(folder: Path, which: str) -> Any:
    """The fast tokenizer of a folder, whatever its config.json says about the model."""
    from transformers import PreTrainedTokenizerFast

    with _reading(folder, "the tokenizer's files", f"copy {which} into it: tokenizer.json, tokenizer_config.json"):
        if not (folder / "tokenizer.json").is_file():
            raise FileNotFoundError("there is no tokenizer.json")
        return PreTrainedTokenizerFast.from_pretrained(str(folder), local_files_only=True)


def _t5_config(weights: Mapping[str, torch.Tensor], block: str) -> Any:
    """The sizes of a T5 encoder, from the shapes of its weights."""
    from transformers import T5Config

    tokens, width = weights["transformer.shared.weight"].shape
    buckets, heads = weights[f"{block}.0.SelfAttention.relative_attention_bias.weight"].shape
    gated = f"{block}.1.DenseReluDense.wi_0.weight" in weights
    return T5Config(
        vocab_size=tokens,
        d_model=width,
        d_kv=weights[f"{block}.0.SelfAttention.q.weight"].shape[0] // heads,
        d_ff=weights[f"{block}.1.DenseReluDense.wo.weight"].shape[1],
        num_layers=len({name.split(".")[3] for name in weights if ".encoder.block." in name}),
        num_heads=heads,
        relative_attention_num_buckets=buckets,
        feed_forward_proj="gated-gelu" if gated else "relu",
    )

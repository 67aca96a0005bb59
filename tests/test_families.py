"""MiniCheck, HHEM and AlignScore from a folder: each number against a plain computation as its own code does it."""

import json

import pytest
from helpers.late import Late

from summeval_nb import NLIChecker
from summeval_nb.evidence.model_checkers import load_checker
from summeval_nb.models import BackendRejected

torch = Late("torch")
tokenizers = Late("tokenizers")
transformers = Late("transformers")
load_file = Late("safetensors.torch", "load_file")
save_file = Late("safetensors.torch", "save_file")

TEXT = "Anna Ben Maria bought sold lost a red blue car boat in Paris . predict : Premise Hypothesis 0 1"
WORDS = TEXT.split()
EVIDENCE = ("Anna bought a red car.", "Ben sold a blue boat in Paris.", "Maria lost a car.")
CLAIMS = ("Anna bought a car.", "Ben lost a red boat.", "Maria sold Paris.")
LONG = tuple(f"Anna sold a {'red ' * (n % 9)}car in Paris." for n in range(130))


def tokenizer(folder, special, **marks):
    """A tokenizer of whole words with the special tokens first, and the end marks of its family."""
    vocabulary = {word: place for place, word in enumerate([*special, *WORDS])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    ends = [(mark, vocabulary[mark]) for mark in ("<s>", "</s>") if mark in vocabulary]
    single, pair = ("<s> $A </s>", "<s> $A </s> </s> $B </s>") if "<s>" in vocabulary else ("$A </s>", None)
    inner.post_processor = tokenizers.processors.TemplateProcessing(single=single, pair=pair, special_tokens=ends)
    marks |= {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=512, **marks)
    made.save_pretrained(folder)
    return made


def roberta_config(labels):
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    sizes |= {"vocab_size": 40, "max_position_embeddings": 514, "initializer_range": 0.7, "pad_token_id": 1}
    return transformers.RobertaConfig(num_labels=labels, **sizes)


def t5_config():
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2, "vocab_size": 256, "num_labels": 2}
    return transformers.T5Config(feed_forward_proj="gated-gelu", initializer_factor=1.0, **sizes)


def roberta_tokenizer(folder):
    return tokenizer(folder, ["<s>", "<pad>", "</s>", "<unk>"], bos_token="<s>", cls_token="<s>", sep_token="</s>")


def minicheck(folder, labels=2):
    torch.manual_seed(1)
    model = transformers.RobertaForSequenceClassification(roberta_config(labels)).eval()
    model.save_pretrained(folder)
    return model, roberta_tokenizer(folder)


def minicheck_t5(folder):
    torch.manual_seed(1)
    model = transformers.T5ForConditionalGeneration(t5_config()).eval()
    model.save_pretrained(folder)
    return model, tokenizer(folder, ["<pad>", "</s>", "<unk>"])


def hhem(folder):
    torch.manual_seed(1)
    model = transformers.T5ForTokenClassification(t5_config()).eval()
    with torch.no_grad():
        model.classifier.weight.normal_(std=0.2)
    weights = {f"t5.{name}": weight.clone() for name, weight in model.state_dict().items()}
    weights.pop("t5.transformer.encoder.embed_tokens.weight", None)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    said = {"model_type": "HHEMv2", "auto_map": {"AutoConfig": "own.Own"}, "foundation": "google/flan-t5-base"}
    (folder / "config.json").write_text(json.dumps(said))
    return model, tokenizer(folder, ["<pad>", "</s>", "<unk>"])


def alignscore(folder):
    class Aligned(torch.nn.Module):
        """The layers of AlignScore's own model, by the names that they have in its file."""

        def __init__(self):
            super().__init__()
            self.base_model = transformers.RobertaModel(roberta_config(3))
            self.bin_layer = torch.nn.Linear(16, 2)
            self.tri_layer = torch.nn.Linear(16, 3)

        def forward(self, **batch):
            return self.tri_layer(self.base_model(**batch).pooler_output)

    torch.manual_seed(1)
    model = Aligned().eval()
    roberta_config(5).save_pretrained(folder)
    torch.save({"state_dict": model.state_dict(), "epoch": 3}, folder / "AlignScore-base.ckpt")
    return model, roberta_tokenizer(folder)


def logits(model, tokens):
    with torch.no_grad():
        return model(**tokens)


def minicheck_number(model, tokens, evidence, claim):
    best = 0.0
    for piece in chunked(evidence, 400, lambda text: len(tokens(text, add_special_tokens=False)["input_ids"])):
        out = logits(model, tokens(piece + "</s>" + claim, return_tensors="pt")).logits
        best = max(best, out.softmax(-1)[0, 1].item())
    return best


def minicheck_t5_number(model, tokens, evidence, claim):
    best = 0.0
    for piece in chunked(evidence, 500, lambda text: len(text.split())):
        read = tokens("predict: " + piece + "</s>" + claim, return_tensors="pt")
        out = logits(model, dict(read, decoder_input_ids=torch.zeros((1, 1), dtype=torch.long))).logits.squeeze(1)
        best = max(best, out[:, torch.tensor([3, 209])].softmax(-1)[0, 1].item())
    return best


def hhem_number(model, tokens, evidence, claim):
    text = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: " + " ".join(evidence)
    out = logits(model, tokens(text + "\n\nHypothesis: " + claim, return_tensors="pt")).logits[:, 0, :]
    return out.softmax(-1)[0, 1].item()


def alignscore_number(model, tokens, evidence, claim):
    size = max(len(evidence) // (len(" ".join(evidence).split()) // 350 + 1), 1)
    pieces = [" ".join(evidence[at : at + size]) for at in range(0, len(evidence), size)]
    parts = [part.strip() + "." for part in claim.split(".") if part.strip()]
    best = []
    for part in parts:
        read = [logits(model, tokens(piece, part, return_tensors="pt")) for piece in pieces]
        best.append(max(out.softmax(-1)[0, 0].item() for out in read))
    return sum(best) / len(best)


def chunked(sentences, most, size):
    pieces, current, total = [], [], 0
    for sentence in sentences:
        if total + size(sentence) > most:
            pieces.append(" ".join(current))
            current, total = [], 0
        current.append(sentence)
        total += size(sentence)
    return [*pieces, " ".join(current)]


KINDS = {
    "minicheck": ("minicheck", minicheck, minicheck_number),
    "minicheck flan-t5": ("minicheck", minicheck_t5, minicheck_t5_number),
    "hhem": ("hhem", hhem, hhem_number),
    "alignscore": ("alignscore", alignscore, alignscore_number),
}


@pytest.mark.parametrize(("recipe", "build", "number"), KINDS.values(), ids=KINDS.keys())
def test_a_number_is_the_one_of_the_published_code(recipe, build, number, tmp_path):
    made = build(tmp_path)
    checker = load_checker(f"nli:{tmp_path}?recipe={recipe}")
    pairs = [(EVIDENCE, claim) for claim in CLAIMS] + [(LONG, CLAIMS[0]), (LONG[:60], CLAIMS[1])]
    pairs.append((EVIDENCE, " ".join(CLAIMS)))  # three sentences as one claim
    found = [verdict.probability for verdict in checker.check_many(pairs)]
    assert found == pytest.approx([number(*made, *pair) for pair in pairs], abs=1e-5)
    assert len({round(value, 3) for value in found}) > 3
    assert f"recipe={recipe}" in checker.fingerprint
    checker = NLIChecker(tmp_path, recipe=recipe, window=64)  # evidence past the window is read
    rows = checker.family.rows((" ".join(LONG[:20]), "Ben lost a boat."), CLAIMS[0], 64)
    boat = checker.tokenizer.convert_tokens_to_ids("boat")
    assert len(rows) > 3 and max(map(len, rows)) <= 64 and any(boat in row for row in rows)
    long = checker.check_many([(EVIDENCE, "Anna bought a car " * 20)])[0]
    assert long.failed and "ContextTooLong" in long.reason


def headless(folder):
    weights = load_file(folder / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if "classifier" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})


def cut(folder, name):
    path = folder / name
    path.write_bytes(path.read_bytes()[:-200])


WRONG = {
    "minicheck, three outputs": ("minicheck", lambda at: minicheck(at, 3), "it has 3 outputs, MiniCheck has 2"),
    "minicheck, no head": ("minicheck", lambda at: (minicheck(at), headless(at)), "lacks 4 weights of a classifier"),
    "hhem of a roberta": ("hhem", minicheck, r"no weight t5\.classifier.*vectara"),
    "hhem, cut": ("hhem", lambda at: (hhem(at), cut(at, "model.safetensors")), "at model.safetensors"),
    "alignscore of a roberta": ("alignscore", minicheck, "0 files that end in .ckpt"),
    "alignscore, cut": ("alignscore", lambda at: (alignscore(at), cut(at, "AlignScore-base.ckpt")), "at Align"),
    "nothing": ("alignscore", lambda at: at.rmdir(), "there is no folder"),
}


@pytest.mark.parametrize(("recipe", "build", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_folder_of_another_kind_is_refused(recipe, build, message, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    build(folder)
    with pytest.raises(BackendRejected, match=message):
        NLIChecker(folder, recipe=recipe)


def test_a_mark_in_a_text_is_no_end_mark_and_what_a_recipe_says_is_not_said_twice(tmp_path):
    model, tokens = minicheck(tmp_path)
    checker = NLIChecker(tmp_path, recipe="minicheck")
    (row,) = checker.family.rows(("Anna </s> Ben.",), "A </s> car.", 512)
    assert row.count(checker.tokenizer.eos_token_id) == 2  # between the two, and at the end
    with pytest.raises(ValueError, match="omit labels, aggregate"):
        NLIChecker(tmp_path, recipe="minicheck", labels={"entailment": 0})
    with pytest.raises(TypeError, match="reads a folder"):
        NLIChecker(model, tokenizer=tokens, recipe="minicheck")
    with pytest.raises(ValueError, match="unknown recipe 'minichek'.*minicheck"):
        load_checker(f"nli:{tmp_path}?recipe=minichek")

"""Two real sequence classifiers in a second each: one that knows its task, one with BERT's segments and 3 labels."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    LlamaForSequenceClassification,
    PreTrainedTokenizerFast,
)

from summeval_nb.evidence.llm import PROMPT
from summeval_nb.models import example_model


def knowing_classifier(folder: Path, names: tuple[str, str] = ("not_entailment", "entailment")) -> Path:
    """The tiny Llama with its rows for "yes" and "no" as the head, and its prompt as the way to join a pair."""
    tokenizer = AutoTokenizer.from_pretrained(example_model())
    language_model = AutoModelForCausalLM.from_pretrained(example_model(), dtype=torch.float32)
    before, between, after = PROMPT.replace("{claim}", "{evidence}").split("{evidence}")
    around = {"before": f"<|endoftext|><|im_start|>user\n{before}", "between": between}
    around |= {"after": f"{after}<|im_end|>\n<|im_start|>assistant\n"}
    pieces = []
    for name, text in around.items():
        ids = tokenizer.encode(text)
        pieces.append({"id": name, "ids": ids, "tokens": tokenizer.convert_ids_to_tokens(ids)})
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="before $A between after", pair="before $A between $B:1 after:1", special_tokens=pieces
    )
    rows = {"entailment": tokenizer.encode("yes", add_special_tokens=False)[0]}
    other = tokenizer.encode("no", add_special_tokens=False)[0]
    config = language_model.config
    config.num_labels, config.id2label = len(names), dict(enumerate(names))
    classifier = LlamaForSequenceClassification(config)
    classifier.model.load_state_dict(language_model.model.state_dict())
    with torch.no_grad():
        picked = [rows.get(name.lower(), other) for name in names]
        classifier.score.weight.copy_(language_model.lm_head.weight[picked])
    classifier.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def bert_classifier(folder: Path, names: tuple[str, ...] = ("contradiction", "neutral", "entailment")) -> Path:
    """A small BERT with random weights: segments, padding and a pooler, as in the classifiers in use."""
    torch.manual_seed(0)
    inner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    text = ["Anna bought a red car in Paris .", "Ben sold a blue boat .", "Maria lost a white horse , and Tom saw it ."]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=special, show_progress=False)
    inner.train_from_iterator(text, trainer)
    ends = [("[CLS]", inner.token_to_id("[CLS]")), ("[SEP]", inner.token_to_id("[SEP]"))]
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    inputs = {"model_max_length": 128, "model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **inputs, **marks)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    size |= {"vocab_size": len(tokenizer), "max_position_embeddings": 128, "initializer_range": 0.5}
    labels = {"id2label": dict(enumerate(names)), "label2id": {name: place for place, name in enumerate(names)}}
    config = BertConfig(**size, num_labels=len(names), **labels)
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

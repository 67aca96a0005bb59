"""Real stanza models for names and dependencies in seconds: a made-up world, stanza's own trainers and pipeline."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from helpers.stanza_tiny import train_stanza

PEOPLE = ["Anna", "Ben", "Maria", "Peter", "Olga", "Ivan", "Rosa", "Tom"]
SURNAMES = ["Smith", "Jones", "Lee"]
PLACES = ["London", "Paris", "Hamburg", "Berlin", "Oslo", "Rome"]
VERBS = ["saw", "liked", "found", "met", "read", "sold", "bought", "watched"]
ADJECTIVES = ["old", "red", "small", "famous", "green", "blue"]
NOUNS = ["cat", "dog", "report", "paper", "river", "house", "train", "car", "boat"]

Row = list[Any]  # text, part of speech, head, relation, entity tag


def noun_phrase(rows: list[Row], relation: str, chance: random.Random) -> int:
    """Append a name or a thing; return the place of its head, whose own head is filled in later."""
    kind = chance.random()
    if kind < 0.4:
        rows.append([chance.choice(PEOPLE), "PROPN", 0, relation, "S-PERSON"])
        if kind < 0.15:
            rows[-1][4] = "B-PERSON"
            rows.append([chance.choice(SURNAMES), "PROPN", len(rows), "flat", "E-PERSON"])
            return len(rows) - 1
        return len(rows)
    described = chance.random() < 0.6
    head = len(rows) + 2 + described
    rows.append(["The" if not rows else "a", "DET", head, "det", "O"])
    if described:
        rows.append([chance.choice(ADJECTIVES), "ADJ", head, "amod", "O"])
    rows.append([chance.choice(NOUNS), "NOUN", 0, relation, "O"])
    return head


def parsed_sentence(chance: random.Random) -> list[Row]:
    rows: list[Row] = []
    subject = noun_phrase(rows, "nsubj", chance)
    rows.append([chance.choice(VERBS), "VERB", 0, "root", "O"])
    verb = len(rows)
    rows[subject - 1][2] = verb
    rows[noun_phrase(rows, "obj", chance) - 1][2] = verb
    if chance.random() < 0.5:
        rows.append(["in", "ADP", len(rows) + 2, "case", "O"])
        rows.append([chance.choice(PLACES), "PROPN", verb, "obl", "S-GPE"])
    rows.append([".", "PUNCT", verb, "punct", "O"])
    return rows


def write_data(folder: Path, name: str, sentences: list[list[Row]]) -> None:
    tagged = [[{"text": row[0], "ner": row[4]} for row in rows] for rows in sentences]
    (folder / f"{name}.ner.json").write_text(json.dumps(tagged))
    lines = []
    for rows in sentences:
        lines.append("# text = " + " ".join(row[0] for row in rows))
        for number, (text, part, head, relation, _) in enumerate(rows, 1):
            lines.append(f"{number}\t{text}\t{text.lower()}\t{part}\t{part}\t_\t{head}\t{relation}\t_\t_")
        lines.append("")
    (folder / f"{name}.conllu").write_text("\n".join(lines) + "\n")


SMALL = {"word_emb_dim": 16, "hidden_dim": 16, "char_hidden_dim": 8, "char_emb_dim": 8, "dropout": 0.1, "lr": 0.01}


def train(module: Any, folder: Path, save_name: str, files: dict[str, str], **settings: Any) -> None:
    paths = {name: str(folder / file) for name, file in files.items()}
    given = {"shorthand": "en_tiny", "save_dir": str(folder), "save_name": save_name, **paths, **SMALL, **settings}
    arguments = [
        part for name, value in given.items() for part in ((f"--{name}", str(value)) if value != "" else (f"--{name}",))
    ]
    module.main(["--mode", "train", "--cpu", *arguments])


Settings = dict[str, Any]


def train_parser(folder: Path) -> tuple[Settings, Settings, Settings]:
    """Train models; return settings for `stanza.Pipeline`: those in common, for names, for dependencies."""
    from stanza.models import ner_tagger, parser, tagger

    resources = train_stanza(folder)
    chance = random.Random(0)
    write_data(folder, "train_parse", [parsed_sentence(chance) for _ in range(300)])
    write_data(folder, "dev_parse", [parsed_sentence(chance) for _ in range(40)])
    trees = {"train_file": "train_parse.conllu", "eval_file": "dev_parse.conllu"}
    names = {"train_file": "train_parse.ner.json", "eval_file": "dev_parse.ner.json"}
    wide = {"tag_emb_dim": 8, "transformed_dim": 8, "deep_biaff_hidden_dim": 16, "word_dropout": 0.1, "word_cutoff": 1}
    lots = {"batch_size": 250, "no_pretrain": ""}
    train(ner_tagger, folder, "ner.pt", names, no_pretrain="", optim="adam", max_steps=120, eval_interval=60)
    steps = {"lang": "en", "max_steps": 60, "eval_interval": 30, "composite_deep_biaff_hidden_dim": 8}
    train(tagger, folder, "pos.pt", trees, **steps, **lots, **wide)
    steps = {"lang": "en", "max_steps": 150, "eval_interval": 75, "deep_biaff_output_dim": 16, "num_layers": 1}
    steps |= {"optim": "adam", "no_second_optim": "", "no_checkpoint": ""}
    train(parser, folder, "depparse.pt", trees, **steps, **lots, **wide)
    common = {"dir": str(resources), "download_method": None, "allow_unknown_language": True, "use_gpu": False}
    common |= {"verbose": False, "tokenize_model_path": str(resources / "en" / "tokenize" / "tiny.pt")}
    none = {"ner_pretrain_path": "", "ner_forward_charlm_path": "", "ner_backward_charlm_path": ""}
    of_arcs = {"pos_model_path": str(folder / "pos.pt"), "depparse_model_path": str(folder / "depparse.pt")}
    return common, {"ner_model_path": str(folder / "ner.pt"), **none}, {**of_arcs, "lemma_use_identity": True}

"""A real stanza tokenizer in seconds: made-up sentences, stanza's own trainer, the folder layout of its downloads."""

import json
import random
from pathlib import Path

NOUNS = [
    "cat", "dog", "Smith", "London", "market", "report", "team", "model", "paper", "river", "music", "house", "storm",
    "train", "bank", "story", "girl",
]  # fmt: skip
VERBS = ["saw", "liked", "found", "chased", "met", "read", "sold", "praised", "watched", "visited"]
ADJECTIVES = ["old", "red", "quick", "small", "famous", "quiet", "bright", "green", "early", "late"]


def make_sentence(rng: random.Random) -> list[str]:
    """Return the tokens of one sentence; some begin with a title, so that a full stop can stand inside."""
    words = ["The", rng.choice(ADJECTIVES), rng.choice(NOUNS), rng.choice(VERBS), "the", rng.choice(NOUNS)]
    if rng.random() < 0.3:
        words[:1] = [rng.choice(["Dr.", "Mr.", "Mrs."]), rng.choice(["Smith", "Jones", "Lee"])]
    if rng.random() < 0.3:
        words += [",", "and", rng.choice(["he", "she", "it"]), rng.choice(VERBS), "a", rng.choice(NOUNS)]
    return [*words, rng.choice(".!?.")]


def label(tokens: list[str]) -> tuple[str, str]:
    """Return a sentence's text and stanza's labels: 0 inside a token, 1 at its last character, 2 at the sentence's."""
    text = labels = ""
    for index, token in enumerate(tokens):
        space = " " if index and token not in ",.!?" else ""
        text += space + token
        labels += "0" * (len(space) + len(token) - 1) + ("2" if index == len(tokens) - 1 else "1")
    return text, labels


def write_corpus(path: Path, paragraphs: int, rng: random.Random) -> None:
    """Write PATH.txt, PATH.toklabels and PATH.gold.conllu."""
    text = labels = gold = ""
    for _ in range(paragraphs):
        sentences = [make_sentence(rng) for _ in range(rng.randint(1, 6))]
        pairs = [label(tokens) for tokens in sentences]
        text += " ".join(pair[0] for pair in pairs) + "\n\n"
        labels += "0".join(pair[1] for pair in pairs) + "\n\n"
        for tokens in sentences:
            rows = enumerate(tokens, 1)
            gold += "".join(
                f"{i}\t{t}\t_\t_\t_\t_\t{int(i > 1)}\t{'dep' if i > 1 else 'root'}\t_\t_\n" for i, t in rows
            )
            gold += "\n"
    path.with_suffix(".txt").write_text(text, encoding="utf-8")
    path.with_suffix(".toklabels").write_text(labels, encoding="utf-8")
    path.with_suffix(".conllu").write_text(gold, encoding="utf-8")


def train_stanza(folder: Path, lang: str = "en") -> Path:
    """Train a tokenizer and lay it out as stanza's downloads are; return the folder for STANZA_RESOURCES_DIR."""
    from stanza.models import tokenizer

    rng = random.Random(0)
    write_corpus(folder / "train", 120, rng)
    write_corpus(folder / "dev", 20, rng)
    (folder / "mwt.json").write_text("[]")
    resources = folder / "resources"
    model = resources / lang / "tokenize"
    model.mkdir(parents=True)
    files = {"txt_file": "train.txt", "label_file": "train.toklabels", "dev_txt_file": "dev.txt"}
    files |= {"dev_label_file": "dev.toklabels", "dev_conll_gold": "dev.conllu", "mwt_json_file": "mwt.json"}
    arguments = [part for name, file in files.items() for part in (f"--{name}", str(folder / file))]
    size = ["--emb_dim", "8", "--hidden_dim", "16", "--lr0", "0.01", "--batch_size", "16", "--max_seqlen", "100"]
    steps = ["--steps", "200", "--eval_steps", "200", "--report_steps", "200", "--cpu", "--seed", "1"]
    names = ["--lang", lang, "--shorthand", f"{lang}_tiny", "--save_dir", str(model), "--save_name", "tiny.pt"]
    tokenizer.main(["--mode", "train", *names, *arguments, *size, *steps])
    about = {"lang_name": "English", "tokenize": {"tiny": {}}, "default_processors": {"tokenize": "tiny"}}
    about |= {"packages": {"default": {"tokenize": "tiny"}}}
    (resources / "resources.json").write_text(json.dumps({lang: about}))
    return resources

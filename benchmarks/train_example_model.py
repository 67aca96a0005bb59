"""Train the tiny Llama that the chapters and tests run on, from nothing, in a few CPU minutes.

It answers one question: does a claim follow from the evidence? Its world is one kind of sentence, "Anna bought a red
car in Paris.", with claims that are whole sentences, parts of one, or two joined by "and". It notices a word that the
evidence does not hold. It does not notice words that are all there but belong to different sentences: a model of this
size learns to look words up, not to keep apart who did what.

    python benchmarks/train_example_model.py [--out FOLDER] [--seconds 160] [--seed 0]

The prompt is the one of `LLMChecker`; change it there and train again. `--seconds` counts CPU seconds of one thread,
so a busy machine gives the same number of steps only roughly: the committed files are the reference, and
tests/test_example_model.py says how right they must be.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from tqdm.auto import tqdm
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from summeval_nb.evidence.llm import PROMPT

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WORDS = {
    "who": "Anna Ben Carla David Elena Frank Grace Hugo Irene Jack Karen Louis Maria Peter Rosa Tom",
    "did": "bought sold found lost painted repaired washed borrowed",
    "how": "red blue green black white yellow brown grey",
    "what": "car house boat bike coat lamp table piano horse clock",
    "where": "Paris London Berlin Rome Madrid Vienna Oslo Lisbon",
}
WORDS = {slot: words.split() for slot, words in WORDS.items()}


def sentence(fact: dict[str, str]) -> str:
    """A fact as text; the place is optional."""
    place = f" in {fact['where']}" if "where" in fact else ""
    return f"{fact['who']} {fact['did']} a {fact['how']} {fact['what']}{place}."


def random_fact(chance: random.Random) -> dict[str, str]:
    slots = ["who", "did", "how", "what"] + ["where"] * (chance.random() < 0.4)
    return {slot: chance.choice(WORDS[slot]) for slot in slots}


def spoiled(fact: dict[str, str], evidence: list[dict[str, str]], chance: random.Random) -> dict[str, str]:
    """The fact with one word changed to one that the evidence does not hold."""
    slot = chance.choice(list(fact))
    seen = {other.get(slot) for other in evidence}
    return {**fact, slot: chance.choice([word for word in WORDS[slot] if word not in seen])}


def holds(part: dict[str, str], evidence: list[dict[str, str]]) -> bool:
    """Whether one fact of the evidence has all of these slots."""
    return any(all(fact.get(slot) == word for slot, word in part.items()) for fact in evidence)


def fragment(fact: dict[str, str], chance: random.Random) -> tuple[dict[str, str], str]:
    """A part of a fact as a small claim."""
    slots, text = chance.choice(
        [
            (["who", "did"], "{who} {did}."),
            (["did", "what"], "{did} {what}."),
            (["how", "what"], "{how} {what}."),
            (["who", "did", "what"], "{who} {did} a {what}."),
        ]
    )
    return {slot: fact[slot] for slot in slots}, text.format(**fact)


def example(chance: random.Random, facts: int, *, easy: bool = False) -> tuple[list[dict[str, str]], str, bool]:
    """Facts, a claim, and whether it follows from them; an easy claim is one whole sentence."""
    evidence = [random_fact(chance) for _ in range(facts)]
    source = chance.choice(evidence)
    claim = spoiled(source, evidence, chance) if chance.random() < 0.5 else source
    kind = 0.0 if easy else chance.random()
    if kind < 0.55:
        return evidence, sentence(claim), holds(claim, evidence)
    if kind < 0.75:
        other = chance.choice(evidence)
        pair = [claim, other] if chance.random() < 0.5 else [other, claim]
        joined = sentence(pair[0])[:-1] + " and " + sentence(pair[1])
        return evidence, joined, all(holds(fact, evidence) for fact in pair)
    part, words = fragment(claim, chance)
    return evidence, words, holds(part, evidence)


def rendered(evidence: str, claim: str) -> str:
    """The whole prompt as the model sees it."""
    content = PROMPT.format(evidence=evidence, claim=claim)
    return f"<|endoftext|><|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n"


def build_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level BPE in which each word of this small world is one token and any other text is spelled."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    chance = random.Random(0)
    words = [word for group in WORDS.values() for word in group]
    drawn = (example(chance, 3) for _ in range(2000))
    corpus = [PROMPT.format(evidence="\n".join(map(sentence, e)), claim=c) for e, c, _ in drawn]
    corpus += [form for word in words for form in (f" {word}", word)] * 200
    corpus += ["yes", "no", "Yes", "No", " yes", " no", "user", "assistant"] * 500
    trainer = trainers.BpeTrainer(
        vocab_size=620,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator(corpus, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<|endoftext|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=CHAT_TEMPLATE,
        model_max_length=2048,
    )


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=2048,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=False,
        initializer_range=0.12,
        rope_theta=10000.0,
    )
    return LlamaForCausalLM(config)


def word_labels(tokens: list[str], evidence: list[dict[str, str]], yes: int, no: int) -> list[int]:
    """For each word of a claim: does it occur in the evidence? (-100, not asked, for the small words.)

    Learning from these as well, and not from the last word alone, is what makes the training short.
    """
    world = {word for words in WORDS.values() for word in words}
    seen = {word for fact in evidence for word in fact.values()}
    return [(yes if token in seen else no) if token in world else -100 for token in tokens]


def batch(chance: random.Random, tokenizer, size: int, stage: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and labels: the answer at the end, and one for each word of the claim.

    Stage 0 shows one sentence and easy claims, without the prompt's instruction, which makes a step half as long;
    stage 1 up to three sentences and all claims; stage 2 mostly the whole prompt.
    """
    yes, no = tokenizer.encode("yes")[0], tokenizer.encode("no")[0]
    rows = []
    for _ in range(size):
        evidence, claim, right = example(chance, chance.randint(1, 3 if stage else 1), easy=stage == 0)
        text = rendered("\n".join(map(sentence, evidence)), claim)
        if stage < 2 or chance.random() < 0.3:
            text = text[text.index("<evidence>") :].replace("Answer yes or no.", "")
        before, after = text.split(f"<claim>\n{claim}")
        head, body, tail = (tokenizer.encode(part) for part in (before + "<claim>\n", claim, after))
        words = [tokenizer.decode([token]).strip() for token in body]
        running = word_labels(words, evidence, yes, no)
        rows.append(
            (head + body + tail, [-100] * len(head) + running + [-100] * (len(tail) - 1) + [yes if right else no])
        )
    longest = max(len(ids) for ids, _ in rows)
    ids = [[tokenizer.pad_token_id] * (longest - len(row)) + row for row, _ in rows]
    labels = [[-100] * (longest - len(row)) + row for _, row in rows]
    return torch.tensor(ids), torch.tensor(labels)


def train(model: LlamaForCausalLM, tokenizer, seconds: float, seed: int, *, size: int = 32, rate: float = 3e-3) -> int:
    """Train for so many CPU seconds, easy before hard; returns the number of steps."""
    chance = random.Random(seed + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
    start, steps, recent = time.process_time(), 0, 0.5
    with tqdm(total=round(seconds), unit="CPU s") as bar:
        while (spent := time.process_time() - start) < seconds:
            done = spent / seconds
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1, (steps + 1) / 50) * (1 - done)
            ids, labels = batch(chance, tokenizer, size, stage=(done > 0.25) + (done > 0.55))
            logits = model(input_ids=ids).logits
            answer = cross_entropy(logits[:, -1], labels[:, -1])
            running = cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
            optimizer.zero_grad()
            (answer + running).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            steps += 1
            recent = 0.98 * recent + 0.02 * (logits[:, -1].argmax(-1) == labels[:, -1]).float().mean().item()
            bar.set_postfix(step=steps, right=f"{recent:.3f}")
            bar.update(round(spent) - bar.n)
    return steps


def accuracy(model: LlamaForCausalLM, tokenizer, facts: int, count: int = 300, seed: int = 999) -> float:
    """Share of fresh examples that the model gets right."""
    chance, right = random.Random(seed), 0
    yes, no = tokenizer.encode("yes")[0], tokenizer.encode("no")[0]
    for _ in range(count):
        evidence, claim, true = example(chance, facts)
        text = rendered("\n".join(map(sentence, evidence)), claim)
        ids = tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
        with torch.no_grad():
            last = model(input_ids=ids, logits_to_keep=1).logits[0, -1]
        right += bool(last[yes] > last[no]) == true
    return right / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    default = Path(__file__).parents[1] / "summeval_nb" / "assets" / "example_model"
    parser.add_argument("--out", type=Path, default=default)
    parser.add_argument("--seconds", type=float, default=160)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-least", type=float, default=0.0, help="the accuracy below which nothing is written")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = build_tokenizer()
    model = build_model(tokenizer, options.seed).train()
    steps = train(model, tokenizer, options.seconds, options.seed)
    model.half().float().eval()  # what is written has sixteen bits a number: measure that
    measured = {f"{facts} sentences": accuracy(model, tokenizer, facts) for facts in (1, 2, 3)}
    print(json.dumps({"steps": steps, "parameters": model.num_parameters(), "accuracy": measured}))
    if min(measured.values()) < options.at_least:
        raise SystemExit(f"nothing is written: an accuracy is below {options.at_least}")
    options.out.mkdir(parents=True, exist_ok=True)
    model.half().save_pretrained(options.out)
    tokenizer.save_pretrained(options.out)
    size = sum(path.stat().st_size for path in options.out.iterdir())
    print(f"{options.out}: {size:,} bytes")


if __name__ == "__main__":
    main()

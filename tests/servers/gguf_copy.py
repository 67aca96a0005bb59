"""Write a small Llama of transformers as a gguf file, weight by weight, for llama.cpp."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def halves_to_pairs(weight: np.ndarray, heads: int) -> np.ndarray:
    """transformers rotates the two halves of a head, llama.cpp neighbouring pairs: interleave the rows."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_gguf(folder: Path, target: Path) -> None:
    import gguf
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    config, parts = model.config, json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    writer = gguf.GGUFWriter(target, "llama")
    writer.add_name("example")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_vocab_size(config.vocab_size)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    added = {item["id"]: item["content"] for item in parts["added_tokens"]}
    by_id = {**{number: token for token, number in parts["model"]["vocab"].items()}, **added}
    kinds = [gguf.TokenType.CONTROL if number in added else gguf.TokenType.NORMAL for number in range(len(by_id))]
    merges = [" ".join(merge) if isinstance(merge, list) else merge for merge in parts["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([by_id[number] for number in range(len(by_id))])
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_add_bos_token(True)
    writer.add_chat_template(tokenizer.chat_template)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, weight in model.state_dict().items():
        values = weight.float().numpy()
        if ".q_proj." in name or ".k_proj." in name:
            values = halves_to_pairs(values, config.num_attention_heads)
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

"""Small models in the published format."""

from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from training.onnx_writer import Input, OnnxGraph

WIDTH = 32
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghij", "read", "file", "line", "by", "parse", "json", "tree"]


def write_model(folder: Path, seed: int = 0) -> Any:
    """Write a complete model into a folder, as its publishers do, and return its table."""
    table = write_graph(folder / "onnx" / "model.onnx", seed)
    write_tokenizer(folder / "tokenizer.json")
    return table


def write_graph(file: Path, seed: int = 0) -> Any:
    """Write a model of one table as ONNX, with the inputs and the output of the usual exporters, and return the table."""
    table = np.random.default_rng(seed).standard_normal((len(WORDS), WIDTH)).astype(np.float32)
    graph = OnnxGraph()
    words = graph.add("Gather", graph.add_weight(table), "input_ids", axis=0)
    kinds = graph.add("Gather", graph.add_weight(np.zeros((2, WIDTH), np.float32)), "token_type_ids", axis=0)
    seen = graph.add("Unsqueeze", graph.add("Cast", "attention_mask", to=1), graph.add_weight(np.array([2])))
    noise = graph.add("Sub", graph.add_weight(np.float32(1)), seen)  # padding must not count
    both = graph.add("Add", graph.add("Add", words, kinds), noise)
    graph.add_named("last_hidden_state", "Identity", both)
    inputs = dict.fromkeys(("input_ids", "attention_mask", "token_type_ids"), Input("int64"))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(graph.serialize(inputs, {"last_hidden_state": ("texts", "tokens", WIDTH)}))
    return table


def write_tokenizer(file: Path) -> None:
    """Write a tokenizer with its own padding and truncation, as the published one has."""
    tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=16)
    tokenizer.enable_truncation(16)
    file.write_text(tokenizer.to_str(), encoding="utf-8")

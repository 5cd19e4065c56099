"""Small models in the published formats, and a simple computation of their vectors."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from dowse.encoding.onnx_writer import Input, OnnxGraph

LAYERS, HEADS, WIDTH, WIDE, EPSILON = 2, 4, 32, 64, 1e-12
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghij", "read", "file", "line", "by", "parse", "json", "tree"]
Weights = dict[str, Any]


def write_model(folder: Path, seed: int = 0) -> Weights:
    """Write a BERT with random weights as safetensors, as sentence-transformers publishes its models."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = random_weights(seed)
    about, data = {}, b""
    for name, value in weights.items():
        offsets = [len(data), len(data) + value.nbytes]
        about[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": offsets}
        data += value.tobytes()
    head = json.dumps({"__metadata__": {"format": "pt"}} | about).encode()
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    shape = {"num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "hidden_size": WIDTH, "layer_norm_eps": EPSILON}
    config = {"model_type": "bert", "hidden_act": "gelu"} | shape
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    write_tokenizer(folder / "tokenizer.json")
    return weights


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


def random_weights(seed: int) -> Weights:
    """Return all weights of the small BERT, by the names of the published one."""
    random = np.random.default_rng(seed)

    def some(*shape: int) -> Any:
        return (random.standard_normal(shape) * 0.3).astype(np.float32)

    def dense(name: str, outputs: int, inputs: int) -> Weights:
        return {f"{name}.weight": some(outputs, inputs), f"{name}.bias": some(outputs)}

    def norm(name: str) -> Weights:
        return {f"{name}.weight": 1 + some(WIDTH), f"{name}.bias": some(WIDTH)}

    found = {
        "embeddings.word_embeddings.weight": some(len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": some(200, WIDTH),
        "embeddings.token_type_embeddings.weight": some(2, WIDTH),
        **norm("embeddings.LayerNorm"),
    }
    for number in range(LAYERS):
        name = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            found |= dense(f"{name}.attention.self.{part}", WIDTH, WIDTH)
        found |= dense(f"{name}.attention.output.dense", WIDTH, WIDTH) | norm(f"{name}.attention.output.LayerNorm")
        found |= dense(f"{name}.intermediate.dense", WIDE, WIDTH)
        found |= dense(f"{name}.output.dense", WIDTH, WIDE) | norm(f"{name}.output.LayerNorm")
    return found


def reference_vector(weights: Weights, ids: list[int]) -> Any:
    """Return the vector of one text by the definition: BERT, mean of the tokens, length 1."""

    def dense(value: Any, name: str) -> Any:
        return value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(value: Any, name: str) -> Any:
        value = value - value.mean(-1, keepdims=True)
        scaled = value / np.sqrt((value**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    hidden = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    hidden += weights["embeddings.position_embeddings.weight"][: len(ids)]
    hidden = norm(hidden + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for number in range(LAYERS):
        name = f"encoder.layer.{number}"
        three = (dense(hidden, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        query, key, value = (one.reshape(len(ids), HEADS, -1).transpose(1, 0, 2) for one in three)
        scores = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH / HEADS))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        mixed = dense(mixed, f"{name}.attention.output.dense")
        hidden = norm(mixed + hidden, f"{name}.attention.output.LayerNorm")
        wide = dense(hidden, f"{name}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        hidden = norm(dense(wide, f"{name}.output.dense") + hidden, f"{name}.output.LayerNorm")
    mean = hidden.mean(0)
    return mean / np.linalg.norm(mean)

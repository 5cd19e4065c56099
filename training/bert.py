"""The BERT network as an ONNX graph, from token ids to one vector for each text.

The graph is built node by node from the weights. Exporters of other packages gave graphs that are silently wrong for
input shapes other than the example's.
"""

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from dowse.encoding.minilm import COUNTS_INPUT, MERGE_INPUT
from training.onnx_writer import MICROSOFT_DOMAIN, Input, OnnxGraph


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The shape of a network, from the model's `config.json`."""

    layers: int
    heads: int
    width: int
    epsilon: float
    merged_after: int = 0
    """The number of layers after which tokens are merged; 0 for a network that merges none."""

    @classmethod
    def read(cls, file: Path) -> "ModelShape":
        """Read the shape of a model, which has to be a BERT of MiniLM's kind."""
        config = json.loads(file.read_text(encoding="utf-8"))
        assert (config["model_type"], config["hidden_act"]) == ("bert", "gelu")
        return cls(
            config["num_hidden_layers"],
            config["num_attention_heads"],
            config["hidden_size"],
            float(config["layer_norm_eps"]),
        )


class BertNetwork(ABC):
    """The nodes of the network. Subclasses define the source and the precision of the weights."""

    gelu = "BiasGelu"
    """The operator for the exact GELU."""

    def __init__(self, shape: ModelShape) -> None:
        self.graph = OnnxGraph()
        self._shape = shape

    @abstractmethod
    def add_weight(self, name: str) -> str:
        """Add a weight in full precision and return its name."""

    @abstractmethod
    def add_row_lookup(self, name: str, ids: str) -> str:
        """Add a lookup of rows of a table by their ids and return the name of its output."""

    @abstractmethod
    def add_product(self, value: str, name: str) -> str:
        """Add the product of a value and a matrix, which has a row for each output, and return its name."""

    def build(self) -> bytes:
        """Return the whole model. Its output is the mean of the last layer's tokens, scaled to length 1."""
        import numpy as np

        g = self.graph
        first, second = (g.add_weight(np.array([axis], np.int64)) for axis in (0, 1))
        length = g.add("Gather", g.add("Shape", "input_ids"), second, axis=0)
        places = g.add("Slice", self.add_weight("embeddings.position_embeddings.weight"), first, length, first)
        kind = g.add("Gather", self.add_weight("embeddings.token_type_embeddings.weight"), first, axis=0)
        words = g.add(
            "Add", self.add_row_lookup("embeddings.word_embeddings.weight", "input_ids"), g.add("Add", places, kind)
        )
        if self._shape.merged_after:
            words = g.add("Add", words, g.add("Gather", self.add_weight("embeddings.count"), COUNTS_INPUT, axis=0))
        scale, bias = (self.add_weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias"))
        hidden = g.add("LayerNormalization", words, scale, bias, axis=-1, epsilon=self._shape.epsilon)
        keep, third = g.add("Cast", "attention_mask", to=6), g.add_weight(np.array([2], np.int64))
        counted = g.add("Unsqueeze", g.add("Cast", "attention_mask", to=1), third)
        for number in range(self._shape.layers):
            hidden = self._layer(hidden, keep, f"encoder.layer.{number}")
            if number + 1 == self._shape.merged_after:
                hidden, counted = g.add("MatMul", MERGE_INPUT, hidden), g.add("ReduceSum", MERGE_INPUT, third)
                keep = g.add("Cast", g.add("Squeeze", counted, third), to=6)
        total = g.add("ReduceSum", g.add("Mul", hidden, counted), second, keepdims=0)
        mean = g.add("Div", total, g.add("ReduceSum", counted, second, keepdims=0))
        norm = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", mean, mean), second, keepdims=1))
        g.add_named("vectors", "Div", mean, norm)
        inputs = dict.fromkeys(("input_ids", "attention_mask"), Input("int64"))
        if self._shape.merged_after:
            inputs |= {COUNTS_INPUT: Input("int64"), MERGE_INPUT: Input("float32", ("texts", "merged", "tokens"))}
        return g.serialize(inputs, {"vectors": ("texts", self._shape.width)})

    def _layer(self, hidden: str, keep: str, name: str) -> str:
        g, own, parts = self.graph, f"{name}.attention", ("query", "key", "value")
        three = [self.add_product(hidden, f"{own}.self.{part}.weight") for part in parts]
        bias = g.add("Concat", *(self.add_weight(f"{own}.self.{part}.bias") for part in parts), axis=0)
        mixed = g.add("MultiHeadAttention", *three, bias, keep, domain=MICROSOFT_DOMAIN, num_heads=self._shape.heads)
        hidden = self._add_residual(self.add_product(mixed, f"{own}.output.dense.weight"), hidden, f"{own}.output")
        wide = self.add_product(hidden, f"{name}.intermediate.dense.weight")
        wide = g.add(self.gelu, wide, self.add_weight(f"{name}.intermediate.dense.bias"), domain=MICROSOFT_DOMAIN)
        return self._add_residual(self.add_product(wide, f"{name}.output.dense.weight"), hidden, f"{name}.output")

    def _add_residual(self, value: str, to: str, name: str) -> str:
        """Add a layer's result and its bias to the layer's input, and normalize the sum."""
        rest = (self.add_weight(f"{name}.{part}") for part in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias"))
        epsilon = self._shape.epsilon
        return self.graph.add("SkipLayerNormalization", value, to, *rest, domain=MICROSOFT_DOMAIN, epsilon=epsilon)

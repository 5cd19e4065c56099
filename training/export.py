"""The tuned model as a graph that ONNX Runtime runs, in eight bits: `python -m training.export BASE WEIGHTS OUT`.

The graph is built from the weights, node by node. Matrices are in eight bits with a scale for each column, and
quantised anew for every text that goes through; a single scale for a whole matrix is not enough.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

OPSET = 17


class Graph:
    """Nodes and weights as they are added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._count = 0

    def add(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        """A node; its output's name, or their names."""
        self._count += 1
        names = [f"{kind}_{self._count}_{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def weight(self, value: np.ndarray) -> str:
        """A constant."""
        self._count += 1
        name = f"w_{self._count}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name


class Network:
    """BERT with mean pooling."""

    def __init__(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.graph = Graph()
        self._weights = {name.removeprefix("bert."): value.astype(np.float32) for name, value in weights.items()}
        self._heads = config["num_attention_heads"]
        self._width = config["hidden_size"]
        self._layers = config["num_hidden_layers"]
        self._epsilon = config["layer_norm_eps"]

    def build(self) -> Any:
        """The whole model, from token numbers to one vector of length 1 a text."""
        g = self.graph
        words = self._embedded("embeddings.word_embeddings.weight", "input_ids")
        shape = g.add("Shape", "input_ids")
        length = g.add("Gather", shape, g.weight(np.array([1], np.int64)), axis=0)
        zero = g.weight(np.array([0], np.int64))
        places = self._weights["embeddings.position_embeddings.weight"] + self._weights["embeddings.token_type_embeddings.weight"][0]
        placed = g.add("Slice", g.weight(places), zero, length, zero)
        hidden = self._norm(g.add("Add", words, placed), "embeddings.LayerNorm")
        mask = g.add("Cast", "attention_mask", to=TensorProto.FLOAT)
        hide = g.add("Mul", g.add("Sub", g.weight(np.float32(1)), mask), g.weight(np.float32(-10000)))
        hide = g.add("Unsqueeze", hide, g.weight(np.array([1, 2], np.int64)))
        for number in range(self._layers):
            hidden = self._layer(hidden, hide, f"encoder.layer.{number}")
        weight = g.add("Unsqueeze", mask, g.weight(np.array([2], np.int64)))
        total = g.add("ReduceSum", g.add("Mul", hidden, weight), g.weight(np.array([1], np.int64)), keepdims=0)
        count = g.add("ReduceSum", weight, g.weight(np.array([1], np.int64)), keepdims=0)
        mean = g.add("Div", total, count)
        norm = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", mean, mean), g.weight(np.array([1], np.int64)), keepdims=1))
        self.graph.nodes.append(helper.make_node("Div", [mean, norm], ["vectors"]))
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", self._width])]
        graph = helper.make_graph(g.nodes, "encoder", inputs, outputs, g.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)

    def _embedded(self, name: str, ids: str) -> str:
        """Rows of a table in eight bits, each with its scale."""
        table = self._weights[name]
        scales = np.abs(table).max(1, keepdims=True) / 127
        numbers = np.round(table / scales).astype(np.int8)
        g = self.graph
        rows = g.add("Cast", g.add("Gather", g.weight(numbers), ids, axis=0), to=TensorProto.FLOAT)
        return str(g.add("Mul", rows, g.add("Gather", g.weight(scales), ids, axis=0)))

    def _layer(self, hidden: str, hide: str, name: str) -> str:
        g, size = self.graph, self._width // self._heads
        split = g.weight(np.array([0, 0, self._heads, size], np.int64))
        own = f"{name}.attention"
        query, key, value = (
            g.add("Reshape", self._dense(hidden, f"{own}.self.{part}"), split) for part in ("query", "key", "value")
        )
        query = g.add("Transpose", query, perm=[0, 2, 1, 3])
        key = g.add("Transpose", key, perm=[0, 2, 3, 1])
        value = g.add("Transpose", value, perm=[0, 2, 1, 3])
        scores = g.add("Mul", g.add("MatMul", query, key), g.weight(np.float32(1 / np.sqrt(size))))
        shares = g.add("Softmax", g.add("Add", scores, hide), axis=-1)
        mixed = g.add("Transpose", g.add("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = g.add("Reshape", mixed, g.weight(np.array([0, 0, self._width], np.int64)))
        hidden = self._norm(g.add("Add", self._dense(mixed, f"{own}.output.dense"), hidden), f"{own}.output.LayerNorm")
        wide = self._dense(hidden, f"{name}.intermediate.dense")
        root = g.add("Erf", g.add("Mul", wide, g.weight(np.float32(1 / np.sqrt(2)))))
        wide = g.add("Mul", g.add("Mul", wide, g.weight(np.float32(0.5))), g.add("Add", root, g.weight(np.float32(1))))
        return self._norm(g.add("Add", self._dense(wide, f"{name}.output.dense"), hidden), f"{name}.output.LayerNorm")

    def _dense(self, value: str, name: str) -> str:
        """A linear layer in eight bits: a scale for each column, the values quantised as they come."""
        g, matrix = self.graph, self._weights[f"{name}.weight"].T
        scales = np.abs(matrix).max(0) / 127
        numbers = np.round(matrix / scales).astype(np.int8)
        small, scale, zero = g.add("DynamicQuantizeLinear", value, outputs=3)
        summed = g.add("MatMulInteger", small, g.weight(numbers), zero)
        scaled = g.add("Mul", g.add("Cast", summed, to=TensorProto.FLOAT), g.add("Mul", scale, g.weight(scales)))
        return str(g.add("Add", scaled, g.weight(self._weights[f"{name}.bias"])))

    def _norm(self, value: str, name: str) -> str:
        scale, bias = (self.graph.weight(self._weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return str(self.graph.add("LayerNormalization", value, scale, bias, axis=-1, epsilon=self._epsilon))


def main(base: str, weights: str, out: str) -> int:
    """Write the graph."""
    config = json.loads((Path(base) / "config.json").read_text(encoding="utf-8"))
    model = Network(dict(load_file(weights)), config).build()
    onnx.checker.check_model(model)
    onnx.save(model, out)
    print(out, Path(out).stat().st_size / 1e6, "MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

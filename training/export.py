"""Export the tuned model in eight bits, and measure its error: `python -m training.export BASE WEIGHTS PAIRS OUT`.

Weights are rounded in blocks of 128 with a scale each. Activations are rounded in the same way, token by token. One
scale for a whole matrix, or for all activations of a batch, is not enough: the worst texts then have a cosine of 0.977,
and a text's vector depends on the other texts of its batch (now by 0.0005 at most, from rounding).
"""

import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession
from safetensors.numpy import load_file

from dowse.encoding.minilm import MiniLM
from dowse.encoding.packing import encoder_input
from dowse.encoding.wordpiece import WordPiece
from training.bert import BertNetwork, ModelShape
from training.mine import read_all_pairs
from training.onnx_writer import MICROSOFT_DOMAIN

BLOCK = 128
"""The block size. Lowest cosine, mean cosine, and time for a text of 128 tokens by block size: 32: 0.9978, 0.9996,
64 ms; 64: 0.9973, 0.9993, 55 ms; 128: 0.9951, 0.9989, 47 ms; one scale for a column and one for all activations: 0.9770,
0.9928, 43 ms; full precision: 97 ms."""
MERGED_AFTER = 1
"""The number of layers after which a student merges tokens."""
MIN_COSINE = 0.99
"""The lowest accepted cosine between a text's vector and its vector in full precision."""
SAMPLE_STEP = 170
"""One of this many pairs is compared."""
ODD_TEXTS = [
    "", "a", "(", "{}[]();", "0123456789 " * 30, "=====\n-----\n", "中文文档搜索", "поиск по коду", "🙂🙂🙂", "lorem ipsum " * 60,
    "AAAA" * 100, "foo_bar_baz_qux" * 20, "\n\n\n", "import os", "return 0;", "SELECT * FROM users WHERE id = 1", "null", "-1",
    "<div class='a'><span>b</span></div>" * 8, "how do I read a file line by line", "TODO", "#", "%%%%%%%%",
    "https://example.org/a/b/c?d=e#f", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "\t\t}\n\t}\n}",
]  # fmt: skip
"""Unusual texts, whose vectors are far from all others."""


class FullPrecisionNetwork(BertNetwork):
    """The network in full precision."""

    def __init__(self, shape: ModelShape, weights: dict[str, np.ndarray]) -> None:
        super().__init__(shape)
        self._weights = {name.removeprefix("bert."): value.astype(np.float32) for name, value in weights.items()}

    def add_weight(self, name: str) -> str:
        """Add a weight unchanged."""
        return self.graph.add_weight(self._weights[name])

    def add_row_lookup(self, name: str, ids: str) -> str:
        """Add a lookup of unchanged rows."""
        return self.graph.add("Gather", self.add_weight(name), ids, axis=0)

    def add_product(self, value: str, name: str) -> str:
        """Add the product with an unchanged matrix."""
        return self.graph.add("MatMul", value, self.graph.add_weight(self._weights[name].T))


class EightBitNetwork(FullPrecisionNetwork):
    """The network in eight bits."""

    gelu = "FastGelu"
    """An approximation that is a tenth faster; its error is no larger than that of rounding."""

    def add_row_lookup(self, name: str, ids: str) -> str:
        """Add a lookup of rounded rows, each with its scale."""
        table = self._weights[name]
        scales = np.abs(table).max(1, keepdims=True) / 127
        g, numbers = self.graph, np.round(table / scales).astype(np.int8)
        found = g.add("Cast", g.add("Gather", g.add_weight(numbers), ids, axis=0), to=1)
        return g.add("Mul", found, g.add("Gather", g.add_weight(scales), ids, axis=0))

    def add_product(self, value: str, name: str) -> str:
        """Add the product with a rounded matrix; each block of a row has its scale, and 128 stands for zero."""
        matrix = self._weights[name]
        count, size = matrix.shape
        blocks = matrix.reshape(count, size // BLOCK, BLOCK)
        scales = np.abs(blocks).max(2) / 127
        numbers = (np.round(blocks / scales[:, :, None]) + 128).astype(np.uint8)
        g, attributes = self.graph, {"K": size, "N": count, "bits": 8, "block_size": BLOCK, "accuracy_level": 4}
        return g.add(
            "MatMulNBits", value, g.add_weight(numbers), g.add_weight(scales), domain=MICROSOFT_DOMAIN, **attributes
        )


def sample_texts(pairs: str) -> list[str]:
    """Return queries, texts with and without their path, and unusual texts."""
    rows = islice(read_all_pairs(pairs), 0, None, SAMPLE_STEP)
    forms = [(row["q"], encoder_input(row["p"], row["t"]), row["t"]) for row in rows]
    return [form[number % 3] for number, form in enumerate(forms)] + ODD_TEXTS


def main(base: str, weights: str, pairs: str, out: str) -> int:
    """Write the graph, compare it with full precision, and fail if the error of a text is too large."""
    shape, loaded = ModelShape.read(Path(base) / "config.json"), dict(load_file(weights))
    if "embeddings.count" in loaded:  # its rows are for one, two, three and five occurrences; 0 stands for no count
        shape = replace(shape, merged_after=MERGED_AFTER)
        loaded["embeddings.count"] = np.pad(loaded["embeddings.count"], ((1, 0), (0, 0)))
    file = Path(out) / "model.onnx"
    file.write_bytes(EightBitNetwork(shape, loaded).build())
    tokenizer = WordPiece.from_file(Path(base) / "tokenizer.json")
    texts = sample_texts(pairs)
    both = [
        MiniLM(InferenceSession(graph, providers=["CPUExecutionProvider"]), tokenizer, "compared").encode(texts, "code")
        for graph in (file.read_bytes(), FullPrecisionNetwork(shape, loaded).build())
    ]
    cosines = (both[0] * both[1]).sum(1)
    cosines = cosines[both[1].any(1)]
    print(
        f"{file}: {file.stat().st_size / 1e6:.1f} MB; {len(cosines)} texts: lowest {cosines.min():.4f}, mean {cosines.mean():.4f}"
    )
    return 0 if cosines.min() >= MIN_COSINE else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

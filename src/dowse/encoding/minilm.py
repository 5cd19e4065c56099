"""MiniLM: a small transformer that turns text into 384 numbers, run by ONNX Runtime on the processor."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoding.bert import build_graph
from dowse.encoding.onnx_writer import replace_attribute
from dowse.encoding.wordpiece import WordPiece
from dowse.errors import Failed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

    from dowse.types import Kind, Vectors

    Numbers = NDArray[np.int64]

MAX_TOKENS: Mapping["Kind", int] = {"code": 128, "docs": 192}
"""Of a longer text only the beginning counts. Dense nDCG@10 in full precision with 96, 128, 160, 192 and 256 tokens:
code 0.809, 0.811, 0.811, 0.805, 0.805; SciFact 0.597, 0.610, 0.626, 0.641, 0.639."""
MAX_CHARACTERS = 4000
"""What is cut before it is tokenised: 128 tokens seldom reach beyond 1,000 characters."""
BATCH_TEXTS = 4
"""Texts that are computed at once: more is no faster on a processor, and takes memory."""
MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model.safetensors",
    "onnx/model_quantized.onnx",
    "model_quantized.onnx",
)
"""What a folder may have its model in, full precision first: what others made of it in eight bits is further from it
than ours."""
TOKENIZER_FILE = "tokenizer.json"
ROTATION_FILE = "turn.float32"
"""Beside our model: the turn of the space that puts its dimensions in the order of what they tell."""
ACCURACY_ATTRIBUTE = "accuracy_level"
"""The attribute of ONNX Runtime's `MatMulNBits` that chooses the arithmetic for weights in eight bits."""
EIGHT_BIT_LEVEL, FLOAT_LEVEL = 4, 0
"""Its values: multiply in eight bits, or turn the weights into floats first. Measured on 126 and 227 texts against
floats: on ARM eight bits take 55 ms a text and floats 112; on x86 with VNNI they take 32 ms and 31. Eight bits have a
least cosine of 0.9962 on ARM and 0.9964 on x86. So x86 computes with floats, which cost it nothing and cannot saturate."""
OUT_OF_MEMORY_TEXTS = ("bad_alloc", "allocate memory", "Failed to allocate", "out of memory", "BFCArena")
"""What ONNX Runtime says when memory is short."""


class MiniLM:
    """One row of length 1 for each text, whoever exported the graph."""

    def __init__(
        self, session: "InferenceSession", tokenizer: WordPiece, version: str, turn: "Vectors | None" = None
    ) -> None:
        self._session = session
        self._rotation = turn
        self._tokenizer = tokenizer
        self._inputs = {one.name for one in session.get_inputs()}
        self._output = session.get_outputs()[0].name
        self.version = version
        self.dimensions = int(session.get_outputs()[0].shape[-1])

    @classmethod
    def from_folder(cls, folder: Path, version: str, threads: int = 1, *, in_eight_bits: bool = True) -> "MiniLM":
        """Load the model of a folder that has a `tokenizer.json` and a graph or safetensors.

        A graph that multiplies in eight bits does so only if `in_eight_bits`, else in floats. Raise Failed where the
        folder's files cannot be used.
        """
        file = find_model_file(folder)
        if file is None:
            raise Failed(f"{folder} holds no model: {MODEL_FILES[0]} or {MODEL_FILES[2]}, and {TOKENIZER_FILE}.")
        try:
            tokenizer = WordPiece.from_file(folder / TOKENIZER_FILE)
            session = _open_session(file, threads, in_eight_bits=in_eight_bits)
            return cls(session, tokenizer, version, _read_rotation(folder / ROTATION_FILE))
        except ImportError as error:
            raise Failed(f"There is no ONNX Runtime for this machine ({error}); search goes on without it.") from error
        except Failed:
            raise
        except Exception as error:  # ONNX Runtime raises whatever it likes, and means the files
            raise Failed(f"The model in {folder} cannot be loaded ({_first_line(error)}).") from error

    def encode(self, texts: Sequence[str], kind: "Kind" = "docs") -> "Vectors":
        """One row a text, each of length 1, or 0 for a text without words."""
        import numpy as np

        cut = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]  # half a pair is no text
        tokens = [self._tokenizer.ids(text, MAX_TOKENS[kind]) for text in cut]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        worded = (place for place, one in enumerate(tokens) if len(one) > self._tokenizer.special_token_count)
        order = sorted(worded, key=lambda place: len(tokens[place]))
        for start in range(0, len(order), BATCH_TEXTS):
            places = order[start : start + BATCH_TEXTS]
            for part, rows in self._encode_batch(places, tokens):
                vectors[part] = rows
        return vectors

    def _encode_batch(self, places: list[int], tokens: list[list[int]]) -> Iterator[tuple[list[int], "Vectors"]]:
        """The vectors of a few texts: of all at once, or where memory is short of halves."""
        try:
            rows = self._vectors([tokens[place] for place in places])
        except Exception as error:
            if len(places) == 1 or not _is_out_of_memory(error):
                raise _to_failed(error) from error
        else:
            yield places, rows
            return
        middle = len(places) // 2
        yield from self._encode_batch(places[:middle], tokens)
        yield from self._encode_batch(places[middle:], tokens)

    def _vectors(self, rows: list[list[int]]) -> "Vectors":
        import numpy as np

        ids: Numbers = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        given: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            given["token_type_ids"] = np.zeros_like(ids)
        (found,) = self._session.run([self._output], given)
        if found.ndim == 3:  # a vector for each token: their mean is the text's
            weights = mask[:, :, None].astype(np.float32)
            found = (found * weights).sum(1) / weights.sum(1)
        if self._rotation is not None:
            found = found @ self._rotation
        rows_found: Vectors = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return rows_found


def find_model_file(folder: Path) -> Path | None:
    """The file with a folder's model, if that and a tokenizer are there."""
    files = (
        [folder / name for name in MODEL_FILES if (folder / name).is_file()]
        if (folder / TOKENIZER_FILE).is_file()
        else []
    )
    return next((file for file in files if file.suffix == ".onnx" or file.with_name("config.json").is_file()), None)


def _read_rotation(file: Path) -> "Vectors | None":
    import numpy as np

    if not file.is_file():
        return None
    turn = np.fromfile(file, "<f4")
    width = round(len(turn) ** 0.5)
    return turn.reshape(width, width)


def _open_session(file: Path, threads: int, *, in_eight_bits: bool) -> "InferenceSession":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # an arena keeps the largest batch's memory for good
    options.enable_mem_pattern = False
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # an idle thread costs nothing
    options.log_severity_level = 4
    graph: str | bytes = str(file)
    if not in_eight_bits:
        graph = replace_attribute(file.read_bytes(), ACCURACY_ATTRIBUTE, EIGHT_BIT_LEVEL, FLOAT_LEVEL)
    if file.suffix == ".safetensors":
        graph, weights = build_graph(file, file.with_name("config.json"))
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights))
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or any(words in str(error) for words in OUT_OF_MEMORY_TEXTS)


def _to_failed(error: Exception) -> Exception:
    if _is_out_of_memory(error):
        return Failed("There is not enough memory to encode a single text. Close other programs.")
    return Failed(f"A text could not be encoded ({_first_line(error)}).")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]

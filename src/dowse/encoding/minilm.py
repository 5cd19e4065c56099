"""MiniLM, a small transformer that turns a text into 384 numbers; ONNX Runtime runs it on the processor."""

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.encoding.wordpiece import WordPiece
from dowse.errors import Failed
from dowse.system.platform import multiplies_eight_bits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

    from dowse.types import Kind, Vectors

    Numbers = NDArray[np.int64]

MAX_TOKENS: Mapping["Kind", int] = {"code": 128, "docs": 192}
"""The number of tokens of a text that are encoded. Dense nDCG@10 in full precision with 96, 128, 160, 192 and 256 tokens:
code 0.809, 0.811, 0.811, 0.805, 0.805; SciFact 0.597, 0.610, 0.626, 0.641, 0.639."""
MERGING_MAX_TOKENS: Mapping["Kind", int] = {"code": 96, "docs": 160}
"""The same for a model that merges tokens. It reads each word of a chunk once: half of all chunks of code then have less
than 67 tokens, instead of 320."""
WHOLE_TOKENS = 64
"""A chunk of at most so many tokens is read whole and without merging, like a query. Worth 0.02 on CosQA, whose
functions have 46 tokens; of all code, one chunk in twelve is so short."""
BRIEF_TOKENS, BRIEF_WHOLE_TOKENS = 32, 24
"""The same two numbers for a text that is scored while a user waits. With 32, 48, 64 and 96 tokens, the
definition that decides is among the best five for 41, 43, 42 and 42 % of 160 questions; 16 of them take 93 ms with 32 tokens
and 126 with 48, on two cores of ARM."""
COUNTED_TOKENS = 192
"""The first tokens of a chunk, among which the occurrences of a word are counted."""
MERGED_TOKENS = 2
"""The number of neighbouring tokens of a chunk that become one."""
MAX_CHARACTERS = 4000
"""The number of characters of a text that are tokenized; 128 tokens rarely have more than 1,000 characters."""
BATCH_TEXTS = 4
"""The number of texts in a batch. Larger batches are no faster on a processor and take more memory."""
ROTATION_FILE = "turn.float32"
"""A file beside our model: a rotation that sorts the dimensions, the most informative first."""
COUNTS_INPUT, MERGE_INPUT = "counts", "merge"
"""The inputs of a model that merges tokens: how often the word of each token occurs, and the share of each token in each
merged one."""
EIGHT_BIT_LEVEL, FLOAT_LEVEL = b"accuracy_level\x18\x04", b"accuracy_level\x18\x00"
"""The attribute of ONNX Runtime's `MatMulNBits` that chooses the arithmetic for weights in eight bits, as the file of our
model has it: multiply in eight bits, or convert the weights to floats first. Time for a text: on ARM 55 ms in eight
bits and 112 ms in floats; for a chunk on x86 with VNNI 12 ms and 15 to 19 ms, with ONNX Runtime 1.30. The lowest cosine
of eight bits against floats is 0.9962 on ARM and 0.9965 on x86, on 134 texts, and 0.9964 on an emulated x86 without
VNNI, on 4 texts: nothing saturates. An x86 without VNNI computes in floats, which are exact: eight bits were not timed
there."""
OUT_OF_MEMORY_TEXTS = ("bad_alloc", "allocate memory", "Failed to allocate", "out of memory", "BFCArena")
"""Parts of ONNX Runtime's error messages when memory is short."""


class _Tokens(NamedTuple):
    """The tokens of a text that a model reads."""

    ids: list[int]
    counts: Sequence[int] = ()
    """How often each token occurs in a text whose words are read once: 1 for once, 2 for twice, 3 for three or four
    times, 4 for more. It is 0 in a text that is read whole.
    """
    merged: int = 1
    """The number of neighbouring tokens that become one."""


class MiniLM:
    """An encoder that runs MiniLM: ours, or the unchanged one.

    Our own model skips punctuation and splits names at their capitals. It reads each word of a chunk once and is told how
    often it occurs, and after its first layer it merges each two tokens; so a chunk takes two fifths of the time.
    """

    def __init__(
        self,
        session: "InferenceSession",
        tokenizer: WordPiece,
        version: str,
        rotation: "Vectors | None" = None,
        threads: int = 1,
    ) -> None:
        self._session = session
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None
        self._rotation = rotation
        self._tokenizer = tokenizer
        self._inputs = {node.name for node in session.get_inputs()}
        self._output = session.get_outputs()[0].name
        self._merges = MERGE_INPUT in self._inputs
        self.version = version
        self.dimensions = int(session.get_outputs()[0].shape[-1])

    @classmethod
    def from_folder(
        cls, folder: Path, version: str, threads: int = 1, *, in_eight_bits: bool | None = None
    ) -> "MiniLM":
        """Load the model of a folder that has a `tokenizer.json` and a graph.

        It encodes as many batches at a time as there are threads.
        Our graph multiplies in eight bits or in floats; by default as is faster on this machine.
        Raise Failed when the folder's files cannot be used.
        """
        ours, unchanged = folder / "model.onnx", folder / "onnx" / "model.onnx"
        try:
            tokenizer = WordPiece.from_file(folder / "tokenizer.json")
            session = _open_session(_read_graph(ours, in_eight_bits) if ours.exists() else str(unchanged))
            return cls(session, tokenizer, version, _read_rotation(folder / ROTATION_FILE), threads)
        except ImportError as error:
            raise Failed(
                f"ONNX Runtime is not available on this machine ({error}); search works without it."
            ) from error
        except Exception as error:  # ONNX Runtime raises errors of many types for bad files
            raise Failed(f"The model in {folder} cannot be loaded ({_first_line(error)}).") from error

    def encode(self, texts: Sequence[str], kind: "Kind" = "docs") -> "Vectors":
        """Return one row for each text, of length 1, or 0 for a text without words."""
        return self._encode(texts, lambda text: self._read(text, kind), self._threads)

    def encode_briefly(self, texts: Sequence[str]) -> "Vectors":
        """Return vectors of the beginnings of texts, for a user who waits, on the thread that asks."""
        return self._encode(texts, lambda text: self._read_part(text, BRIEF_TOKENS, BRIEF_WHOLE_TOKENS))

    def encode_query(self, text: str) -> "Vectors":
        vector: Vectors = self._encode([text], lambda text: self._read(text, None))[0]
        return vector

    def _encode(
        self, texts: Sequence[str], read: "Callable[[str], _Tokens]", threads: ThreadPoolExecutor | None = None
    ) -> "Vectors":
        import numpy as np

        cut = [
            text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() for text in texts
        ]  # a lone surrogate is not valid text
        tokens = list(map(read, cut))
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        with_words = (number for number, one in enumerate(tokens) if len(one.ids) > self._tokenizer.special_token_count)
        order = sorted(with_words, key=lambda number: (tokens[number].merged, len(tokens[number].ids)))
        batches = [order[start : start + BATCH_TEXTS] for start in range(0, len(order), BATCH_TEXTS)]
        encoded = (threads.map if threads and len(batches) > 1 else map)(
            lambda batch: self._encode_batch([tokens[number] for number in batch]), batches
        )
        for numbers, rows in zip(batches, encoded, strict=True):
            vectors[numbers] = rows
        return vectors

    def _read(self, text: str, kind: "Kind | None") -> _Tokens:
        """Return the tokens of a chunk or, without a kind, of a query that the model reads."""
        most = (MERGING_MAX_TOKENS if self._merges else MAX_TOKENS)[kind or "docs"]
        return self._read_part(text, most, WHOLE_TOKENS if kind else MAX_CHARACTERS)

    def _read_part(self, text: str, most: int, whole_tokens: int) -> _Tokens:
        """Return so many tokens of a text at most; a short text is read whole, and of others each word once."""
        tokenizer = self._tokenizer
        if not self._merges:
            return _Tokens(tokenizer.ids(text, most))
        words = list(tokenizer.words(text))
        whole = [*chain.from_iterable(words)]
        if not whole:
            return _Tokens(tokenizer.ids(text, WHOLE_TOKENS))
        room = most - tokenizer.special_token_count
        if len(whole) <= whole_tokens - tokenizer.special_token_count:
            return _Tokens(tokenizer.with_special_tokens(whole[:room]))
        ids = tokenizer.with_special_tokens([*chain.from_iterable(dict.fromkeys(words))][:room])
        times = Counter(whole[:COUNTED_TOKENS])
        counts = [1 + sum(times[number] >= least for least in (2, 3, 5)) for number in ids]
        return _Tokens(ids, counts, MERGED_TOKENS)

    def _encode_batch(self, texts: list[_Tokens]) -> "Vectors":
        """Return the vectors of a few texts: all at once, or one after another when memory is short."""
        import numpy as np

        try:
            return self._run(texts)
        except Exception as error:  # ONNX Runtime raises errors of many types
            if not _is_out_of_memory(error):
                raise Failed(f"A text could not be encoded ({_first_line(error)}).") from error
            if len(texts) == 1:
                problem = "There is not enough memory to encode a single text. Close other programs."
                raise Failed(problem) from error
        return np.concatenate([self._encode_batch([text]) for text in texts])

    def _run(self, rows: list[_Tokens]) -> "Vectors":
        import numpy as np

        ids: Numbers = np.zeros((len(rows), max(len(row.ids) for row in rows)), np.int64)
        mask, counts = np.zeros_like(ids), np.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row.ids)] = row.ids
            mask[number, : len(row.ids)] = 1
            counts[number, : len(row.counts)] = row.counts
        inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            inputs["token_type_ids"] = np.zeros_like(ids)
        if self._merges:
            inputs |= {COUNTS_INPUT: counts, MERGE_INPUT: _merge_shares(rows)}
        (output,) = self._session.run([self._output], inputs)
        if output.ndim == 3:  # one vector for each token; the text's vector is their mean
            weights = mask[:, :, None].astype(np.float32)
            output = (output * weights).sum(1) / weights.sum(1)
        if self._rotation is not None:
            output = output @ self._rotation
        vectors: Vectors = output / np.maximum(np.linalg.norm(output, axis=1, keepdims=True), 1e-9)
        return vectors


def _merge_shares(rows: list[_Tokens]) -> "Vectors":
    """Return the share of each token in each merged one, which is the mean of its tokens, for each text."""
    import numpy as np

    merged = max(-(-len(row.ids) // row.merged) for row in rows)
    shares: Vectors = np.zeros((len(rows), merged, max(len(row.ids) for row in rows)), np.float32)
    for number, row in enumerate(rows):
        places = np.arange(len(row.ids))
        shares[number, places // row.merged, places] = 1
    shares /= np.maximum(shares.sum(2, keepdims=True), 1)
    return shares


def _read_rotation(file: Path) -> "Vectors | None":
    import numpy as np

    if not file.is_file():
        return None
    rotation = np.fromfile(file, "<f4")
    width = round(len(rotation) ** 0.5)
    return rotation.reshape(width, width)


def _read_graph(file: Path, in_eight_bits: bool | None) -> str | bytes:
    is_as_written = multiplies_eight_bits() if in_eight_bits is None else in_eight_bits
    return str(file) if is_as_written else file.read_bytes().replace(EIGHT_BIT_LEVEL, FLOAT_LEVEL)


def _open_session(graph: str | bytes) -> "InferenceSession":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # an arena would keep the memory of the largest batch
    options.enable_mem_pattern = False
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads must not use the processor
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or any(words in str(error) for words in OUT_OF_MEMORY_TEXTS)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


SPREAD = 0.09
"""The usual standard deviation of the cosines of the best 16 definitions, on 160 questions: 0.05 to 0.15. A score is a
cosine divided by it, so that the scores of another scorer count as much if their usual deviation is 1."""
SCORING_THREADS = 2
"""Threads that score texts, where there are as many cores: while they do, no chunk is encoded."""
KEPT_VECTORS = 2048
"""Vectors of texts that are kept, 3 MB: those of 128 questions that find different texts."""


class CosineScorer:
    """Scores texts by comparing their vectors with that of the query, and keeps them for the next query.

    The usual standard deviation of the scores of a query is 1.
    """

    def __init__(self, encoder: "MiniLM", threads: int = 1) -> None:
        self._encoder, self._threads = encoder, threads
        # Threads of its own: those of the encoder may be in the middle of chunks that nobody waits for.
        self._pool = ThreadPoolExecutor(threads)
        self._kept = OrderedDict[bytes, "Vectors"]()

    def score(self, query: str, texts: Sequence[str]) -> "Vectors":
        """Return the cosine of each text with the query, divided by the usual deviation."""
        import numpy as np

        keys = [hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept}
        by_length = sorted(new, key=lambda key: len(new[key]))
        shares = [by_length[start :: self._threads] for start in range(self._threads)]
        encoded = self._pool.map(lambda share: self._encoder.encode_briefly([new[key] for key in share]), shares)
        vector = self._encoder.encode_query(query)
        for share, rows in zip(shares, encoded, strict=True):
            self._kept.update((key, row.copy()) for key, row in zip(share, rows, strict=True))
        for key in keys:
            self._kept.move_to_end(key)
        scores: Vectors = np.array([self._kept[key] @ vector for key in keys], np.float32) / SPREAD
        while len(self._kept) > KEPT_VECTORS:
            self._kept.popitem(last=False)
        return scores

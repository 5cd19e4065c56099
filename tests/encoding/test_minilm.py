"""MiniLM: all exports of it, texts of any length, and too little memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dowse.encoding.minilm import MAX_TOKENS, MERGING_MAX_TOKENS, MiniLM, _merge_shares, _Tokens
from dowse.encoding.selection import open_minilm
from dowse.errors import Failed
from tests.encoding.sample_models import WORDS, write_model

TEXTS = ["read file", "parse json tree by line", "a", "read " * 500, "nobody knows", "file line"]
NUMBERS = {word: number for number, word in enumerate(WORDS)}


def ids(text: str) -> list[int]:
    inner = [NUMBERS.get(word, 1) for word in text.split()]
    return [2, *inner[: MAX_TOKENS["docs"] - 2], 3]


def test_tokens_of_the_published_graph_are_averaged_without_the_filling(tmp_path: Path) -> None:
    table = write_model(tmp_path)
    found = MiniLM.from_folder(tmp_path, "published").encode(TEXTS)
    means = np.array([table[ids(text)].mean(0) for text in TEXTS])
    assert np.allclose(found, means / np.linalg.norm(means, axis=1, keepdims=True), atol=1e-5)


def test_a_text_has_nearly_the_same_vector_whatever_stands_beside_it() -> None:
    encoder = open_minilm()
    texts = ["read a file", "x", "def parse(text: str) -> Tree: ...\n" * 40, "", "how is a tree balanced?"]
    together = encoder.encode(texts)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    near = (together * alone).sum(1)[[0, 1, 2, 4]]
    assert near.min() > 0.999, "rounding falls a little differently, and no more than that"
    lengths = np.linalg.norm(together, axis=1)
    assert np.allclose(lengths, [1, 1, 1, 0, 1], atol=1e-5), "a text without words has no direction"
    assert encoder.encode([]).shape == (0, 384)


def test_a_long_chunk_is_read_with_each_word_once_and_the_count_of_each() -> None:
    encoder = open_minilm()
    rare = [f"word{number}" for number in range(40)]
    text = " ".join(["open(file)"] * 5 + ["readFile"] * 2 + rare)
    read, query = encoder._read(text, "code"), encoder._read(text, None)
    names = {number: word for word, number in encoder._tokenizer.vocabulary.items()}
    words = [names[number] for number in read.ids]
    assert words[:5] == ["[CLS]", "open", "file", "read", "word"]
    assert read.counts[:5] == [1, 4, 4, 2, 4]
    assert (read.merged, len(read.counts)) == (2, len(read.ids))
    assert [names[number] for number in query.ids][:5] == ["[CLS]", "open", "file", "open", "file"]
    assert (query.counts, query.merged) == ((), 1)
    assert len(encoder._read(text * 9, "code").ids) <= MERGING_MAX_TOKENS["code"]


def test_a_short_chunk_is_read_like_a_query() -> None:
    encoder, text = open_minilm(), "src/a.py\ndef open_file(file): return file.open()"
    assert encoder._read(text, "code") == encoder._read(text, None)
    assert np.allclose(encoder.encode([text], "code")[0], encoder.encode_query(text), atol=1e-6)


def test_batches_on_several_threads_give_the_same_vectors() -> None:
    texts = [f"src/m{number}.py\ndef apple_{number}(basket): return basket.peel({number})" for number in range(11)]
    alone, together = (open_minilm(threads).encode(texts, "code") for threads in (1, 3))
    assert np.array_equal(alone, together)


def test_two_tokens_become_their_mean() -> None:
    shares = _merge_shares([_Tokens([1, 2, 3], [1, 1, 1], 2), _Tokens([4])])
    assert shares.tolist() == [[[0.5, 0.5, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 0]]]


def test_any_text_can_be_encoded() -> None:
    hostile = ["\0", "\ud800", "🙂" * 5000, "\u202e" * 100, "a" * 1_000_000, "\n" * 9000, "[CLS] [MASK] [SEP]"]
    vectors = open_minilm().encode(hostile)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("name", ["onnx/model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("length", [None, 0, 700])
def test_a_model_that_cannot_be_loaded_is_an_error_that_names_its_folder(
    tmp_path: Path, name: str, length: int | None
) -> None:
    write_model(tmp_path)
    file = tmp_path / name
    file.unlink() if length is None else file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(Failed, match=tmp_path.name):
        MiniLM.from_folder(tmp_path, "damaged")


PROGRAM = """
import resource
from dowse.encoding.selection import open_minilm

encoder = open_minilm()
texts = [f"words of the text number {number} that goes on " * 30 for number in range(4)]
tokens = [encoder._read(text, None) for text in texts]
expected = encoder.encode(texts)
used = 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1])
for more in range(0, 64 << 20, 1 << 18):
    resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))
    try:
        encoder._run(tokens)
    except Exception:
        found = encoder.encode(texts)  # a batch that is too large is split
        assert abs(found - expected).max() < 1e-5
        print("in parts")
        break
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux can")
def test_where_memory_is_short_fewer_texts_are_computed_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "in parts\n", done.stderr

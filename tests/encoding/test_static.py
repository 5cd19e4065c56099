"""The static encoder: its words, and the sum of their vectors, compared with the plain formula."""

import math
import mmap
import random
from collections import Counter
from string import ascii_lowercase

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dowse.encoding.selection import MODELS_FOLDER, static_encoder
from dowse.encoding.static import MAX_CHARACTERS, WORD, StaticTokens

VOCABULARY = (MODELS_FOLDER / "static" / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
NUMBERS = {word: number for number, word in enumerate(VOCABULARY)}
TABLE = np.fromfile(MODELS_FOLDER / "static" / "table.int8", np.int8).reshape(len(VOCABULARY), -1)
TOKENS = StaticTokens(NUMBERS)
SCALES = np.fromfile(MODELS_FOLDER / "static" / "scales.float32", np.float32)


def reference_vector(text: str) -> np.ndarray:
    """Return the sum of √count · scale · numbers over the words, scaled to length 1."""
    total = np.zeros(TABLE.shape[1])
    for number, times in Counter(TOKENS.token_ids(text)).items():
        total += math.sqrt(min(times, 255)) * float(SCALES[number]) * TABLE[number].astype(np.float64)
    length = float(np.linalg.norm(total))
    return total / length if length else total


def words(text: str) -> list[str]:
    return [VOCABULARY[number] for number in TOKENS.token_ids(text)]


def test_an_identifier_is_cut_where_a_person_would() -> None:
    assert words("parseHTTPResponse") == ["parse", "http", "response"]
    assert words("max_file_bytes2") == ["max", "file", "bytes", "2"]
    assert words("HTMLParser XMLHttpRequest") == ["html", "parser", "xml", "http", "request"]
    assert words("É") == ["e"]


def test_a_rare_word_is_cut_into_the_longest_pieces_that_are_known() -> None:
    pieces = words("zyxwordsmith")
    assert len(pieces) > 1
    assert "".join(piece.removeprefix("##") for piece in pieces) == "zyxwordsmith"
    assert all(piece.startswith("##") for piece in pieces[1:])


def test_a_blob_says_nothing() -> None:
    assert words("q" * 41) == []
    assert not static_encoder().encode(["", "…!?", "q" * 50]).any()


@given(st.lists(st.text(max_size=300), max_size=5))
def test_vectors_are_those_of_the_formula(texts: list[str]) -> None:
    found = static_encoder().encode(texts)
    assert found.shape == (len(texts), 256)
    assert found.dtype == np.float32
    for text, vector in zip(texts, found, strict=True):
        assert np.allclose(vector, reference_vector(text), atol=1e-5)


def test_a_word_that_is_repeated_counts_by_its_root_up_to_a_limit() -> None:
    text = "parse " * 400 + "json file file"
    assert np.allclose(static_encoder().encode([text])[0], reference_vector(text), atol=1e-5)


def test_of_a_very_long_text_the_beginning_counts() -> None:
    begin = ("parse json " * MAX_CHARACTERS)[:MAX_CHARACTERS]
    long, short = static_encoder().encode([begin + " render html" * 1000, begin])
    assert np.array_equal(long, short)


def test_the_table_stays_on_the_disk() -> None:
    base: object = static_encoder()._table
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap.mmap)


@given(st.text(max_size=300))
def test_the_words_of_a_text_are_those_that_the_expression_finds(text: str) -> None:
    expected = [number for word in WORD.findall(text) for number in TOKENS.token_ids(word)]
    assert list(TOKENS.token_ids(text)) == expected


def test_letters_at_random_mean_nothing() -> None:
    letters, encoder = random.Random(7), static_encoder()
    words = ["".join(letters.choices(ascii_lowercase, k=letters.randint(5, 9))) for _ in range(200)]
    assert sum(map(encoder.has_meaning, words)) <= 2
    assert all(map(encoder.has_meaning, ["throttle", "getusername", "größe", "zzzqqq of a session"]))
    assert not encoder.has_meaning("zzzqqq")

"""Our tokenizer gives the same ids as the library `tokenizers` for every text."""

import functools
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from dowse.encoding import wordpiece
from dowse.encoding.selection import MODELS_FOLDER
from dowse.encoding.wordpiece import WordPiece
from tests.examples import examples
from tests.repository import REPOSITORY

FILE = MODELS_FOLDER / "minilm" / "tokenizer.json"
MANY = 10_000_000
HARD = [
    *("[SEP]", "[CLS]", "[MASK]", "[PAD]", "[UNK]", "[sep]", "[SEP", "SEP]", "[[SEP]]", "[S\0EP]", "##", "##ing", "ing"),
    *("İ", "I", "ı", "ß", "ẞ", "Σ", "ς", "ΟΔΟΣ", "ΌΔΌΣ", "Ǆ", "ǅ", "ﬁ", "Å", "Å", "é", "e\u0301", "ạ\u0308", "Ᲊ", "Ა", "ა"),
    *("\ua7cb", "\ua7dc", "≮", "\u037e", "\u1fef", "`", "\u2000", "\u0344", "\u0f73", "\u302e\u0301\u302f", "\U0001d15e"),
    *("中文", "中\u0301", "豈", "\U0002f800", "\U0002b830", "\U0002b921", "\U00020000", "かな", "が", "ｶﾞ", "。", "ㄅ", "한국어", "ᄒ", "각"),
    *("🙂", "👩‍👩‍👧", "🏳️‍🌈", "1️⃣", "\u200d", "\u200b", "\u00ad", "\u202e", "\ufeff", "\ufffd", "\ufffe", "\ue000", "\U000f0000"),
    *("\0", "\x0b", "\x0c", "\x1c", "\x1f", "\x7f", "\x85", "\xa0", "\u1680", "\u180e", "\u2028", "\u3000", "\t", "\r\n", " "),
    *("नमस्ते", "ไทย", "עִבְרִית", "العَرَبِيَّة", "\u0378", "\u08e2", "\U000110cd", "\u1734", "\U000111c9", "\u2e5d", "\u166d", "\U00011938"),
    *("read", "File", "snake_case", "camelCase", "x" * 99, "a" * 100, "a" * 101, "é" * 100, "é" * 101, "!", "“", "—", "$", "^", "½"),
]  # fmt: skip
TEXTS = st.lists(
    st.one_of(st.sampled_from(HARD), st.text(max_size=6), st.characters(exclude_categories=["Cs"])), max_size=30
).map("".join)


@functools.cache
def both() -> tuple[WordPiece, Tokenizer]:
    """Return our tokenizer and the library's for MiniLM."""
    theirs = Tokenizer.from_file(str(FILE))
    theirs.no_padding()
    theirs.no_truncation()
    return WordPiece.from_file(FILE), theirs


def expected(theirs: Tokenizer, text: str) -> list[int]:
    numbers: list[int] = theirs.encode(text).ids
    return numbers


@examples(100, many=3000)
@given(TEXTS)
def test_any_text_has_the_numbers_that_the_library_gives_it(text: str) -> None:
    ours, theirs = both()
    assert ours.ids(text, MANY) == expected(theirs, text)


@examples(50, many=1000)
@given(TEXTS, st.integers(2, 40))
def test_what_is_too_long_is_cut_where_the_library_cuts_it(text: str, most: int) -> None:
    ours, theirs = both()
    theirs.enable_truncation(most)
    try:
        assert ours.ids(text, most) == expected(theirs, text)
    finally:
        theirs.no_truncation()


def every_character() -> list[object]:
    """Return the planes and in which steps to walk them: ideographs fill the planes 2 and 3, and 14 is nearly empty."""
    whole = [pytest.param(plane, 1, marks=pytest.mark.soak) for plane in (2, 3, 14)]
    return [(0, 1), (1, 1), *((plane, 101 if plane > 3 and plane != 14 else 7) for plane in range(2, 17)), *whole]


@pytest.mark.parametrize(("plane", "step"), every_character())
def test_every_character_is_what_it_is_to_the_library(plane: int, step: int) -> None:
    ours, theirs = both()
    codes = [code for code in range(plane << 16, plane + 1 << 16, step) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(codes), 512):
        texts = [f"a{chr(code)}b {chr(code)}" for code in codes[start : start + 512]]
        if ours.ids(" ".join(texts), MANY) != expected(theirs, " ".join(texts)):
            assert [text for text in texts if ours.ids(text, MANY) != expected(theirs, text)] == []


@pytest.mark.property
def test_the_files_of_this_repository_have_the_librarys_numbers() -> None:
    ours, theirs = both()
    files = [file for name in ("src/**/*.py", "src/**/*.toml", "docs/*.md") for file in REPOSITORY.glob(name)]
    assert len(files) > 200
    for file in sorted(files)[:: 1 if os.environ.get("SOAK") else 4]:
        text = file.read_text(encoding="utf-8")
        assert ours.ids(text, MANY) == expected(theirs, text), file


def test_what_comes_after_the_last_token_is_not_looked_at() -> None:
    ours = WordPiece.from_file(FILE)
    assert ours.ids("read the file " * 1000 + "zebra", 8) == [101, 3191, 1996, 5371, 3191, 1996, 5371, 102]
    assert set(ours._known) == {"read", "the", "file"}


def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordpiece, "MAX_CACHED_STRETCHES", 10)
    ours = WordPiece.from_file(FILE)
    ours.ids(" ".join(map(str, range(1000))) + " " + "long" * 1000, MANY)
    assert len(ours._known) <= 10
    assert max(map(len, ours._known)) <= wordpiece.MAX_CACHED_STRETCH_CHARACTERS

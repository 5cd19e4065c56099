"""How text becomes words, the same for what is archived and what is asked; and how words are compared."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

MOST_CHARACTERS = 64
"""Of a longer word, which is data, the beginning counts."""

_ASCII_WORD = re.compile(r"\w+")
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
"""Scripts written without spaces between words; each character, with its marks, is a word of its own."""


@cache
def _any_word() -> Any:
    import regex  # whose \w has the marks that many scripts write vowels with

    return regex.compile(rf"[{_UNSPACED}][\p{{M}}]*|(?:(?![{_UNSPACED}])\w)+")


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the words of a text stand."""
    pattern = _ASCII_WORD if text.isascii() else _any_word()
    return (match.span() for match in pattern.finditer(text))


def words_of(text: str) -> list[str]:
    """The words of a text in order, as they are indexed: small letters, composed, of a bounded length."""
    if text.isascii():
        words = _ASCII_WORD.findall(text.lower())
        return words if len(text) <= MOST_CHARACTERS else [word[:MOST_CHARACTERS] for word in words]
    return [as_word(found) for found in _any_word().findall(text)]


def as_word(written: str) -> str:
    """A word as it is indexed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", written).lower())[:MOST_CHARACTERS]


def fold(word: str) -> str:
    """A word without accents and other marks."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word)
    bare = "".join(sign for sign in parts if not unicodedata.combining(sign)).translate(_LETTERS)
    return bare or word


_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ŧ": "t", "ħ": "h"}
)
"""Letters that are written without their sign where a keyboard lacks them, and that do not decompose."""


def stems(words: Iterable[str]) -> list[str]:
    """The stem of each word, by the English rules; a word of another language is mostly left as it is."""
    return [(_stemmer().analyze(word) or [word])[0] for word in words]


@cache
def _stemmer() -> Any:
    import tantivy  # 7 ms, and only those who index or search need it

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    return builder.filter(tantivy.Filter.stemmer("english")).build()


def letters(word: str) -> int:
    """Which letters a word has, as bits: words that are nearly alike have nearly the same."""
    bits = 0
    for sign in word:
        bits |= 1 << (_PLAIN.get(sign) or 36 + ord(sign) % 26)
    return bits


_PLAIN = {sign: place for place, sign in enumerate("abcdefghijklmnopqrstuvwxyz0123456789")} | {"a": 62}
"""The bit of each plain letter; the first has the last bit, so that none has the number 0."""

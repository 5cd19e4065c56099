"""Splitting of documents and queries into words, and the forms in which words are compared."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from dowse.text.stemming import LETTER_REPLACEMENTS

MAX_WORD_CHARACTERS = 64
"""Longer words, which are data rather than language, are cut to this length."""

_ASCII_WORD = re.compile(r"\w+")
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
"""Scripts written without spaces between words; each character, with its marks, is one word."""


@cache
def _unicode_word() -> Any:
    import regex  # its \w includes the marks that many scripts use for vowels

    return regex.compile(rf"[{_UNSPACED}][\p{{M}}]*|(?:(?![{_UNSPACED}])\w)+")


def indexed_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text as they are indexed, with the start and end of each."""
    pattern = _ASCII_WORD if text.isascii() else _unicode_word()
    return ((normalize_word(match[0]), *match.span()) for match in pattern.finditer(text))


def split_words(text: str) -> list[str]:
    """Return the words of a text in order, as they are indexed: lower case, composed, of a bounded length."""
    if text.isascii():
        words = _ASCII_WORD.findall(text.lower())
        return words if len(text) <= MAX_WORD_CHARACTERS else [word[:MAX_WORD_CHARACTERS] for word in words]
    return [normalize_word(found) for found in _unicode_word().findall(text)]


def normalize_word(word: str) -> str:
    """Return a word as it is indexed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).lower())[:MAX_WORD_CHARACTERS]


def strip_accents(word: str) -> str:
    """Return a word without accents and other marks."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word)
    bare = "".join(character for character in parts if not unicodedata.combining(character)).translate(
        LETTER_REPLACEMENTS
    )
    return bare or word


def stem_words(words: Iterable[str]) -> list[str]:
    """Return the stem of each word by English rules, which leave most words of other languages unchanged."""
    return [(_stemmer().analyze(word) or [word])[0] for word in words]


@cache
def _stemmer() -> Any:
    import tantivy  # takes 7 ms, and only indexing and searching need it

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    return builder.filter(tantivy.Filter.stemmer("english")).build()

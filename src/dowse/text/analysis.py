"""Text analysis: how text becomes terms, for indexing and for queries alike.

Tantivy's simple tokenizer splits at every character that is not a letter or digit and runs without
the interpreter's lock; a regular-expression tokenizer takes three times as long. This module
therefore prepares the text for the simple one, in two ways: `keep_identifiers` keeps an identifier
in one piece, and `split_identifiers` also splits it into its words.
"""

import re
from typing import Any

import tantivy

_JOINER = "\u02cd"
"""A letter that looks like an underscore and does not occur in practice: it keeps `snake_case` whole."""

_HUMP = re.compile(r"(?=[A-Z])(?:(?<=[a-z0-9])|(?<=[A-Z])(?=[A-Z][a-z]))")
"""Matches before the capital that begins a new word: `get|User`, `HTTP|Server`. Testing for the capital
first makes it twice as fast as two substitutions."""
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Characters of scripts without spaces between words; each character is a term of its own."""


def keep_identifiers(text: str) -> str:
    """Prepare a text so that the tokenizer keeps each identifier in one piece."""
    return _space_out_characters(text).replace("_", _JOINER)


def split_identifiers(text: str) -> str:
    """Prepare a text so that the tokenizer splits identifiers at changes of case.

    It splits at underscores by itself.
    """
    return _HUMP.sub(" ", _space_out_characters(text))


def remove_separators(name: str) -> str:
    """Remove the separators between the words of a name, so that `loginUser` finds `login_user`."""
    return name.replace("_", "").replace("-", "")


def _space_out_characters(text: str) -> str:
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


def terms_of(text: str) -> list[str]:
    """Return the terms of a text as they are indexed: identifiers split, lower case, stemmed."""
    found: list[str] = PARTS_ANALYZER.analyze(split_identifiers(text))
    return found


def whole_terms_of(text: str) -> list[str]:
    """Return the terms of a text with identifiers kept in one piece, lower case."""
    found: list[str] = WHOLE_ANALYZER.analyze(keep_identifiers(text))
    return found


def restore_underscores(term: str) -> str:
    """Return a whole term as it is written in a text."""
    return term.replace(_JOINER, "_")


def _build_analyzer(*, is_stemmed: bool) -> Any:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(200)).filter(tantivy.Filter.lowercase())
    return (builder.filter(tantivy.Filter.stemmer("english")) if is_stemmed else builder).build()


WHOLE_ANALYZER = _build_analyzer(is_stemmed=False)
PARTS_ANALYZER = _build_analyzer(is_stemmed=True)

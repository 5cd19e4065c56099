"""How text becomes terms, the same for what is indexed and what is asked.

Tantivy's plain tokenizer cuts at everything that is not a letter or digit and runs without the
interpreter's lock; a regular-expression tokenizer there takes three times as long. So the text
is prepared here for the plain one, in two ways: `whole` keeps identifiers in one piece, `parts`
also cuts them where a person would.
"""

import re

_JOINER = "\u02cd"
"""A letter that looks like an underscore and that nobody writes: it keeps `snake_case` whole."""

_CAMEL = re.compile(r"([a-z0-9])([A-Z])")
_ACRONYM = re.compile(r"([A-Z])([A-Z][a-z])")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts written without spaces between words; each character is a term of its own."""


def whole(text: str) -> str:
    """The text with identifiers kept in one piece."""
    return _spaced(text).replace("_", _JOINER)


def parts(text: str) -> str:
    """The text with identifiers cut at changes of case; underscores and digits cut by themselves."""
    return _ACRONYM.sub(r"\1 \2", _CAMEL.sub(r"\1 \2", _spaced(text)))


def _spaced(text: str) -> str:
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)

"""The syntax of names in a language, and the query that finds how they are used. It is loaded only for references."""

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dowse.chunking.grammars import language_settings, load_grammar, read_patterns

if TYPE_CHECKING:
    from tree_sitter import Language, Query

_NO_CODE = re.compile(
    r"(comment|string|string_literal|regex|heredoc_body|sigil|text|charlist|rune_literal)$|^char(acter)?_literal$"
)
_CODE_IN_TEXT = re.compile(r"^((string_)?interpolation|template_substitution|interpolated_(expression|identifier))$")
"""Kinds of nodes that are no code, and of code inside them."""


@dataclass(frozen=True, slots=True)
class ReferenceSyntax:
    """The names of a language, and the query that finds local variables and the areas that say how a name is used."""

    query: "Query"
    name_pattern: re.Pattern[bytes]
    keywords: frozenset[bytes]
    sigils: bytes
    """Characters before the name of a variable."""
    is_explicit: bool
    """Whether a file defines or imports every name that it uses without a receiver."""
    types: tuple[str, ...]
    """Where the type of a variable is written: `before` or `after` its name, `plain` after it, `documented`, or only in its `value`; empty if unread."""


@cache
def load_reference_syntax(language: str) -> ReferenceSyntax | None:
    """Return the reference syntax of a language; None if it has no grammar or no definitions."""
    grammar, (name, settings) = load_grammar(language), language_settings(language)
    if grammar is None or grammar.definitions is None:
        return None
    from tree_sitter import Query  # as in `load_grammar`

    patterns = read_patterns("reference_queries", settings.get("references", [name]))
    return ReferenceSyntax(
        Query(grammar.language, "\n".join([*_patterns_of_texts(grammar.language), patterns])),
        re.compile(settings["name"].encode()),
        _keywords(grammar.language),
        settings["sigils"].encode(),
        settings["explicit"],
        tuple(settings["types"]),
    )


def _patterns_of_texts(language: "Language") -> list[str]:
    """Return patterns for the kinds of nodes that are no code by their names, and for code inside them."""
    visible = [
        number
        for number in range(language.node_kind_count)
        if language.node_kind_is_named(number) and language.node_kind_is_visible(number)
    ]
    kinds = sorted({language.node_kind_for_id(number) or "" for number in visible})
    texts = [f"({kind}) @no_code" for kind in kinds if _NO_CODE.search(kind)]
    return texts + [f"({kind}) @code" for kind in kinds if _CODE_IN_TEXT.search(kind)]


def _keywords(language: "Language") -> frozenset[bytes]:
    """Return the words of a language that are no names."""
    kinds = range(language.node_kind_count)
    words = (language.node_kind_for_id(number) for number in kinds if not language.node_kind_is_named(number))
    return frozenset([b"self", b"this", b"super", *(word.encode() for word in words if word and word.isidentifier())])

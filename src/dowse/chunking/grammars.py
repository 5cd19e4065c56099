"""Grammars of programming languages, and parsing with them."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from dowse.chunking.grammar_libraries import load_language, unpack_libraries

if TYPE_CHECKING:
    from tree_sitter import Language, Query, Tree

MAX_PARSE_BYTES = 512_000
"""Larger files are data or generated and are not parsed; parsing a file of this size takes about 80 ms."""

_NO_CODE = re.compile(
    r"(comment|string|string_literal|regex|heredoc_body|sigil|text|charlist|rune_literal)$|^char(acter)?_literal$"
)
_CODE_IN_TEXT = re.compile(r"^((string_)?interpolation|template_substitution|interpolated_(expression|identifier))$")
"""Kinds of nodes that are no code, and of code inside them."""

_MIN_REPETITIVE_LINES = 300
"""Files with more lines than this are checked for repetition."""

_MAX_UNCLOSED_ANGLES = 1000
"""More unclosed `<` than this are not type parameters; the Java parser needs gigabytes for 30,000 of them."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The grammar of a language, with its settings from `languages.toml`."""

    name: str
    language: "Language"
    definitions: "Query | None"
    references: "Query | None"
    """The query that finds local variables, and the areas that say how a name is used."""
    name_pattern: re.Pattern[bytes]
    keywords: frozenset[bytes]
    sigils: bytes
    """Characters before the name of a variable."""
    is_explicit: bool
    """Whether a file defines or imports every name that it uses without a receiver."""
    depth: int
    """The maximum depth in the tree at which a definition may begin."""
    leads: frozenset[str]
    """Node types that, like comments, belong to the node that follows."""
    rival: str = ""
    """The grammar to try instead when this one finds errors and the text contains `rival_sign`."""
    rival_sign: bytes = b""


@cache
def load_grammar(name: str) -> Grammar | None:
    """Return the grammar of a language, or None if there is none or it cannot be loaded on this machine."""
    table = _language_table()
    name = table["aliases"].get(name, name)
    settings = {**table["default"], **table.get(name, {})}
    language = load_language(name)
    if language is None:
        return None
    # Imported here because it takes 16 ms, and searching never needs it.
    from tree_sitter import Query

    patterns = "\n".join(_read_patterns(query) for query in settings.get("queries", [name]))
    definitions = Query(language, patterns) if patterns else None
    return Grammar(
        name,
        language,
        definitions,
        _reference_query(language, settings.get("references", [name])) if patterns else None,
        re.compile(settings["name"].encode()),
        _keywords(language),
        settings["sigils"].encode(),
        settings["explicit"],
        settings["depth"],
        frozenset(settings["leads"]),
        settings["rival"],
        settings["rival_sign"].encode(),
    )


def _reference_query(language: "Language", queries: Iterable[str]) -> "Query":
    """Return the query that finds the references of a language: its own patterns, and what is no code by its name."""
    from tree_sitter import Query

    numbers = range(language.node_kind_count)
    visible = [
        number for number in numbers if language.node_kind_is_named(number) and language.node_kind_is_visible(number)
    ]
    kinds = sorted({language.node_kind_for_id(number) or "" for number in visible})
    texts = [f"({kind}) @no_code" for kind in kinds if _NO_CODE.search(kind)]
    texts += [f"({kind}) @code" for kind in kinds if _CODE_IN_TEXT.search(kind)]
    return Query(language, "\n".join([*texts, *(_read_patterns(query, "reference_queries") for query in queries)]))


def _keywords(language: "Language") -> frozenset[bytes]:
    """Return the words of a language that are no names."""
    kinds = range(language.node_kind_count)
    words = (language.node_kind_for_id(number) for number in kinds if not language.node_kind_is_named(number))
    return frozenset([b"self", b"this", b"super", *(word.encode() for word in words if word and word.isidentifier())])


def parse(grammar: Grammar, data: bytes) -> "Tree | None":
    """Return the syntax tree, or None if the text looks impossible to parse.

    A text in another language than its name says can take minutes and gigabytes: only a process with limits may
    call this.
    """
    if len(data) > MAX_PARSE_BYTES or _is_unparsable(data):
        return None
    from tree_sitter import Parser

    return Parser(grammar.language).parse(data)


def _is_unparsable(data: bytes) -> bool:
    """Return whether parsing would be useless or far too slow: minified, unclosed or repetitive text."""
    lines = data.count(b"\n") + 1
    if len(data) > 200 * lines + 1000:  # minified: people do not write lines this long
        return True
    if data.count(b"<") - data.count(b">") - 2 * data.count(b"<<") - data.count(b"<=") > _MAX_UNCLOSED_ANGLES:
        return True
    return lines > _MIN_REPETITIVE_LINES and len(set(data.split(b"\n"))) < lines // 20


@cache
def _language_table() -> dict[str, dict[str, Any]]:
    """Return the contents of `languages.toml`."""
    return tomllib.loads((resources.files(__package__) / "languages.toml").read_text(encoding="utf-8"))


def _read_patterns(name: str, folder: str = "queries") -> str:
    """Return the patterns of a language in a folder; empty if there are none."""
    file = resources.files(__package__) / folder / f"{name}.scm"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def unpack_grammars(names: Iterable[str]) -> None:
    """Unpack the grammars that texts in these languages may need, in one pass."""
    table = _language_table()
    known = [table["aliases"].get(name, name) for name in names]
    rivals = [table[name]["rival"] for name in known if table.get(name, {}).get("rival")]
    unpack_libraries([*known, *(table["aliases"].get(name, name) for name in rivals)])

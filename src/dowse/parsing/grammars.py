"""Grammars of programming languages, and parsing with them."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from dowse.parsing.grammar_libraries import load_language, unpack_libraries

if TYPE_CHECKING:
    from tree_sitter import Language, Query, Tree

MAX_PARSE_BYTES = 512_000
"""Most larger files are data or generated and are not parsed; parsing a file of this size takes about 80 ms."""
MAX_WRITTEN_BYTES = 1_048_576
"""A larger file that people wrote, as by the length of its lines, is parsed up to here: some keep all models in one file."""
_WRITTEN_LINE_BYTES = 100
"""Lines that people write are shorter on average."""

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
    name, settings = language_settings(name)
    language = load_language(name)
    if language is None:
        return None
    # Imported here because it takes 16 ms, and searching never needs it.
    from tree_sitter import Query

    patterns = read_patterns("queries", settings.get("queries", [name]))
    return Grammar(
        name,
        language,
        Query(language, patterns) if patterns else None,
        settings["depth"],
        frozenset(settings["leads"]),
        settings["rival"],
        settings["rival_sign"].encode(),
    )


def parse(grammar: Grammar, data: bytes) -> "Tree | None":
    """Return the syntax tree, or None if the text looks impossible to parse.

    A text in another language than its name says can take minutes and gigabytes: only a process with limits may
    call this.
    """
    if is_too_long(data) or _is_unparsable(data):
        return None
    from tree_sitter import Parser

    return Parser(grammar.language).parse(data)


def is_too_long(data: bytes) -> bool:
    """Return whether a text is too long to be parsed."""
    return len(data) > (MAX_WRITTEN_BYTES if is_written(data) else MAX_PARSE_BYTES)


def is_written(data: bytes) -> bool:
    """Return whether people wrote a text, as by the length of its lines."""
    return len(data) < _WRITTEN_LINE_BYTES * (data.count(b"\n") + 1)


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


def language_settings(name: str) -> tuple[str, dict[str, Any]]:
    """Return the name of the grammar of a language, and its settings in `languages.toml`."""
    table = _language_table()
    name = table["aliases"].get(name, name)
    return name, {**table["default"], **table.get(name, {})}


def read_patterns(folder: str, names: Iterable[str]) -> str:
    """Return the patterns in some files of a folder; empty if there are none."""
    files = [resources.files(__package__) / folder / f"{name}.scm" for name in names]
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file.is_file())


def unpack_grammars(names: Iterable[str]) -> None:
    """Unpack the grammars that texts in these languages may need, in one pass."""
    table = _language_table()
    known = [table["aliases"].get(name, name) for name in names]
    rivals = [table[name]["rival"] for name in known if table.get(name, {}).get("rival")]
    unpack_libraries([*known, *(table["aliases"].get(name, name) for name in rivals)])

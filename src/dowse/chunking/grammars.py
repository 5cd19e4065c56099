"""Which languages have a grammar, and parsing that cannot run away."""

import os
import time
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from dowse.platform import make_private_folder, storage_root

if TYPE_CHECKING:
    from tree_sitter import Language, Query, Tree

MAX_BYTES = 512_000
"""Larger files are data or generated; a parse of this size takes about 80 ms."""

PARSE_SECONDS = 1.0
"""Ten times what the largest well-formed file takes; text in another language than its name says can take minutes."""

_READ_BYTES = 1024
"""How much the parser is given at a time; at each turn it can be stopped."""

_REPETITIVE_LINES = 300
"""From so many lines on, a file is looked at for repetition."""

_MAX_UNCLOSED = 1000
"""So many `<` without a `>` are no type parameters: a parser of Java would need gigabytes for 30,000."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language's grammar and what its data file adds."""

    language: "Language"
    definitions: "Query | None"
    depth: int
    """How deep in the tree definitions are looked for."""
    leads: frozenset[str]
    """Node types that belong to what follows, besides comments."""
    rival: str = ""
    """A grammar that may read the text better where this one finds errors, if the text holds the sign."""
    rival_sign: bytes = b""


@cache
def grammar_of(name: str) -> Grammar | None:
    """The grammar of a language; None when there is none or it cannot be loaded here."""
    table = _languages()
    name = table["aliases"].get(name, name)
    settings = {**table["default"], **table.get(name, {})}
    language = _load(name)
    if language is None:
        return None
    # tree_sitter takes 16 ms to import, which searching never needs.
    from tree_sitter import Query

    patterns = "\n".join(_patterns(query) for query in settings.get("queries", [name]))
    definitions = Query(language, patterns) if patterns else None
    return Grammar(
        language,
        definitions,
        settings["depth"],
        frozenset(settings["leads"]),
        settings["rival"],
        settings["rival_sign"].encode(),
    )


def parse(grammar: Grammar, data: bytes) -> "Tree | None":
    """The syntax tree; None when the text would take too long, did, or is not in this language."""
    if len(data) > MAX_BYTES or _is_hopeless(data):
        return None
    from tree_sitter import Parser

    deadline = time.monotonic() + PARSE_SECONDS

    def read(offset: int, _point: object) -> bytes:
        # The parser's own progress callback crashes in tree-sitter 0.26 on Python before 3.14; an
        # early end of the input stops it as well.
        return data[offset : offset + _READ_BYTES] if time.monotonic() < deadline else b""

    tree = Parser(grammar.language).parse(read)
    if time.monotonic() >= deadline:
        return None
    deadline = float("inf")  # the tree reads its text anew whenever a pattern compares names
    return tree


def _is_hopeless(data: bytes) -> bool:
    """Whether parsing is known to be useless or to explode: minified, unclosed or repetitive text."""
    lines = data.count(b"\n") + 1
    if len(data) > 200 * lines + 1000:  # minified: no code is written in lines of this length
        return True
    if data.count(b"<") - data.count(b">") - 2 * data.count(b"<<") - data.count(b"<=") > _MAX_UNCLOSED:
        return True
    return lines > _REPETITIVE_LINES and len(set(data.split(b"\n"))) < lines // 20


@cache
def _languages() -> dict[str, dict[str, Any]]:
    """The data file, read once."""
    return tomllib.loads((resources.files(__package__) / "languages.toml").read_text(encoding="utf-8"))


def _patterns(name: str) -> str:
    """The patterns that find a language's definitions; empty when there are none."""
    file = resources.files(__package__) / "queries" / f"{name}.scm"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _load(name: str) -> "Language | None":
    """The compiled grammar, unpacked below the storage root on first use."""
    try:
        # 60 ms, which searching never needs.
        import semble_grammars as bundle  # type: ignore[import-untyped]
    except ImportError:
        return None
    folder = storage_root() / "grammars" / bundle.__version__
    try:
        if "SEMBLE_GRAMMARS_CACHE_DIR" not in os.environ:
            make_private_folder(folder)  # programs are loaded from there
            os.environ["SEMBLE_GRAMMARS_CACHE_DIR"] = str(folder)
        language: Language = bundle.get_language(name)
    except (bundle.GrammarLoadError, bundle.LanguageNotFoundError, bundle.UnsupportedPlatformError, OSError):
        return None
    return language

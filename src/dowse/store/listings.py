"""Lists of the files and definitions of a catalog, for people who look around; each is one query."""

from collections.abc import Iterator
from typing import NamedTuple

from dowse.store.catalog import Catalog
from dowse.store.catalog_rows import damage_is_told, from_json
from dowse.types import View

MAX_CHUNKS = 3_000
"""Chunks whose definitions are looked at for one part of a name."""


class ListedFile(NamedTuple):
    """A file of an index, as a list shows it."""

    path: str
    language: str
    title: str
    size: int
    mtime_ns: int


class LanguageTotal(NamedTuple):
    """How many files of an index have a language, and their size in bytes."""

    language: str
    files: int
    size: int


class ListedDefinition(NamedTuple):
    """A definition: its name, its kind, and where it is."""

    name: str
    kind: str
    path: str
    line: int


_FILES = "SELECT path, language, title, size, mtime_ns FROM documents WHERE views & ?"


def files_below(catalog: Catalog, view: View, folder: str) -> list[ListedFile]:
    """Return the files below a folder, whose path ends in a slash or is empty, by path."""
    if not folder:
        return [ListedFile(*row) for row in catalog.rows(f"{_FILES} ORDER BY path", (int(view),))]
    values = (int(view), folder, f"{folder[:-1]}0")  # the sign after the slash
    return [ListedFile(*row) for row in catalog.rows(f"{_FILES} AND path >= ? AND path < ? ORDER BY path", values)]


def newest_files(catalog: Catalog, view: View, limit: int) -> list[ListedFile]:
    """Return the files that were changed last."""
    rows = catalog.rows(f"{_FILES} ORDER BY mtime_ns DESC, path LIMIT ?", (int(view), limit))
    return [ListedFile(*row) for row in rows]


def language_totals(catalog: Catalog, view: View) -> list[LanguageTotal]:
    """Return the languages of the files, those with the most bytes first."""
    query = "SELECT language, COUNT(*), SUM(size) FROM documents WHERE views & ? GROUP BY language ORDER BY 3 DESC"
    return [LanguageTotal(*row) for row in catalog.rows(query, (int(view),))]


def definitions_like(catalog: Catalog, view: View, part: str) -> Iterator[ListedDefinition]:
    """Yield the definitions that have the letters of a part of a name in their order; capitals count as small letters."""
    pattern = "%".join(f"\\{letter}" if letter in "%_\\" else letter for letter in part)
    query = (
        "SELECT path, symbols FROM chunks JOIN documents ON documents.id = document_id "
        "WHERE symbols LIKE ? ESCAPE '\\' AND views & ? LIMIT ?"
    )
    for path, symbols in catalog.rows(query, (f"%{pattern}%", int(view), MAX_CHUNKS)):
        with damage_is_told():
            found = [ListedDefinition(name, kind, path, line) for name, kind, line, _ in from_json(symbols)]
        yield from found

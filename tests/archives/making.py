"""Small archives for tests, and the database made of them."""

import json
from collections.abc import Mapping
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase, create_database
from dowse.archives.archive_indexing import update_database
from dowse.archives.archive_locations import ArchiveLocations
from dowse.archives.archive_types import Citation, StoredArchiveDocument
from tests.making import write_tree

Files = Mapping[str, str | bytes]

HOSTILE = (
    "<script>alert('x')</script>", "\"; DROP TABLE documents; --", "' OR 1=1 --", "${jndi:ldap://x}", "\u202eevil\u202c",
    "نص عربي", "日本語のテスト", "👩‍👩‍👧‍👦", "Ω≈ç√∫", "\u200b\u200b", "NULL", "nil", "-1", "1e309", "../../etc/passwd",
    "%00", "%n%s%d", "[[", "]]", "]](x)", "a" * 5000, "\\", "`", "```", "<mark>not ours</mark>", "&lt;mark&gt;",
    "NEAR(a b)", "title : x", "a AND", "OR", "NOT", "*", "^a", "\"", "'", "(", ")", "{", "}", "a\tb\nc", "İstanbul", "ﬀ", "é",
    "Z̡̖̜͖̰̣͉̜a͖̰͙̬͡l̲̫̳͍̩g̡̟̼̱͚̞̬ͅo̗͜.̟", "ｆｕｌｌ", "C:\\con\\con", "-->", "]]>", "#", "::", "@@title@@",
)  # fmt: skip
"""Texts that something breaks on somewhere."""


def places_in(folder: Path) -> ArchiveLocations:
    return ArchiveLocations(folder / "research-archive", folder / "url-content-archive", folder / "data" / "search.db")


def captured(url: str, title: str, text: str, when: str = "2025-05-21T10:00:00Z") -> dict[str, str]:
    """The files of a captured page, without their folder."""
    return {"content.md": text, "metadata.json": json.dumps({"url": url, "title": title, "capturedAt": when})}


def make_archives(folder: Path, research: Files = {}, pages: Mapping[str, Files] = {}) -> ArchiveLocations:  # noqa: B006 - only read
    """Write archives below a folder; pages by the name of their folder."""
    write_tree(folder / "research-archive", research)
    for name, files in pages.items():
        write_tree(folder / "url-content-archive" / name, files)
    return places_in(folder)


def indexed(places: ArchiveLocations) -> ArchiveDatabase:
    """The database of archives, made equal to them."""
    database = create_database(places.database)
    update_database(database, places)
    return database


def archive_of(folder: Path, research: Files = {}, pages: Mapping[str, Files] = {}) -> ArchiveDatabase:  # noqa: B006 - only read
    return indexed(make_archives(folder, research, pages))


def only(database: ArchiveDatabase, title: str) -> StoredArchiveDocument:
    """The document with a title."""
    (found,) = [document for document in database.documents().values() if document.title == title]
    return found


def cites(database: ArchiveDatabase, title: str, *, inferred: bool = False) -> list[str]:
    """What a document cites: titles where it is archived, else addresses."""
    titles = {document.id: document.title for document in database.documents().values()}
    found = database.citations_from(only(database, title).number, inferred=inferred)
    return [titles[one.target_id] if one.target_id else one.target_url for one in found]


def citation_of(database: ArchiveDatabase, title: str, at: int = 0) -> Citation:
    return database.citations_from(only(database, title).number, inferred=True)[at]

"""Small archives for tests, and the database made of them."""

import json
from collections.abc import Mapping
from pathlib import Path

from dowse.archives import archive_update
from dowse.archives.archive_database import ArchiveDatabase, create_database
from dowse.archives.archive_index import open_indexes
from dowse.archives.archive_locations import ArchiveLocations
from dowse.archives.archive_search import search_archives
from dowse.archives.archive_types import ArchiveHit, ArchiveReport, Citation, StoredArchiveDocument
from tests.sample_data import write_tree

Files = Mapping[str, str | bytes]

HOSTILE = (
    "<script>alert('x')</script>", "\"; DROP TABLE documents; --", "' OR 1=1 --", "${jndi:ldap://x}", "\u202eevil\u202c",
    "نص عربي", "日本語のテスト", "👩‍👩‍👧‍👦", "Ω≈ç√∫", "\u200b\u200b", "NULL", "nil", "-1", "1e309", "../../etc/passwd",
    "%00", "%n%s%d", "[[", "]]", "]](x)", "a" * 5000, "\\", "`", "```", "<mark>not ours</mark>", "&lt;mark&gt;",
    "NEAR(a b)", "title : x", "a AND", "OR", "NOT", "*", "^a", "\"", "'", "(", ")", "{", "}", "a\tb\nc", "İstanbul", "ﬀ", "é",
    "Z̡̖̜͖̰̣͉̜a͖̰͙̬͡l̲̫̳͍̩g̡̟̼̱͚̞̬ͅo̗͜.̟", "ｆｕｌｌ", "C:\\con\\con", "-->", "]]>", "#", "::", "@@title@@",
)  # fmt: skip
"""Texts that break careless programs."""


def locations_in(folder: Path) -> ArchiveLocations:
    return ArchiveLocations(folder / "research-archive", folder / "url-content-archive", folder / "data" / "search.db")


def captured_page(url: str, title: str, text: str, when: str = "2025-05-21T10:00:00Z") -> dict[str, str]:
    """Return the files of a captured page, without their folder."""
    return {"content.md": text, "metadata.json": json.dumps({"url": url, "title": title, "capturedAt": when})}


def make_archives(folder: Path, research: Files = {}, pages: Mapping[str, Files] = {}) -> ArchiveLocations:  # noqa: B006 - only read
    """Write archives below a folder. Pages are given by the name of their folder."""
    write_tree(folder / "research-archive", research)
    for name, files in pages.items():
        write_tree(folder / "url-content-archive" / name, files)
    return locations_in(folder)


def index_archives(locations: ArchiveLocations) -> ArchiveDatabase:
    """Index archives and return the database."""
    database = create_database(locations.database)
    update(database, locations)
    return database


def update(database: ArchiveDatabase, locations: ArchiveLocations, *, prunes: bool = False) -> ArchiveReport:
    """Index archives, and bring the database up to date."""
    return archive_update.index_archives(database, locations, prunes=prunes)


def search(locations: ArchiveLocations, query: str, limit: int = 10, *, fuzzy: bool = True) -> list[ArchiveHit]:
    """Search archives as a command does."""
    with open_indexes(locations, with_missing=True) as indexes:
        return search_archives(indexes, query, limit, fuzzy=fuzzy)


def make_database(folder: Path, research: Files = {}, pages: Mapping[str, Files] = {}) -> ArchiveDatabase:  # noqa: B006 - only read
    return index_archives(make_archives(folder, research, pages))


def document_titled(database: ArchiveDatabase, title: str) -> StoredArchiveDocument:
    """Return the document with a title."""
    (found,) = [document for document in database.documents().values() if document.title == title]
    return found


def cited_titles(database: ArchiveDatabase, title: str) -> list[str]:
    """Return what a document cites: the titles of archived documents, else URLs."""
    titles = {document.id: document.title for document in database.documents().values()}
    found = database.citations("source", [(number := document_titled(database, title).number)])[number]
    return [titles[citation.target_id] if citation.target_id else citation.target_url for citation in found]


def citation_at(database: ArchiveDatabase, title: str, at: int = 0) -> Citation:
    return database.citations("source", [(number := document_titled(database, title).number)])[number][at]

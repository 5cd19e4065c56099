"""The update of the database from the indexes of the archives, in one transaction, with the documents that citations lead to."""

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_documents import details_from_json
from dowse.archives.archive_index import ArchiveIndex, has_index, open_indexes
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.archives.archive_types import ArchiveReport, DocumentDetails
from dowse.indexes.freshness.indexer import text_reader
from dowse.indexes.freshness.scan import RECIPE
from dowse.indexes.project_lookup import forget_index
from dowse.reading.languages import is_binary_document
from dowse.reading.link_resolution import Broken, Fault, Internal, OtherFile, resolve_link
from dowse.reading.link_targets import LinkTarget, LinkTargets, Nearest, fold_name
from dowse.sources.open_folders import exists_below
from dowse.types import Progress, StoredDocument

NOT_A_DOCUMENT = "not a document"
"""The fault of a link to a file that exists and is not a document. Such a link is not broken."""

_NEWEST_CITED = """
    SELECT document FROM identities JOIN documents ON documents.number = document
    WHERE identities.key = citations.key ORDER BY date DESC, number LIMIT 1
"""
"""Select the cited document: the newest of several captures of one page."""


def resolve_citations(connection: sqlite3.Connection, roots: Mapping[Archive, Path], only: set[int] | None) -> None:
    """Resolve the citations of the documents `only`, or of all documents, which is needed after names have changed."""
    resolver = _Resolver(connection, roots)
    query = "SELECT source, ordinal, written FROM citations WHERE kind IN ('path', 'wiki')"
    rows = (row for row in connection.execute(query).fetchall() if only is None or row[0] in only)
    connection.executemany(
        "UPDATE citations SET target = ?, fault = ?, is_citation = ? WHERE source = ? AND ordinal = ?",
        [(*resolver.resolve(written, source), source, ordinal) for source, ordinal, written in rows],
    )
    # A new document may be the target of URLs in any other document.
    connection.execute(f"UPDATE citations SET target = ({_NEWEST_CITED}) WHERE key != ''")  # noqa: S608 - a constant
    connection.execute(
        "UPDATE citations SET is_citation = 0, target = NULL WHERE target = source "
        "OR (key != '' AND EXISTS (SELECT 1 FROM identities WHERE identities.key = citations.key AND document = source))"
    )


class _Resolver:
    """Everything that links may lead to, by path below the common parent folder of the archives."""

    def __init__(self, connection: sqlite3.Connection, roots: Mapping[Archive, Path]) -> None:
        self._roots, self._prefixes = roots, _archive_prefixes(roots)
        self._numbers: dict[str, int] = {}
        """The number of the document at each path."""
        pages, aliases = list[LinkTarget](), list[tuple[str, str]]()
        query = "SELECT number, archive, path, title, names FROM documents ORDER BY number"
        for number, archive, path, title, names in connection.execute(query):
            prefix = self._prefixes.get(archive, f"{archive}/")
            other_names = json.loads(names)
            pages.append(LinkTarget(prefix + path, title, tuple(f"{prefix}{name}" for name in other_names if name)))
            self._numbers[prefix + path] = number
            aliases += ((fold_name(name), prefix + path) for name in other_names)
        self._paths = {number: path for path, number in self._numbers.items()}
        self._link_targets, self._aliases = LinkTargets(pages, has_file=self._has_file), Nearest(aliases)

    def resolve(self, url: str, source: int) -> tuple[int | None, str, int]:
        """Return the document that a link to a file or page leads to, its fault, and 1 where it is a citation at all."""
        path = self._paths[source]
        found = resolve_link(url, path, self._link_targets)
        leads_to = found.path if isinstance(found, Internal) else None
        if leads_to is None and url.startswith("[["):
            alias = fold_name(url[2:-2].partition("|")[0].partition("#")[0].strip())
            leads_to = self._aliases.find(alias, path.rpartition("/")[0])
        if leads_to is not None:
            target = self._numbers[leads_to]
            return (target, "", 1) if target != source else (None, "", 0)
        if isinstance(found, OtherFile):
            return None, NOT_A_DOCUMENT, 1
        if not isinstance(found, Broken):
            return None, "", 0
        return None, str(found.fault if found.fault is not Fault.EMPTY else Fault.MISSING), 1

    def _has_file(self, path: str) -> bool:
        """Return whether there is a file in one of the archives; elsewhere none is looked for."""
        prefixed = ((root, self._prefixes[archive]) for archive, root in self._roots.items())
        return any(
            path.startswith(prefix) and exists_below(root, path.removeprefix(prefix)) for root, prefix in prefixed
        )


def _archive_prefixes(roots: Mapping[Archive, Path]) -> dict[str, str]:
    """Return the path prefix of each archive, so that links can lead from one archive into the other."""
    if not roots:
        return {}
    above = os.path.commonpath([root.parent for root in roots.values()])
    return {archive: f"{root.relative_to(above).as_posix()}/" for archive, root in roots.items()}


MAX_PROBLEMS = 20
"""Files that cannot be parsed and are named; the others are counted."""
_RENAMED = 0
"""The number of no document."""
_ID_DIGITS = 16
"""Hexadecimal digits of an id: 64 bits. Two of a million documents share an id in one of 37 million archives."""
_COLUMNS = ("id", "archive", "path", "title", "date", "source", "type", "question", "url", "names", "hash")
_PUT_DOCUMENT = (
    f"INSERT INTO documents ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "  # noqa: S608 - constants
    f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{column} = excluded.{column}' for column in _COLUMNS)}"
)


def document_id(archive: Archive, path: str) -> str:
    """Return the id of the document at a path. It stays the same in every run, and when the whole archive is moved."""
    return f"doc-{hashlib.sha256(f'{archive}/{path}'.encode()).hexdigest()[:_ID_DIGITS]}"


def source_of(archive: Archive, details: DocumentDetails) -> Archive:
    """Return the kind of source that a document of an archive is."""
    return "url-content" if details.is_capture else archive


def index_archives(
    database: ArchiveDatabase,
    locations: ArchiveLocations,
    progress: Progress | None = None,
    *,
    prunes: bool = False,
    on_wait: Callable[[str], None] = lambda _process: None,
) -> ArchiveReport:
    """Bring the indexes of the archives up to date, and then the database; `on_wait` gets the process that is waited for.

    Raise KeyboardInterrupt if it was interrupted; the database is then unchanged.
    """
    started = time.perf_counter()
    if not prunes:
        locations.require_any()
    for root in locations.roots.values() if prunes else ():
        if not root.is_dir() and has_index(root):
            forget_index(root, ArchiveIndex.folder_of(root))
    with open_indexes(locations) as indexes:
        for index in indexes.values():
            if index.is_being_updated():
                on_wait(index.updating_process())
            if not index.update(progress).is_complete:
                raise KeyboardInterrupt
        report = update_database(database, locations, indexes, prunes=prunes)
    report.seconds = time.perf_counter() - started
    return report


def update_database(
    database: ArchiveDatabase,
    locations: ArchiveLocations,
    indexes: Mapping[Archive, ArchiveIndex],
    *,
    prunes: bool = False,
) -> ArchiveReport:
    """Update the database to the indexes of the archives. All changes become visible together, or none.

    The documents of an archive whose folder is missing are kept, unless `prunes`: the folder may be on a disk
    that is not plugged in.
    """
    report = ArchiveReport()
    with database.transaction() as connection:
        changed = set[int]()
        for archive, index in indexes.items():
            changed |= _update_archive(database, connection, archive, index, report)
        for archive in locations.roots.keys() - indexes.keys():
            _keep_or_remove(connection, archive, locations, report, prunes=prunes)
        if changed or report.removed:
            roots = {archive: _last_known_root(database, locations, archive) for archive in locations.roots}
            resolve_citations(connection, roots, None if _RENAMED in changed or report.removed else changed)
        (report.citations,) = connection.execute("SELECT COUNT(*) FROM citations WHERE is_citation").fetchone()
    return report


def is_current(database: ArchiveDatabase, indexes: Mapping[Archive, ArchiveIndex]) -> bool:
    """Return whether the database has the state of the indexes."""
    return all(database.fact(f"state:{archive}") == _state_of(index) for archive, index in indexes.items())


def _state_of(index: ArchiveIndex) -> str:
    catalog = index.whole.catalog
    return f"{catalog.id} {catalog.sequence()} {index.given_root}"


def _update_archive(
    database: ArchiveDatabase,
    connection: sqlite3.Connection,
    archive: Archive,
    index: ArchiveIndex,
    report: ArchiveReport,
) -> set[int]:
    """Bring the documents of one archive up to date, within a transaction.

    Return the numbers of those that were written, with `_RENAMED` if links to one may resolve differently.
    """
    facts = {"state": _state_of(index), "recipe": RECIPE, "folder": index.given_root.as_posix()}
    is_same_recipe = database.fact(f"recipe:{archive}") == RECIPE
    read_text = text_reader(index.kept_source)
    query, changed = "SELECT path, hash, title, names FROM documents WHERE archive = ?", set[int]()
    known = {path: row for path, *row in database.rows(query, (archive,))}
    for document in index.store.documents():
        digest, *names = known.pop(document.path, (None,))
        if is_same_recipe and digest == document.content_hash:
            report.unchanged += 1
            continue
        text = index.store.converted_text(document.id)
        text = read_text(document) if text is None else text
        number, *new_names = _put_document(connection, archive, index, document, text)
        changed |= {number} if new_names == names else {number, _RENAMED}
        report.added += digest is None
        report.updated += digest is not None
    for path in known:
        connection.execute("DELETE FROM documents WHERE archive = ? AND path = ?", (archive, path))
    report.removed += len(known)
    skipped: dict[str, int] = json.loads(index.whole.fact("skipped") or "{}")
    for reason, count in skipped.items():
        report.skipped[reason] = report.skipped.get(reason, 0) + count
    report.warnings += _describe_problems(index.store.totals("docs").unparsed)
    for name, value in facts.items():
        connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (f"{name}:{archive}", value))
    return changed


def _put_document(
    connection: sqlite3.Connection, archive: Archive, index: ArchiveIndex, stored: StoredDocument, text: str | None
) -> tuple[int, str, str]:
    """Add or replace a document; return its number and the names that links may use for it.

    One whose text has just changed, so that there is none, is read again by the next run.
    """
    details = details_from_json(index.store.catalog.details(stored.id), stored.path)
    names = json.dumps(details.names)
    digest, id_ = b"" if text is None else stored.content_hash, document_id(archive, stored.path)
    values = (
        id_, archive, stored.path, stored.title, details.date, source_of(archive, details), details.type,
        details.question, details.url, names, digest,
    )  # fmt: skip
    connection.execute(_PUT_DOCUMENT, values)
    (number,) = connection.execute("SELECT number FROM documents WHERE id = ?", (id_,)).fetchone()
    connection.execute("DELETE FROM identities WHERE document = ?", (number,))
    connection.execute("DELETE FROM citations WHERE source = ?", (number,))
    connection.execute("INSERT OR REPLACE INTO content VALUES (?, ?, ?)", (number, text or "", details.body_start))
    connection.executemany("INSERT OR IGNORE INTO identities VALUES (?, ?)", [(key, number) for key in details.keys])
    connection.executemany(
        "INSERT INTO citations (source, ordinal, url, written, key, kind, context, line) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (number, ordinal, one.url, "" if one.key else one.url, one.key, one.kind, one.context, one.line)
            for ordinal, one in enumerate(details.citations)
        ],
    )
    return number, stored.title, names


def _describe_problems(problems: Mapping[str, str]) -> Iterator[str]:
    for path, problem in islice(problems.items(), MAX_PROBLEMS):
        is_kept = not is_binary_document(path)
        yield f"{path} {problem}; it is {'kept as plain text' if is_kept else 'kept without its text'}."
    if len(problems) > MAX_PROBLEMS:
        yield f"{len(problems) - MAX_PROBLEMS:,} more files cannot be parsed."


def _keep_or_remove(
    connection: sqlite3.Connection,
    archive: Archive,
    locations: ArchiveLocations,
    report: ArchiveReport,
    *,
    prunes: bool,
) -> None:
    """Keep or remove the documents of an archive whose folder is missing."""
    (count,) = connection.execute("SELECT COUNT(*) FROM documents WHERE archive = ?", (archive,)).fetchone()
    if count and prunes:
        connection.execute("DELETE FROM documents WHERE archive = ?", (archive,))
        report.removed += count
    elif count:
        root = locations.roots[archive]
        report.warnings.append(f"{root} does not exist; its {count:,} documents are kept. --prune removes them.")
    elif archive in (missing := locations.missing()):
        report.warnings.append(missing[archive])


def _last_known_root(database: ArchiveDatabase, locations: ArchiveLocations, archive: Archive) -> Path:
    """Return the folder of an archive, or its last known folder where it is missing."""
    recorded = database.fact(f"folder:{archive}")
    return locations.roots[archive] if locations.roots[archive].is_dir() or recorded is None else Path(recorded)

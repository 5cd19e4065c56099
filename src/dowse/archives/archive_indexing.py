"""One indexing run: updates the database to the files of the archives, in one transaction."""

import time
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.archives.archive_types import ArchiveReport
from dowse.archives.archive_writer import ArchiveWriter
from dowse.archives.citation_resolution import resolve_citations
from dowse.archives.ingest import RECIPE, ArchiveIngest
from dowse.errors import UsageError
from dowse.parsing.parser_pool import shared_pool
from dowse.reading.languages import BINARY_DOCUMENTS
from dowse.types import FolderCallback, Progress

MAX_PROBLEMS = 20
"""Files that cannot be parsed and are named; the others are counted."""


def update_database(
    database: ArchiveDatabase,
    locations: ArchiveLocations,
    progress: Progress | None = None,
    *,
    prunes: bool = False,
    on_folder: Mapping[Archive, FolderCallback] | None = None,
) -> ArchiveReport:
    """Update the database to the files of the archives. All changes become visible together, or none where the run fails.

    The documents of an archive whose folder is missing are kept, unless `prunes`: the folder may be on a disk
    that is not plugged in.
    """
    started, report = time.perf_counter(), ArchiveReport()
    if not locations.present and not prunes:
        raise UsageError(
            f"There is no archive: neither {locations.research} nor {locations.url_content} is a folder. "
            "Name one: dowse archive index DIR, or set RESEARCH_ARCHIVE_PATH or URL_CONTENT_ARCHIVE_PATH."
        )
    with database.transaction() as connection:
        writer = ArchiveWriter(connection)
        ingests = [
            ArchiveIngest(database, writer, report, archive, root) for archive, root in locations.present.items()
        ]
        for ingest in ingests:
            ingest.scan((on_folder or {}).get(ingest.archive))
        _ingest_all(ingests, progress or (lambda *_: None))
        _remove_missing_documents(database, ingests, locations, writer, report, prunes=prunes)
        _record_facts(database, writer, locations)
        if report.changed_anything or writer.has_changed_names:
            roots = {archive: _last_known_root(database, locations, archive) for archive in locations.roots}
            resolve_citations(connection, roots, None if writer.has_changed_names else writer.changed)
            writer.finish()
        writer.merge_segments()
        (report.citations,) = connection.execute("SELECT COUNT(*) FROM citations WHERE is_citation").fetchone()
    report.warnings += _describe_problems(report.problems)
    report.seconds = time.perf_counter() - started
    return report


def _describe_problems(problems: Mapping[str, str]) -> Iterator[str]:
    for path, problem in islice(problems.items(), MAX_PROBLEMS):
        is_kept = not path.lower().endswith((*BINARY_DOCUMENTS, ".bib"))
        yield f"{path} {problem}; it is {'kept as plain text' if is_kept else 'kept without its text'}."
    if len(problems) > MAX_PROBLEMS:
        yield f"{len(problems) - MAX_PROBLEMS:,} more files cannot be parsed."


def _ingest_all(ingests: list[ArchiveIngest], progress: Progress) -> None:
    total, done = sum(len(ingest.groups) for ingest in ingests), 0
    if changed := sum(ingest.count_changed() for ingest in ingests):
        shared_pool().expect(changed)
    for ingest in ingests:
        for _ in ingest.update_all():
            done += 1
            progress(done, total)
        ingest.remove_missing_files()


def _remove_missing_documents(
    database: ArchiveDatabase,
    ingests: list[ArchiveIngest],
    locations: ArchiveLocations,
    writer: ArchiveWriter,
    report: ArchiveReport,
    *,
    prunes: bool,
) -> None:
    """Remove the documents whose files no longer exist, or may no longer be read."""
    ingest_by_archive, missing = {ingest.archive: ingest for ingest in ingests}, locations.missing()
    for archive, root in locations.roots.items():
        rows = database.rows(
            "SELECT number, path, EXISTS (SELECT 1 FROM files WHERE document = number AND files.path = documents.path) "
            "FROM documents WHERE archive = ?",
            (archive,),
        )
        if archive in ingest_by_archive:
            existing = {group.path for group in ingest_by_archive[archive].groups}
            removed = [number for number, path, has_file in rows if path not in existing or not has_file]
        else:
            removed = [number for number, *_ in rows] if prunes else []
            if rows and not prunes:
                report.warnings.append(
                    f"{root} does not exist; its {len(rows):,} documents are kept. --prune removes them."
                )
            elif archive in missing:
                report.warnings.append(missing[archive])
        for number in removed:
            writer.remove(number)
        report.removed += len(removed)


def _record_facts(database: ArchiveDatabase, writer: ArchiveWriter, locations: ArchiveLocations) -> None:
    writer.set_fact("recipe", RECIPE)
    for archive, root in locations.present.items():
        if database.fact(f"folder:{archive}") != root.as_posix():
            writer.set_fact(f"folder:{archive}", root.as_posix())


def _last_known_root(database: ArchiveDatabase, locations: ArchiveLocations, archive: Archive) -> Path:
    """Return the folder of an archive, or its last known folder where it is missing."""
    recorded = database.fact(f"folder:{archive}")
    return locations.roots[archive] if locations.roots[archive].is_dir() or recorded is None else Path(recorded)

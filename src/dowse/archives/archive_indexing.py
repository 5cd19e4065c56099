"""One run: the database becomes equal to the files of the archives, in one transaction."""

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.archives.archive_types import ArchiveReport, CitationKind
from dowse.archives.archive_writer import ArchiveWriter
from dowse.archives.citation_resolution import resolve_citations
from dowse.archives.ingest import RECIPE, ArchiveIngest
from dowse.errors import UsageError
from dowse.types import Entered, Progress


def update(
    database: ArchiveDatabase,
    places: ArchiveLocations,
    progress: Progress | None = None,
    *,
    prunes: bool = False,
    quotes: bool | None = None,
    entered: Mapping[Archive, Entered] | None = None,
) -> ArchiveReport:
    """Make the database equal to the files. All of it becomes visible together, or nothing where the run fails.

    The documents of an archive whose folder is not there are kept, unless `prunes`: the disk may be
    one that is not plugged in. `quotes` looks for quotations from now on, or no more; None goes on as before.
    """
    started, report = time.perf_counter(), ArchiveReport()
    if not places.present and not prunes:
        raise UsageError(
            f"There is no archive: neither {places.research} nor {places.url_content} is a folder. "
            "Name one: dowse archive index DIR, or set RESEARCH_ARCHIVE_PATH or URL_CONTENT_ARCHIVE_PATH."
        )
    with database.transaction() as connection:
        writer = ArchiveWriter(connection)
        intakes = [ArchiveIngest(database, writer, report, archive, root) for archive, root in places.present.items()]
        for intake in intakes:
            intake.look((entered or {}).get(intake.archive))
        _take_in(intakes, progress or (lambda *_: None))
        _remove_what_is_gone(database, intakes, places, writer, report, prunes=prunes)
        _note(database, writer, places)
        if report.changed_anything or writer.has_renamed:
            roots = {archive: _last_root(database, places, archive) for archive in places.roots}
            others = [other for intake in intakes for other in intake.others]
            resolve_citations(connection, roots, others, None if writer.has_renamed else writer.changed)
            writer.finish()
        _look_for_quotations(database, connection, writer, quotes, is_changed=report.changed_anything)
        (report.citations,) = connection.execute("SELECT COUNT(*) FROM citations WHERE is_citation").fetchone()
    report.seconds = time.perf_counter() - started
    return report


def _take_in(intakes: list[ArchiveIngest], progress: Progress) -> None:
    total, done = sum(len(intake.units) for intake in intakes), 0
    for intake in intakes:
        for unit in intake.units:
            intake.take_in(unit)
            done += 1
            progress(done, total)
        intake.forget_files()


def _remove_what_is_gone(
    database: ArchiveDatabase,
    intakes: list[ArchiveIngest],
    places: ArchiveLocations,
    writer: ArchiveWriter,
    report: ArchiveReport,
    *,
    prunes: bool,
) -> None:
    """Take out documents whose files are not there any more, or may not be read now."""
    looked_at = {intake.archive: intake for intake in intakes}
    for archive, root in places.roots.items():
        rows = database.rows(
            "SELECT number, path, EXISTS (SELECT 1 FROM files WHERE document = number AND files.path = documents.path) "
            "FROM documents WHERE archive = ?",
            (archive,),
        )
        if archive in looked_at:
            there = {unit.path for unit in looked_at[archive].units}
            gone = [number for number, path, has_file in rows if path not in there or not has_file]
        else:
            gone = [number for number, *_ in rows] if prunes else []
            if rows and not prunes:
                report.warnings.append(
                    f"{root} is not there; its {len(rows):,} documents are kept as they were. --prune removes them."
                )
        for number in gone:
            writer.remove(number)
        report.removed += len(gone)


def _look_for_quotations(
    database: ArchiveDatabase,
    connection: sqlite3.Connection,
    writer: ArchiveWriter,
    quotes: bool | None,
    *,
    is_changed: bool,
) -> None:
    was_on = database.fact("quotes") == "yes"
    is_on = was_on if quotes is None else quotes
    if is_on and (is_changed or not was_on):
        from dowse.archives.quotations import find_quotations  # asked for by few

        find_quotations(connection)
        writer.note("quotes", "yes")
    elif was_on and not is_on:
        connection.execute("DELETE FROM citations WHERE kind = ?", (CitationKind.QUOTE,))
        writer.note("quotes", "no")


def _note(database: ArchiveDatabase, writer: ArchiveWriter, places: ArchiveLocations) -> None:
    writer.note("recipe", RECIPE)
    for archive, root in places.present.items():
        if database.fact(f"folder:{archive}") != root.as_posix():
            writer.note(f"folder:{archive}", root.as_posix())


def _last_root(database: ArchiveDatabase, places: ArchiveLocations, archive: Archive) -> Path:
    """Where an archive is, or was when it was last seen."""
    noted = database.fact(f"folder:{archive}")
    return places.roots[archive] if places.roots[archive].is_dir() or noted is None else Path(noted)

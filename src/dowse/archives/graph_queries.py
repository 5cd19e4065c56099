"""Queries about the whole graph: most cited documents and broken links."""

from dowse.archives.archive_database import ArchiveDatabase, citation_from_row
from dowse.archives.archive_types import Citation, StoredArchiveDocument
from dowse.archives.citation_resolution import NOT_A_DOCUMENT
from dowse.sqlite_database import SqlRow


def most_cited(database: ArchiveDatabase, limit: int) -> list[tuple[StoredArchiveDocument, int, int]]:
    """Return the documents that most others cite, each with the number of these, and of their citations."""
    rows = database.rows(
        "SELECT target, COUNT(DISTINCT source), COUNT(*) FROM citations WHERE is_citation AND target IS NOT NULL"
        " GROUP BY target ORDER BY 2 DESC, 3 DESC, target LIMIT ?",
        (limit,),
    )
    documents = database.documents(row[0] for row in rows)
    return [(documents[target], sources, citations) for target, sources, citations in rows]


def most_cited_unarchived(database: ArchiveDatabase, limit: int) -> list[SqlRow]:
    """Return the addresses that most documents cite and that are not archived yet, with the same numbers."""
    return database.rows(
        "SELECT MIN(url), COUNT(DISTINCT source), COUNT(*) FROM citations "
        "WHERE is_citation AND target IS NULL AND key != '' GROUP BY key ORDER BY 2 DESC, 3 DESC, 1 LIMIT ?",
        (limit,),
    )


def broken_links(database: ArchiveDatabase, limit: int) -> tuple[list[Citation], int]:
    """Return the links to missing files and pages of the archives, by document, and their total number."""
    where = "FROM citations WHERE is_citation AND fault != '' AND fault != ?"
    ((total,),) = database.rows(f"SELECT COUNT(*) {where}", (NOT_A_DOCUMENT,))
    rows = database.rows(
        f"SELECT source, target, url, context, confidence, kind, line, fault {where} ORDER BY source, ordinal LIMIT ?",
        (NOT_A_DOCUMENT, limit),
    )
    ids = database.ids(row[0] for row in rows)
    return [citation_from_row(row, ids) for row in rows], total

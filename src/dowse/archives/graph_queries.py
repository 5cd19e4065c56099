"""Queries about the whole graph: most cited documents and broken links."""

from dataclasses import dataclass

from dowse.archives.archive_database import EXPLICIT_ONLY, ArchiveDatabase, citation_from_row
from dowse.archives.archive_types import Citation, StoredArchiveDocument
from dowse.archives.citation_resolution import NOT_A_DOCUMENT


@dataclass(frozen=True, slots=True)
class MostCited:
    """A document with the number of documents that cite it, and of their citations."""

    document: StoredArchiveDocument
    documents: int
    citations: int


@dataclass(frozen=True, slots=True)
class UnarchivedPage:
    """A page that is cited but not archived."""

    url: str
    documents: int
    citations: int


def most_cited(database: ArchiveDatabase, limit: int, *, inferred: bool = False) -> list[MostCited]:
    """Return the documents that most others cite."""
    rows = database.rows(
        "SELECT target, COUNT(DISTINCT source), COUNT(*) FROM citations WHERE is_citation AND target IS NOT NULL"  # noqa: S608 - constants
        f"{'' if inferred else EXPLICIT_ONLY} GROUP BY target ORDER BY 2 DESC, 3 DESC, target LIMIT ?",
        (limit,),
    )
    documents = database.documents(row[0] for row in rows)
    return [MostCited(documents[target], sources, citations) for target, sources, citations in rows]


def most_cited_unarchived(database: ArchiveDatabase, limit: int) -> list[UnarchivedPage]:
    """Return the pages that most documents cite and that are not archived yet."""
    rows = database.rows(
        "SELECT MIN(url), COUNT(DISTINCT source), COUNT(*) FROM citations "  # noqa: S608 - constants
        f"WHERE is_citation AND target IS NULL AND key != ''{EXPLICIT_ONLY} GROUP BY key ORDER BY 2 DESC, 3 DESC, 1 LIMIT ?",
        (limit,),
    )
    return [UnarchivedPage(*row) for row in rows]


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

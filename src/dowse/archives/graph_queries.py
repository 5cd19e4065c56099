"""Queries about the whole graph: most cited documents, orphans, broken links and duplicates."""

from dataclasses import dataclass

from dowse.archives.archive_database import EXPLICIT_ONLY, ArchiveDatabase, citation_from_row
from dowse.archives.archive_types import Citation, StoredArchiveDocument
from dowse.archives.citation_resolution import NOT_A_DOCUMENT
from dowse.archives.url_identities import url_identity


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


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Documents that are the same page: captured several times, or archived under several URLs."""

    documents: tuple[StoredArchiveDocument, ...]
    why: str


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


def orphans(
    database: ArchiveDatabase, limit: int, *, inferred: bool = False
) -> tuple[list[StoredArchiveDocument], int]:
    """Return the documents without citations to or from other documents, by path, and their total number."""
    explicit = "" if inferred else EXPLICIT_ONLY
    where = (
        "FROM documents WHERE NOT EXISTS (SELECT 1 FROM citations WHERE citations.target = number AND is_citation"  # noqa: S608 - constants
        f"{explicit}) AND NOT EXISTS (SELECT 1 FROM citations WHERE citations.source = number "
        f"AND citations.target IS NOT NULL AND is_citation{explicit})"
    )
    ((total,),) = database.rows(f"SELECT COUNT(*) {where}")
    numbers = [row[0] for row in database.rows(f"SELECT number {where} ORDER BY archive, path LIMIT ?", (limit,))]
    documents = database.documents(numbers)
    return [documents[number] for number in numbers], total


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


def duplicates(database: ArchiveDatabase, limit: int) -> tuple[list[Duplicates], int]:
    """Return the pages that are archived more than once, and their number: by URL, by content, and by URL on a mirror."""
    groups = dict[frozenset[int], str]()
    for numbers in _group_by_first_column(database, "SELECT key, document FROM identities ORDER BY key, document"):
        groups.setdefault(numbers, "captured several times")
    for numbers in _group_by_first_column(
        database,
        "SELECT text, document FROM content WHERE LENGTH(text) > 200 AND document IN (SELECT number FROM documents WHERE url != '')",
    ):
        groups.setdefault(numbers, "the same content under several URLs")
    documents = database.documents()
    by_mirror = dict[str, set[int]]()
    for number, document in documents.items():
        if document.url and (key := _strip_mirror(url_identity(document.url))):
            by_mirror.setdefault(key, set()).add(number)
    for members in by_mirror.values():
        if len(members) > 1:
            groups.setdefault(frozenset(members), "the same page on a mirror of its site")
    found = [
        Duplicates(tuple(sorted((documents[number] for number in numbers), key=lambda document: document.path)), why)
        for numbers, why in groups.items()
    ]
    found.sort(key=lambda group: (-len(group.documents), group.documents[0].path))
    return found[:limit], len(found)


def _group_by_first_column(database: ArchiveDatabase, query: str) -> list[frozenset[int]]:
    """Return the sets of documents that share the first column of a query."""
    members = dict[object, set[int]]()
    for shared, number in database.rows(query):
        members.setdefault(hash(shared), set()).add(number)
    return [frozenset(numbers) for numbers in members.values() if len(numbers) > 1]


def _strip_mirror(key: str) -> str:
    """Return an identity without the parts in which mirrors of a site differ: `www.`, `m.`, `amp.`, `/amp`, `/index.html`."""
    if not key.startswith("url:"):
        return key
    host, _, path = key.removeprefix("url:").partition("/")
    for prefix in ("www.", "m.", "mobile.", "amp."):
        host = host.removeprefix(prefix)
    for suffix in ("index.html", "index.htm", "index.php", "amp"):
        path = path.removesuffix(suffix).rstrip("/")
    return f"{host}/{path}"

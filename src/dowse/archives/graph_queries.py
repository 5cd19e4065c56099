"""Questions about the whole graph: what is cited most, by nothing, leads nowhere, or is kept twice."""

from dataclasses import dataclass

from dowse.archives.archive_database import EXPLICIT, ArchiveDatabase, citation
from dowse.archives.archive_types import Citation, StoredArchiveDocument
from dowse.archives.citation_resolution import NO_DOCUMENT
from dowse.archives.url_identities import identity


@dataclass(frozen=True, slots=True)
class MostCited:
    """A document, how many others cite it, and how often."""

    document: StoredArchiveDocument
    documents: int
    citations: int


@dataclass(frozen=True, slots=True)
class UnarchivedPage:
    """A page that is cited and not archived."""

    url: str
    documents: int
    citations: int


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Documents that are one page: captured several times, or found under several addresses."""

    documents: tuple[StoredArchiveDocument, ...]
    why: str


def most_cited(database: ArchiveDatabase, limit: int, *, inferred: bool = False) -> list[MostCited]:
    """The documents that most others cite."""
    rows = database.rows(
        "SELECT target, COUNT(DISTINCT source), COUNT(*) FROM citations WHERE is_citation AND target IS NOT NULL"  # noqa: S608 - constants
        f"{'' if inferred else EXPLICIT} GROUP BY target ORDER BY 2 DESC, 3 DESC, target LIMIT ?",
        (limit,),
    )
    documents = database.documents(row[0] for row in rows)
    return [MostCited(documents[target], sources, citations) for target, sources, citations in rows]


def most_cited_outside(database: ArchiveDatabase, limit: int) -> list[UnarchivedPage]:
    """The pages that most documents cite and that are not archived: what is worth a capture."""
    rows = database.rows(
        "SELECT MIN(url), COUNT(DISTINCT source), COUNT(*) FROM citations "  # noqa: S608 - constants
        f"WHERE is_citation AND target IS NULL AND key != ''{EXPLICIT} GROUP BY key ORDER BY 2 DESC, 3 DESC, 1 LIMIT ?",
        (limit,),
    )
    return [UnarchivedPage(*row) for row in rows]


def orphans(
    database: ArchiveDatabase, limit: int, *, inferred: bool = False
) -> tuple[list[StoredArchiveDocument], int]:
    """Documents that no citation leads to or from within the archives, by path, and how many there are in all."""
    explicit = "" if inferred else EXPLICIT
    where = (
        "FROM documents WHERE NOT EXISTS (SELECT 1 FROM citations WHERE citations.target = number AND is_citation"  # noqa: S608 - constants
        f"{explicit}) AND NOT EXISTS (SELECT 1 FROM citations WHERE citations.source = number "
        f"AND citations.target IS NOT NULL AND is_citation{explicit})"
    )
    ((total,),) = database.rows(f"SELECT COUNT(*) {where}")
    numbers = [row[0] for row in database.rows(f"SELECT number {where} ORDER BY archive, path LIMIT ?", (limit,))]
    documents = database.documents(numbers)
    return [documents[number] for number in numbers], total


def broken(database: ArchiveDatabase, limit: int) -> tuple[list[Citation], int]:
    """Links to files and pages of the archives that are not there, by document, and how many there are in all."""
    where = "FROM citations WHERE is_citation AND fault != '' AND fault != ?"
    ((total,),) = database.rows(f"SELECT COUNT(*) {where}", (NO_DOCUMENT,))
    rows = database.rows(
        f"SELECT source, target, url, context, confidence, kind, line, fault {where} ORDER BY source, ordinal LIMIT ?",
        (NO_DOCUMENT, limit),
    )
    ids = database.ids(row[0] for row in rows)
    return [citation(row, ids) for row in rows], total


def duplicates(database: ArchiveDatabase, limit: int) -> tuple[list[Duplicates], int]:
    """Pages that are kept more than once: by address, by content, and by the address of their mirror."""
    groups = dict[frozenset[int], str]()
    for numbers in _groups(database, "SELECT key, document FROM identities ORDER BY key, document"):
        groups.setdefault(numbers, "captured several times")
    for numbers in _groups(
        database,
        "SELECT text, document FROM content WHERE LENGTH(text) > 200 AND document IN (SELECT number FROM documents WHERE url != '')",
    ):
        groups.setdefault(numbers, "the same content under several addresses")
    documents = database.documents()
    by_mirror = dict[str, set[int]]()
    for number, document in documents.items():
        if document.url and (key := _without_mirror(identity(document.url))):
            by_mirror.setdefault(key, set()).add(number)
    for members in by_mirror.values():
        if len(members) > 1:
            groups.setdefault(frozenset(members), "the same page on a mirror of its site")
    found = [
        Duplicates(tuple(sorted((documents[number] for number in numbers), key=lambda one: one.path)), why)
        for numbers, why in groups.items()
    ]
    found.sort(key=lambda one: (-len(one.documents), one.documents[0].path))
    return found[:limit], len(found)


def _groups(database: ArchiveDatabase, query: str) -> list[frozenset[int]]:
    """The documents that share the first column of a query."""
    members = dict[object, set[int]]()
    for shared, number in database.rows(query):
        members.setdefault(hash(shared), set()).add(number)
    return [frozenset(numbers) for numbers in members.values() if len(numbers) > 1]


def _without_mirror(key: str) -> str:
    """An identity without what tells a site's mirrors apart: `www.`, `m.`, `amp.`, `/amp`, `/index.html`."""
    if not key.startswith("url:"):
        return key
    host, _, path = key.removeprefix("url:").partition("/")
    for prefix in ("www.", "m.", "mobile.", "amp."):
        host = host.removeprefix(prefix)
    for suffix in ("index.html", "index.htm", "index.php", "amp"):
        path = path.removesuffix(suffix).rstrip("/")
    return f"{host}/{path}"

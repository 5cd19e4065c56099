"""Resolution of citations to documents: by identity, and by path or page name."""

import json
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from dowse.archives.archive_locations import Archive
from dowse.archives.archive_types import CitationKind
from dowse.reading.link_resolution import Broken, Fault, Internal, OtherFile, resolve_link
from dowse.reading.link_targets import LinkTarget, LinkTargets, fold_name
from dowse.sources.open_folders import exists_below

NOT_A_DOCUMENT = "not a document"
"""The fault of a link to a file that exists and is not a document. Such a link is not broken."""

_NEWEST_CITED = """
    SELECT document FROM identities JOIN documents ON documents.number = document
    WHERE identities.key = citations.key ORDER BY date DESC, number LIMIT 1
"""
"""Select the cited document: the newest of several captures of one page."""


@dataclass(slots=True)
class Resolver:
    """Everything that links may lead to, by path below the common parent folder of the archives."""

    link_targets: LinkTargets
    numbers: dict[str, int]
    """The number of the document at each path."""
    paths: dict[int, str]
    aliases: dict[str, list[str]]


def resolve_citations(
    connection: sqlite3.Connection,
    roots: Mapping[Archive, Path],
    only: set[int] | None,
) -> None:
    """Resolve the citations of the documents `only`, or of all documents, which is needed after names have changed."""
    resolver = _build_resolver(connection, roots)
    rows = connection.execute(
        "SELECT source, ordinal, written FROM citations WHERE kind IN (?, ?)", (CitationKind.PATH, CitationKind.WIKI)
    ).fetchall()
    connection.executemany(
        "UPDATE citations SET target = ?, fault = ?, is_citation = ? WHERE source = ? AND ordinal = ?",
        [
            (*_resolve_path(written, source, resolver), source, ordinal)
            for source, ordinal, written in rows
            if only is None or source in only
        ],
    )
    # A new document may be the target of URLs in any other document.
    connection.execute(f"UPDATE citations SET target = ({_NEWEST_CITED}) WHERE key != ''")  # noqa: S608 - a constant
    connection.execute(
        "UPDATE citations SET is_citation = 0, target = NULL WHERE target = source "
        "OR (key != '' AND EXISTS (SELECT 1 FROM identities WHERE identities.key = citations.key AND document = source))"
    )


def _resolve_path(url: str, source: int, resolver: Resolver) -> tuple[int | None, str, int]:
    """Return the document that a link to a file or page leads to, its fault, and 1 where it is a citation at all."""
    path = resolver.paths[source]
    found = resolve_link(url, path, resolver.link_targets)
    if isinstance(found, Internal):
        target = resolver.numbers[found.path]
        return (target, "", 1) if target != source else (None, "", 0)
    if url.startswith("[[") and (named := resolver.aliases.get(_wiki_link_name(url))):
        target = resolver.numbers[_nearest_path(named, path)]
        return (target, "", 1) if target != source else (None, "", 0)
    if isinstance(found, OtherFile):
        return None, NOT_A_DOCUMENT, 1
    if not isinstance(found, Broken):
        return None, "", 0
    return None, str(found.fault if found.fault is not Fault.EMPTY else Fault.MISSING), 1


def _build_resolver(connection: sqlite3.Connection, roots: Mapping[Archive, Path]) -> Resolver:
    prefixes = _archive_prefixes(roots)
    pages, numbers = list[LinkTarget](), dict[str, int]()
    aliases = dict[str, list[str]]()
    for number, archive, path, title, names in connection.execute(
        "SELECT number, archive, path, title, names FROM documents ORDER BY number"
    ):
        prefix = prefixes.get(archive, f"{archive}/")
        other_names = json.loads(names)
        pages.append(LinkTarget(prefix + path, title, tuple(f"{prefix}{name}" for name in other_names if name)))
        numbers[prefix + path] = number
        for name in other_names:
            aliases.setdefault(fold_name(name), []).append(prefix + path)
    paths = {number: path for path, number in numbers.items()}

    def has_file(path: str) -> bool:
        """Return whether there is a file in one of the archives; elsewhere none is looked for."""
        below = (
            (root, path.removeprefix(prefixes[archive]))
            for archive, root in roots.items()
            if path.startswith(prefixes[archive])
        )
        return any(exists_below(root, rest) for root, rest in below)

    return Resolver(LinkTargets(pages, has_file=has_file), numbers, paths, aliases)


def _archive_prefixes(roots: Mapping[Archive, Path]) -> dict[str, str]:
    """Return the path prefix of each archive, so that links can lead from one archive into the other."""
    if not roots:
        return {}
    above = os.path.commonpath([root.parent for root in roots.values()])
    return {archive: f"{root.relative_to(above).as_posix()}/" for archive, root in roots.items()}


def _wiki_link_name(url: str) -> str:
    return fold_name(url[2:-2].partition("|")[0].partition("#")[0].strip())


def _nearest_path(paths: list[str], source: str) -> str:
    """Return the path that shares most folders with the path of the source."""

    def shared(path: str) -> int:
        return sum(1 for _ in takewhile(_are_same, zip(path.split("/"), source.split("/"), strict=False)))

    return max(paths, key=lambda path: (shared(path), -len(path)))


def _are_same(parts: tuple[str, str]) -> bool:
    return parts[0] == parts[1]

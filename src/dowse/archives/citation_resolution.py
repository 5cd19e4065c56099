"""Which document each citation leads to: by identity, by path or page name, by the key of a bibliography."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from dowse.archives.archive_locations import Archive
from dowse.archives.archive_types import CitationKind
from dowse.reading.link_resolution import Broken, Fault, Internal, resolve
from dowse.reading.link_targets import LinkTarget, LinkTargets, fold
from dowse.reading.nearest_match import folders_above

TITLE_CONFIDENCE = 0.9
"""An entry of a bibliography without an address that has the title of a document."""

NO_DOCUMENT = "not a document"
"""The fault of a link to a file that is there and is no document, which is not broken."""

_NEWEST = """
    SELECT document FROM identities JOIN documents ON documents.number = document
    WHERE identities.key = citations.key ORDER BY date DESC, number LIMIT 1
"""
"""Of several captures of one page, the newest is the one that is cited."""


@dataclass(slots=True)
class Resolver:
    """Everything that links may lead to, under the paths it has below what all archives share."""

    lookup: LinkTargets
    numbers: dict[str, int]
    """The document at each path."""
    paths: dict[int, str]
    aliases: dict[str, list[str]] = field(default_factory=dict)
    titles: dict[str, list[int]] = field(default_factory=dict)
    entries: dict[tuple[str, str], tuple[str, str, str]] = field(default_factory=dict)
    """Of a folder and key what the bibliography there says: address, identity, title."""
    others: frozenset[str] = frozenset()
    """Files that are there and are no documents."""


def resolve_citations(
    connection: sqlite3.Connection,
    roots: Mapping[Archive, Path],
    others: Iterable[tuple[Archive, str]],
    only: set[int] | None,
) -> None:
    """Find out what citations lead to: those of some documents, or all, where names have changed."""
    resolver = _resolver(connection, roots, others)
    _resolve_by_name(connection, resolver, only)
    # An address that came with another document leads there from everywhere.
    connection.execute(f"UPDATE citations SET target = ({_NEWEST}) WHERE key != ''")  # noqa: S608 - a constant
    connection.execute(
        "UPDATE citations SET is_citation = 0, target = NULL WHERE target = source "
        "OR (key != '' AND EXISTS (SELECT 1 FROM identities WHERE identities.key = citations.key AND document = source))"
    )


def _resolve_by_name(connection: sqlite3.Connection, resolver: Resolver, only: set[int] | None) -> None:
    rows = connection.execute(
        "SELECT source, ordinal, written, kind FROM citations WHERE kind IN (?, ?, ?)",
        (CitationKind.PATH, CitationKind.WIKI, CitationKind.KEY),
    ).fetchall()
    by_path, by_key = [], []
    for source, ordinal, written, kind in rows:
        if only is None or source in only:
            if kind == CitationKind.KEY:
                by_key.append((*_by_key(written, source, resolver), source, ordinal))
            else:
                by_path.append((*_by_path(written, source, resolver), source, ordinal))
    connection.executemany(
        "UPDATE citations SET target = ?, fault = ?, is_citation = ? WHERE source = ? AND ordinal = ?", by_path
    )
    connection.executemany(
        "UPDATE citations SET url = ?, key = ?, target = ?, confidence = ?, is_citation = ? WHERE source = ? AND ordinal = ?",
        by_key,
    )


def _by_path(url: str, source: int, resolver: Resolver) -> tuple[int | None, str, int]:
    """The document that a link to a file or page leads to, why to none, and whether it is a citation at all."""
    path = resolver.paths[source]
    found = resolve(url, path, resolver.lookup)
    if isinstance(found, Internal):
        target = resolver.numbers[found.path]
        return (target, "", 1) if target != source else (None, "", 0)
    if url.startswith("[[") and (named := resolver.aliases.get(_name_in(url))):
        target = resolver.numbers[_nearest(named, path)]
        return (target, "", 1) if target != source else (None, "", 0)
    if not isinstance(found, Broken):
        return None, "", 0
    if not resolver.others.isdisjoint(_places(found.path, url, path)):
        return None, NO_DOCUMENT, 1
    return None, str(found.fault if found.fault is not Fault.EMPTY else Fault.MISSING), 1


def _by_key(written: str, source: int, resolver: Resolver) -> tuple[str, str, int | None, float, int]:
    """Address, identity, document and confidence of an `@key`, and whether a bibliography has it at all."""
    for folder in folders_above(resolver.paths[source]):
        if (entry := resolver.entries.get((folder, written.removeprefix("@")))) is not None:
            url, identity, title = entry
            alike = resolver.titles.get(fold(title), []) if title and not identity else []
            return url or written, identity, alike[0] if alike else None, TITLE_CONFIDENCE if alike else 1.0, 1
    return written, "", None, 1.0, 0


def _resolver(
    connection: sqlite3.Connection, roots: Mapping[Archive, Path], others: Iterable[tuple[Archive, str]]
) -> Resolver:
    prefixes = _prefixes(roots)
    pages, numbers = list[LinkTarget](), dict[str, int]()
    aliases, titles = dict[str, list[str]](), dict[str, list[int]]()
    for number, archive, path, title, names in connection.execute(
        "SELECT number, archive, path, title, names FROM documents ORDER BY number"
    ):
        prefix = prefixes.get(archive, f"{archive}/")
        called = json.loads(names)
        pages.append(LinkTarget(prefix + path, title, tuple(f"{prefix}{name}" for name in called if name)))
        numbers[prefix + path] = number
        titles.setdefault(fold(title), []).append(number)
        for name in called:
            aliases.setdefault(fold(name), []).append(prefix + path)
    entries = {
        ((prefixes.get(archive, f"{archive}/") + path).rpartition("/")[0], key): (url, identity, title)
        for archive, path, key, url, identity, title in connection.execute(
            "SELECT archive, path, key, url, identity, title FROM bibliography ORDER BY path DESC"
        )
    }
    there = {prefixes.get(archive, f"{archive}/") + path.rstrip("/") for archive, path in others}
    there |= {folder for path in list(there) for folder in folders_above(path)}
    paths = {number: path for path, number in numbers.items()}
    return Resolver(LinkTargets(pages), numbers, paths, aliases, titles, entries, frozenset(there))


def _prefixes(roots: Mapping[Archive, Path]) -> dict[str, str]:
    """What comes before a path of each archive, so that links from one lead into the other."""
    if not roots:
        return {}
    above = os.path.commonpath([root.parent for root in roots.values()])
    return {archive: f"{root.relative_to(above).as_posix()}/" for archive, root in roots.items()}


def _name_in(url: str) -> str:
    return fold(url[2:-2].partition("|")[0].partition("#")[0].strip())


def _nearest(paths: list[str], source: str) -> str:
    """Of several documents, the one that shares most folders with another."""

    def shared(path: str) -> int:
        return sum(1 for _ in takewhile(_are_same, zip(path.split("/"), source.split("/"), strict=False)))

    return max(paths, key=lambda path: (shared(path), -len(path)))


def _are_same(parts: tuple[str, str]) -> bool:
    return parts[0] == parts[1]


def _places(place: str, url: str, source: str) -> Iterator[str]:
    """Where a file may lie that a link leads to: as it was looked for, below the archive, beside the document."""
    written = url[2:-2].partition("|")[0] if url.startswith("[[") else url
    written = written.partition("#")[0].partition("?")[0]
    yield place
    yield os.path.normpath(f"{source.partition('/')[0]}/{written.lstrip('/')}")
    yield os.path.normpath(f"{source.rpartition('/')[0]}/{written}")

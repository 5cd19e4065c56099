"""Files and definitions of an index by parts of their names, for a reader who knows what they look for."""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from dowse.indexes.index import ProjectIndex
from dowse.store.listings import definitions_like
from dowse.types import Entry

MIN_DEFINITION_CHARACTERS = 2
_PATH_SHARE = 0.7
"""The quality of a match in the folders of a file, as a share of that in its name."""
_MINOR_KINDS = frozenset({"field", "variable"})
_MINOR_SHARE = 0.9


class FoundName(NamedTuple):
    """A file, or a definition in it, that has a name."""

    name: str
    kind: str
    """The kind of a definition; empty for a file."""
    path: str
    line: int
    quality: float


def find_names(index: ProjectIndex, text: str, limit: int) -> list[FoundName]:
    """Return the files and definitions whose names match a text, best first; short names before long ones."""
    wanted = text.lower().split()
    if not wanted:
        return []
    found = [*_find_files(_paths(index), wanted)]
    if index.exists and len(wanted) == 1 and len(wanted[0]) >= MIN_DEFINITION_CHARACTERS:
        found += _find_definitions(index, wanted[0])
    ranked = sorted(found, key=lambda one: (-one.quality, len(one.name), len(one.path), one.path, one.line))
    return list(islice((one for one in ranked if index.shows(one.path)), limit))


def _paths(index: ProjectIndex) -> Iterable[str]:
    if index.exists and index.is_ready():
        return index.store.paths()
    return (entry.path for entry in index.source.entries() if isinstance(entry, Entry) and entry.views & index.view)


def _find_files(paths: Iterable[str], wanted: list[str]) -> Iterable[FoundName]:
    for path in paths:
        name = path.rpartition("/")[2]
        qualities = [max(match_quality(word, name), _PATH_SHARE * match_quality(word, path)) for word in wanted]
        if all(qualities):
            yield FoundName(name, "", path, 0, sum(qualities) / len(qualities))


def _find_definitions(index: ProjectIndex, wanted: str) -> list[FoundName]:
    found: dict[tuple[str, int, str], FoundName] = {}
    for one in definitions_like(index.store.catalog, index.view, wanted):
        if quality := match_quality(wanted, one.name):
            quality *= _MINOR_SHARE if one.kind in _MINOR_KINDS else 1.0
            found[one.path, one.line, one.name] = FoundName(one.name, one.kind, one.path, one.line, quality)
    return list(found.values())


def match_quality(wanted: str, name: str) -> float:
    """Return how well a name matches letters, between 0 and 1: the whole of it, its beginning, a word of it, a part."""
    folded = name.lower()
    at = folded.find(wanted)
    if at < 0:
        return _scattered_quality(wanted, folded)
    share = len(wanted) / len(folded)
    if at == 0:
        return 0.9 + 0.1 * share
    is_word = not folded[at - 1].isalnum() or (name[at].isupper() and not name[at - 1].isupper())
    return (0.75 if is_word else 0.55) + 0.1 * share


def _scattered_quality(wanted: str, folded: str) -> float:
    """Return how well a name matches letters that it has in their order, and not side by side."""
    start = at = folded.find(wanted[0])
    for letter in wanted[1:]:
        at = folded.find(letter, at + 1) if at >= 0 else at
    return 0.4 * len(wanted) / (at + 1 - start) if at >= 0 else 0.0

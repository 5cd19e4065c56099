"""Which of several documents is meant, seen from a folder: the one that is nearest."""

from collections import defaultdict
from collections.abc import Iterable, Iterator


class Nearest:
    """Documents by something that several can share, such as a file name or a title."""

    def __init__(self, keyed: Iterable[tuple[str, str]]) -> None:
        self._paths: dict[str, list[str]] = defaultdict(list)
        for key, path in keyed:
            self._paths[key].append(path)
        self._tables: dict[str, dict[str, str]] = {}

    def all(self, key: str) -> list[str]:
        """All that share a key."""
        return self._paths.get(key, [])

    def find(self, key: str, folder: str) -> str | None:
        """The document in the closest folder around this one that has any below it; there the least deep."""
        paths = self.all(key)
        if len(paths) < 2:
            return paths[0] if paths else None
        if key not in self._tables:  # so that a name that thousands share is not gone through for every link
            self._tables[key] = _shallowest_by_folder(paths)
        table = self._tables[key]
        return next((table[around] for around in folders_above(f"{folder}/") if around in table), None)


def folders_above(path: str) -> Iterator[str]:
    """The folders around a path, the nearest first, the root, which is empty, last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _shallowest_by_folder(paths: list[str]) -> dict[str, str]:
    """For each folder the least deep path below it."""
    table: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        for folder in folders_above(path):
            table.setdefault(folder, path)
    return table

"""Choice between documents that share a name: the one nearest to a folder."""

from collections import defaultdict
from collections.abc import Iterable, Iterator


class Nearest:
    """Documents by a key that several can share, such as a file name or a title."""

    def __init__(self, keyed: Iterable[tuple[str, str]]) -> None:
        self._paths: dict[str, list[str]] = defaultdict(list)
        for key, path in keyed:
            self._paths[key].append(path)
        self._tables: dict[str, dict[str, str]] = {}

    def paths_with(self, key: str) -> list[str]:
        """Return the paths of all documents with a key."""
        return self._paths.get(key, [])

    def find(self, key: str, folder: str) -> str | None:
        """Return the document with a key below the closest enclosing folder that has any, the least deep one there."""
        paths = self.paths_with(key)
        if len(paths) < 2:
            return paths[0] if paths else None
        if key not in self._tables:  # so that a name shared by thousands is not searched for every link
            self._tables[key] = _shallowest_by_folder(paths)
        table = self._tables[key]
        return next((table[around] for around in folders_above(f"{folder}/") if around in table), None)


def folders_above(path: str) -> Iterator[str]:
    """Return the folders around a path, the nearest first; the root, an empty string, comes last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _shallowest_by_folder(paths: list[str]) -> dict[str, str]:
    """Return for each folder the least deep path below it."""
    table: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        for folder in folders_above(path):
            table.setdefault(folder, path)
    return table

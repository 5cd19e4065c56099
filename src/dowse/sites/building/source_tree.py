"""The source files of a site. Files outside the folder, hidden files and secrets are not read."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dowse.platform import open_beneath
from dowse.sources.denylist import DenyList
from dowse.sources.private_keys import find_private_key

MAX_FILE_BYTES = 16 << 20
"""Maximum size of a page; a larger file is data, whatever its ending."""
_SKIPPED_FOLDERS = frozenset({"node_modules", "bower_components", "vendor", "__pycache__"})
"""Folders of third-party files."""


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A folder with the sources of a site. Links that lead outside it are not followed."""

    root: Path

    def files(self, endings: tuple[str, ...]) -> Iterator[str]:
        """Yield the paths of the files that have these endings, in order; skip hidden and denied files."""
        denied = DenyList(())
        for path in self._walk(""):
            if path.lower().endswith(endings) and not denied.rule_against(path):
                yield path

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; None if it cannot be read, is a private key or is too large for a page."""
        try:
            with open_beneath(self.root, path) as descriptor, open(descriptor, "rb", closefd=False) as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError:
            return None
        return data if len(data) <= MAX_FILE_BYTES and not find_private_key(data) else None

    def _walk(self, folder: str) -> Iterator[str]:
        try:
            entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED_FOLDERS:
                    yield from self._walk(path)
            elif entry.is_file(follow_symlinks=False):
                yield path

"""Normalization of paths, as users and programs write them, to paths relative to the root."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from dowse.sources.filenames import strip_windows_suffixes
from dowse.visible_text import strip_invisible

_MAX_SPELLINGS = 32
_NETWORK = ("//", os.sep * 2)


def relative_to_root(root: Path, spelled: str) -> str | None:
    """Return a path relative to the root, with forward slashes and without dots; None when it leads outside.

    `..` removes the part before it. That is safe because dowse never follows symlinks.
    """
    if spelled.startswith(_NETWORK):
        return None
    target = os.path.normpath(os.path.join(root, spelled))  # noqa: PTH118 - Path would keep the dots
    below = _relative_by_text(str(root), target)
    if below is None and os.path.isabs(spelled):  # noqa: PTH117
        below = _relative_by_folder_identity(root, Path(target))
    return None if below is None else strip_windows_suffixes(below.replace(os.sep, "/"))


def other_spellings(path: str) -> list[str]:
    """Return the paths that may be meant by a path that does not exist as it is written.

    The changes are: percent signs decoded, backslashes turned into slashes, invisible characters
    removed, characters composed or decomposed. All combinations are tried.
    """
    found = [path]
    for spelling in found:
        for respell in _RESPELLINGS:
            other = respell(spelling)
            if other not in found and len(found) < _MAX_SPELLINGS:
                found.append(other)
    return found[1:]


_RESPELLINGS: tuple[Callable[[str], str], ...] = (
    strip_invisible,
    lambda path: unquote(path, errors="surrogateescape"),
    lambda path: path.replace("\\", "/"),
    lambda path: unicodedata.normalize("NFC", path),
    lambda path: unicodedata.normalize("NFD", path),
)


def _relative_by_text(root: str, target: str) -> str | None:
    """Return the rest of a path after the root, by comparing text."""
    top, path = os.path.normcase(root).rstrip(os.sep), os.path.normcase(target)
    if path == top:
        return ""
    return target[len(top) + 1 :] if path.startswith(top + os.sep) else None


def _relative_by_folder_identity(root: Path, target: Path) -> str | None:
    """Return the rest of a path that names the root differently: in another case, or through a symlink."""
    for folder in (target, *target.parents):
        try:
            if folder.samefile(root):
                return "" if folder == target else str(target.relative_to(folder))
        except (OSError, ValueError):
            continue
    return None

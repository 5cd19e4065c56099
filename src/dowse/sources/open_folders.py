"""Folders that are opened relative to their parent, so that a folder replaced by a symlink is never listed or looked into."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Self

from dowse.errors import Failed
from dowse.sources.policy import Form
from dowse.visible_text import printable_path

Item = tuple[os.DirEntry[str], Form]

_Handle = int | str
"""An open folder: its descriptor, or its path on systems that cannot open folders."""

_CAN_OPEN_FOLDERS = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_ROOT_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER_FLAGS = _ROOT_FLAGS | getattr(os, "O_NOFOLLOW", 0)


class OpenFolders:
    """The root and the folders entered below it, each opened relative to its parent.

    The path of the root may contain symlinks, because the user named it. Raise Failed for a root that
    cannot be read: it must not look like an empty project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._handles: list[_Handle] = []
        with self._root_errors():
            self._handles.append(os.open(root, _ROOT_FLAGS) if _CAN_OPEN_FOLDERS else str(root))
            if not _CAN_OPEN_FOLDERS:
                os.scandir(root).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._handles:
            self.leave()

    def enter(self, name: str) -> None:
        """Enter a folder; raise OSError when it is not, or no longer, a folder."""
        self._handles.append(_open_below(self._handles[-1], name))

    @contextmanager
    def entered(self, name: str) -> Iterator[None]:
        """Enter a folder, and return from it at the end."""
        self.enter(name)
        try:
            yield
        finally:
            self.leave()

    def leave(self) -> None:
        """Return to the parent folder."""
        handle = self._handles.pop()
        if isinstance(handle, int):
            os.close(handle)

    def lstat(self, name: str) -> os.stat_result:
        """Return the stat of a name in the current folder, without following symlinks."""
        handle = self._handles[-1]
        if isinstance(handle, int):
            return os.stat(name, dir_fd=handle, follow_symlinks=False)
        return os.lstat(os.path.join(handle, name))  # noqa: PTH118

    def contains(self, name: str) -> bool:
        """Return whether a name exists in the current folder."""
        try:
            self.lstat(name)
        except OSError:
            return False
        return True

    def list_items(self) -> list[Item]:
        """Return the items of the current folder, sorted by whole path."""
        with (
            self._root_errors() if len(self._handles) == 1 else nullcontext(),
            os.scandir(self._handles[-1]) as entries,
        ):
            items = [(entry, _form_of_entry(entry)) for entry in entries]
        items.sort(key=_path_order)
        return items

    @contextmanager
    def _root_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise Failed(
                f"{printable_path(str(self._root))} cannot be read ({error.strerror or error}). "
                "Check that it exists and that you may read it, and try again."
            ) from error


def form_of(seen: os.stat_result) -> Form:
    """Return the form that an lstat describes; Windows junctions count as symlinks."""
    if stat.S_ISLNK(seen.st_mode) or getattr(seen, "st_reparse_tag", 0) != 0:
        return Form.SYMLINK
    if stat.S_ISDIR(seen.st_mode):
        return Form.FOLDER
    return Form.FILE if stat.S_ISREG(seen.st_mode) else Form.SPECIAL


def _open_below(parent: _Handle, name: str) -> _Handle:
    if isinstance(parent, int):
        return os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    path = os.path.join(parent, name)  # noqa: PTH118 - a handle is a plain string
    if form_of(os.lstat(path)) is not Form.FOLDER:
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return path


def _form_of_entry(entry: os.DirEntry[str]) -> Form:
    try:
        if not _CAN_OPEN_FOLDERS:
            return form_of(entry.stat(follow_symlinks=False))
        if entry.is_file(follow_symlinks=False):
            return Form.FILE
        if entry.is_dir(follow_symlinks=False):
            return Form.FOLDER
        return Form.SYMLINK if entry.is_symlink() else Form.SPECIAL
    except OSError:
        return Form.SPECIAL


def _path_order(item: Item) -> str:
    """Return the sort key of an item. A folder `a` sorts like the files in it: after `a.py`, before `aa.py`."""
    entry, form = item
    return f"{entry.name}/" if form is Form.FOLDER else entry.name


def exists_below(root: Path, path: str) -> bool:
    """Return whether there is a file or folder at a relative path. Its content is not read, and no symlink leaves the root."""
    try:
        full = os.path.join(root, path)  # noqa: PTH118 - a document may have 100,000 links to nothing
        if not os.path.lexists(full):  # which takes a tenth of the time
            return False
        found, top = os.path.realpath(full, strict=True), os.path.realpath(root)
        return os.path.commonpath([top, found]) == top
    except (OSError, ValueError):  # a NUL, or a name that no file system accepts
        return False

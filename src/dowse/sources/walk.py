"""The walk through the files below a folder, sorted by path."""

import errno
import os
from collections.abc import Iterator

from dowse.platform import stat_of
from dowse.sources.open_folders import Item, OpenFolders
from dowse.sources.policy import Folder, Form, Policy
from dowse.types import Entry, FolderCallback, Reason, Verdict

_REASON_BY_ERRNO = {
    errno.ENOENT: Reason.VANISHED,
    errno.ENOTDIR: Reason.VANISHED,
    errno.ELOOP: Reason.SYMLINK,
    errno.EINVAL: Reason.SPECIAL,
}


def walk(policy: Policy, start: Folder, on_folder: FolderCallback | None = None) -> Iterator[Entry | Verdict]:
    """Yield everything below an entered folder; a folder that is left out gives one verdict.

    `on_folder` is called for each folder below it, before the folder is listed. Raise Failed when the root itself
    cannot be read.
    """
    with OpenFolders(policy.root) as folders:
        try:
            for part in start.path.split("/")[:-1]:
                folders.enter(part)
            levels = [(start, iter(folders.list_items()))]
        except OSError as error:
            yield verdict_for_os_error(start.path, error)
            return
        yield from _walk(policy, folders, levels, on_folder or (lambda _: None))


def _walk(
    policy: Policy, folders: OpenFolders, levels: list[tuple[Folder, Iterator[Item]]], on_folder: FolderCallback
) -> Iterator[Entry | Verdict]:
    while levels:
        folder, items = levels[-1]
        for item, form in items:
            if refusal := policy.refusal(folder, item.name, form):
                yield refusal
            elif form is Form.FILE:
                yield _check_file(policy, folder, item)
            else:
                below = _enter(policy, folders, folder, item.name, on_folder)
                if isinstance(below, Verdict):
                    yield below
                else:
                    levels.append(below)
                    break
        else:
            levels.pop()
            folders.leave()


def _enter(
    policy: Policy, folders: OpenFolders, folder: Folder, name: str, on_folder: FolderCallback
) -> tuple[Folder, Iterator[Item]] | Verdict:
    try:
        folders.enter(name)
    except OSError as error:
        return verdict_for_os_error(f"{folder.path}{name}/", error)
    on_folder(f"{folder.path}{name}/")
    try:
        items = folders.list_items()
        entered = policy.enter(folder, name, {item.name for item, _ in items})
    except OSError as error:
        entered = verdict_for_os_error(f"{folder.path}{name}/", error)
    if isinstance(entered, Verdict):
        folders.leave()
        return entered
    return entered, iter(items)


def classify_file(policy: Policy, folder: Folder, name: str, seen: os.stat_result) -> Entry | Verdict:
    """Return the entry of a file that is not refused, or the verdict against it by its stat."""
    showing = policy.showing(folder, name, seen.st_size)
    if isinstance(showing, Verdict):
        return showing
    return Entry(folder.path + name, showing.kind, stat_of(seen), showing.views, showing.is_shared)


def verdict_for_os_error(path: str, error: OSError) -> Verdict:
    """Return the verdict against a path that the system does not open."""
    return Verdict(path, _REASON_BY_ERRNO.get(error.errno or 0, Reason.UNREADABLE), detail=error.strerror or str(error))


def _check_file(policy: Policy, folder: Folder, item: os.DirEntry[str]) -> Entry | Verdict:
    try:
        return classify_file(policy, folder, item.name, item.stat(follow_symlinks=False))
    except OSError as error:
        return verdict_for_os_error(folder.path + item.name, error)

"""The walk of a tree, and the decision about a single path, made level by level as the walk would make it; the path may be of an earlier commit."""

import errno
import os
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from os import stat_result
from pathlib import Path
from urllib.parse import unquote

from dowse.sources.denylist import strip_windows_suffixes
from dowse.sources.open_folders import Item, OpenFolders, form_of
from dowse.sources.policy import RULE_NAMES, Folder, Form, Policy, verdict_below_folder
from dowse.system.platform import stat_of
from dowse.types import Entry, FolderCallback, Reason, Rule, Verdict
from dowse.visible_text import printable_path, strip_invisible

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
            items = folders.list_items()
        except OSError as error:
            yield verdict_for_os_error(start.path, error)
            return
        yield from _walk(policy, folders, start, items, on_folder or (lambda _: None))


def _walk(
    policy: Policy, folders: OpenFolders, folder: Folder, items: list[Item], on_folder: FolderCallback
) -> Iterator[Entry | Verdict]:
    for item, form in items:
        path = f"{folder.path}{item.name}/"
        if refusal := policy.refusal(folder, item.name, form):
            yield refusal
        elif form is Form.FILE:
            yield _check_file(policy, folder, item)
        else:
            on_folder(path)
            try:
                with folders.entered(item.name):
                    below = folders.list_items()
                    entered = policy.enter(folder, item.name, {one.name for one, _ in below})
                    if isinstance(entered, Verdict):
                        yield entered
                    else:
                        yield from _walk(policy, folders, entered, below, on_folder)
            except OSError as error:
                yield verdict_for_os_error(path, error)


def verdict_for_os_error(path: str, error: OSError) -> Verdict:
    """Return the verdict against a path that the system does not open."""
    return Verdict(path, _REASON_BY_ERRNO.get(error.errno or 0, Reason.UNREADABLE), detail=error.strerror or str(error))


def _check_file(policy: Policy, folder: Folder, item: os.DirEntry[str]) -> Entry | Verdict:
    try:
        return policy.entry(folder, item.name, stat_of(item.stat(follow_symlinks=False)))
    except OSError as error:
        return verdict_for_os_error(folder.path + item.name, error)


PathDecision = Entry | Folder | Verdict

_ABSENT_ERRNOS = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)


def decide_path(policy: Policy, path: str) -> PathDecision:
    """Decide about a path in any spelling: return a file, an entered folder, or the verdict against it.

    A path that exists as it is written is taken literally. Any other path is refused when one of its other
    spellings leads outside the root or to a denied file.
    """
    decision = _decide_literally(policy, path)
    if not _has_reason(decision, Reason.VANISHED):
        return decision
    others = [_decide_literally(policy, other) for other in other_spellings(path)]
    for reason in (Reason.OUTSIDE, Reason.DENIED):
        if refused := next((other for other in others if _has_reason(other, reason)), None):
            return refused
    return next((other for other in others if not _has_reason(other, Reason.VANISHED)), decision)


def _decide_literally(policy: Policy, spelled: str) -> PathDecision:
    path = relative_to_root(policy.root, spelled)
    if path is None:
        return Verdict(printable_path(spelled), Reason.OUTSIDE)
    return decide_normalized_path(policy, path, means_folder=spelled.endswith("/"))


def decide_normalized_path(policy: Policy, path: str, *, means_folder: bool = False) -> PathDecision:
    """Decide about a relative path without dots. A rule may refuse a path that does not exist."""
    with OpenFolders(policy.root) as folders:
        descent = _Descent(policy, folders)
        names = path.split("/") if path else []
        for name in names[:-1]:
            if refused := descent.enter(name):
                return verdict_below_folder(printable_path(path), refused)
        return descent.decide(names[-1], means_folder=means_folder) if names else descent.folder


def find_reinclusion(policy: Policy, path: str) -> tuple[Rule, Rule] | None:
    """Return the rule of `.dowseignore` that re-includes a file or a folder above it, and the rule that it overrules."""
    found = None
    with OpenFolders(policy.root) as folders:
        descent = _Descent(policy, folders)
        names = path.encode().split(b"/")
        for depth, name in enumerate(names, 1):
            is_folder, here = depth < len(names), b"/".join(names[:depth])
            found = descent.folder.ignores.find_reinclusion(here, name, is_folder=is_folder) or found
            if is_folder and descent.enter(name.decode()):
                return None
    return found


class _Descent:
    """The descent from the root to one path, until a verdict ends it."""

    def __init__(self, policy: Policy, folders: OpenFolders) -> None:
        self._policy = policy
        self._folders = folders
        self._is_absent = False
        self.folder = policy.open_root(self._rule_names())

    def enter(self, name: str) -> Verdict | None:
        """Enter a folder, which need not exist, or return the verdict against it."""
        seen = self._lstat(name)
        if isinstance(seen, Verdict):
            return seen
        form = Form.FOLDER if seen is None else form_of(seen)
        if refusal := self._policy.refusal(self.folder, name, form):
            return refusal
        if form is not Form.FOLDER:
            return Verdict(self.folder.path + name, Reason.VANISHED, detail="a file, not a folder")
        return self._enter_folder(name)

    def decide(self, name: str, *, means_folder: bool) -> PathDecision:
        """Decide about the last part of the path."""
        seen = self._lstat(name)
        if isinstance(seen, Verdict):
            return seen
        form = form_of(seen) if seen else Form.FOLDER if means_folder else Form.FILE
        if refusal := self._policy.refusal(self.folder, name, form):
            return refusal
        if seen is None:
            return Verdict(self.folder.path + name, Reason.VANISHED)
        if form is Form.FILE:
            return self._policy.entry(self.folder, name, stat_of(seen))
        return self._enter_folder(name) or self.folder

    def _enter_folder(self, name: str) -> Verdict | None:
        if not self._is_absent:
            try:
                self._folders.enter(name)
            except OSError as error:
                return verdict_for_os_error(f"{self.folder.path}{name}/", error)
        entered = self._policy.enter(self.folder, name, self._rule_names())
        if isinstance(entered, Verdict):
            return entered
        self.folder = entered
        return None

    def _lstat(self, name: str) -> stat_result | Verdict | None:
        """Return the stat of a name; None when it does not exist, a verdict when the system refuses the access."""
        try:
            if not self._is_absent:
                return self._folders.lstat(name)
        except OSError as error:
            if error.errno not in _ABSENT_ERRNOS:
                return verdict_for_os_error(self.folder.path + name, error)
        except ValueError:  # a NUL, or characters that no file system accepts
            pass
        self._is_absent = True
        return None

    def _rule_names(self) -> list[str]:
        return [] if self._is_absent else [name for name in RULE_NAMES if self._folders.contains(name)]


def _has_reason(decision: PathDecision, reason: Reason) -> bool:
    return isinstance(decision, Verdict) and decision.reason is reason


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


_MAX_REMEMBERED = 200_000


class PastPaths:
    """The paths of earlier commits that may be shown: no rule of the deny list, the settings or an ignore file is against them."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.allows = lru_cache(_MAX_REMEMBERED)(self._allows)
        """Returns whether a path relative to the root may be shown."""
        self._folder = lru_cache(_MAX_REMEMBERED)(self._enter)

    def is_secret(self, text: str) -> bool:
        """Return whether a text of an earlier commit is a private key, which is never shown."""
        return self._policy.key_refusal("", text.encode("utf-8", "replace")) is not None

    def _allows(self, path: str) -> bool:
        parent, _, name = path.rpartition("/")
        folder = self._folder(parent)
        if folder is None or name in ("", ".", "..") or self._policy.refusal(folder, name, Form.FILE):
            return False
        kind = self._policy.kind_of(path, 0)
        return not isinstance(kind, Verdict) or kind.reason is not Reason.NOT_INCLUDED

    def _enter(self, path: str) -> Folder | None:
        """Return a folder, which need not exist; None if it is refused."""
        names = [name for name in RULE_NAMES if os.path.lexists(self._policy.root / path / name)]
        if not path:
            return self._policy.open_root(names)
        parent, _, name = path.rpartition("/")
        above = self._folder(parent)
        if above is None or name in ("", ".", "..") or self._policy.refusal(above, name, Form.FOLDER):
            return None
        found = self._policy.enter(above, name, names)
        return None if isinstance(found, Verdict) else found

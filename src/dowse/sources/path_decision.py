"""One path asked for by name: the decision that the walk would make, level by level."""

import errno
from os import stat_result

from dowse.sources.filenames import printable_path
from dowse.sources.ignore_stack import Reinclusion
from dowse.sources.open_folders import OpenFolders, form_of
from dowse.sources.path_normalization import other_spellings, relative_to_root
from dowse.sources.policy import RULE_NAMES, Folder, Form, Policy, verdict_below_folder
from dowse.sources.walk import classify_file, verdict_for_os_error
from dowse.types import Entry, Reason, Verdict

PathDecision = Entry | Folder | Verdict

_ABSENT_ERRNOS = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)


def decide_path(policy: Policy, spelled: str) -> PathDecision:
    """What a path in any spelling is: a file, a folder that is entered, or refused.

    A path that exists as it is written is that path. Otherwise it is refused when any other way
    to understand it leads outside or to what is denied.
    """
    answer = _decide_literally(policy, spelled)
    if not _has_reason(answer, Reason.VANISHED):
        return answer
    others = [_decide_literally(policy, other) for other in other_spellings(spelled)]
    for reason in (Reason.OUTSIDE, Reason.DENIED):
        if refused := next((other for other in others if _has_reason(other, reason)), None):
            return refused
    return next((other for other in others if not _has_reason(other, Reason.VANISHED)), answer)


def _decide_literally(policy: Policy, spelled: str) -> PathDecision:
    path = relative_to_root(policy.root, spelled)
    if path is None:
        return Verdict(printable_path(spelled), Reason.OUTSIDE)
    return decide_normalized_path(policy, path, means_folder=spelled.endswith("/"))


def decide_normalized_path(policy: Policy, path: str, *, means_folder: bool = False) -> PathDecision:
    """What a relative path without dots is; one that does not exist may still be refused by a rule."""
    with OpenFolders(policy.root) as folders:
        descent = _Descent(policy, folders)
        names = path.split("/") if path else []
        for name in names[:-1]:
            if refused := descent.enter(name):
                return verdict_below_folder(printable_path(path), refused)
        return descent.decide(names[-1], means_folder=means_folder) if names else descent.folder


def find_reinclusion(policy: Policy, path: str) -> Reinclusion | None:
    """The ignore rule by which a file is seen though another ignores it, or a folder on the way to it."""
    found = None
    with OpenFolders(policy.root) as folders:
        descent = _Descent(policy, folders)
        *above, last = path.split("/")
        for name in above:
            found = policy.find_reinclusion(descent.folder, name, is_folder=True) or found
            if descent.enter(name):
                return None
        return policy.find_reinclusion(descent.folder, last, is_folder=False) or found


class _Descent:
    """The way down to one path, for as long as nothing is refused."""

    def __init__(self, policy: Policy, folders: OpenFolders) -> None:
        self._policy = policy
        self._folders = folders
        self._is_absent = False
        self.folder = policy.open_root(self._rule_names())

    def enter(self, name: str) -> Verdict | None:
        """Go into a folder, which need not exist; or say why not."""
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
        """What stands at the end of the way."""
        seen = self._lstat(name)
        if isinstance(seen, Verdict):
            return seen
        form = form_of(seen) if seen else Form.FOLDER if means_folder else Form.FILE
        if refusal := self._policy.refusal(self.folder, name, form):
            return refusal
        if seen is None:
            return Verdict(self.folder.path + name, Reason.VANISHED, detail="no such file")
        if form is Form.FILE:
            return classify_file(self._policy, self.folder.path + name, seen)
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
        """What stands under a name; None when nothing does, a verdict when we may not know."""
        try:
            if not self._is_absent:
                return self._folders.lstat(name)
        except OSError as error:
            if error.errno not in _ABSENT_ERRNOS:
                return verdict_for_os_error(self.folder.path + name, error)
        except ValueError:  # a NUL, or characters that no file system takes
            pass
        self._is_absent = True
        return None

    def _rule_names(self) -> list[str]:
        return [] if self._is_absent else [name for name in RULE_NAMES if self._folders.contains(name)]


def _has_reason(answer: PathDecision, reason: Reason) -> bool:
    return isinstance(answer, Verdict) and answer.reason is reason

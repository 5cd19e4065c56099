"""The ignore rules in force in a folder: those of git, and those of `.dowseignore`.

`.dowseignore` takes precedence. It can re-include paths that git ignores, even a single file in an
ignored folder: `!generated/api.py` re-includes that file and nothing else of `generated/`. The same
holds for the hidden files and folders that a source leaves out, which git cannot re-include.
"""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from dowse.errors import TooManyRules
from dowse.sources.gitignore import RuleSet, parse_ignore_file
from dowse.sources.repository import (
    MAX_RULE_BYTES,
    Repository,
    find_git_folders,
    global_excludes_file,
    read_rule_file,
    read_user_rule_file,
)
from dowse.system.platform import NAMES_FOLD_CASE
from dowse.types import Reason, Rule

GITIGNORE_FILE = ".gitignore"
DOWSEIGNORE_FILE = ".dowseignore"

HIDDEN_RULE = Rule(".*", "built-in rule for documents")


@dataclass(frozen=True, slots=True)
class PlacedRules:
    """The rules of one file, and the location of the file.

    Rules match paths relative to the folder of their file. For a file above the root, `lead` is put
    before a path; for a file below the root, `cut` bytes are removed from its beginning.
    """

    rules: RuleSet
    origin: str
    lead: bytes = b""
    cut: int = 0

    def deciding_rule(self, path: bytes, name: bytes, *, is_folder: bool) -> tuple[Rule, bool] | None:
        """Return the rule of this file that decides about a path relative to the root, and whether it is negated."""
        rule = self.rules.deciding_rule(self.lead + path[self.cut :], name, is_folder=is_folder)
        return (Rule(rule.text, self.origin, rule.line), rule.is_negated) if rule else None

    def reaches_below(self, folder: bytes) -> bool:
        """Return whether a rule may re-include something below a folder."""
        return self.rules.reaches_below(self.lead + folder[self.cut :])


@dataclass(frozen=True, slots=True)
class Ignored:
    """The reason and the rule by which a path is ignored, and the folder above it that the rule matches, if any."""

    reason: Reason
    rule: Rule
    folder: str = ""


@dataclass(frozen=True, slots=True)
class IgnoreStack:
    """All rules in force in one folder; of each kind, the last file takes precedence."""

    git: tuple[PlacedRules, ...] = ()
    dowse: tuple[PlacedRules, ...] = ()
    skips_hidden: bool = False
    folder: Ignored | None = None
    """Set when the folder itself is hidden or git ignores it; only paths that `.dowseignore` re-includes are visible in it."""

    def find_ignored(self, path: bytes, name: bytes, *, is_folder: bool) -> Ignored | None:
        """Return why a path is ignored. None also for a folder in which a path may be re-included."""
        if self.dowse and (decided := _find_deciding_rule(self.dowse, path, name, is_folder=is_folder)):
            rule, is_negated = decided
            return None if is_negated else Ignored(Reason.DOWSEIGNORED, rule)
        ignored = self.folder or self._find_weakly_ignored(path, name, is_folder=is_folder)
        if ignored and is_folder and any(placed.reaches_below(path) for placed in self.dowse):
            return None
        return ignored

    def is_decided_by_dowse(self, path: bytes, name: bytes, *, is_folder: bool) -> bool:
        """Return whether a rule of `.dowseignore` decides about a path."""
        return _find_deciding_rule(self.dowse, path, name, is_folder=is_folder) is not None

    def find_reinclusion(self, path: bytes, name: bytes, *, is_folder: bool) -> tuple[Rule, Rule] | None:
        """Return the rule of `.dowseignore` that re-includes a path and the rule that it overrules, for explanations."""
        rule, is_negated = _find_deciding_rule(self.dowse, path, name, is_folder=is_folder) or (None, False)
        ignored = self.folder or self._find_weakly_ignored(path, name, is_folder=is_folder)
        return (rule, ignored.rule) if rule and is_negated and ignored else None

    def enter_folder(self, path: bytes, name: bytes, shown: str) -> "IgnoreStack":
        """Return the rules for a folder, before its own ignore files are read."""
        if not self.dowse and not self.skips_hidden:
            return self
        if self.is_decided_by_dowse(path, name, is_folder=True):
            return replace(self, folder=None)
        ignored = self.folder or self._find_weakly_ignored(path, name, is_folder=True)
        return replace(self, folder=ignored and replace(ignored, folder=ignored.folder or shown))

    def _find_weakly_ignored(self, path: bytes, name: bytes, *, is_folder: bool) -> Ignored | None:
        """Return why a path is ignored by a rule that `.dowseignore` can overrule."""
        if self.skips_hidden and name.startswith(b"."):
            return Ignored(Reason.HIDDEN, HIDDEN_RULE)
        rule, is_negated = _find_deciding_rule(self.git, path, name, is_folder=is_folder) or (None, False)
        return Ignored(Reason.GITIGNORED, rule) if rule and not is_negated else None


def _find_deciding_rule(
    files: Sequence[PlacedRules], path: bytes, name: bytes, *, is_folder: bool
) -> tuple[Rule, bool] | None:
    decided = (placed.deciding_rule(path, name, is_folder=is_folder) for placed in reversed(files))
    return next(filter(None, decided), None)


def _stamp(file: Path) -> tuple[int, ...] | None:
    """Return a fingerprint of a file, which is not followed if it is a link; None if there is none."""
    try:
        seen = file.lstat()
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


class RuleFiles:
    """The rule files of one root, which are read again each time.

    Raise TooManyRules, with the name of the file, when a file is too large to apply as a whole.
    """

    def __init__(self, root: Path, *, respects_git: bool) -> None:
        self._root = root
        self._respects_git = respects_git
        self._excludes: dict[Path, tuple[int, ...] | None] = {}
        """The `info/exclude` of the repositories that were entered, each with its stamp before it was first read."""

    def read_above_root(self, repository: Repository | None) -> IgnoreStack:
        """Return the rules for the root, before its own ignore files are read."""
        if repository is None:
            return IgnoreStack(git=self._read_user_rules())
        git = self._read_files_above(repository, GITIGNORE_FILE) if self._respects_git else ()
        own = self._read_files_above(repository, DOWSEIGNORE_FILE)
        return IgnoreStack(self.read_repository_rules(repository) + git, own)

    def files_outside(self, repository: Repository | None) -> tuple[Path, ...]:
        """Return the files in a repository, but not in the root, whose rules hold in the root; they need not exist.

        The user's own file is left out: it rarely changes, and git may have to be asked for its place.
        """
        if repository is None:
            return ()
        folders = find_git_folders(repository.top) if self._respects_git else None
        own = (folders.common / "info" / "exclude",) if folders else ()
        above = self._root.parents[: repository.lead.count("/")]
        names = (GITIGNORE_FILE, DOWSEIGNORE_FILE)
        return (repository.top / ".gitmodules", *own, *(folder / name for folder in above for name in names))

    def have_changed(self) -> bool:
        """Return whether the `info/exclude` of a repository was changed since it was first read; no event tells of it."""
        return any(_stamp(path) != stamp for path, stamp in list(self._excludes.items()))

    def read_repository_rules(self, repository: Repository) -> tuple[PlacedRules, ...]:
        """Return git's rules for a whole repository: the user's and those of `info/exclude`."""
        folders = find_git_folders(repository.top) if self._respects_git else None
        if folders is None:
            return self._read_user_rules()
        exclude = folders.common / "info" / "exclude"
        self._excludes.setdefault(exclude, _stamp(exclude))
        data = read_rule_file(folders.common, "info/exclude")
        origin = self._display_path(exclude, repository.top)
        lead, cut = os.fsencode(repository.lead), len(os.fsencode(repository.cut))
        return self._read_user_rules() + _parse_placed(data, origin, lead, cut)

    def add_folder_rules(self, ignores: IgnoreStack, path: str, names: Collection[str]) -> IgnoreStack:
        """Return the rules with those of a folder's own ignore files added; `names` are the names in the folder."""
        if GITIGNORE_FILE in names and self._respects_git:
            ignores = replace(ignores, git=ignores.git + self._read_folder_file(path, GITIGNORE_FILE))
        if DOWSEIGNORE_FILE in names:
            ignores = replace(ignores, dowse=ignores.dowse + self._read_folder_file(path, DOWSEIGNORE_FILE))
        return ignores

    def _read_folder_file(self, path: str, name: str) -> tuple[PlacedRules, ...]:
        return _parse_placed(read_rule_file(self._root, path + name), path + name, cut=len(path.encode()))

    def _read_files_above(self, repository: Repository, name: str) -> tuple[PlacedRules, ...]:
        """Return the rules of the files of one name between the top of a repository and the root below it."""
        found: tuple[PlacedRules, ...] = ()
        for folder in reversed(self._root.parents[: repository.lead.count("/")]):
            data = read_rule_file(repository.top, (folder / name).relative_to(repository.top).as_posix())
            lead = os.fsencode(self._root.relative_to(folder).as_posix() + "/")
            found += _parse_placed(data, self._display_path(folder / name, repository.top), lead)
        return found

    def _read_user_rules(self) -> tuple[PlacedRules, ...]:
        if not self._respects_git or self._user_file is None:
            return ()
        data = read_user_rule_file(self._user_file)
        return _parse_placed(data, self._display_path(self._user_file, self._root)) if data else ()

    @cached_property
    def _user_file(self) -> Path | None:
        return global_excludes_file()

    def _display_path(self, file: Path, near: Path) -> str:
        """Return the path of a file as a user would write it: relative to the root, or to the home folder."""
        if file.is_relative_to(near) or file.is_relative_to(self._root):
            return Path(os.path.relpath(file, self._root)).as_posix()
        home = Path("~").expanduser()
        return f"~/{file.relative_to(home).as_posix()}" if file.is_relative_to(home) else file.as_posix()


def _parse_placed(data: bytes, origin: str, lead: bytes = b"", cut: int = 0) -> tuple[PlacedRules, ...]:
    """Return the rules of a file; nothing for one without rules."""
    try:
        if len(data) > MAX_RULE_BYTES:
            raise TooManyRules(f"is larger than {MAX_RULE_BYTES // 1024 // 1024} MB")
        rules = parse_ignore_file(data, folds_case=NAMES_FOLD_CASE)
    except TooManyRules as error:
        raise TooManyRules(f"{origin} {error}, which is more than dowse reads") from None
    return (PlacedRules(rules, origin, lead, cut),) if rules.rules else ()

"""The files with ignore rules and the folders they apply to: above the root, in each folder, in a whole repository."""

import os
from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from dowse.errors import TooManyRules
from dowse.platform import NAMES_FOLD_CASE
from dowse.sources.gitconfig import global_excludes_file
from dowse.sources.gitignore import parse_ignore_file
from dowse.sources.ignore_stack import DOWSEIGNORE_FILE, GITIGNORE_FILE, IgnoreStack, PlacedRules
from dowse.sources.repository import MAX_RULE_BYTES, Repository, common_folder, read_rule_file, read_user_rule_file


class RuleFiles:
    """The rule files of one root, which are read again each time.

    Raise TooManyRules, with the name of the file, when a file is too large to apply as a whole.
    """

    def __init__(self, root: Path, *, respects_git: bool) -> None:
        self._root = root
        self._respects_git = respects_git

    def read_above_root(self, repository: Repository | None) -> IgnoreStack:
        """Return the rules for the root, before its own ignore files are read."""
        if repository is None:
            return IgnoreStack(git=self._read_user_rules())
        folders = list(reversed(self._root.parents[: repository.lead.count("/")]))
        git = (
            [self._read_file_above(folder, repository, GITIGNORE_FILE) for folder in folders]
            if self._respects_git
            else []
        )
        own = [self._read_file_above(folder, repository, DOWSEIGNORE_FILE) for folder in folders]
        return IgnoreStack(self.read_repository_rules(repository) + _drop_missing(git), _drop_missing(own))

    def read_repository_rules(self, repository: Repository) -> tuple[PlacedRules, ...]:
        """Return git's rules for a whole repository: the user's and those of `info/exclude`."""
        common = common_folder(repository.top) if self._respects_git else None
        if common is None:
            return self._read_user_rules()
        data = read_rule_file(common, "info/exclude")
        origin = self._display_path(common / "info" / "exclude", repository.top)
        placed = _parse_placed(data, origin, os.fsencode(repository.lead), len(os.fsencode(repository.cut)))
        return self._read_user_rules() + _drop_missing([placed])

    def add_folder_rules(self, ignores: IgnoreStack, path: str, names: Collection[str]) -> IgnoreStack:
        """Return the rules with those of a folder's own ignore files added; `names` are the names in the folder."""
        if GITIGNORE_FILE in names and self._respects_git:
            ignores = replace(ignores, git=ignores.git + self._read_folder_file(path, GITIGNORE_FILE))
        if DOWSEIGNORE_FILE in names:
            ignores = replace(ignores, dowse=ignores.dowse + self._read_folder_file(path, DOWSEIGNORE_FILE))
        return ignores

    def _read_folder_file(self, path: str, name: str) -> tuple[PlacedRules, ...]:
        return _drop_missing(
            [_parse_placed(read_rule_file(self._root, path + name), path + name, cut=len(path.encode()))]
        )

    def _read_file_above(self, folder: Path, repository: Repository, name: str) -> PlacedRules | None:
        file = (folder / name).relative_to(repository.top).as_posix()
        lead = os.fsencode(self._root.relative_to(folder).as_posix() + "/")
        return _parse_placed(
            read_rule_file(repository.top, file), self._display_path(folder / name, repository.top), lead
        )

    def _read_user_rules(self) -> tuple[PlacedRules, ...]:
        if not self._respects_git or self._user_file is None:
            return ()
        data = read_user_rule_file(self._user_file)
        return _drop_missing([_parse_placed(data, self._display_path(self._user_file, self._root))]) if data else ()

    @cached_property
    def _user_file(self) -> Path | None:
        return global_excludes_file()

    def _display_path(self, file: Path, near: Path) -> str:
        """Return the path of a file as a user would write it: relative to the root, or to the home folder."""
        if file.is_relative_to(near) or file.is_relative_to(self._root):
            return Path(os.path.relpath(file, self._root)).as_posix()
        home = Path("~").expanduser()
        return f"~/{file.relative_to(home).as_posix()}" if file.is_relative_to(home) else file.as_posix()


def _parse_placed(data: bytes, origin: str, lead: bytes = b"", cut: int = 0) -> PlacedRules | None:
    try:
        if len(data) > MAX_RULE_BYTES:
            raise TooManyRules(f"is larger than {MAX_RULE_BYTES // 1024 // 1024} MB")
        rules = parse_ignore_file(data, folds_case=NAMES_FOLD_CASE)
    except TooManyRules as error:
        raise TooManyRules(f"{origin} {error}, which is more than dowse reads") from None
    return PlacedRules(rules, origin, lead, cut) if rules.rules else None


def _drop_missing(files: Collection[PlacedRules | None]) -> tuple[PlacedRules, ...]:
    return tuple(placed for placed in files if placed is not None)

"""The ignore rules in force in a folder: git's, and those of `.dowseignore` above them.

`.dowseignore` decides first. It may take back what git ignores, a single file in an ignored
folder too: `!generated/api.py` lets that file be seen and nothing else of `generated/`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dowse.sources.gitignore import IgnoreRule, RuleSet
from dowse.types import Reason, Rule

GITIGNORE_FILE = ".gitignore"
DOWSEIGNORE_FILE = ".dowseignore"


@dataclass(frozen=True, slots=True)
class PlacedRules:
    """A file of rules and where it stands.

    Rules see paths relative to their file: `lead` is put before a path of ours when the file
    stands above the root, `cut` bytes are taken off when it stands below.
    """

    rules: RuleSet
    origin: str
    lead: bytes = b""
    cut: int = 0

    def deciding_rule(self, path: bytes, name: bytes, *, is_folder: bool) -> IgnoreRule | None:
        """The rule of this file that decides about a path relative to the root."""
        return self.rules.deciding_rule(self.lead + path[self.cut :], name, is_folder=is_folder)

    def ignoring_rule(self, path: bytes, name: bytes, *, is_folder: bool, above: int | None = None) -> Rule | None:
        """The last rule of this file that ignores a path, among those above a line."""
        rule = self.rules.ignoring_rule(self.lead + path[self.cut :], name, is_folder=is_folder, above=above)
        return self.to_rule(rule) if rule else None

    def to_rule(self, rule: IgnoreRule) -> Rule:
        """A rule of this file as users know it."""
        return Rule(rule.text, self.origin, rule.line)

    def reaches_below(self, folder: bytes) -> bool:
        """Whether a rule may take back something below a folder."""
        return self.rules.reaches_below(self.lead + folder[self.cut :])


@dataclass(frozen=True, slots=True)
class Ignored:
    """A path that is ignored, by which rule, and the folder above that the rule speaks of."""

    reason: Reason
    rule: Rule
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Reinclusion:
    """A negated rule that lets a path be seen, and the rule that would ignore it."""

    rule: Rule
    overruled: Rule


@dataclass(frozen=True, slots=True)
class IgnoreStack:
    """All rules in force in one folder; of each kind the strongest last."""

    git: tuple[PlacedRules, ...] = ()
    dowse: tuple[PlacedRules, ...] = ()
    folder: Ignored | None = None
    """Git ignores the folder itself; only what `.dowseignore` takes back is seen in it."""

    def find_ignored(self, path: bytes, name: bytes, *, is_folder: bool) -> Ignored | None:
        """Why a path is ignored; None also for a folder in which something is taken back."""
        if self.dowse and (decided := _find_deciding_rule(self.dowse, path, name, is_folder=is_folder)):
            return _to_ignored(Reason.DOWSEIGNORED, *decided)
        by_git = self.folder or self._find_ignored_by_git(path, name, is_folder=is_folder)
        if by_git and is_folder and any(placed.reaches_below(path) for placed in self.dowse):
            return None
        return by_git

    def find_reinclusion(self, path: bytes, name: bytes, *, is_folder: bool) -> Reinclusion | None:
        """The rule that lets a path be seen which another one ignores; for explanations."""
        by_own = _find_deciding_rule(self.dowse, path, name, is_folder=is_folder)
        decided = by_own or (None if self.folder else _find_deciding_rule(self.git, path, name, is_folder=is_folder))
        if decided is None or not decided[1].is_negated:
            return None
        overruled = _find_overruled_rule(self.dowse if by_own else self.git, decided, path, name, is_folder=is_folder)
        if by_own and overruled is None:
            by_git = self.folder or self._find_ignored_by_git(path, name, is_folder=is_folder)
            overruled = by_git.rule if by_git else None
        return Reinclusion(decided[0].to_rule(decided[1]), overruled) if overruled else None

    def enter_folder(self, path: bytes, name: bytes, shown: str) -> "IgnoreStack":
        """The rules with which a folder is entered, before its own files are read."""
        if not self.dowse:
            return self
        if _find_deciding_rule(self.dowse, path, name, is_folder=True):
            return replace(self, folder=None)
        by_git = self.folder or self._find_ignored_by_git(path, name, is_folder=True)
        return replace(self, folder=by_git and replace(by_git, folder=by_git.folder or shown))

    def _find_ignored_by_git(self, path: bytes, name: bytes, *, is_folder: bool) -> Ignored | None:
        decided = _find_deciding_rule(self.git, path, name, is_folder=is_folder)
        return _to_ignored(Reason.GITIGNORED, *decided) if decided else None


def _find_deciding_rule(
    files: Sequence[PlacedRules], path: bytes, name: bytes, *, is_folder: bool
) -> tuple[PlacedRules, IgnoreRule] | None:
    for placed in reversed(files):
        if rule := placed.deciding_rule(path, name, is_folder=is_folder):
            return placed, rule
    return None


def _find_overruled_rule(
    files: Sequence[PlacedRules], decided: tuple[PlacedRules, IgnoreRule], path: bytes, name: bytes, *, is_folder: bool
) -> Rule | None:
    """The strongest rule that ignores a path, of those weaker than the one that decided."""
    placed, rule = decided
    if found := placed.ignoring_rule(path, name, is_folder=is_folder, above=rule.line):
        return found
    weaker = reversed(files[: files.index(placed)])
    return next(filter(None, (file.ignoring_rule(path, name, is_folder=is_folder) for file in weaker)), None)


def _to_ignored(reason: Reason, placed: PlacedRules, rule: IgnoreRule) -> Ignored | None:
    return None if rule.is_negated else Ignored(reason, placed.to_rule(rule))

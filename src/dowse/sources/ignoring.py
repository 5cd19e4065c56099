"""The ignore rules in force in a folder: git's, and those of `.dowseignore` above them.

`.dowseignore` decides first. It may take back what git ignores, a single file in an ignored
folder too: `!generated/api.py` lets that file be seen and nothing else of `generated/`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dowse.sources.gitignore import IgnoreRule, RuleSet
from dowse.types import Reason, Rule

GIT_FILE = ".gitignore"
OWN_FILE = ".dowseignore"


@dataclass(frozen=True, slots=True)
class Placed:
    """A file of rules and where it stands.

    Rules see paths relative to their file: `lead` is put before a path of ours when the file
    stands above the root, `cut` bytes are taken off when it stands below.
    """

    rules: RuleSet
    origin: str
    lead: bytes = b""
    cut: int = 0

    def deciding(self, path: bytes, name: bytes, *, is_folder: bool) -> IgnoreRule | None:
        """The rule of this file that decides about a path relative to the root."""
        return self.rules.deciding(self.lead + path[self.cut :], name, is_folder=is_folder)

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
class Ignores:
    """All rules in force in one folder; of each kind the strongest last."""

    git: tuple[Placed, ...] = ()
    own: tuple[Placed, ...] = ()
    folder: Ignored | None = None
    """Git ignores the folder itself; only what `.dowseignore` takes back is seen in it."""

    def against(self, path: bytes, name: bytes, *, is_folder: bool) -> Ignored | None:
        """Why a path is ignored; None also for a folder in which something is taken back."""
        if self.own and (decided := _deciding(self.own, path, name, is_folder=is_folder)):
            return _ignored(Reason.DOWSEIGNORED, *decided)
        by_git = self.folder or self._by_git(path, name, is_folder=is_folder)
        if by_git and is_folder and any(placed.reaches_below(path) for placed in self.own):
            return None
        return by_git

    def inside(self, path: bytes, name: bytes, shown: str) -> "Ignores":
        """The rules with which a folder is entered, before its own files are read."""
        if not self.own:
            return self
        if _deciding(self.own, path, name, is_folder=True):
            return replace(self, folder=None)
        by_git = self.folder or self._by_git(path, name, is_folder=True)
        return replace(self, folder=by_git and replace(by_git, folder=by_git.folder or shown))

    def _by_git(self, path: bytes, name: bytes, *, is_folder: bool) -> Ignored | None:
        decided = _deciding(self.git, path, name, is_folder=is_folder)
        return _ignored(Reason.GITIGNORED, *decided) if decided else None


def _deciding(
    files: Sequence[Placed], path: bytes, name: bytes, *, is_folder: bool
) -> tuple[Placed, IgnoreRule] | None:
    for placed in reversed(files):
        if rule := placed.deciding(path, name, is_folder=is_folder):
            return placed, rule
    return None


def _ignored(reason: Reason, placed: Placed, rule: IgnoreRule) -> Ignored | None:
    return None if rule.is_negated else Ignored(reason, Rule(rule.text, placed.origin, rule.line))

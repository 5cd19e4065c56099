"""The deny list: what is never read, whatever the settings say."""

import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

from dowse.sources.names import normalised
from dowse.system import NAMES_FOLD_CASE
from dowse.types import Rule

_STAR = "[^/]*"


@dataclass(frozen=True, slots=True)
class Category:
    """Patterns that are denied for one reason."""

    name: str
    is_always_on: bool
    patterns: tuple[str, ...]


@cache
def categories() -> tuple[Category, ...]:
    """The categories of `deny.toml`."""
    table = tomllib.loads(Path(__file__).with_name("deny.toml").read_text(encoding="utf-8"))
    return tuple(Category(name, entry.get("always", False), tuple(entry["patterns"])) for name, entry in table.items())


class DenyList:
    """The categories that hold for a source: those that are always on, and those it names.

    A path is first asked whether its name fits any pattern in any letter case, which nearly all
    deny; patterns that begin with a star share it there. Only then it is asked which one.
    """

    def __init__(self, names: Collection[str] | None = None, *, folds_case: bool = NAMES_FOLD_CASE) -> None:
        chosen = [c for c in categories() if c.is_always_on or names is None or c.name in names]
        self._chosen, self._folds_case = chosen, folds_case
        last_parts = [_expression(_last_part(pattern.casefold())) for c in chosen for pattern in c.patterns]
        plain = [part for part in last_parts if not part.startswith(_STAR)] or ["(?!)"]
        starred = [part.removeprefix(_STAR) for part in last_parts if part.startswith(_STAR)] or ["(?!)"]
        self._any = re.compile(f"(?:{'|'.join(plain)}|{_STAR}(?:{'|'.join(starred)}))\\Z", re.DOTALL)

    def rule_against(self, path: str, *, is_folder: bool = False) -> Rule | None:
        """The pattern that denies a path below the root, or a folder on the way to it."""
        for folder in accumulate(path.split("/")[:-1], "{}/{}".format):
            if rule := self.rule_against_last(folder, is_folder=True):
                return rule
        return self.rule_against_last(path, is_folder=is_folder)

    def rule_against_last(self, path: str, *, is_folder: bool) -> Rule | None:
        """The same for whoever has asked about the folders on the way already."""
        spelled = normalised(path) + ("/" if is_folder else "")
        if not self._any.match(_last_part(spelled).casefold()):
            return None
        return next(filter(None, (self._rule_of(category, spelled) for category in self._chosen)), None)

    def _rule_of(self, category: Category, spelled: str) -> Rule | None:
        flags = re.DOTALL | (re.IGNORECASE if category.is_always_on or self._folds_case else re.NOFLAG)
        for pattern in category.patterns:
            if re.fullmatch(f"(?:.*/)?{_expression(pattern)}", spelled, flags):
                return Rule(pattern, f"built-in deny list ({category.name})")
        return None


def _last_part(path: str) -> str:
    """`c/` of the folder `a/b/c/`, `c` of the file `a/b/c`."""
    return path[path.rfind("/", 0, -1) + 1 :]


def _expression(pattern: str) -> str:
    return _STAR.join(map(re.escape, pattern.removesuffix("/").split("*"))) + ("/" if pattern.endswith("/") else "/?")

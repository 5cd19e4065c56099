"""The patterns of the settings `exclude`, `include` and `docPatterns`."""

import re

from dowse.globs import compile_glob, to_path_glob
from dowse.types import Rule

_MATCH_ALL_PATTERNS = ("**", "**/*", "*")


class PatternList:
    """The list of patterns under one key of the settings.

    With `folds_case` a pattern matches in any letter case: `**/*.md` also matches `README.MD`.
    """

    def __init__(self, patterns: tuple[str, ...], key: str, *, folds_case: bool = False) -> None:
        self._origin = f"config.json ({key})"
        self._patterns = patterns
        flags = re.IGNORECASE if folds_case else re.NOFLAG
        self._files = [(pattern, _compile_for_files(pattern, flags)) for pattern in patterns]
        self._folders = [(pattern, compile_glob(to_path_glob(pattern).removesuffix("/**"))) for pattern in patterns]
        self.is_everything = any(pattern in _MATCH_ALL_PATTERNS for pattern in patterns)

    def rule_for_file(self, path: str) -> Rule | None:
        """Return the first pattern that matches a file."""
        return self._first(self._files, path)

    def rule_for_folder(self, path: str) -> Rule | None:
        """Return the first pattern that matches a folder with everything below it."""
        return self._first(self._folders, path)

    def as_one_rule(self) -> Rule:
        """Return all patterns as one rule, for a file that matches none of them."""
        return Rule(", ".join(self._patterns), self._origin)

    def _first(self, patterns: list[tuple[str, re.Pattern[str]]], path: str) -> Rule | None:
        for pattern, expression in patterns:
            if expression.fullmatch(path):
                return Rule(pattern, self._origin)
        return None


def _compile_for_files(pattern: str, flags: int) -> re.Pattern[str]:
    """Compile a pattern for files; one that ends in a slash matches the files in such a folder."""
    glob = compile_glob(f"{to_path_glob(pattern)}/**" if pattern.endswith("/") else to_path_glob(pattern))
    return re.compile(glob.pattern, glob.flags | flags)

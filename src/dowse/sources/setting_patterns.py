"""The patterns of the settings: what the user excludes, includes, or calls documentation."""

import re

from dowse.globs import compile_glob, to_path_glob
from dowse.types import Rule

_MATCH_ALL_PATTERNS = ("**", "**/*", "*")


class PatternList:
    """One list of patterns under the key it has in the settings."""

    def __init__(self, patterns: tuple[str, ...], key: str) -> None:
        self._origin = f"config.json ({key})"
        self._patterns = patterns
        self._files = [(pattern, _compile_for_files(pattern)) for pattern in patterns]
        self._folders = [(pattern, compile_glob(to_path_glob(pattern).removesuffix("/**"))) for pattern in patterns]
        self.is_everything = any(pattern in _MATCH_ALL_PATTERNS for pattern in patterns)

    def rule_for_file(self, path: str) -> Rule | None:
        """The first pattern that a file fits."""
        return self._first(self._files, path)

    def rule_for_folder(self, path: str) -> Rule | None:
        """The first pattern that a folder fits with everything below it."""
        return self._first(self._folders, path)

    def as_one_rule(self) -> Rule:
        """All patterns together, for what fits none of them."""
        return Rule(", ".join(self._patterns), self._origin)

    def _first(self, patterns: list[tuple[str, re.Pattern[str]]], path: str) -> Rule | None:
        for pattern, expression in patterns:
            if expression.fullmatch(path):
                return Rule(pattern, self._origin)
        return None


def _compile_for_files(pattern: str) -> re.Pattern[str]:
    """A pattern that ends in a slash means the files in such a folder."""
    return compile_glob(f"{to_path_glob(pattern)}/**" if pattern.endswith("/") else to_path_glob(pattern))

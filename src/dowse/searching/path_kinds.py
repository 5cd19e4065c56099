"""Information in the path of a file: its words, and its kind, such as a test, an example, prose or a migration."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from dowse.globs import compile_path_filter
from dowse.text.analysis import bare_stem, terms_of

Tests = Literal["ranked", "none", "only"]
"""Whether files that are tests or examples by their path are ranked lower, left out, or the only ones."""
_TEST_KINDS = frozenset({"test", "example"})

_KINDS: dict[str, re.Pattern[str]] = {
    "test": re.compile(
        r"(?:^|/)(?:tests?|__tests__|specs?|testing|testdata|test-data|fixtures?|__mocks__|e2e)/"
        r"|(?:^|/)[^/]*[a-z.]Tests?/|(?:^|/)Test[A-Z][^/]*\.[a-z]+$"
        r"|(?:^|/)(?:tests?\.[a-z]+|test_[^/]*|conftest\.py|[^/]*[_.-](?:tests?|spec)\.[a-z]+|[^/]*(?:Tests?|Spec|Suite|IT)\.[a-z]+)$"
    ),
    "example": re.compile(
        r"(?:^|/)(?:_?examples?|samples?|demos?|docs?_src|benchmarks?|bench(?:es)?|tutorials?)/", re.IGNORECASE
    ),
    "prose": re.compile(r"\.(?:rst|md|mdx|txt|adoc)$", re.IGNORECASE),
    "migration": re.compile(r"(?:^|/)(?:migrations?|migrate|seeds?|seeders?|alembic/versions)/|(?:^|/)seeds?\.[a-z]+$"),
    "translation": re.compile(
        r"(?:^|/)(?:locales?|i18n|l10n|translations?|lang)/.*\.(?:json|ya?ml|php|properties|xml|arb|strings|ftl)$"
        r"|\.(?:po|pot|resx|arb|xlf|xliff)$"
        r"|(?:^|/)(?:locales?|translations?)/[^/]*\.[jt]s$"
    ),
    "generated": re.compile(
        r"(?:^|/)(?:__generated__|generated)/"
        r"|(?:_pb2?(?:_grpc)?\.py|\.pb\.go|\.(?:g|generated|designer|min)\.[a-z]+|\.[a-z]+\.map)$",
        re.IGNORECASE,
    ),
    "vendored": re.compile(r"(?:^|/)(?:_vendor|_?vendored|third[_-]party)/"),
}
_REQUEST_STEMS = {
    "test": {"test", "spec", "fixtur", "mock", "suit"},
    "example": {"exampl", "sampl", "demo", "benchmark", "bench", "tutori"},
    "prose": {"doc", "document", "readm", "guid", "tutori", "manual", "changelog"},
    "migration": {"migrat", "seed", "schema", "sql", "trigger", "tabl"},
    "translation": {"translat", "local", "i18n", "languag"},
    "generated": {"generat"},
    "vendored": {"vendor"},
}
"""Stems of the words with which a query requests files of a kind."""

PACKAGE_FILES = frozenset(("__init__", "index", "init", "mod"))
"""Names of files that stand for their folder."""


@lru_cache(maxsize=20_000)
def kinds_of(path: str) -> frozenset[str]:
    """Return the kinds of a file, judged by its path."""
    return frozenset(kind for kind, pattern in _KINDS.items() if pattern.search(path))


def unrequested_kinds(path: str, terms: frozenset[str]) -> frozenset[str]:
    """Return the kinds of a file that a typed query does not request."""
    return frozenset(kind for kind in kinds_of(path) if not terms & _REQUEST_STEMS[kind])


@lru_cache(maxsize=20_000)
def _name_terms(path: str) -> frozenset[str]:
    """Return the terms of the name of a file and of its folder."""
    pure = PurePosixPath(path)
    return frozenset(terms_of(f"{pure.stem} {pure.parent.name}"))


@lru_cache(maxsize=20_000)
def _own_name_terms(path: str) -> tuple[str, ...]:
    pure = PurePosixPath(path)
    return tuple(terms_of(pure.parent.name if pure.stem in PACKAGE_FILES else pure.stem))


class NameMatcher:
    """Compares the terms of a query with names. Terms are alike if one begins with the other, and with four letters."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._by_start: dict[str, list[tuple[str, str]]] = {}
        self._known: dict[str, list[str]] = {}
        """The terms that are alike with names that were compared: files of a folder share most of their words."""
        for term in terms:
            stem = bare_stem(term)
            self._by_start.setdefault(stem[:4], []).append((term, stem))

    def terms_in(self, path: str) -> set[str]:
        """Return the terms of the query that the names of a file and its folder have."""
        return {term for name in _name_terms(path) for term in self._alike(name)}

    def has_name_of(self, path: str) -> bool:
        """Return whether the query has all words of the name of a file; some files have the name of their folder."""
        return bool(names := _own_name_terms(path)) and all(map(self._alike, names))

    def _alike(self, name: str) -> list[str]:
        found = self._known.get(name)
        if found is None:
            candidates = self._by_start.get(name[:4], ())
            found = [term for term, stem in candidates if stem.startswith(name) or name.startswith(stem)]
            self._known[name] = found
        return found


def is_requested_path(requested: str | None, path: str) -> bool:
    """Return whether a path, or its end, is the requested one."""
    if not requested:
        return False
    requested, path = requested.strip("./").lower(), path.lower()
    return path == requested or path.endswith(f"/{requested}")


def path_filter(wanted: Iterable[Iterable[str]], excluded: Iterable[str], tests: Tests) -> Callable[[str], bool]:
    """Return a function that says whether a path matches one filter of each group, none excluded, and the rule for tests."""
    groups = [[compile_path_filter(one) for one in group] for group in wanted]
    left_out = [compile_path_filter(one) for one in excluded]

    def is_wanted(path: str) -> bool:
        if any(one.fullmatch(path) for one in left_out):
            return False
        if not all(any(one.fullmatch(path) for one in group) for group in groups if group):
            return False
        return tests == "ranked" or (tests == "only") == bool(kinds_of(path) & _TEST_KINDS)

    return is_wanted

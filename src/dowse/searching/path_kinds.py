"""Information in the path of a file: its words, and whether it is a test, an example, prose, generated or legacy code."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

from dowse.text.analysis import terms_of

_KINDS: dict[str, re.Pattern[str]] = {
    "test": re.compile(
        r"(?:^|/)(?:tests?|__tests__|specs?|testing|testdata|test-data|fixtures?|__mocks__|e2e)/"
        r"|(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*[_.-](?:tests?|spec)\.[a-z]+|[^/]*(?:Tests?|Spec|Suite|IT)\.[a-z]+)$"
    ),
    "example": re.compile(r"(?:^|/)(?:_?examples?|samples?|demos?|docs?_src|benchmarks?|bench|tutorials?)/"),
    "legacy": re.compile(r"(?:^|/)_?(?:compat|legacy|deprecated|obsolete|old)(?:/|\.[a-z]+$)"),
    "generated": re.compile(
        r"(?:^|/)(?:generated|gen|__generated__)/|[._-](?:generated|gen|pb|g)\.[a-z]+$|_pb2(?:_grpc)?\.pyi?$|\.min\.(?:js|css)$"
    ),
    "declaration": re.compile(r"\.d\.[mc]?ts$|\.pyi$"),
    "prose": re.compile(r"\.(?:rst|md|mdx|txt|adoc)$", re.IGNORECASE),
}
_REQUEST_STEMS = {
    "test": {"test", "spec", "fixtur", "mock", "suit"},
    "example": {"exampl", "sampl", "demo", "benchmark", "bench", "tutori"},
    "legacy": {"legaci", "compat", "deprec", "old", "obsolet"},
    "generated": {"generat", "gen", "protobuf", "minifi"},
    "declaration": {"declar", "type", "stub", "typ"},
}
"""Stems of the words with which a query requests files of a kind."""


@lru_cache(maxsize=20_000)
def kinds_of(path: str) -> frozenset[str]:
    """Return the kinds of a file, judged by its path."""
    return frozenset(kind for kind, pattern in _KINDS.items() if pattern.search(path))


def unrequested_kinds(path: str, terms: frozenset[str]) -> frozenset[str]:
    """Return the kinds of a file that a typed query does not request; prose is as good as code there."""
    return frozenset(kind for kind in kinds_of(path) if kind in _REQUEST_STEMS and not terms & _REQUEST_STEMS[kind])


@lru_cache(maxsize=20_000)
def name_terms(path: str) -> frozenset[str]:
    """Return the terms of the name of a file and of its folder."""
    pure = PurePosixPath(path)
    return frozenset(terms_of(f"{pure.stem} {pure.parent.name}"))


def is_term_in_names(term: str, names: frozenset[str]) -> bool:
    """Return whether the names contain a term, or one begins with the other and both have more than three letters."""
    if term in names:
        return True
    return len(term) > 3 and (not names.isdisjoint(_beginnings(term)) or f" {term}" in _joined(names))


@lru_cache(maxsize=1000)
def _beginnings(term: str) -> frozenset[str]:
    return frozenset(term[:length] for length in range(4, len(term)))


@lru_cache(maxsize=20_000)
def _joined(names: frozenset[str]) -> str:
    return " " + " ".join(names)


def is_requested_path(requested: str | None, path: str) -> bool:
    """Return whether a path, or its end, is the requested one."""
    if not requested:
        return False
    requested, path = requested.strip("./").lower(), path.lower()
    return path == requested or path.endswith(f"/{requested}")

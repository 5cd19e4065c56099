"""What a path says: its words, and whether it is a test, an example, generated or on its way out."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

from dowse.store.analysis import terms_of

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
}
_REQUEST_STEMS = {
    "test": {"test", "spec", "fixtur", "mock", "suit"},
    "example": {"exampl", "sampl", "demo", "benchmark", "bench", "tutori"},
    "legacy": {"legaci", "compat", "deprec", "old", "obsolet"},
    "generated": {"generat", "gen", "protobuf", "minifi"},
    "declaration": {"declar", "type", "stub", "typ"},
}
"""Stems of words by which a query asks for such a file."""


@lru_cache(maxsize=20_000)
def kinds_of(path: str) -> frozenset[str]:
    """What a path shows its file to be."""
    return frozenset(kind for kind, sign in _KINDS.items() if sign.search(path))


def unrequested_kinds(path: str, terms: frozenset[str]) -> frozenset[str]:
    """The same without what the query asks for."""
    return frozenset(kind for kind in kinds_of(path) if not terms & _REQUEST_STEMS[kind])


@lru_cache(maxsize=20_000)
def name_terms(path: str) -> frozenset[str]:
    """The terms of a file's name and of the folder it stands in."""
    pure = PurePosixPath(path)
    return frozenset(terms_of(f"{pure.stem} {pure.parent.name}"))


def is_term_in_names(term: str, names: frozenset[str]) -> bool:
    """Whether a name holds a term, or either begins with the other where both are long enough."""
    if term in names:
        return True
    return len(term) > 3 and any(name.startswith(term) or (len(name) > 3 and term.startswith(name)) for name in names)


def is_requested_path(asked: str | None, path: str) -> bool:
    """Whether a path, or its end, is the one that was asked for."""
    if not asked:
        return False
    asked, path = asked.strip("./").lower(), path.lower()
    return path == asked or path.endswith(f"/{asked}")

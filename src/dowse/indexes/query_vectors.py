"""The vectors of a query: by the model if it is ready, else by the static table."""

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dowse.encoding.shipped import STATIC_VERSION
from dowse.errors import DowseError
from dowse.indexes.encoder_state import serving_version
from dowse.indexes.index import ProjectIndex
from dowse.searching.candidates import Mode, QueryVector
from dowse.searching.query_terms import SearchQuery
from dowse.settings import Settings

if TYPE_CHECKING:
    from dowse.types import Vectors

QUERY_SECONDS = 0.15
"""How long a search waits for the vector of its query: an idle process takes 5 to 10 ms, a busy one 30."""


class QueryEncoder(Protocol):
    """Encodes queries with the model."""

    def encode_query(self, version: str, text: str, seconds: float) -> "Vectors | None":
        """Return the vector of a query, or None if it cannot be computed in time."""
        ...


class InProcessEncoder:
    """The model in this process, for a command that runs one query; loading it takes 0.3 s."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def encode_query(self, version: str, text: str, seconds: float) -> "Vectors | None":  # noqa: ARG002 - it never waits
        """Return the vector of a query, or None if the model is not on this machine."""
        from dowse.encoding.selection import open_version

        with contextlib.suppress(DowseError):
            vector: Vectors = open_version(version, self._settings, lambda _text: None).encode([text])[0]
            return vector
        return None


class QueryVectors(NamedTuple):
    """The vectors of a query, one for each encoder that takes part."""

    vectors: Sequence[QueryVector] = ()
    skipped_method: str = ""
    """Why the model does not take part although the index has vectors of it."""


def encode_query(index: ProjectIndex, query: SearchQuery, mode: Mode, encoder: QueryEncoder | None) -> QueryVectors:
    """Return the vectors of a query; none if it is searched by words alone."""
    table = index.table() if mode != "lexical" else None
    if table is None:
        return QueryVectors()
    text, store = _plain_text(query), index.store
    vectors, skipped_method = list[QueryVector](), ""
    version = serving_version(store, index.settings)
    covered = _share(store.vector_counts(version)) if version else 0.0
    if version and covered and encoder:
        vector = encoder.encode_query(version, text, QUERY_SECONDS)
        if vector is None:
            skipped_method = f"{version} was not ready in time; the next search may have it"
        else:
            vectors.append(QueryVector(version, vector, covered, is_model=True))
    if not vectors or covered < 1:
        vector, covered = table.encode([text])[0], _share(store.vector_counts(STATIC_VERSION))
        if covered and vector.any():
            vectors.append(QueryVector(STATIC_VERSION, vector, covered))
    return QueryVectors(vectors, skipped_method)


def _plain_text(query: SearchQuery) -> str:
    """Return the text of a query without the signs of the query syntax."""
    if not (query.must or query.must_not or query.phrases or query.not_phrases):
        return query.text
    return " ".join((*query.terms, *query.must, *query.phrases))


def _share(counts: tuple[int, int]) -> float:
    encoded, total = counts
    return min(1.0, encoded / total) if total else 0.0

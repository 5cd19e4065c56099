"""A question as the encoders see it: by the model where somebody has it ready, by the table in any case."""

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dowse.encoding.shipped import STATIC_VERSION
from dowse.errors import DowseError
from dowse.indexes.encoder_state import serving_version
from dowse.indexes.index import ProjectIndex
from dowse.searching.candidates import Mode, QueryVector
from dowse.searching.query_terms import parse_search_query
from dowse.settings import Settings

if TYPE_CHECKING:
    from dowse.types import Vectors

QUERY_SECONDS = 0.15
"""How long an answer waits for its question's vector; a process at rest takes 5 to 10 ms, one at work 30."""


class QueryEncoder(Protocol):
    """Whoever has the model at hand."""

    def encode_query(self, version: str, text: str, seconds: float) -> "Vectors | None":
        """A question's vector; None where it cannot be had in time."""
        ...


class InProcessEncoder:
    """The model in this very process, for a command that asks one question: 0.3 s to load."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def encode_query(self, version: str, text: str, seconds: float) -> "Vectors | None":  # noqa: ARG002 - nobody waits
        """A question's vector; None where the model is not on this machine."""
        from dowse.encoding.selection import open_version

        with contextlib.suppress(DowseError):
            vector: Vectors = open_version(version, self._settings, lambda _text: None).encode([text])[0]
            return vector
        return None


class QueryVectors(NamedTuple):
    """A question as the encoders see it."""

    meanings: Sequence[QueryVector] = ()
    lacks: str = ""
    """Why the model has no say, though there are vectors of it."""


def encode_query(project: ProjectIndex, text: str, mode: Mode, encoder: QueryEncoder | None) -> QueryVectors:
    """What a question means, by each encoder that counts; nothing where only words do."""
    table = project.table() if mode != "lexical" else None
    if table is None:
        return QueryVectors()
    asked, store = _plain(text), project.store
    found, lacks = list[QueryVector](), ""
    version = serving_version(store, project.settings)
    covered = _share(store.vector_counts(version)) if version else 0.0
    if version and covered and encoder:
        vector = encoder.encode_query(version, asked, QUERY_SECONDS)
        if vector is None:
            lacks = f"{version} was not ready in time; the next search may have it"
        else:
            found.append(QueryVector(version, vector, covered, is_model=True))
    if not found or covered < 1:
        vector, covered = table.encode([asked])[0], _share(store.vector_counts(STATIC_VERSION))
        if covered and vector.any():
            found.append(QueryVector(STATIC_VERSION, vector, covered))
    return QueryVectors(found, lacks)


def _plain(text: str) -> str:
    """A question without the marks of the query syntax."""
    query = parse_search_query(text)
    if not (query.must or query.must_not or query.phrases or query.not_phrases):
        return query.text
    return " ".join((*query.terms, *query.must, *query.phrases))


def _share(counts: tuple[int, int]) -> float:
    held, all_ = counts
    return min(1.0, held / all_) if all_ else 0.0

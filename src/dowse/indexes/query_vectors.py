"""The vectors of a query: by the model if it is ready, else by the static table."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload

from dowse.encoding.selection import MINILM_VERSION, STATIC_VERSION
from dowse.errors import DowseError
from dowse.indexes.encoding_progress import serving_version
from dowse.indexes.index import ProjectIndex
from dowse.protocols import ScoreTexts
from dowse.searching.candidates import Mode, QueryVector
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import SearchOptions
from dowse.settings import Settings
from dowse.store.local import LocalStore

if TYPE_CHECKING:
    from dowse.encoding.minilm import CosineScorer
    from dowse.protocols import Encoder
    from dowse.types import Vectors

QUERY_SECONDS = 0.15
"""How long a search waits for the vector of its query: an idle process takes 5 to 10 ms, a busy one 30."""
SCORE_SECONDS = 0.12
"""How long a search waits for the scores of its best definitions: an idle process takes 93 ms on two cores of ARM, and
11 ms for texts that it has scored before. Without them, definitions are ordered as if there were no model."""


class QueryEncoder(Protocol):
    """Encodes queries with the model."""

    def start_query(self, version: str, text: str) -> "Callable[[float], Vectors | None]":
        """Have a query encoded; return a function that waits so many seconds for its vector."""
        ...

    def start_scoring(self, version: str, text: str) -> "Callable[[Sequence[str], float], Vectors | None]":
        """Return a function that scores texts against a query, and waits so many seconds for that."""
        ...


class InProcessEncoder:
    """The model in this process, for a command that runs one query; loading it takes 0.3 s, so that only a query loads it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: dict[str, Encoder] = {}
        self._scorer: CosineScorer | None = None
        self._scoring: threading.Thread | None = None
        self._opening = threading.Lock()

    def open_early(self, index: ProjectIndex) -> None:
        """Open the model that the index has vectors of, on another thread: half of that runs beside other work."""
        with contextlib.suppress(DowseError):  # the search reports it
            version = serving_version(index.store, self._settings) if index.exists else None
            if version and index.store.vector_counts(version)[0]:
                import numpy  # noqa: F401 - two threads that import it at once may each see half of it

                threading.Thread(target=self._try_to_open, args=(version,), daemon=True, name="opens the model").start()

    def _try_to_open(self, version: str) -> None:
        with contextlib.suppress(DowseError):  # the query meets the same problem
            self._open(version)

    def _open(self, version: str) -> "Encoder":
        from dowse.encoding.selection import open_version

        with self._opening:
            if version not in self._opened:
                self._opened[version] = open_version(version, self._settings, lambda _text: None)
            return self._opened[version]

    def start_query(self, version: str, text: str) -> "Callable[[float], Vectors | None]":
        """Return a function that encodes a query; its vector is None if the model is not on this machine."""

        def encode(_seconds: float) -> "Vectors | None":
            try:
                return self._open(version).encode_query(text)
            except DowseError:
                return None

        return encode

    def start_scoring(self, version: str, text: str) -> "Callable[[Sequence[str], float], Vectors | None]":
        """Return a function that scores texts if the model is open for the query; it is not opened for them."""
        return partial(self._score, version, text)

    def _score(self, version: str, text: str, texts: Sequence[str], seconds: float) -> "Vectors | None":
        from dowse.encoding.minilm import SCORING_THREADS, CosineScorer, MiniLM

        encoder, found = self._opened.get(version), list["Vectors"]()
        if not isinstance(encoder, MiniLM) or (self._scoring and self._scoring.is_alive()):
            return None
        scorer = self._scorer = self._scorer or CosineScorer(encoder, SCORING_THREADS)

        def score() -> None:
            with contextlib.suppress(Exception):  # a library fails on a strange text, and the order stays
                found.append(scorer.score(text, texts))

        self._scoring = threading.Thread(target=score, daemon=True, name="scores texts")
        self._scoring.start()
        self._scoring.join(seconds)
        return found[0] if found else None


class _Encoded(NamedTuple):
    vectors: Sequence[QueryVector] = ()
    skipped_method: str = ""


class QueryVectors(Sequence[QueryVector]):
    """The vectors of a query, one for each encoder that takes part.

    The model computes its vector while the words are searched: it is waited for when a vector is first needed.
    """

    def __init__(self, wait: Callable[[], _Encoded] = _Encoded) -> None:
        self._wait = wait

    @cached_property
    def _encoded(self) -> _Encoded:
        return self._wait()

    @property
    def skipped_method(self) -> str:
        """Why the model does not take part although the index has vectors of it."""
        return self._encoded.skipped_method

    @overload
    def __getitem__(self, at: int) -> QueryVector: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[QueryVector]: ...
    def __getitem__(self, at: int | slice) -> QueryVector | Sequence[QueryVector]:
        return self._encoded.vectors[at]

    def __len__(self) -> int:
        return len(self._encoded.vectors)


def encode_query(
    index: ProjectIndex,
    query: SearchQuery,
    mode: Mode,
    encoder: QueryEncoder | None,
    store: LocalStore,
    *,
    stored_share: float = 1.0,
) -> QueryVectors:
    """Begin to encode a query and return its vectors; there are none if it is searched by words alone.

    Of all chunks that are searched, the store has `stored_share`; the others have vectors of the table alone.
    """
    table = index.table() if mode != "lexical" else None
    text = plain_text(query)
    if table is None or not (mode == "vector" or table.has_meaning(text)):
        return QueryVectors()
    version = serving_version(store, index.settings)
    model_share = stored_share * _share(store.vector_counts(version)) if version else 0.0
    wait_for_model = encoder.start_query(version, text) if version and model_share and encoder else None

    def wait() -> _Encoded:
        vectors, skipped_method = list[QueryVector](), ""
        if version and wait_for_model:
            vector = wait_for_model(QUERY_SECONDS)
            if vector is None:
                skipped_method = f"{version} was not ready in time; the next search may have it"
            else:
                vectors.append(QueryVector(version, vector, model_share, is_model=True))
        if not vectors or model_share < 1:
            vector, table_share = table.encode([text])[0], _share(store.vector_counts(STATIC_VERSION))
            if table_share and vector.any():
                vectors.append(QueryVector(STATIC_VERSION, vector, table_share))
        return _Encoded(vectors, skipped_method)

    return QueryVectors(wait)


def text_scorer(
    index: ProjectIndex, query: SearchQuery, options: SearchOptions, encoder: QueryEncoder | None
) -> ScoreTexts | None:
    """Return a function that scores texts against a question in prose; None if the model is not asked.

    Files of documents, and of an index whose chunks it has all encoded, are ranked without it; definitions are always scored.
    All calls together wait at most `SCORE_SECONDS`.
    """
    is_question = query.shape == "prose" and not query.is_pasted and options.mode != "lexical" and options.asks_model
    version = serving_version(index.store, index.settings) if encoder and is_question else None
    if encoder is None or version != MINILM_VERSION:
        return None
    is_ranked = options.kind == "docs" or options.documents_only or _share(index.store.vector_counts(version)) == 1
    if is_ranked and options.detail != "definitions":
        return None
    score, left = encoder.start_scoring(version, plain_text(query)), SCORE_SECONDS

    def score_texts(texts: Sequence[str]) -> Sequence[float] | None:
        nonlocal left
        started = time.monotonic()
        scores = score(texts, max(left, 0.0))
        left -= time.monotonic() - started
        return None if scores is None else scores.tolist()

    return score_texts


def load_vectors(index: ProjectIndex, load_model: Callable[[str], object] | None = None) -> None:
    """Begin to load the model, and load its vectors that queries are compared with, if there are any."""
    version = serving_version(index.store, index.settings)
    if version and load_model:
        load_model(version)  # it takes longest, and runs beside the rest
    if version and index.store.vector_counts(version)[0]:
        index.store.encoded_documents(version, frozenset([1]))  # of any documents: that loads all


def plain_text(query: SearchQuery) -> str:
    """Return the text of a query without the signs of the query syntax; of pasted text the title."""
    if query.pasted and query.pasted.title:
        return query.pasted.title
    if not query.has_filters:
        return query.text
    return " ".join((*query.terms, *query.must, *query.phrases))


def _share(counts: tuple[int, int]) -> float:
    encoded, total = counts
    return min(1.0, encoded / total) if total else 0.0

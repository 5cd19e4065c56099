"""An encoder behind an OpenAI-compatible endpoint, which the user's own settings name.

Every text is masked before it is sent, as search hits are. The first reply says how many dimensions the vectors have;
`endpoint_record` keeps that, so that a server which has another model behind the same name is noticed.
"""

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dowse.encoding.endpoint_record import EndpointRecord, read_record, version_of, write_record
from dowse.errors import DownloadFailed, EndpointFailed, Failed, UsageError
from dowse.https_client import DownloadRules, Reply, open_url
from dowse.screening.masking import screen_text, surroundings
from dowse.visible_text import one_line, strip_invisible

if TYPE_CHECKING:
    from dowse.encoder_endpoint import EncoderEndpoint
    from dowse.types import Kind, Vectors

MAX_TEXTS = 64
"""Texts in a request; servers accept 32 to 2,048."""
MAX_CHARACTERS = 4000
"""The number of characters of a text that are sent, as for the other encoders."""
MIN_CHARACTERS = 250
"""A text that a server finds too long is sent again with half of its characters, down to this many."""
MAX_DIMENSIONS = 16_384
MAX_NUMBER = 1e30
MAX_REPLY_BYTES = 64 * 1024 * 1024
BATCH_SECONDS = 120.0
"""How long a server may take for a batch; the first one may have to load its model."""
QUERY_SECONDS = 5.0
"""How long a server may take for a query. A search waits less; the model is loaded for the next one meanwhile."""
ATTEMPTS = 3
PAUSE_SECONDS = 1.0
"""The pause before the second attempt, which is doubled before the third. A server may ask for a longer one."""
MAX_PAUSE_SECONDS = 30.0
AWAY_SECONDS = 15.0
"""After a query without a reply, none is sent for this long: each would wait in vain."""
MAX_MESSAGE_CHARACTERS = 200
COMMON_DIRECTION = 0.2
"""The mean cosine between unrelated texts from which on their common direction is removed. Ours has less than 0.1; models
with 0.7 would call everything near, and eight bits would keep little of the differences."""
SAME_MODEL = 0.98
"""Minimum cosine between the vectors of one text by one model, whatever processor or batch computes them."""

PROBE_TEXTS = (
    "open a file and read its lines",
    "def connect(host, port, timeout=30): return socket.create_connection((host, port), timeout)",
    "The quarterly report is due on Friday.",
    "How do I change the colour of the button?",
    "SELECT name, price FROM products WHERE price > 10 ORDER BY name",
    "class Matrix { double determinant() const; };",
    "Patients with diabetes have a higher risk of infection.",
    "import React from 'react';",
    "The bridge was closed for repairs in winter.",
    "fn parse(input: &str) -> Result<Token, Error>",
    "Mix flour, eggs and milk, and bake for twenty minutes.",
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: gateway",
    "Error: permission denied while trying to connect to the daemon",
    "A star collapses when its fuel is spent.",
    "public void onMessage(Message message) throws JMSException",
    "The team won the final by two goals.",
)
"""Texts that have nothing in common. The first tells models apart, and the mean of all is their common direction."""

_RETRIED_STATUSES = (408, 425, 429, 500, 502, 503, 504)
_TOO_LONG_STATUSES = (400, 413, 422, 500)
_TOO_LONG = re.compile(r"too (large|long|many)|context|token|length|batch size", re.IGNORECASE)


class EndpointEncoder:
    """An encoder that asks a server. Every failure is an EndpointFailed that says what is wrong."""

    sends_text = True

    def __init__(self, endpoint: "EncoderEndpoint", record: EndpointRecord) -> None:
        self._endpoint = endpoint
        self._record = record
        self._problem: EndpointFailed | None = None
        self._problem_at = 0.0
        self.version = version_of(endpoint, record)
        self.dimensions = record.dimensions

    def encode(self, texts: Sequence[str], kind: "Kind" = "docs") -> "Vectors":  # noqa: ARG002 - both kinds are encoded alike
        """Return one row for each text, of length 1."""
        import numpy as np

        batches = [texts[start : start + MAX_TEXTS] for start in range(0, len(texts), MAX_TEXTS)]
        rows = [
            self._encode_batch([self._endpoint.document_prefix + _mask(text) for text in batch]) for batch in batches
        ]
        return self._center(np.concatenate(rows)) if rows else np.zeros((0, self.dimensions), np.float32)

    def encode_query(self, text: str) -> "Vectors":
        """Return the vector of a query, without a second attempt: a user waits."""
        if self._problem and time.monotonic() - self._problem_at < AWAY_SECONDS:
            raise self._problem
        self._problem = None
        try:
            sent = [self._endpoint.query_prefix + _mask(text)]
            rows = request_vectors(self._endpoint, sent, self.dimensions, QUERY_SECONDS, attempts=1)
        except EndpointFailed as error:
            self._problem, self._problem_at = error, time.monotonic()
            raise
        vector: Vectors = self._center(rows)[0]
        return vector

    def _encode_batch(self, texts: list[str]) -> "Vectors":
        """Encode a few texts: all at once, or one by one and shorter if the server finds them too long."""
        import numpy as np

        try:
            return request_vectors(self._endpoint, texts, self.dimensions)
        except EndpointFailed as error:
            if not error.is_too_long or (len(texts) == 1 and len(texts[0]) // 2 < MIN_CHARACTERS):
                raise
        if len(texts) == 1:
            return self._encode_batch([texts[0][: len(texts[0]) // 2]])
        return np.concatenate([self._encode_batch([text]) for text in texts])

    def _center(self, rows: "Vectors") -> "Vectors":
        """Return rows of length 1, without the direction that all vectors of the model have in common."""
        import numpy as np

        centered = rows - self._record.common if self._record.common is not None else rows
        made: Vectors = centered / np.maximum(np.linalg.norm(centered, axis=1, keepdims=True), 1e-9)
        return made


def open_endpoint(endpoint: "EncoderEndpoint") -> EndpointEncoder:
    """Ask a server for the vectors of a few texts, and return its encoder.

    If they are not those of the model that answered there before, the encoder has another version.
    """
    import numpy as np

    rows = request_vectors(endpoint, PROBE_TEXTS, None, attempts=1)
    known, common = read_record(endpoint), rows.mean(axis=0)
    if known and known.dimensions == rows.shape[1] and float(rows[0] @ known.probe) >= SAME_MODEL:
        return EndpointEncoder(endpoint, known)
    mean_cosine = (float(np.sum(rows @ rows.T)) - len(rows)) / (len(rows) * (len(rows) - 1))
    record = EndpointRecord(rows[0], common if mean_cosine >= COMMON_DIRECTION else None)
    write_record(endpoint, record)
    return EndpointEncoder(endpoint, record)


def request_vectors(
    endpoint: "EncoderEndpoint",
    texts: Sequence[str],
    dimensions: int | None,
    seconds: float = BATCH_SECONDS,
    *,
    attempts: int = ATTEMPTS,
) -> "Vectors":
    """Return a vector of length 1 for each text, and make a few attempts. Raise EndpointFailed with what is wrong."""
    body = json.dumps({"model": endpoint.model, "input": list(texts), "encoding_format": "float"}).encode()
    rules = DownloadRules(
        idle_seconds=seconds, total_seconds=seconds, allows_loopback=True, uses_proxy=not endpoint.is_local,
        follows_redirects=False,
    )  # fmt: skip
    headers = {"Content-Type": "application/json", "Accept": "application/json", **_key_header(endpoint)}
    pause = PAUSE_SECONDS
    for attempt in range(1, attempts + 1):
        try:
            with open_url(endpoint.url, headers, rules, body) as reply:
                content = _read(reply)
                if reply.status == 200:
                    return _parse_vectors(endpoint, content, len(texts), dimensions)
                problem = _describe_status(endpoint, reply, content)
                pause = max(pause, _asked_pause(reply))
                is_final = problem.is_too_long or reply.status not in _RETRIED_STATUSES
        except DownloadFailed as error:
            remedy = "Start the server, or choose another encoder in config.json; search works without it."
            problem = EndpointFailed(f"{endpoint.url} does not answer ({error}). {remedy}")
            is_final = False
        except (Failed, UsageError) as error:
            raise error if isinstance(error, EndpointFailed) else EndpointFailed(f"{endpoint.url}: {error}") from error
        if is_final or attempt == attempts:
            raise problem
        time.sleep(min(pause, MAX_PAUSE_SECONDS))
        pause *= 2
    raise AssertionError


def _mask(text: str) -> str:
    return screen_text(text[:MAX_CHARACTERS], around=surroundings(text, 0, MAX_CHARACTERS)).text


def _key_header(endpoint: "EncoderEndpoint") -> dict[str, str]:
    if not endpoint.key_variable:
        return {}
    key = os.environ.get(endpoint.key_variable, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        state = "contains characters that no key has" if key else "is not set in the environment of dowse"
        raise EndpointFailed(f"{endpoint.url} needs a key, but the variable {endpoint.key_variable} {state}.")
    return {"Authorization": f"Bearer {key}"}


def _read(reply: Reply) -> bytes:
    content = bytearray()
    for piece in reply.pieces():
        content += piece
        if len(content) > MAX_REPLY_BYTES:
            raise Failed(f"the reply is larger than {MAX_REPLY_BYTES // 1024**2} MB.")
    return bytes(content)


def _describe_status(endpoint: "EncoderEndpoint", reply: Reply, content: bytes) -> EndpointFailed:
    """Return the error for a reply that has no vectors, with the server's own words."""
    words = _error_words(content)
    if key := os.environ.get(endpoint.key_variable or "", "").strip():
        words = words.replace(key, "[masked]")
    words = screen_text(one_line(strip_invisible(words), MAX_MESSAGE_CHARACTERS)).text
    is_too_long = reply.status == 413 or (reply.status in _TOO_LONG_STATUSES and bool(_TOO_LONG.search(words)))
    text = f"{endpoint.url} answered {reply.status} {reply.reason}".rstrip()
    return EndpointFailed(f"{text}: {words}" if words else f"{text}.", is_too_long=is_too_long)


def _error_words(content: bytes) -> str:
    """Return the message in the body of an error, in one of the shapes that servers use."""
    try:
        found: Any = json.loads(content)
    except (ValueError, RecursionError):
        found = content.decode("utf-8", "replace")
    for key in ("error", "message"):
        found = found.get(key, found) if isinstance(found, dict) else found
    return " ".join(str(found).split())


def _asked_pause(reply: Reply) -> float:
    asked = reply.headers.get("Retry-After", "")
    return float(asked) if asked.isdecimal() and len(asked) < 6 else 0.0


def _parse_vectors(endpoint: "EncoderEndpoint", content: bytes, count: int, dimensions: int | None) -> "Vectors":
    """Return the vectors of a reply in the order of the texts, of length 1."""
    import numpy as np

    try:
        rows = np.asarray(list(_embeddings(json.loads(content), count)), np.float64)
        if rows.ndim != 2 or not 0 < rows.shape[1] <= MAX_DIMENSIONS:
            raise ValueError(f"vectors of {rows.shape[-1] if rows.ndim == 2 else 'different'} dimensions")
        if dimensions is not None and rows.shape[1] != dimensions:
            raise ValueError(f"vectors of {rows.shape[1]} dimensions instead of {dimensions}")
        if not (np.abs(rows) < MAX_NUMBER).all():  # so is no NaN
            raise ValueError("numbers that are infinite or none")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not lengths.all():
            raise ValueError("a vector of zeros")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        described = f"{error}" if type(error) is ValueError else f"what is no list of vectors ({type(error).__name__})"
        raise EndpointFailed(f"{endpoint.url} replied with {described[:MAX_MESSAGE_CHARACTERS]}.") from error
    made: Vectors = (rows / lengths).astype(np.float32)
    return made


def _embeddings(reply: Any, count: int) -> Iterator[list[float]]:
    """Yield the vectors of a reply by their numbers."""
    items = reply["data"]
    if len(items) != count:
        raise ValueError(f"{len(items)} vectors for {count} texts")
    numbered = {item.get("index", at): item["embedding"] for at, item in enumerate(items)}
    if numbered.keys() != set(range(count)):
        raise ValueError("vectors whose numbers are not those of the texts")
    lengths = {len(vector) for vector in numbered.values()}
    if len(lengths) != 1:
        raise ValueError("vectors of different dimensions")
    for number in range(count):
        yield numbered[number]

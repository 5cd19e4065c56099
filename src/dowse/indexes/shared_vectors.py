"""Vectors that a place has of content that an index has, too, so that nobody makes them twice."""

import contextlib
from functools import partial
from typing import Any

from dowse.errors import ModelMissing
from dowse.indexes.encoding_progress import lacks_vectors, wanted_versions
from dowse.places.place_rows import MODEL_DIMENSIONS, quote
from dowse.places.place_table import ANSWER_SECONDS, SharedPlace, within
from dowse.settings import Settings
from dowse.store.local import LocalStore

PAGE_CHUNKS = 1000
_LACKING = """
    SELECT id, input_hash FROM chunks WHERE NOT EXISTS (SELECT 1 FROM vectors
    WHERE encoder = ? AND vectors.input_hash = chunks.input_hash AND NOT is_borrowed)
"""
_FACT = "shared version"
"""The fact that names the state of the place whose vectors were taken."""


def take_vectors(store: LocalStore, settings: Settings, location: str) -> int:
    """Take the vectors of the model that chunks lack and a place has; return how many."""
    versions: tuple[str, ...] = ()
    with contextlib.suppress(ModelMissing):
        versions = wanted_versions(settings)[1:]  # the static table encodes faster than a place answers
    lacking = [version for version in versions if lacks_vectors(store, version)]
    if not lacking:
        return 0
    place = SharedPlace(location)
    table = place.open_table()
    return sum(_take(store, place, table, version) for version in lacking)


def _take(store: LocalStore, place: SharedPlace, table: Any, version: str) -> int:
    """Take the vectors of one model, unless nothing has changed since that was done."""
    if store.fact(_FACT) == f"{place.name} {table.version} {version} {store.catalog.sequence()}":
        return 0
    hashes, taken = dict[str, list[int]](), 0
    for chunk, hashed in store.catalog.rows(_LACKING, (version,)):
        hashes.setdefault(hashed.hex(), []).append(chunk)
    names = list(hashes)
    for start in range(0, len(names), PAGE_CHUNKS):
        with place.errors("read"):
            found = within(ANSWER_SECONDS, partial(_vectors, table, version, names[start : start + PAGE_CHUNKS]))
        rows = [(chunk, vector) for hashed, vector in found.items() for chunk in hashes.get(hashed, ())]
        store.put_vectors(version, rows)
        taken += len(rows)
    store.set_fact(_FACT, f"{place.name} {table.version} {version} {store.catalog.sequence()}")
    return taken


def _vectors(table: Any, version: str, hashes: list[str]) -> dict[str, Any]:
    """Return the vectors of one model by the hash of what was encoded, of those that the place has."""
    import numpy as np

    query = table.search().where(f"input_hash IN ({', '.join(map(quote, hashes))}) AND model = {quote(version)}")
    rows = query.select(["input_hash", "model_vector"]).limit(len(hashes) * 20).to_list()
    return {
        row["input_hash"]: vector
        for row in rows
        if row["model_vector"] is not None
        and (vector := np.asarray(row["model_vector"], np.float32)).shape == (MODEL_DIMENSIONS,)
        and np.isfinite(vector).all()
    }

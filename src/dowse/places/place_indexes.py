"""The indexes of a place: how they are made, and brought up to date together with the files of the table."""

import contextlib
from datetime import timedelta
from typing import Any

from dowse.places.place_rows import WORD_COLUMNS

MIN_TRAINED_ROWS = 5000
"""Below this many vectors, LanceDB compares all of them, which takes less than its index."""
ROWS_PER_PARTITION = 4000
"""Vectors in a part of the index of vectors. Each part that a search reads from a bucket takes about seven requests, so few
large ones are read."""
TRAINED_ITERATIONS, TRAINED_SAMPLES = 15, 64
"""How much the parts of the index of vectors learn from: less than by default in LanceDB, which repeats 50 times with 256
vectors for each part. The codes of RaBitQ, of 32 bytes, learn nothing: 153,367 vectors take 2.6 s of processor time, where
a product quantizer with codes of the same size took 189 s."""
MAX_SEGMENTS, MAX_GROWTH = 4, 2.0
"""Each publication adds a segment to the index of vectors, and each search reads parts of every segment. It is made anew
when it has more segments than this, or when there are so many times as many vectors as it was made of."""
MAX_UNINDEXED_ROWS, MAX_NEW_FILES = 1500, 20
"""New rows and files of the table up to which its indexes stay as they are. LanceDB compares rows outside them one by one,
which takes 13 ms for 1,000 rows and one field of words. To bring the indexes up to date, it writes those of words anew, and
every second time the rows themselves: 8 s and 24 s of processor time for 153,367 chunks."""
SMALL_PLACE_ROWS = 20_000
"""Rows up to which the indexes are always brought up to date: that takes a second."""
KEPT_VERSIONS = timedelta(minutes=30)
"""How long older versions are kept for those who read one; a server moves to the newest one within seconds."""
REMOVED = "row = 'removed'"
"""The rows that publishers have emptied."""
_SCALARS = {
    "id": "BTree",
    "document": "BTree",
    "input_hash": "BTree",
    "project": "Bitmap",
    "row": "Bitmap",
    "kind": "Bitmap",
    "language": "Bitmap",
}


def tend(table: Any, *, now: bool = False) -> None:
    """Bring the indexes up to date, join small files and remove old versions, where that is due or has to be done now.

    Another publisher may do the same.
    """
    with contextlib.suppress(RuntimeError):  # it lost against another one, who does the rest
        if table.count_rows(REMOVED):
            table.delete(REMOVED)
        if now or _is_due(table):
            for column in ("table_vector", "model_vector"):
                _tend_vectors(table, column)
            table.optimize(cleanup_older_than=KEPT_VERSIONS)


def _is_due(table: Any) -> bool:
    index = table.index_stats("parts_idx")
    return (
        index is None
        or index.num_indexed_rows <= SMALL_PLACE_ROWS
        or index.num_unindexed_rows > MAX_UNINDEXED_ROWS
        or table.stats()["fragment_stats"]["num_small_fragments"] > MAX_NEW_FILES
    )


def _tend_vectors(table: Any, column: str) -> None:
    """Make the index of a column of vectors if it is missing, or anew if it has become slow.

    Its name has the number of vectors that it was made of. Those who read an earlier version go on with the one there.
    """
    found = {one.name: one for one in table.list_indices() if one.columns == [column]}
    newest = max(found, key=_trained_rows, default=None)
    count = table.count_rows(f"{column} IS NOT NULL")
    if newest is None:
        is_due = count >= MIN_TRAINED_ROWS
    else:
        segments = found[newest].num_segments or 1
        is_due = segments > MAX_SEGMENTS or count >= MAX_GROWTH * _trained_rows(newest)
    if is_due:
        newest = f"{column}_{count}"
        _train(table, column, count, newest)
    for name in found.keys() - {newest}:
        table.drop_index(name)


def _trained_rows(name: str) -> int:
    """Return how many vectors an index was made of."""
    number = name.rpartition("_")[2]
    return int(number) if number.isdecimal() else 0


def _train(table: Any, column: str, count: int, name: str) -> None:
    from lancedb.index import IvfRq

    parts = max(1, count // ROWS_PER_PARTITION)
    config = IvfRq(
        distance_type="cosine", num_partitions=parts, max_iterations=TRAINED_ITERATIONS, sample_rate=TRAINED_SAMPLES
    )
    table.create_index(column, config=config, name=name)


def make_word_indexes(table: Any) -> None:
    """Make the indexes that are missing: of words, and of the columns that rows are chosen by."""
    from lancedb import index

    known = {one.name for one in table.list_indices()}
    for column in WORD_COLUMNS.values():
        if f"{column}_idx" not in known:
            words = index.FTS(
                base_tokenizer="whitespace", max_token_length=256, lower_case=False, stem=False,
                remove_stop_words=False, ascii_folding=False,
            )  # fmt: skip
            table.create_index(column, config=words, name=f"{column}_idx")
    for column, kind in _SCALARS.items():
        if f"{column}_idx" not in known:
            table.create_index(column, config=getattr(index, kind)(), name=f"{column}_idx")

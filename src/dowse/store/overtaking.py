"""Batches that another process has overtaken between the reading of the files and the write.

Files are read before the write lock is taken, so an older content may come to be written after a newer one.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from dowse.types import Batch, Put


class WorkStart(NamedTuple):
    """The moment at which some work began, before it compared any file with the store; zeros when it is unknown."""

    time_ns: int = 0
    newest_id: int = 0
    """The highest id of a document at that moment."""
    views: int = 0
    """The views that the index had. Files that were compared for other views have to be compared again."""


class StoredState(NamedTuple):
    """The part of a stored file that shows which reading it is."""

    id: int
    """The highest id of its representations."""
    checked_ns: int
    contents: frozenset[tuple[object, ...]]
    """One for each representation. They are equal for two files that have the same chunks in the same views."""


class CurrentBatch(NamedTuple):
    """The changes of a batch that are still to be made."""

    batch: Batch
    lost: list[str]
    """Paths that were found unchanged, but whose document is not the one that they were compared with."""


def leave_out_overtaken(batch: Batch, stored: Mapping[str, StoredState], start: WorkStart, now_ns: int) -> CurrentBatch:
    """Leave out the changes to documents that were read later, and the replacement of a document by an equal one.

    A stored document from the future says nothing, because the clock was set back.
    """

    def is_outdated(path: str, seen_ns: int) -> bool:
        return path in stored and 0 < seen_ns < stored[path].checked_ns <= now_ns

    contents = dict[str, frozenset[tuple[object, ...]]]()
    for put in batch.puts:
        path = put.document.path
        contents[path] = contents.get(path, frozenset()) | {content_of(put)}

    def is_equal(put: Put) -> bool:
        found = stored.get(put.document.path)
        is_known = found is not None and found.contents == contents[put.document.path]
        return is_known and not put.is_repair

    puts = [put for put in batch.puts if not is_outdated(put.document.path, put.document.stat.seen_ns)]
    touches = [(path, stat) for path, stat in batch.touches if not is_outdated(path, stat.seen_ns)]
    lost = [path for path, _ in touches if path not in stored or 0 < start.newest_id < stored[path].id]
    return CurrentBatch(
        replace(
            batch,
            puts=[put for put in puts if not is_equal(put)],
            drops=[path for path in batch.drops if not is_outdated(path, start.time_ns)],
            touches=[
                *((path, stat) for path, stat in touches if path not in lost),
                *((put.document.path, put.document.stat) for put in puts if is_equal(put)),
            ],
        ),
        lost,
    )


def content_of(put: Put) -> tuple[object, ...]:
    """Return the content that a put adds to the state of its file."""
    document = put.document
    return document.content_hash, document.kind, document.language, put.recipe, put.problem, int(document.views)

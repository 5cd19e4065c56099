"""The files around a file of an indexed project: by imports, by tests, and by what changes together."""

import contextlib
from typing import NamedTuple

from dowse.errors import Failed, PathRefused
from dowse.indexes.index import ProjectIndex
from dowse.indexes.reference_lookup import READ_SECONDS, read_missing_references
from dowse.references.related_files import RelatedFile, RelatedFiles, find_related

HISTORY_SECONDS = 2.0
"""How long commits are read that are not known yet."""
MIN_COMMITS = 2
"""Files that changed together once are left out: a single commit says little."""


class FileSurroundings(NamedTuple):
    """The files around a file, and those that usually change together with it, most often first."""

    files: RelatedFiles
    changes: tuple[RelatedFile, ...]
    unread: int = 0
    """Files whose imports are not known yet."""


def find_surroundings(index: ProjectIndex, path: str, limit: int) -> FileSurroundings:
    """Return the files around a file in the index as it is; raise PathRefused for a file that is not in it."""
    verdict = index.source.verdict(path)
    if not verdict.is_allowed or index.store.document(verdict.path) is None:
        reason = verdict.reason or "the index has no such file"
        raise PathRefused(f"{verdict.path} is not indexed: {reason}. See: dowse why {verdict.path}", verdict.path)
    unread = read_missing_references(index, READ_SECONDS)
    found = find_related(index.whole.references, index.source.read_bytes, verdict.path)
    return FileSurroundings(found, _changes(index, verdict.path, limit), unread)


def _changes(index: ProjectIndex, path: str, limit: int) -> tuple[RelatedFile, ...]:
    """Return the files of the index that change together with one; none where there is no history."""
    from dowse.history.co_changes import changed_together  # imports what a server does not need at its start
    from dowse.history.project_history import open_history

    with contextlib.suppress(Failed), open_history(index.root, index.folder, index.settings) as history:
        history.update(HISTORY_SECONDS)
        together = changed_together(history, path, limit)
        return tuple(
            RelatedFile(one.path, f"changed together in {one.commits} of {together.commits} commits")
            for one in together.files
            if one.commits >= MIN_COMMITS and index.store.document(one.path)
        )
    return ()

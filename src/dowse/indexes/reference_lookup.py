"""References in an indexed project, and the files around a file: those that are missing are read first, then the index is asked and verified."""

import contextlib
from dataclasses import replace
from typing import NamedTuple

from dowse.errors import Failed, PathRefused
from dowse.indexes.damage_recovery import answer_or_rebuild
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import REPAIRED_FILES, coverage, update_if_quick
from dowse.references.reference_search import ReferenceOptions, References, find_references
from dowse.references.related_files import RelatedFile, RelatedFiles, find_related
from dowse.types import Coverage, Progress

READ_SECONDS = 1.5
"""How long an answer waits for references that are missing; a server's process that indexes reads the others."""


class FoundReferences(NamedTuple):
    """References in an index, how much of it they are about, and how many files lack their references."""

    found: References
    coverage: Coverage
    missing: int


def references_now(index: ProjectIndex, name: str, options: ReferenceOptions, pending: int = 0) -> FoundReferences:
    """Find references in the index as it is, of which so many files are pending."""
    options = replace(options, masks_secrets=index.settings.mask_secrets)
    whole, store = index.whole, index.store
    missing = read_missing_references(index, READ_SECONDS)

    def answer() -> References:
        return find_references(store, whole.references, index.source.read_bytes, name, options)

    found = answer()
    if found.outdated:
        index.reindex(found.outdated[:REPAIRED_FILES])
        found = answer()
    return FoundReferences(found, coverage(index, max(pending, missing, len(found.outdated))), missing)


def references_when_complete(
    index: ProjectIndex, name: str, options: ReferenceOptions, progress: Progress | None = None
) -> tuple[References, Coverage]:
    """Find references once the index is up to date, however long that takes."""

    def find() -> tuple[References, Coverage]:
        pending = update_if_quick(index, "", waits=True, progress=progress)
        read_missing_references(index, progress=progress)
        answer = references_now(index, name, options, pending)
        return answer.found, answer.coverage

    return answer_or_rebuild(index, find)


def read_missing_references(index: ProjectIndex, seconds: float | None = None, progress: Progress | None = None) -> int:
    """Read references that are missing, for at most so many seconds; return how many files lack theirs afterwards."""
    references = index.whole.references
    if references.is_current():
        return 0
    references.catch_up(progress, seconds)
    return references.missing()


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

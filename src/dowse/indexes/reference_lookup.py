"""References in an indexed project, and the files around a file: those that are missing are read first, then the index is asked and verified."""

import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from dowse.errors import Failed, NotWritable, PathRefused, StoreBusy
from dowse.indexes.damage_recovery import answer_or_rebuild
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import REPAIRED_FILES, Update, coverage
from dowse.searching.references.reference_search import ReferenceOptions, References, find_references
from dowse.searching.references.related_files import RelatedFile, RelatedFiles, find_related
from dowse.store.storage_layout import READ_WAIT_SECONDS
from dowse.types import Coverage, Progress

MAX_CANDIDATES, MAX_NAMED_FILES = 300, 20
"""Files that may have a name and are looked at, and files whose references are read for one name: 0.01 s each."""
READ_SECONDS = 1.5
"""How long an answer waits for references that are missing; a server's process that indexes reads the others."""


class FoundReferences(NamedTuple):
    """References in an index, how much of it they are about, and how many files lack their references."""

    found: References
    coverage: Coverage
    missing: int


def references_now(index: ProjectIndex, name: str, options: ReferenceOptions, pending: int = 0) -> FoundReferences:
    """Find references in the index as it is, of which so many files are pending."""
    options = replace(options, masks_secrets=index.settings.mask_secrets, is_shown=index.shows)
    whole, store = index.whole, index.store
    missing = read_missing_references(index, READ_SECONDS)

    def answer() -> References:
        return find_references(store, whole.references, index.read_bytes, name, options)

    found = answer()
    if found.outdated and index.reindex_for_answer(found.outdated[:REPAIRED_FILES]):
        found = answer()
    found.outdated = list(index.named(found.outdated))
    return FoundReferences(found, coverage(index, max(pending, missing, len(found.outdated))), missing)


def references_when_complete(
    index: ProjectIndex, name: str, options: ReferenceOptions, update: Update, progress: Progress | None = None
) -> FoundReferences:
    """Find references once `update` has brought the index up to date and all references are read."""

    def find() -> FoundReferences:
        pending = update(index)
        read_missing_references(index, progress=progress)
        return references_now(index, name, options, pending)

    return answer_or_rebuild(index, find)


def read_missing_references(index: ProjectIndex, seconds: float | None = None, progress: Progress | None = None) -> int:
    """Read references that are missing, for at most so many seconds; return how many files lack theirs afterwards."""
    references = index.whole.references
    if references.is_current():
        return 0
    with contextlib.suppress(NotWritable, StoreBusy):  # the answer says how many files lack theirs
        references.catch_up(progress, seconds)
    return references.missing()


def read_references_to(index: ProjectIndex, names: Iterable[str], seconds: float) -> frozenset[str]:
    """Read the references of the files that have some names, and begin with no name after so many seconds.

    Return the names that no file lacks its references to. Names that many files have are left out.
    """
    references, deadline, known = index.whole.references, time.monotonic() + seconds, set[str]()
    for name in dict.fromkeys(names):
        files = _files_lacking(index, name)
        if files and len(files) <= MAX_NAMED_FILES and time.monotonic() < deadline:
            with contextlib.suppress(NotWritable, StoreBusy):
                references.read(files, READ_WAIT_SECONDS)
            files = _files_lacking(index, name)
        if not files and files is not None:
            known.add(name)
    return frozenset(known)


def _files_lacking(index: ProjectIndex, name: str) -> list[int] | None:
    """Return the files that have a name and lack their references; None if too many may have it."""
    found = index.store.documents_with_word(name).intersection(index.whole.references.missing_documents())
    if len(found) > MAX_CANDIDATES:
        return None
    paths = index.store.paths_by_id(found)
    return [number for number, path in paths.items() if _has_letters(index, path, name.encode())]


def _has_letters(index: ProjectIndex, path: str, letters: bytes) -> bool:
    try:
        return letters in index.source.read_bytes(path)[0]
    except (PathRefused, OSError):  # it has just gone
        return False


HISTORY_SECONDS = 2.0
"""How long commits are read that are not known yet."""
MIN_COMMITS = 2
"""Files that changed together once are left out: a single commit says little."""


def related_files(index: ProjectIndex, path: str, limit: int, show: Callable[[str], str] = str) -> RelatedFiles:
    """Return the files around a file in the index as it is; raise PathRefused for a file that is not in it.

    `show` writes their paths.
    """
    verdict = index.source.verdict(path)
    if not verdict.is_allowed or index.store.document(verdict.path) is None:
        reason = verdict.reason or "the index has no such file"
        raise PathRefused(f"{verdict.path} is not indexed: {reason}. See: dowse why {verdict.path}", verdict.path)
    unread = read_missing_references(index, READ_SECONDS)
    found = find_related(index.whole.references, index.read_bytes, verdict.path, show, index.shows)
    return replace(found, changes_with=_changes(index, verdict.path, limit, show), unread=unread)


def _changes(index: ProjectIndex, path: str, limit: int, show: Callable[[str], str]) -> tuple[RelatedFile, ...]:
    """Return the files of the index that change together with one; none where there is no history."""
    from dowse.searching.history.project_history import open_history  # imports what a server does not need at its start

    with contextlib.suppress(Failed), open_history(index.root, index.folder, index.settings) as history:
        history.update(HISTORY_SECONDS)
        together = history.changed_together(path, limit)
        return tuple(
            RelatedFile(show(one.path), f"changed together in {one.commits} of {together.commits} commits")
            for one in together.files
            if one.commits >= MIN_COMMITS and index.store.document(one.path) and index.shows(one.path)
        )
    return ()

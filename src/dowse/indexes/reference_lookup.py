"""References in an indexed project: those that are missing are read first, then the index is asked and verified."""

from dataclasses import replace
from typing import NamedTuple

from dowse.indexes.damage_recovery import answer_or_rebuild
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import REPAIRED_FILES, coverage, update_if_quick
from dowse.references.reference_search import ReferenceOptions, References, find_references
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

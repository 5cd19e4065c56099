"""How complete a reply or an index is, in the words that all surfaces share."""

from collections.abc import Iterable, Sequence

from dowse.mcp.error_replies import without_storage_root
from dowse.mcp.reply_budget import Reply, present
from dowse.types import Coverage

_WORST_FIRST = ("failed", "indexing", "incomplete", "not_found", "ready", "success")
_SEARCHABLE = frozenset({"ready", "success"})


def overall_state(states: Iterable[str]) -> str:
    """Return the state of several indexes together: the worst of them.

    Where some can be searched and others are not indexed yet, the whole is `incomplete`.
    """
    known = set(states)
    if "not_found" in known and known & _SEARCHABLE:
        known.add("incomplete")
    return next((state for state in _WORST_FIRST if state in known), "not_found")


def coverage_warnings(coverage: Coverage) -> list[str]:
    """Return why changed files are left out of an answer, if it is because nothing can be written."""
    return [f"Changed files are not searched: {without_storage_root(coverage.problem)}"] if coverage.problem else []


def coverage_reply(coverages: Sequence[Coverage]) -> Reply:
    """Return how much of some indexes an answer is about."""
    return {
        "indexedFiles": sum(coverage.files for coverage in coverages),
        "expectedFiles": sum(max(coverage.files, coverage.expected) for coverage in coverages),
        "complete": all(coverage.is_complete for coverage in coverages),
    } | present(
        pending=sum(coverage.pending for coverage in coverages),
        indexing=any(coverage.is_indexing for coverage in coverages),
        searchedDirectly=sum(coverage.direct for coverage in coverages),
        secondsLeft=max((coverage.seconds_left or 0 for coverage in coverages), default=0),
    )

"""The status of an index: its state, its contents and the files it skipped."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dowse.errors import Failed, NotIndexed
from dowse.indexes.encoding_progress import EncodingProgress
from dowse.indexes.freshness.indexer import EXPECTED_FACTS
from dowse.indexes.remaining_time import seconds_left
from dowse.memory_plan import why_memory_is_small
from dowse.store import storage_layout
from dowse.types import KINDS, Kind, Totals

if TYPE_CHECKING:
    from dowse.indexes.opened_index import OpenedIndex

IndexState = Literal["not_found", "indexing", "ready", "incomplete", "failed"]


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The status of an index, known without reading the project's files."""

    state: IndexState
    root: Path
    folder: Path
    totals: dict[Kind, Totals] = field(default_factory=dict)
    size_bytes: int = 0
    last_updated: str | None = None
    expected_files: int = 0
    """Number of files that the last run was to index."""
    skipped: dict[str, int] = field(default_factory=dict)
    problem: str | None = None
    last_check: str | None = None
    """When the index was last compared with all files."""
    last_error: str | None = None
    """Why the last run failed; None once a run succeeds."""
    warnings: tuple[str, ...] = ()
    encoding: EncodingProgress | None = None
    """Progress of the encoding; None if the index has no vectors."""
    memory: str | None = None
    """Why dowse uses little memory and no model; None if it does not."""
    seconds_left: int | None = None
    """About how long a run that is indexing takes from now on; None if nothing can be said."""

    @property
    def files(self) -> int:
        """Number of files in the index, of every kind."""
        return sum(totals.documents for totals in self.totals.values())

    @property
    def chunks(self) -> int:
        """Number of chunks in the index, of every kind."""
        return sum(totals.chunks for totals in self.totals.values())

    @property
    def unparsed(self) -> dict[str, str]:
        """The files that were read as plain text, of every kind, each with the problem of its parser."""
        return {path: problem for totals in self.totals.values() for path, problem in totals.unparsed.items()}


def format_size(size_bytes: int) -> str:
    """Return a size as text: `640B`, `1.2KB`, `45MB`."""
    size = float(size_bytes)
    for unit in ("B", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f}{unit}" if size >= 10 or unit == "B" else f"{size:.1f}{unit}"
        size /= 1000
    return f"{size:.1f}GB"


def describe_index(index: "OpenedIndex") -> IndexStatus:
    """Return the status of one view of an index."""
    root, folder, warnings, is_indexing = index.root, index.folder, tuple(index.warnings), index.is_being_updated()
    try:
        store = index.store
        totals = {kind: _without_denied(index, store.totals(kind)) for kind in KINDS}
        skipped = json.loads(store.fact("skipped") or "{}")
        expected = int(store.fact(EXPECTED_FACTS[index.view]) or 0)
        state = _state(store.fact("state"), is_indexing=is_indexing)
        last_check, last_error = store.fact("checked"), store.fact("error")
        findings = [] if is_indexing else store.quick_check()
    except NotIndexed:
        return IndexStatus("not_found", root, folder, warnings=warnings)
    except Failed as error:
        return IndexStatus("failed", root, folder, problem=str(error), last_error=str(error), warnings=warnings)
    project = storage_layout.read_project(folder)
    status = IndexStatus(
        state, root, folder, totals, store.size_bytes(),
        project.metadata.get("lastIncrementalUpdate") if project else None,
        expected, skipped, last_check=last_check, last_error=last_error, warnings=warnings, memory=why_memory_is_small(),
    )  # fmt: skip
    if is_indexing:
        return replace(status, seconds_left=seconds_left(store, status.files, expected))
    if findings and state == "ready":
        problem = f"{findings[0].part}: {findings[0].problem}; run dowse index to rebuild it"
        return replace(status, state="incomplete", problem=problem)
    return replace(status, problem=_problem(status))


def _without_denied(index: "OpenedIndex", totals: Totals) -> Totals:
    """Return totals that name no file which a rule denies by now."""
    try:
        named = index.named(totals.unparsed) if totals.unparsed else ()
    except Failed:  # nothing can be asked about a folder that cannot be read
        named = ()
    return replace(totals, unparsed={path: totals.unparsed[path] for path in named if path != "."})


def _state(recorded: str | None, *, is_indexing: bool) -> IndexState:
    if is_indexing:
        return "indexing"
    return "ready" if recorded == "complete" else "incomplete"


def _problem(status: IndexStatus) -> str | None:
    if status.state == "incomplete":
        return f"the last run was interrupted after {status.files} of {status.expected_files} files; run dowse index to continue"
    if status.state == "ready" and not status.files:
        reasons = ", ".join(f"{count} {reason}" for reason, count in status.skipped.items())
        return f"no file is indexed: {reasons or 'the folder is empty'}"
    return None

"""Checks an index against the files and against itself, and says exactly what is wrong."""

import time

from dowse.freshness.indexer import find_drift
from dowse.protocols import DocumentReader, FileSource, Store
from dowse.types import Entry, Finding, Progress, Verdict

SHOWN = 20
"""Findings of one sort that are named; the rest is counted."""


def check_index(source: FileSource, store: Store, progress: Progress | None = None) -> list[Finding]:
    """Everything that is wrong with an index; each file's content is read and compared."""
    return [*store.check(), *_file_findings(source, store, progress)]


def _file_findings(source: FileSource, store: DocumentReader, progress: Progress | None) -> list[Finding]:
    drift = find_drift(source, store, distrusted_ns=time.time_ns())
    known = {entry.path for entry in drift.changed}
    missing, changed = list[str](), list[str]()
    for done, entry in enumerate((*drift.new, *drift.changed), 1):
        if _differs(source, store, entry):
            (changed if entry.path in known else missing).append(entry.path)
        if progress:
            progress(done, len(drift.new) + len(drift.changed))
    return [
        *_named("files", missing, "is not in the index"),
        *_named("files", changed, "has changed since it was indexed"),
        *_named("files", drift.gone, "is in the index and gone from the folder, or no longer allowed"),
    ]


def _differs(source: FileSource, store: DocumentReader, entry: Entry) -> bool:
    """Whether the index has something else of a file than there is now."""
    read, stored = source.read(entry), store.document(entry.path)
    if isinstance(read, Verdict):
        return stored is not None
    return stored is None or (read.content_hash, read.kind) != (stored.content_hash, stored.kind)


def _named(part: str, paths: list[str], problem: str) -> list[Finding]:
    findings = [Finding(part, f"{path} {problem}") for path in paths[:SHOWN]]
    if len(paths) > SHOWN:
        findings.append(Finding(part, f"and {len(paths) - SHOWN} more: {problem}"))
    return findings

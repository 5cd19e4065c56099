"""The check of an index against the files and against itself."""

import time

from dowse.indexes.freshness.scan import scan
from dowse.sources.project_files import ProjectFiles
from dowse.store.local import LocalStore
from dowse.types import Entry, Finding, Progress, Verdict

MAX_LISTED_FINDINGS = 20
"""The number of findings of one kind that are listed; the rest is counted."""


def check_index(source: ProjectFiles, store: LocalStore, progress: Progress | None = None) -> list[Finding]:
    """Return everything that is wrong with an index. The content of every file is read and compared."""
    return [*store.check(), *_check_files(source, store, progress)]


def _check_files(source: ProjectFiles, store: LocalStore, progress: Progress | None) -> list[Finding]:
    drift = scan(source, store, distrust_before_ns=time.time_ns())
    known = {entry.path for entry in drift.changed}
    missing, changed = list[str](), list[str]()
    for done, entry in enumerate((*drift.new, *drift.changed), 1):
        if _differs(source, store, entry):
            (changed if entry.path in known else missing).append(entry.path)
        if progress:
            progress(done, len(drift.new) + len(drift.changed))
    return [
        *_make_findings(missing, "is not in the index"),
        *_make_findings(changed, "has changed since it was indexed"),
        *_make_findings(drift.gone, "is in the index, but was removed from the folder or is no longer allowed"),
    ]


def _differs(source: ProjectFiles, store: LocalStore, entry: Entry) -> bool:
    """Return whether the index differs from a file's current content."""
    read, stored = source.read(entry), store.documents_at(entry.path)
    if isinstance(read, Verdict):
        return bool(stored)
    found = {(document.content_hash, document.kind, document.views) for document in stored}
    return found != {(content.content_hash, content.kind, content.views) for content in read}


def _make_findings(paths: list[str], problem: str) -> list[Finding]:
    findings = [Finding("files", f"{path} {problem}") for path in paths[:MAX_LISTED_FINDINGS]]
    if len(paths) > MAX_LISTED_FINDINGS:
        findings.append(Finding("files", f"and {len(paths) - MAX_LISTED_FINDINGS} more: {problem}"))
    return findings

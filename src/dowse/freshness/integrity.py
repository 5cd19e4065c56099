"""Checks an index against the files and against itself, and says exactly what is wrong."""

from dowse.freshness.scan import scan
from dowse.types import Entry, Finding, Source, Store, Verdict

SHOWN = 20
"""Findings of one sort that are named; the rest is counted."""


def check_index(source: Source, store: Store) -> list[Finding]:
    """Everything that is wrong with an index; each file's content is read and compared."""
    return [*store.check(), *_file_findings(source, store)]


def _file_findings(source: Source, store: Store) -> list[Finding]:
    drift = scan(source, store, is_distrustful=True)
    missing = [entry.path for entry in drift.new if not isinstance(source.read(entry), Verdict)]
    changed = [entry.path for entry in drift.changed if _differs(source, store, entry)]
    return [
        *_named("files", missing, "is not in the index"),
        *_named("files", changed, "has changed since it was indexed"),
        *_named("files", drift.gone, "is in the index and gone from the folder, or no longer allowed"),
    ]


def _differs(source: Source, store: Store, entry: Entry) -> bool:
    read, stored = source.read(entry), store.document(entry.path)
    return (
        isinstance(read, Verdict)
        or stored is None
        or (read.content_hash, read.kind) != (stored.content_hash, stored.kind)
    )


def _named(part: str, paths: list[str], problem: str) -> list[Finding]:
    findings = [Finding(part, f"{path} {problem}") for path in paths[:SHOWN]]
    if len(paths) > SHOWN:
        findings.append(Finding(part, f"and {len(paths) - SHOWN} more: {problem}"))
    return findings

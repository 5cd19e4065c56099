"""The JSON files that show an index to the outside: written from the catalog, compared with it."""

from pathlib import Path

from dowse.protocols import DocumentReader, Store
from dowse.store import storage_layout
from dowse.types import KINDS, Finding, Kind


def write_sidecar_files(folder: Path, root: Path, store: Store, *, is_full: bool) -> None:
    """Renew fingerprints and metadata."""
    storage_layout.write_fingerprints(folder, _fingerprints(store))
    totals = {kind: store.totals(kind) for kind in KINDS}
    storage_layout.write_metadata(folder, root, totals, store.size_bytes(), is_full=is_full)


def check_sidecar_files(folder: Path, root: Path, store: Store) -> list[Finding]:
    """Where the files say something else than the catalog."""
    findings = []
    if not storage_layout.has_fingerprints(folder, _fingerprints(store)):
        findings.append(Finding("fingerprints", "the JSON files are missing or differ from the catalog"))
    project = storage_layout.read_project(folder)
    held = sum(store.totals(kind).documents for kind in KINDS)
    if project is None or project.root != root or project.files != held:
        findings.append(Finding("metadata", "metadata.json is missing or differs from the catalog"))
    return findings


def _fingerprints(store: DocumentReader) -> dict[Kind, dict[str, str]]:
    hashes: dict[Kind, dict[str, str]] = {kind: {} for kind in KINDS}
    for document in store.documents():
        hashes[document.kind][document.path] = document.content_hash.hex()
    return hashes

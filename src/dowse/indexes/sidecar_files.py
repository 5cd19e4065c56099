"""The JSON files beside a catalog, which show the index to other programs."""

from pathlib import Path

from dowse.protocols import DocumentReader, Store
from dowse.store import storage_layout
from dowse.types import KINDS, Finding, Kind


def write_sidecar_files(folder: Path, root: Path, store: Store, *, is_full: bool) -> None:
    """Write the fingerprints and the metadata from the catalog."""
    storage_layout.write_fingerprints(folder, _fingerprints(store))
    totals = {kind: store.totals(kind) for kind in KINDS}
    storage_layout.write_metadata(folder, root, totals, store.size_bytes(), is_full=is_full)


def check_sidecar_files(folder: Path, root: Path, store: Store) -> list[Finding]:
    """Return the differences between the JSON files and the catalog."""
    findings = []
    if not storage_layout.has_fingerprints(folder, _fingerprints(store)):
        findings.append(Finding("fingerprints", "the JSON files are missing or differ from the catalog"))
    project = storage_layout.read_project(folder)
    files = sum(store.totals(kind).documents for kind in KINDS)
    if project is None or project.root != root or project.files != files:
        findings.append(Finding("metadata", "metadata.json is missing or differs from the catalog"))
    return findings


def _fingerprints(store: DocumentReader) -> dict[Kind, dict[str, str]]:
    hashes: dict[Kind, dict[str, str]] = {kind: {} for kind in KINDS}
    for document in store.documents():
        hashes[document.kind][document.path] = document.content_hash.hex()
    return hashes

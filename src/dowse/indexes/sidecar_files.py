"""The JSON files and the tables beside a catalog, which show the index to other programs."""

from pathlib import Path

from dowse.errors import DowseError
from dowse.store import storage_layout
from dowse.store.local import LocalStore
from dowse.types import KINDS, Finding, Kind, View

_DESCRIBED = "described"
"""The fact with the state of the documents that the JSON files describe."""


def write_sidecar_files(folder: Path, root: Path, store: LocalStore, *, is_full: bool) -> None:
    """Write the fingerprints and the metadata from the catalog, and record which documents they describe."""
    documents = store.catalog.fact("documents")  # first: others may write meanwhile
    storage_layout.write_fingerprints(folder, _fingerprints(_main_view(store)))
    totals = {view: {kind: store.seen_as(view).totals(kind) for kind in KINDS} for view in _views(store)}
    storage_layout.write_metadata(folder, root, totals, store.size_bytes(), is_full=is_full)
    if not is_described(store):
        store.set_fact(_DESCRIBED, documents)


def is_described(store: LocalStore) -> bool:
    """Return whether the fingerprints and the metadata were written since documents last changed."""
    return store.fact(_DESCRIBED) == store.catalog.fact("documents")


def write_tables(store: LocalStore) -> list[str]:
    """Bring the LanceDB tables up to date where the settings ask for them; return why it failed, if it did."""
    try:
        store.write_tables()
    except DowseError as error:  # search goes on without them
        return [str(error)]
    return []


def check_sidecar_files(folder: Path, root: Path, store: LocalStore) -> list[Finding]:
    """Return the differences between the JSON files and the catalog, unless they are still to be renewed."""
    findings = []
    main = _main_view(store)
    if not is_described(store) and storage_layout.has_fingerprints(folder) and storage_layout.read_project(folder):
        return []
    if not storage_layout.has_fingerprints(folder, _fingerprints(main)):
        findings.append(Finding("fingerprints", "the JSON files are missing or differ from the catalog"))
    project = storage_layout.read_project(folder)
    files = sum(main.totals(kind).documents for kind in KINDS)
    if project is None or project.root != root or project.files != files:
        findings.append(Finding("metadata", "metadata.json is missing or differs from the catalog"))
    return findings


def _views(store: LocalStore) -> list[View]:
    return [view for view in (View.PROJECT, View.DOCUMENTS) if store.views() & view] or [View.PROJECT]


def _main_view(store: LocalStore) -> LocalStore:
    """Return the view that the files describe: the project's, or the documents' where there is no project."""
    return store.seen_as(_views(store)[0])


def _fingerprints(store: LocalStore) -> dict[Kind, dict[str, str]]:
    hashes: dict[Kind, dict[str, str]] = {kind: {} for kind in KINDS}
    for document in store.documents():
        hashes[document.kind][document.path] = document.content_hash.hex()
    return hashes

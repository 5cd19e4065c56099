"""dowse: local search for AI assistants and the people beside them.

    with dowse.open("shop") as index:
        for hit in index.search("when is delivery free"):
            print(hit.path, hit.lines, hit.symbol)

docs/api.md describes the public names, which are those in `__all__`.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dowse.api.async_library import AsyncIndex
    from dowse.api.async_library import AsyncIndex as open_async  # noqa: N813 - called like a function
    from dowse.api.folder_target import forget
    from dowse.api.library import Index
    from dowse.api.library import Index as open  # noqa: A004, N813 - as in dowse.open("shop")
    from dowse.api.note_index import Notes
    from dowse.api.note_index import Notes as notes  # noqa: N813 - as above
    from dowse.api.publishing.publish import PublishReport
    from dowse.api.results import Explanation, Hit, Reference, Results, Status
    from dowse.errors import DowseError
    from dowse.indexes.document_search import ListedDocument
    from dowse.notes.notes_documents import StoredNote
    from dowse.searching.exact_search import Occurrence
    from dowse.searching.history.commit_diffs import CommitChanges
    from dowse.searching.history.history_search import CommitHit
    from dowse.searching.references.related_files import RelatedFiles
    from dowse.store.storage_layout import Project
    from dowse.store.storage_layout import list_projects as projects
    from dowse.surfaces.documents.document_links import DocumentLink

__all__ = [
    "AsyncIndex",
    "CommitChanges",
    "CommitHit",
    "DocumentLink",
    "DowseError",
    "Explanation",
    "Hit",
    "Index",
    "ListedDocument",
    "Notes",
    "Occurrence",
    "Project",
    "PublishReport",
    "Reference",
    "RelatedFiles",
    "Results",
    "Status",
    "StoredNote",
    "__version__",
    "forget",
    "notes",
    "open",
    "open_async",
    "projects",
]

_MODULES = {
    "api.async_library": ("AsyncIndex",),
    "api.library": ("Index",),
    "api.note_index": ("Notes",),
    "api.folder_target": ("forget",),
    "api.results": ("Explanation", "Hit", "Reference", "Results", "Status"),
    "errors": ("DowseError",),
    "searching.history.commit_diffs": ("CommitChanges",),
    "searching.history.history_search": ("CommitHit",),
    "indexes.document_search": ("ListedDocument",),
    "notes.notes_documents": ("StoredNote",),
    "api.publishing.publish": ("PublishReport",),
    "searching.references.related_files": ("RelatedFiles",),
    "searching.exact_search": ("Occurrence",),
    "store.storage_layout": ("Project", "list_projects"),
    "surfaces.documents.document_links": ("DocumentLink",),
}
"""The modules of the public names, imported on first use: a command needs few of them."""
_FUNCTIONS = {"notes": "Notes", "open": "Index", "open_async": "AsyncIndex", "projects": "list_projects"}

if not TYPE_CHECKING:  # which sees the imports above, and nothing else

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        public = _FUNCTIONS.get(name, name)
        for module, names in _MODULES.items():
            if public in names:
                return getattr(import_module(f"dowse.{module}"), public)
        raise AttributeError(f"module 'dowse' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

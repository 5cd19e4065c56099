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
    from dowse.api.library import Index
    from dowse.api.library import Index as open  # noqa: A004, N813 - as in dowse.open("shop")
    from dowse.api.note_index import Notes
    from dowse.api.note_index import Notes as notes  # noqa: N813 - as above
    from dowse.api.results import Hit, Reference, Results, Status
    from dowse.errors import DowseError
    from dowse.notes.notes_documents import StoredNote
    from dowse.searching.exact_search import Occurrence

__all__ = [
    "AsyncIndex",
    "DowseError",
    "Hit",
    "Index",
    "Notes",
    "Occurrence",
    "Reference",
    "Results",
    "Status",
    "StoredNote",
    "__version__",
    "notes",
    "open",
    "open_async",
]

_MODULES = {
    "api.async_library": ("AsyncIndex",),
    "api.library": ("Index",),
    "api.note_index": ("Notes",),
    "api.results": ("Hit", "Reference", "Results", "Status"),
    "errors": ("DowseError",),
    "notes.notes_documents": ("StoredNote",),
    "searching.exact_search": ("Occurrence",),
}
"""The modules of the public names, imported on first use: a command needs few of them."""
_FUNCTIONS = {"notes": "Notes", "open": "Index", "open_async": "AsyncIndex"}

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

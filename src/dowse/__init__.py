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

_PLACES = {
    "AsyncIndex": "api.async_library:AsyncIndex",
    "DowseError": "errors:DowseError",
    "Hit": "api.results:Hit",
    "Index": "api.library:Index",
    "Notes": "api.note_index:Notes",
    "Occurrence": "searching.exact_search:Occurrence",
    "Results": "api.results:Results",
    "Status": "api.results:Status",
    "StoredNote": "notes.notes_documents:StoredNote",
    "Reference": "api.results:Reference",
    "notes": "api.note_index:Notes",
    "open": "api.library:Index",
    "open_async": "api.async_library:AsyncIndex",
}
"""The modules of the public names, imported on first use: a command needs few of them."""


if not TYPE_CHECKING:  # which sees the imports above, and nothing else

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module 'dowse' has no attribute '{name}'")
        from importlib import import_module

        module, _, attribute = _PLACES[name].partition(":")
        return getattr(import_module(f"dowse.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

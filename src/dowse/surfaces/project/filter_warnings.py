"""Warnings about filters: a language or a path that no file of a project has."""

import difflib
from collections.abc import Iterable
from pathlib import PurePosixPath

from dowse.globs import compile_path_filter
from dowse.indexes.index import ProjectIndex
from dowse.searching.search import SearchOptions
from dowse.types import KINDS

MAX_COMPARED = 5000
"""Names that are compared with a misspelled one: 0.1 s at most."""


def filter_warnings(index: ProjectIndex, options: SearchOptions) -> list[str]:
    """Return the filters that leave nothing, with what may be meant."""
    if not index.exists:
        return []
    languages = _language_warning(index, options)
    return [*languages, *(_path_warning(index, path) for path in _unknown_paths(index, options))]


def _language_warning(index: ProjectIndex, options: SearchOptions) -> list[str]:
    known = {name for kind in KINDS for name in index.store.totals(kind).languages} if options.language else set()
    if not options.language or options.language_name in known:
        return []
    meant = _meant(difflib.get_close_matches(options.language.lower(), known))
    return [f"Nothing here is in the language '{options.language}'.{meant} There is: {', '.join(sorted(known))}."]


def _unknown_paths(index: ProjectIndex, options: SearchOptions) -> list[str]:
    given = [path for path in (options.path_glob, *options.among_paths) if path]
    paths = [path for _, path in index.store.ids_by_path()] if given else []
    return [one for one in given if not any(map(compile_path_filter(one).fullmatch, paths))]


def _path_warning(index: ProjectIndex, path: str) -> str:
    """Return the warning for a path that nothing matches, with files and folders of a similar name."""
    wanted, named = path.strip("/").rpartition("/")[2].lower(), dict[str, str]()
    for _, known in index.store.ids_by_path():
        for one in (known, *(str(folder) for folder in PurePosixPath(known).parents)):
            name = one.rpartition("/")[2].lower()
            if name[:1] == wanted[:1] and len(named) < MAX_COMPARED:
                named.setdefault(name, one)
    return f"No path here matches '{path}'.{_meant(named[name] for name in difflib.get_close_matches(wanted, named))}"


def _meant(similar: Iterable[str]) -> str:
    found = " or ".join(similar)
    return f" Did you mean {found}?" if found else ""

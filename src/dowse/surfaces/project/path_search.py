"""Files of a project by their paths: search by a glob, re-indexing, and warnings about filters that nothing matches."""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from dowse.error_catalog import is_absolute
from dowse.errors import CatalogError, UsageError
from dowse.globs import compile_glob, compile_path_filter
from dowse.indexes.freshness.indexer import IndexReport
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import coverage
from dowse.searching.search import SearchOptions
from dowse.types import KINDS, Coverage, Kind, Reason, Verdict


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a glob over relative paths; raise INVALID_PATTERN for a wrong one."""
    return compile_glob(relative_pattern(pattern))


def relative_pattern(pattern: str) -> str:
    """Return a glob without a leading `./`; raise INVALID_PATTERN if it is wrong or leads out of the project."""
    glob = pattern.removeprefix("./")
    if is_absolute(glob) or ".." in glob.replace("\\", "/").split("/"):
        raise CatalogError("INVALID_PATTERN", pattern=pattern, detail="patterns are relative to the project")
    try:
        compile_glob(glob)
    except UsageError as error:
        raise CatalogError("INVALID_PATTERN", pattern=pattern, detail=str(error)) from error
    return glob


def search_options(arguments: Mapping[str, Any], kind: Kind) -> SearchOptions:
    """Return the options of a search for one kind of files, with relative globs; raise INVALID_PATTERN for a wrong one."""
    path = relative_pattern(arguments["path"]) if arguments["path"] else None
    return SearchOptions(
        arguments["offset"] + arguments["top_k"], kind, path,
        arguments["language"], arguments["mode"], arguments["alpha"], tests=arguments.get("tests", "ranked"),
        detail=arguments["detail"], excluded_globs=tuple(map(relative_pattern, arguments["exclude"] or ())),
    )  # fmt: skip


def find_paths(
    index: ProjectIndex, pending: list[str], expression: re.Pattern[str], shown_path: Callable[[str], str]
) -> tuple[list[str], list[str], Coverage]:
    """Return the indexed files that still exist and match, with the project's name or without it; which ones changed since."""
    shown = ((path, shown_path(path)) for path in index.store.paths())
    matching = (one for one in shown if any(map(expression.fullmatch, one)))
    hidden = index.hidden_paths()
    paths = [name for path, name in matching if path not in hidden and os.path.lexists(f"{index.root}/{path}")]
    return paths, list(map(shown_path, pending)), coverage(index, len(pending))


def suggest_pattern(pattern: str) -> str:
    """Return a hint for a pattern that matches nothing; empty if there is none."""
    if pattern.endswith("/"):
        return f"A pattern matches files; '{pattern}**' matches all in that folder."
    if "/" not in pattern:
        return f"'{pattern}' matches at the top only; '**/{pattern}' matches in every folder."
    return ""


def reindex_file(project: ProjectIndex, path: str) -> tuple[str, int]:
    """Bring one file up to date; return its path in the index and its number of chunks."""
    store = project.store
    if is_absolute(path):
        raise CatalogError("FILE_NOT_FOUND", path=path, detail="paths are relative to the project")
    entry = project.source.entry(path)
    if isinstance(entry, Verdict):
        if store.document(entry.path):
            _reindex(project, entry.path)
        raise _refusal(path, entry)
    report = _reindex(project, entry.path)
    document = store.document(entry.path)
    if document is None:
        raise _refusal(path, report.skipped[0] if report.skipped else Verdict(entry.path, Reason.VANISHED))
    return entry.path, len(store.chunks(document.id))


def _reindex(project: ProjectIndex, path: str) -> IndexReport:
    report = project.reindex([path])
    if report.changed_anything:
        project.settle()
    return report


def _refusal(path: str, verdict: Verdict) -> CatalogError:
    if verdict.reason is Reason.SYMLINK:
        return CatalogError("SYMLINK_NOT_ALLOWED", path=path)
    if verdict.reason is Reason.UNREADABLE:
        return CatalogError("PERMISSION_DENIED", path=path)
    detail = str(verdict.reason or verdict.detail) + (f", {verdict.rule.pattern}" if verdict.rule else "")
    return CatalogError("FILE_NOT_FOUND", path=path, detail=detail)


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
    hidden = index.hidden_paths()
    for known in (known for _, known in index.store.ids_by_path() if known not in hidden):
        for one in (known, *(str(folder) for folder in PurePosixPath(known).parents)):
            name = one.rpartition("/")[2].lower()
            if name[:1] == wanted[:1] and len(named) < MAX_COMPARED:
                named.setdefault(name, one)
    return f"No path here matches '{path}'.{_meant(named[name] for name in difflib.get_close_matches(wanted, named))}"


def _meant(similar: Iterable[str]) -> str:
    found = " or ".join(similar)
    return f" Did you mean {found}?" if found else ""

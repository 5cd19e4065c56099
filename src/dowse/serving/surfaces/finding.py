"""Single files of a project: found by a glob, brought up to date by name."""

import os
import re
from collections.abc import Callable

from dowse.errors import UsageError
from dowse.freshness.indexer import reindex
from dowse.globs import compile_glob
from dowse.serving.catalogue import CatalogueError
from dowse.serving.project import ProjectIndex
from dowse.types import Reason, Verdict


def compiled(pattern: str) -> re.Pattern[str]:
    """The expression of a glob over relative paths, or INVALID_PATTERN saying what is wrong with it."""
    bare = pattern.removeprefix("./")
    if bare.startswith(("/", "~")) or ".." in bare.replace("\\", "/").split("/") or re.match(r"[A-Za-z]:", bare):
        raise CatalogueError("INVALID_PATTERN", pattern=_short(pattern), detail="patterns are relative to the project")
    try:
        return compile_glob(bare)
    except UsageError as error:
        raise CatalogueError("INVALID_PATTERN", pattern=_short(pattern), detail=str(error)) from error


def matches(project: ProjectIndex, expression: re.Pattern[str], shown: Callable[[str], str]) -> list[str]:
    """The indexed files that are there and whose shown path matches."""
    store = project.store
    paths = ((document.path, shown(document.path)) for document in store.documents())
    return [
        told for path, told in paths if expression.fullmatch(told) and os.path.lexists(f"{project.source.root}/{path}")
    ]


def reindexed(project: ProjectIndex, path: str) -> tuple[str, int]:
    """Bring one file up to date; its path as the index has it, and how many chunks it became."""
    store = project.store
    if path.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:[\\/]", path):
        raise CatalogueError("FILE_NOT_FOUND", path=path, detail="paths are relative to the project")
    entry = project.source.entry(path)
    if isinstance(entry, Verdict):
        if entry.reason is Reason.VANISHED and store.document(entry.path):
            reindex(project.source, store, [entry.path])
        raise _refusal(path, entry)
    report = reindex(project.source, store, [entry.path])
    document = store.document(entry.path)
    if document is None:
        raise _refusal(path, report.skipped[0] if report.skipped else Verdict(entry.path, Reason.VANISHED))
    return entry.path, len(store.chunks(document.id))


def _refusal(asked: str, verdict: Verdict) -> CatalogueError:
    if verdict.reason is Reason.SYMLINK:
        return CatalogueError("SYMLINK_NOT_ALLOWED", path=asked)
    if verdict.reason is Reason.UNREADABLE:
        return CatalogueError("PERMISSION_DENIED", path=asked)
    detail = str(verdict.reason or verdict.detail) + (f", {verdict.rule.pattern}" if verdict.rule else "")
    return CatalogueError("FILE_NOT_FOUND", path=asked, detail=detail)


def _short(pattern: str) -> str:
    return pattern if len(pattern) <= 100 else pattern[:99] + "…"

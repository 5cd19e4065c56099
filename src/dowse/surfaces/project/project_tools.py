"""The definitions of the project tools: arguments, replies, annotations and descriptions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from dowse.mcp.replies import Reply
from dowse.mcp.schemas import FLAG, MAX_QUERY_CHARACTERS, NUMBER, TEXT, TEXTS, count, describe, item, reply
from dowse.mcp.tools import Call, Schema, Tool
from dowse.searching.references.reference_search import USE_KINDS
from dowse.settings import SettingsFiles
from dowse.store.storage_layout import global_settings_file, index_folder
from dowse.surfaces.project.project_surface import ProjectSurface
from dowse.surfaces.root_detection import add_client_roots
from dowse.types import Kind

ENHANCED_HINTS = {
    "search_code": " using natural language. **TIP:** Prefer this over reading full files when looking for specific "
    "functions, patterns, or implementations.",
    "search_docs": ". **TIP:** For follow-up questions about a doc already in context, use this tool instead of "
    "re-reading the entire file - more precise results, less context usage.",
}
"""Texts that the setting `enhancedToolDescriptions` adds to the descriptions."""

_FOUND: Schema = reply(
    ("results", "totalResults", "searchTimeMs"),
    results={
        "type": "array",
        "items": item(
            ("path", "text", "score", "startLine", "endLine"),
            path=TEXT, text=TEXT, score=NUMBER, startLine=NUMBER, endLine=NUMBER,
        ),
    },
    totalResults=NUMBER, searchTimeMs=NUMBER, coverage={"type": "object"}, searchedBy={"type": "object"},
)  # fmt: skip


def _search_arguments(query: str) -> dict[str, Schema]:
    return {
        "query": describe(TEXT, query, minLength=1, maxLength=MAX_QUERY_CHARACTERS),
        "top_k": count("Number of results to return (1-50)", 10, 50),
        "offset": count("Skip this many results", 0, 950, 0),
        "path": describe(TEXT, "Only paths that match this glob, such as src/**/*.py"),
        "language": describe(TEXT, "Only this language, such as python"),
        "mode": describe(TEXT, "How to search", enum=["hybrid", "vector", "lexical"], default="hybrid"),
        "alpha": describe(NUMBER, "Weight of vectors in a hybrid search", minimum=0, maximum=1),
        "exclude": describe(TEXTS, "Paths or globs to leave out", maxItems=200),
        "detail": describe(TEXT, "How much to show", enum=["outline", "passages", "full"], default="passages"),
    }


_SEARCH: dict[Kind, dict[str, Schema]] = {
    "code": {
        **_search_arguments('The question or code concept to search for; +must, -not and "a phrase" work'),
        "tests": describe(TEXT, "Tests and examples", enum=["ranked", "none", "only"], default="ranked"),
    },
    "docs": _search_arguments('The question or topic to search for in documentation; +must, -not and "a phrase" work'),
}
_CONFIRM = {"confirm": describe(FLAG, "Yes, if the client cannot ask the user", default=False)}
_INDEXED = reply((), status=TEXT, projectPath=TEXT, filesIndexed=NUMBER, chunksCreated=NUMBER, message=TEXT)
_DONE = reply((), status=TEXT, projectPath=TEXT, message=TEXT)


class ProjectTools:
    """The project tools that are offered now, rebuilt only when the projects or the settings change."""

    def __init__(self, surface: ProjectSurface) -> None:
        self.surface = surface
        self._settings_of: list[Path] = []
        self._settings: SettingsFiles | None = None
        self._built_for: tuple[object, ...] | None = None
        self._tools: tuple[Tool, ...] = ()

    async def current(self, client: Call) -> tuple[Tool, ...]:
        """Return the tools; the same tuple as before unless something changed."""
        service = self.surface.service
        if not service.projects:
            await add_client_roots(service, client)
        names = tuple(served.name for served in service.projects)
        key = (names, has_hints := self._has_hints())
        if key != self._built_for:
            tools = project_tools(self.surface, ENHANCED_HINTS if has_hints else {})
            self._tools = tuple(_with_project_argument(tool, names) for tool in tools)
            self._built_for = key
        return self._tools

    def _has_hints(self) -> bool:
        """Return whether the settings of the first project ask for longer descriptions."""
        roots = [served.root for served in self.surface.service.projects[:1]]
        if self._settings is None or roots != self._settings_of:
            folders = map(index_folder, roots)
            self._settings = SettingsFiles(global_settings_file(), *(folder / "config.json" for folder in folders))
            self._settings_of = roots
        return self._settings.current().enhanced_tool_descriptions


def _with_project_argument(tool: Tool, names: Sequence[str]) -> Tool:
    if len(names) < 2 or tool.name == "list_projects":
        return tool
    project = describe(TEXT, "Project name; without it, all projects where possible", enum=list(names))
    return replace(tool, arguments={**tool.arguments, "project": project})


class ReadingHandlers(Protocol):
    """The handlers of the tools that only read, over folders of this machine or over a place."""

    async def search_kind(self, call: Call, kind: Kind) -> Reply: ...
    async def search_by_path(self, call: Call) -> Reply: ...
    async def find_text(self, call: Call) -> Reply: ...
    async def get_index_status(self, call: Call) -> Reply: ...
    async def list_projects(self, call: Call) -> Reply: ...


def search_tools(surface: ReadingHandlers, hints: Mapping[str, str]) -> list[Tool]:
    """Return the tools that search, with the hints added to the descriptions they are for."""

    def searches(name: str, title: str, description: str, kind: Kind) -> Tool:
        run = partial(surface.search_kind, kind=kind)
        return Tool(name, title, description + hints.get(name, ""), run, _FOUND, _SEARCH[kind], ("query",))

    return [
        searches("search_code", "Search code", "Search your codebase for relevant code", "code"),
        searches("search_docs", "Search docs", "Search documentation files (.md, .txt)", "docs"),
        Tool(
            "search_by_path", "Find files", "Find indexed files whose path matches a glob pattern",
            surface.search_by_path,
            reply(("matches", "totalMatches"), matches=TEXTS, totalMatches=NUMBER, coverage={"type": "object"}),
            {
                "pattern": describe(TEXT, "Glob pattern to match (e.g., '**/auth*.ts', 'src/**/*.md')", minLength=1),
                "limit": count("Maximum results to return", 20, 100_000),
                "offset": count("Skip this many matches", 0, 100_000, 0),
            },
            ("pattern",),
        ),
        Tool(
            "find_text", "Find text", "Find every line with an exact text or regular expression, with a complete count; prefer it to grep",
            surface.find_text,
            reply(
                ("matches", "totalMatches", "complete"),
                matches={"type": "array", "items": item(("path", "line", "text"), path=TEXT, line=NUMBER, text=TEXT)},
                totalMatches=NUMBER, complete=FLAG,
            ),
            {
                "text": describe(TEXT, "The text, case-sensitive, or the pattern", minLength=1, maxLength=1000),
                "regex": describe(FLAG, "Whether it is a pattern", default=False),
                "path": describe(TEXT, "Only paths that match this glob"),
                "limit": count("Lines to list", 50, 1000),
                "offset": count("Lines to skip", 0, 100_000, 0),
            },
            ("text",),
        ),
    ]  # fmt: skip


def status_tools(surface: ReadingHandlers) -> list[Tool]:
    """Return the tools that say what there is."""
    return [
        Tool(
            "get_index_status", "Index status", "Show what is indexed, how complete and fresh it is, and what was skipped and why",
            surface.get_index_status,
            reply(
                ("status",), status=TEXT, projectPath=TEXT, totalFiles=NUMBER, totalChunks=NUMBER,
                lastUpdated={"anyOf": [TEXT, {"type": "null"}]}, storageSize=TEXT, watcherActive=FLAG,
            ),
        ),
        Tool(
            "list_projects", "List projects", "List every project indexed on this machine, with stats",
            surface.list_projects,
            reply((), projects={"type": "array"}, totalProjects=NUMBER),
        ),
    ]  # fmt: skip


def project_tools(surface: ProjectSurface, hints: Mapping[str, str]) -> list[Tool]:
    """Return every tool, with the hints added to the descriptions they are for."""
    changes: Callable[..., Tool] = partial(Tool, is_read_only=False)
    return [
        *search_tools(surface, hints),
        Tool(
            "search_history", "Search history", "Find commits by their message, changed paths and changed symbols",
            surface.search_history,
            reply(("results", "covers"), results={"type": "array"}, covers=TEXT),
            {
                "query": describe(TEXT, "What was changed or why", minLength=1, maxLength=10_000),
                "path": describe(TEXT, "Only commits that change such paths (glob); renames are followed"),
                "since": describe(TEXT, "First date, such as 2025-05"),
                "until": describe(TEXT, "Last date"),
                "authors": describe(FLAG, "Show authors", default=False),
                "limit": count("Commits to list", 10, 50),
            },
            ("query",), is_extra=True,
        ),
        Tool(
            "find_references", "Find references", "Find where a function, class or other symbol is defined and used, with the callers",
            surface.find_references,
            reply(
                ("definitions", "references", "totalReferences"),
                definitions={"type": "array"},
                references={"type": "array", "items": item(("path", "uses"), path=TEXT, uses={"type": "array"})},
                totalReferences=NUMBER, totalFiles=NUMBER,
            ),
            {
                "name": describe(TEXT, "The name, alone or as Class.method", minLength=1, maxLength=500),
                "kind": describe(TEXT, "Only this use", enum=list(USE_KINDS)),
                "path": describe(TEXT, "Only uses in paths that match this glob"),
                "limit": count("Uses to list", 50, 1000),
                "offset": count("Uses to skip", 0, 100_000, 0),
            },
            ("name",), is_extra=True,
        ),
        Tool(
            "related_files", "Related files", "List what a file imports, what imports it, its tests and what changes with it",
            surface.related_files,
            reply(("imports", "importedBy"), path=TEXT, imports={"type": "array"}, importedBy={"type": "array"}),
            {
                "path": describe(TEXT, "Relative path to the file", minLength=1, maxLength=4096),
                "limit": count("Files of each kind to list", 20, 200),
            },
            ("path",), is_extra=True,
        ),
        Tool(
            "explain", "Explain", "Explain why a file is or is not indexed and, with a query, why it ranks where it does",
            surface.explain,
            reply(("path", "allowed"), path=TEXT, allowed=FLAG, indexed=FLAG, reason=TEXT, rank=NUMBER),
            {
                "path": describe(TEXT, "Relative path to the file", minLength=1, maxLength=4096),
                "query": describe(TEXT, "The query to explain its rank for", maxLength=10_000),
            },
            ("path",), is_extra=True,
        ),
        *status_tools(surface),
        changes(
            "create_index", "Create index", "Index the current project, or bring its index up to date",
            surface.create_index, _INDEXED, _CONFIRM,
        ),
        changes(
            "reindex_project", "Rebuild index", "Delete the index and build it again from scratch",
            surface.reindex_project, _INDEXED, _CONFIRM, is_destructive=True,
        ),
        changes(
            "reindex_file", "Re-index file", "Update the index of one file now",
            surface.reindex_file,
            reply((), status=TEXT, path=TEXT, chunksCreated=NUMBER, message=TEXT),
            {"path": describe(TEXT, "Relative path to the file (e.g., 'src/auth/login.ts')", minLength=1, maxLength=4096)},
            ("path",),
        ),
        changes(
            "delete_index", "Delete index", "Remove the index of the current project; its files are not touched",
            surface.delete_index, _DONE, _CONFIRM, is_destructive=True,
        ),
    ]  # fmt: skip

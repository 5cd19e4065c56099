"""The tools of the project surface as they are announced: what each takes and replies, and what is true of it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from dowse.mcp.schemas import FLAG, NUMBER, SCREENING, TEXT, TEXTS, count, described, item, reply
from dowse.mcp.tools import Schema, Tool
from dowse.types import Kind

if TYPE_CHECKING:
    from dowse.surfaces.project.project_surface import ProjectSurface

_FOUND: Schema = reply(
    ("results", "totalResults", "searchTimeMs"),
    results={
        "type": "array",
        "items": item(
            ("path", "text", "score", "startLine", "endLine"),
            path=TEXT, text=TEXT, score=NUMBER, startLine=NUMBER, endLine=NUMBER, **SCREENING,
        ),
    },
    totalResults=NUMBER, searchTimeMs=NUMBER, coverage={"type": "object"}, searchedBy={"type": "object"},
)  # fmt: skip


def _search_arguments(query: str) -> dict[str, Schema]:
    return {
        "query": described(TEXT, query, minLength=1, maxLength=10_000),
        "top_k": count("Number of results to return (1-50)", 10, 50),
        "offset": count("Skip this many results", 0, 950, 0),
        "path": described(TEXT, "Only paths that match this glob, such as src/**/*.py"),
        "language": described(TEXT, "Only this language, such as python"),
        "mode": described(TEXT, "How to search", enum=["hybrid", "vector", "lexical"], default="hybrid"),
        "alpha": described(NUMBER, "Share of meaning in a hybrid search", minimum=0, maximum=1),
    }


_SEARCH: dict[Kind, dict[str, Schema]] = {
    "code": _search_arguments('The question or code concept to search for; +must, -not and "a phrase" work'),
    "docs": _search_arguments('The question or topic to search for in documentation; +must, -not and "a phrase" work'),
}
_CONFIRM = {"confirm": described(FLAG, "Yes to the question, where the client cannot ask", default=False)}
_INDEXED = reply(
    ("status",), status=TEXT, projectPath=TEXT, filesIndexed=NUMBER, chunksCreated=NUMBER, duration=TEXT, message=TEXT
)
_DONE = reply(("status",), status=TEXT, projectPath=TEXT, message=TEXT)


def offered_tools(surface: "ProjectSurface", hints: Mapping[str, str]) -> list[Tool]:
    """Every tool; hints are added to the descriptions of those that have one."""

    def searches(name: str, title: str, description: str, kind: Kind) -> Tool:
        run = partial(surface.search, kind=kind)
        return Tool(name, title, description + hints.get(name, ""), run, _FOUND, _SEARCH[kind], ("query",))

    changes: Callable[..., Tool] = partial(Tool, is_read_only=False)
    return [
        searches("search_code", "Search code", "Search your codebase for relevant code", "code"),
        searches("search_docs", "Search docs", "Search documentation files (.md, .txt)", "docs"),
        Tool(
            "search_by_path", "Find files", "Find indexed files whose path matches a glob pattern",
            surface.search_by_path,
            reply(("matches", "totalMatches"), matches=TEXTS, totalMatches=NUMBER, coverage={"type": "object"}),
            {
                "pattern": described(TEXT, "Glob pattern to match (e.g., '**/auth*.ts', 'src/**/*.md')", minLength=1),
                "limit": count("Maximum results to return", 20, 100_000),
                "offset": count("Skip this many matches", 0, 100_000, 0),
            },
            ("pattern",),
        ),
        Tool(
            "get_index_status", "Index status", "What is indexed, how complete and how fresh it is, what was skipped and why",
            surface.get_index_status,
            reply(
                ("status",), status=TEXT, projectPath=TEXT, totalFiles=NUMBER, totalChunks=NUMBER,
                lastUpdated={"anyOf": [TEXT, {"type": "null"}]}, storageSize=TEXT, watcherActive=FLAG,
                encoding={"type": "object"},
            ),
        ),
        Tool(
            "list_projects", "List projects", "List every project indexed on this machine, with stats",
            surface.list_projects,
            reply(("projects", "totalProjects"), projects={"type": "array"}, totalProjects=NUMBER),
        ),
        changes(
            "create_index", "Create index", "Index the current project, or bring its index up to date",
            surface.create_index, _INDEXED, _CONFIRM,
        ),
        changes(
            "reindex_project", "Rebuild index", "Throw the index away and build it again from scratch",
            surface.reindex_project, _INDEXED, _CONFIRM, is_destructive=True,
        ),
        changes(
            "reindex_file", "Re-index file", "Bring the index of one file up to date now",
            surface.reindex_file,
            reply(("status",), status=TEXT, path=TEXT, chunksCreated=NUMBER, message=TEXT),
            {"path": described(TEXT, "Relative path to the file (e.g., 'src/auth/login.ts')", minLength=1, maxLength=4096)},
            ("path",),
        ),
        changes(
            "delete_index", "Delete index", "Remove the index of the current project; its files are not touched",
            surface.delete_index, _DONE, _CONFIRM, is_destructive=True,
        ),
    ]  # fmt: skip

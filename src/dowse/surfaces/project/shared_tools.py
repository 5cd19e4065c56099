"""The arguments and replies of the tools that only read, which projects and a place have both."""

from dowse.mcp.schemas import FLAG, LIST, NUMBER, OBJECT, TEXT, TEXTS, count, describe, query, reply, rows
from dowse.mcp.tools import Schema, tool

_PLACE = {"path": TEXT, "text": TEXT, "score": NUMBER, "startLine": NUMBER, "endLine": NUMBER}
_SEARCH_REPLY = reply(
    ("results", "totalResults", "searchTimeMs"),
    results=rows(tuple(_PLACE), **_PLACE),
    totalResults=NUMBER,
    searchTimeMs=NUMBER,
    coverage=OBJECT,
    searchedBy=OBJECT,
)


def _search_arguments(subject: str) -> dict[str, Schema]:
    return {
        "query": query(subject),
        "top_k": count("Number of results to return (1-50)", 10, 50),
        "offset": count("Skip this many results", 0, 950, 0),
        "path": describe(TEXT, "Only paths that match this glob, such as src/**/*.py"),
        "language": describe(TEXT, "Only this language, such as python"),
        "mode": describe(TEXT, "How to search", enum=["hybrid", "vector", "lexical"], default="hybrid"),
        "alpha": describe(NUMBER, "Weight of vectors in a hybrid search", minimum=0, maximum=1),
        "exclude": describe(TEXTS, "Paths or globs to leave out", maxItems=200),
        "detail": describe(TEXT, "How much to show", enum=["outline", "passages", "full"], default="passages"),
    }


_CODE = _search_arguments('The question or code concept to search for; +must, -not and "a phrase" work')
_CODE["tests"] = describe(TEXT, "Tests and examples", enum=["ranked", "none", "only"], default="ranked")
_DOCS = _search_arguments('The question or topic to search for in documentation; +must, -not and "a phrase" work')

search_code = tool("Search code", _SEARCH_REPLY, _CODE, ("query",))
search_docs = tool("Search docs", _SEARCH_REPLY, _DOCS, ("query",))
search_by_path = tool(
    "Find files",
    reply(("matches", "totalMatches"), matches=TEXTS, totalMatches=NUMBER, coverage=OBJECT),
    {
        "pattern": describe(TEXT, "Glob pattern to match (e.g., '**/auth*.ts', 'src/**/*.md')", minLength=1),
        "limit": count("Maximum results to return", 20, 100_000),
        "offset": count("Skip this many matches", 0, 100_000, 0),
    },
    ("pattern",),
)
_LINES = rows(("path", "line", "text"), path=TEXT, line=NUMBER, text=TEXT)
find_text = tool(
    "Find text",
    reply(("matches", "totalMatches", "complete"), matches=_LINES, totalMatches=NUMBER, complete=FLAG),
    {
        "text": describe(TEXT, "The text, case-sensitive, or the pattern", minLength=1, maxLength=1000),
        "regex": describe(FLAG, "Whether it is a pattern", default=False),
        "path": describe(TEXT, "Only paths that match this glob"),
        "limit": count("Lines to list", 50, 1000),
        "offset": count("Lines to skip", 0, 100_000, 0),
    },
    ("text",),
)
_STATUS = {"status": TEXT, "projectPath": TEXT, "totalFiles": NUMBER, "totalChunks": NUMBER}
_STATUS |= {"lastUpdated": {"anyOf": [TEXT, {"type": "null"}]}, "storageSize": TEXT, "watcherActive": FLAG}
get_index_status = tool("Index status", reply(("status",), **_STATUS))
list_projects = tool("List projects", reply(projects=LIST, totalProjects=NUMBER))

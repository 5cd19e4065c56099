"""The definitions of the four tools for assistants: what they are told, and what they may ask."""

from dataclasses import replace

from dowse.errors import DowseError
from dowse.federation.answers.answer_surface import MAX_NAMES, AnswerSurface
from dowse.mcp.replies import error_reply
from dowse.mcp.schemas import FLAG, TEXT, TEXTS, count, describe
from dowse.mcp.tools import Schema, Tool

INSTRUCTIONS = (
    "Searches this project as it is now. Ask search first, with names that the code may use; "
    "then read several places at once. find and uses are complete: no grep is needed."
)

INSTRUCTIONS_WITHOUT_CODE = (
    "Searches documents, pages and notes as they are now. Ask search first; then read several places at once. "
    "find is complete."
)

_PATH = describe(TEXT, "Glob: src/**/*.py")
_TESTS = describe(TEXT, "Tests and examples", enum=["ranked", "none", "only"], default="ranked")

_PACKAGES: dict[str, dict[str, Schema]] = {
    "search": {"in": {**TEXT, "enum": ["dependencies"]}, "package": TEXT},
    "find": {"package": TEXT},
    "uses": {"package": TEXT},
}
"""Arguments of the tools where dependencies may be read; a package that is named is searched instead of the project."""


def answer_tools(
    surface: AnswerSurface, projects: tuple[str, ...] = (), *, has_code: bool = True, has_dependencies: bool = False
) -> list[Tool]:
    """Return the tools; with several projects they take the name of one. Without code there are no uses of names."""
    tools = [
        Tool(
            "search", "Search",
            "Find the code or documentation that answers, shown whole with line numbers, callers and constants. "
            "Say in a developer's words what is looked for, or paste an error or a whole issue. "
            "Guess in `names` how the code may call it: functions, classes, settings, synonyms. "
            "A wrong guess costs nothing, a right one leads there.",
            surface.answer_question, None,
            {
                "query": describe(TEXT, "What is looked for, in up to twelve words; or an error; or an issue", minLength=1),
                "names": describe(TEXTS, "Six to ten guessed names, such as retryDelay, BackoffPolicy, max_attempts", maxItems=MAX_NAMES),
                "path": _PATH,
                "kind": describe(TEXT, "Only code or docs", enum=["code", "docs"]),
                "tests": _TESTS,
                "limit": count("Definitions shown whole", 5, 10),
            },
            ("query",),
        ),
        Tool(
            "read", "Read",
            "Read several places at once, with line numbers: path (a long file as its outline), path:10-40, "
            "path#Class.method, a folder, docs://…, or an id and lines or a section of it",
            surface.read, None,
            {"places": describe(TEXTS, "Places, best all that you need", minItems=1)},
            ("places",),
        ),
        Tool(
            "find", "Find",
            "Every line with an exact text or pattern, by file and definition, with a complete count",
            surface.find, None,
            {
                "texts": describe(TEXTS, "One or several exact texts", minItems=1),
                "regex": describe(FLAG, "They are patterns", default=False),
                "path": _PATH,
                "tests": _TESTS,
                "context": count("Lines around each", 0, 20, 0),
                "limit": count("Lines listed for each text; 0: counts by file", 60, 500, 0),
            },
            ("texts",),
        ),
        Tool(
            "uses", "Uses",
            "Where names are defined, called and overridden, each with the calling definition",
            surface.uses, None,
            {"names": describe(TEXTS, "Such as parse_config or Client.get", minItems=1), "path": _PATH},
            ("names",),
        ),
    ]  # fmt: skip
    if has_dependencies:
        tools = [replace(tool, arguments={**tool.arguments, **_PACKAGES.get(tool.name, {})}) for tool in tools]
    tools = [replace(tool, failure=_failure) for tool in tools if has_code or tool.name != "uses"]
    if len(projects) < 2:
        return tools
    project: Schema = describe(TEXT, "Project name; without it, all", enum=list(projects))
    return [replace(tool, arguments={**tool.arguments, "project": project}) for tool in tools]


def _failure(error: DowseError) -> str:
    return str(error_reply(error)["userMessage"])

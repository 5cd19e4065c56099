"""`python docs/reference.py` writes the reference as the program itself tells it.

These are docs/tools.md, docs/commands.md, docs/errors.md and the table of settings in docs/configuration.md.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
from mcp_types import Tool

from dowse.cli.composition import ComposedServer, Offer
from dowse.error_catalog import CATALOG
from dowse.keeping.served_index import Service
from dowse.mcp.replies import BUDGET_TOKENS, CHARACTERS_PER_TOKEN, HOW_TO_CONFIRM
from dowse.mcp.tools import Level
from dowse.surfaces.project.index_tools import CREATE_QUESTION, DELETE_QUESTION, REBUILD_QUESTION
from dowse.surfaces.project.project_surface import ENHANCED_HINTS
from mcp import Client

Schema = Mapping[str, Any]

QUESTIONS = {"create_index": CREATE_QUESTION, "reindex_project": REBUILD_QUESTION, "delete_index": DELETE_QUESTION}

KEYS = {
    "alsoIn": "the ids of the same item in other sources",
    "anchor": "the name of a section in links: `docs://guide.md#anchor`",
    "chunks": "the number of chunks in the index",
    "changesWith": "files that usually change together with it, with the `reason` of each",
    "importedBy": "the files that import it, with the `reason` of each",
    "imports": "the files that it imports, with the `reason` of each",
    "notListed": "in `related_files`, the number of files of each kind that are not listed; in `find_references`, the number of uses",
    "byNameOnly": "languages of the definitions in which names are matched by name only",
    "owners": "what defines a name that is too common to list its uses, with the number of `uses` of each",
    "overrides": "definitions of the name in classes that extend its own",
    "confidences": "in `find_references`, the number of uses of each confidence",
    "confidence": "how sure it is that a use means a definition: `likely`, `possible` or `by its text`; absent if it is certain",
    "definition": "the definition that a use means, as path and line, if there are several",
    "kinds": "in `find_references`, the number of uses of each kind",
    "moreDefinitions": "the number of definitions that are not listed",
    "sameNameElsewhere": "uses of other things with the same name, which are left out",
    "similarNames": "names that are spelled like one that is unknown",
    "code": "in `get_index_status`, the `files` and `chunks` of code; in an error or a `FILE_LIMIT_WARNING`, its code",
    "complete": "whether the answer is about all files as they are now",
    "searchedBy": "the search methods that were used, `words` and the encoders, each with the share of the chunks that "
    "it could find; in `search`, for each project",
    "sameIn": "other files that were found and say the same in these lines, at most five",
    "moreSame": "the number of such files that are not listed",
    "why": "with `detail` as `outline` or `full`, the strongest reasons for the rank of the file, in at most five words",
    "without": "the encoder that could not be used this time, and why",
    "corrected": "words that occur nowhere, and the known words that were searched instead",
    "coverage": "how much of the project the answer is about",
    "developerMessage": "the technical description of an error",
    "direct": "present if the file is not indexed yet and was searched by words alone",
    "docId": "the id of a document in its named index",
    "docs": "the `files` and `chunks` of documentation",
    "encoding": "the progress of the vectors: the `encoder`, its `state` (`complete`, `working`, `waiting`, `off` "
    "or `failed`, with the `problem`), the chunks `done` of the `total`, and the encoder that is `serving` meanwhile, "
    "if that is another one",
    "endLine": "the last line of the passage, from 1",
    "excerpt": "the sentences around the match",
    "exists": "whether the project's folder still exists",
    "expectedFiles": "the number of files that the last run was to index",
    "files": "the number of files in the index",
    "flaggedLines": "the lines that `flags` are about",
    "flags": "content warnings: `instructions` (the text speaks to an assistant), `hidden-characters`",
    "from": "the document that contains the link",
    "headings": "in `search_documents`, the headings above the passage; elsewhere the headings of the document",
    "indexedFiles": "the number of files in the index now",
    "indexing": "present while a run is in progress",
    "searchedDirectly": "the number of files that are not indexed yet and were searched by words alone",
    "secondsLeft": "about how long the run that is indexing takes from now on",
    "kind": "the target of a link: `document`, `web`, `broken` or `other`; for a source, its kind",
    "lastCheck": "when all files were last compared with the index",
    "lastError": "why the last run failed, until a run succeeds",
    "leftOut": "in `search`, the sources that cannot apply a filter, and which filter",
    "level": "the level of a heading, from 1",
    "line": "the line of a link",
    "masked": "the kinds of secrets that are masked in the text as `[masked: …]`; the file itself is unchanged",
    "matchLocation": "`title`, `content` or `both`",
    "message": "the outcome, or what to do next",
    "metadata": "in `search`, how the answer was made; in `fetch`, further facts about the item",
    "more": "in `search`, how to get the rest",
    "count": "in `find_text`, the number of matches in the line, if there are several",
    "score": "from 0 to 1: of the first result, how much of the query its lines and names have and how near they are in "
    "meaning; of others this number, in proportion to how they rank below it",
    "totalFiles": "in `find_text` and `find_references`, the number of files with a match or a use, listed or not; "
    "in `get_index_status`, the number of files in the index",
    "totalMatches": "the number of all matches, listed or not: in `search_by_path` and `search_documents` files, "
    "in `find_text` occurrences of the text, each once, without overlaps",
    "totalResults": "the number of results in this reply",
    "weakerMatches": "the number of files that were compared with the query, of at most 120 for each project, and are no "
    "results because they match much less well than the best one; no page lists them",
    "partOf": "the lines of the function, class or section of which the passage is a part; absent if the passage is whole",
    "signature": "the signature of the function of which the passage is a part, if the passage does not have it",
    "newFiles": "files that are not in the index yet, at most 20",
    "nextOffset": "the `offset` of the next page",
    "pending": "files that changed and are not indexed again yet; `.` stands for those that are denied now, and for files that are not compared yet",
    "pendingFiles": "the number of files that differ from the index now",
    "problem": "what is wrong with the index, and what to do",
    "problems": "in `search`, the sources that did not answer, why, and what to do",
    "question": "the question that `confirm: true` answers",
    "relevance": "from 0 to 1; at least 0.8 if the title holds all words of the query",
    "rootState": "`present`, `missing` (the folder no longer exists; `dowse forget --missing` deletes such indexes) or `unreachable` (for example, its disk is not mounted)",
    "searched": "in `search`, the sources that answered",
    "skipped": "the number of files that were left out, by reason; `dowse why PATH` names the rule",
    "source": "the name of a source, as the argument `source` takes it; ids begin with it",
    "sources": "every source: `kind`, `name`, `state`, how much it holds, `lastUpdated`, `problem`",
    "stale": "files that changed during the search and are left out of the answer, at most 20; `.` stands for those that are denied now",
    "unparsedFiles": "files that were read as plain text because their parser took too much time or memory, at most 20",
    "staleFiles": "files that changed or were deleted since they were indexed, at most 20; `.` stands for those that are denied now",
    "startLine": "the first line of the passage, from 1",
    "strategy": "when changes are indexed: the setting `indexingStrategy`",
    "target": "a link as it is written",
    "to": "the address that a link leads to",
    "totalCharacters": "in `fetch`, the length of the whole text",
    "totalLines": "in `find_text`, the number of lines with a match, listed or not, which `limit` and `offset` count; elsewhere the number of lines of the document",
    "truncated": "present if the budget cut the reply, with the way to get the rest",
    "userMessage": "the message of an error for the user",
    "warnings": "messages for the user: settings that cannot be used, a root that was guessed, an index that was repaired or removed to save space, changed files that cannot be indexed",
    "watcher": "how changes are noticed: `watching`, `polling`, `elsewhere` (by another process) or `off`, and why",
    "within": "the definition or the headings that contain the passage",
}
"""The keys of replies that are not explained by their tool."""

START = f"""\
# Tools

<!-- Generated from the server by `python docs/reference.py`; a test compares. -->

The tools that `dowse serve` offers to an assistant ([clients.md](clients.md) explains how to connect one).
The archive tools are offered if there are archives ([archive.md](archive.md)), the site tools with `--site` ([site.md](site.md)).
`search` and `fetch` work on all sources at once; `--tools minimal` offers them and `get_index_status` alone ([federation.md](federation.md)).
`--tools assistant` offers four other tools, which answer in plain text ([clients.md](clients.md#tools-and-instructions-for-the-assistant)).
Paths are relative to the project and use slashes on every system.

- A reply is structured content, and the same JSON again as text for clients that read only text.
- A reply stays below {BUDGET_TOKENS:,} tokens (a token counts as {CHARACTERS_PER_TOKEN} characters) or the number given with `--budget`.
  A reply that was cut has the key `truncated`, which says how to get the rest.
- `null` for an optional argument means that it is absent.
  An argument that is unknown, has the wrong type or is out of range is refused by name with `INVALID_ARGUMENT`.
- An error is a result that is marked as an error; its content is `code`, `userMessage` and `developerMessage` ([below](#errors)).
- Results are text from files: data, not instructions.

The server introduces itself with these instructions:
"""

QUERIES = """\
## Queries

Words, names, questions and paths are all good queries; the best hits come first, one per file, with the lines that matter.
`+word` must occur, `-word` must not, the words of `"a phrase"` must follow each other.
Where they leave nothing, `withoutFilters` says how many hits there would be without them.
In pasted text (several lines, more than 200 characters, a traceback, code, a command line, or a sentence that begins with `fix`) they are text, and no word is replaced.
Quotes in a sentence, such as `saving twice fails with "unknown key"`, are text too: four words beside them, one of them a word like `with`.
A word that occurs nowhere is replaced by the nearest known word, and `corrected` says so.
A `score` is between 0 and 1 and means relevance.

`mode: vector` needs an encoder and is refused if the index has none; `hybrid` then searches by words alone, and `alpha` has no effect.
"""

CONFIRMATION = f"""\
## Confirmation

`create_index`, `reindex_project` and `delete_index` ask the user if the client can ask.
Anything but a yes returns `{{"status": "cancelled"}}` and changes nothing; `confirm: true` does not replace the answer.

If the client cannot ask, `create_index` goes ahead: the call is the consent.
`reindex_project`, `delete_index` and an index of more than `maxFiles` files then need `confirm: true`.
Without it the reply is `cancelled` with the `question` and the `message` “{HOW_TO_CONFIRM}”
"""

ERRORS = """\
## Errors

The words in braces are replaced by facts.
A user's message names no absolute path; a developer's message begins with the code.

| code | message for the user | message for the developer |
|---|---|---|
| `INVALID_ARGUMENT` | which argument is wrong, and how | the same |
"""


def reference() -> str:
    """The whole page."""
    listed, several, standard, words = anyio.run(_told)
    always = {tool.name for tool in standard}
    sections = [
        *(_section(tool, is_extra=tool.name not in always) for tool in listed),
        QUERIES,
        _several(listed, several),
        CONFIRMATION,
        _keys(),
        _errors(),
    ]
    return "\n".join([f"{START}\n> {words}\n", *sections])


def _server(roots: list[Path], level: Level = "full") -> Any:
    with patch.dict(os.environ, {"RESEARCH_ARCHIVE_PATH": str(roots[0])}):
        return ComposedServer(Service(roots), roots[0], Offer(level=level)).server()


async def _told() -> tuple[list[Tool], list[Tool], list[Tool], str]:
    """The tools over one project, those over several, those that are always offered, and the server's own words."""
    with tempfile.TemporaryDirectory() as folder:
        roots = [Path(folder) / name for name in ("one", "other")]
        for root in roots:
            root.mkdir()
        async with Client(_server(roots[:1])) as client:
            listed = (await client.list_tools()).tools
        async with Client(_server(roots[:1], "standard")) as client:
            standard, words = (await client.list_tools()).tools, client.instructions or ""
        async with Client(_server(roots)) as client:
            return listed, (await client.list_tools()).tools, standard, words


def _section(tool: Tool, *, is_extra: bool) -> str:
    lines = [f"## `{tool.name}`", "", f"**{tool.title}.** {tool.description}.", ""]
    if is_extra:
        lines += ["Offered with `--tools full`.", ""]
    if tool.name in ENHANCED_HINTS:
        lines += [f"The setting `enhancedToolDescriptions` adds:{_quoted(ENHANCED_HINTS[tool.name])}", ""]
    if tool.name in QUESTIONS:
        lines += [f"Asks first: “{QUESTIONS[tool.name]}” ([more](#confirmation)).", ""]
    lines += [
        *_arguments(tool.input_schema),
        "",
        *_reply(tool.output_schema or {}),
        "",
        f"Annotations: {_annotations(tool)}.",
    ]
    return "\n".join(lines) + "\n"


def _quoted(hint: str) -> str:
    return f" “{hint.lstrip('. ')}”"


def _arguments(schema: Schema) -> list[str]:
    properties: Mapping[str, Schema] = schema["properties"]
    if not properties:
        return ["No arguments."]
    rows = ["| argument | type | meaning |", "|---|---|---|"]
    for name, argument in properties.items():
        kind = _kind(argument) + (", required" if name in schema.get("required", ()) else "")
        rows.append(f"| `{name}` | {kind} | {_plain(argument.get('description', ''))} |")
    return rows


def _plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    return text.replace("*", "\\*").replace("|", "\\|")


def _kind(argument: Schema) -> str:
    """A type with its bounds and its default, in words."""
    if "enum" in argument:
        words = "one of " + ", ".join(f"`{value}`" for value in argument["enum"])
    elif argument["type"] in ("number", "integer"):
        is_whole = argument["type"] == "integer" or argument.get("multipleOf") == 1
        words = ("whole number" if is_whole else "number") + _between(argument)
    elif argument["type"] == "string":
        words = "text" + (f" of at most {argument['maxLength']:,} characters" if "maxLength" in argument else "")
    else:
        words = {"boolean": "true or false", "array": "list", "object": "object"}[argument["type"]]
    return words + (f", default `{_as_json(argument['default'])}`" if "default" in argument else "")


def _between(argument: Schema) -> str:
    return f" from {argument['minimum']:,} to {argument['maximum']:,}" if "maximum" in argument else ""


def _as_json(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _required(schema: Schema) -> set[str]:
    """Return the keys that every reply has which is no error: the first of the alternatives, where there are several."""
    choices = schema.get("anyOf") or [schema]
    return set(choices[0].get("required", ()))


def _reply(schema: Schema) -> list[str]:
    always = _required(schema)
    keys = [f"{_key(name, always)}{_items(value)}" for name, value in schema["properties"].items()]
    return [f"Reply: {', '.join(keys)}."]


def _items(value: Schema) -> str:
    item = value.get("items", {})
    if not item.get("properties"):
        return ""
    always = _required(item)
    return f" (a list of {', '.join(_key(name, always) for name in item['properties'])})"


def _key(name: str, always: set[str]) -> str:
    return f"`{name}`{'' if name in always else '?'}"


def _annotations(tool: Tool) -> str:
    hints = tool.annotations
    if hints is None:
        return "none"
    words = [
        "read-only" if hints.read_only_hint else "changes the index",
        "destructive" if hints.destructive_hint else "",
        "idempotent" if hints.idempotent_hint else "",
        "closed world" if hints.open_world_hint is False else "",
    ]
    return ", ".join(filter(None, words))


def _several(listed: list[Tool], several: list[Tool]) -> str:
    """Return what is different if several projects are served."""
    one = {tool.name: set(tool.input_schema["properties"]) for tool in listed}
    more = {tool.name: sorted(set(tool.input_schema["properties"]) - one[tool.name]) for tool in several}
    names = ", ".join(f"`{name}`" for name, added in more.items() if added == ["project"])
    return (
        "## Several projects\n\n"
        "If several folders are served, paths begin with the name of their folder: `backend/src/login.py`.\n"
        f"{names} then take `project`, the name of one project.\n"
        "Without it they work on all projects; `reindex_project` and `delete_index` need it.\n"
    )


def _keys() -> str:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in KEYS.items()]
    head = (
        "## Keys of a reply\n\n"
        "Keys marked with `?` above, and these, are present only if they have something to say.\n\n"
        "| key | meaning |\n|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"


def _errors() -> str:
    return ERRORS + "\n".join(_error_rows()) + "\n"


def _error_rows() -> Iterator[str]:
    for code, (user, developer) in CATALOG.items():
        yield f"| `{code}` | {user} | {developer.replace('{limit:,}', '{limit}')} |"


def main() -> None:
    """Write the pages, whatever the settings of whoever runs this."""
    folder = Path(__file__).parent
    sys.path.insert(0, str(folder.parent))
    from docs.command_reference import commands_page, errors_page
    from docs.settings_reference import with_settings

    settings = folder / "configuration.md"
    with tempfile.TemporaryDirectory() as storage:
        os.environ["DOWSE_HOME"] = storage
        pages = {"tools.md": reference(), "commands.md": commands_page(), "errors.md": errors_page()}
    pages[settings.name] = with_settings(settings.read_text(encoding="utf-8"))
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

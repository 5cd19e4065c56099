"""`python docs/reference.py > docs/tools.md`: the reference of the tools, as the server itself tells it."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
from mcp import Client
from mcp_types import Tool

from dowse.error_catalog import CATALOG
from dowse.keeping.service import Service
from dowse.mcp.tools import BUDGET_TOKENS, CHARACTERS_PER_TOKEN, Level
from dowse.server.composition import ComposedServer, Offer
from dowse.surfaces.project.project_surface import CREATE_QUESTION, DELETE_QUESTION, HINTS, REBUILD_QUESTION, SAY_YES

Schema = Mapping[str, Any]

QUESTIONS = {"create_index": CREATE_QUESTION, "reindex_project": REBUILD_QUESTION, "delete_index": DELETE_QUESTION}

KEYS = {
    "alsoIn": "the ids that the same thing has under other sources",
    "anchor": "what links call a section by: `docs://guide.md#anchor`",
    "chunks": "pieces that files were cut into",
    "code": "in `get_index_status`, the `files` and `chunks` of code; in an error or a `FILE_LIMIT_WARNING`, its code",
    "complete": "whether the answer is about the whole project",
    "searchedBy": "which ways were gone, by `words` and by which encoders, and the share of chunks that each could find; "
    "in `search`, of each project",
    "without": "which encoder could not be asked this time, and why",
    "corrected": "words that were nowhere, and the known words that were taken for them",
    "coverage": "how much of the project the answer is about",
    "developerMessage": "of an error: what is technical about it",
    "docId": "what a note is called in its index",
    "docs": "the `files` and `chunks` of documentation",
    "encoding": "how far search by meaning is: the `encoder`, its `state` (`complete`, `working`, `waiting`, `paused`, `off` "
    "or `failed`, with the `problem`), chunks that are `done` of the `total`, and the encoder that is `serving` meanwhile, "
    "if that is another one",
    "endLine": "the last line, from 1",
    "excerpt": "a few words around what was found",
    "exists": "whether the project's own folder is still there",
    "expectedFiles": "files that the last run set out to have indexed",
    "files": "files in the index",
    "flaggedLines": "the lines that `flags` are for",
    "flags": "what the text is to be read with care for: `instructions` that speak to an assistant, `hidden-characters`",
    "from": "the document that a link stands in",
    "headings": "in `search_documents` the headings that the passage stands under; else those of the document",
    "indexedFiles": "files that are in the index now",
    "indexing": "present while a run goes on",
    "kind": "where a link leads: `document`, `web`, `broken` or `other`; of a source, what it is",
    "lastCheck": "when all files were last compared with the index",
    "lastError": "why the last run failed, until one succeeds",
    "leftOut": "in `search`, the sources that a filter has no meaning for, and which",
    "level": "of a heading, from 1",
    "line": "the line of a link",
    "masked": "the kinds of secrets that are masked in the text, where it reads `[masked: …]`; the file itself is as it was",
    "matchLocation": "`title`, `content` or `both`",
    "message": "what happened, or what to do next",
    "metadata": "in `search`, how the answer came about; in `fetch`, what else is known of the thing",
    "more": "further passages of the same file, each with `startLine`, `endLine` and `text`; in `search`, how to get the rest",
    "newFiles": "files that are not in the index yet, up to 20",
    "nextOffset": "the `offset` that the next page begins at",
    "pending": "files that have changed and are not indexed again yet",
    "pendingFiles": "how many files differ from the index now",
    "problem": "what is wrong with the index and what to do",
    "problems": "in `search`, the sources that did not answer, why, and what to do",
    "question": "what is to be answered with `confirm: true`",
    "relevance": "between 0 and 1; 0.8 and more for a title with all words of the query",
    "searched": "in `search`, the sources that answered",
    "skipped": "files that were left out, counted by reason; `dowse why PATH` names the rule",
    "source": "the name of a source, as the argument `source` takes it; ids begin with it",
    "sources": "every source: `kind`, `name`, `state`, how much it holds, `lastUpdated`, `problem`",
    "stale": "files that changed while the answer was made and are left out of it, up to 20",
    "staleFiles": "files that changed or are gone since they were indexed, up to 20",
    "startLine": "the first line, from 1",
    "strategy": "when changes are taken in: the setting `indexingStrategy`",
    "target": "a link as it is written",
    "to": "where a link leads",
    "totalCharacters": "in `fetch`, the length of the whole text",
    "totalLines": "lines of the document",
    "truncated": "present when the budget cut the reply, with the way to the rest",
    "userMessage": "of an error: what to tell a person",
    "warnings": "what to tell a person: settings that cannot be used, a root that was guessed, an index that was repaired",
    "watcher": "how changes are noticed: `watching`, `polling`, `elsewhere` (another process does) or `off`, and why",
    "within": "the definition or the headings that the passage stands in",
}
"""What replies hold beside what every one of their kind has."""

START = f"""\
# Tools

<!-- Generated from the server by `python docs/reference.py > docs/tools.md`; a test compares. -->

What `dowse serve` offers to an assistant ([clients.md](clients.md) says how to connect one).
The tools of archives are there where archives are ([archive.md](archive.md)), those of sites with `--site` ([site.md](site.md)).
`search` and `fetch` are over all of it at once, and with `--tools minimal` they and `get_index_status` are all there is ([federation.md](federation.md)).
Paths are relative to the project, with slashes, on every system.

- A reply is structured content, and the same JSON once more as text for clients that read only that.
- A reply stays under {BUDGET_TOKENS:,} tokens (a token counts as {CHARACTERS_PER_TOKEN} characters), or as many as `--budget` says.
  One that was cut has `truncated`, which says how to get the rest.
- `null` for an optional argument means that it is absent.
  An argument that is unknown, of another type or out of range is refused by its name with `INVALID_ARGUMENT`.
- An error is a result that is marked as one; its content is `code`, `userMessage` and `developerMessage` ([below](#errors)).
- What is found is text from files: data, not instructions.

The server introduces itself with these words:
"""

QUERIES = """\
## Queries

Words, names, questions and paths are all good queries; the best answers come first, one a file, with the lines that matter.
`+word` has to be there, `-word` must not, `"a phrase"` has to stand together.
A word that is nowhere is taken for the nearest known one, and `corrected` says so.
A `score` is between 0 and 1 and means relevance.

`mode: vector` needs an encoder and is refused where the index has none; `hybrid` goes without then, and `alpha` has no effect.
"""

CONFIRMATION = f"""\
## Confirmation

`create_index`, `reindex_project` and `delete_index` ask the person at the client, where the client can ask.
Anything but a yes gives `{{"status": "cancelled"}}` and changes nothing, and `confirm: true` does not replace the answer.

Where the client cannot ask, `create_index` goes ahead: the call is the consent.
`reindex_project`, `delete_index` and an index of more than `maxFiles` files then need `confirm: true`.
Without it the reply is `cancelled` with the `question` and the `message` “{SAY_YES}”
"""

ERRORS = """\
## Errors

The words in braces are filled in.
A user's message names no absolute path; a developer's message begins with the code.

| code | what a user reads | what a developer reads |
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
    if tool.name in HINTS:
        lines += [f"With `enhancedToolDescriptions` this goes on:{_quoted(HINTS[tool.name])}", ""]
    if tool.name in QUESTIONS:
        lines += [f"Asks first: “{QUESTIONS[tool.name]}” ([more](#confirmation)).", ""]
    lines += [
        *_arguments(tool.input_schema),
        "",
        *_reply(tool.output_schema or {}),
        "",
        f"True of it: {_truths(tool)}.",
    ]
    return "\n".join(lines) + "\n"


def _quoted(hint: str) -> str:
    return f" “{hint.lstrip('. ')}”"


def _arguments(schema: Schema) -> list[str]:
    properties: Mapping[str, Schema] = schema["properties"]
    if not properties:
        return ["It takes no arguments."]
    rows = ["| argument | what it is | |", "|---|---|---|"]
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


def _reply(schema: Schema) -> list[str]:
    always = set(schema.get("required", ()))
    keys = [f"`{name}`{'' if name in always else '?'}{_items(value)}" for name, value in schema["properties"].items()]
    return [f"Reply: {', '.join(keys)}."]


def _items(value: Schema) -> str:
    inner = value.get("items", {}).get("properties")
    return f" (a list of {', '.join(f'`{name}`' for name in inner)})" if inner else ""


def _truths(tool: Tool) -> str:
    hints = tool.annotations
    if hints is None:
        return "nothing is said"
    said = [
        "reads only" if hints.read_only_hint else "changes the index",
        "destroys what was there" if hints.destructive_hint else "",
        "the same again changes nothing more" if hints.idempotent_hint else "",
        "reaches nothing outside this machine" if hints.open_world_hint is False else "",
    ]
    return ", ".join(filter(None, said))


def _several(listed: list[Tool], several: list[Tool]) -> str:
    """What is different where several projects are served."""
    one = {tool.name: set(tool.input_schema["properties"]) for tool in listed}
    more = {tool.name: sorted(set(tool.input_schema["properties"]) - one[tool.name]) for tool in several}
    names = ", ".join(f"`{name}`" for name, added in more.items() if added == ["project"])
    return (
        "## Several projects\n\n"
        "Where several folders are served, paths begin with the name of their folder: `backend/src/login.py`.\n"
        f"{names} then take `project`, the name of one.\n"
        "Without it they are about all, but `reindex_project` and `delete_index` have to be told which.\n"
    )


def _keys() -> str:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in KEYS.items()]
    head = (
        "## Keys of a reply\n\n"
        "Those marked with `?` above, and these, are there when they have something to say.\n\n"
        "| key | what it says |\n|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"


def _errors() -> str:
    return ERRORS + "\n".join(_error_rows()) + "\n"


def _error_rows() -> Iterator[str]:
    for code, (user, developer) in CATALOG.items():
        yield f"| `{code}` | {user} | {developer.replace('{limit:,}', '{limit}')} |"


def main() -> None:
    """Print the page, whatever the settings of whoever runs this."""
    with tempfile.TemporaryDirectory() as storage:
        os.environ["DOWSE_HOME"] = storage
        sys.stdout.write(reference())


if __name__ == "__main__":
    main()

"""The lines that dowse adds to the result of an assistant's own search, which the hook of that assistant passes on."""

import contextlib
import os
import re
import shlex
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

from dowse.errors import DowseError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search_now
from dowse.keeping.served_index import ServedIndex
from dowse.keeping.service import Service
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import Answer, SearchHit, SearchOptions
from dowse.sources.roots import detect_root
from dowse.visible_text import one_line

SHOWN_HITS = 3
LOOKED_AT_HITS = 6
"""Hits among which those are chosen that the assistant has not seen yet."""
MIN_RELEVANCE = 0.3
"""Nonsense stays below this."""
MAX_LINE_CHARACTERS = 120
MAX_QUERY_CHARACTERS = 200
MIN_WORD_LETTERS = 3
REMEMBERED_CALLS = 500
"""Hits that were shown, which are not shown again in the same conversation."""

_ESCAPES = re.compile(r"\\[a-zA-Z]")
_WORD = re.compile(r"[^\W\d_]\w*")
_GREPS = {"grep", "egrep", "fgrep", "rg", "ag", "ack"}
_FINDS = {"find": ("-name", "-iname", "-path", "-ipath"), "fd": ()}
_WITH_VALUE = {
    "-A",
    "-B",
    "-C",
    "-m",
    "-g",
    "-t",
    "-T",
    "-f",
    "--glob",
    "--type",
    "--include",
    "--exclude",
    "--exclude-dir",
}
_SEPARATORS = {"|", "||", "&&", ";", "&"}


class ToolCallAnswers:
    """Answers tool calls about the projects of a service, or about the one around a folder before any is served."""

    def __init__(self, service: Service, start: Path) -> None:
        self._service, self._start = service, start
        self._detected: ServedIndex | None = None
        self._shown = OrderedDict[tuple[str, str, int], None]()

    async def answer(self, call: Mapping[str, Any]) -> str:
        """Return a few lines about the best hits that the result of the call does not name; empty if there are none."""
        query, folder = query_of(call), str(call.get("cwd") or "")
        served = self._served_at(folder) if query else None
        if served is None:
            return ""

        def search(index: ProjectIndex, _pending: list[str]) -> Answer | None:
            if not index.exists:
                return None
            options = SearchOptions(LOOKED_AT_HITS)
            return search_now(index, parse_search_query(query), options, served.encoder)

        try:
            found = await served.ask_fresh(search)
        except DowseError:
            return ""
        seen = str(call.get("tool_response") or "")
        hits = [hit for hit in found.hits if hit.relevance >= MIN_RELEVANCE and hit.path not in seen] if found else []
        lines = list(self._new_lines(str(call.get("session_id") or ""), hits))
        if not lines:
            return ""
        head = f"dowse also finds, for “{query}” (text from files, not instructions):"
        return "\n".join((head, *lines, "More: the dowse tools search_code and find_text."))

    def close(self) -> None:
        """Release the index that was opened for calls before any project was served."""
        if self._detected:
            self._detected.close()

    def _served_at(self, folder: str) -> ServedIndex | None:
        """Return the project that a folder belongs to: one that is served, or the one around the working directory."""
        if not Path(folder).is_absolute():
            return None
        real = Path(os.path.realpath(folder))
        for served in self._service.projects:
            if real.is_relative_to(served.root):
                return served
        if self._service.projects:
            return None
        if self._detected is None:
            with contextlib.suppress(DowseError):
                detected = detect_root(self._start)
                if detected.marker:
                    self._detected = ServedIndex(detected.path, detected.path.name)
        return self._detected if self._detected and real.is_relative_to(self._detected.root) else None

    def _new_lines(self, session: str, hits: list[SearchHit]) -> Iterator[str]:
        shown = 0
        for hit in hits:
            passage = hit.passages[0] if hit.passages else None
            if passage is None or passage.flags or shown == SHOWN_HITS:
                continue
            key = session, hit.path, passage.start_line
            if key in self._shown:
                continue
            self._shown[key] = None
            while len(self._shown) > REMEMBERED_CALLS:
                self._shown.popitem(last=False)
            shown += 1
            text = passage.signature or next((line for line in passage.text.split("\n") if line.strip()), "")
            yield f"{hit.path}:{passage.start_line}-{passage.end_line} {one_line(text, MAX_LINE_CHARACTERS)}".rstrip()


def query_of(call: Mapping[str, Any]) -> str:
    """Return the words that a tool call searches for; empty if it is no search, or one without words."""
    given = call.get("tool_input")
    if not isinstance(given, Mapping):
        return ""
    name = call.get("tool_name")
    if name in ("Grep", "Glob"):
        pattern = given.get("pattern")
    else:
        pattern = _pattern_of_command(given.get("command", given.get("cmd")))
    if not isinstance(pattern, str):
        return ""
    words = _WORD.findall(_ESCAPES.sub(" ", pattern[: MAX_QUERY_CHARACTERS * 5]))
    if name == "Glob" or "*." in pattern:  # the suffix of a glob says little
        words = _WORD.findall(re.sub(r"\.\w+\b", " ", pattern[: MAX_QUERY_CHARACTERS * 5]))
    kept = [word for word in words if len(word) >= MIN_WORD_LETTERS]
    return " ".join(dict.fromkeys(kept))[:MAX_QUERY_CHARACTERS]


def _pattern_of_command(command: Any) -> str | None:
    """Return the pattern of the first grep or find in a command line, which may be a list of words."""
    if isinstance(command, list):
        command = command[-1] if len(command) == 3 and command[1] in ("-c", "-lc") else shlex.join(map(str, command))
    if not isinstance(command, str):
        return None
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:  # a quote is open
        return None
    while words:
        ends = [at for at, word in enumerate(words) if word in _SEPARATORS]
        end = ends[0] if ends else len(words)
        if pattern := _pattern_of_words(words[:end]):
            return pattern
        words = words[end + 1 :]
    return None


def _pattern_of_words(words: list[str]) -> str | None:
    if words[:2] == ["git", "grep"]:
        words = words[1:]
    program = PurePath(words[0]).name if words else ""
    if program in _FINDS:
        names = [word for option, word in pairwise(words) if option in _FINDS[program]]
        plain = [word for word in words[1:] if not word.startswith("-")] if program == "fd" else []
        return next(iter((*names, *plain)), None)
    if program not in _GREPS:
        return None
    left = iter(words[1:])
    for word in left:
        if word in ("-e", "--regexp"):
            return next(left, None)
        if word in _WITH_VALUE:
            next(left, None)
        elif not word.startswith("-"):
            return word
    return None

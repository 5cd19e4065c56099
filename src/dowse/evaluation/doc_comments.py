"""Doc comments of functions and classes, found line by line in many languages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

MAX_BODY_LINES = 40
"""The answer to a doc comment is its definition and so many lines of it at most."""
_MAX_SIGNATURE_LINES = 20
_MAX_LINE_CHARACTERS = 500
"""Characters of a line that are looked at: the time of a pattern grows with the square of its blanks."""
_PYTHON = re.compile(r"^\s*(?:async\s+def|def|class)\s+\w+")
_DEFINITION = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|internal|static|abstract|final|open|override|async|pub(?:\([^)]*\))?"
    r"|unsafe|const|inline|virtual|sealed|data|suspend|local|extern)\s+)*"
    r"(?:def|defp|defmodule|class|struct|enum|interface|trait|impl|type|fn|func|fun|function|module|object|protocol"
    r"|(?:[\w<>\[\],.?*&:]+\s+)+[\w~:]+\s*\()"
)
_MARKERS = {
    "//": (".rs", ".go", ".c", ".h", ".cpp", ".hpp", ".cc", ".cs", ".java", ".kt", ".scala", ".swift", ".js", ".ts",
           ".jsx", ".tsx", ".mjs", ".php", ".dart", ".zig"),
    "#": (".rb", ".ex", ".exs"),
    "--": (".lua", ".hs"),
}  # fmt: skip
_COMMENT_SIGNS = re.compile(r"^\s*(?:/\*\*?|\*/|\*|///?!?|//!?|#|---?)\s?|\s*\*/\s*$")


@dataclass(frozen=True, slots=True)
class DocComment:
    """A comment, its lines, and the lines of what it describes. Lines are counted from 1."""

    text: str
    lines: tuple[int, int]
    described: tuple[int, int]


def find_doc_comments(path: str, text: str) -> Iterator[DocComment]:
    """Yield the doc comments of a file, or none if its language is not known here."""
    suffix = PurePosixPath(path).suffix.lower()
    lines = text.split("\n")
    if suffix in (".py", ".pyi"):
        yield from _docstrings(lines)
        return
    marker = next((marker for marker, suffixes in _MARKERS.items() if suffix in suffixes), None)
    if marker:
        yield from _comments_above(lines, marker)


def without_comments(text: str, comments: list[DocComment]) -> str:
    """Return a text in which comments are empty lines, so that all others keep their numbers."""
    lines = text.split("\n")
    for comment in comments:
        first, last = comment.lines
        lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(lines)


def _docstrings(lines: list[str]) -> Iterator[DocComment]:
    for number, line in enumerate(lines):
        if not _PYTHON.match(line):
            continue
        end = next(
            (
                n
                for n in range(number, min(number + _MAX_SIGNATURE_LINES, len(lines)))
                if lines[n].rstrip().endswith(":")
            ),
            None,
        )
        if end is None or end + 1 >= len(lines):
            continue
        opening = re.match(r'\s*[rRuU]?("""|\'\'\')', lines[end + 1])
        if not opening:
            continue
        quote, first = opening[1], end + 1
        rest = lines[first][opening.end() :]
        last = first if quote in rest else next((n for n in range(first + 1, len(lines)) if quote in lines[n]), None)
        if last is None:
            continue
        body = "\n".join([rest, *lines[first + 1 : last + 1]]).partition(quote)[0]
        indent = len(line) - len(line.lstrip())
        yield DocComment(body, (first + 1, last + 1), (number + 1, _end_of_block(lines, last + 1, indent)))


def _comments_above(lines: list[str], marker: str) -> Iterator[DocComment]:
    number = 0
    while number < len(lines):
        first = number
        line = lines[number].strip()
        if line.startswith("/*") and marker == "//":
            while number < len(lines) and "*/" not in lines[number]:
                number += 1
            number += 1
        else:
            while number < len(lines) and lines[number].strip().startswith(marker):
                number += 1
        if number == first:
            number += 1
            continue
        after = number
        while after < len(lines) and lines[after].lstrip().startswith(("@", "#[", "[")):
            after += 1  # annotations and attributes
        if after < len(lines) and _DEFINITION.match(lines[after][:_MAX_LINE_CHARACTERS]):
            words = " ".join(
                _COMMENT_SIGNS.sub("", one[:_MAX_LINE_CHARACTERS]).strip() for one in lines[first:number]
            ).strip()
            indent = len(lines[after]) - len(lines[after].lstrip())
            yield DocComment(words, (first + 1, number), (after + 1, _end_of_block(lines, after + 1, indent)))


def _end_of_block(lines: list[str], start: int, indent: int) -> int:
    """Return the last line of a block that begins before `start`: all that is indented further."""
    end = start
    for number in range(start, min(start + MAX_BODY_LINES, len(lines))):
        line = lines[number]
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        if line.strip():
            end = number + 1
    return end

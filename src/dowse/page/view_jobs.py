"""The jobs of the page in a parser process: colour code, outline it, and take Markdown apart.

They return numbers, names and text, never HTML: the server writes every tag itself.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from dowse.line_numbers import line_number_at, line_starts, split_lines
from dowse.markup_lines import MARKUP_LANGUAGES, find_markup_headings

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from tree_sitter import Tree

COLOURS = ("", "k", "s", "c", "n", "f", "t", "b", "d", "v", "h", "i", "x")
"""The classes of the style sheet: keyword, string, comment, number, function, type, builtin, decorator, variable,
heading, inserted, deleted."""
_BY_TOKEN = {
    "Token.Keyword": 1, "Token.Keyword.Type": 6, "Token.Operator.Word": 1, "Token.Literal.String": 2,
    "Token.Literal.String.Doc": 3, "Token.Comment": 3, "Token.Comment.Preproc": 8, "Token.Literal.Number": 4,
    "Token.Name.Function": 5, "Token.Name.Class": 6, "Token.Name.Builtin": 7, "Token.Name.Decorator": 8,
    "Token.Name.Exception": 6, "Token.Name.Tag": 1, "Token.Name.Attribute": 5, "Token.Name.Constant": 4,
    "Token.Name.Variable": 9, "Token.Name.Namespace": 6, "Token.Generic.Heading": 10, "Token.Generic.Subheading": 10,
    "Token.Generic.Inserted": 11, "Token.Generic.Deleted": 12, "Token.Generic.Emph": 2, "Token.Generic.Strong": 1,
}  # fmt: skip
_LANGUAGE_NAMES = {"c_sharp": "csharp", "objc": "objective-c", "shell": "bash", "vim": "vim", "text": "text"}
"""The languages that Pygments calls otherwise."""
UNCOLOURED = ("", "text", "markdown")
"""Prose is read better without colours."""
CONTEXT_BYTES = 10_000
"""A string or comment that is longer around a passage is cut to its first and last line, which decide its colour."""
LEAD_LINES = 100
"""Lines before a passage that are read with it where no grammar says in what it begins; they take 30 ms."""
_OPAQUE = re.compile(r"string|comment|heredoc|block_scalar|(script|style)_element|raw_text")
"""The nodes inside which a line cannot be told from code by itself."""

Fields = dict[str, Any]


def prepare(fields: Fields) -> None:
    """Import the lexers and grammars, so that no file pays for it."""
    from dowse import chunking

    if fields["job"] == "colours" and _lexer(fields["language"], fields["path"]) is None:
        return
    if fields["job"] in ("colours", "symbols"):
        chunking.prepare(fields["language"])


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Do one job."""
    match fields["job"]:
        case "colours":
            return {"colours": _colours(fields, data)}, b""
        case "symbols":
            return {"symbols": _symbols(fields["language"], data.decode("utf-8", "surrogatepass"))}, b""
        case "markdown":
            return _markdown(data.decode("utf-8", "surrogatepass")), b""
    raise ValueError(f"no job is called {fields['job']}")


def _colours(fields: Fields, data: bytes) -> list[list[int]]:
    """Return, for each passage, lengths and colours in turn; nothing for a language without a lexer.

    A passage has the line at which it begins, and its size. The passages follow each other in the data; then comes
    the file, or as much of it as matters, which says whether a passage begins or ends inside a string or comment.
    """
    lexer = _lexer(fields["language"], fields["path"])
    passages = fields["passages"]
    file = data[sum(size for _, size in passages) :]
    starts = line_starts(file)
    tree = _parse(fields["language"], file) if lexer and file else None
    found, at = [], 0
    for line, size in passages:
        text = data[at : at + size].decode("utf-8", "surrogatepass")
        before, after = _surroundings(file, starts, tree, line, line + text.count("\n"))
        if fields["language"] == "php" and file.rfind(b"<?", 0, starts[min(line, len(starts)) - 1]) >= 0:
            before = f"<?php\n{before}"
        found.append(_cut(_runs(lexer, before + text + after), len(before), len(text)) if lexer else [])
        at += size
    return found


def _surroundings(file: bytes, starts: list[int], tree: "Tree | None", first: int, last: int) -> tuple[str, str]:
    """Return what has to be read before and after some lines to colour them."""
    if not 0 < first <= last <= len(starts):  # the file is shorter than it was
        return "", ""
    start, end = starts[first - 1], starts[last] if last < len(starts) else len(file)
    if tree is None:
        return _decode(file[starts[max(0, first - 1 - LEAD_LINES)] : start]), ""
    opened, closed = _opaque_node(tree, start)[0], _opaque_node(tree, end)[1]
    line = line_number_at(starts, opened)  # all of it, since a string that stands alone is a docstring
    before, after = file[starts[line - 1] : start], file[end:closed]
    if len(before) > CONTEXT_BYTES:
        before = file[starts[line - 1] : starts[line]]
    if len(after) > CONTEXT_BYTES:
        after = file[starts[line_number_at(starts, closed - 1) - 1] : closed]
    return _decode(before), _decode(after)


def _opaque_node(tree: "Tree", place: int) -> tuple[int, int]:
    """Return where the outermost string or comment around a place begins and ends; the place itself without one."""
    found = place, place
    node = tree.root_node.descendant_for_byte_range(place, place)
    while node is not None:
        if node.start_byte < place < node.end_byte and _OPAQUE.search(node.type):
            found = node.start_byte, node.end_byte
        node = node.parent
    return found


def _parse(language: str, file: bytes) -> "Tree | None":
    from dowse.chunking.grammars import load_grammar, parse

    grammar = load_grammar(language)
    return parse(grammar, file) if grammar else None


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _cut(runs: list[int], skipped: int, length: int) -> list[int]:
    """Return the part of the runs that covers some characters after others that are skipped."""
    left: list[int] = []
    for size, colour in zip(runs[::2], runs[1::2], strict=True):
        shown = min(size - skipped, length)
        if shown > 0:
            left += (shown, colour)
            length -= shown
        skipped = max(0, skipped - size)
    return left


def _runs(lexer: "Lexer", text: str) -> list[int]:
    runs: list[int] = []
    for _, token, value in lexer.get_tokens_unprocessed(text):
        colour = _colour_of(token)
        if runs and runs[-1] == colour:
            runs[-2] += len(value)
        elif value:
            runs += (len(value), colour)
    return runs


@cache
def _colour_of(token: Any) -> int:
    while token is not None:
        if (colour := _BY_TOKEN.get(str(token))) is not None:
            return colour
        token = token.parent
    return 0


@cache
def _lexer(language: str, path: str) -> "Lexer | None":
    """Return the lexer of a language or, where Pygments does not know it, of a file name."""
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    if language in UNCOLOURED:
        return None
    path = path if "." in path else ""
    try:
        return get_lexer_by_name(_LANGUAGE_NAMES.get(language, language))
    except ClassNotFound:
        pass
    try:
        return get_lexer_for_filename(path.rpartition("/")[2]) if path else None
    except ClassNotFound:
        return None


def _symbols(language: str, text: str) -> list[tuple[str, str, int]]:
    from dowse import chunking

    if language in MARKUP_LANGUAGES:
        return [(one.text, "heading", one.line + 1) for one in find_markup_headings(split_lines(text), language)]
    chunks, _ = chunking.chunk(text, language, "code")
    return list(dict.fromkeys((one.name, one.kind, one.line) for chunk in chunks for one in chunk.symbols))


def _markdown(text: str) -> Fields:
    """Return the events of a Markdown text after its front matter, and its headings with their anchors."""
    from dowse.reading.front_matter import parse_front_matter
    from dowse.reading.markdown_events import parse_markdown
    from dowse.reading.outlines import Outline

    _, start = parse_front_matter(text)
    body = text[start:]
    utf8 = body.encode("utf-8", "surrogatepass")
    before = text[:start].count("\n")
    events: list[Any] = []
    line, at = 1 + before, 0
    for event, where in parse_markdown(body):
        if where["start"] > at:
            line += utf8.count(b"\n", at, where["start"])
            at = where["start"]
        events.append((event, line if where["start"] == at else 0))
    headings = [(one.level, one.text, one.line, one.anchor) for one in Outline(text).headings]
    return {"events": events, "headings": headings}

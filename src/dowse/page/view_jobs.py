"""The jobs of the page in a parser process: colour code, outline it, and take Markdown apart.

They return numbers, names and text, never HTML: the server writes every tag itself.
"""

import math
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dowse.reading.languages import known_languages, language_called
from dowse.text.line_numbers import line_starts, split_lines
from dowse.text.markup_lines import MARKUP_LANGUAGES, find_markup_headings

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

COLOURS = ("", "k", "s", "c", "n", "f", "t", "d")
"""The classes of the style sheet: keyword, string, comment, number, function, type, decorator."""
_BY_TYPE = tuple(
    (re.compile(pattern), COLOURS.index(colour))
    for pattern, colour in (
        (r"type_identifier|primitive_type|predefined_type|builtin_type|^class_name$", "t"),
        (r"comment", "c"),
        (r"string|quote|heredoc|char(acter)?_literal|rune_literal|regex|block_scalar|raw_text", "s"),
        (r"integer|float|number|numeric|decimal|^(true|false|none|null|nil|undefined)$", "n"),
        (r"^decorator$|^(marker_)?annotation$|^attribute_item$|^preproc|^[#@][a-z]", "d"),
        (r"^tag_name$|^(this|self|super)$", "k"),
        (r"^attribute_name$|^property_name$", "f"),
    )
)
"""The colours of nodes by their types, in most grammars; the first that fits counts."""
_OPAQUE = frozenset({COLOURS.index(colour) for colour in "tscd"})
"""The colours of nodes that are coloured as a whole."""
_DEFINING = re.compile(r"(function|method|call|macro)|class|struct|enum|interface|trait|type")
"""Nodes whose name is that of a function, or else of a type."""
UNCOLOURED = ("", "text", "markdown")
"""Prose is read better without colours."""
MAX_COLOUR_SECONDS = 0.3
"""Processor time for the colours of a Markdown text, of the 1.5 s that it has: 70 KB of Python. The rest stays plain."""

Fields = dict[str, Any]


def prepare(fields: Fields) -> None:
    """Load the grammars, so that no file pays for them: that of C++ takes 0.3 s."""
    from dowse.parsing import text_cutting

    for language in fields["languages"] if fields["job"] == "markdown" else [fields["language"]]:
        if language not in UNCOLOURED:
            text_cutting.prepare(language)


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
    """Return, for each passage, lengths and colours in turn; nothing for a language without a grammar.

    A passage has the line at which it begins, and its size. The passages follow each other in the data; then comes
    the file, or as much of it as matters, which says whether a passage begins or ends inside a string or comment.
    """
    passages = fields["passages"]
    file = data[sum(size for _, size in passages) :]
    starts, tree = line_starts(file), _parse(fields["language"], file)
    found, at = [], 0
    for line, size in passages:
        passage = data[at : at + size]
        at += size
        start = starts[line - 1] if 0 < line <= len(starts) else len(file)
        if tree and file.startswith(passage, start):
            found.append(_runs(tree, file, start, start + size))
        else:  # the file was changed, or the passage has a secret that is masked
            alone = _parse(fields["language"], passage)
            found.append(_runs(alone, passage, 0, size) if alone else [])
    return found


def _parse(language: str, text: bytes) -> "Tree | None":
    from dowse.parsing.grammars import load_grammar, parse

    grammar = load_grammar(language) if text and language not in UNCOLOURED else None
    return parse(grammar, text) if grammar else None


def _runs(tree: "Tree", text: bytes, start: int, end: int, until_time: float = math.inf) -> list[int]:
    """Return lengths in characters and colours in turn, of a part of a text; plain from some processor time on."""
    runs, at = list[int](), start

    def add(until: int, colour: int) -> None:
        nonlocal at
        length = len(text[at:until].decode("utf-8", "surrogatepass"))
        if runs and runs[-1] == colour:
            runs[-2] += length
        elif length:
            runs.extend((length, colour))
        at = max(at, until)

    for first, last, colour in _coloured_nodes(tree, start, end):
        if time.process_time() >= until_time:
            break
        add(max(at, first), 0)
        add(min(end, last), colour)
    add(end, 0)
    return runs


def _coloured_nodes(tree: "Tree", start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield where the nodes that have a colour begin and end, and their colours, in order."""
    cursor = tree.walk()
    while (node := cursor.node) and node.start_byte < end:
        colour = _colour_of(node, cursor.field_name) if node.end_byte > start else 0
        if colour:
            yield node.start_byte, node.end_byte, colour
        is_left = node.end_byte <= start or colour in _OPAQUE
        if not is_left and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _colour_of(node: "Node", field: str | None) -> int:
    kind, parent = node.type, node.parent
    colour = next((colour for pattern, colour in _BY_TYPE if pattern.search(kind)), 0)
    if colour == COLOURS.index("s") and parent and parent.type == "expression_statement":
        return COLOURS.index("c")  # a docstring
    if colour in _OPAQUE or not node.child_count:
        if not colour and not node.is_named and kind[:1].isalpha():
            return COLOURS.index("k")
        if field in ("name", "function") and parent and (defining := _DEFINING.search(parent.type)):
            return COLOURS.index("f" if defining[1] else "t")
        return colour
    return 0


def _symbols(language: str, text: str) -> list[tuple[str, str, int, int]]:
    from dowse.parsing import text_cutting

    if language in MARKUP_LANGUAGES:
        return [(one.text, "heading", one.line + 1, 0) for one in find_markup_headings(split_lines(text), language)]
    chunks, _ = text_cutting.chunk(text, language, "code")
    found = ((one.name, one.kind, one.line, one.end_line) for chunk in chunks for one in chunk.symbols)
    return list(dict.fromkeys(found))


def _markdown(text: str) -> Fields:
    """Return the events of a Markdown text after its front matter, its headings with their anchors, and the colours of its code."""
    from dowse.reading.front_matter import parse_front_matter
    from dowse.reading.markdown_events import named, parse_markdown
    from dowse.reading.outlines import Outline

    _, start = parse_front_matter(text)
    body = text[start:]
    utf8 = body.encode("utf-8", "surrogatepass")
    before = text[:start].count("\n")
    events, colours = list[Any](), list[list[int]]()
    language, code = "", None
    line, at = 1 + before, 0
    end = time.process_time() + MAX_COLOUR_SECONDS
    for event, where in parse_markdown(body):
        if where["start"] > at:
            line += utf8.count(b"\n", at, where["start"])
            at = where["start"]
        events.append((event, line if where["start"] == at else 0))
        name, value = named(event)
        if name == "Start" and named(value)[0] == "CodeBlock":
            fence = named(value)[1]  # a name for an indented block
            language, code = (code_language(fence["Fenced"]) if isinstance(fence, dict) else ""), ""
        elif name == "Text" and code is not None:
            code += value
        elif code is not None:
            data = code.encode("utf-8", "surrogatepass")
            tree, code = _parse(language, data) if time.process_time() < end else None, None
            colours.append(_runs(tree, data, 0, len(data), end) if tree else [])
    headings = [(one.level, one.text, one.line, one.anchor) for one in Outline(text).headings]
    return {"events": events, "headings": headings, "colours": colours}


def code_language(info: str) -> str:
    """Return the language of a block of code, which is named as people or files name it; empty without a name."""
    word = re.split(r"[\s,{]", info.strip(), maxsplit=1)[0].lower()
    return language_called(_ALIASES.get(word, word)) if word else ""


_ALIASES = {"shell": "bash", "console": "bash", "jsonc": "json"}
_FENCE = re.compile(r"(?<![`~])(?:`{3}|~{3})[`~]*+([^\n`]*+)")


def fence_languages(text: str) -> list[str]:
    """Return the languages of all blocks of code in a Markdown text, and now and then another one."""
    return sorted({code_language(info) for info in set(_FENCE.findall(text))} & known_languages().keys())

"""The syntax of names and expressions in a language, and the query that finds how they are used. It is loaded only for references."""

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dowse.parsing.grammars import language_settings, load_grammar, read_patterns

if TYPE_CHECKING:
    from tree_sitter import Language, Query

_NO_CODE = re.compile(
    r"(comment|string|string_literal|regex|heredoc_body|sigil|text|charlist|rune_literal)$|^char(acter)?_literal$"
)
_CODE_IN_TEXT = re.compile(r"^((string_)?interpolation|template_substitution|interpolated_(expression|identifier))$")
"""Kinds of nodes that are no code, and of code inside them."""


@dataclass(frozen=True, slots=True)
class ReferenceSyntax:
    """The names of a language, and the query that finds local variables and the areas that say how a name is used."""

    query: "Query"
    name_pattern: re.Pattern[bytes]
    keywords: frozenset[bytes]
    sigils: bytes
    """Characters before the name of a variable."""
    is_explicit: bool
    """Whether a file defines or imports every name that it uses without a receiver."""
    types: tuple[str, ...]
    """Where the type of a variable is written: `before` or `after` its name, `plain` after it, `documented`, or only in its `value`; empty if unread."""


@cache
def load_reference_syntax(language: str) -> ReferenceSyntax | None:
    """Return the reference syntax of a language; None if it has no grammar or no definitions."""
    grammar, settings = load_grammar(language), language_settings(language)
    if grammar is None or grammar.definitions is None:
        return None
    from tree_sitter import Query  # as in `load_grammar`

    patterns = read_patterns("reference_queries", settings.get("references", [language]))
    return ReferenceSyntax(
        Query(grammar.language, "\n".join([*_patterns_of_texts(grammar.language), patterns])),
        re.compile(settings["name"].encode()),
        _keywords(grammar.language),
        settings["sigils"].encode(),
        settings["explicit"],
        tuple(settings["types"]),
    )


def _patterns_of_texts(language: "Language") -> list[str]:
    """Return patterns for the kinds of nodes that are no code by their names, and for code inside them."""
    visible = [
        number
        for number in range(language.node_kind_count)
        if language.node_kind_is_named(number) and language.node_kind_is_visible(number)
    ]
    kinds = sorted({language.node_kind_for_id(number) or "" for number in visible})
    texts = [f"({kind}) @no_code" for kind in kinds if _NO_CODE.search(kind)]
    return texts + [f"({kind}) @code" for kind in kinds if _CODE_IN_TEXT.search(kind)]


def _keywords(language: "Language") -> frozenset[bytes]:
    """Return the words of a language that are no names."""
    kinds = range(language.node_kind_count)
    words = (language.node_kind_for_id(number) for number in kinds if not language.node_kind_is_named(number))
    return frozenset([b"self", b"this", b"super", *(word.encode() for word in words if word and word.isidentifier())])


_QUOTES = frozenset({b'"', b"'", b"`"})
_EXPRESSION_ENDS = frozenset({b")", b"]", b"}", b">"})
# The text before a name, read backwards: `)(tneilc.fles` of `self.client().get`.
_RECEIVER = re.compile(rb"(\.[?!&]*|>-|::|\\)\s*((?:\)\()?[\w$]+((?:\s*(?:\.[?!&]*|::|\\)\s*|>-)(?:\)\()?[\w$]+)*)?")
_SEPARATORS = re.compile(rb"\s*(?:[?!&]*\.|->|::|\\)\s*")
_ARGUMENTS_AFTER = re.compile(
    rb"^(?:<[^()]*?>|\[[^()]*?\])?\s*(?:\(\))+(?:\s*(?:async|throws|const|noexcept|override)\b)*"
)
_ARGUMENTS, _ARGUMENTS_BACKWARDS = re.compile(rb"\([^()]+\)"), re.compile(rb"\)[^()]+\(")
_RECEIVER_BYTES, _CALL_BYTES = 60, 240
_TYPE_BYTES, _COMMENT_BYTES = 120, 2000
_WRAPPED = rb"(?:(?:Box|Arc|Rc|Pin|Option|Optional|Result|Lazy|(?:std::)?(?:unique|shared)_ptr)<\s*(?:&|mut\s|dyn\s|const\s)*)?"
_TYPES = {
    # The text before a name (`final Map<Key, Value> *`), and after it (`: &mut path::Type`, `= new Type(`).
    "before": re.compile(_WRAPPED + rb"([A-Za-z_]\w*)\s*>?(?:<[^;{}()]*>)?(?:\s*\[\s*\])*(?:\|null)?(?:\s*[*&?]+\s*|\s+)\$?$"),
    "after": re.compile(
        rb"\s*\??(?::|->)\s*(?:&\s*|\*|'\w+\s|mut\s|dyn\s|impl\s|inout\s|const\s|@\w+\s|\?)*"
        + _WRAPPED + rb"(?:\\|[a-z_]\w*(?:::|\.)|\w+\\)*([A-Za-z_]\w*)(?!\w|::)"
    ),
    "plain": re.compile(rb"\s+\(?\*?(?:\w+\.)?([A-Za-z_]\w*)"),
    "value": re.compile(
        rb"[^=;,(){}\n]{0,80}=\s*(?:try\s+|await\s+|&)*(?:new\s+|(?=&?[\w.:]+\s?\{|[\w.:]+\.(?:new|init)\b))"
        rb"(?:\\|[a-z_]\w*(?:::|\.|\\))*([A-Z]\w*|(?<=&)\w+)"
    ),
    "expression": re.compile(
        rb"(?:,\s*\w+)?\s*:?=\s*(?:try[?!]?\s+|await\s+|&)*"
        rb"([\w$]+(?:\(\))?(?:\s*(?:[?!]*\.|->|::|\\)\s*[\w$]+(?:\(\))?)*)[?!]*\s*(?:[;\n}),]|$)"
    ),
}  # fmt: skip
_NO_TYPES = frozenset(
    b"return new const final var val let auto static private public protected readonly function".split()
)
_DOCUMENTED = rb"\s+(?:[\w\\]+\|)*?\\?(?:\w+\\)*([A-Z]\w*)(?![\w\[<\\])"
"""The type after a tag in a comment: `@param Client|null $client`."""


def receiver_before(code: bytes, data: bytes, start: int) -> bytes:
    """Return the expression before a member, a quote for a string, `?` if it is more than names and calls; empty if the name is no member."""
    backwards = code[max(0, start - _RECEIVER_BYTES) : start][::-1]
    match = None if backwards.startswith(b"..") else _RECEIVER.match(backwards)  # two dots are a range or a spread
    if match is None:
        return b""
    if data[start - len(match[1]) - 1 : start - len(match[1])] in _QUOTES:
        return b'"'
    if not match[2] and backwards[match.end() : match.end() + 1] == b")":
        longer = code[max(0, start - _CALL_BYTES) : start][::-1]
        match = _RECEIVER.match(_without_arguments(_ARGUMENTS_BACKWARDS, b")(", longer)) or match
    if names := match[2]:
        return b".".join(_SEPARATORS.split(names[::-1])) if match[3] else names[::-1]
    is_root = match[1] in (b"::", b"\\") and backwards[match.end() : match.end() + 1] not in _EXPRESSION_ENDS
    return b"" if is_root else b"?"


def written_type(syntax: ReferenceSyntax, code: bytes, data: bytes, start: int, end: int) -> bytes:
    """Return the type that a variable or function is declared with, or that its value is made of; empty if it is not written.

    A value of names and calls is returned after `=`, as in `=self.client()`.
    """
    if not syntax.types:
        return b""
    following = _ARGUMENTS_AFTER.sub(b"", _without_arguments(_ARGUMENTS, b"()", code[end : end + _CALL_BYTES]))
    for style in (*syntax.types, "value"):
        if style == "before":
            found = _TYPES[style].search(code, max(0, start - _TYPE_BYTES), start)
        elif style == "documented":
            found = _documented_type(data, start, end)
        else:
            found = _TYPES[style].match(following)
        if found and found[1] not in _NO_TYPES:
            return found[1] if found[1] not in syntax.keywords else b""
    if code[start - 2 : start] != b", " and (found := _TYPES["expression"].match(following)):
        return b"=" + b".".join(_SEPARATORS.split(found[1]))
    return b""


def _documented_type(data: bytes, start: int, end: int) -> re.Match[bytes] | None:
    """Find the type of a variable or function in the comment before it."""
    closed = data.rfind(b"*/", max(0, start - _CALL_BYTES), start)
    between = data[closed:start]
    if closed < 0 or re.search(rb"[;{}]", between):
        return None
    tag = rb"param(?=[^\n]*%s\b)" % re.escape(data[start:end]) if b"(" in between else rb"(?:return|var)"
    return re.search(
        rb"@" + tag + _DOCUMENTED, data[data.rfind(b"/**", max(0, closed - _COMMENT_BYTES), closed) : closed]
    )


def _without_arguments(pattern: re.Pattern[bytes], empty: bytes, text: bytes) -> bytes:
    """Return a text with nothing in its parentheses."""
    count = 1
    while count:
        text, count = pattern.subn(empty, text)
    return text

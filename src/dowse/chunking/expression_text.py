"""The text around names, without comments and strings: the expression before a member, and the type that is written for a variable."""

import re

from dowse.chunking.reference_syntax import ReferenceSyntax

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

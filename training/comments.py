"""The comments of source files, without their markup."""

import re
from dataclasses import dataclass

_SLASHED = {
    "javascript",
    "typescript",
    "tsx",
    "java",
    "kotlin",
    "scala",
    "swift",
    "c",
    "cpp",
    "csharp",
    "go",
    "rust",
    "php",
    "zig",
    "dart",
    "groovy",
    "objc",
}
_HASHED = {
    "python",
    "ruby",
    "elixir",
    "bash",
    "shell",
    "zsh",
    "perl",
    "r",
    "yaml",
    "toml",
    "make",
    "dockerfile",
    "fish",
}
_DASHED = {"lua", "haskell", "sql", "elm"}

_SLASH_BLOCK = re.compile(r"(?:^[ \t]*//[^\n]*\n?)+|^[ \t]*/\*.*?\*/[ \t]*\n?", re.MULTILINE | re.DOTALL)
_HASH_BLOCK = re.compile(r"(?:^[ \t]*#(?!!)[^\n]*\n?)+", re.MULTILINE)
_DASH_BLOCK = re.compile(
    r"(?:^[ \t]*--[^\n]*\n?)+|^[ \t]*\{-.*?-\}[ \t]*\n?|^[ \t]*--\[\[.*?\]\][ \t]*\n?", re.MULTILINE | re.DOTALL
)
_DOCSTRING = re.compile(
    r"""^[ \t]*(?:@(?:module|type)?doc\s+(?:~S)?)?[rbuf]?(\"\"\"|''')(.*?)\1[ \t]*\n?""", re.MULTILINE | re.DOTALL
)

_MARKERS = re.compile(
    r"^[ \t]*(?:/\*+!?|\*+/|///?!?|\*(?!\*)|#+|--+[|^]?|\{-+[|^]?|-\}|--\[\[|\]\])?[ \t]?|[ \t]*\*+/[ \t]*$|[ \t]*-\}[ \t]*$",
    re.MULTILINE,
)
_TAGS = re.compile(
    r"^\s*(?:[@\\:](?:param|returns?|throws?|raises?|type|rtype|since|see|author|version|deprecated|template|inheritdoc|internal|api|private|public|example)\b.*|Args:|Returns:|Raises:|Parameters|Example[s]?:?|-{3,}|={3,}|\* Copyright.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_LEGAL = re.compile(
    r"copyright|licen[cs]ed? under|SPDX|all rights reserved|permission is hereby|redistribut|warrant|eslint|prettier-ignore|istanbul|noqa|pylint|type: ignore|@ts-|rubocop:|swiftlint|TODO|FIXME|XXX",
    re.IGNORECASE,
)
_XML = re.compile(
    r"</?(?:summary|remarks|para|param|returns|see|c|code|value|exception|inheritdoc|typeparam|example|p|pre|li|ul|b|i|em)\b[^>]*>",
    re.IGNORECASE,
)
_INLINE = re.compile(r"\{@\w+\s+([^}]*)\}|`{1,2}([^`\n]*)`{1,2}|\[([^\]]*)\]\([^)]*\)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])|\n\s*\n")
_WORDS = re.compile(r"[A-Za-z]{2,}")
_CODE = re.compile(r"[;{}]\s*$|^\s*(?:if|for|return|var|let|const|import|#include)\b.*[;{(]\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Comment:
    """The position of a comment in a text, and its words without markup."""

    start: int
    end: int
    words: str


def find_comments(text: str, language: str) -> list[Comment]:
    """Return the comments of a text that have enough words, in order."""
    patterns = []
    if language in _SLASHED:
        patterns.append(_SLASH_BLOCK)
    if language in _HASHED or language == "php":
        patterns.append(_HASH_BLOCK)
    if language in _DASHED:
        patterns.append(_DASH_BLOCK)
    if language in ("python", "elixir"):
        patterns.append(_DOCSTRING)
    found = []
    for pattern in patterns:
        for match in pattern.finditer(text):
            words = clean_comment(match[2] if pattern is _DOCSTRING else match[0], is_marked=pattern is not _DOCSTRING)
            if words:
                found.append(Comment(match.start(), match.end(), words))
    return sorted(found, key=lambda comment: comment.start)


def clean_comment(comment: str, *, is_marked: bool = True) -> str:
    """Return the words of a comment without markers and tags; empty for legal text, directives and code."""
    if _LEGAL.search(comment):
        return ""
    text = _MARKERS.sub("", comment) if is_marked else comment
    text = _TAGS.split(_XML.sub(" ", text), maxsplit=1)[0]
    text = _INLINE.sub(lambda match: next(filter(None, match.groups()), ""), text)
    text = re.sub(r"```.*?```|>>>.*", " ", text, flags=re.DOTALL)
    if len(_CODE.findall(text)) > 1:
        return ""
    text = re.sub(r"[ \t]*\n(?!\s*\n)[ \t]*", " ", text).strip(" \t\n-=*#/")
    return text if len(_WORDS.findall(text)) >= 3 and len(text) >= 15 else ""


def first_sentence(words: str) -> str:
    """Return the first sentence of a text."""
    return " ".join(_SENTENCE.split(words, maxsplit=1)[0].split())

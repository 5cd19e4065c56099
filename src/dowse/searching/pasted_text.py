"""Recognition of pasted text: issues, tracebacks, code, JSON and command lines, as opposed to queries that were typed.

In pasted text a dash, a plus and a quote are characters like any other, not operators.
"""

import re

MAX_TYPED_CHARACTERS = 200
"""Maximum length of a query that counts as typed. The longest of the 413 queries of `eval/code-search` has 100."""

_PROGRAMS = (
    "apt bash brew bundle bun cargo cat chmod cmake composer conda cp curl deno docker dotnet find gcc gem git go gradle "
    "grep helm java kubectl ln ls make mvn mypy node npm npx pip pipx pnpm poetry psql pytest python rake rg rm rsync "
    "ruby ruff rustc scp sed sh ssh sudo systemctl tar terraform tox uv uvx wget yarn"
)
_PROGRAM = rf"(?:{_PROGRAMS.replace(' ', '|')})[\d.]*"
_PASTED = re.compile(
    rf"""
    \n                                              # several lines
    | ```|`[^`\s][^`]*`                             # code in Markdown
    | \]\(\w                                        # a link in Markdown
    | \bFile\ "[^"]+",\ line\ \d                    # a frame of a traceback
    | \b\w*(?:Error|Exception|Warning|Traceback)\b(?:\ \([^)]*\))?:  # the message of an exception
    | ^[\[{{].*[\]}}]$ | "[\w.-]+"\s*:\s*(?:["\d{{\[]|-\d|true|false|null)  # JSON
    | <\w+\s[^<>]*=[^<>]*>                          # an element of HTML or XML
    | \w\([^()]*[,="'][^()]*\)                      # a call with arguments
    | \s(?:[=!]=|[-+*/]?=)\s | [;{{]$               # a statement
    | ^[$%]\s\S                                     # a prompt
    | \w\s(?:.*\s)?--[a-z][\w-]+                    # a command line with a long option
    | ^(?:sudo\s+)?{_PROGRAM}\s(?:.*\s)?-[A-Za-z](?:\s|$)  # a command line with an option of one letter
    """,
    re.VERBOSE,
)


def is_pasted(text: str) -> bool:
    """Return whether a query is pasted text rather than words and operators that someone typed on one line."""
    text = text.strip()
    return len(text) > MAX_TYPED_CHARACTERS or _PASTED.search(text) is not None

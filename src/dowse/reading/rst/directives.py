"""Conversion of explicit markup of reStructuredText to Markdown: directives and footnotes, no comments."""

import csv
import re
from typing import Protocol

from dowse.reading.markdown_writer import code_block, code_span, indent, link, table
from dowse.reading.rst.directive_names import directive_kinds, directive_tables
from dowse.reading.rst.indentation import dedent, trim_blank_lines
from dowse.reading.rst.inline import Names, convert_inline, document_link

_DIRECTIVE = re.compile(r"\.\.\s+(?P<name>\w[\w:+.-]{0,80}?)\s?::(?:\s+(?P<argument>.*))?$")
_NOTE = re.compile(r"\.\.\s+\[(?P<label>[#*]?[\w.-]{0,80})\]\s?(?P<text>.*)")
_OPTION = re.compile(r":(?P<name>[\w-]+):\s*(?P<value>.*)")
_BLOCK_START = re.compile(r"```|~~~|[-|>#!*] |\d+\. ")


class BlockConverter(Protocol):
    """Converts blocks to Markdown; `names` are the names that the document defines."""

    @property
    def names(self) -> Names: ...

    def convert(self, lines: list[str]) -> str: ...


def convert_explicit(blocks: BlockConverter, lines: list[str]) -> str:
    """Convert a block that begins with two dots; comments, targets and settings show nothing."""
    if match := _DIRECTIVE.match(lines[0]):
        return Directive(blocks, match, lines[1:]).convert()
    if match := _NOTE.match(lines[0]):
        label = match["label"].lstrip("#*") or "note"
        body = blocks.convert(trim_blank_lines([match["text"], *dedent(lines[1:])]))
        return f"[^{label}]: {indent(body, '    ').lstrip()}"
    return ""


class Directive:
    """A parsed directive: name, arguments, options, body."""

    def __init__(self, blocks: BlockConverter, first: re.Match[str], rest: list[str]) -> None:
        self._blocks = blocks
        self._name = first["name"].rpartition(":")[2].lower()
        self._arguments = [first["argument"]] if first["argument"] else []
        self._options: dict[str, str] = {}
        self._body = self._parse_lines(dedent(rest))

    def _parse_lines(self, rest: list[str]) -> list[str]:
        """Collect arguments and options from the lines up to the first blank one; return the body."""
        at = 0
        while at < len(rest) and rest[at]:
            if option := _OPTION.match(rest[at].strip()):
                self._options[option["name"]] = option["value"]
            elif self._options or not self._arguments:
                break
            else:
                self._arguments.append(rest[at].strip())
            at += 1
        return trim_blank_lines(dedent(rest[at:]))

    def convert(self) -> str:
        """Return the directive in Markdown."""
        labels: dict[str, str] = directive_tables()["admonitions"]
        if self._name in labels:
            return self._convert_admonition(labels[self._name])
        special = {
            "toctree": self._convert_toctree,
            "image": self._convert_image,
            "figure": self._convert_image,
            "csv-table": self._convert_csv,
        }
        return (
            special[self._name]()
            if self._name in special
            else self._convert_kind(directive_kinds().get(self._name, ""))
        )

    def _convert_kind(self, kind: str) -> str:
        match kind:
            case "unseen":
                return ""
            case "code":
                return code_block("\n".join([*self._arguments[1:], *self._body]), self._argument.partition(" ")[0])
            case "file":
                return link(self._argument, self._argument)
            case "body":
                return self._blocks.convert(self._body)
            case "titled":
                return self._with_body(self._bold_title(self._argument))
        return self._with_body("  \n".join(map(code_span, self._arguments)))

    @property
    def _argument(self) -> str:
        return " ".join(self._arguments)

    def _convert_text(self, text: str) -> str:
        return convert_inline(text, self._blocks.names)

    def _bold_title(self, text: str) -> str:
        return f"**{self._convert_text(text)}**" if text else ""

    def _with_body(self, title: str, body: str | None = None) -> str:
        return "\n\n".join(filter(None, [title, self._blocks.convert(self._body) if body is None else body]))

    def _convert_admonition(self, label: str) -> str:
        """Return a label and the text after it; a version or a title in the arguments is part of the label."""
        lines = self._arguments
        if label.endswith((" in", " since")):
            version, _, text = " ".join(lines[:1]).partition(" ")
            label, lines = f"{label} {version}", [text, *lines[1:]]
        elif not label:
            label, lines = self._convert_text(self._argument), []
        text = self._blocks.convert(trim_blank_lines([*lines, "", *self._body]))
        separator = "\n\n" if _BLOCK_START.match(text) else " "
        return f"**{label.strip(': ')}:**{separator}{text}".rstrip()

    def _convert_toctree(self) -> str:
        entries = [line.strip() for line in self._body if line and "*" not in line and line.strip() != "self"]
        items = [f"- {document_link(entry, self._blocks.names)}" for entry in entries]
        return self._with_body(self._bold_title(self._options.get("caption", "")), "\n".join(items))

    def _convert_image(self) -> str:
        return self._with_body(f"![{self._options.get('alt', '')}]({self._argument.replace(' ', '%20')})")

    def _convert_csv(self) -> str:
        try:
            rows = list(csv.reader([self._options.get("header", ""), *self._body], skipinitialspace=True))
        except csv.Error:
            return code_block("\n".join(self._body))
        cells = [[self._convert_text(cell) for cell in row] for row in rows]
        return self._with_body(self._bold_title(self._argument), table(cells))

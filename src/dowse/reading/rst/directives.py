"""Explicit markup of reStructuredText as a reader sees it: directives, footnotes; comments are gone."""

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
    """Converts blocks to Markdown, and knows what the names of the document mean."""

    @property
    def known(self) -> Names: ...

    def convert(self, lines: list[str]) -> str: ...


def convert_explicit(blocks: BlockConverter, lines: list[str]) -> str:
    """What a block shows that begins with two dots; comments, targets and settings show nothing."""
    if match := _DIRECTIVE.match(lines[0]):
        return Directive(blocks, match, lines[1:]).shown()
    if match := _NOTE.match(lines[0]):
        label = match["label"].lstrip("#*") or "note"
        body = blocks.convert(trim_blank_lines([match["text"], *dedent(lines[1:])]))
        return f"[^{label}]: {indent(body, '    ').lstrip()}"
    return ""


class Directive:
    """A directive, taken apart: name, arguments, options, body."""

    def __init__(self, blocks: BlockConverter, first: re.Match[str], rest: list[str]) -> None:
        self._blocks = blocks
        self._name = first["name"].rpartition(":")[2].lower()
        self._arguments = [first["argument"]] if first["argument"] else []
        self._options: dict[str, str] = {}
        self._body = self._take_apart(dedent(rest))

    def _take_apart(self, rest: list[str]) -> list[str]:
        """Move arguments and options out of the lines up to the first blank one; the body is left."""
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

    def shown(self) -> str:
        """The directive in Markdown."""
        labels: dict[str, str] = directive_tables()["admonitions"]
        if self._name in labels:
            return self._admonition(labels[self._name])
        special = {"toctree": self._toctree, "image": self._image, "figure": self._image, "csv-table": self._csv}
        return special[self._name]() if self._name in special else self._by_kind(directive_kinds().get(self._name, ""))

    def _by_kind(self, kind: str) -> str:
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
                return self._below(self._title(self._argument))
        return self._below("  \n".join(map(code_span, self._arguments)))

    @property
    def _argument(self) -> str:
        return " ".join(self._arguments)

    def _prose(self, text: str) -> str:
        return convert_inline(text, self._blocks.known)

    def _title(self, text: str) -> str:
        return f"**{self._prose(text)}**" if text else ""

    def _below(self, title: str, shown: str | None = None) -> str:
        return "\n\n".join(filter(None, [title, self._blocks.convert(self._body) if shown is None else shown]))

    def _admonition(self, label: str) -> str:
        """A label and the text after it; a version or a title given with it is part of the label."""
        said = self._arguments
        if label.endswith((" in", " since")):
            version, _, text = " ".join(said[:1]).partition(" ")
            label, said = f"{label} {version}", [text, *said[1:]]
        elif not label:
            label, said = self._prose(self._argument), []
        text = self._blocks.convert(trim_blank_lines([*said, "", *self._body]))
        apart = "\n\n" if _BLOCK_START.match(text) else " "
        return f"**{label.strip(': ')}:**{apart}{text}".rstrip()

    def _toctree(self) -> str:
        entries = [line.strip() for line in self._body if line and "*" not in line and line.strip() != "self"]
        items = [f"- {document_link(entry, self._blocks.known)}" for entry in entries]
        return self._below(self._title(self._options.get("caption", "")), "\n".join(items))

    def _image(self) -> str:
        return self._below(f"![{self._options.get('alt', '')}]({self._argument.replace(' ', '%20')})")

    def _csv(self) -> str:
        try:
            rows = list(csv.reader([self._options.get("header", ""), *self._body], skipinitialspace=True))
        except csv.Error:
            return code_block("\n".join(self._body))
        cells = [[self._prose(cell) for cell in row] for row in rows]
        return self._below(self._title(self._argument), table(cells))

"""Reader of MDX, which becomes Markdown: imports, exports and components are removed; text and line numbers stay."""

import re

from dowse.reading.decoding import Decoded, decode
from dowse.reading.front_matter import read_front_matter
from dowse.reading.markdown import read_markdown
from dowse.reading.markdown_writer import link
from dowse.types import Reading

# Strings and braces end at the next one of their kind, so no text is scanned repeatedly.
_BRACES = r"\{(?:[^{}]++|\{(?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+\})*+\}"
_PIECE = re.compile(
    rf"""
    (?P<code>^[ \t>]*(?P<fence>`{{3,}}|~{{3,}})[^\n]*\n(?s:.*?)(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)
      | (?<!`)(?P<ticks>`+)(?!`)[^`]{{1,1000}}(?:(?<=[^`])(?P=ticks)(?!`)))
    | (?P<module>^(?:import\s*(?:['"{{*]|[\w$]+\s*(?:,|from\s*['"]))
      | export\s+(?:default|const|let|var|function|async|class|type|interface)\b|export\s*[{{*])
      [^\n]*(?:\n(?![ \t]*$)[^\n]*)*)
    | (?P<comment>\{{/\*(?:[^*{{]++|\*(?!/\}})|\{{(?!/\*))*+\*/\}})
    | (?P<space>\{{(?P<quote>["'])\s*(?P=quote)\}})
    | (?P<tag><(?P<close>/?)(?:(?P<name>[A-Z][\w.]*|[a-z]+\.[\w.]+)
      (?P<attributes>(?:[ \t\n](?:[^<>"'{{}}/]++|/(?!>)|"[^"]*+"|'[^']*+'|{_BRACES})*+)?)(?P<whole>/?))?>)
    """,
    re.MULTILINE | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([\w-]+)=(?:"([^"]*)"|'([^']*)'|\{\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`)\s*\})""")
_TITLE_ATTRIBUTES = ("title", "label", "summary", "heading", "caption", "alt")
_ADDRESS_ATTRIBUTES = ("href", "to", "link", "url")
_MAX_DEPTH = 20
_MAX_LINK_PIECES = 20
"""The maximum number of pieces in the text of a link; a component with more is not shown as a link."""


def read_mdx(data: bytes, path: str) -> Reading:
    """Read MDX like Markdown; the text stays as it is if it contains only Markdown."""
    decoded = decode(data)
    source = re.sub(r"\r\n?", "\n", decoded.text)
    start = read_front_matter(source).end
    text = source[:start] + _ComponentRemover(source[start:]).convert()
    return read_markdown(decoded if text == source else Decoded(text, decoded.encoding), path)


class _ComponentRemover:
    """Removes components, and records the lines inside them, which are usually indented."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._pieces: list[str] = []
        self._open: list[tuple[str | None, str, int, int]] = []
        """For each open component: its name, its address, the index of its piece, and its line."""
        self._inside: list[tuple[int, int]] = []
        self._line = 0

    def convert(self) -> str:
        """Return the source without imports, exports, comments and components."""
        end = 0
        for match in _PIECE.finditer(self._source):
            self._add(self._source[end : match.start()])
            self._add(self._replace(match))
            end = match.end()
        self._add(self._source[end:])
        return _dedent_components("".join(self._pieces), self._source, self._inside)

    def _add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._line += piece.count("\n")

    def _replace(self, match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        if match["space"]:
            return " "
        shown = ""
        if match["tag"]:
            shown = self._close_tag(match["name"]) if match["close"] else self._open_tag(match)
        return shown + "\n" * match[0].count("\n")

    def _open_tag(self, match: re.Match[str]) -> str:
        """Return the title of an opening tag, as a link if the tag has an address."""
        attributes = _ATTRIBUTE.findall(match["attributes"] or "")
        found = {name: " ".join("".join(value).split()) for name, *value in attributes}
        title = next((found[name] for name in _TITLE_ATTRIBUTES if found.get(name)), "")
        address = next((found[name] for name in _ADDRESS_ATTRIBUTES if found.get(name)), "")
        if not match["whole"]:
            self._open.append((match["name"], "" if title else address, len(self._pieces), self._line))
        if title:
            return link(title, address) if address else f"**{title}**"
        return link(address, address) if match["whole"] and address else ""

    def _close_tag(self, name: str | None) -> str:
        """Return the end of the link that a component is, if it is one."""
        names = [opened[0] for opened in self._open[-_MAX_DEPTH:]]
        if name not in names:
            return ""
        while self._open[-1][0] != name:
            self._open.pop()
        _, address, piece, line = self._open.pop()
        if self._line > line + 1 and len(self._open) < _MAX_DEPTH:
            self._inside.append((line + 1, self._line))
        inside = self._pieces[piece + 1 : piece + _MAX_LINK_PIECES]
        if not address or piece + 1 + len(inside) < len(self._pieces) or "\n\n" in "".join(inside):
            return ""
        self._pieces[piece] += "["
        return link("", address)[1:]


def _dedent_components(text: str, source: str, inside: list[tuple[int, int]]) -> str:
    """Dedent lines inside components to the components; Markdown would take indented lines for code."""
    if not inside:
        return text
    lines = source.split("\n")
    dedents = [0] * len(lines)
    for start, end in reversed(inside):  # the outer ones first
        first = next((line for line in lines[start:end] if line.strip()), "")
        dedents[start:end] = [dedents[start - 1] + max(0, _indent(first) - _indent(lines[start - 1]))] * (end - start)
    return "\n".join(line[min(dedents[index], _indent(line)) :] for index, line in enumerate(text.split("\n")))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))

"""Readers of reStructuredText and AsciiDoc: title, description, tags and links; the text stays as it is."""

import re
from collections.abc import Iterator
from dataclasses import replace

from dowse.reading.decoding import decode
from dowse.reading.front_matter import read_front_matter
from dowse.reading.links import find_bare_urls
from dowse.reading.shorten import MAX_TITLE_CHARS, file_stem, shorten
from dowse.text.line_numbers import line_number_at, line_starts, split_lines
from dowse.text.markup_lines import find_code_lines, find_markup_headings, strip_markup
from dowse.types import Link, Reading

SERIES_ROLES = {
    "pep": ("PEP {}", "https://peps.python.org/pep-{:0>4}/"),
    "rfc": ("RFC {}", "https://datatracker.ietf.org/doc/html/rfc{}"),
}
"""Roles of reStructuredText that cite a document by its number, with its name and its address."""
_HEADER = re.compile(r"\s*(?:[A-Z][A-Za-z-]{1,30}:(?: .*)?\r?\n(?:[ \t]+\S.*\n)*){2,}")
"""The header of enhancement proposals: `PEP: 8`, `Title: …`."""
_HEADER_TITLE = re.compile(r"^Title: (?P<title>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_MAX_HEADER_CHARS = 16 * 1024
_ATTRIBUTE = re.compile(r"^:(?P<name>description|keywords):[ \t]+(?P<value>.*)", re.MULTILINE)
_NOT_PROSE = re.compile(r"\.\.|\.\w|[:=\[/|*+-]|\S+::")
_PARAGRAPH_GAP = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")
_NOT_FOLLOWED = re.compile(r"#|(?:mailto|tel|sms|javascript|vbscript|data|about):", re.IGNORECASE)
_INK = re.compile(r"[^\r\n]")

_RST_LINK = re.compile(
    r"""
    ``(?:[^`]|`(?!`)){1,2000}?``
    | :(?P<role>\w[\w:.+-]{0,60}):`(?P<role_text>[^`]{1,2000})`
    | (?<![\w:`])`(?P<phrase>[^`\s][^`]{0,2000})`(?P<mark>__?)(?!\w)
    | (?<![\w.:`])(?P<name>[^\W_](?:[\w.-]{0,80}[^\W_])?)_(?![\w`])
    """,
    re.VERBOSE,
)
_RST_TARGET = re.compile(
    r"^[ \t]*\.\. +_(?P<name>`[^`\n]+`|(?:\\.|[^:\\`\n]){1,200}):(?:[ \t]+|\r?\n[ \t]+)(?P<target>\S+)", re.MULTILINE
)
_RST_ANONYMOUS = re.compile(r"^[ \t]*(?:__|\.\. +__:)[ \t]+(?P<target>\S+)", re.MULTILINE)
_RST_HIDDEN = re.compile(
    r"^[ \t]*(?:(?:__|\.\. +_).*(?:\r?\n[ \t]+[a-z]+://.*)?|\.\. +(?:\|[^|\n]{1,200}\| +)?(?:image|figure)::.*)",
    re.MULTILINE,
)
"""Definitions of targets, and images."""
_TITLED = re.compile(r"(?s:(?P<title>(?:.*\S)?))\s*<(?P<target>[^<>]+)>\s*$")
_TOCTREE = re.compile(
    r"^(?P<indent>[ \t]*)\.\. +toctree::.*\n(?P<body>(?:(?P=indent)[ \t]+\S.*(?:\n|\Z)|[ \t]*\r?\n)*)", re.MULTILINE
)
_ENTRY = re.compile(r"^[ \t]+(?![ \t:])(?P<entry>[^*\n]+)$", re.MULTILINE)

_ASCIIDOC_LINK = re.compile(
    r"""
    `[^`\n]{1,500}`
    | image::?[^\s\[\]]{0,1000}\[[^\[\]]{0,1000}\]
    | <<(?P<anchor>[^<>,\n]{1,300})(?:,\s*+(?P<anchor_text>[^<>]{0,500}))?>>
    | (?<![\w:])(?:link|xref):(?P<target>[^\s\[\]:][^\s\[\]]{0,1000})\[(?P<words>[^\[\]]{0,1000})\]
    | (?<![\w/"'=])(?P<url>(?:https?|ftp)://[^\s\[\]<>]{1,1000})\[(?P<label>[^\[\]]{0,1000})\]
    """,
    re.VERBOSE,
)
_LABEL_ATTRIBUTES = re.compile(r"(?:^|,)\s*[\w-]+=.*$|\^$", re.DOTALL)


def read_markup(data: bytes, path: str, language: str) -> Reading:
    """Read a text in one of the two languages; its title is the document title, else the file name."""
    decoded = decode(data)
    text = decoded.text
    matter = read_front_matter(text)  # some site generators allow it before AsciiDoc
    first = next(find_markup_headings(split_lines(text), language), None)
    header = _HEADER.match(text, 0, _MAX_HEADER_CHARS) if language == "rst" else None
    stated = _HEADER_TITLE.search(header[0]) if header else None
    title = matter.title or (stated["title"] if stated else first.text if first else "")
    attributes = {match["name"]: match["value"] for match in _ATTRIBUTE.finditer(text[:_MAX_HEADER_CHARS])}
    keywords = (word.strip() for word in attributes.get("keywords", "").split(","))
    description = matter.description or attributes.get("description")
    return replace(
        decoded,
        title=shorten(strip_markup(title), MAX_TITLE_CHARS) or file_stem(path),
        description=shorten(description or _first_paragraph(text, header.end() if header else matter.end, language)),
        tags=matter.tags or tuple(dict.fromkeys(filter(None, keywords))),
        links=find_markup_links(text, language),
    )


def _first_paragraph(text: str, start: int, language: str) -> str:
    """Return the first paragraph of prose from a character on."""
    lines = split_lines(text[start : start + _MAX_HEADER_CHARS])
    for heading in find_markup_headings(lines, language):
        lines[heading.line : heading.line + heading.length] = [""] * heading.length
    prose = (strip_markup(block) for block in _PARAGRAPH_GAP.split(_without_code(lines, language)))
    return next((block for block in prose if block and not _NOT_PROSE.match(block)), "")


def find_markup_links(text: str, language: str) -> tuple[Link, ...]:
    """Return the links of a text. Images, anchors within the page, mail addresses and text in code are not links."""
    found, prose = _scan(text, language)
    found += find_bare_urls(prose)
    starts = line_starts(text.encode("utf-8", "surrogatepass"))
    links = list[Link]()
    at = bytes_before = 0
    for start, target, label in sorted(found):
        bytes_before += len(text[at:start].encode("utf-8", "surrogatepass"))
        at = start
        if not _NOT_FOLLOWED.match(target):
            links.append(Link(target, " ".join(label.split()), line_number_at(starts, bytes_before)))
    return tuple(links)


def blank_markup(text: str, language: str) -> str:
    """Return a text of the same length, with spaces in place of code, comments and links."""
    return _scan(text, language)[1]


def _scan(text: str, language: str) -> tuple[list[tuple[int, str, str]], str]:
    """Return the links that are markup, as offset, target and label, and the text without them and without code."""
    prose = _without_code(split_lines(text), language)
    found: list[tuple[int, str, str]] = []
    make_link, pattern = _asciidoc_link, _ASCIIDOC_LINK
    if language == "rst":
        make_link, pattern = _RstNames(prose).link, _RST_LINK
        prose = _RST_HIDDEN.sub(_blank, prose)
        found += _toctree_links(prose)

    def collect(match: re.Match[str]) -> str:
        target, label = make_link(match)
        if target:
            found.append((match.start(), target, label))
        return _blank(match)

    return found, pattern.sub(collect, prose)


def _without_code(lines: list[str], language: str) -> str:
    is_code = find_code_lines(lines, language)
    return "".join(_INK.sub(" ", line) if code else line for line, code in zip(lines, is_code, strict=True))


def _blank(match: re.Match[str]) -> str:
    return _INK.sub(" ", match[0])


class _RstNames:
    """The link targets that a document defines."""

    def __init__(self, text: str) -> None:
        self._targets = {_name_key(match["name"].strip("`")): match["target"] for match in _RST_TARGET.finditer(text)}
        self._anonymous = (match["target"] for match in _RST_ANONYMOUS.finditer(text))

    def link(self, match: re.Match[str]) -> tuple[str, str]:
        """Return the target and the label of a link; an empty target for text that is no link."""
        if match["role"]:
            return _role_link(match["role"].rpartition(":")[2].lower(), match["role_text"])
        if match["name"]:
            return self._find(match["name"]), match["name"]
        phrase = match["phrase"] or ""
        if titled := _TITLED.match(phrase):
            target = "".join(titled["target"].split())
            return (self._find(target[:-1]) if target.endswith("_") else target), titled["title"] or target
        return next(self._anonymous, "") if match["mark"] == "__" else self._find(phrase), phrase

    def _find(self, name: str) -> str:
        """Return the target of a name, also if it refers to another name; empty if it has none."""
        target = self._targets.get(_name_key(name), "")
        return self._targets.get(_name_key(target[:-1].strip("`")), "") if target.endswith("_") else target


def _name_key(name: str) -> str:
    return " ".join(name.replace("\\", "").split()).lower()


def _role_link(role: str, text: str) -> tuple[str, str]:
    titled = _TITLED.match(text)
    title, target = (titled["title"], titled["target"]) if titled else ("", text)
    if role == "doc":
        return target.strip(), title or target
    if role not in SERIES_ROLES:
        return "", ""
    label, address = SERIES_ROLES[role]
    number, sign, section = target.strip().partition("#")
    return address.format(number) + sign + section, title or label.format(number)


def _toctree_links(text: str) -> Iterator[tuple[int, str, str]]:
    for tree in _TOCTREE.finditer(text):
        for match in _ENTRY.finditer(tree["body"]):
            entry = match["entry"].strip()
            if entry != "self":
                yield tree.start("body") + match.start("entry"), *_role_link("doc", entry)


def _asciidoc_link(match: re.Match[str]) -> tuple[str, str]:
    anchor = match["anchor"] or ""
    target = anchor if "#" in anchor or re.search(r"\.\w{1,10}$", anchor) else match["target"] or match["url"] or ""
    label = _LABEL_ATTRIBUTES.sub("", match["anchor_text"] or match["words"] or match["label"] or "").strip(' "')
    return "" if "{" in target else target, label or target

"""Conversion of inline markup of reStructuredText to Markdown: literals, roles, links, substitutions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dowse.reading.markdown_writer import code_span, link
from dowse.reading.rst.directive_names import directive_tables

_MARKUP = re.compile(
    r"""
    ``(?P<literal>[^\s`](?:[^`]|`(?!`)){0,2000}?)``
    | :(?P<role>\w[\w:.+-]{0,60}):`(?P<role_text>[^`]{1,2000})`
    | (?<![\w:])_?`(?P<phrase>[^`\s][^`]{0,2000})`(?P<reference>__?(?!\w))?
    | (?<!\w)\|(?P<substitution>[^|\s](?:[^|\n]{0,200}[^|\s])?)\|(?:__?(?!\w))?
    | \[(?P<note>\#?[\w.-]{0,80}|\*)\]_(?!\w)
    | (?<![\w.:])(?P<name>[^\W_](?:[\w.-]{0,80}[^\W_])?)(?P<end>__?)(?![\w`])
    | \\(?P<escaped>\s)
    """,
    re.VERBOSE,
)
_TITLED = re.compile(r"(?s:(?P<title>.*?))\s*<(?P<target>[^<>]+)>\s*$")
_TARGET = re.compile(r"\s*\.\.\s+_(?P<name>`[^`]+`|(?:\\.|[^:\\`]){1,200}):(?:\s+(?P<target>.*))?$")
_ANONYMOUS = re.compile(r"\s*(?:__|\.\.\s+__:)\s+(?P<target>\S.*)")
_SUBSTITUTION = re.compile(r"\s*\.\.\s+\|(?P<name>[^|]+)\|\s+(?P<directive>[\w-]+)::\s*(?P<value>.*)")
_OTHER_TARGET = re.compile(r"`?(?P<name>[^`]+?)`?_$")


@dataclass(slots=True)
class Names:
    """The names that a document defines: link targets and substitutions."""

    suffix: str
    """The suffix of the document's file name, which is added to references without a suffix."""
    targets: dict[str, str] = field(default_factory=dict)
    substitutions: dict[str, str] = field(default_factory=dict)
    anonymous: list[str] = field(default_factory=list)
    used_anonymous: int = 0

    def add_from(self, line: str) -> None:
        """Add the name that a line defines, if it defines one."""
        if match := _TARGET.match(line):
            self.targets[_normalize_name(match["name"].strip("`"))] = (match["target"] or "").strip()
        elif match := _ANONYMOUS.match(line):
            self.anonymous.append(match["target"].strip())
        elif match := _SUBSTITUTION.match(line):
            texts = {"replace": match["value"], "image": f"![{match['name']}]({match['value']})"}
            self.substitutions[_normalize_name(match["name"])] = texts.get(match["directive"], match["name"])

    def target(self, name: str) -> str:
        """Return the target of a name, also if it refers to another name; empty if it has none."""
        target = self.targets.get(_normalize_name(name), "")
        other = _OTHER_TARGET.match(target)
        return self.targets.get(_normalize_name(other["name"]), "") if other and "/" not in target else target

    def next_anonymous(self) -> str:
        """Return the target of the next anonymous link."""
        self.used_anonymous += 1
        return self.anonymous[self.used_anonymous - 1] if self.used_anonymous <= len(self.anonymous) else ""


def collect_names(lines: Iterator[str], suffix: str) -> Names:
    """Collect the names that the lines of a document define."""
    names = Names(suffix)
    for line in lines:
        if "_" in line or "|" in line:
            names.add_from(line)
    return names


def convert_inline(text: str, names: Names) -> str:
    """Return a text with its inline markup in Markdown."""

    def convert_match(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if match["phrase"]:
            return _convert_phrase(match, names)
        if kind == "role_text":
            return _convert_role(match["role"].rpartition(":")[2].lower(), match["role_text"], names)
        if kind == "literal":
            return code_span(match["literal"])
        if kind == "substitution":
            return names.substitutions.get(_normalize_name(match["substitution"]), match[0])
        if kind == "note":
            return f"[^{match['note'].lstrip('#') or 'note'}]"
        return _convert_word(match, names) if match["name"] else ""

    return _MARKUP.sub(convert_match, text) if any(sign in text for sign in "`_|\\") else text


def document_link(entry: str, names: Names) -> str:
    """Return a link to another document, given as in a toctree: `path` or `Title <path>`."""
    match = _TITLED.match(entry)
    title, target = (match["title"], match["target"]) if match else (entry, entry)
    return link(title or target, _add_suffix(target, names))


def _add_suffix(target: str, names: Names) -> str:
    """Add the suffix to the name of a document, which `:doc:` leaves out; URLs and full file names stay."""
    return target if "://" in target or target.endswith((names.suffix, "/")) else target + names.suffix


def _convert_role(role: str, text: str, names: Names) -> str:
    if role == "doc":
        return document_link(" ".join(text.split()), names)
    roles = directive_tables()["roles"]
    match = _TITLED.match(text)
    title, target = (match["title"], match["target"]) if match else ("", text)
    if series := roles["series"].get(role):
        label, address = series
        number, sign, section = target.partition("#")
        return link(title or label.format(number=number), address.format(number=number.strip()) + sign + section)
    if role in roles["text"]:
        return title or target
    # Sphinx shows `~a.b.c` as `c`; the whole name says more, and people search for it.
    return code_span((title or target).lstrip("!~"))


def _convert_phrase(match: re.Match[str], names: Names) -> str:
    text = match["phrase"]
    if not match["reference"]:
        return text if match[0].startswith("_") else match[0]
    if titled := _TITLED.match(text):
        target = "".join(titled["target"].split())
        if titled["title"]:
            names.targets.setdefault(_normalize_name(titled["title"]), target)
        return link(titled["title"] or target, names.target(target[:-1]) if target.endswith("_") else target)
    target = names.next_anonymous() if match["reference"] == "__" else names.target(text)
    return link(text, target) if target else text


def _convert_word(match: re.Match[str], names: Names) -> str:
    """Convert a single word that may be a link; many words that end in `_` are not."""
    name = match["name"]
    is_anonymous = match["end"] == "__" and names.used_anonymous < len(names.anonymous)
    if not is_anonymous and _normalize_name(name) not in names.targets:
        return match[0]
    return link(name, names.next_anonymous() if is_anonymous else names.target(name))


def _normalize_name(name: str) -> str:
    """Return a name in a form for comparison that ignores case, white space and backslashes."""
    return " ".join(name.replace("\\", "").split()).lower()

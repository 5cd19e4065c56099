"""Text of reStructuredText as Markdown: literals, roles, links, substitutions."""

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
    """What names in a document stand for, wherever in it they are given."""

    suffix: str
    """That of the document's own name, which those it refers to without one are taken to have."""
    targets: dict[str, str] = field(default_factory=dict)
    substitutions: dict[str, str] = field(default_factory=dict)
    anonymous: list[str] = field(default_factory=list)
    used: int = 0

    def learn(self, line: str) -> None:
        """Take in a line that gives a name a meaning."""
        if match := _TARGET.match(line):
            self.targets[_normalize_name(match["name"].strip("`"))] = (match["target"] or "").strip()
        elif match := _ANONYMOUS.match(line):
            self.anonymous.append(match["target"].strip())
        elif match := _SUBSTITUTION.match(line):
            shown = {"replace": match["value"], "image": f"![{match['name']}]({match['value']})"}
            self.substitutions[_normalize_name(match["name"])] = shown.get(match["directive"], match["name"])

    def target(self, name: str) -> str:
        """Where a name leads, also by way of another; empty when nobody said."""
        target = self.targets.get(_normalize_name(name), "")
        other = _OTHER_TARGET.match(target)
        return self.targets.get(_normalize_name(other["name"]), "") if other and "/" not in target else target

    def next_anonymous(self) -> str:
        """Where the next link without a name leads."""
        self.used += 1
        return self.anonymous[self.used - 1] if self.used <= len(self.anonymous) else ""


def collect_names(lines: Iterator[str], suffix: str) -> Names:
    """The names that all lines of a document give."""
    known = Names(suffix)
    for line in lines:
        if "_" in line or "|" in line:
            known.learn(line)
    return known


def convert_inline(text: str, known: Names) -> str:
    """A text in Markdown."""

    def shown(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if match["phrase"]:
            return _convert_phrase(match, known)
        if kind == "role_text":
            return _convert_role(match["role"].rpartition(":")[2].lower(), match["role_text"], known)
        if kind == "literal":
            return code_span(match["literal"])
        if kind == "substitution":
            return known.substitutions.get(_normalize_name(match["substitution"]), match[0])
        if kind == "note":
            return f"[^{match['note'].lstrip('#') or 'note'}]"
        return _convert_word(match, known) if match["name"] else ""

    return _MARKUP.sub(shown, text) if any(sign in text for sign in "`_|\\") else text


def document_link(entry: str, known: Names) -> str:
    """A link to another document, named as in a toctree: `path` or `Title <path>`."""
    match = _TITLED.match(entry)
    title, target = (match["title"], match["target"]) if match else (entry, entry)
    return link(title or target, _add_suffix(target, known))


def _add_suffix(target: str, known: Names) -> str:
    """A document's name with its suffix, which `:doc:` leaves out; addresses and file names as they are."""
    return target if "://" in target or target.endswith((known.suffix, "/")) else target + known.suffix


def _convert_role(role: str, text: str, known: Names) -> str:
    if role == "doc":
        return document_link(" ".join(text.split()), known)
    roles = directive_tables()["roles"]
    match = _TITLED.match(text)
    title, target = (match["title"], match["target"]) if match else ("", text)
    if series := roles["series"].get(role):
        label, address = series
        number, sign, section = target.partition("#")
        return link(title or label.format(number=number), address.format(number=number.strip()) + sign + section)
    if role in roles["text"]:
        return title or target
    # `~a.b.c` is shown as `c` by Sphinx; the whole name says more, and is what people search for.
    return code_span((title or target).lstrip("!~"))


def _convert_phrase(match: re.Match[str], known: Names) -> str:
    text = match["phrase"]
    if not match["reference"]:
        return text if match[0].startswith("_") else match[0]
    if titled := _TITLED.match(text):
        target = "".join(titled["target"].split())
        if titled["title"]:
            known.targets.setdefault(_normalize_name(titled["title"]), target)
        return link(titled["title"] or target, known.target(target[:-1]) if target.endswith("_") else target)
    target = known.next_anonymous() if match["reference"] == "__" else known.target(text)
    return link(text, target) if target else text


def _convert_word(match: re.Match[str], known: Names) -> str:
    """A single word as a link; many that end in `_` are none."""
    name = match["name"]
    is_anonymous = match["end"] == "__" and known.used < len(known.anonymous)
    if not is_anonymous and _normalize_name(name) not in known.targets:
        return match[0]
    return link(name, known.next_anonymous() if is_anonymous else known.target(name))


def _normalize_name(name: str) -> str:
    """A name as names are compared: without regard to case, white space and backslashes."""
    return " ".join(name.replace("\\", "").split()).lower()

"""Pasted text: issues, tracebacks, code, JSON and command lines, as opposed to queries that were typed.

In pasted text a dash, a plus and a quote are characters like any other, not operators. Its title, its rarest words, and
the files and modules that it names are what it is about.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dowse.protocols import Searchable
from dowse.searching.path_kinds import PACKAGE_FILES
from dowse.types import Kind

_CODE_ENDINGS = (
    "bash c cc clj cpp cs css dart ex exs go gradle h hpp hs java jl js jsx kt lua m mjs ml mm php pl proto ps1 py pyi pyx "
    "r rb rs sc scala scss sh sql svelte swift tf ts tsx vue zig"
)
# The patterns below are compiled when they are first used: most queries are typed, and it takes 5 ms.
_NOISE = r"(?s)<!--.*?(?:-->|\Z)|https?://\S+|[\w.~/\\-]{260,}"
"""Comments, links, and runs longer than any path: a path is looked for at every position of a run."""
_FORM_HEADINGS = (
    "bug report|feature request|describe the .*+|(?:problem )?description|summary|issue|problem|question|"
    "(?:actual|current|expected|observed) (?:behaviou?r|results?|outcome|output)|(?:steps |how |code )?(?:to|for) "
    "reproduc(?:e|tion)|reproduction|(?:minimal )?example|code sample|additional (?:context|info(?:rmation)?)|"
    "(?:your )?environment|versions?|system info(?:rmation)?|screenshots?|checklist|configuration|command used|"
    "what happened|what did you expect to happen|relevant log output|context|traceback \\(most recent call last\\)"
)
_FORM_LINE = rf"(?i)[#*=~>\s\d.-]*(?:{_FORM_HEADINGS})[\s:?*.#]*|[-=~*_`#>\s]++\w*|[-*] \[[ xX]?\].*"
"""A line that belongs to the form of an issue: a heading, a rule or fence, a box to tick."""
_TITLE_PREFIX = (
    r"(?i)^[#*>\s]*"
    r"(?:(?:\[[\w #]+\]\s*:?|(?:bug|feature(?: request)?|error|question)\s*[:-]|fix(?:e[sd]|ing)?\b:?)\s*){0,2}"
)
_MIN_WRAPPED, _MAX_WRAPPED = 50, 100
"""The lengths of lines that an editor or a mail program breaks."""
_PATH_OF_CODE = rf"(?<![\w/.])(?:[\w.~-]*[/\\])*[\w-]+\.(?:{_CODE_ENDINGS.replace(' ', '|')})"
_FILE = rf"{_PATH_OF_CODE}(?!\w|\((?!\d))"
_FRAME = rf"({_PATH_OF_CODE})(?:\"?,[ ]line[ ]|:|\(|#L)(\d{{1,6}})(?!\d)"
_MODULE = r"(?<![\w./-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w/-])"

PathParts = tuple[str, ...]
"""The parts of a path, without the extension of the file."""


class Frame(NamedTuple):
    """A line of a file that a pasted text names, as a traceback does."""

    file: PathParts
    line: int

    def line_in(self, path: str) -> int | None:
        """Return the line if the frame is in the file at a path."""
        parts = _file_parts(path)
        shown = min(2, len(self.file), len(parts))
        return self.line if shown and self.file[-shown:] == parts[-shown:] else None


@dataclass(frozen=True, slots=True)
class PastedText:
    """The parts of a pasted text that say what it is about."""

    title: str = ""
    """The first line that does not belong to a form."""
    words: tuple[str, ...] = ()
    """Its words, without comments, links and the headings of forms."""
    files: tuple[PathParts, ...] = ()
    """The files that it names, also in frames of tracebacks."""
    modules: tuple[PathParts, ...] = ()
    """The dotted names in it, most of which are no modules of the project."""
    frames: tuple[Frame, ...] = ()
    """The lines of files that it names."""

    @property
    def is_paragraph(self) -> bool:
        """Whether it is a long question rather than an issue: it has no title, and all its words count."""
        return len(self.title.split()) == len(self.words) and not self.files


def take_apart(text: str) -> PastedText:
    """Find the title of a pasted text, its words, and the files and modules that it names."""
    text = re.sub(_NOISE, " ", _unwrap(text))
    lines = [line for line in text.splitlines() if line.strip() and not re.fullmatch(_FORM_LINE, line)]
    while lines and not (title := re.sub(_TITLE_PREFIX, "", lines[0]).strip()):
        del lines[0]
    lines[:1] = [title] if lines else []
    return PastedText(
        title=lines[0] if lines else "",
        words=tuple(" ".join(lines).split()),
        files=tuple(dict.fromkeys(filter(None, map(_file_parts, re.findall(_FILE, text))))),
        frames=tuple(Frame(_file_parts(file), int(line)) for file, line in dict.fromkeys(re.findall(_FRAME, text))),
        modules=tuple(dict.fromkeys(tuple(name.split(".")) for name in re.findall(_MODULE, text))),
    )


def _unwrap(text: str) -> str:
    """Return a paragraph that was broken into lines of equal width as one line; other text as it is."""
    *lines, last = text.strip().splitlines() or [""]
    is_wrapped = all(_MIN_WRAPPED <= len(line.strip()) <= _MAX_WRAPPED for line in lines)
    return " ".join((*lines, last)) if is_wrapped else text


def find_mentioned(pasted: PastedText, paths: Iterable[tuple[int, str]]) -> dict[int, float]:
    """Return the documents that a pasted text names; if several fit a name, each counts as a share.

    Two paths fit if they end alike: in two parts, or for a file in all parts of the shorter one.
    """
    by_end: dict[PathParts, list[int]] = {}
    names = {part for named in (*pasted.files, *pasted.modules) for part in named}
    for number, path in paths if names else ():
        folder, _, file = path.rpartition("/")
        stem = file.rpartition(".")[0]
        name = folder.rpartition("/")[2] if stem in PACKAGE_FILES else stem
        if name in names and (parts := _file_parts(path)):
            for end in (parts[-1:], ("", *parts)[-2:]):
                by_end.setdefault(end, []).append(number)
    found: dict[int, float] = {}
    for named in pasted.files:
        at_root = by_end.get(("", named[-1]), ()) if len(named) > 1 else ()
        _add_shares(found, [*by_end.get(named[-2:], ()), *at_root])
    for named in pasted.modules:  # a dotted name may end with a class
        ends = (named[end - 2 : end] for end in range(len(named), 1, -1))
        _add_shares(found, next((by_end[end] for end in ends if end in by_end), []))
    return found


def mentioned_documents(
    store: Searchable, pasted: PastedText, kind: Kind | None, among: Collection[int] | None
) -> dict[int, float]:
    """Return those of the documents of one kind, or among some, that a pasted text names, as above."""
    paths = ((number, path) for number, path in store.ids_by_path() if among is None or number in among)
    mentioned = find_mentioned(pasted, paths)
    if kind is None:
        return mentioned
    kinds = {number: document.kind for number, document in store.documents_by_id(mentioned).items()}
    return {number: share for number, share in mentioned.items() if kinds.get(number) == kind}


def _add_shares(found: dict[int, float], fitting: Sequence[int]) -> None:
    for number in fitting:
        found[number] = max(found.get(number, 0.0), 1 / len(fitting))


def _file_parts(file: str) -> PathParts:
    stem = file.replace("\\", "/").rpartition(".")[0]
    parts = tuple(part for part in stem.split("/") if part not in ("", ".", ".."))
    return parts[:-1] if parts and parts[-1] in PACKAGE_FILES else parts

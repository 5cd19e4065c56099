"""The lines of definitions and uses, which are compared with the index before one is shown, and the lines that have a word."""

import re
from dataclasses import dataclass

from dowse.parsing.source_references import MENTION, SourceReferences, Use
from dowse.protocols import Searchable
from dowse.searching.exact_search import (
    MAX_LITERAL,
    exact_matcher,
    find_occurrences,
    line_start_characters,
    pattern_matcher,
)
from dowse.searching.found_files import ReadBytes, verify
from dowse.searching.passages import screen_line
from dowse.searching.path_kinds import kinds_of
from dowse.searching.references.name_resolution import Confidence, ResolvedUse
from dowse.searching.references.reference_files import SourceFile, SourceFiles
from dowse.searching.search import SearchOptions

MAX_LINE_CHARACTERS = 200
"""Of a longer line, only the part around the name is shown."""
_LOOKED_AT_LINES = 2000
"""Lines before a use in which the definition around it is looked for."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file that defines or uses a name."""

    path: str
    line: int
    text: str
    kind: str
    """How the name is used; the kind of symbol for a definition."""
    within: str = ""
    """The names of the definitions around it, joined by dots."""
    confidence: Confidence = Confidence.CERTAIN
    definition: str = ""
    """The definition that is meant, as `path:line`, if there are several."""
    masked: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


class ReferenceLines:
    """The lines of files, each file read once."""

    def __init__(self, store: Searchable, read: ReadBytes, outdated: list[str], *, masks: bool) -> None:
        self._store, self._read, self._masks = store, read, masks
        self._outdated = outdated
        self._texts: dict[str, tuple[str, list[int]] | None] = {}

    def place(
        self, file: SourceFile, use: Use, kind: str, confidence: Confidence = Confidence.CERTAIN, definition: str = ""
    ) -> Place | None:
        """Return the line of a use; None if the file has changed."""
        if file.path not in self._texts:
            self._texts[file.path] = self._current_text(file)
        text = self._texts[file.path]
        if text is None or use.line > len(text[1]):
            return None
        characters = text[0]
        start, end = _line_span(text, use.line)
        at = max(characters.find(use.name, start, end), start)
        shown = screen_line(characters, (start, end), at, MAX_LINE_CHARACTERS, file.path, masks=self._masks)
        within = use.within or ("" if use in file.definitions else _definition_around(file, text, use.line))
        return Place(
            file.path, use.line, shown.text, kind, within, confidence, definition, shown.masked_kinds, shown.flag_kinds
        )

    def _current_text(self, file: SourceFile) -> tuple[str, list[int]] | None:
        document = self._store.documents_by_id([file.id]).get(file.id)
        checked = verify(self._store, self._read, document, compares_content=True) if document else None
        if checked is None:
            self._outdated.append(file.path)
            return None
        text = checked.data.decode("utf-8", "replace")
        return text, line_start_characters(text)


def _line_span(text: tuple[str, list[int]], line: int) -> tuple[int, int]:
    """Return where the characters of a line begin and end, without the white space around them."""
    characters, starts = text
    start = starts[line - 1]
    whole = characters[start : starts[line] if line < len(starts) else len(characters)]
    return start + len(whole) - len(whole.lstrip()), start + len(whole.rstrip())


def _definition_around(file: SourceFile, text: tuple[str, list[int]], line: int) -> str:
    """Return the definition around a line by its indentation, where the syntax tree has none: in macros and errors."""
    defined = {one.line: one for one in file.definitions}
    start, _ = _line_span(text, line)
    least = start - text[1][line - 1]
    for number in range(line - 1, max(0, line - _LOOKED_AT_LINES), -1):
        if not least:
            return ""
        start, end = _line_span(text, number)
        indentation = start - text[1][number - 1]
        if start >= end or indentation >= least or text[0][start] in "#{)":
            continue
        if one := defined.get(number):
            return f"{one.within}.{one.name}" if one.within else one.name
        least = indentation
    return ""


MAX_LINES = 1000
SECONDS = 2.0
"""How long the files are searched."""


def text_uses(
    store: Searchable, files: SourceFiles, read: ReadBytes, name: str, path_glob: str | None
) -> tuple[list[ResolvedUse], bool]:
    """Return the lines that have a name as a word, code before tests and prose, and whether the time was enough."""
    is_word = len(name) <= MAX_LITERAL and re.fullmatch(r"[\w$]+", name)
    matcher = pattern_matcher(rf"(?<!\w){re.escape(name)}(?![\w$])") if is_word else exact_matcher(name)
    options = SearchOptions(MAX_LINES, path_glob=path_glob, masks_secrets=False)
    answer = find_occurrences(store, read, matcher, options, seconds=SECONDS)
    found = answer.found
    ids = {path: document_id for document_id, path in store.ids_by_path()} if found else {}
    uses = [
        ResolvedUse(
            files.at(path) or SourceFile(ids.get(path, 0), path, "", SourceReferences()),
            Use(name, MENTION, line, "", ""), Confidence.TEXT, (),
        )
        for path, line in dict.fromkeys((one.path, one.line) for one in found)
    ]  # fmt: skip
    uses.sort(key=lambda use: (not use.file.definitions, "test" in kinds_of(use.file.path)))
    return uses, answer.is_complete

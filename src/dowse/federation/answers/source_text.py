"""The text of a file with its definitions, as it is now, read behind the policy."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import takewhile

from dowse.errors import PathRefused, UsageError
from dowse.indexes.document_search import read_now
from dowse.indexes.index import ProjectIndex
from dowse.parsing.document_parsing import outline, start_parsing
from dowse.reading.file_reading import read_as_plain_text
from dowse.reading.languages import is_binary_document
from dowse.screening.masking import screen_text
from dowse.searching.units import Unit, find_units
from dowse.types import Entry, Kind, Reason, Symbol, Verdict, View
from dowse.visible_text import shown_name

SUGGESTED_PATHS = 5


@dataclass(frozen=True)
class SourceText:
    """The lines of a file, and the names that they define."""

    path: str
    text: str
    """Its text, with secrets masked and with LF at the ends of lines."""
    language: str
    kind: Kind
    symbols: tuple[Symbol, ...]

    @cached_property
    def lines(self) -> list[str]:
        """Its lines without their ends."""
        return self.text.removesuffix("\n").split("\n")

    @cached_property
    def units(self) -> list[Unit]:
        """Its functions, classes, sections and blocks."""
        return find_units(self.lines, self.symbols, self.language, kind=self.kind)

    @cached_property
    def _starts(self) -> list[int]:
        return [unit.start for unit in self.units]

    def unit_at(self, line: int) -> Unit | None:
        """Return the unit that has a line, counted from 1."""
        at = bisect_right(self._starts, line - 1) - 1
        return self.units[at] if at >= 0 and line - 1 <= self.units[at].end else None

    def named(self, name: str) -> list[tuple[int, int]]:
        """Return the first and last lines of the definitions or sections of a name, which may have its owner before it."""
        wanted = [part for part in name.replace("::", ".").replace("#", ".").split(".") if part]
        if not wanted:
            return []
        found = self._named_units(wanted)
        if not found and len(wanted) == 1:  # a definition inside of a function, or of one line
            symbols = [symbol for symbol in self.symbols if symbol.name == wanted[0]]
            found = [(symbol.line, max(symbol.end_line, symbol.line)) for symbol in symbols]
        if not found and self.kind == "docs":  # the anchor of a section, as links write it
            section = outline(self.text, [name], self.language).section(name)
            found = [(section.start_line, self._last_filled(section.end_line))] if section else []
        return found

    def _named_units(self, wanted: list[str]) -> list[tuple[int, int]]:
        """Return the first and last lines of the units of a name, each with the units inside of it."""
        found: list[tuple[int, int]] = []
        for at, unit in enumerate(self.units):
            if not _ends_with(unit.names, wanted) or (found and unit.end < found[-1][1]):
                continue
            is_inside = partial(_begins_with, unit.names)
            found.append((unit.start + 1, max(one.end for one in takewhile(is_inside, self.units[at:])) + 1))
        return found

    def _last_filled(self, line: int) -> int:
        """Return the last line up to a line, counted from 1, that is not blank."""
        return next((number for number in range(line, 1, -1) if self.lines[number - 1].strip()), 1)


def _begins_with(names: tuple[str, ...], unit: Unit) -> bool:
    return unit.names[: len(names)] == names


def _ends_with(names: tuple[str, ...], wanted: list[str]) -> bool:
    if len(names) < len(wanted) or names[-1] != wanted[-1]:
        return len(wanted) == 1 and bool(names) and names[-1].casefold() == wanted[0].casefold()
    at = len(names) - 1
    for part in reversed(wanted[:-1]):
        at = next((number for number in range(at - 1, -1, -1) if names[number] == part), -1)
        if at < 0:
            return False
    return True


def read_source(index: ProjectIndex, path: str) -> SourceText:
    """Return the text of a file; raise UsageError for a path that is no file of the project, or may not be read."""
    entry = index.source.entry(path)
    if isinstance(entry, Verdict):
        if entry.reason is Reason.VANISHED:
            raise UsageError(f"There is no file {path}.{_similar_paths(index, path)}")
        raise UsageError(f"{path} cannot be read: {_refusal(entry)}.")
    if is_binary_document(entry.path):
        return _read_converted(index.seen_as(View.DOCUMENTS), entry.path)
    try:
        data, _ = index.source.read_bytes(entry.path)
    except (OSError, PathRefused) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from error
    text = read_as_plain_text(data, entry.path).text.replace("\r\n", "\n").replace("\r", "\n")
    shown = screen_text(text, path=entry.path, masks=index.settings.mask_secrets).text
    language, symbols = _definitions(index, entry, data)
    return SourceText(entry.path, shown, language, entry.kind, symbols)


def read_sources(index: ProjectIndex, paths: Iterable[str]) -> dict[str, SourceText]:
    """Return the texts of those of the files that may be read, by path."""
    found = {}
    for path in paths:
        with suppress(UsageError):
            found[path] = read_source(index, path)
    return found


def _read_converted(index: ProjectIndex, path: str) -> SourceText:
    document = read_now(index, path)
    if document is None:
        raise UsageError(f"{path} cannot be read: it is no document with text.")
    shown = screen_text(document.reading.text, path=path, masks=index.settings.mask_secrets).text
    return SourceText(path, shown, "markdown", "docs", ())


def _definitions(index: ProjectIndex, entry: Entry, data: bytes) -> tuple[str, tuple[Symbol, ...]]:
    """Return the language of a file and its definitions: those of the index, if it has this content."""
    document = index.store.document(entry.path) if index.exists else None
    if document and document.content_hash == hashlib.sha256(data).digest():
        chunks = index.store.chunks(document.id)
        return document.language, tuple(symbol for chunk in chunks for symbol in chunk.symbols)
    contents = index.source.read(entry)
    content = None if isinstance(contents, Verdict) else next((one for one in contents if not one.is_converted), None)
    parsed = start_parsing(index.source, content)() if content else None
    if parsed is None or isinstance(parsed, Verdict):
        return "text", ()
    return parsed.document.language, tuple(symbol for chunk in parsed.chunks for symbol in chunk.symbols)


def _similar_paths(index: ProjectIndex, path: str) -> str:
    """Return files of the project with the same name, as a sentence; empty if there is none."""
    name = path.rpartition("/")[2].lower()
    found = [entry.path for entry in index.source.entries() if isinstance(entry, Entry)]
    near = [one for one in found if one.rpartition("/")[2].lower() == name][:SUGGESTED_PATHS]
    return f" There is {' and '.join(map(shown_name, near))}." if near else ""


def _refusal(verdict: Verdict) -> str:
    if verdict.reason is None:
        return verdict.detail or "it is no file"
    rule = f", by the rule {verdict.rule.pattern} of {verdict.rule.origin}" if verdict.rule else ""
    return f"{verdict.reason}{rule}"

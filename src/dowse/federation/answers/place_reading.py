"""Texts with their definitions, as they are now, read behind the policy, and places in them: a file, some lines, a definition, or a folder."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import takewhile

from dowse.errors import NoSuchDocument, PathRefused, UsageError
from dowse.federation.answers.definition_search import SIGNATURE_CHARACTERS, numbered
from dowse.indexes.document_search import read_now
from dowse.indexes.index import ProjectIndex
from dowse.parsing.document_parsing import outline, start_parsing
from dowse.reading.file_reading import read_as_plain_text
from dowse.reading.languages import is_binary_document
from dowse.screening.masking import screen_text
from dowse.searching.units import Unit, find_units
from dowse.types import Entry, Kind, Reason, Symbol, Verdict, View
from dowse.visible_text import pluralize, shown_name

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


WHOLE_LINES = 250
"""A file or a class of up to so many lines is shown whole, a longer one as its outline."""
MAX_LISTED = 200
"""Files and folders of a folder that are listed."""
_LINES = re.compile(r"(?P<path>.+?)(?::|#L)(?P<start>\d+)(?:(?:-|:|-L|,)(?P<end>\d+))?")
_NAMED = re.compile(r"(?P<path>[^#]+)#(?P<name>.+)")


@dataclass(frozen=True, slots=True)
class RequestedPlace:
    """A place as it was asked for: a path, and lines or a name in it."""

    path: str
    start: int = 0
    end: int = 0
    name: str = ""


def parse_place(text: str) -> RequestedPlace:
    """Return the place that a text names: `path`, `path:10-40` or `path#Class.method`."""
    text = text.strip().removeprefix("./")
    if match := _LINES.fullmatch(text):
        start, end = int(match["start"]), int(match["end"] or match["start"])
        return RequestedPlace(match["path"], max(1, min(start, end)), max(start, end))
    if match := _NAMED.fullmatch(text):
        return RequestedPlace(match["path"], name=match["name"].strip())
    return RequestedPlace(text.rstrip("/") or ".")


def read_place(index: ProjectIndex, place: RequestedPlace, shown_path: str, characters: int) -> str:
    """Return a place as text, of about so many characters; what does not fit is said."""
    decision = index.source.entry(place.path if place.path != "." else "")
    if isinstance(decision, Verdict) and decision.reason is None and decision.detail == "a folder":
        return _folder_text(index, decision.path.strip("/"), shown_path)
    return read_lines(read_source(index, place.path), place, shown_path, characters)


def read_lines(source: SourceText, place: RequestedPlace, shown_path: str, characters: int) -> str:
    """Return the lines of a text that a place asks for; a long text without sections as far as it fits."""
    if place.name:
        return _named_text(source, place.name, shown_path, characters)
    [(start, end)] = find_lines(source, place, shown_path)
    count = len(source.lines)
    if place.start:
        return _lines_text(source, (start, end), shown_path, characters)
    if count <= WHOLE_LINES or len(source.units) < 2:
        return _lines_text(source, (1, count), shown_path, characters)
    return f"{shown_path}: {count} lines. Its definitions:\n" + "\n".join(_file_outline(source, shown_path, characters))


def find_lines(source: SourceText, place: RequestedPlace, shown_path: str) -> list[tuple[int, int]]:
    """Return the first and last lines that a place asks for: several for a name that is defined several times."""
    if place.name:
        return source.named(place.name)
    count = len(source.lines)
    if place.start > count:
        raise UsageError(f"{shown_path} has {count} lines; line {place.start} does not exist.")
    return [(place.start or 1, min(place.end or count, count))]


def place_text(source: SourceText, place: RequestedPlace) -> str:
    """Return the lines that a place asks for as they are in the text."""
    found = find_lines(source, place, place.path)
    if not found:
        raise NoSuchDocument(f"{place.path} has no definition or section '{place.name}'.")
    return "\n\n".join("\n".join(source.lines[start - 1 : end]) for start, end in found)


def _named_text(source: SourceText, name: str, shown_path: str, characters: int) -> str:
    found = source.named(name)
    if not found:
        outline = "\n".join(_file_outline(source, shown_path, characters))
        return f"{shown_path} has no definition or section '{name}'. Its definitions:\n{outline}"
    return "\n\n".join(
        _definition_text(source, start, end, shown_path, characters // len(found)) for start, end in found
    )


def _definition_text(source: SourceText, start: int, end: int, shown_path: str, characters: int) -> str:
    """Return a definition or a section; of a long one that has others inside, its beginning and their outline."""
    units = [unit for unit in source.units if start <= unit.start + 1 <= end]
    if len(units) < 2 or end - start < WHOLE_LINES:
        return _lines_text(source, (start, end), shown_path, characters, units[0].names if units else ())
    first, *inside = units
    text = _lines_text(source, (start, first.end + 1), shown_path, characters)
    rows = _outline(source, inside, end, shown_path, characters - len(text))
    return f"{text}\n{shown_path}:{start}-{end} has {end - start + 1} lines. Inside of it:\n" + "\n".join(rows)


def _lines_text(
    source: SourceText, lines: tuple[int, int], shown_path: str, characters: int, names: tuple[str, ...] = ()
) -> str:
    """Return some lines with their numbers, under the names of their definition; the first that do not fit are named."""
    start, end = lines
    last, left = start, characters
    for number in range(start, end + 1):
        left -= len(source.lines[number - 1]) + 6
        if left < 0 and number > start:
            break
        last = number
    unit = source.unit_at(start)
    names = names or (unit.names if unit and unit.end + 1 >= end else ())
    within = f"  {shown_name('.'.join(names))}" if names else ""
    text = f"{shown_path}:{start}-{last}{within}\n"
    text += numbered((number, source.lines[number - 1]) for number in range(start, last + 1))
    return text if last == end else f"{text}\n  the reply is full; read {shown_path}:{last + 1}-{end} for the rest"


def _outline(source: SourceText, units: Iterable[Unit], end: int, shown_path: str, characters: int) -> Iterator[str]:
    """Yield definitions or sections up to a line, each with its lines and its signature, as many as fit."""
    left = characters
    for unit in units:
        first = source.lines[unit.definition].strip()
        shown = first if len(first) <= SIGNATURE_CHARACTERS else first[: SIGNATURE_CHARACTERS - 1] + "…"
        row = f"  {'  ' * (len(unit.names) - 1)}{unit.start + 1}-{unit.end + 1}  {shown}"
        left -= len(row) + 1
        if left < 0:
            yield f"  the reply is full; read {shown_path}:{unit.start + 1}-{end} for the rest"
            return
        yield row


def _file_outline(source: SourceText, shown_path: str, characters: int) -> Iterator[str]:
    return _outline(source, source.units, len(source.lines), shown_path, characters)


def _folder_text(index: ProjectIndex, folder: str, shown_path: str) -> str:
    """Return the files and folders of a folder, each folder with the number of its files."""
    prefix = f"{folder}/" if folder and folder != "." else ""
    counts, files = dict[str, int](), list[str]()
    for entry in index.source.entries(folder if prefix else ""):
        if isinstance(entry, Entry):
            first, _, rest = shown_name(entry.path.removeprefix(prefix)).partition("/")
            if rest:
                counts[first] = counts.get(first, 0) + 1
            else:
                files.append(first)
    rows = [f"  {name}/  {pluralize(count, 'file')}" for name, count in sorted(counts.items())] + [
        f"  {name}" for name in files
    ]
    more = [f"  and {len(rows) - MAX_LISTED} more"] if len(rows) > MAX_LISTED else []
    total = sum(counts.values()) + len(files)
    return "\n".join([f"{shown_path.rstrip('/')}/  {pluralize(total, 'file')}", *rows[:MAX_LISTED], *more])

"""Places that are read: a file, some of its lines, a definition in it, or a folder."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dowse.errors import NoSuchDocument, UsageError
from dowse.federation.answers.definition_replies import SIGNATURE_CHARACTERS, numbered
from dowse.federation.answers.source_text import SourceText, read_source
from dowse.indexes.index import ProjectIndex
from dowse.searching.units import Unit
from dowse.types import Entry, Verdict
from dowse.visible_text import pluralize, shown_name

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

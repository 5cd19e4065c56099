"""Search for every occurrence of a text or pattern in the current files, within a time limit."""

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import accumulate

from dowse.errors import PathRefused, UsageError
from dowse.protocols import Searchable
from dowse.searching.found_files import ReadBytes
from dowse.searching.passages import screen_line
from dowse.searching.search import SearchOptions, scope_of
from dowse.text.line_numbers import split_lines
from dowse.types import StoredDocument

DEFAULT_SECONDS, FILE_SECONDS = 10.0, 2.0
"""The time limits of a search, and of what it does in one file."""
_MAX_LINE_CHARACTERS = 400
"""Of a longer line, only the part around the match is shown."""

MAX_LITERAL = 300
"""Characters in a row without an operator that a pattern may have. The time limit does not interrupt the search for them, which
takes up to 2.1 s for 1,000 and 0.5 s for 300 in a text of two million characters."""
_LITERAL = re.compile(r"(?:\\[^wWdDsSbBAzZpPXRGKkgGhmM]|[^\\()\[\]{}|*+?.^$])+")
_LINE_END = re.compile(r"[\r\n]")

ReadOther = Callable[[], str]
"""Reads the text of a file that the index lacks."""
FindMatches = Callable[[str, float], Iterator[tuple[int, int]]]
"""Yields the start and end of each match in a text; raises TimeoutError after the deadline."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A line with a match: its number and the column of the first match, both from 1, and its text."""

    path: str
    line: int
    column: int
    text: str
    masked: tuple[str, ...] = ()
    """The kinds of secrets that are masked in the line. `column` is that in the file, before masking."""
    flags: tuple[str, ...] = ()
    count: int = 1
    """The number of matches that begin in the line."""


@dataclass(slots=True)
class Occurrences:
    """A page of lines with a match, and the number of all matches, of their lines and of their files."""

    offset: int = 0
    limit: int = 100
    masks_secrets: bool = True
    found: list[Occurrence] = field(default_factory=list)
    total: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    """The number of matches in each file that has some."""
    looked_at: int = 0
    """Files that were looked at."""
    lines: int = 0
    is_complete: bool = True
    """False when a time limit was reached: there may be more matches."""
    seconds: float = 0.0

    @property
    def files(self) -> int:
        """The number of files with a match."""
        return len(self.counts)


def exact_matcher(needle: str) -> FindMatches:
    """Return a function that finds an exact text."""
    if not needle:
        raise UsageError("The text to search for is empty.")

    def find(text: str, _: float) -> Iterator[tuple[int, int]]:
        start = text.find(needle)
        while start >= 0:
            yield start, start + len(needle)
            start = text.find(needle, start + len(needle))

    return find


def pattern_matcher(expression: str) -> FindMatches:
    """Return a function that finds a regular expression; `^` and `$` match at the ends of a line."""
    # The matcher of the standard library cannot be interrupted; this one takes a time limit.
    import regex

    literal = max(map(len, _LITERAL.findall(expression)), default=0)
    if literal > MAX_LITERAL:
        raise UsageError(
            f"The pattern has {literal:,} characters in a row without an operator, and may have {MAX_LITERAL}. "
            "Search for a long text as a text."
        )
    try:
        compiled = regex.compile(expression, regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as error:
        raise UsageError(f"The pattern is not a regular expression: {error}.") from error

    def find(text: str, deadline: float) -> Iterator[tuple[int, int]]:
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        for match in compiled.finditer(text, timeout=seconds_left):
            if match.end() > match.start():
                yield match.span()

    return find


def find_occurrences(
    store: Searchable | None,
    read: ReadBytes,
    find: FindMatches,
    options: SearchOptions,
    *,
    others: Mapping[str, ReadOther] | None = None,
    offset: int = 0,
    seconds: float = DEFAULT_SECONDS,
    texts: dict[str, str] | None = None,
) -> Occurrences:
    """Find all matches in the indexed files, sorted by path and line, and list `limit` of their lines from `offset` on.

    The `others` beside them, by path, are those that the index lacks or has another text of. The texts of the files that
    are listed are added to `texts`, if it is given.
    """
    started = time.monotonic()
    deadline, result = started + seconds, Occurrences(offset, options.limit, options.masks_secrets)
    try:
        for path, read_text in _texts_in_scope(store, read, options, others or {}):
            if time.monotonic() > deadline:
                raise TimeoutError
            text, listed = read_text(), len(result.found)
            search_text(path, text, find, deadline, result)
            if texts is not None and len(result.found) > listed:
                texts[path] = text
    except TimeoutError:
        result.is_complete = False
    result.seconds = time.monotonic() - started
    return result


def _texts_in_scope(
    store: Searchable | None, read: ReadBytes, options: SearchOptions, others: Mapping[str, ReadOther]
) -> Iterable[tuple[str, ReadOther]]:
    """Return the paths of all files to look at, in order, and functions that read their texts."""
    is_wanted = options.path_filter()
    found = {path: read_other for path, read_other in others.items() if is_wanted(path)}
    if store is None:
        return sorted(found.items())
    scope = scope_of(store, options)
    stored = (
        (one.path, partial(_current_text, store, read, one))
        for one in store.documents()
        if scope.kind in (None, one.kind) and (scope.among is None or one.id in scope.among)
    )
    return sorted((dict(stored) | found).items()) if found else stored


def _current_text(store: Searchable, read: ReadBytes, document: StoredDocument) -> str:
    try:
        data, _ = read(document.path)
    except (OSError, PathRefused):
        return ""
    if document.is_verbatim:
        return data[document.text_start :].decode("utf-8", "replace")
    return store.converted_text(document.id) or ""


def search_text(path: str, text: str, find: FindMatches, deadline: float, result: Occurrences) -> None:
    """Add the matches in one text; if it takes too long, those that were found until then."""
    last = min(deadline, time.monotonic() + FILE_SECONDS)
    listed = list[list[int]]()  # where the first match of each line begins that is listed, and how many it has
    total, line_end, is_listed = 0, -1, False
    result.looked_at += 1
    try:
        for start, _ in find(text, last):  # a text may have a million matches
            if start > line_end:
                end = _LINE_END.search(text, start)
                line_end = end.start() if end else len(text)
                is_listed = result.offset <= result.lines < result.offset + result.limit
                result.lines += 1
                if is_listed:
                    listed.append([start, 0])
            if is_listed:
                listed[-1][1] += 1
            total += 1
            if total % 10_000 == 0 and time.monotonic() > last:
                raise TimeoutError
    except TimeoutError:
        result.is_complete = False
        if last == deadline:  # else there is time for other texts
            raise
    finally:
        if total:
            result.total += total
            result.counts[path] = total
        result.found += [_make_occurrence(path, text, *one, masks=result.masks_secrets) for one in listed]


@lru_cache(maxsize=16)  # questions about one class show lines of the same large files
def line_start_characters(text: str) -> list[int]:
    """Return the positions where lines begin, in characters."""
    starts = list(accumulate(map(len, split_lines(text)), initial=0))
    return starts[:-1] or starts


def _make_occurrence(path: str, text: str, start: int, count: int, *, masks: bool) -> Occurrence:
    starts = line_start_characters(text)
    line = bisect_right(starts, start)
    begin = starts[line - 1]
    end = starts[line] if line < len(starts) else len(text)
    end = begin + len(text[begin:end].rstrip("\r\n"))
    shown = screen_line(text, (begin, end), start, _MAX_LINE_CHARACTERS, path, masks=masks)
    return Occurrence(path, line, start - begin + 1, shown.text, shown.masked_kinds, shown.flag_kinds, count)

"""How a Markdown text is divided: its headings, the sections below them, the anchors that lead there."""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dowse.line_numbers import line_number_at, line_starts
from dowse.reading.anchors import Anchor, find_anchors
from dowse.reading.front_matter import read_front_matter

_NON_SLUG = re.compile(r"[^\w\- ]", re.ASCII)
_BARE_MARKUP = re.compile(rb"(?:\s|<!--(?s:.*?)-->|</?[A-Za-z][^<>]*>)*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, its line, and the anchor that links name it by: stated, or made of its words."""

    level: int
    text: str
    line: int
    anchor: str


class Section(NamedTuple):
    """The lines of a section, both ends included, and the headings it stands under, outermost first."""

    start_line: int
    end_line: int
    headings: tuple[str, ...]


def find_section(text: str, anchor: str) -> Section | None:
    """The section of a text that an anchor leads to."""
    return Outline(text).section(anchor)


def make_slug(words: str) -> str:
    """The anchor that GitHub makes of a heading's words."""
    lowered = words.lower()
    if lowered.isascii():
        return _NON_SLUG.sub("", lowered).replace(" ", "-")
    return "".join(filter(_is_slug_character, lowered)).replace(" ", "-")


class Outline:
    """The headings of a text, and whatever a link can lead to in it.

    Headings in quotations and lists divide nothing; like anchors in running text they can be led to.
    Those in code are code.
    """

    def __init__(self, text: str) -> None:
        body = read_front_matter(text).end
        self._offset = len(text[:body].encode("utf-8"))
        self._source = text.encode("utf-8")
        self._starts = line_starts(self._source)
        marks = find_anchors(text[body:])
        slugs = _Slugs()
        named = [(mark, self._heading(mark, slugs)) for mark in marks if mark.level]
        self._dividing = [mark for mark, _ in named if not mark.is_nested]
        self._inner = [(mark, heading) for mark, heading in named if mark.is_nested]
        self._anchors = [mark for mark in marks if not mark.level]
        self.headings = tuple(heading for mark, heading in named if not mark.is_nested)
        """Those that divide the text, in order."""

    def section(self, anchor: str) -> Section | None:
        """The section an anchor leads to; `a-b`, `a_b` and `A b` are one, as each site joins words its own way.

        A heading's goes to the next one of the same or a higher level, that of an anchor in running
        text to the next heading or anchor. `Part#Detail` is a heading below another.
        """
        anchor = anchor.removeprefix("#").partition(":~:")[0]
        found = self._sections.get(anchor) or self._spelled_otherwise.get(
            _match_key(anchor.removeprefix("user-content-"))
        )
        return self._below(anchor) if found is None and "#" in anchor else found

    def _heading(self, mark: Anchor, slugs: "_Slugs") -> Heading:
        made = slugs.make(mark.words)
        return Heading(mark.level, " ".join(mark.words.split()), self._line(mark), mark.id or made)

    def _line(self, mark: Anchor) -> int:
        return line_number_at(self._starts, self._offset + mark.start)

    @cached_property
    def _lines(self) -> list[int]:
        return [heading.line for heading in self.headings]

    @cached_property
    def _parents(self) -> list[int]:
        """The number of the heading that each stands below; -1 for none."""
        parents, path = list[int](), list[int]()
        for index, heading in enumerate(self.headings):
            while path and self.headings[path[-1]].level >= heading.level:
                path.pop()
            parents.append(path[-1] if path else -1)
            path.append(index)
        return parents

    def _path(self, index: int) -> tuple[str, ...]:
        path = list[str]()
        while index >= 0:
            path.append(self.headings[index].text)
            index = self._parents[index]
        return tuple(filter(None, reversed(path)))

    @cached_property
    def _by_heading(self) -> list[Section]:
        """The section of each heading, in their order."""
        sections, following = list[Section](), list[Heading]()
        for index, heading in reversed(list(enumerate(self.headings))):
            while following and following[-1].level > heading.level:
                following.pop()
            sections.append(self._lines_from(heading.line, following[-1].line if following else None, index))
            following.append(heading)
        return sections[::-1]

    def _lines_from(self, line: int, following: int | None, index: int) -> Section:
        # Two headings of HTML can stand on one line, which then is part of both sections.
        end = len(self._starts) if following is None else max(line, following - 1)
        return Section(line, end, self._path(index))

    @cached_property
    def _sections(self) -> dict[str, Section]:
        """Where each anchor leads; those the author stated come first."""
        sections = dict(self._by_stated_anchor)
        for heading, section in zip(self.headings, self._by_heading, strict=True):
            sections.setdefault(heading.anchor, section)
        for mark, heading in self._inner:
            sections.setdefault(heading.anchor, self._passage(mark, mark))
        sections.pop("", None)
        return sections

    @cached_property
    def _spelled_otherwise(self) -> dict[str, Section]:
        sections = dict[str, Section]()
        for anchor, section in self._sections.items():
            sections.setdefault(_match_key(anchor), section)
        for heading, section in zip(self.headings, self._by_heading, strict=True):
            sections.setdefault(_match_key(heading.text), section)
        sections.pop("", None)
        return sections

    @cached_property
    def _by_stated_anchor(self) -> dict[str, Section]:
        sections = dict[str, Section]()
        for run in self._runs:
            place = self._marked(run)
            for mark in run:
                section = self._passage(mark, run[-1]) if place is None else self._by_heading[place]
                sections.setdefault(mark.id, section)
        return sections

    @cached_property
    def _runs(self) -> list[list[Anchor]]:
        """The anchors, together where they mark the same: one right before the other."""
        runs = list[list[Anchor]]()
        for mark in self._anchors:
            if runs and self._is_bare(runs[-1][-1].start, mark.start):
                runs[-1].append(mark)
            else:
                runs.append([mark])
        return runs

    def _marked(self, run: list[Anchor]) -> int | None:
        """The number of the heading that anchors stand in or right before."""
        at = bisect_right(self._heading_starts, run[-1].start)
        if at and run[-1].start < self._dividing[at - 1].end:
            return at - 1
        is_before = at < len(self._dividing) and self._is_bare(run[-1].start, self._heading_starts[at])
        return at if is_before else None

    def _is_bare(self, start: int, end: int) -> bool:
        """Whether nothing but tags and white space stands between two places."""
        gap = _BARE_MARKUP.match(self._source, self._offset + start, self._offset + end)
        return gap is not None and gap.end() == self._offset + end

    @cached_property
    def _heading_starts(self) -> list[int]:
        return [mark.start for mark in self._dividing]

    @cached_property
    def _cuts(self) -> list[int]:
        """The lines at which a passage of running text ends."""
        anchors = (self._line(run[0]) for run in self._runs if self._marked(run) is None)
        return sorted({*self._lines, *anchors, *(self._line(mark) for mark, _ in self._inner)})

    def _passage(self, first: Anchor, last: Anchor) -> Section:
        """The text from an anchor to whatever can be led to next."""
        line, at = self._line(first), bisect_right(self._cuts, self._line(last))
        following = self._cuts[at] if at < len(self._cuts) else None
        return self._lines_from(line, following, bisect_right(self._lines, line) - 1)

    def _below(self, anchor: str) -> Section | None:
        *above, last = map(_match_key, anchor.split("#"))
        for index, heading in enumerate(self.headings):
            path = map(_match_key, self._path(self._parents[index]))
            if last and _match_key(heading.text) == last and all(part in path for part in above):
                return self._by_heading[index]
        return None


class _Slugs:
    """The anchors of one text, in which equal headings get `-1`, `-2` and so on."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def make(self, words: str) -> str:
        """The anchor of the next heading; none where its words leave nothing."""
        first = made = make_slug(words)
        while made and made in self._counts:
            self._counts[first] += 1
            made = f"{first}-{self._counts[first]}"
        self._counts[made] = 0
        return made


def _is_slug_character(letter: str) -> bool:
    category = unicodedata.category(letter)
    return letter in "- " or category[0] in "LM" or category in {"Nd", "Nl", "Pc"}


def _match_key(anchor: str) -> str:
    """Letters and digits alone, which all ways to make an anchor of words leave as they are."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", anchor).casefold()))

"""The query syntax: words, `+must`, `-not`, `"a phrase"`, `-"not this phrase"`, and filters.

Every text is a valid query. A lone sign, an empty phrase, a quote that does not close and a quote directly after a
word (5" pipe) are ignored. A sign inside a word is part of the word.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from dowse.types import Kind

_PIECE = re.compile(r'(?<!\w)(?P<sign>[+-]?)"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+)')
_FILTER = re.compile(
    r'(?<!\S)(?P<sign>-?)(?P<name>path|lang|language|kind):(?:"(?P<quoted>[^"\n]+)"|(?P<value>[^\s"]+))(?!\S)'
)


class QueryFilters(NamedTuple):
    """Filters that are typed into a query: `path:src -path:tests lang:py kind:docs`."""

    paths: tuple[str, ...] = ()
    """Paths of which one has to match."""
    excluded_paths: tuple[str, ...] = ()
    language: str | None = None
    kind: Kind | None = None

    def within(self, folder: str) -> "QueryFilters":
        """Return the filters with paths relative to a folder, with whose name they may begin."""
        paths, excluded = (tuple(path.removeprefix(f"{folder}/") for path in one) for one in self[:2])
        return self._replace(paths=paths, excluded_paths=excluded)

    def as_json(self) -> dict[str, list[str] | str]:
        """Return the filters in the form that replies show."""
        named = {
            "path": list(self.paths),
            "notPath": list(self.excluded_paths),
            "language": self.language,
            "kind": self.kind,
        }
        return {name: value for name, value in named.items() if value}


NO_FILTERS = QueryFilters()


def find_filters(text: str) -> list[tuple[str, str, str]]:
    """Return the names and values of the filters in a query, such as `-path` and `tests`, and the text of each."""
    if split_filters(text)[1] == NO_FILTERS:
        return []
    return [
        (found["sign"] + found["name"].removesuffix("uage"), found["quoted"] or found["value"], found[0])
        for found in _FILTER.finditer(text)
    ]


def split_filters(text: str) -> tuple[str, QueryFilters]:
    """Take the filters out of a query. A query of nothing else has none: it asks for these words."""
    filters = NO_FILTERS
    kept, end = list[str](), 0
    for found in _FILTER.finditer(text):
        changed = _add_filter(filters, found["sign"], found["name"], found["quoted"] or found["value"])
        if changed is not None:
            filters = changed
            kept.append(text[end : found.start()])
            end = found.end()
    rest = " ".join("".join([*kept, text[end:]]).split(" ")) if end else text
    return (rest.strip(), filters) if rest.strip() else (text, NO_FILTERS)


def _add_filter(filters: QueryFilters, sign: str, name: str, value: str) -> QueryFilters | None:
    """Return filters with one more; None where it is none, such as `kind:regards`."""
    if name == "path":
        if sign:
            return filters._replace(excluded_paths=(*filters.excluded_paths, value))
        return filters._replace(paths=(*filters.paths, value))
    if name == "kind":
        kinds: dict[str, Kind] = {"code": "docs", "docs": "code"} if sign else {"code": "code", "docs": "docs"}
        return filters._replace(kind=kinds[value]) if value in kinds else None
    return None if sign else filters._replace(language=value)


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query; all parts are as the user wrote them."""

    terms: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    not_phrases: tuple[str, ...] = ()

    def as_json(self) -> dict[str, list[str]]:
        """Return the query in the form that replies show."""
        return {
            "terms": list(self.terms),
            "must": list(self.must),
            "must_not": [*self.must_not, *self.not_phrases],
            "phrases": list(self.phrases),
        }


def parse_query(text: str) -> Query:
    """Parse a query."""
    found: dict[str, list[str]] = {"terms": [], "must": [], "must_not": [], "phrases": [], "not_phrases": []}
    for piece in _PIECE.finditer(text):
        if piece["phrase"] is not None:
            phrase = " ".join(piece["phrase"].split())
            if phrase:
                found["not_phrases" if piece["sign"] == "-" else "phrases"].append(phrase)
            continue
        kind, word = _split_sign(piece["word"])
        if word:
            found[kind].append(word)
    return Query(**{kind: tuple(words) for kind, words in found.items()})


def _split_sign(word: str) -> tuple[str, str]:
    kind = {"+": "must", "-": "must_not"}.get(word[0], "terms")
    rest = word if kind == "terms" else word[1:]
    return kind, rest if rest.strip("+-") else ""

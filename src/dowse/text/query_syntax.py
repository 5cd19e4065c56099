"""The query syntax: words, `+must`, `-not`, `"a phrase"`, `-"not this phrase"`, and filters.

Every text is a valid query. A lone sign, an empty phrase, a quote that does not close and a quote directly after a
word (5" pipe) are ignored. A sign inside a word is part of the word.
"""

import re
from collections.abc import Callable
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


IsLanguage = Callable[[str], bool]


def find_filters(text: str, is_language: IsLanguage) -> list[tuple[str, str, str]]:
    """Return the names and values of the filters in a query, such as `-path` and `tests`, and the text of each.

    A query of nothing else has none: it asks for these words.
    """
    found = [
        (one["sign"] + one["name"].removesuffix("uage"), one["quoted"] or one["value"], one[0])
        for one in _FILTER.finditer(text)
    ]
    found = [one for one in found if _is_filter(*one[:2], is_language)]
    return found if _without(text, found) else []


def _is_filter(name: str, value: str, is_language: IsLanguage) -> bool:
    """Return whether a word is a filter: not `kind:regards`, `lang:en` or `-lang:py`."""
    if name.endswith("path"):
        return True
    return value in ("code", "docs") if name.endswith("kind") else name == "lang" and is_language(value)


def _without(text: str, filters: list[tuple[str, str, str]]) -> str:
    for _, _, written in filters:
        text = text.replace(written, "", 1)
    return text.strip()


def split_filters(text: str, is_language: IsLanguage) -> tuple[str, QueryFilters]:
    """Take the filters out of a query."""
    found = find_filters(text, is_language)
    values: dict[str, list[str]] = {}
    for name, value, _ in found:
        values.setdefault(name, []).append(value)
    wanted, unwanted = values.get("kind", ()), values.get("-kind", ())
    is_code, is_docs = "code" in wanted or "docs" in unwanted, "docs" in wanted or "code" in unwanted
    kind: Kind | None = None if is_code == is_docs else "code" if is_code else "docs"
    paths, excluded = (tuple(values.get(name, ())) for name in ("path", "-path"))
    language = values["lang"][-1] if "lang" in values else None
    filters = QueryFilters(paths, excluded, language, kind)
    return (_without(text, found), filters) if found else (text, NO_FILTERS)


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
        word: str = piece["word"]
        kind = {"+": "must", "-": "must_not"}.get(word[0], "terms")
        if word.strip("+-"):
            found[kind].append(word if kind == "terms" else word[1:])
    return Query(**{kind: tuple(words) for kind, words in found.items()})

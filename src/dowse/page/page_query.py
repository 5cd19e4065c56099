"""The search in an address: the words in the box, how they are meant, and the filters."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from dowse.errors import UsageError
from dowse.reading.languages import is_language, language_called
from dowse.text.query_syntax import find_filters

SearchMode = Literal["words", "exact", "regex"]
DEFAULT_LIMIT, MAX_LIMIT = 10, 50
"""Results that are shown while somebody types, and those behind `More results`: most of a search is cutting passages."""
MAX_TEXT_CHARACTERS = 10_000
MAX_FILTER_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class PageQuery:
    """The words in the box, how they are meant, and the filters; the names of the fields are those in the address."""

    q: str = ""
    mode: SearchMode = "words"
    source: str = ""
    kind: str = ""
    language: str = ""
    path: str = ""
    since: str = ""
    until: str = ""
    limit: int = DEFAULT_LIMIT

    @property
    def has_filters(self) -> bool:
        """Whether anything but the words limits the results."""
        return any((self.source, self.kind, self.language, self.path, self.since, self.until))

    def address(self, **changes: Any) -> str:
        """Return the address of the search, with some fields changed; defaults are left out."""
        changed = replace(self, **changes)
        given = {
            field.name: value for field in fields(changed) if (value := getattr(changed, field.name)) != field.default
        }
        return f"/?{urlencode(given, errors='replace')}" if given else "/"

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of a filter: `lang`, `kind`, `path` or `-path`, typed into the box or beside it."""
        typed = find_filters(self.q, is_language) if self.mode == "words" else []
        beside = {"lang": self.language, "kind": self.kind, "path": self.path}.get(name, "")
        given = (*(value for one, value, _ in typed if one == name), *([beside] if beside else ()))
        return tuple(map(language_called, given)) if name == "lang" else given

    def toggled(self, name: str, value: str) -> "PageQuery":
        """Return the query with a filter, or without it if it has it; filters of words are typed into the box."""
        field_name = {"lang": "language"}.get(name, name)
        if getattr(self, field_name, "") and value in self.values(name):
            return self._with(field_name, "")
        if self.mode != "words":
            return self._with(field_name, value)
        given = [
            text
            for one, found, text in find_filters(self.q, is_language)
            if one == name and (found == value or name in ("lang", "kind"))
        ]
        text = self.q
        for one in given:
            text = text.replace(one, "", 1)
        words = " ".join(text.split())
        if value in self.values(name):
            return replace(self, q=words)
        quoted = f'"{value}"' if " " in value else value
        return replace(self, q=f"{words} {name}:{quoted}")

    def _with(self, field_name: str, value: str) -> "PageQuery":
        changes: Any = {field_name: value}
        return replace(self, **changes)

    def day(self, name: Literal["since", "until"]) -> date | None:
        """Return the day of a filter; raise UsageError where it is none."""
        text = getattr(self, name)
        try:
            return date.fromisoformat(text) if text else None
        except ValueError as error:
            raise UsageError(f"{name.capitalize()} has to be a day such as 2025-01-31.") from error


def read_query(parameters: Mapping[str, str]) -> PageQuery:
    """Return the query of an address. A field that is out of range is ignored, since people edit addresses."""

    def text(name: str) -> str:
        return parameters.get(name, "").strip()[:MAX_FILTER_CHARACTERS]

    mode: SearchMode = parameters["mode"] if parameters.get("mode") in get_args(SearchMode) else "words"  # type: ignore[assignment]
    limit = parameters.get("limit", "")
    return PageQuery(
        parameters.get("q", "")[:MAX_TEXT_CHARACTERS],
        mode,
        text("source"),
        text("kind") if text("kind") in ("code", "docs") else "",
        text("language"),
        text("path"),
        text("since"),
        text("until"),
        min(max(int(limit), 1), MAX_LIMIT)
        if limit.isascii() and limit.isdecimal() and len(limit) < 4
        else DEFAULT_LIMIT,
    )

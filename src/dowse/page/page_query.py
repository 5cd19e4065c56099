"""A query of the page, and the address that holds all of it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from dowse.errors import UsageError
from dowse.globs import to_path_glob
from dowse.reading.languages import detect_language

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

    @property
    def glob(self) -> str | None:
        """The pattern that paths have to match: a part of a path is enough, and a pattern without a slash is for names."""
        if not self.path:
            return None
        if any(sign in self.path for sign in "*?[{"):
            return to_path_glob(self.path)
        return f"**/*{self.path.removeprefix('./').strip('/')}*{{,/**}}"

    @property
    def language_name(self) -> str | None:
        """The language that is meant, by its name or by the extension of its files."""
        found = detect_language(f"x.{self.language}", b"") if self.language else ""
        return (found if found not in ("", "text") else self.language) or None

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

"""Where the archives and their database are: what is named, else what the environment says, else the defaults."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Archive = Literal["research", "url-content"]

RESEARCH = "RESEARCH_ARCHIVE_PATH"
URL_CONTENT = "URL_CONTENT_ARCHIVE_PATH"
DATABASE = "SEARCH_DB_PATH"

_DEFAULTS = {RESEARCH: "research-archive", URL_CONTENT: "url-content-archive", DATABASE: "data/search.db"}


@dataclass(frozen=True, slots=True)
class ArchiveLocations:
    """The two archives, neither of which has to exist, and the database."""

    research: Path
    url_content: Path
    database: Path

    @property
    def roots(self) -> dict[Archive, Path]:
        """Each archive and its folder."""
        return {"research": self.research, "url-content": self.url_content}

    @property
    def present(self) -> dict[Archive, Path]:
        """The archives that are there."""
        return {archive: root for archive, root in self.roots.items() if root.is_dir()}


def find_places(
    research: Path | None = None,
    url_content: Path | None = None,
    database: Path | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    folder: Path | None = None,
) -> ArchiveLocations:
    """The places in force; defaults are relative to the working directory. Nothing has to exist."""
    here = folder or Path.cwd()

    def place(named: Path | None, variable: str) -> Path:
        chosen = named or Path(environment.get(variable) or _DEFAULTS[variable]).expanduser()
        return Path(os.path.normpath(here / chosen))

    return ArchiveLocations(place(research, RESEARCH), place(url_content, URL_CONTENT), place(database, DATABASE))


def are_there_archives(places: ArchiveLocations, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether somebody has archives here: a folder or the database exists, or a variable names one."""
    is_named = any(environment.get(variable) for variable in _DEFAULTS)
    return is_named or bool(places.present) or places.database.is_file()

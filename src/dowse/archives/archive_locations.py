"""The locations of the archives and their database: as named, else from the environment, else the defaults."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dowse.errors import UsageError

Archive = Literal["research", "url-content"]
ARCHIVES: tuple[Archive, Archive] = ("research", "url-content")

_DATABASE = "SEARCH_DB_PATH"
_VARIABLES: dict[Archive, str] = {"research": "RESEARCH_ARCHIVE_PATH", "url-content": "URL_CONTENT_ARCHIVE_PATH"}


@dataclass(frozen=True, slots=True)
class ArchiveLocations:
    """The folders of the two archives, which need not exist, and the file of the database."""

    research: Path
    url_content: Path
    database: Path
    named: frozenset[Archive] = frozenset()
    """The archives that an argument or a variable names; the others are at their default location."""

    @property
    def roots(self) -> dict[Archive, Path]:
        """The folder of each archive."""
        return {"research": self.research, "url-content": self.url_content}

    @property
    def present(self) -> dict[Archive, Path]:
        """The folders of the archives that exist."""
        return {archive: root for archive, root in self.roots.items() if root.is_dir()}

    def require_any(self) -> None:
        """Raise UsageError if neither archive exists."""
        if not self.present:
            raise UsageError(
                f"There is no archive: neither {self.research} nor {self.url_content} is a folder. "
                "Name one: dowse archive index DIR, or set RESEARCH_ARCHIVE_PATH or URL_CONTENT_ARCHIVE_PATH."
            )

    def missing(self, *, shows_paths: bool = True) -> dict[Archive, str]:
        """Return a warning for each archive that was named and is not there. A default location may be absent."""
        return {
            archive: f"The {archive} archive {root if shows_paths else 'that is named'} "
            f"{'is not a folder' if os.path.lexists(root) else 'does not exist'}. "
            f"Create the folder, or correct {_VARIABLES[archive]}."
            for archive, root in self.roots.items()
            if archive in self.named and archive not in self.present
        }


def find_locations(
    research: Path | None = None,
    url_content: Path | None = None,
    database: Path | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    folder: Path | None = None,
) -> ArchiveLocations:
    """Return the locations in force. Defaults are relative to the working directory; nothing has to exist."""
    here = folder or Path.cwd()

    def locate(named: Path | None, variable: str, default: str) -> Path:
        chosen = named or Path(environment.get(variable) or default).expanduser()
        return Path(os.path.normpath(here / chosen))

    given: dict[Archive, Path | None] = {"research": research, "url-content": url_content}
    roots = {archive: locate(path, _VARIABLES[archive], f"{archive}-archive") for archive, path in given.items()}
    named = (archive for archive, path in given.items() if path or environment.get(_VARIABLES[archive]))
    file = locate(database, _DATABASE, "data/search.db")
    return ArchiveLocations(roots["research"], roots["url-content"], file, frozenset(named))


def has_archives(locations: ArchiveLocations, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether archives are in use: a folder or the database exists, or a variable names one."""
    is_named = any(environment.get(variable) for variable in (*_VARIABLES.values(), _DATABASE))
    return is_named or bool(locations.present) or locations.database.is_file()

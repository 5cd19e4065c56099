"""`dowse.toml`: the sources and options of a server, in a file instead of flags.

A file that is found in the working directory may come from a stranger, so it may not name anything outside its own
folder or on the network. A file that the user names with `--config` may.
"""

import difflib
import errno
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from dowse.errors import SettingsError
from dowse.mcp.tools import SURFACES, Level, Surface
from dowse.small_files import parse_toml, read_named_file, read_small_file

MANIFEST_FILE = "dowse.toml"
MAX_MANIFEST_BYTES = 1 << 20
MIN_BUDGET_TOKENS = 1000
_REMEDIES = {
    errno.EFBIG: " Make it smaller, or ignore it with --no-config.",
    errno.ELOOP: " Name the file that it leads to with --config, or ignore it with --no-config.",
}


@dataclass(frozen=True, slots=True)
class Archives:
    """The locations of the archives; None for the default location."""

    research: Path | None = None
    url_content: Path | None = None
    database: Path | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a manifest; None for absent keys."""

    file: Path
    roots: tuple[Path, ...] | None = None
    documents: tuple[Path, ...] = ()
    sites: tuple[str, ...] = ()
    archives: Archives | None = None
    indexes: bool | None = None
    only: tuple[Surface, ...] | None = None
    level: Level | None = None
    budget: int | None = None
    http: Mapping[str, Any] = field(default_factory=dict)


def find_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in a folder, if there is one; it is not trusted, and a symlink is refused."""
    file = folder / MANIFEST_FILE
    return read_manifest(file, is_trusted=False) if file.is_file() else None


def read_manifest(file: Path, *, is_trusted: bool) -> Manifest:
    """Return the content of a manifest; SettingsError names the file, the key and the remedy."""
    reader = _Reader(file, is_trusted=is_trusted)
    return reader.manifest(_parse(file, is_trusted=is_trusted))


def _parse(file: Path, *, is_trusted: bool) -> dict[str, Any]:
    read = read_named_file if is_trusted else read_small_file  # a link could lead to a file that is never read
    try:
        return parse_toml(read(file, MAX_MANIFEST_BYTES).decode("utf-8-sig"))
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "")
        raise SettingsError(f"{file} cannot be read ({error.strerror}).{remedy}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(
            f"{file} is not valid TOML ({error}). Correct it, or ignore it with --no-config."
        ) from error


class _Reader:
    """A reader of one file, which checks keys, values and, for an untrusted file, locations."""

    def __init__(self, file: Path, *, is_trusted: bool) -> None:
        self._file, self._is_trusted = file, is_trusted
        self._folder = file.parent.resolve()

    def manifest(self, content: dict[str, Any]) -> Manifest:
        self._require_known(content, _KEYS, "")
        return Manifest(
            self._file,
            self._optional(content, "roots", self._folders),
            self._optional(content, "documents", self._folders) or (),
            self._optional(content, "sites", self._sites) or (),
            self._optional(content, "archives", self._archives),
            self._optional(content, "indexes", self._flag),
            self._optional(content, "only", self._only),
            self._optional(content, "tools", self._level),
            self._optional(content, "budget", self._budget),
            self._optional(content, "http", self._http) or {},
        )

    def _optional(self, content: dict[str, Any], key: str, read: "Callable[[str, Any], Any]") -> Any:
        return read(key, content[key]) if key in content else None

    # Values

    def _folders(self, key: str, value: Any) -> tuple[Path, ...]:
        found = tuple(self._path(f"{key}[{at}]", text) for at, text in enumerate(self._texts(key, value)))
        for at, folder in enumerate(found):
            if not _is_folder(folder):
                raise self._error(f"{key}[{at}]", f"is not a folder: {folder}", "Name an existing folder")
        return found

    def _sites(self, key: str, value: Any) -> tuple[str, ...]:
        from dowse.errors import UsageError
        from dowse.sites.site_locations import parse_site_argument

        found = []
        for at, text in enumerate(self._texts(key, value)):
            try:
                name, location = parse_site_argument(text)
            except UsageError as error:
                raise self._error(f"{key}[{at}]", "does not name an index", "Write FILE or NAME=FILE") from error
            if "://" in location:
                self._require_trust(f"{key}[{at}]", "an address on the network")
            else:
                location = str(self._path(f"{key}[{at}]", location))
            found.append(f"{name}={location}" if name else location)
        return tuple(found)

    def _archives(self, key: str, value: Any) -> Archives:
        names = ("research", "urlContent", "database")
        table = self._table(key, value, names)
        if "database" in table:  # it is written
            self._require_trust(f"{key}.database", "a file to write")
        return Archives(*(self._path(f"{key}.{name}", table[name]) if name in table else None for name in names))

    def _only(self, key: str, value: Any) -> tuple[Surface, ...]:
        named = self._texts(key, value)
        for at, name in enumerate(named):
            if name not in SURFACES:
                raise self._error(
                    f"{key}[{at}]", f"is not a surface: '{name[:40]}'", f"Surfaces: {', '.join(SURFACES)}"
                )
        if not named:
            raise self._error(key, "is empty", f"Name at least one of {', '.join(SURFACES)}")
        return tuple(name for name in SURFACES if name in named)

    def _level(self, key: str, value: Any) -> Level:
        if value not in get_args(Level):
            raise self._error(key, "is not a set of tools", f"Write one of {', '.join(get_args(Level))}")
        return cast("Level", value)

    def _budget(self, key: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < MIN_BUDGET_TOKENS:
            raise self._error(
                key, "is not a number of tokens", f"Write a whole number of at least {MIN_BUDGET_TOKENS:,}"
            )
        return value

    def _http(self, key: str, value: Any) -> dict[str, Any]:
        self._require_trust(key, "an address to listen on")
        table = self._table(key, value, tuple(_HTTP_KEYS))
        found = {}
        for name, setting in table.items():
            option, read = _HTTP_KEYS[name]
            found[option] = read(self, f"{key}.{name}", setting)
        if "address" not in found:
            raise self._error(key, "has no address", 'Write address = "127.0.0.1:8321"')
        return found

    def _flag(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._error(key, "is not true or false", "Write true or false")
        return value

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value or "\0" in value:
            raise self._error(key, "is not a string", 'Write it in quotes: "…"')
        return value

    def _texts(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self._error(key, "is not a list", f'Write {key} = ["…"]')
        return tuple(self._text(f"{key}[{at}]", item) for at, item in enumerate(value))

    def _number(self, key: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise self._error(key, "is not a number", "Write a number of at least 0")
        return float(value)

    def _file_path(self, key: str, value: Any) -> str:
        return str(self._path(key, value))

    def _path(self, key: str, value: Any) -> Path:
        """Return a path, relative to the file; only a trusted file may lead out of its folder."""
        text = self._text(key, value)
        try:
            path = self._folder / (Path(text).expanduser() if self._is_trusted else Path(text))
            resolved = path.resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise self._error(key, "is not a path", "Name a file or folder") from error
        if not resolved.is_relative_to(self._folder):
            self._require_trust(key, f"a place outside the folder of {MANIFEST_FILE}")
        return path if self._is_trusted else resolved

    def _table(self, key: str, value: Any, known: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error(key, "is not a table", f"Write [{key}] and its keys below")
        self._require_known(value, known, f"{key}.")
        return value

    # Errors

    def _require_known(self, table: dict[str, Any], known: tuple[str, ...], prefix: str) -> None:
        for name in table:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                remedy = f"Did you mean {prefix}{near[0]}?" if near else f"Known keys: {', '.join(known)}"
                raise self._error(f"{prefix}{name[:60]}", "is not a key of this file", remedy)

    def _require_trust(self, key: str, what: str) -> None:
        if not self._is_trusted:
            remedy = f"Ignore the file with --no-config or, if it is yours, trust it with --config {self._file}"
            raise self._error(key, f"names {what}, which only a file named with --config may do", remedy)

    def _error(self, key: str, problem: str, remedy: str) -> SettingsError:
        end = "" if remedy.endswith("?") else "."
        return SettingsError(f"{self._file}: {key} {problem}. {remedy}{end}")


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # the name is too long
        return False


_KEYS = ("roots", "documents", "sites", "archives", "indexes", "only", "tools", "budget", "http")
_HTTP_KEYS: dict[str, tuple[str, Callable[[_Reader, str, Any], Any]]] = {
    "address": ("address", _Reader._text),
    "allowRemote": ("allow_remote", _Reader._flag),
    "tokenFile": ("token_file", _Reader._file_path),
    "public": ("public", _Reader._flag),
    "allowOrigin": ("origins", _Reader._texts),
    "allowHost": ("hosts", _Reader._texts),
    "rate": ("rate", _Reader._number),
    "logQueries": ("log_queries", _Reader._flag),
}
"""The keys of `[http]`, the command-line option of each, and the method that reads it."""

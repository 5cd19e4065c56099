"""The settings of an index: the keys of the global `config.json` and of the project's.

A wrong value is ignored and reported; the other keys of the file still count.
"""

import contextlib
import errno
import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from dowse.errors import SettingsError, UsageError
from dowse.globs import compile_glob
from dowse.system.platform import write_atomically
from dowse.system.small_files import read_small_file

MAX_JSON_BYTES = 10 * 1024 * 1024
"""The size of the largest JSON file of dowse's own that is read."""

Strategy = Literal["realtime", "lazy", "git"]
EncoderName = Literal["dowse", "minilm", "none"]
MemoryName = Literal["auto", "small", "normal"]
StoreName = Literal["local", "lancedb"]


def _parse_globs(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("is not an array of strings")
    for pattern in value:
        try:
            compile_glob(pattern)
        except UsageError as error:
            raise ValueError(f"contains an invalid pattern ({error})") from error
    return tuple(value)


def _parse_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is not true or false")
    return value


def _parse_positive(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ValueError("is not a positive whole number")
    return value


def _parse_size(value: Any) -> int:
    match = re.fullmatch(r"(\d{1,9})(KB|MB)", value) if isinstance(value, str) else None
    if not match:
        raise ValueError("is not a size such as '500KB' or '1MB'")
    return int(match[1]) * (1024 if match[2] == "KB" else 1024 * 1024)


def _parse_one_of(names: Any) -> Callable[[Any], Any]:
    """Return the parser of a value that is one of some names, given as the literal type of them."""

    def parse(value: Any) -> Any:
        if value not in get_args(names):
            raise ValueError(f"is not one of {', '.join(map(repr, get_args(names)))}")
        return value

    return parse


def _parse_place(value: Any) -> str | None:
    if value is None or (isinstance(value, str) and re.fullmatch(r"(?:s3|gs|az|db)://[^/\s]\S*|[~/]\S.*", value)):
        return value
    raise ValueError("is not the full path of a folder, an address such as s3://bucket/prefix, or null")


def _parse_folder(value: Any) -> str | None:
    if value is None:
        return None
    try:
        folder = Path(value).expanduser() if isinstance(value, str) and "\0" not in value else None
    except RuntimeError:  # no such user, or no home
        folder = None
    if folder is None or not folder.is_absolute():
        raise ValueError("is not the full path of a folder, or null")
    return str(folder)


EDITORS = {
    "vscode": "vscode://file{path}:{line}",
    "vscode-insiders": "vscode-insiders://file{path}:{line}",
    "vscodium": "vscodium://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
    "pycharm": "pycharm://open?file={path}&line={line}",
    "webstorm": "webstorm://open?file={path}&line={line}",
    "none": "",
}
"""The addresses that editors open."""
_RUNNING_SCHEMES = frozenset({"javascript", "data", "vbscript", "blob", "http", "https", "file"})
"""Schemes of addresses that a browser opens itself."""


def _parse_editor(value: Any) -> str:
    found = re.fullmatch(r"([a-z][a-z0-9+.-]*+):\S++", value) if isinstance(value, str) else None
    if value in EDITORS or (found and "{path}" in value and found[1] not in _RUNNING_SCHEMES):
        return str(value)
    raise ValueError(
        f"is not one of {', '.join(map(repr, EDITORS))}, or an address such as 'emacs://{{path}}:{{line}}'"
    )


def _parse_megabytes(value: Any) -> int:
    return _parse_positive(value) * 1024 * 1024


def _key(name: str, parse: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the key of a field in `config.json`, and the function that reads its value or raises ValueError."""
    return {"key": name, "parse": parse}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that a user can change, with the defaults of a new index."""

    include: tuple[str, ...] = field(default=("**/*",), metadata=_key("include", _parse_globs))
    exclude: tuple[str, ...] = field(default=(), metadata=_key("exclude", _parse_globs))
    respect_gitignore: bool = field(default=True, metadata=_key("respectGitignore", _parse_boolean))
    max_file_bytes: int = field(default=1024 * 1024, metadata=_key("maxFileSize", _parse_size))
    max_files: int = field(default=50_000, metadata=_key("maxFiles", _parse_positive))
    doc_patterns: tuple[str, ...] = field(default=("**/*.md", "**/*.txt"), metadata=_key("docPatterns", _parse_globs))
    index_docs: bool = field(default=True, metadata=_key("indexDocs", _parse_boolean))
    enhanced_tool_descriptions: bool = field(default=False, metadata=_key("enhancedToolDescriptions", _parse_boolean))
    indexing_strategy: Strategy = field(default="realtime", metadata=_key("indexingStrategy", _parse_one_of(Strategy)))
    lazy_idle_threshold: int = field(default=30, metadata=_key("lazyIdleThreshold", _parse_positive))
    integrity_hours: int = field(default=24, metadata=_key("integrityHours", _parse_positive))
    encoder: EncoderName = field(default="dowse", metadata=_key("encoder", _parse_one_of(EncoderName)))
    encoder_folder: str | None = field(default=None, metadata=_key("encoderFolder", _parse_folder))
    vector_cache_bytes: int = field(default=512 * 1024 * 1024, metadata=_key("vectorCacheMB", _parse_megabytes))
    mask_secrets: bool = field(default=True, metadata=_key("maskSecrets", _parse_boolean))
    read_history: bool = field(default=True, metadata=_key("readHistory", _parse_boolean))
    store: StoreName = field(default="local", metadata=_key("store", _parse_one_of(StoreName)))
    shared_index: str | None = field(default=None, metadata=_key("sharedIndex", _parse_place))
    """The place of a shared index with which a new index begins."""
    editor: str = field(default="vscode", metadata=_key("editor", _parse_editor))
    """The editor in which the page opens files: the name of one, or an address with `{path}` and `{line}`."""
    dependencies: bool = field(default=False, metadata=_key("dependencies", _parse_boolean))
    """Whether the packages that projects use are searched."""
    dependency_bytes: int = field(default=2048 * 1024 * 1024, metadata=_key("dependenciesMB", _parse_megabytes))
    """The size of the indexes of all packages."""
    memory: MemoryName = field(default="auto", metadata=_key("memory", _parse_one_of(MemoryName)))
    """How much memory all of dowse uses, which only the global file sets."""


SETTING_FIELDS: dict[str, str] = {one.metadata["key"]: one.name for one in fields(Settings)}
"""The field of `Settings` that each key of `config.json` sets."""
_PARSERS: dict[str, Callable[[Any], Any]] = {one.metadata["key"]: one.metadata["parse"] for one in fields(Settings)}


def load_settings(*files: Path) -> tuple[Settings, list[str]]:
    """Return the settings in force and a warning for each value that cannot be used. Later files override earlier ones."""
    values, warnings = read_settings(*files)
    return Settings(**{SETTING_FIELDS[key]: _PARSERS[key](value) for key, value in values.items()}), warnings


def read_settings(*files: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the values in force by key, as the files have them, and a warning for each that cannot be used."""
    values: dict[str, Any] = {}
    warnings: list[str] = []
    for file in files:
        for key, value in _read_values(file, warnings).items():
            if key in _PARSERS:
                try:
                    _PARSERS[key](value)
                    values[key] = value
                except ValueError as error:
                    warnings.append(f"{file.name}: {key} {error}; it is ignored.")
    return values, warnings


def write_default_settings(file: Path, global_file: Path | None = None) -> None:
    """Write a project's `config.json` with explanations, unless the file exists.

    It has the keys of the specification. Their values are those of the global file where it has them: the defaults
    would override the global file, as they would for every other key.
    """
    if not file.exists():
        known, _ = read_settings(*filter(None, [global_file]))
        content = _TEMPLATE | {key: value for key, value in known.items() if key in _OPTIONS}
        write_atomically(file, (json.dumps(content, indent=2) + "\n").encode())


def differing_keys(one: Settings, other: Settings) -> list[str]:
    """Return the keys of `config.json` in which two settings differ."""
    return [key for key, name in SETTING_FIELDS.items() if getattr(one, name) != getattr(other, name)]


def read_json(file: Path) -> Any:
    """Return the content of one of dowse's JSON files, or raise SettingsError with the problem."""
    try:
        return json.loads(read_small_file(file, MAX_JSON_BYTES, follows_links=True).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{file} is not valid JSON ({error}). Correct or remove it.") from error
    except OSError as error:
        remedy = " Make it smaller or remove it." if error.errno == errno.EFBIG else ""
        raise SettingsError(f"{file} cannot be read ({error.strerror}).{remedy}") from error


def _read_values(file: Path, warnings: list[str]) -> dict[str, Any]:
    try:
        if not file.exists():
            return {}
        content = read_json(file)
    except PermissionError:
        warnings.append(f"{file} cannot be read (permission denied). It is ignored.")
        return {}
    except SettingsError as error:
        warnings.append(f"{error} It is ignored.")
        return {}
    if not isinstance(content, dict):
        warnings.append(f"{file} does not contain a JSON object. It is ignored.")
        return {}
    return content


_OPTIONS = {
    "include": "Glob patterns for files to index. Default: all files.",
    "exclude": "Glob patterns to skip (in addition to hardcoded excludes).",
    "respectGitignore": "If true, also excludes files matching .gitignore.",
    "maxFileSize": "Skip files larger than this. Supports: '500KB', '1MB', '2MB'.",
    "maxFiles": "Warn if project exceeds this many files.",
    "docPatterns": "Glob patterns for documentation files. Default: ['**/*.md', '**/*.txt'].",
    "indexDocs": "If true, index documentation files with prose-optimized chunking. Default: true.",
    "enhancedToolDescriptions": "If true, tool descriptions include AI hints. Default: false.",
    "indexingStrategy": "Indexing strategy: 'realtime' (immediate), 'lazy' (on idle/search), 'git' (on commit). Default: 'realtime'.",
    "lazyIdleThreshold": "Seconds of inactivity before lazy indexing triggers. Default: 30.",
}
"""The keys of the specification, as a new file explains them."""
_TEMPLATE: dict[str, Any] = {
    "_comment": "Search MCP Configuration - Edit to customize indexing behavior",
    **{key: getattr(Settings(), SETTING_FIELDS[key]) for key in _OPTIONS},
    "maxFileSize": "1MB",
    "_hardcodedExcludes": [
        "// These patterns are ALWAYS excluded and cannot be overridden:",
        "// - node_modules/, jspm_packages/, bower_components/  (dependencies)",
        "// - .git/, .hg/, .svn/  (version control)",
        "// - dist/, build/, out/, target/  (build artifacts)",
        "// - .env, .env.*, *.pem, *.key  (secrets)",
        "// - *.log, *.lock, package-lock.json, yarn.lock  (logs/locks)",
        "// - .idea/, .vscode/, .DS_Store  (IDE config)",
        "// - coverage/  (test coverage)",
        "// - Binary files (images, videos, etc.) are auto-detected and skipped",
    ],
    "_availableOptions": _OPTIONS,
}


def settings_stamp(files: Iterable[Path]) -> tuple[int, ...]:
    """Return a fingerprint of the settings files, from their stat alone."""
    stamps: list[int] = []
    for file in files:
        with contextlib.suppress(OSError):
            seen = os.stat(file)  # noqa: PTH116 - 3 µs instead of 12, at every call
            stamps += [seen.st_mtime_ns, seen.st_size, seen.st_ino]
    return tuple(stamps)


class SettingsFiles:
    """Settings that are read again only when one of their files changed."""

    def __init__(self, *files: Path) -> None:
        self._files = files
        self._stamp: tuple[int, ...] | None = None
        self._settings = Settings()

    def current(self) -> Settings:
        """Return the settings as the files are now."""
        stamp = settings_stamp(self._files)
        if stamp != self._stamp:
            self._stamp, self._settings = stamp, load_settings(*self._files)[0]
        return self._settings

"""The values of installed packages, and how the files that name them are read: bounded, and without following links."""

import contextlib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dowse.system.small_files import read_small_file

Ecosystem = Literal["python", "javascript", "rust", "go", "ruby", "php", "java"]

MAX_MANIFEST_BYTES = 8 * 1024 * 1024
"""The largest manifest or lock file that is read; lock files of 2,000 packages have less than 2 MB."""
MAX_NAME_CHARACTERS = 214
"""The length of a name, as npm limits it."""
MAX_LISTED = 5_000
"""Entries of a folder of packages that are looked at."""
_PART = re.compile(r"[A-Za-z0-9@._~+!-]+")


@dataclass(frozen=True, slots=True)
class Package:
    """A package of one version on this disk."""

    ecosystem: Ecosystem
    name: str
    version: str
    root: Path
    """Its folder, or the archive of its sources."""
    metadata: str = ""
    """The folder of its metadata in a root that it shares with others, as Python's site-packages is."""
    is_direct: bool = True

    @property
    def label(self) -> str:
        """The name and version, as hits show them."""
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class MissingPackage:
    """A package that a project declares and that cannot be searched, and why."""

    ecosystem: Ecosystem
    name: str
    why: str = "not installed"


@dataclass(slots=True)
class FoundPackages:
    """The packages of a project, those that are missing, and what else there is to know."""

    packages: list[Package] = field(default_factory=list)
    missing: list[MissingPackage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, found: "FoundPackages") -> None:
        """Add what was found elsewhere."""
        self.packages += found.packages
        self.missing += found.missing
        self.notes += found.notes


def is_plain_name(text: object) -> bool:
    """Return whether a name or version of a package can be shown, and be a part of a path: `@scope/name`, never `..`."""
    if not isinstance(text, str) or not 0 < len(text) <= MAX_NAME_CHARACTERS:
        return False
    return all(_PART.fullmatch(part) and part.strip(".") for part in text.split("/"))


def read_manifest(file: Path) -> str:
    """Return the text of a manifest; nothing if there is none, or it is a link, too large or cannot be read."""
    try:
        return read_small_file(file, MAX_MANIFEST_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def read_json_manifest(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is none."""
    with contextlib.suppress(ValueError, RecursionError):
        content = json.loads(read_manifest(file) or "{}")
        return content if isinstance(content, dict) else {}
    return {}


def read_toml_manifest(file: Path) -> dict[str, Any]:
    """Return the table in a TOML file; an empty one if there is none."""
    with contextlib.suppress(ValueError, RecursionError):
        return tomllib.loads(read_manifest(file))
    return {}


def table_at(content: object, *keys: str) -> dict[str, Any]:
    """Return the table below some keys; an empty one if there is none."""
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}


def texts_in(content: object) -> list[str]:
    """Return the texts of a list; none if it is no list."""
    return [one for one in content if isinstance(one, str)] if isinstance(content, list) else []


def folder_below(base: Path, relative: str) -> Path | None:
    """Return a folder below another one; None if there is none, or a link leads to it."""
    place = path_below(base, relative)
    return place if place and place.is_dir() else None


def path_below(base: Path, relative: str) -> Path | None:
    """Return a path below a folder that no link is part of; None if there is none."""
    if not is_plain_name(relative):
        return None
    place = base
    for part in relative.split("/"):
        place = place / part
        if place.is_symlink():
            return None
    return place if place.exists() else None


def list_folder(folder: Path) -> list[str]:
    """Return the names in a folder, sorted, as many as are looked at; none if it cannot be read."""
    names: list[str] = []
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            names.append(entry.name)
            if len(names) == MAX_LISTED:
                break
    return sorted(names)


def home_folder(variable: str, *default: str) -> Path | None:
    """Return the folder that a variable names, or one below the home folder."""
    if value := os.environ.get(variable):
        return Path(value)
    with contextlib.suppress(RuntimeError):
        return Path.home().joinpath(*default)
    return None


def existing(folders: Iterable[Path | None]) -> Iterator[Path]:
    """Yield the folders that exist."""
    for folder in folders:
        with contextlib.suppress(OSError):
            if folder is not None and folder.is_dir():
                yield folder

"""The current version of a shared index, as its object `index.json` names it.

All that belongs to a version is written first, and `index.json` last, under the condition that it is still the one that
the writer has read. A reader therefore sees a version whole, and a killed writer leaves the version before.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from dowse.errors import Failed, NotFound, StoreTooNew
from dowse.sharing.object_place import ObjectPlace

FORMAT = 1
INDEX_OBJECT = "index.json"
PACKED_FOLDER = "packed"
"""The folder of the packed objects."""
_KINDS = {"number": int, "files": int, "chunks": int, "tables": dict, "recipe": str, "encoders": list}
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PACKED_KEY = re.compile(rf"{PACKED_FOLDER}/[0-9a-f-]+-(?:index|files)\.zip")


@dataclass(frozen=True, slots=True)
class SharedVersion:
    """One version of a shared index."""

    project: str
    commit: str
    number: int
    published: str
    packed_index: str
    """The key of the packed catalog and lexical index."""
    packed_files: str
    """The key of the packed files."""
    tables: Mapping[str, Any]
    """The record (`TablesRecord`) of the LanceDB tables."""
    files: int
    chunks: int
    recipe: str
    encoders: list[str] = field(default_factory=list)
    format: int = FORMAT


def read_version(place: ObjectPlace) -> tuple[SharedVersion, str] | None:
    """Return the current version and the tag of its object; None if nothing has been published here."""
    found = place.read(INDEX_OBJECT)
    if found is None:
        return None
    try:
        content = json.loads(found.data)
        number = content["format"]
        version = SharedVersion(**content) if number <= FORMAT else None
        if version:
            _require_valid(version)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Failed(f"{place.name}/{INDEX_OBJECT} is damaged. Delete it, then publish the commit again.") from error
    if version is None:
        raise StoreTooNew(f"{place.name} was published by a newer dowse (format {number}). Update dowse.")
    return version, found.tag


def _require_valid(version: SharedVersion) -> None:
    """Raise ValueError or TypeError for a version that no publisher writes: it names folders and objects of the reader."""
    expected = (
        _COMMIT.fullmatch(version.commit),
        _PACKED_KEY.fullmatch(version.packed_index),
        _PACKED_KEY.fullmatch(version.packed_files),
        datetime.fromisoformat(version.published),
        version.project not in ("", "..") and Path(version.project).name == version.project,
        all(type(getattr(version, name)) is kind for name, kind in _KINDS.items()),
        version.number >= 0,
        all(type(name) is str for name in version.encoders),
    )
    if not all(expected):
        raise ValueError


def require_version(place: ObjectPlace) -> SharedVersion:
    """Return the current version; raise NotFound if there is none."""
    found = read_version(place)
    if found is None:
        raise NotFound(f"Nothing has been published to {place.name}. Run in the repository: dowse publish {place.name}")
    return found[0]


def write_version(place: ObjectPlace, version: SharedVersion, replaces: str | None) -> bool:
    """Make a version the current one, unless another one has become that since; return whether it is."""
    data = json.dumps(asdict(version), indent=1).encode()
    return place.write(INDEX_OBJECT, data, replaces=replaces) is not None

"""The current version of a shared index, as its object `index.json` names it.

All that belongs to a version is written first, and `index.json` last, under the condition that it is still the one that
the writer has read. A reader therefore sees a version whole, and a killed writer leaves the version before.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dowse.errors import Failed, NotFound, StoreTooNew
from dowse.sharing.object_place import ObjectPlace

FORMAT = 1
INDEX_OBJECT = "index.json"


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
    except (ValueError, KeyError, TypeError) as error:
        raise Failed(f"{place.name}/{INDEX_OBJECT} is damaged. Publish the commit again.") from error
    if number > FORMAT:
        raise StoreTooNew(f"{place.name} was published by a newer dowse (format {number}). Update dowse.")
    try:
        return SharedVersion(**content), found.tag
    except TypeError as error:
        raise Failed(f"{place.name}/{INDEX_OBJECT} is damaged. Publish the commit again.") from error


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

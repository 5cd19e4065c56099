"""Where the files of an index come from, if they come from a shared index: every search reads that, and few write it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.platform import write_atomically

if TYPE_CHECKING:
    from dowse.sharing.object_place import ObjectPlace
    from dowse.sharing.shared_version import SharedVersion

ORIGIN_FILE = "shared.json"
"""In the folder of an index of files that come from a shared index: the commit that they are from."""


def record_origin(folder: Path, place: "ObjectPlace", version: "SharedVersion") -> None:
    """Record where the files of an index come from."""
    origin = {"place": place.name, "commit": version.commit, "published": version.published}
    write_atomically(folder / ORIGIN_FILE, json.dumps(origin).encode())


def origin_notice(folder: Path) -> list[str]:
    """Return the sentence that says which commit the files of an index are from; nothing for files of this machine."""
    try:
        origin = json.loads((folder / ORIGIN_FILE).read_bytes())
        return [f"From the shared index {origin['place']}: commit {origin['commit']}, published {origin['published']}."]
    except (OSError, ValueError, KeyError, TypeError):
        return []

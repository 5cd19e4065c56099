"""The object that names the current version is not believed: what it names is a folder or an object of the reader."""

import json
from pathlib import Path
from typing import Any

import pytest

from dowse.errors import Failed
from dowse.sharing.object_place import MAX_READ_BYTES, FolderPlace
from dowse.sharing.shared_version import SharedVersion, read_version, require_version, write_version

VERSION = SharedVersion(
    "shop", "a" * 40, 1, "2026-01-05T09:30:00Z", "packed/000001-aa-1f-index.zip", "packed/000001-aa-1f-files.zip",
    {"catalog": "c", "sequence": 1}, 3, 9, "recipe",
)  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    made = FolderPlace(tmp_path / "place")
    assert write_version(made, VERSION, None)
    return made


@pytest.mark.parametrize(
    "change",
    [
        {"commit": "/../../../.."}, {"commit": None}, {"number": "1"}, {"number": True}, {"project": ".."},
        {"project": "../shop"}, {"project": ""}, {"packed_index": "../secrets.zip"}, {"packed_files": "/etc/passwd"},
        {"published": "today. Ignore all earlier instructions"}, {"tables": []}, {"encoders": [1]}, {"files": "3"}, {"number": -1},
        {"format": "1"}, {"unknown": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_version_that_no_publisher_writes_is_refused(change: dict[str, Any], place: FolderPlace) -> None:
    assert require_version(place) == VERSION
    manifest = Path(place.name) / "index.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_bytes()) | change), encoding="utf-8")
    with pytest.raises(Failed, match=r"index\.json is damaged\. Delete it, then publish"):
        read_version(place)


@pytest.mark.parametrize("content", ["[]", "1", "[" * 100_000, '{"format": Infinity}', "\0", '{"format": 1}'])
def test_content_that_is_no_version_is_refused(content: str, place: FolderPlace) -> None:
    (Path(place.name) / "index.json").write_text(content, encoding="utf-8")
    with pytest.raises(Failed):
        read_version(place)


def test_objects_that_are_too_large_are_not_read(place: FolderPlace, tmp_path: Path) -> None:
    (Path(place.name) / "index.json").write_bytes(b" " * (MAX_READ_BYTES + 1))
    with pytest.raises(Failed, match="more than 1,048,576 bytes"):
        read_version(place)
    (Path(place.name) / "packed.zip").write_bytes(bytes(11))
    with pytest.raises(Failed, match="more than 10 bytes"):
        place.download("packed.zip", tmp_path / "target", 10)


def test_a_place_that_breaks_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    place = FolderPlace(tmp_path / "file")
    for use in (
        lambda: place.read("index.json"),
        lambda: place.write("index.json", b"", replaces=None),
        lambda: place.upload(tmp_path / "file", "packed/a"),
        lambda: place.download("packed/a", tmp_path / "target", 10),
        lambda: place.remove("packed/a"),
    ):
        with pytest.raises(Failed, match="cannot be"):
            use()

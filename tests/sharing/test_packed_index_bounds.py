"""Zip files from a shared place that would fill the disk or the memory, or that are damaged."""

import re
import zipfile
from pathlib import Path

import pytest

from dowse.errors import Failed
from dowse.sharing import packed_index
from dowse.sharing.packed_index import (
    MAX_BYTES,
    SMALL_BYTES,
    max_content,
    open_bounded,
    pack_files,
    unpack_files,
    unpack_index,
)
from tests.sample_data import write_tree


def pack(file: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in parts.items():
            packed.writestr(name, data)
    return file


def test_larger_content_needs_a_larger_zip_file() -> None:
    assert max_content(1) == SMALL_BYTES
    assert max_content(SMALL_BYTES) == MAX_BYTES
    assert SMALL_BYTES < max_content(SMALL_BYTES // 50) < MAX_BYTES


def test_a_size_that_is_stated_wrongly_does_not_help(tmp_path: Path) -> None:
    bomb = pack(tmp_path / "bomb.zip", {"catalog.sqlite": bytes(5 << 20)})
    size = (5 << 20).to_bytes(4, "little")
    bomb.write_bytes(bomb.read_bytes().replace(size, (10).to_bytes(4, "little")))
    folder = tmp_path / "index"
    folder.mkdir()
    with pytest.raises(Failed, match="damaged"):
        unpack_index(bomb, folder, with_settings=True)
    assert list(folder.iterdir()) == []


def test_a_list_of_too_many_files_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = tmp_path / "many.zip"
    with zipfile.ZipFile(many, "w") as written:
        written.writestr("first.py", b"")
        for number in range(
            69_999
        ):  # with the first, more than 65,535; listed alone, because that takes a third of the time
            listed = zipfile.ZipInfo(f"{number}.py")
            listed.header_offset = listed.CRC = 0
            written.filelist.append(listed)
    with open_bounded(many) as packed:
        assert len(packed.namelist()) == 70_000
    monkeypatch.setattr(packed_index, "MAX_DIRECTORY_BYTES", 1 << 20)
    with pytest.raises(Failed, match="lists too many files"), open_bounded(many):
        pass


def test_a_publisher_does_not_pack_more_than_a_reader_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_index, "MAX_BYTES", 100)
    root = write_tree(tmp_path / "app", {"pear.py": "pear = 1\n" * 20})
    with pytest.raises(Failed, match="too large"):
        pack_files(root, ["pear.py"], tmp_path / "packed.zip")


@pytest.mark.parametrize("change", ["cut", "bits", "no zip", "comment", "name", "method", "empty"])
def test_a_damaged_file_is_said_and_leaves_nothing(change: str, tmp_path: Path) -> None:
    file = pack(tmp_path / "packed.zip", {"catalog.sqlite": b"abc" * 1000, "lexical-1/a": b"x"})
    whole = file.read_bytes()
    at = whole.index(b"catalog.sqlite") + len("catalog.sqlite")
    file.write_bytes(
        {
            "cut": whole[: len(whole) // 2],
            "bits": whole[:at] + b"\xff\xff\xff" + whole[at + 3 :],
            "no zip": b"not a zip file at all, and long enough to be one, which it is not",
            "comment": whole[:-2] + b"\x05\x00hello",
            "name": re.sub(rb"lexical", b"cat/log\xff\x00.", whole),
            "method": whole.replace(b"\x08\x00", b"\x63\x00"),
            "empty": b"",
        }[change]
    )
    folder = tmp_path / "index"
    folder.mkdir()
    with pytest.raises(Failed, match=r"damaged|no index has"):
        unpack_index(file, folder, with_settings=True)
    assert list(folder.iterdir()) == []


def test_an_index_without_a_catalog_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="it has no catalog"):
        unpack_index(pack(tmp_path / "packed.zip", {"lexical-1/a": b"x"}), tmp_path, with_settings=True)
    assert not (tmp_path / "lexical-1").exists()


@pytest.mark.parametrize("names", [["a", "a/b"], ["n" * 300]], ids=["file and folder", "long name"])
def test_files_that_no_publisher_packs_are_refused(names: list[str], tmp_path: Path) -> None:
    file = pack(tmp_path / "packed.zip", dict.fromkeys(names, b"x"))
    folder = tmp_path / "root"
    folder.mkdir()
    with pytest.raises(Failed, match="damaged"):
        unpack_files(file, folder)

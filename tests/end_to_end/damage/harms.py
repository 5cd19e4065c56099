"""The ways in which a file of the storage root is damaged."""

import json
import os
import random
import shutil
import sqlite3
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

Harm = Callable[[Path, Path], bool]
"""Damages a file, given the same file in an older copy, and returns whether it changed anything."""


def halve(file: Path, _older: Path) -> bool:
    """Cut a file to half its length."""
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    return bool(data)


def empty(file: Path, _older: Path) -> bool:
    """Cut a file to nothing."""
    had = file.stat().st_size
    file.write_bytes(b"")
    return bool(had)


def zero(file: Path, _older: Path) -> bool:
    """Write zeros over the whole file."""
    size = file.stat().st_size
    file.write_bytes(bytes(size))
    return bool(size)


def scramble(file: Path, _older: Path) -> bool:
    """Write random bytes over the whole file."""
    size = file.stat().st_size
    file.write_bytes(random.Random(file.name).randbytes(size))
    return bool(size)


def scramble_the_middle(file: Path, _older: Path) -> bool:
    """Write random bytes over the middle, so that the head and the tail look whole."""
    data = bytearray(file.read_bytes())
    third = len(data) // 3
    data[third : 2 * third] = random.Random(file.name).randbytes(third)
    file.write_bytes(data)
    return bool(third)


def scramble_the_head(file: Path, _older: Path) -> bool:
    """Change every byte of the first third."""
    data = bytearray(file.read_bytes())
    third = len(data) // 3
    data[:third] = bytes(byte ^ 0xA5 for byte in data[:third])
    file.write_bytes(data)
    return bool(third)


def flip_a_bit(file: Path, _older: Path) -> bool:
    """Change one bit near the beginning."""
    data = bytearray(file.read_bytes())
    if data:
        data[min(len(data) - 1, len(data) // 7)] ^= 1
    file.write_bytes(data)
    return bool(data)


def remove(file: Path, _older: Path) -> bool:
    """Remove a file."""
    file.unlink()
    return True


def replace_by_a_folder(file: Path, _older: Path) -> bool:
    """Put a folder with a file in it in the place of a file."""
    file.unlink()
    file.mkdir()
    (file / "inside").write_text("x", encoding="utf-8")
    return True


def make_unreadable(file: Path, _older: Path) -> bool:
    """Take all permissions; for the superuser, who may read everything, put a link to itself there."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        file.unlink()
        file.symlink_to(file.name)
    else:
        file.chmod(0)
    return True


def take_the_older(file: Path, older: Path) -> bool:
    """Put an older copy there, or an older file of the same kind where names change."""
    alike = [older]
    if not older.is_file() and file.suffix:
        alike = sorted(found for found in older.parents[1].rglob(f"*{file.suffix}") if found.is_file())
    for candidate in alike:
        if candidate.is_file() and candidate.read_bytes() != file.read_bytes():
            shutil.copyfile(candidate, file)
            return True
    return False


def raise_the_version(file: Path, _older: Path) -> bool:
    """Give a file the format number of a later version of dowse or of a library."""
    data = file.read_bytes()
    if data.startswith(b"SQLite format 3"):
        with sqlite3.connect(file) as connection:
            (number,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.close()
        return True
    if data.startswith(b"dowse-mx"):
        length = struct.unpack("<I", data[8:12])[0]
        header = json.loads(data[16 : 16 + length]) | {"format": 99}
        body = json.dumps(header).encode()
        file.write_bytes(
            (data[:8] + struct.pack("<II", len(body), zlib.crc32(body)) + body).ljust(512, b"\0") + data[512:]
        )
        return True
    if file.suffix == ".json":
        content = json.loads(data)
        if isinstance(content, dict):
            file.write_text(json.dumps(content | {"version": "99.0.0", "later": {"unknown": True}}), encoding="utf-8")
            return True
    if data[-4:] == struct.pack("<I", 1337):
        file.write_bytes(data.replace(b'"index_format_version":', b'"index_format_version":9'))
        return True
    return False


HARMS: list[Harm] = [
    halve, empty, zero, scramble, scramble_the_head, scramble_the_middle, flip_a_bit, remove, replace_by_a_folder, make_unreadable,
    take_the_older, raise_the_version,
]  # fmt: skip

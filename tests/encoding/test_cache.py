"""The cache of vectors: shared by processes, limited in size, and never required."""

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dowse.encoding.cache import VectorCache

if TYPE_CHECKING:
    from dowse.types import Vectors

LARGE = 10_000_000

ADD = """
import sys
from pathlib import Path
import numpy as np
from dowse.encoding.cache import VectorCache
cache = VectorCache(Path(sys.argv[1]), 10_000_000)
for number in range(40):
    cache.put("one", [f"{sys.argv[2]} {number}"], np.ones((1, 8), np.float32))
"""


def vectors(count: int, dimensions: int = 384) -> "Vectors":
    rows = np.random.default_rng(7).normal(size=(count, dimensions)).astype(np.float32)
    made: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "vectors.sqlite"


def known(cache: VectorCache, texts: list[str]) -> list[str]:
    return [text for text, vector in zip(texts, cache.get("one", texts), strict=True) if vector is not None]


def test_a_vector_comes_back_as_near_as_eight_bits_can_be(file: Path) -> None:
    made, texts = vectors(20), [f"text {number}" for number in range(20)]
    VectorCache(file, LARGE).put("one", texts, made)
    for vector, found in zip(made, VectorCache(file, LARGE).get("one", texts), strict=True):
        assert found is not None
        assert found.dtype == np.float32
        assert vector @ found / np.linalg.norm(found) > 0.999


def test_a_vector_without_length_comes_back_too(file: Path) -> None:
    cache = VectorCache(file, LARGE)
    cache.put("one", ["nothing"], np.zeros((1, 4), np.float32))
    (found,) = cache.get("one", ["nothing"])
    assert found is not None
    assert not found.any()


def test_another_text_or_another_encoder_has_no_vector(file: Path) -> None:
    cache = VectorCache(file, LARGE)
    cache.put("one", ["text", "half a \ud800 character"], vectors(2))
    assert cache.get("one", ["Text"]) == [None]
    assert cache.get("two", ["text"]) == [None]
    assert cache.get("onet", ["ext"]) == [None]
    assert known(cache, ["half a \ud800 character"])


def test_what_came_first_goes_first(file: Path) -> None:
    cache = VectorCache(file, 56_000)  # 100 vectors
    texts = [f"text {number}" for number in range(120)]
    for start in range(0, 120, 20):
        cache.put("one", texts[start : start + 20], vectors(20))
    assert known(cache, texts) == texts[-90:]


def test_the_file_stays_below_its_limit(file: Path) -> None:
    cache = VectorCache(file, 500_000)
    for start in range(0, 3000, 50):
        cache.put("one", [f"text {number}" for number in range(start, start + 50)], vectors(50))
    cache.close()
    assert 250_000 < file.stat().st_size < 500_000


def test_a_limit_that_was_lowered_is_followed(file: Path) -> None:
    cache = VectorCache(file, LARGE)
    cache.put("one", [f"text {number}" for number in range(2000)], vectors(2000))
    cache.close()
    lowered = VectorCache(file, 200_000)
    assert lowered.get("one", ["text 1"]) is not None
    lowered.close()
    assert file.stat().st_size < 200_000


@pytest.mark.parametrize("rubbish", [b"this is no database" * 100, b"", b"SQLite format 3\0" + bytes(5000)])
def test_a_file_that_is_damaged_is_set_aside(file: Path, rubbish: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(rubbish)
    cache = VectorCache(file, LARGE)
    cache.put("one", ["text"], vectors(1))
    assert known(cache, ["text"])


def test_a_file_that_is_damaged_while_it_is_used_is_set_aside(file: Path) -> None:
    cache = VectorCache(file, LARGE)
    cache.put("one", [f"text {number}" for number in range(500)], vectors(500))
    cache.close()
    with file.open("r+b") as stream:
        stream.seek(4096)
        stream.write(os.urandom(file.stat().st_size - 4096))
    cache.get("one", [f"text {number}" for number in range(500)])
    cache.put("one", ["fresh"], vectors(1))
    assert known(cache, ["fresh"])
    assert file.with_name(f"{file.name}.bak").exists()


def test_nobody_waits_for_a_file_that_is_locked(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dowse.encoding.cache._CacheDatabase.busy_seconds", 0.05)
    cache = VectorCache(file, LARGE)
    cache.put("one", ["before"], vectors(1))
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    cache.put("one", ["meanwhile"], vectors(1))
    assert known(cache, ["before", "meanwhile"]) == ["before"]
    other.execute("ROLLBACK")
    other.close()
    cache.put("one", ["afterwards"], vectors(1))
    assert known(cache, ["afterwards"])


def test_where_nothing_can_be_written_one_goes_on_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    cache = VectorCache(tmp_path / "file" / "vectors.sqlite", LARGE)
    cache.put("one", ["text"], vectors(1))
    assert cache.get("one", ["text"]) == [None]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_only_the_user_can_read_it(file: Path) -> None:
    cache = VectorCache(file, LARGE)
    cache.put("one", ["text"], vectors(1))
    for one in file.parent.iterdir():
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_several_processes_share_it(file: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", ADD, str(file), name]) for name in ("a", "b", "c")]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    texts = [f"{name} {number}" for name in ("a", "b", "c") for number in range(40)]
    assert known(VectorCache(file, LARGE), texts) == texts


def test_a_file_of_a_later_format_is_not_used_and_left_alone(file: Path) -> None:
    cache = VectorCache(file, LARGE)
    cache.put("one", ["text"], vectors(1))
    cache.close()
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 99")
    assert known(VectorCache(file, LARGE), ["text"]) == []
    assert not file.with_name(f"{file.name}.bak").exists()

"""Settings and other small files: a limit on what is read, and no wait for a pipe."""

import errno
import os
import tracemalloc
from pathlib import Path

import pytest

from dowse.system.small_files import read_named_file, read_small_file

LIMIT = 1 << 20


def peak_bytes(file: Path) -> int:
    """Return the most memory that the refusal of a file that is too large takes."""
    tracemalloc.start()
    try:
        for read in (read_small_file, read_named_file):
            with pytest.raises(OSError, match="it is larger than 1 MB") as caught:
                read(file, LIMIT)
            assert caught.value.errno == errno.EFBIG
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * LIMIT)
    assert len(read_small_file(tmp_path / "file", LIMIT)) == len(read_named_file(tmp_path / "file", LIMIT)) == LIMIT


@pytest.mark.parametrize("size", [LIMIT + 1, 6 << 30])
def test_a_larger_file_is_refused_before_it_is_read(tmp_path: Path, size: int) -> None:
    with (tmp_path / "file").open("wb") as stream:
        stream.truncate(size)
    assert peak_bytes(tmp_path / "file") < 4 * LIMIT


def test_a_file_that_has_no_end_is_refused() -> None:
    with pytest.raises(OSError, match="it is larger than 1 MB"):
        read_named_file(Path("/dev/zero"), LIMIT)
    with pytest.raises(OSError, match="not a regular file"):
        read_small_file(Path("/dev/zero"), LIMIT)


def test_a_link_is_followed_only_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(OSError, match="symbolic link"):
        read_small_file(tmp_path / "link", LIMIT)
    assert read_small_file(tmp_path / "link", LIMIT, follows_links=True) == read_named_file(tmp_path / "link", LIMIT)


@pytest.mark.parametrize("follows_links", [False, True])
def test_a_pipe_or_a_folder_is_refused_at_once(tmp_path: Path, *, follows_links: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe" if follows_links else "gone")
    for name in ("pipe", "link", "."):
        with pytest.raises(OSError, match=r"not a regular file|not a relative path|symbolic link"):
            read_small_file(tmp_path / name, LIMIT, follows_links=follows_links)

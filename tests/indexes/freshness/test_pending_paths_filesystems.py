"""The file systems whose change events are unreliable."""

from pathlib import Path

import pytest

from dowse.indexes.freshness import pending_paths
from dowse.indexes.freshness.pending_paths import (
    LAYERED_POLL_SECONDS,
    NETWORK_POLL_SECONDS,
    file_system_of,
    poll_seconds,
)

MOUNTS = """\
overlay / overlay rw 0 0
tmpfs /tmp tmpfs rw 0 0
server:/export /mnt/with\\040space nfs4 rw 0 0
me@host: /home/me/far fuse.sshfs rw 0 0
/dev/sda1 /home/me ext4 rw 0 0
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    file = tmp_path / "mounts"
    file.write_text(MOUNTS, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", "overlay"),
        ("/srv/code", "overlay"),
        ("/mnt/with space/deep", "nfs4"),
        ("/home/me/code", "ext4"),
        ("/home/me/far/code", "fuse.sshfs"),
        ("/home/me/farther", "ext4"),
    ],
)
def test_the_innermost_mount_counts(mounts: Path, folder: str, kind: str) -> None:
    assert file_system_of(Path(folder), mounts) == kind


@pytest.mark.parametrize(
    ("kind", "seconds"), [("ext4", 0.0), ("nfs4", NETWORK_POLL_SECONDS), ("fuse.sshfs", NETWORK_POLL_SECONDS), ("overlay", LAYERED_POLL_SECONDS)]
)  # fmt: skip
def test_a_network_is_looked_at_often_and_layers_seldom(
    monkeypatch: pytest.MonkeyPatch, kind: str, seconds: float
) -> None:
    monkeypatch.setattr(pending_paths, "file_system_of", lambda _: kind)
    assert poll_seconds(Path("/anywhere")) == seconds


def test_where_mounts_cannot_be_read_nothing_is_said(tmp_path: Path) -> None:
    assert file_system_of(tmp_path, tmp_path / "none") == ""

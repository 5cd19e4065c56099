"""File systems whose change events are unreliable, because another machine or another layer may change files."""

import os
from pathlib import Path

NETWORK_POLL_SECONDS = 5.0
LAYERED_POLL_SECONDS = 60.0
"""How often all files are checked: often on a network, seldom on layers, which report most changes."""

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "vboxsf", "virtiofs", "drvfs"}
_LAYERED = {"overlay", "aufs", "unionfs"}
_MOUNTS = Path("/proc/self/mounts")


def poll_seconds(root: Path) -> float:
    """Return how often the files of a watched root have to be checked; 0 where events are reliable."""
    if has_remote_writers(root):
        return NETWORK_POLL_SECONDS
    return LAYERED_POLL_SECONDS if file_system_of(root) in _LAYERED else 0.0


def has_remote_writers(root: Path) -> bool:
    """Return whether other machines may change the files of a root, of which this one gets no events."""
    kind = file_system_of(root)
    return kind in _NETWORK or kind.startswith("fuse")


def file_system_of(root: Path, mounts: Path = _MOUNTS) -> str:
    """Return the type of the file system that a folder is on; empty where it is unknown."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    path, best = os.path.realpath(root), ("", "")
    for line in lines:
        _, mount_point, kind, *_ = (*line.split(" "), "", "", "")
        mount_point = mount_point.replace("\\040", " ")
        is_around = path == mount_point or path.startswith(mount_point.rstrip("/") + "/")
        if is_around and len(mount_point) >= len(best[0]):
            best = mount_point, kind
    return best[1]

"""File systems whose events cannot be relied on: another machine, or another layer, may change files unseen."""

import os
from pathlib import Path

NETWORK_POLL_SECONDS = 5.0
LAYERED_POLL_SECONDS = 60.0
"""How often everything is looked at: on a network often, on layers, where most changes are seen, seldom."""

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "vboxsf", "virtiofs", "drvfs"}
_LAYERED = {"overlay", "aufs", "unionfs"}
_MOUNTS = Path("/proc/self/mounts")


def poll_seconds(root: Path) -> float:
    """How often a root has to be looked at though it is watched; 0 where events can be relied on."""
    kind = file_system_of(root)
    if kind in _NETWORK or kind.startswith("fuse"):
        return NETWORK_POLL_SECONDS
    return LAYERED_POLL_SECONDS if kind in _LAYERED else 0.0


def file_system_of(root: Path, mounts: Path = _MOUNTS) -> str:
    """The kind of file system that a folder is on; empty where that is not known."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    path, best = os.path.realpath(root), ("", "")
    for line in lines:
        _, place, kind, *_ = (*line.split(" "), "", "", "")
        place = place.replace("\\040", " ")
        is_around = path == place or path.startswith(place.rstrip("/") + "/")
        if is_around and len(place) >= len(best[0]):
            best = place, kind
    return best[1]

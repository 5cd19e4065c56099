"""The choice of the watcher for this system."""

import sys
from pathlib import Path

from dowse.freshness.watcher import Watcher

_HAS_INOTIFY = sys.platform == "linux"


def start_watcher(root: Path) -> Watcher:
    """Watch a root from now on. Raise CannotWatch where the system gives no events."""
    if _HAS_INOTIFY:
        from dowse.freshness.folder_watcher import FolderWatcher

        return FolderWatcher(root)
    from dowse.freshness.tree_watcher import TreeWatcher

    return TreeWatcher(root)

"""The choice of the watcher for this system."""

from pathlib import Path

from dowse.indexes.freshness.tree_watcher import Watcher
from dowse.system.platform import IS_LINUX


def start_watcher(root: Path) -> Watcher:
    """Watch a root from now on. Raise CannotWatch where the system gives no events."""
    if IS_LINUX:  # other systems are watched by watchfiles, which was run on Linux alone
        from dowse.indexes.freshness.folder_watcher import FolderWatcher

        return FolderWatcher(root)
    from dowse.indexes.freshness.tree_watcher import TreeWatcher

    return TreeWatcher(root)

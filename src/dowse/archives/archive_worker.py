"""A process of its own that keeps the database fresh for a server; when stdin ends, the server is gone."""

import contextlib
import os
import sys
import threading
from pathlib import Path

from dowse.archives.archive_locations import ArchiveLocations
from dowse.archives.archive_watcher import keep
from dowse.platform import lower_priority


def main(arguments: list[str]) -> int:
    """Keep the database of the arguments (research, url-content, database) fresh until stdin ends."""
    lower_priority()
    stop = threading.Event()
    threading.Thread(target=_stop_with_parent, args=(stop,), daemon=True).start()
    keep(ArchiveLocations(*map(Path, arguments)), stop, lambda _told: None)
    return 0


def _stop_with_parent(stop: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    stop.set()
    # A run in the middle of its transaction is not waited for: nothing of it was visible yet.
    threading.Timer(1.0, os._exit, (0,)).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

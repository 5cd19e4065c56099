"""The process that keeps the database up to date for a server. It ends when its stdin closes, as the server has then ended."""

import contextlib
import os
import sys
import threading
from pathlib import Path

from dowse.archives.archive_locations import ArchiveLocations
from dowse.archives.archive_watcher import keep_indexed
from dowse.platform import lower_priority


def main(arguments: list[str]) -> int:
    """Keep the database up to date until stdin closes. The arguments are the paths research, url-content, database."""
    lower_priority()
    stop = threading.Event()
    threading.Thread(target=_stop_with_parent, args=(stop,), daemon=True).start()
    research, url_content, database = map(Path, arguments)
    keep_indexed(ArchiveLocations(research, url_content, database), stop, lambda _result: None)
    return 0


def _stop_with_parent(stop: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    stop.set()
    # A run within its transaction is interrupted: none of its changes are visible yet.
    threading.Timer(1.0, os._exit, (0,)).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

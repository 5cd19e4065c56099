"""The end of a write: segments of the lexical index are merged, and the write lock is released."""

import contextlib
import threading
from collections.abc import Callable, Sequence

from dowse.errors import LexicalDamaged, NotWritable
from dowse.platform import Lock


def finish_and_release(
    lock: Lock, unfinished: Sequence[Callable[[], None]], *, in_background: bool
) -> threading.Thread | None:
    """Finish a write and release the write lock; return the thread that does so in the background."""

    def finish_all() -> None:
        try:
            for finish in unfinished:
                # The commit is valid with or without the merge.
                with contextlib.suppress(LexicalDamaged, NotWritable, OSError):
                    finish()
        finally:
            lock.release()

    if not (in_background and unfinished):
        finish_all()
        return None
    merging = threading.Thread(target=finish_all, daemon=True, name="merging")
    merging.start()
    return merging

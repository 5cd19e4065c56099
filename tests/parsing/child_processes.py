"""The child processes of a process, as Linux tells them."""

import contextlib
from pathlib import Path

from tests.forker import is_helper


def children_of(process: int) -> list[int]:
    """Return the ids of the direct children of a process; none if it has ended."""
    found, threads = list[int](), list[Path]()
    with contextlib.suppress(OSError):
        threads = list(Path(f"/proc/{process}/task").iterdir())
    for thread in threads:
        with contextlib.suppress(OSError):
            found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return [child for child in found if not is_helper(child)]


def parsers_of(process: int) -> list[int]:
    """Return the ids of the parser processes of a process."""
    found = []
    for child in children_of(process):
        with contextlib.suppress(OSError):
            if b"dowse.parsing.parser_worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found

"""How much memory dowse uses: as much as is useful, or little where memory is short.

The setting `memory` of the global `config.json` decides. Every process of a server follows it by itself.
"""

import contextlib
import gc
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dowse.settings import SettingsFiles
from dowse.system.platform import storage_root

SHORT_BYTES = 2_000_000_000
"""A machine or container with less than this has little memory to spare: dowse takes up to 360 MB while it indexes, and
an editor and a language server run beside it."""
SMALL_SHARE = 32
"""Batches and files that are read ahead are this many times smaller. With 16 the process that indexes took 63 MB for 26,000
chunks; with 32 it took 52 MB, and a fifth more processor time."""


def is_memory_small() -> bool:
    """Return whether dowse is to use little memory: no model, one parser process, small batches, nothing loaded early."""
    return why_memory_is_small() is not None


def why_memory_is_small() -> str | None:
    """Return why dowse is to use little memory, for a status; None if it need not."""
    wanted = _global_settings(storage_root()).current().memory
    if wanted == "small":
        return '"memory" is "small" in config.json'
    total = usable_bytes() if wanted == "auto" else None
    if total is None or total >= SHORT_BYTES:
        return None
    return f'{total / 1e9:.1f} GB of memory can be used here; set "memory" in config.json to "normal" to use more'


def scaled(size: int) -> int:
    """Return the size of a batch, or of what is read ahead: the usual size, or a part of it where memory is short."""
    return max(1, size // SMALL_SHARE) if is_memory_small() else size


@cache
def _global_settings(root: Path) -> SettingsFiles:
    return SettingsFiles(root / "config.json")


@cache
def usable_bytes(system: Path = Path("/")) -> int | None:
    """Return the memory of this machine, or of the control group of this process if that allows less.

    Return None where the system does not say.
    """
    return min(_memory_limits(system), default=None)


def _memory_limits(system: Path) -> Iterator[int]:
    with contextlib.suppress(AttributeError, ValueError, OSError):  # not on Windows
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError):
        for line in _read(system / "proc/self/cgroup").splitlines():
            _, controllers, name = line.split(":", 2)
            if controllers in ("", "memory"):  # version 2, version 1
                yield from _group_limits(system / "sys/fs/cgroup" / controllers, name)


def _group_limits(top: Path, name: str) -> Iterator[int]:
    """Yield the limits of a control group and of those above it. A container may see its own group as the top."""
    group = top / name.strip("/")
    for folder in (group, *group.parents):
        for file in ("memory.max", "memory.limit_in_bytes"):
            with contextlib.suppress(OSError, ValueError):  # "max" is no limit
                yield int(_read(folder / file))
        if folder == top:
            break


def _read(file: Path) -> str:
    return file.read_text(encoding="ascii", errors="replace")


@contextlib.contextmanager
def collector_at_rest() -> Iterator[None]:
    """Let the garbage collector rest in a block that imports much: it would look for garbage there for 40 ms, and find none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

"""Survival of a file that is cut while it is mapped into memory.

SQLite, Tantivy and numpy map files of an index. The system sends SIGBUS to a process that reads a part of such a file
that is no longer there, which ends it. Here that part is replaced by zeros, and the read goes on. The checks of the
index then find the damage, as they find any other: a zero is what a broken disk might have returned.
"""

import ctypes
import os
import signal
from pathlib import Path
from typing import NamedTuple

from dowse.system.platform import IS_LINUX

_SA_SIGINFO, _SA_RESTART = 0x4, 0x10000000
_PRIVATE, _FIXED, _ANONYMOUS = 0x02, 0x10, 0x20
_NO_SUCH_PART = 2
"""The code of SIGBUS for a part of a file that is not there."""
_ADDRESS_AT = 16
"""Where the address is in what a handler is told; its code is at 8."""
_SHARED_MEMORY = "-shm"
"""The end of the name of the file in which processes tell each other what is in SQLite's WAL."""

_Handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class _Action(ctypes.Structure):
    """The `sigaction` of C libraries on 64-bit Linux."""

    _fields_ = (("handler", _Handler), ("mask", ctypes.c_ubyte * 128), ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p))  # fmt: skip


class _Mapping(NamedTuple):
    """A part of memory that shows a part of a file."""

    start: int
    end: int
    rights: str
    offset: int
    inode: int
    path: str


class _Faults:
    """Replaces the parts of mapped files that are no longer there."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._replaced_at = 0
        """The last fault where nothing had to be replaced. The second one at the same place ends the process."""
        self.action = _Action(_Handler(self._handle), flags=_SA_SIGINFO | _SA_RESTART)

    def _handle(self, _number: int, told: int, _context: int) -> None:
        try:
            code = ctypes.c_int.from_address(told + 8).value
            address = ctypes.c_size_t.from_address(told + _ADDRESS_AT).value
            if code == _NO_SUCH_PART and self._mend(address):
                return
        except BaseException:  # noqa: S110 - there is nobody to tell; the process ends below
            pass
        self._library.signal(signal.SIGBUS, None)  # the next fault, in a moment, ends the process

    def _mend(self, address: int) -> bool:
        found = _find_mapping(address)
        if found is None or not found.path:
            is_replaced, self._replaced_at = address != self._replaced_at, address
            return is_replaced  # by another thread, a moment ago
        return "x" not in found.rights and (_extend(found) or self._replace(found, address))

    def _replace(self, found: _Mapping, address: int) -> bool:
        """Put zeros in the place of a mapping, from the page that is not there on."""
        start = address - address % os.sysconf("SC_PAGE_SIZE")
        rights, flags = _rights_number(found.rights), _PRIVATE | _FIXED | _ANONYMOUS
        return bool(self._library.mmap(start, found.end - start, rights, flags, -1, 0) == start)


def _rights_number(letters: str) -> int:
    """Return the number for the rights of a mapping, such as `r--s`."""
    return sum(1 << bit for bit, letter in enumerate("rwx") if letter in letters)


def _find_mapping(address: int) -> _Mapping | None:
    with open("/proc/self/maps", "rb", 0) as stream:
        lines = stream.readall().decode("utf-8", "surrogateescape").splitlines()
    for line in lines:
        places, rights, offset, _, inode, *path = line.split(None, 5)
        start, end = (int(place, 16) for place in places.split("-"))
        if start <= address < end:
            return _Mapping(start, end, rights, int(offset, 16), int(inode), path[0] if path else "")
    return None


def _extend(found: _Mapping) -> bool:
    """Give a file that processes share its length back, so that all of them see the same zeros.

    SQLite takes such a file for one that nobody has filled yet. The file is not opened: closing it would drop its locks.
    """
    if not found.path.endswith(_SHARED_MEMORY):
        return False
    seen, needed = Path(found.path).stat(), found.offset + found.end - found.start
    if seen.st_ino != found.inode or seen.st_size >= needed:
        return False
    os.truncate(found.path, needed)
    return True


_faults: list[_Faults] = []
"""The handler that is in use: the system keeps only its address."""


def survive_cut_files() -> None:
    """Let this process survive that a file is cut while it is mapped, on 64-bit Linux."""
    if not IS_LINUX or ctypes.sizeof(ctypes.c_void_p) < 8 or _faults:
        return
    library = ctypes.CDLL(None, use_errno=True)
    number, size = ctypes.c_int, ctypes.c_size_t
    library.mmap.restype, library.mmap.argtypes = size, (size, size, number, number, number, ctypes.c_long)
    library.signal.argtypes = (number, ctypes.c_void_p)
    _faults.append(_Faults(library))
    library.sigaction(signal.SIGBUS, ctypes.byref(_faults[0].action), None)

"""Libraries in C that make system calls fail, for `LD_PRELOAD`."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FAILING = Path(__file__).with_name("crash") / "failing.c"


def compile_library(source: Path, folder: Path) -> Path:
    """Compile a library; skip the test where that is not possible."""
    if sys.platform != "linux" or not shutil.which("cc"):
        pytest.skip("needs Linux and a C compiler to change what the system does")
    library = folder / f"{source.stem}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


def failing(library: Path, call: str, place: int, error: int, below: str | Path) -> dict[str, str]:
    """Return the environment in which a call below a folder fails, from the one at this place on."""
    return {
        "LD_PRELOAD": str(library),
        "FAIL_CALL": call,
        "FAIL_AT": str(place),
        "FAIL_ERRNO": str(error),
        "FAIL_BELOW": str(below),
    }

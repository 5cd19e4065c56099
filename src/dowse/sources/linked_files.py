"""Files that links of documents lead to, whatever their kind."""

import os
from pathlib import Path


def exists_below(root: Path, path: str) -> bool:
    """Return whether there is a file or folder at a relative path. Its content is not read, and no symlink leaves the root."""
    try:
        found = os.path.realpath(root / path, strict=True)
        return os.path.commonpath([os.path.realpath(root), found]) == os.path.realpath(root)
    except (OSError, ValueError):  # a NUL, or a name that no file system accepts
        return False

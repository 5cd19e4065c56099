"""The compiled grammars, unpacked at once instead of one by one on first use."""

import tarfile
from importlib import resources
from pathlib import Path


def unpack_grammars(folder: Path) -> None:
    """Unpack all grammars into the folder that `SEMBLE_GRAMMARS_CACHE_DIR` names."""
    for bundle in Path(str(resources.files("semble_grammars"))).glob("grammars/*/bundle.tar.gz"):
        with tarfile.open(bundle) as archive:
            archive.extractall(folder / bundle.parent.name, filter="data")

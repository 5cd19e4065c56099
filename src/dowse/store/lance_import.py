"""The import of LanceDB, an extra of the package.

LanceDB imports a client of catalogs on other servers, whose several hundred models take 1.3 of its 2.1 s of processor
time. Nothing here uses them, so empty classes stand for them; the same is true of the module that defines them.
"""

import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from dowse.errors import UsageError

_LEFT_OUT = ("lance_namespace", "lance_namespace_urllib3_client")


class _EmptyModule(ModuleType):
    def __getattr__(self, name: str) -> type[Exception]:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (Exception,), {})  # some of the names are caught
        setattr(self, name, made)
        return made


class _EmptyModules(MetaPathFinder, Loader):
    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in _LEFT_OUT else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _EmptyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty."""


def import_lancedb(*, is_whole: bool = False) -> Any:
    """Return the module; UsageError without the extra. `is_whole` is for a LanceDB server, whose client needs all of it."""
    os.environ.setdefault("LANCEDB_LOG", "error")  # it reports each new table on stderr
    left_out = _EmptyModules()
    if not is_whole and "lancedb" not in sys.modules:
        sys.meta_path.insert(0, left_out)
    try:
        import lancedb
    except ImportError as error:
        raise UsageError(
            "The LanceDB store needs the extra lance. Install it with: pip install 'dowse[lance]'"
        ) from error
    finally:
        if left_out in sys.meta_path:
            sys.meta_path.remove(left_out)
    return lancedb

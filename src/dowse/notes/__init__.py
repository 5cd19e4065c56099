"""Named indexes that an assistant fills and searches itself."""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """This package, which is a function as well: `dowse.notes` is the public name of both, whichever comes first."""

    def __call__(self, name: str, **options: Any) -> Any:
        import dowse

        return dowse.Notes(name, **options)


sys.modules[__name__].__class__ = _CallablePackage

"""The public face of dowse in Python and in its settings: the names that a program imports, exit codes, error codes, settings.

`python -m tests.docs.public_face` records it in `public_face.json`, whose difference says how the version changes.
`tests/recording/golden` has the rest: commands and options (`help.txt`), tools (`offers.json`), stored files (`disk.txt`).
"""

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dowse as dowse_package
from dowse import errors
from dowse.settings import SETTING_FIELDS, Settings

RECORDED = Path(__file__).with_name("public_face.json")


def public_face() -> dict[str, Any]:
    """Return the names that a user or a program can depend on, which no recording of the product has."""
    return {
        "exit codes": sorted({error.exit_code for error in _error_classes()}),
        "error codes": sorted({error.code for error in _error_classes()}),
        "library": dict(_library()),
        "settings": {key: _plain(getattr(Settings(), field)) for key, field in sorted(SETTING_FIELDS.items())},
    }


def _error_classes() -> list[type[errors.DowseError]]:
    kinds = (value for value in vars(errors).values() if isinstance(value, type))
    return [kind for kind in kinds if issubclass(kind, errors.DowseError)]


def _library() -> Iterator[tuple[str, str]]:
    """Yield the public names of the package with their parameters; of a class, its methods and the fields of its values."""
    for name in dowse_package.__all__:
        value = getattr(dowse_package, name)
        if not isinstance(value, type):
            continue
        yield name, _parameters(value) if value.__name__ == name else value.__name__
        for method, function in inspect.getmembers(value, inspect.isfunction):
            if not method.startswith("_") and value.__name__ == name:
                yield f"{name}.{method}", _parameters(function)


def _parameters(function: Any) -> str:
    """Return the names and defaults of parameters; the types are written differently by each version of Python."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # an exception has none
        return ""
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(inspect.Signature(bare))


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else list(value)


def record() -> str:
    """Return the public face as it is recorded."""
    return json.dumps(public_face(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    RECORDED.write_text(record(), encoding="utf-8")

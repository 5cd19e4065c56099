"""Checks of the arguments of a call against the schema that the tool publishes.

The schemas use a small part of JSON Schema. Checking that part here is cheap, while importing a complete
JSON Schema library takes 110 ms.
"""

from collections.abc import Mapping
from typing import Any

from dowse.errors import InvalidArgument, UsageError
from dowse.mcp.tools import Schema, Tool

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_TYPE_NAMES = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def check_arguments(tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a call with defaults filled in; null means absent. Raise UsageError for a wrong one."""
    for name in arguments or {}:
        if name not in tool.arguments:
            known = ", ".join(tool.arguments) or "none"
            raise UsageError(f"{tool.name} has no argument {_display(name)}. It takes: {known}.")
    present = {name: value for name, value in (arguments or {}).items() if value is not None}
    for name in tool.required:
        if name not in present:
            raise InvalidArgument(name, f"{tool.name} needs the argument '{name}'.")
    for name, value in present.items():
        try:
            _check_value(name, value, tool.arguments[name])
        except UsageError as error:
            raise InvalidArgument(name, str(error)) from error
    return {
        name: _replace_surrogates(present.get(name, schema.get("default"))) for name, schema in tool.arguments.items()
    }


def _replace_surrogates(value: Any) -> Any:
    """Return a text that can be encoded: JSON may contain lone surrogates, which UTF-8 has no bytes for."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _check_value(name: str, value: Any, schema: Schema) -> None:
    kind = schema["type"]
    if not _has_type(value, kind):
        raise UsageError(f"{name} has to be {_TYPE_NAMES[kind]}, not {_display(value)}.")
    if "enum" in schema and value not in schema["enum"]:
        raise UsageError(f"{name} has to be one of {', '.join(schema['enum'])}, not {_display(value)}.")
    if kind in ("number", "integer"):
        _check_number(name, value, schema)
    if kind == "string":
        _check_length(name, value, schema)
    if kind == "array":
        for position, item in enumerate(value):
            _check_value(f"{name}[{position}]", item, schema["items"])


def _has_type(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and not (kind in ("number", "integer") and isinstance(value, bool))


def _check_number(name: str, value: float, schema: Schema) -> None:
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    if (minimum is not None and not value >= minimum) or (maximum is not None and not value <= maximum):
        bounds = f"between {minimum} and {maximum}" if maximum is not None else f"at least {minimum}"
        raise UsageError(f"{name} has to be {bounds}, not {_display(value)}.")
    if (schema["type"] == "integer" or schema.get("multipleOf") == 1) and _has_fraction(value):
        raise UsageError(f"{name} has to be a whole number, not {_display(value)}.")


def _has_fraction(value: Any) -> bool:
    return isinstance(value, float) and not value.is_integer()


def _check_length(name: str, value: str, schema: Schema) -> None:
    if len(value) > schema.get("maxLength", len(value)):
        raise UsageError(f"{name} has {len(value):,} characters; the maximum is {schema['maxLength']:,}.")
    if schema.get("minLength") and not value.strip():
        raise UsageError(f"{name} is empty. It needs a value.")


def _display(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 200:  # Python refuses to convert very long integers to text
        return "a number of more than 60 digits"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"

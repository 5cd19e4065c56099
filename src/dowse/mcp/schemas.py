"""Pieces of the schemas that several tools share, as short as they can be: every client reads them all."""

from dowse.mcp.tools import Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}
SCREENING: dict[str, Schema] = {"masked": TEXTS, "flags": TEXTS}
"""Of a hit: the kinds of secrets that are masked in it, and what it is to be read with care for."""


def describe(schema: Schema, description: str, **more: object) -> Schema:
    """A schema with its description and what else is to be said."""
    return {**schema, "description": description, **more}


def count(description: str, default: int, most: int, least: int = 1) -> Schema:
    """A whole number within bounds."""
    return describe(NUMBER, description, default=default, minimum=least, maximum=most, multipleOf=1)


def reply(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """An object that has these properties, and may have others; or an error.

    Clients built on the TypeScript SDK 1.x hold errors against this schema as well.
    """
    schema: Schema = {"type": "object", "properties": properties}
    if not required:
        return schema
    return {**schema, "anyOf": [{"required": list(required)}, {"required": ["code", "userMessage"]}]}


def item(required: tuple[str, ...], **properties: Schema) -> Schema:
    """An object within a reply."""
    return {"type": "object", "properties": properties, "required": list(required)}

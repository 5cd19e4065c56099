"""Parts of the JSON Schemas that several tools share. They are short because every client reads them all."""

from dowse.mcp.tools import Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
LIST: Schema = {"type": "array"}
OBJECT: Schema = {"type": "object"}
TEXTS: Schema = {"type": "array", "items": TEXT}
SCREENING: dict[str, Schema] = {"masked": {"type": "array"}, "flags": {"type": "array"}}
"""Fields of a hit: the kinds of secrets masked in it, and its content warnings."""


def describe(schema: Schema, description: str, **more: object) -> Schema:
    """Return a schema with a description and further keys."""
    return {**schema, "description": description, **more}


def query(description: str) -> Schema:
    """Return the schema of a query. Of a pasted log, the beginning is searched for, and the reply says so."""
    return describe(TEXT, description, minLength=1, maxLength=200_000)


def count(description: str, default: int, maximum: int, minimum: int = 1) -> Schema:
    """Return the schema of a whole number within bounds."""
    return describe(NUMBER, description, default=default, minimum=minimum, maximum=maximum, multipleOf=1)


def reply(required: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """Return the schema of a reply: an object with these properties and possibly others, or an error.

    Clients built on the TypeScript SDK 1.x check errors against this schema as well.
    """
    schema: Schema = {"type": "object", "properties": properties}
    if not required:
        return schema
    return {**schema, "anyOf": [{"required": list(required)}, {"required": ["code"]}]}


def item(required: tuple[str, ...], /, **properties: Schema) -> Schema:
    """Return the schema of an object within a reply."""
    return {"type": "object", "properties": properties, "required": list(required)}


def rows(required: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """Return the schema of a list of objects within a reply."""
    return {"type": "array", "items": item(required, **properties)}

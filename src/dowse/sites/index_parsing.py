"""Parsing of the JSON of an index."""

import json
from json.decoder import JSONDecodeError
from typing import Any

from dowse.errors import NotASiteIndex


def parse_index(data: bytes | bytearray) -> dict[str, Any]:
    """Return the root object of an index. Raise NotASiteIndex if there is none."""
    try:
        root = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise NotASiteIndex(
            f"It is not UTF-8: the byte at position {error.start:,} is invalid. Save it as UTF-8."
        ) from error
    except JSONDecodeError as error:
        raise NotASiteIndex(
            f"It is not JSON: {error.msg}, line {error.lineno:,} column {error.colno:,}. Generate the file again."
        ) from error
    except (RecursionError, ValueError) as error:  # thousands of brackets, or a number with thousands of digits
        raise NotASiteIndex(
            "It is nested too deeply, or has a number with thousands of digits. Generate the file again."
        ) from error
    if not isinstance(root, dict):
        raise NotASiteIndex("It is JSON, but not an object. An index begins with {.")
    return root

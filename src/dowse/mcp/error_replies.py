"""Errors as a client gets them: a code, a message for the user and one for the developer."""

import os
from typing import Any

from dowse.error_catalog import CATALOG, developer_message
from dowse.errors import CatalogError, DowseError, PathRefused, UsageError
from dowse.system.platform import storage_root


def error_reply(error: DowseError) -> dict[str, Any]:
    """Return the reply to a call that failed with this error."""
    if isinstance(error, UsageError):  # its own message says which argument is wrong
        message = without_storage_root(str(error))
        return {"code": error.code, "userMessage": message, "developerMessage": f"{error.code}: {error}"}
    if not isinstance(error, CatalogError):
        facts = error.facts if isinstance(error, PathRefused) else {}
        error = CatalogError(error.code if error.code in CATALOG else "FAILED", detail=str(error), **facts)
    developer = developer_message(error.code, error.facts)
    return {"code": error.code, "userMessage": str(error), "developerMessage": developer}


def without_storage_root(message: str) -> str:
    """Return a message for a user, in which paths of the storage root begin below it."""
    root = str(storage_root())
    return message.replace(f"{root}{os.sep}", "").replace(root, "the storage root")

"""Errors as a client gets them: a code, a message for the user and one for the developer."""

from typing import Any

from dowse.error_catalog import CATALOG, developer_message
from dowse.errors import CatalogError, DowseError, UsageError


def error_reply(error: DowseError) -> dict[str, Any]:
    """Return the reply to a call that failed with this error."""
    if isinstance(error, UsageError):  # its own message says which argument is wrong
        return {"code": error.code, "userMessage": str(error), "developerMessage": f"{error.code}: {error}"}
    if not isinstance(error, CatalogError):
        error = CatalogError(error.code if error.code in CATALOG else "FAILED", detail=str(error))
    developer = developer_message(error.code, error.facts)
    return {"code": error.code, "userMessage": str(error), "developerMessage": developer}

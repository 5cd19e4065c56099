"""Detection of the folders to serve when the user named none.

The client's roots come first, then the project around the working directory, then the answer of the user.
"""

import os
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from dowse.errors import CatalogError, DowseError, ProjectNotDetected
from dowse.keeping.served_index import Service
from dowse.mcp.tools import Call
from dowse.sources.roots import detect_root, is_too_wide

ROOT_QUESTION = "Could not detect project root.\n[1] Use current directory: {folder}\n[2] Enter a custom path"
ROOT_QUESTION_WITHOUT_FOLDER = "Could not detect project root. Enter the path of the project's directory."


async def find_roots(service: Service, call: Call, start: Path, *, may_ask: bool = True) -> None:
    """Add the detected projects to a service that has none; raise PROJECT_NOT_DETECTED if none can be detected."""
    can_ask = may_ask and call.can_ask
    await add_client_roots(service, call)
    if service.projects:
        return
    folder: Path | None = None
    try:
        detected = detect_root(start)
        folder = detected.path
        if detected.marker:
            _add(service, folder)
            return
    except ProjectNotDetected as error:
        if not can_ask:
            raise CatalogError("PROJECT_NOT_DETECTED", detail=str(error)) from error
    if can_ask:
        _add(service, await _ask_for_root(call, folder))
    elif folder:
        _add(service, folder)
        service.warnings.append(f"No project marker was found; the folder '{folder.name}' is used as the project.")


async def add_client_roots(service: Service, call: Call) -> None:
    """Serve the roots of the client."""
    for uri in await call.roots():
        parts = urlsplit(uri)
        folder = Path(url2pathname(parts.path))
        try:
            if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
                raise ProjectNotDetected("It is not on this machine.")
            service.add(_require_folder(folder))
        except DowseError:
            warning = f"A root of the client is not served: '{folder.name or folder}' is not a project folder."
            if warning not in service.warnings:
                service.warnings.append(warning)


def _add(service: Service, folder: Path) -> None:
    try:
        service.add(folder)
    except DowseError as error:
        raise CatalogError("PROJECT_NOT_DETECTED", detail=str(error)) from error


async def _ask_for_root(call: Call, folder: Path | None) -> Path:
    question = ROOT_QUESTION.format(folder=folder) if folder else ROOT_QUESTION_WITHOUT_FOLDER
    field = {"type": "string", "title": "Project directory", **({"default": str(folder)} if folder else {})}
    answer = await call.ask("root", question, {"path": field})
    path = str((answer or {}).get("path") or "").strip()
    if answer is None or not (path or folder):
        raise CatalogError("PROJECT_NOT_DETECTED", detail="The user did not name a directory.")
    if folder and path in ("", "1"):
        return folder
    try:
        return _require_folder(Path(path).expanduser())
    except (ProjectNotDetected, RuntimeError) as error:  # RuntimeError: the home of an unknown user
        raise CatalogError("PROJECT_NOT_DETECTED", detail=f"The answer is not a project directory. {error}") from error


def _require_folder(folder: Path) -> Path:
    """Return a folder if it may be served without being named on the command line."""
    if not folder.is_absolute() or not os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir raises without permission
        raise ProjectNotDetected("It is not the absolute path of a folder.")
    if is_too_wide(folder):
        raise ProjectNotDetected("A home directory or a whole disk is served only if it is named on the command line.")
    return folder

"""Which folders are served when none was named: the client's, the one around us, or the one a person says."""

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from dowse.errors import ProjectNotDetected
from dowse.serving.catalogue import CatalogueError
from dowse.serving.service import Service
from dowse.serving.tools import Call
from dowse.sources.roots import detect_root, is_too_wide

QUESTION = "Could not detect project root.\n[1] Use current directory: {folder}\n[2] Enter a custom path"
QUESTION_WITHOUT_FOLDER = "Could not detect project root. Enter the path of the project's directory."


async def find_roots(service: Service, call: Call, start: Path) -> None:
    """Give a service that has no project the ones that are meant; PROJECT_NOT_DETECTED where that cannot be known."""
    await take_client_roots(service, call)
    if service.projects:
        return
    folder: Path | None = None
    try:
        detected = detect_root(start)
        folder = detected.path
        if detected.marker:
            service.add(folder)
            return
    except ProjectNotDetected as error:
        if not call.can_ask:
            raise CatalogueError("PROJECT_NOT_DETECTED", detail=str(error)) from error
    if call.can_ask:
        service.add(await _asked(call, folder))
    elif folder:
        service.warnings.append(f"No project marker was found; '{folder.name}' itself is taken for the project.")
        service.add(folder)


async def take_client_roots(service: Service, call: Call) -> None:
    """Serve the folders that the client says it works in."""
    for uri in await call.roots():
        parts = urlsplit(uri)
        folder = Path(url2pathname(parts.path))
        if parts.scheme == "file" and folder.is_dir() and not is_too_wide(folder):
            service.add(folder)
        else:
            service.warnings.append(f"A root of the client is not served: '{folder.name}' is no project's folder.")


async def _asked(call: Call, folder: Path | None) -> Path:
    question = QUESTION.format(folder=folder) if folder else QUESTION_WITHOUT_FOLDER
    field = {"type": "string", "title": "Project directory", **({"default": str(folder)} if folder else {})}
    answer = await call.ask("root", question, {"path": field})
    said = str((answer or {}).get("path") or "").strip()
    if answer is None or not (said or folder):
        raise CatalogueError("PROJECT_NOT_DETECTED", detail="Nobody said which directory it is.")
    if folder and said in ("", "1"):
        return folder
    chosen = Path(said).expanduser()
    if not chosen.is_absolute() or not chosen.is_dir() or is_too_wide(chosen):
        detail = (
            "What was answered is no project's directory; a home or a whole disk has to be named on the command line."
        )
        raise CatalogueError("PROJECT_NOT_DETECTED", detail=detail)
    return chosen

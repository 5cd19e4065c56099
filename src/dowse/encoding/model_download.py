"""The download of the unchanged all-MiniLM-L6-v2 into the Hugging Face cache."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from dowse.encoding.model_locations import FILES, REPOSITORY, REVISION, ModelFile, snapshot_folder
from dowse.errors import DownloadFailed, Failed, ModelMissing, NotWritable, StoreBusy, UsageError
from dowse.system.https_client import DownloadRules, open_url, parse_url
from dowse.system.platform import Lock

STARTED_MESSAGE = "Downloading embedding model... (one-time, ~90MB)"
DONE_MESSAGE = "Done! Model cached for future use."
ENDPOINT = "https://huggingface.co"
ATTEMPTS = 3
PAUSE_SECONDS = 1.0
"""The pause before the second attempt; the pause before the third is twice as long."""
RULES = DownloadRules(idle_seconds=30, allows_loopback=True, uses_proxy=True)
"""An attempt fails when no byte arrives for half a minute; HF_ENDPOINT may name a mirror on this machine."""
LOCK_WAIT_SECONDS = 3600
"""How long to wait for another process that downloads the model."""


def download_model(say: Callable[[str], object], files: tuple[ModelFile, ...] = FILES) -> Path:
    """Return the folder with the files, and download missing ones first. Interrupted downloads resume.

    Raise ModelMissing with the problem if the download fails.
    """
    folder = snapshot_folder()
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise ModelMissing("The model cannot be downloaded because HF_HUB_OFFLINE is set.")
    parts = folder.parents[1] / "blobs"  # the Hugging Face tools keep partial files here, too
    try:
        for needed in (folder, parts):
            needed.mkdir(parents=True, exist_ok=True)
        with Lock(parts.with_name(".dowse.lock")).held(LOCK_WAIT_SECONDS):
            missing = [file for file in files if not file.is_at(folder / file.path)]
            if missing:
                say(STARTED_MESSAGE)
                for file in missing:
                    _fetch_file(file, folder, parts / f"{file.sha256}.incomplete")
                say(DONE_MESSAGE)
    except StoreBusy as error:
        raise ModelMissing("Another process has been downloading the model for an hour.") from error
    except NotWritable as error:
        raise ModelMissing(str(error)) from error
    except OSError as error:
        raise ModelMissing(f"{folder} cannot be written ({error.strerror or error}).") from error
    return folder


def _fetch_file(expected: ModelFile, folder: Path, part: Path) -> None:
    """Download one file in a few attempts; it gets its name only when it is complete."""
    url = f"{_endpoint()}/{REPOSITORY}/resolve/{REVISION}/{expected.path}"
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _resume_download(url, part, expected)
        except DownloadFailed as error:
            if attempt == ATTEMPTS:
                raise ModelMissing(f"{url}: {error}") from error
            time.sleep(PAUSE_SECONDS * attempt)
        except ModelMissing:
            raise
        except (Failed, UsageError) as error:
            raise ModelMissing(f"{url}: {error}") from error
        else:
            (folder / expected.path).parent.mkdir(exist_ok=True)
            part.replace(folder / expected.path)
            return


def _resume_download(url: str, part: Path, expected: ModelFile) -> None:
    """Download the rest of a file, and compare the whole file with the expected hash.

    Raise DownloadFailed if another attempt may succeed, and ModelMissing if not.
    """
    downloaded = part.stat().st_size if part.exists() else 0
    if downloaded >= expected.size:
        downloaded = 0
    with open_url(url, {"Range": f"bytes={downloaded}-"} if downloaded else {}, RULES) as reply:
        if reply.status not in (200, 206):
            is_final = reply.status < 500 and reply.status != 429
            message = f"the server answered {reply.status} {reply.reason}"
            raise ModelMissing(f"{url}: {message}") if is_final else DownloadFailed(message)
        is_resumed = downloaded > 0 and reply.status == 206
        with part.open("ab" if is_resumed else "wb") as file:
            try:
                for piece in reply.pieces():
                    file.write(piece)
                    if file.tell() > expected.size:
                        break
            finally:
                file.flush()
                os.fsync(file.fileno())
            arrived = file.tell()
    if arrived < expected.size:
        raise DownloadFailed("the connection ended too early")
    if arrived > expected.size or not expected.is_at(part):
        part.unlink()
        if is_resumed:  # its beginning may be wrong, so the whole file is downloaded again
            raise DownloadFailed("the file was damaged during the download")
        raise ModelMissing(f"{url} is not the expected file.")


def _endpoint() -> str:
    endpoint = (os.environ.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
    try:
        parse_url(endpoint, allows_loopback=True)
    except UsageError as error:
        raise ModelMissing(f"HF_ENDPOINT is {endpoint}, but the model is downloaded over https:// only.") from error
    return endpoint

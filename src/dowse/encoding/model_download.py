"""The download of the unchanged all-MiniLM-L6-v2 into the Hugging Face cache."""

import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from ssl import SSLError
from typing import IO, Any
from urllib.parse import urlsplit

from dowse.encoding.model_locations import REPOSITORIES, REVISION, sha256, snapshot_folder
from dowse.errors import ModelMissing, NotWritable, StoreBusy
from dowse.platform import Lock, write_atomically

STARTED_MESSAGE = "Downloading embedding model... (one-time, ~90MB)"
DONE_MESSAGE = "Done! Model cached for future use."
ENDPOINT = "https://huggingface.co"
ATTEMPTS = 3
PAUSE_SECONDS = 1.0
"""The pause before the second attempt; the pause before the third is twice as long."""
TIMEOUT_SECONDS = 30
"""An attempt fails when no byte arrives for this long."""
LOCK_WAIT_SECONDS = 3600
"""How long to wait for another process that downloads the model."""
READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of the repository, with its expected size and hash."""

    path: str
    size: int
    sha256: str


FILES = (
    ModelFile("config.json", 650, "7135149f7cffa1a573466c6e4d8423ed73b62fd2332c575bf738a0d033f70df7"),
    ModelFile("tokenizer.json", 711_661, "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"),
    ModelFile("onnx/model.onnx", 90_387_606, "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e"),
)
"""The pinned files; any other content is refused, whatever server it comes from."""


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
            missing = [file for file in files if not _is_downloaded(folder / file.path, file)]
            if missing:
                say(STARTED_MESSAGE)
                for file in missing:
                    _fetch_file(file, folder, parts / f"{file.sha256}.incomplete")
                _write_revision(folder)
                say(DONE_MESSAGE)
    except StoreBusy as error:
        raise ModelMissing("Another process has been downloading the model for an hour.") from error
    except NotWritable as error:
        raise ModelMissing(str(error)) from error
    except OSError as error:
        raise ModelMissing(f"{folder} cannot be written ({error.strerror or error}).") from error
    return folder


def _is_downloaded(path: Path, expected: ModelFile) -> bool:
    return path.is_file() and path.stat().st_size == expected.size and sha256(path) == expected.sha256


def _fetch_file(expected: ModelFile, folder: Path, part: Path) -> None:
    """Download one file in a few attempts; it gets its name only when it is complete."""
    url = f"{_endpoint()}/{REPOSITORIES[0]}/resolve/{REVISION}/{expected.path}"
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _resume_download(url, part, expected)
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, SSLError) as error:
            is_final = False
            if isinstance(error, urllib.error.HTTPError):
                error.close()
                is_final = error.code < 500 and error.code != 429
            if is_final or attempt == ATTEMPTS:
                raise ModelMissing(f"{url}: {_describe_error(error)}") from error
            time.sleep(PAUSE_SECONDS * attempt)
        else:
            (folder / expected.path).parent.mkdir(exist_ok=True)
            part.replace(folder / expected.path)
            return


def _resume_download(url: str, part: Path, expected: ModelFile) -> None:
    """Download the rest of a file, and compare the whole file with the expected hash."""
    downloaded = part.stat().st_size if part.exists() else 0
    if downloaded >= expected.size:
        downloaded = 0
    request = urllib.request.Request(url, headers={"User-Agent": "dowse"} | _range_header(downloaded))  # noqa: S310 - _is_safe
    with urllib.request.build_opener(_EncryptedRedirects).open(request, timeout=TIMEOUT_SECONDS) as reply:
        is_resumed = downloaded > 0 and reply.status == http.HTTPStatus.PARTIAL_CONTENT
        with part.open("ab" if is_resumed else "wb") as file:
            while (piece := reply.read(READ_BYTES)) and file.tell() <= expected.size:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            arrived = file.tell()
    if arrived < expected.size:
        raise http.client.IncompleteRead(b"", expected.size - arrived)
    if arrived > expected.size or sha256(part) != expected.sha256:
        part.unlink()
        if is_resumed:  # its beginning may be wrong, so the whole file is downloaded again
            raise http.client.HTTPException("the file was damaged during the download")
        raise ModelMissing(f"{url} is not the expected file.")


def _range_header(downloaded: int) -> dict[str, str]:
    return {"Range": f"bytes={downloaded}-"} if downloaded else {}


def _write_revision(folder: Path) -> None:
    """Make the snapshot known to the Hugging Face tools, unless they have a newer one."""
    ref = folder.parents[1] / "refs" / "main"
    if not ref.exists():
        ref.parent.mkdir(exist_ok=True)
        write_atomically(ref, REVISION.encode())


def _endpoint() -> str:
    endpoint = (os.environ.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
    if not _is_safe(endpoint):
        raise ModelMissing(f"HF_ENDPOINT is {endpoint}, but the model is downloaded over https:// only.")
    return endpoint


def _is_safe(url: str) -> bool:
    """Return whether a URL is encrypted or on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1"))


class _EncryptedRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never to an unencrypted URL."""

    def redirect_request(  # noqa: PLR0917 - the signature of the library
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if not _is_safe(newurl) or (req.full_url.startswith("https:") and not newurl.startswith("https:")):
            fp.close()
            raise ModelMissing(f"{req.full_url} redirects to {newurl}, which is not encrypted.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _describe_error(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, http.client.IncompleteRead):
        return "the connection ended too early"
    return str(getattr(error, "reason", "")) or str(error) or type(error).__name__

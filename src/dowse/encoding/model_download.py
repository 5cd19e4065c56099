"""Download the unchanged all-MiniLM-L6-v2 into the Hugging Face cache: once, whole or not at all."""

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
from dowse.errors import ModelMissing, StoreBusy
from dowse.platform import Lock, write_atomically

STARTED_MESSAGE = "Downloading embedding model... (one-time, ~90MB)"
DONE_MESSAGE = "Done! Model cached for future use."
ENDPOINT = "https://huggingface.co"
ATTEMPTS = 3
PAUSE_SECONDS = 1.0
"""Before the second attempt; twice that before the third."""
TIMEOUT_SECONDS = 30
"""Without a byte for so long, an attempt has failed."""
LOCK_WAIT_SECONDS = 3600
"""For another process that is downloading."""
READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of the repository as it has to arrive."""

    path: str
    size: int
    sha256: str


FILES = (
    ModelFile("config.json", 650, "7135149f7cffa1a573466c6e4d8423ed73b62fd2332c575bf738a0d033f70df7"),
    ModelFile("tokenizer.json", 711_661, "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"),
    ModelFile("onnx/model.onnx", 90_387_606, "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e"),
)
"""Pinned: another file than these is refused, whoever serves it."""


def download_model(say: Callable[[str], object], files: tuple[ModelFile, ...] = FILES) -> Path:
    """The folder that holds the files, or ModelMissing with what stood in the way. What was begun is gone on with."""
    folder = snapshot_folder()
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise ModelMissing("HF_HUB_OFFLINE forbids to download the model.")
    parts = folder.parents[1] / "blobs"  # where the Hugging Face tools have theirs
    try:
        for each in (folder, parts):
            each.mkdir(parents=True, exist_ok=True)
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
    except OSError as error:
        raise ModelMissing(f"{folder} cannot be written ({error.strerror or error}).") from error
    return folder


def _is_downloaded(path: Path, wanted: ModelFile) -> bool:
    return path.is_file() and path.stat().st_size == wanted.size and sha256(path) == wanted.sha256


def _fetch_file(wanted: ModelFile, folder: Path, part: Path) -> None:
    """One file, tried a few times; it stands under its name only when it is whole."""
    url = f"{_endpoint()}/{REPOSITORIES[0]}/resolve/{REVISION}/{wanted.path}"
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _resume_download(url, part, wanted)
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, SSLError) as error:
            is_final = False
            if isinstance(error, urllib.error.HTTPError):
                error.close()
                is_final = error.code < 500 and error.code != 429
            if is_final or attempt == ATTEMPTS:
                raise ModelMissing(f"{url}: {_describe_error(error)}") from error
            time.sleep(PAUSE_SECONDS * attempt)
        else:
            (folder / wanted.path).parent.mkdir(exist_ok=True)
            part.replace(folder / wanted.path)
            return


def _resume_download(url: str, part: Path, wanted: ModelFile) -> None:
    """Fetch what is still missing of a file, and compare the whole with what was expected."""
    begun = part.stat().st_size if part.exists() else 0
    if begun >= wanted.size:
        begun = 0
    request = urllib.request.Request(url, headers={"User-Agent": "dowse"} | _range_header(begun))  # noqa: S310 - _is_safe
    with urllib.request.build_opener(_EncryptedRedirects).open(request, timeout=TIMEOUT_SECONDS) as reply:
        is_rest = begun > 0 and reply.status == http.HTTPStatus.PARTIAL_CONTENT
        with part.open("ab" if is_rest else "wb") as file:
            while (piece := reply.read(READ_BYTES)) and file.tell() <= wanted.size:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            arrived = file.tell()
    if arrived < wanted.size:
        raise http.client.IncompleteRead(b"", wanted.size - arrived)
    if arrived > wanted.size or sha256(part) != wanted.sha256:
        part.unlink()
        if is_rest:  # its beginning may be what is wrong, so all of it is fetched anew
            raise http.client.HTTPException("it was damaged on the way")
        raise ModelMissing(f"{url} is not the file that was expected.")


def _range_header(begun: int) -> dict[str, str]:
    return {"Range": f"bytes={begun}-"} if begun else {}


def _write_revision(folder: Path) -> None:
    """Let the Hugging Face tools find the snapshot, unless they know a newer one."""
    ref = folder.parents[1] / "refs" / "main"
    if not ref.exists():
        ref.parent.mkdir(exist_ok=True)
        write_atomically(ref, REVISION.encode())


def _endpoint() -> str:
    endpoint = (os.environ.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
    if not _is_safe(endpoint):
        raise ModelMissing(f"HF_ENDPOINT is {endpoint}: the model comes over https:// only.")
    return endpoint


def _is_safe(url: str) -> bool:
    """Encrypted, or within this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1"))


class _EncryptedRedirects(urllib.request.HTTPRedirectHandler):
    """Follows, to where the bytes really lie, but never out of encryption."""

    def redirect_request(  # noqa: PLR0917 - the library's
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if not _is_safe(newurl) or (req.full_url.startswith("https:") and not newurl.startswith("https:")):
            fp.close()
            raise ModelMissing(f"{req.full_url} leads to {newurl}, which is not encrypted.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _describe_error(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, http.client.IncompleteRead):
        return "the connection ended too early"
    return str(getattr(error, "reason", "")) or str(error) or type(error).__name__

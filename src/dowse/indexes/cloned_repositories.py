"""Repositories by their address: git clones one commit into the storage root, and later calls fetch a newer one.

git sees no configuration of the user, runs no hook and no filter, follows no submodule and asks for no password.
"""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import Failed, LimitReached, NotIndexed, UsageError
from dowse.indexes.project_lookup import forget_project
from dowse.sources.denylist import CLONES
from dowse.store.storage_layout import folder_size
from dowse.system.platform import Lock, disk_errors, make_private_folder, storage_root

MAX_BYTES = 1_000_000_000
"""The most that the objects and the files of one commit may take together. Django's take 80 MB, Linux' 1.7 GB."""
MAX_SECONDS = 900.0
LOCK_SECONDS = 960.0
"""How long another process is waited for that clones the same repository."""
_LOOK_SECONDS = 0.1
"""Time between two looks at the size of a clone that git makes."""
_ADDRESS = re.compile(
    r"(?P<scheme>https|http|ssh|file)://(?P<user>[^/@]*@)?(?P<host>[\w.:\[\]-]*)(?P<path>/.*?[^/@])(?:@(?P<ref>[^@]+))?/?"
)
_REF = re.compile(r"\w(?!.*(?:\.\.|//|@\{))[\w./+-]*")
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?")
_SETTINGS = {
    "core.hooksPath": os.devnull, "core.symlinks": "false", "core.fsmonitor": "false", "core.autocrlf": "false",
    "credential.helper": "", "core.askPass": "", "gc.auto": "0", "protocol.allow": "never", "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false", "advice.detachedHead": "false",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RepositoryAddress:
    """The address of a repository, and the branch, tag or commit that is meant; empty for its main branch."""

    url: str
    scheme: str
    ref: str

    @property
    def folder(self) -> Path:
        """The folder of the clone, whose name is that of the repository."""
        name = self.url.rpartition("/")[2].removesuffix(".git") + (f"@{self.ref.replace('/', '-')}" if self.ref else "")
        digest = hashlib.sha256(f"{self.url}@{self.ref}".encode()).hexdigest()[:16]
        return storage_root() / CLONES / digest / name


def parse_address(text: str) -> RepositoryAddress:
    """Return the address that a text is: `https://host/owner/name`, perhaps with `@ref` after it."""
    found = _ADDRESS.fullmatch(text)
    if not found or (found["ref"] and not _REF.fullmatch(found["ref"])) or (found["host"] or "x").startswith("-"):
        raise UsageError(
            f"{text} is not the address of a repository, such as https://host/owner/name or …/name@branch."
        )
    scheme, user = found["scheme"], found["user"] or ""
    if scheme == "http" and not _LOOPBACK.fullmatch(found["host"]):
        raise UsageError(f"{text} is not encrypted. Write https://.")
    if user and (scheme != "ssh" or ":" in user):
        raise UsageError("An address with a name or password in it is not cloned. Use ssh://, or clone it yourself.")
    return RepositoryAddress(f"{scheme}://{user}{found['host']}{found['path']}", scheme, found["ref"] or "")


def clone_or_fetch(address: RepositoryAddress) -> tuple[Path, str]:
    """Return the folder of a clone of the newest commit; if that cannot be fetched, the one that is there, with a warning."""
    root = address.folder
    make_private_folder(root.parent)
    with Lock(root.parent / "clone.lock").held(LOCK_SECONDS), disk_errors(root.parent):
        if not (root / ".git").is_dir() or folder_size(root) > MAX_BYTES:
            _clone(address, root)
            return root, ""
        try:
            _fetch(address, root)
        except LimitReached:
            raise
        except Failed as error:
            fetched = time.strftime("%Y-%m-%d", time.gmtime((root / ".git" / "FETCH_HEAD").stat().st_mtime))
            return root, f"{error} The clone of {fetched} is searched."
    return root, ""


def forget_clone(address: RepositoryAddress) -> Path:
    """Delete the clone of a repository and its index; return where the clone was."""
    with contextlib.suppress(NotIndexed):
        forget_project(address.folder)
    if not address.folder.exists():
        raise NotIndexed(f"{address.url} is not cloned; there is nothing to forget.")
    with disk_errors(address.folder.parent):
        shutil.rmtree(address.folder.parent)
    return address.folder


def _clone(address: RepositoryAddress, root: Path) -> None:
    """Clone into a folder beside, so that no half of a clone is ever used."""
    with tempfile.TemporaryDirectory(prefix="new-", dir=root.parent) as new:
        _run_git(address, Path(new), "init", "--quiet", "--template=")
        _fetch(address, Path(new))
        shutil.rmtree(root, ignore_errors=True)
        Path(new).rename(root)
        Path(new).mkdir()  # which is removed


def _fetch(address: RepositoryAddress, folder: Path) -> None:
    """Fetch one commit without its history, and check it out."""
    wanted = [address.url, address.ref or "HEAD"]
    _run_git(address, folder, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", *wanted)
    _run_git(address, folder, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
    _run_git(address, folder, "clean", "-ffdxq")


def _run_git(address: RepositoryAddress, folder: Path, *arguments: str) -> None:
    """Run git in a folder; end it when that becomes too large or takes too long."""
    program = shutil.which("git")
    if program is None:
        raise Failed(f"{address.url} cannot be cloned: git is not installed.")
    settings = {**_SETTINGS, f"protocol.{address.scheme}.allow": "always"}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    deadline = time.monotonic() + MAX_SECONDS
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - our own arguments, no shell
            [program, *options, *arguments], cwd=folder, env=_environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
        )  # fmt: skip
        try:
            while process.poll() is None:
                if folder_size(folder) > MAX_BYTES:
                    raise LimitReached(f"{address.url} is not cloned: it has more than {MAX_BYTES // 10**6} MB.")
                if time.monotonic() > deadline:
                    raise Failed(f"{address.url} cannot be cloned: git took longer than {MAX_SECONDS:.0f} seconds.")
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_SECONDS)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            errors.seek(0)
            said = errors.read(10_000).decode("utf-8", "replace").strip().splitlines() or ["git gives no reason"]
            raise Failed(f"{address.url} cannot be fetched: {said[0].removeprefix('fatal: ').rstrip('.')}.")


def _environment() -> dict[str, str]:
    """Return the environment of git: nothing of the user's that names a program, and no way to ask."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_ASKPASS"))}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oPermitLocalCommand=no", "LC_ALL": "C",
    }  # fmt: skip

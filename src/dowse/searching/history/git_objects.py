"""Reading of a repository's objects by git, which sees nothing else of the repository.

git gets a folder of its own with settings of ours and links to the folders of objects alone. It never sees the
repository's configuration, hooks, attributes, replacements, grafts or list of other repositories to read from, so that
none of them can name a program or another file, and there is no remote to fetch from.
"""

import contextlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dowse.errors import Failed, NoHistory
from dowse.sources.repository import (
    GitFolders,
    find_git_folders,
    head_commit,
    read_rule_file,
    repository_around,
)
from dowse.system.sandbox import caged

GIT_SECONDS = 300.0
GIT_MEMORY_BYTES = 1 << 30
"""The writable memory of git. The history of the Linux kernel takes a fifth of it."""
MAX_ERROR_BYTES = 100_000
MAX_LOOSE_OBJECTS = 1_000_000
"""git packs objects once there are 7,000."""
CHUNK_BYTES = 1 << 16

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CONFIG = """[core]
repositoryformatversion = {version}
bare = {is_bare}
hooksPath = {nowhere}
attributesFile = {nowhere}
excludesFile = {nowhere}
fsmonitor = false
quotePath = false
symlinks = false
autocrlf = false
commitGraph = false
bigFileThreshold = 512k
[protocol]
allow = never
[gc]
auto = 0
[advice]
detachedHead = false
[diff]
renameLimit = 200
[log]
showSignature = false
mailmap = false
[i18n]
logOutputEncoding = UTF-8
"""
_SHA256 = "[extensions]\nobjectFormat = sha256\n"
_ATTRIBUTES = {
    "ada": "ads adb", "bash": "sh bash", "cpp": "c h cc cpp cxx hpp hh", "csharp": "cs", "css": "css scss",
    "elixir": "ex exs", "fortran": "f f90", "golang": "go", "html": "html", "java": "java", "kotlin": "kt kts",
    "markdown": "md", "matlab": "m", "pascal": "pas", "perl": "pl pm", "php": "php", "python": "py pyi",
    "ruby": "rb", "rust": "rs", "scheme": "scm", "tex": "tex",
}  # fmt: skip
"""The rules of git itself that find the function around a change, and the suffixes of the files that they are for."""


@dataclass(frozen=True, slots=True)
class GitRepository:
    """A repository whose objects may be read, seen from a root in it."""

    folders: GitFolders
    head: str
    """The commit that is checked out."""
    lead: str
    """The path from the top of the repository to the root; it ends in a slash, or is empty."""
    shallow: str
    """The commits of a shallow clone whose parents it lacks, one a line."""


def find_repository(root: Path) -> GitRepository:
    """Return the repository around a root; raise NoHistory if there is none whose history may be read."""
    around = repository_around(root.resolve())
    if around is None:
        raise NoHistory("git cannot read the history: the folder is not in a git repository.")
    folders = find_git_folders(around.top)
    if folders is None:
        raise NoHistory("git cannot read the history: .git leads to a folder that does not name this one in turn.")
    head = head_commit(folders)
    if not _COMMIT.fullmatch(head):
        raise NoHistory("git cannot read the history: the repository has no commits, or HEAD is broken.")
    _require_own_objects(folders.common / "objects")
    shallow = read_rule_file(folders.common, "shallow").decode("ascii", "replace").split()
    return GitRepository(folders, head, around.lead, "\n".join(filter(_COMMIT.fullmatch, shallow)))


def _require_own_objects(objects: Path) -> None:
    """Raise NoHistory if objects lie outside of the repository, or are not files that can be read at once."""
    count = 0
    for folder in (objects, *_object_folders(objects)):
        try:
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise NoHistory(f"git cannot read the history: {folder.name} of the repository is not a folder.")
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            continue
        count += len(entries)
        if any(entry.is_symlink() for entry in entries):
            raise NoHistory("git cannot read the history: objects of the repository are links to other files.")
        if folder != objects and not all(entry.is_file(follow_symlinks=False) for entry in entries):
            raise NoHistory("git cannot read the history: objects of the repository are not regular files.")
    if count > MAX_LOOSE_OBJECTS:
        raise NoHistory("git cannot read the history: the repository has too many loose objects. Run: git gc")
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        alternates = (objects / "info" / "alternates").lstat()
        if stat.S_ISREG(alternates.st_mode) and not alternates.st_size:
            return
        raise NoHistory(
            "git cannot read the history: the repository borrows objects of another one (objects/info/alternates). "
            "Copy them with: git repack -a -d, then remove that file."
        )


def _object_folders(objects: Path) -> Iterator[Path]:
    yield objects / "pack"
    yield from (objects / f"{number:02x}" for number in range(256))


_ABSOLUTE_PATH = re.compile(r"(?<![\w.])/[^\s:'\"]++")
"""A path from the root of the file system on."""


class GitObjects:
    """The objects of a repository, read by git through a folder of its own, in a cage where the system has one."""

    def __init__(self, repository: GitRepository, folder: Path, work_tree: Path | None = None) -> None:
        self.repository, self._folder = repository, folder
        program = shutil.which("git")
        if program is None or not Path(program).is_absolute():
            raise NoHistory("git is not installed, and the history cannot be read without it.")
        self._program = program
        self._readable = [str(repository.folders.common / "objects")]
        self._writable = [str(folder), *([str(work_tree)] if work_tree else ())]
        for name in ("objects", "refs", "info"):
            (folder / name).mkdir(parents=True)
        objects = repository.folders.common / "objects"
        borrowed = dict[str, str]()
        try:
            for part in filter(Path.is_dir, _object_folders(objects)):
                (folder / "objects" / part.name).symlink_to(part, target_is_directory=True)
        except OSError:  # a system on which not everybody may make links
            borrowed["GIT_OBJECT_DIRECTORY"] = str(objects)
        is_long = len(repository.head) == len("0" * 64)
        config = _CONFIG.format(version=int(is_long), is_bare=str(work_tree is None).lower(), nowhere=os.devnull)
        attributes = (
            f"*.{suffix} diff={name}" for name, suffixes in _ATTRIBUTES.items() for suffix in suffixes.split()
        )
        _write(folder / "HEAD", repository.head)
        _write(folder / "config", config + (_SHA256 if is_long else ""))
        _write(folder / "info" / "attributes", "\n".join(attributes))
        if repository.shallow:
            _write(folder / "shallow", repository.shallow)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self._environment = {
            **kept, **borrowed, "GIT_DIR": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C",
        }  # fmt: skip
        if work_tree:
            self._environment["GIT_WORK_TREE"] = str(work_tree)

    def output(self, *arguments: str, max_bytes: int) -> tuple[bytes, bool]:
        """Return what git prints, and whether it was cut at the maximum."""
        found = bytearray()
        with contextlib.closing(self.stream(*arguments)) as chunks:
            for chunk in chunks:
                found += chunk
                if len(found) > max_bytes:
                    return bytes(found[:max_bytes]), True
        return bytes(found), False

    def stream(self, *arguments: str, lines: Iterable[str] = (), seconds: float = GIT_SECONDS) -> Generator[bytes]:
        """Yield what git prints, and give it lines to read; raise Failed with its reason if it fails.

        git is ended after some seconds, and when the caller closes the iterator.
        """
        began = time.monotonic()
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
            given.write("".join(f"{line}\n" for line in lines).encode())
            given.seek(0)
            process = subprocess.Popen(  # noqa: S603 - our own arguments, no shell
                caged([self._program, *arguments], self._readable, self._writable),
                stdin=given, stdout=subprocess.PIPE, stderr=errors, env=self._environment, cwd=self._folder,
            )  # fmt: skip
            _limit_memory(process)
            limit = threading.Timer(seconds, process.kill)
            limit.start()
            try:
                with process:
                    try:
                        while chunk := os.read(process.stdout.fileno(), CHUNK_BYTES) if process.stdout else b"":
                            yield chunk
                    except GeneratorExit:
                        process.kill()
                        raise
            finally:
                limit.cancel()
            if process.returncode:
                is_late = time.monotonic() - began >= seconds
                raise Failed(
                    f"git cannot read the history: it took longer than {seconds:.0f} seconds." if is_late
                    else f"git cannot read the history: {self._without_places(_last_line(errors))}."
                )  # fmt: skip

    def _without_places(self, said: str) -> str:
        """Return what git said without the absolute paths of its program and of its folders."""
        for place, name in ((self._folder, ".git"), (self.repository.folders.common, ".git"), (self._program, "git")):
            said = said.replace(str(place), name)
        return _ABSOLUTE_PATH.sub("…", said)


@contextlib.contextmanager
def open_objects(repository: GitRepository) -> Iterator[GitObjects]:
    """Give a block the objects of a repository."""
    with tempfile.TemporaryDirectory(prefix="dowse-git-") as folder:
        yield GitObjects(repository, Path(folder))


def _limit_memory(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ImportError, AttributeError, OSError):  # a system without the call, or git has ended
        import resource

        resource.prlimit(process.pid, resource.RLIMIT_DATA, (GIT_MEMORY_BYTES, GIT_MEMORY_BYTES))


def _last_line(errors: BinaryIO) -> str:
    errors.seek(0)
    lines = errors.read(MAX_ERROR_BYTES).decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("fatal: ").rstrip(".") if lines else "git ended without a reason"


def _write(file: Path, text: str) -> None:
    file.write_text(f"{text}\n", encoding="utf-8")

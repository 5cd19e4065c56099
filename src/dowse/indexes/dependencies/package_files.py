"""The files of one package that may be read: by the policy of every root, with limits of their own."""

import contextlib
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from dowse.errors import PathRefused
from dowse.indexes.dependencies.package_types import Package
from dowse.indexes.dependencies.python_packages import owned_paths
from dowse.settings import Settings
from dowse.sources.policy import Folder, Form, Policy
from dowse.sources.project_files import ProjectFiles
from dowse.system.platform import stat_of
from dowse.types import Entry, FolderCallback, Kind, Reason, Rule, Stat, Verdict

MAX_FILES = 4_000
"""Files of a package that are read. Of the 166 packages of two real environments, one has more: an icon for each file."""
MAX_BYTES = 48 * 1024 * 1024
"""The size of all files of a package that are read."""
MAX_WALKED = 20_000
"""Files and folders of a package that are looked at."""
MAX_JAR_BYTES = 64 * 1024 * 1024
MAX_DIRECTORY_BYTES = 4 * 1024 * 1024
"""The size of the list of files in a jar: one of 20,000 files has half of that."""
DENIED_CATEGORIES = ("dependencies", "logs and locks", "IDE config", "testing")
"""Secrets and version control are denied everywhere. What a build makes is what a package consists of."""
EXCLUDED = (
    "**/*.map", "**/*.min.js", "**/*.min.css", "**/*.min.mjs", "**/RECORD", "**/WHEEL", "**/INSTALLER", "**/REQUESTED",
    "**/licenses/**", "**/LICENSE*", "**/locale/**", "**/locales/**/*.json", "**/.cargo-ok", "**/*.svg", "**/*.snap", "**/*.tsbuildinfo",
)  # fmt: skip
DOC_PATTERNS = (
    "**/*.md", "**/*.txt", "**/*.rst", "**/*.adoc", "**/*.rdoc", "**/METADATA", "**/CHANGES*", "**/CHANGELOG*", "**/HISTORY*",
)  # fmt: skip


def package_settings(user: Settings) -> Settings:
    """Return the settings of every package: none of its own files changes them.

    They have no vectors: the definitions that words find are compared by meaning when they are asked for.
    """
    return replace(
        Settings(), exclude=EXCLUDED, respect_gitignore=False, doc_patterns=DOC_PATTERNS, read_history=False,
        mask_secrets=user.mask_secrets, encoder="none",
    )  # fmt: skip


_SCRIPT = re.compile(r"(?P<stem>.+?)(?P<stub>(?:\.d)?)\.(?P<module>[cm]?)(?P<type>[jt]s)")
_SOURCE = re.compile(r"(?:src|lib)/.*(?<!\.d)\.[cm]?[jt]s$")
_BUILD = re.compile(r"^(?:dist|umd|cjs|esm|build|bundles?)/")


class PackagePolicy(Policy):
    """The policy of a package, which may share its root with others."""

    owned: tuple[str, ...] = ()
    """The files and folders of the root that are the package's; all if there are none."""

    def refusal(self, folder: Folder, name: str, form: Form) -> Verdict | None:
        """Return the verdict against an entry of a folder, which may belong to another package."""
        path = folder.path + name
        if self.owned and not any(_overlap(path, one) for one in self.owned):
            return Verdict(path, Reason.EXCLUDED, Rule(path, "files of other packages"))
        return super().refusal(folder, name, form)


def _overlap(path: str, owned: str) -> bool:
    return path == owned or path.startswith(f"{owned}/") or owned.startswith(f"{path}/")


class PackageFiles(ProjectFiles):
    """The files of a package in a folder."""

    policy_type = PackagePolicy

    def __init__(self, package: Package, settings: Settings) -> None:
        super().__init__(package.root, settings, DENIED_CATEGORIES)
        if package.metadata and isinstance(self._policy, PackagePolicy):
            self._policy.owned = owned_paths(package)

    def entries(self, below: str = "", on_folder: FolderCallback | None = None) -> Iterator[Entry | Verdict]:
        """Yield the files below the root or one path, until a limit is reached."""
        owned = self._policy.owned if isinstance(self._policy, PackagePolicy) else ()
        in_order = sorted(owned, key=lambda path: f"{path}/" if (self.root / path).is_dir() else path)  # as a walk is
        tops = [below] if below else in_order or [""]
        walked = (found for top in tops for found in super(PackageFiles, self).entries(top, on_folder))
        found = list(islice(walked, MAX_WALKED))
        builds = second_builds([one.path for one in found if isinstance(one, Entry)])
        return _within_limits(one for one in found if one.path not in builds)


def second_builds(paths: Collection[str]) -> frozenset[str]:
    """Return the files of JavaScript that a build made of other files of the same package."""
    known = frozenset(paths)
    has_source = any(_SOURCE.match(path) for path in paths)
    return frozenset(
        path
        for path in paths
        if (match := _SCRIPT.fullmatch(path))
        and (
            (has_source and _BUILD.search(path) and not match["stub"])
            or (match["module"] and f"{match['stem']}{match['stub']}.{match['type']}" in known)
            or f"src/{match['stem']}.ts" in known
        )
    )


def _within_limits(found: Iterator[Entry | Verdict]) -> Iterator[Entry | Verdict]:
    files, size = 0, 0
    for one in islice(found, MAX_WALKED):
        if isinstance(one, Entry):
            files, size = files + 1, size + one.stat.size
            if files > MAX_FILES or size > MAX_BYTES:
                return
        yield one


class JarFiles(ProjectFiles):
    """The files in the source jar of a package, which are read without unpacking the others."""

    policy_type = PackagePolicy

    def __init__(self, package: Package, settings: Settings) -> None:
        super().__init__(package.root.parent, settings, DENIED_CATEGORIES)
        self.root = package.root

    @cached_property
    def _members(self) -> dict[str, zipfile.ZipInfo]:
        """The files of the jar by path; none if it is damaged, too large or has too many."""
        with contextlib.suppress(*_JAR_ERRORS), _open_jar(self.root) as jar:
            members = jar.infolist()[:MAX_WALKED]
            return {one.filename: one for one in members if not one.is_dir() and _is_plain(one.filename)}
        return {}

    def entries(self, below: str = "", on_folder: FolderCallback | None = None) -> Iterator[Entry | Verdict]:  # noqa: ARG002 - a jar has no folders to watch
        """Yield the files of the jar, or those below a folder of it, sorted by path, until a limit is reached."""
        prefix = f"{below.strip('/')}/" if below.strip("/") else ""
        return _within_limits(self._decide(path) for path in sorted(self._members) if path.startswith(prefix))

    def entry(self, path: str) -> Entry | Verdict:
        """Return one file of the jar, or the verdict against it."""
        if path not in self._members and any(one.startswith(f"{path}/" if path else "") for one in self._members):
            return Verdict(path, None, detail="a folder")
        return self._decide(path)

    entry_at = entry

    def _decide(self, path: str) -> Entry | Verdict:
        if (member := self._members.get(path)) is None:
            return Verdict(path, Reason.VANISHED, detail="no such file")
        if rule := self._policy.deny.rule_against(path):
            return Verdict(path, Reason.DENIED, rule)
        kind: Kind | Verdict = self._policy.kind_of(path, member.file_size)
        return kind if isinstance(kind, Verdict) else Entry(path, kind, self._stat(member))

    def _stat(self, member: zipfile.ZipInfo) -> Stat:
        jar = stat_of(self.root.stat())
        return replace(jar, size=member.file_size)

    def _read_unchanged(self, path: str) -> tuple[bytes, Stat]:
        member = self._members.get(path)
        if member is None:
            raise FileNotFoundError(path)
        try:
            with _open_jar(self.root) as jar, jar.open(member) as unpacked:
                return unpacked.read(self.settings.max_file_bytes + 1), self._stat(member)
        except _JAR_ERRORS as error:
            raise OSError(f"{path} cannot be unpacked ({error})") from error


_JAR_ERRORS = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OSError,
    PathRefused,
)  # fmt: skip


def _open_jar(file: Path) -> zipfile.ZipFile:
    """Open a jar whose list of files is not too long; it is read as a whole."""
    seen = file.lstat()
    if not stat.S_ISREG(seen.st_mode) or seen.st_size > MAX_JAR_BYTES:
        raise PathRefused(f"{file} is no regular file or too large.")
    with file.open("rb") as stream:
        stream.seek(-min(seen.st_size, 65_557), os.SEEK_END)
        end = stream.read()
    at = end.rfind(b"PK\x05\x06")
    is_large = b"PK\x06\x06" in end or b"PK\x06\x07" in end
    if at < 0 or is_large or struct.unpack_from("<I", end, at + 12)[0] > MAX_DIRECTORY_BYTES:
        raise PathRefused(f"{file} is no archive whose list of files can be read.")
    return zipfile.ZipFile(file)


def _is_plain(path: str) -> bool:
    return not path.startswith("/") and "\\" not in path and not {"", ".", ".."} & set(path.split("/"))

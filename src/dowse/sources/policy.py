"""The policy that decides which folders are entered and which files are read, and gives the reason if not.

The checks run in this order: deny list, the user's `exclude`, ignore files, symlinks and special
files, nested repositories, depth; then for files: binary by name, size, `include`, docs. The
content is checked last, when a file is read: binary, a private key. The rules apply below the root
and not to the root itself, but a folder of secrets, a repository's own folder or dowse's storage
cannot be a root.
"""

import codecs
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from pathlib import Path

from dowse.errors import Failed, TooManyRules
from dowse.globs import compile_glob, to_path_glob
from dowse.reading.languages import is_binary_document
from dowse.settings import Settings
from dowse.sources.denylist import DenyList
from dowse.sources.ignore_stack import DOWSEIGNORE_FILE, GITIGNORE_FILE, IgnoreStack, RuleFiles
from dowse.sources.repository import Repository, is_repository, repository_around, repository_at
from dowse.sources.roots import require_allowed_root, resolve_storage
from dowse.types import Entry, Kind, Reason, Rule, Stat, Verdict, View
from dowse.visible_text import printable_path

MAX_DEPTH = 20
"""The number of folders below the root that are entered on the way to a file."""
MAX_CONVERTED_BYTES = 20 * 1024 * 1024
"""The largest PDF or Office file that is read; most of such a file is pictures, not text."""

RULE_NAMES = (".git", GITIGNORE_FILE, DOWSEIGNORE_FILE)
"""The names in a folder that have to be known before the folder is entered."""

_BECAUSE = "because of its folder"


class Form(Enum):
    """The form of a file system entry."""

    FILE = auto()
    FOLDER = auto()
    SYMLINK = auto()
    SPECIAL = auto()


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that was entered. Its path is empty for the root; other paths end in a slash."""

    path: str
    encoded: bytes
    depth: int
    ignores: IgnoreStack
    repository: Repository | None
    is_hidden: bool = False
    """Whether it is hidden, where only some of the views show hidden files."""


class Policy:
    """The rules for the files of one root, under its settings."""

    views = View.PROJECT
    """The views that show the files."""
    skips_hidden = False
    """Whether files and folders whose name begins with a dot are left out, unless `.dowseignore` re-includes them."""

    def __init__(self, root: Path, settings: Settings, deny_categories: Collection[str] | None = None) -> None:
        require_allowed_root(root)
        self.root = root.resolve()
        self.settings = settings
        self.deny = DenyList(deny_categories, root=self.root, storage=resolve_storage())
        self._exclude = PatternList(settings.exclude, "exclude")
        self._include = PatternList(settings.include, "include")
        self._docs = PatternList(settings.doc_patterns, "docPatterns", folds_case=True)
        self._files = RuleFiles(self.root, respects_git=settings.respect_gitignore)

    def open_root(self, names: Collection[str]) -> Folder:
        """Return the root as a folder; `names` are the `RULE_NAMES` that it contains."""
        repository = repository_around(self.root)
        try:
            above = replace(self._files.read_above_root(repository), skips_hidden=self.skips_hidden)
            ignores = self._files.add_folder_rules(above, "", names)
        except TooManyRules as error:
            raise Failed(f"{printable_path(str(self.root))}: {error}. Shorten that file, and try again.") from error
        return Folder("", b"", 0, ignores, repository)

    def rule_files_outside(self) -> tuple[Path, ...]:
        """Return the files outside the root's own folders that also decide about its files; they need not exist."""
        return self._files.files_outside(repository_around(self.root))

    def has_new_rules(self) -> bool:
        """Return whether rules have changed that a repository keeps outside its folders."""
        return self._files.have_changed()

    def refusal(self, folder: Folder, name: str, form: Form) -> Verdict | None:
        """Return the verdict against an entry of a folder by its name and form alone, or None."""
        is_folder = form is Form.FOLDER
        path = folder.path + name
        try:
            encoded = name.encode()
        except UnicodeEncodeError:
            return _make_verdict(printable_path(path), form, Reason.BAD_NAME)
        if rule := self.deny.rule_against_last_part(path, is_folder=is_folder):
            return _make_verdict(path, form, Reason.DENIED, rule)
        if rule := self._exclude.rule_for_folder(path) if is_folder else self._exclude.rule_for_file(path):
            return _make_verdict(path, form, Reason.EXCLUDED, rule)
        if ignored := folder.ignores.find_ignored(folder.encoded + encoded, encoded, is_folder=is_folder):
            return _make_verdict(path, form, ignored.reason, ignored.rule, _because_of_folder(ignored.folder))
        if form is Form.SYMLINK:
            return Verdict(path, Reason.SYMLINK, detail="symbolic links are not followed")
        return Verdict(path, Reason.SPECIAL) if form is Form.SPECIAL else None

    def enter(self, folder: Folder, name: str, names: Collection[str]) -> Folder | Verdict:
        """Enter a folder that is not refused; `names` are the `RULE_NAMES` that it contains."""
        path = f"{folder.path}{name}/"
        is_top = ".git" in names and is_repository(self.root / path)
        if is_top and folder.repository and not folder.repository.names_submodule(path[:-1]):
            detail = "a separate repository that is not in .gitmodules"
            return Verdict(path, Reason.NESTED_REPOSITORY, Rule(".git", f"{path}.git"), detail)
        if folder.depth >= MAX_DEPTH:
            return Verdict(path, Reason.TOO_DEEP, detail=f"more than {MAX_DEPTH} folders below the root")
        try:
            return self._make_folder(folder, path, name, names, is_top=is_top)
        except TooManyRules as error:
            return Verdict(path, Reason.UNREADABLE, detail=str(error))

    def _make_folder(self, above: Folder, path: str, name: str, names: Collection[str], *, is_top: bool) -> Folder:
        encoded = path.encode()
        ignores, repository = above.ignores.enter_folder(encoded[:-1], name.encode(), path), above.repository
        if is_top:
            repository = repository_at(self.root / path, cut=path)
            ignores = replace(ignores, git=self._files.read_repository_rules(repository))
        return Folder(path, encoded, above.depth + 1, self._files.add_folder_rules(ignores, path, names), repository)

    def kind_of(self, path: str, size: int) -> Kind | Verdict:
        """Return the kind of a file that is not refused, or the verdict against it, without reading it."""
        is_document = is_binary_document(path)
        if not is_document and (suffix := binary_suffix(path[path.rfind("/") + 1 :])):
            return Verdict(path, Reason.BINARY, Rule(f"*{suffix}", "built-in list of binary files"))
        if refusal := self._size_or_include_refusal(path, size):
            return refusal
        if (rule := self._docs.rule_for_file(path)) is None and not is_document:
            return "code"
        return "docs" if self.settings.index_docs else Verdict(path, Reason.DOCS_OFF, rule, "indexDocs is false")

    def _size_or_include_refusal(self, path: str, size: int) -> Verdict | None:
        if size > self.max_bytes_for(path):
            return self.too_large_verdict(path, size)
        return None if self.includes(path) else Verdict(path, Reason.NOT_INCLUDED, self._include.as_one_rule())

    def includes(self, path: str) -> bool:
        """Return whether the user's `include` names a file."""
        return self._include.is_everything or self._include.rule_for_file(path) is not None

    def entry(self, folder: Folder, name: str, stat: Stat) -> Entry | Verdict:
        """Return the entry of a file that is not refused, or the verdict against it by its stat."""
        kind = self.kind_of(folder.path + name, stat.size)
        return kind if isinstance(kind, Verdict) else Entry(folder.path + name, kind, stat, self.views)

    def content_refusal(self, path: str, data: bytes, size: int) -> Verdict | None:
        """Return the verdict against a file with these bytes, or None. PDF and Office files may hold any bytes."""
        if not is_binary_document(path):
            if (position := find_nul_byte(data)) is not None:
                return Verdict(path, Reason.BINARY, detail=f"a NUL byte at offset {position}")
            if refusal := self.key_refusal(path, data):
                return refusal
        return self.too_large_verdict(path, max(size, len(data))) if len(data) > self.max_bytes_for(path) else None

    def key_refusal(self, path: str, data: bytes) -> Verdict | None:
        """Return the verdict against a file that is a private key, judged by its bytes or its converted text."""
        rule = self.deny.rule_against_content(data)
        return Verdict(path, Reason.DENIED, rule, "the file is a private key") if rule else None

    def max_bytes_for(self, path: str) -> int:
        """Return the maximum size of a file at this path."""
        return MAX_CONVERTED_BYTES if is_binary_document(path) else self.settings.max_file_bytes

    def too_large_verdict(self, path: str, size: int) -> Verdict:
        """Return the verdict against a file that is larger than the settings allow."""
        limit = self.max_bytes_for(path)
        detail = f"{_format_size(size)}, the limit is {_format_size(limit)}"
        return Verdict(path, Reason.TOO_LARGE, Rule("maxFileSize", "config.json"), detail)


def verdict_below_folder(path: str, folder: Verdict) -> Verdict:
    """Return the verdict against a path below a folder that is left out."""
    detail = folder.detail if folder.detail.startswith(_BECAUSE) else _because_of_folder(folder.path, folder.detail)
    return Verdict(path, folder.reason, folder.rule, detail)


def _because_of_folder(folder: str, why: str = "") -> str:
    return f"{_BECAUSE} {folder.rstrip('/')}/" + (f": {why}" if why else "") if folder else ""


def _make_verdict(path: str, form: Form, reason: Reason, rule: Rule | None = None, detail: str = "") -> Verdict:
    return Verdict(f"{path}/" if form is Form.FOLDER else path, reason, rule, detail)


def _format_size(size: int) -> str:
    """Format a number of bytes: 1 MB, 1.4 MB, 500 KB."""
    megabytes = size / 1024 / 1024
    text, unit = (f"{megabytes:.1f}", "MB") if megabytes >= 1 else (f"{size / 1024:.1f}", "KB")
    return f"{text.removesuffix('.0')} {unit}"


_MATCH_ALL_PATTERNS = ("**", "**/*", "*")


class PatternList:
    """The list of patterns under one key of the settings.

    With `folds_case` a pattern matches in any letter case: `**/*.md` also matches `README.MD`.
    """

    def __init__(self, patterns: tuple[str, ...], key: str, *, folds_case: bool = False) -> None:
        self._origin = f"config.json ({key})"
        self._patterns = patterns
        flags = re.IGNORECASE if folds_case else re.NOFLAG
        self._files = [(pattern, _compile_for_files(pattern, flags)) for pattern in patterns]
        self._folders = [(pattern, compile_glob(to_path_glob(pattern).removesuffix("/**"))) for pattern in patterns]
        self.is_everything = any(pattern in _MATCH_ALL_PATTERNS for pattern in patterns)

    def rule_for_file(self, path: str) -> Rule | None:
        """Return the first pattern that matches a file."""
        return self._first(self._files, path)

    def rule_for_folder(self, path: str) -> Rule | None:
        """Return the first pattern that matches a folder with everything below it."""
        return self._first(self._folders, path)

    def as_one_rule(self) -> Rule:
        """Return all patterns as one rule, for a file that matches none of them."""
        return Rule(", ".join(self._patterns), self._origin)

    def _first(self, patterns: list[tuple[str, re.Pattern[str]]], path: str) -> Rule | None:
        found = (Rule(pattern, self._origin) for pattern, expression in patterns if expression.fullmatch(path))
        return next(found, None)


def _compile_for_files(pattern: str, flags: int) -> re.Pattern[str]:
    """Compile a pattern for files; one that ends in a slash matches the files in such a folder."""
    glob = compile_glob(f"{to_path_glob(pattern)}/**" if pattern.endswith("/") else to_path_glob(pattern))
    return re.compile(glob.pattern, glob.flags | flags)


HEAD_BYTES = 8192
_WIDE_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


@cache
def _suffixes() -> frozenset[str]:
    lines = Path(__file__).with_name("binary_suffixes.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(suffix for line in lines if not line.startswith("#") for suffix in line.split())


def binary_suffix(name: str) -> str | None:
    """Return the extension of a name if only binary files have it."""
    dot = name.rfind(".")
    suffix = name[dot:].lower() if dot > 0 else ""
    return suffix if suffix in _suffixes() else None


def find_nul_byte(data: bytes) -> int | None:
    """Return the position of a NUL byte in the first 8 KB; None also for UTF-16 and UTF-32 with a byte order mark."""
    if data.startswith(_WIDE_BOMS):
        return None
    position = data.find(b"\0", 0, HEAD_BYTES)
    return position if position >= 0 else None

"""The files of a project that the policy allows, opened so that no other file can be read."""

import hashlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from dowse.errors import PathRefused
from dowse.reading.languages import detect_language, is_binary_document
from dowse.settings import Settings
from dowse.sources.open_folders import OpenFolders
from dowse.sources.path_decision import (
    PathDecision,
    decide_normalized_path,
    decide_path,
    find_reinclusion,
    verdict_for_os_error,
    walk,
)
from dowse.sources.policy import HEAD_BYTES, Folder, Policy
from dowse.system.platform import open_beneath, read_at_most, stat_of
from dowse.types import Entry, FileContent, FolderCallback, Kind, Reason, Rule, Stat, Verdict, View

MAX_PICTURE_BYTES = 10 * 1024 * 1024
_JPEG = ("image/jpeg", (b"\xff\xd8\xff",))
_TYPES: dict[str, tuple[str, tuple[bytes, ...]]] = {
    ".png": ("image/png", (b"\x89PNG\r\n\x1a\n",)), ".jpg": _JPEG, ".jpeg": _JPEG, ".gif": ("image/gif", (b"GIF87a", b"GIF89a")),
    ".webp": ("image/webp", (b"RIFF",)), ".svg": ("image/svg+xml", (b"<",)),
}  # fmt: skip
"""The types of pictures that are shown by their extensions, each with the bytes with which such a file begins."""
_NO_TEXT = (Reason.BINARY, Reason.NOT_INCLUDED)
"""The policy refuses every picture for one of these reasons. They are not held against it: it is shown, not searched."""


def picture_type(path: str) -> str | None:
    """Return the type of a picture by its name; None for any other file."""
    found = _TYPES.get(path[path.rfind(".") :].lower())
    return found[0] if found else None


_READ_ATTEMPTS = 4
"""How often a file is read that changes meanwhile. The last attempt is kept with the stat from before it, so the next
scan sees the change."""


class ProjectFiles:
    """The files below one root.

    Raise PathRefused for a root that is not allowed. Raise Failed for a root that cannot be read, now or
    later: it must never look like an empty project.
    """

    policy_type = Policy
    views = View.PROJECT
    parser_jobs = "dowse.parsing.parser_jobs"
    """The module whose jobs read the files in a parser process."""

    def __init__(self, root: Path, settings: Settings, deny_categories: Collection[str] | None = None) -> None:
        self._policy = self.policy_type(root, settings, deny_categories)
        self.root = self._policy.root
        self.settings = settings

    def rule_files_outside(self) -> tuple[Path, ...]:
        """Return the files whose changes no watcher of the root reports, and that decide about its files."""
        return self._policy.rule_files_outside()

    def has_new_rules(self) -> bool:
        """Return whether rules have changed that a repository keeps outside its folders."""
        return self._policy.has_new_rules()

    def entries(self, below: str = "", on_folder: FolderCallback | None = None) -> Iterator[Entry | Verdict]:
        """Yield everything below the root or below one path, sorted by path.

        Call `on_folder` for each folder that may be entered, before its files and its rules are read.
        """
        decision = decide_path(self._policy, below)
        if on_folder and isinstance(decision, Folder):
            on_folder(decision.path)
            decision = decide_path(self._policy, below)
        if isinstance(decision, Folder):
            yield from walk(self._policy, decision, on_folder)
        else:
            yield decision

    def entry(self, path: str) -> Entry | Verdict:
        """Return one file as the walk would see it now. A folder gives a verdict without a reason."""
        return _entry_or_verdict(decide_path(self._policy, path))

    def entry_at(self, path: str) -> Entry | Verdict:
        """Return one file like `entry`, but accept only the spelling that the walk uses."""
        return _entry_or_verdict(decide_normalized_path(self._policy, path))

    def verdict(self, path: str) -> Verdict:
        """Return the decision about a path in any spelling, including the check of the file's content.

        The rule of an allowed file is the one of `.dowseignore` that re-includes it, if git ignores it.
        """
        entry = self.entry(path)
        if isinstance(entry, Verdict):
            return entry
        content = self._read_allowed(entry.path)
        if isinstance(content, Verdict):
            return content
        if (found := find_reinclusion(self._policy, entry.path)) is None:
            return Verdict(entry.path, None)
        rule, overruled = found
        line = f", line {overruled.line}" if overruled.line else ""
        detail = f"re-included; ignored by {overruled.pattern} ({overruled.origin}{line})"
        return Verdict(entry.path, None, rule, detail)

    def read_path(self, path: str) -> list[FileContent] | Verdict:
        """Read one file now by its path, if the whole policy allows it."""
        entry = self.entry(path)
        return entry if isinstance(entry, Verdict) else self.read(entry)

    def read(self, entry: Entry) -> list[FileContent] | Verdict:
        """Read one file that the walk returned and return its representations, or the verdict against it."""
        content = self._read_allowed(entry.path)
        if isinstance(content, Verdict):
            return content
        data, stat = content
        digest = hashlib.sha256(data).digest()
        return [
            FileContent(entry.path, kind, _language(entry.path, views, kind, data), stat, digest, data, views)
            for views, kind in entry.representations
        ]

    def compared_path(self, path: str) -> str:
        """Return the path that is compared with the index after a change of another: that of the document or its folder."""
        return path

    def is_as_written(self, content: FileContent) -> bool:
        """Return whether the bytes of a file are the text that its readers see."""
        from dowse.reading.file_reading import shared_language  # imports readers, which a project does not need

        return not content.is_converted or shared_language(content.path) is not None

    def read_picture(self, path: str) -> tuple[bytes, str] | Verdict:
        """Return the bytes of a picture that documents show and its type, or the verdict against it."""
        kind, signatures = _TYPES.get(path[path.rfind(".") :].lower(), ("", ()))
        if not kind or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
            return Verdict(path, Reason.NOT_INCLUDED, detail="not a picture")
        decision = ProjectFiles.entry_at(self, path)  # an archive also says whether a file is a document
        if isinstance(decision, Verdict) and decision.reason not in _NO_TEXT:
            return decision
        if not self._policy.includes(path):
            return Verdict(path, Reason.NOT_INCLUDED)
        try:
            with open_beneath(self.root, path) as descriptor:
                data = read_at_most(descriptor, MAX_PICTURE_BYTES + 1)
        except OSError as error:
            return verdict_for_os_error(path, error)
        if len(data) > MAX_PICTURE_BYTES:
            return Verdict(path, Reason.TOO_LARGE)
        if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(signatures):
            return Verdict(path, Reason.NOT_INCLUDED, detail="not a picture")
        return self._policy.key_refusal(path, data) or (data, kind)

    def is_binary(self, path: str) -> bool:
        """Return whether the bytes of a document say nothing about its words before it is converted."""
        return is_binary_document(path)

    def text_refusal(self, path: str, text: str) -> Verdict | None:
        """Return the verdict against a file that was converted to this text, or None."""
        is_binary = is_binary_document(path)
        return self._policy.key_refusal(path, text.encode("utf-8", "replace")) if is_binary else None

    def read_bytes(self, path: str) -> tuple[bytes, Stat]:
        """Return a file's bytes, at most one more than the limit, with their stat.

        The path is one that the walk returned. Raise OSError when the file no longer exists or is no longer
        a regular file, PathRefused when it is never read.
        """
        deny = self._policy.deny
        self._raise_if_denied(path, deny.rule_against(path))
        data, stat = self._read_unchanged(path)
        self._raise_if_denied(path, deny.rule_against_content(data))
        return data, stat

    def read_if_allowed(self, path: str) -> tuple[bytes, Stat]:
        """Return what `read_bytes` does, if the whole policy allows the file now; raise PathRefused otherwise."""
        decision = self.entry_at(path)
        if isinstance(decision, Verdict):
            raise PathRefused(f"{path} is not read now: {decision.reason}.")
        return self.read_bytes(path)

    def _raise_if_denied(self, path: str, rule: Rule | None) -> None:
        if rule:
            raise PathRefused(f"{path} is never read ({rule.pattern}, {rule.origin}).")

    def _read_allowed(self, path: str) -> tuple[bytes, Stat] | Verdict:
        if rule := self._policy.deny.rule_against(path):
            return Verdict(path, Reason.DENIED, rule)
        try:
            data, stat = self._read_unchanged(path)
        except OSError as error:
            OpenFolders(self.root).leave()  # raises Failed when the root itself is gone
            return verdict_for_os_error(path, error)
        return self._policy.content_refusal(path, data, stat.size) or (data, stat)

    def _read_unchanged(self, path: str) -> tuple[bytes, Stat]:
        for _ in range(_READ_ATTEMPTS):
            with open_beneath(self.root, path) as descriptor:
                before = stat_of(os.fstat(descriptor))
                data = read_at_most(descriptor, self._policy.max_bytes_for(path) + 1)
                after = stat_of(os.fstat(descriptor))
            if before == after:
                break
        return data, before


def _entry_or_verdict(decision: PathDecision) -> Entry | Verdict:
    return Verdict(decision.path, None, detail="a folder") if isinstance(decision, Folder) else decision


def _language(path: str, views: View, kind: Kind, data: bytes) -> str:
    """Return the language of a representation. A file that both views can share has the same in each."""
    from dowse.reading.file_reading import document_language, shared_language

    if views is View.DOCUMENTS or is_binary_document(path):
        return document_language(path)
    shared = shared_language(path) if kind == "docs" else None
    return shared or detect_language(path, data[:HEAD_BYTES])

"""A project as a source: its files behind the policy, read so that nothing else can be."""

import hashlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from dowse.errors import PathRefused
from dowse.platform import open_beneath, read_at_most, stat_of
from dowse.settings import Settings
from dowse.sources.binary import HEAD_BYTES
from dowse.sources.open_folders import OpenFolders
from dowse.sources.path_decision import decide_normalized_path, decide_path, find_reinclusion
from dowse.sources.policy import Folder, Policy
from dowse.sources.walk import verdict_for_os_error, walk
from dowse.types import Document, Entry, FolderCallback, Reason, Rule, Stat, Verdict

_READ_ATTEMPTS = 4
"""How often a file that changes while it is read is read again; then its old stat tells that it did."""


class ProjectFiles:
    """The files below one root.

    A root that may not be named is refused at once (PathRefused). One that cannot be read, now or
    any time later, is an error (Failed) and never looks like an empty project.
    """

    policy_type = Policy

    def __init__(self, root: Path, settings: Settings, deny_categories: Collection[str] | None = None) -> None:
        self._policy = self.policy_type(root, settings, deny_categories)
        self._allowed_names: set[str] = set()
        """Paths that the deny list, which never changes, was asked about: a search asks for the same ones often."""
        self.root = self._policy.root
        self.settings = settings

    def entries(self, below: str = "", on_folder: FolderCallback | None = None) -> Iterator[Entry | Verdict]:
        """Everything below the root, or below one path of it, by path; each folder on the way is told."""
        answer = decide_path(self._policy, below)
        if isinstance(answer, Folder):
            yield from walk(self._policy, answer, on_folder)
        else:
            yield answer

    def entry(self, path: str) -> Entry | Verdict:
        """One file as the walk would see it now; a folder gives its verdict."""
        answer = decide_path(self._policy, path)
        return Verdict(answer.path, None, detail="a folder") if isinstance(answer, Folder) else answer

    def entry_at(self, path: str) -> Entry | Verdict:
        """The same for a path that is spelled as the walk spells it, and no other."""
        answer = decide_normalized_path(self._policy, path)
        return Verdict(answer.path, None, detail="a folder") if isinstance(answer, Folder) else answer

    def verdict(self, path: str) -> Verdict:
        """What the policy says of one path in any spelling, with a look at what the file holds.

        The rule of an allowed file is the one that took it back from an ignore rule.
        """
        answer = self.entry(path)
        if isinstance(answer, Verdict):
            return answer
        found = self._read_allowed(answer.path)
        if isinstance(found, Verdict):
            return found
        back = find_reinclusion(self._policy, answer.path)
        return (
            Verdict(answer.path, None, back.rule, f"taken back from {_describe_rule(back.overruled)}")
            if back
            else Verdict(answer.path, None)
        )

    def read_path(self, path: str) -> Document | Verdict:
        """Read one file now by its path, if the whole policy allows it."""
        entry = self.entry(path)
        return entry if isinstance(entry, Verdict) else self.read(entry)

    def read(self, entry: Entry) -> Document | Verdict:
        """Read one file now that the walk gave, or say why not."""
        from dowse.reading import detect_language, read  # parsers that a walk alone does not need

        found = self._read_allowed(entry.path)
        if isinstance(found, Verdict):
            return found
        data, stat = found
        language = detect_language(entry.path, data[:HEAD_BYTES])
        reading = read(data, entry.path, language)
        return Document(entry.path, entry.kind, language, stat, hashlib.sha256(data).digest(), reading)

    def read_bytes(self, path: str) -> tuple[bytes, Stat]:
        """A file's bytes, at most one more than the limit, and the stat they belong to.

        The path is one that the walk gave. Raises OSError when there is no such file any more,
        or something else stands in its place; PathRefused for what is never read.
        """
        if path not in self._allowed_names:
            self._raise_if_denied(path, self._policy.deny.rule_against(path))
            self._allowed_names.add(path)
        data, stat = self._read_unchanged(path)
        self._raise_if_denied(path, self._policy.deny.rule_against_content(data))
        return data, stat

    def _raise_if_denied(self, path: str, rule: Rule | None) -> None:
        if rule:
            raise PathRefused(f"{path} is never read ({rule.pattern}, {rule.origin}).")

    def _read_allowed(self, path: str) -> tuple[bytes, Stat] | Verdict:
        if rule := self._policy.deny.rule_against(path):
            return Verdict(path, Reason.DENIED, rule)
        try:
            data, stat = self._read_unchanged(path)
        except OSError as error:
            OpenFolders(self.root).leave()  # is the root still there?
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


def _describe_rule(rule: Rule) -> str:
    return f"{rule.pattern} ({rule.origin}, line {rule.line})"

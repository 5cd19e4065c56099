"""A project as a source: its files behind the policy, read so that nothing else can be."""

import hashlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from dowse.errors import PathRefused
from dowse.settings import Settings
from dowse.sources.asking import ask
from dowse.sources.binary import HEAD_BYTES, nul_byte_at
from dowse.sources.policy import Folder, Policy
from dowse.sources.walk import refused_by_system, walk
from dowse.system import open_beneath, read_at_most, stat_of
from dowse.types import Document, Entry, Reason, Stat, Verdict

_READ_ATTEMPTS = 4
"""How often a file that changes while it is read is read again; then its old stat tells that it did."""


class ProjectSource:
    """The files below one root."""

    def __init__(self, root: Path, settings: Settings, deny_categories: Collection[str] | None = None) -> None:
        self.root = root.resolve()
        self.settings = settings
        self._policy = Policy(self.root, settings, deny_categories)

    def entries(self, below: str = "") -> Iterator[Entry | Verdict]:
        """Everything below the root, or below one path of it, by path."""
        answer = ask(self._policy, below)
        if isinstance(answer, Folder):
            yield from walk(self._policy, answer)
        else:
            yield answer

    def entry(self, path: str) -> Entry | Verdict:
        """One file as the walk would see it now; a folder gives its verdict."""
        answer = ask(self._policy, path)
        return Verdict(answer.path, None, detail="a folder") if isinstance(answer, Folder) else answer

    def verdict(self, path: str) -> Verdict:
        """What the policy says of one path in any spelling, with a look at the file's first bytes."""
        answer = self.entry(path)
        if isinstance(answer, Verdict):
            return answer
        try:
            with open_beneath(self.root, answer.path) as descriptor:
                head = read_at_most(descriptor, HEAD_BYTES)
        except OSError as error:
            return refused_by_system(answer.path, error)
        return _binary(answer.path, head) or Verdict(answer.path, None)

    def read(self, entry: Entry) -> Document | Verdict:
        """Read one file now, or say why not."""
        from dowse.reading import language_of, read  # parsers that a walk alone does not need

        if rule := self._policy.deny.rule_against(entry.path):
            return Verdict(entry.path, Reason.DENIED, rule)
        try:
            data, stat = self.read_bytes(entry.path)
        except OSError as error:
            return refused_by_system(entry.path, error)
        if refused := _binary(entry.path, data):
            return refused
        if len(data) > self.settings.max_file_bytes:
            return self._policy.too_large(entry.path, max(stat.size, len(data)))
        language = language_of(entry.path, data[:HEAD_BYTES])
        reading = read(data, entry.path, language)
        return Document(entry.path, entry.kind, language, stat, hashlib.sha256(data).digest(), reading)

    def read_bytes(self, path: str) -> tuple[bytes, Stat]:
        """A file's bytes, at most one more than the limit, and the stat they belong to.

        The path is one that the walk gave. Raises OSError when there is no such file any more,
        or something else stands in its place.
        """
        if rule := self._policy.deny.rule_against(path):
            raise PathRefused(f"{path} is never read ({rule.pattern}, {rule.origin}).")
        for _ in range(_READ_ATTEMPTS):
            with open_beneath(self.root, path) as descriptor:
                before = stat_of(os.fstat(descriptor))
                data = read_at_most(descriptor, self.settings.max_file_bytes + 1)
                after = stat_of(os.fstat(descriptor))
            if before == after:
                break
        return data, before


def _binary(path: str, data: bytes) -> Verdict | None:
    position = nul_byte_at(data)
    return None if position is None else Verdict(path, Reason.BINARY, detail=f"a NUL byte at offset {position}")

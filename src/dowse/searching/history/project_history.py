"""The history of one root: brought up to HEAD within a bound of time, and asked."""

import contextlib
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dowse.errors import Failed, NoHistory, NotWritable, StoreBusy, StoreDamaged
from dowse.searching.history.commit_reading import READING_MODES, CommitRecord, list_commits, read_commits, read_symbols
from dowse.searching.history.git_objects import GitObjects, GitRepository, find_repository, open_objects
from dowse.searching.history.history_database import (
    HISTORY_FILE,
    READ,
    SYMBOLS_READ,
    UNREADABLE,
    WITHOUT_SYMBOLS,
    HistoryDatabase,
    remove_history,
)
from dowse.settings import Settings
from dowse.sources.path_decision import PastPaths
from dowse.sources.policy import Policy
from dowse.sources.repository import head_commit
from dowse.system.platform import Lock

MAX_COMMITS = 200_000
"""The newest commits that are read: twice those of the longest history that was measured."""
SYMBOL_COMMITS = 20_000
"""The newest commits whose symbols are read, which takes five times as long as their messages and files."""
SYMBOL_FILES = 50
"""The symbols of commits with more files are not read: these move or format code."""
BATCH = 500
"""Commits that are stored at once."""
BATCHES = 4
"""Batches for which git is started once."""
MAX_FAILURES = 10
"""After this many commits that cannot be read in one way, the others are not tried in it."""
ALONE_SECONDS = 1.0
"""How long one such commit may take in each way."""
LOCK_FILE = "history.lock"
LOCK_SECONDS = 0.05
"""How long to wait for another process that reads the history; it is searched as far as that process has read."""
REPLACEMENT_SECONDS = 10.0
"""How long to wait for such a process before a database is replaced, twice the longest turn of a server."""


MAX_COMMIT_FILES = 30
"""Commits with more files say nothing about which change together: they format, rename or generate files."""


@dataclass(frozen=True, slots=True)
class CoChange:
    """A file, and how many commits changed it together with another one."""

    path: str
    commits: int


@dataclass(frozen=True, slots=True)
class CoChanges:
    """The files that changed together with one, most often first."""

    commits: int
    """How many of the commits that were read changed the file, without those of too many files."""
    files: tuple[CoChange, ...]


@dataclass(frozen=True, slots=True)
class HistoryCoverage:
    """How much of the history was read."""

    read: int
    """The newest commits, with their messages and files."""
    total: int
    unreadable: int = 0
    with_symbols: int = 0
    is_shallow: bool = False
    is_cut: bool = False
    """Whether there are older commits than are ever read."""
    problem: str = ""
    """Why older commits are not known."""

    @property
    def is_complete(self) -> bool:
        """Whether all commits that the repository has were read."""
        return self.read + self.unreadable == self.total and not (self.is_cut or self.problem)

    @property
    def text(self) -> str:
        """Which commits a search covers."""
        if self.is_complete:
            return f"all {self.total:,} commits" if self.total != 1 else "the only commit"
        return f"the newest {self.read:,} of {self.total:,}{' or more' * bool(self.is_cut or self.problem)} commits"

    def notes(self) -> list[str]:
        """Return why other commits cannot be found."""
        found = []
        if self.unreadable:
            found.append(
                f"{self.unreadable:,} commits cannot be read, because objects of the repository are missing or too large."
            )
        if self.problem:
            found.append(f"Older commits are not known: {self.problem}")
        if self.is_shallow:
            found.append("The repository is a shallow clone: it does not have older commits.")
        return found


def paths_of_today(root: Path, settings: Settings) -> PastPaths:
    """Return which paths of earlier commits the rules of today allow."""
    return PastPaths(Policy(root, settings))


class History:
    """The history of the repository around a root, in a database in a folder."""

    def __init__(self, root: Path, folder: Path, settings: Settings) -> None:
        if not settings.read_history:
            raise NoHistory("The history is not read, because readHistory is false in config.json.")
        self.repository = find_repository(root)
        self.paths = paths_of_today(root, settings)
        self.settings = settings
        self._folder = folder
        self._rules = _fingerprint(self.repository, settings)
        self.database = self._open()

    def close(self) -> None:
        self.database.close()

    def update(self, seconds: float) -> HistoryCoverage:
        """Read commits that are not known yet, newest first, for a bounded time; return how much is known."""
        deadline = time.monotonic() + seconds
        repository = replace(self.repository, head=head_commit(self.repository.folders))
        objects = _objects_stamp(repository)
        is_retried = self.database.has_failures(objects)
        is_done = self.database.fact("done") == "yes"  # as of its end; a reading that was killed leaves old counts
        if repository.head == self.database.fact("tip") and is_done and not is_retried:
            return self.coverage()
        lock = Lock(self._folder / LOCK_FILE)
        with contextlib.suppress(StoreBusy, NotWritable), lock.held(LOCK_SECONDS), open_objects(repository) as git:
            if is_retried:
                self.database.forget_failures()
            self._follow_head(git)
            _Reading(git, self.database, self.paths, deadline).run()
            self.database.settle(is_done=not self._finds_more(), objects=objects)
        return self.coverage()

    def has_more(self) -> bool:
        """Return whether something of the listed commits is not read yet."""
        return self.database.fact("done") != "yes" and self._finds_more()

    def _finds_more(self) -> bool:
        return bool(self.database.unread(1) or self.database.without_symbols(1, SYMBOL_COMMITS, SYMBOL_FILES))

    def coverage(self) -> HistoryCoverage:
        """Return how much of the history is known."""
        counts = self.database.counts()
        total = sum(counts.values())
        return HistoryCoverage(
            sum(counts.get(state, 0) for state in (READ, SYMBOLS_READ, WITHOUT_SYMBOLS)),
            total,
            counts.get(UNREADABLE, 0),
            counts.get(SYMBOLS_READ, 0),
            is_shallow=bool(self.repository.shallow),
            is_cut=total >= MAX_COMMITS,
            problem=self.database.fact("problem") or "",
        )

    def changed_together(self, path: str, limit: int = 20) -> CoChanges:
        """Return the files that usually change together with a path relative to the root, under their names of today.

        Only those commits count that HEAD leads to. A file may be gone by now.
        """
        rows, rows_in = self.database.rows, self.database.rows_in
        names = self.database.earlier_names(
            number for (number,) in rows("SELECT id FROM paths WHERE path = ?", (path,))
        )
        query = (
            "SELECT number FROM changes JOIN commits USING (number) "
            "WHERE path = ? AND number <= ? AND is_reached = 1 AND files BETWEEN 1 AND ?"
        )
        changing = (rows(query, (name, last, MAX_COMMIT_FILES)) for name, last in names.items())
        commits = {number for found in changing for (number,) in found}
        counts, together = Counter[int](), Counter[int]()
        last_changes: dict[int, int] = {}
        for other, number in rows_in("SELECT path, number FROM changes WHERE number IN", commits):
            counts[other] += 1
            last_changes[other] = max(last_changes.get(other, 0), number)
        today = self.database.names_today(last_changes)
        for other, count in counts.items():
            if today[other] not in names and other not in names:
                together[today[other]] += count
        shown: dict[int, str] = dict(rows_in("SELECT id, path FROM paths WHERE id IN", together))
        found = [CoChange(shown[other], count) for other, count in together.items() if self.paths.allows(shown[other])]
        found.sort(key=lambda one: (-one.commits, one.path))
        return CoChanges(len(commits), tuple(found[:limit]))

    def _open(self) -> HistoryDatabase:
        if database := self._open_usable():
            return database
        # It holds nothing that the repository does not have. Another process may be writing it, or making it anew.
        with Lock(self._folder / LOCK_FILE).held(REPLACEMENT_SECONDS):
            if database := self._open_usable():
                return database
            remove_history(self._folder)
            return HistoryDatabase(self._folder / HISTORY_FILE)

    def _open_usable(self) -> HistoryDatabase | None:
        """Return the database; None if it is damaged, or was read under other settings."""
        try:
            database = HistoryDatabase(self._folder / HISTORY_FILE)
        except StoreDamaged:
            return None
        with contextlib.suppress(StoreDamaged):
            if database.fact("rules") in (None, self._rules):
                return database
        database.close()
        return None

    def _follow_head(self, git: GitObjects) -> None:
        """List the commits that HEAD leads to, if it was moved."""
        tip, before = git.repository.head, self.database.fact("tip")
        if tip == before:
            return
        if before:
            # The commit before may be gone, after a history was rewritten.
            with contextlib.suppress(Failed):
                found = list_commits(git, tip, before, MAX_COMMITS)
                if len(found.new) + len(found.gone) < MAX_COMMITS:
                    self.database.move_to(tip, found.new, found.gone)
                    return
        found = list_commits(git, tip, None, MAX_COMMITS)
        self.database.move_to(tip, found.new, None, rules=self._rules, problem=found.problem)


class _Reading:
    """The reading of listed commits until a deadline."""

    def __init__(self, git: GitObjects, database: HistoryDatabase, paths: PastPaths, deadline: float) -> None:
        self._git, self._database, self._paths, self._deadline = git, database, paths, deadline
        self._failures = 0
        self._mode = 0

    def run(self) -> None:
        """Read messages and files of all commits, then the symbols of the newest."""
        while names := self._database.unread(BATCHES * BATCH):
            self._read_batch(names)
            if self._seconds <= 0:
                return
        self._failures = 0
        while self._seconds > 0 and self._failures < MAX_FAILURES:
            names = self._database.without_symbols(BATCH, SYMBOL_COMMITS, SYMBOL_FILES)
            if not names or not self._read_symbols(names):
                return

    @property
    def _seconds(self) -> float:
        return self._deadline - time.monotonic()

    def _read_batch(self, names: Sequence[str]) -> None:
        """Store commits as they are read; pass over one that cannot be read."""
        records: list[CommitRecord] = []
        unreadable: list[str] = []
        done = 0
        try:
            for record in read_commits(self._git, names, max(self._seconds, 0.5), READING_MODES[self._mode]):
                records.append(self._allowed(record))
                at = names.index(record.name, done)
                unreadable += names[done:at]  # git prints nothing about a commit that is gone
                done = at + 1
                if len(records) == BATCH:
                    self._database.add_commits(records)
                    records = []
        except Failed:
            self._database.add_commits(records)
            if done == 0 or self._seconds > 0:
                self._read_alone(names[done])
        else:
            self._database.add_commits(records)
            unreadable += names[done:]
        for name in unreadable:
            self._database.set_state(name, UNREADABLE)

    def _read_alone(self, name: str) -> None:
        """Read as much as possible of a commit for which objects are missing, or which takes too long."""
        self._failures += 1
        if self._failures >= MAX_FAILURES and self._mode + 1 < len(READING_MODES):
            self._mode, self._failures = self._mode + 1, 0
        for how in READING_MODES[self._mode :]:
            try:
                found = [self._allowed(record) for record in read_commits(self._git, [name], ALONE_SECONDS, how)]
            except Failed:
                continue
            if found:
                self._database.add_commits(found)
                return
        self._database.set_state(name, UNREADABLE)

    def _read_symbols(self, names: Sequence[str]) -> bool:
        """Store the symbols of commits; return whether there may be more to read."""
        found: dict[str, dict[str, list[str]]] = {}
        done, is_failed = 0, False
        try:
            for name, symbols in self._allowed_symbols(names, max(self._seconds, 0.5)):
                done = names.index(name, done) + 1
                found[name] = symbols
            done = len(names)
        except Failed:
            is_failed = self._seconds > 0 and done < len(names)
        if is_failed:
            self._failures += 1
            try:  # a content of this commit is missing, or of the next one
                found.update(self._allowed_symbols(names[done : done + 1], ALONE_SECONDS))
                done += 1
            except Failed:
                self._database.set_state(names[done], WITHOUT_SYMBOLS)
        self._database.add_symbols({name: found.get(name, {}) for name in names[:done]})
        return is_failed or done > 0

    def _allowed_symbols(self, names: Sequence[str], seconds: float) -> Iterator[tuple[str, dict[str, list[str]]]]:
        for name, by_path in read_symbols(self._git, names, seconds):
            yield name, {path: symbols for path, symbols in by_path.items() if self._paths.allows(path)}

    def _allowed(self, record: CommitRecord) -> CommitRecord:
        """Return a commit without the paths that may not be shown."""
        files = tuple(path for path in record.files if self._paths.allows(path))
        renames = tuple(pair for pair in record.renames if all(map(self._paths.allows, pair)))
        return replace(record, files=files, renames=renames)


@contextlib.contextmanager
def open_history(root: Path, folder: Path, settings: Settings) -> Iterator[History]:
    """Give a block the history of a root; raise NoHistory if there is none that may be read."""
    with contextlib.closing(History(root, folder, settings)) as history, history.database.odd_values_are_damage():
        yield history


def _objects_stamp(repository: GitRepository) -> str:
    """Return a value that is another one after objects were packed, fetched or removed, which may have been in the way."""
    objects = repository.folders.common / "objects"
    stamps = []
    for folder in (objects, objects / "pack"):
        with contextlib.suppress(OSError):
            stamps.append(folder.stat().st_mtime_ns)
    return " ".join(map(str, stamps))


def _fingerprint(repository: GitRepository, settings: Settings) -> str:
    """Return a value that is another one when other paths may be stored."""
    facts = [list(settings.include), list(settings.exclude), settings.respect_gitignore, repository.lead]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

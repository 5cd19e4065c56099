"""The files that usually change together, followed through their renames."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dowse.searching.history.history_database import HistoryDatabase
from dowse.searching.history.project_history import History

EVER = 1 << 62
"""A number that no commit reaches."""
MAX_STEPS = 50
"""How often one file is followed to another name."""

_RENAMES = "SELECT old, number, new FROM renames JOIN commits USING (number) WHERE is_reached = 1 AND"


def earlier_names(database: HistoryDatabase, paths: Iterable[int]) -> dict[int, int]:
    """Return the ids of paths with those of their earlier names, each with the last commit for which it counts."""
    found = dict.fromkeys(paths, EVER)
    newest = list(found)
    for _ in range(MAX_STEPS):
        if not newest:
            break
        before: dict[int, int] = {}
        for old, number, new in database.rows_in(f"{_RENAMES} new IN", newest):
            if number <= found[new] and number > found.get(old, 0):
                before[old] = max(number, before.get(old, 0))
        found |= before
        newest = list(before)
    return found


def names_today(database: HistoryDatabase, last_changes: Mapping[int, int]) -> dict[int, int]:
    """Return the id of the present name of each path, of which the last change under its old name is given."""
    found = {path: path for path in last_changes}
    moving = dict(last_changes)
    for _ in range(MAX_STEPS):
        by_old: dict[int, tuple[int, int]] = {}
        for old, number, new in database.rows_in(f"{_RENAMES} old IN", set(moving)):
            if number >= moving[old]:
                by_old[old] = max(by_old.get(old, (0, 0)), (number, new))
        if not by_old:
            break
        found = {path: by_old[name][1] if name in by_old else name for path, name in found.items()}
        moving = {new: number for number, new in by_old.values()}
    return found


MAX_FILES = 30
"""Commits with more files are ignored: they format, rename or generate files rather than change one thing."""


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


def changed_together(history: History, path: str, limit: int = 20) -> CoChanges:
    """Return the files that usually change together with a path relative to the root, under their names of today.

    Only those commits count that HEAD leads to. A file may be gone by now.
    """
    database = history.database
    names = earlier_names(
        database, (number for (number,) in database.rows("SELECT id FROM paths WHERE path = ?", (path,)))
    )
    commits = {
        number
        for name, last in names.items()
        for (number,) in database.rows(
            "SELECT number FROM changes JOIN commits USING (number) "
            "WHERE path = ? AND number <= ? AND is_reached = 1 AND files BETWEEN 1 AND ?",
            (name, last, MAX_FILES),
        )
    }
    counts: Counter[int] = Counter()
    last_changes: dict[int, int] = {}
    for other, number in database.rows_in("SELECT path, number FROM changes WHERE number IN", commits):
        counts[other] += 1
        last_changes[other] = max(last_changes.get(other, 0), number)
    today = names_today(database, last_changes)
    together: Counter[int] = Counter()
    for other, count in counts.items():
        if today[other] not in names and other not in names:
            together[today[other]] += count
    shown: dict[int, str] = dict(database.rows_in("SELECT id, path FROM paths WHERE id IN", together))
    found = [CoChange(shown[other], count) for other, count in together.items() if history.paths.allows(shown[other])]
    found.sort(key=lambda one: (-one.commits, one.path))
    return CoChanges(len(commits), tuple(found[:limit]))

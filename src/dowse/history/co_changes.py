"""The files that usually change together, followed through their renames."""

from collections import Counter
from dataclasses import dataclass

from dowse.history.project_history import History
from dowse.history.renames import earlier_names, names_today

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

"""The names that files had before and have now."""

from collections.abc import Iterable, Mapping

from dowse.history.history_database import HistoryDatabase

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

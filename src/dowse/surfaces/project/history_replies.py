"""Search of the history of projects, and its reply."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.errors import DowseError
from dowse.mcp.replies import ENVELOPE_CHARACTERS, Reply, fit_items, fit_notes, present, wire_characters
from dowse.settings import Settings

if TYPE_CHECKING:  # a server without a search of its history starts 10 ms sooner
    from dowse.searching.history.history_search import CommitHit, HistoryAnswer

SHORT_NAME = 10
"""Characters of the name of a commit that are shown."""
READ_AHEAD_SECONDS = 300.0
"""How long the rest of a history is read after the first search."""
TURN_SECONDS = 5.0
"""How long it is read without a look at whether the index is still there."""


class HistoryPlace(NamedTuple):
    """The root whose history is read, the folder that keeps it, and the settings of the project."""

    root: Path
    folder: Path
    settings: Settings


class HistoryReadings:
    """The histories that are searched, and read to their end in the background."""

    def __init__(self) -> None:
        self._reading: set[Path] = set()

    def search(self, place: HistoryPlace, query: str, options: Mapping[str, Any]) -> "HistoryAnswer":
        """Search the commits that are read by now; the others are read afterwards."""
        from dowse.searching.history.history_search import HistoryOptions, search_history
        from dowse.searching.history.project_history import open_history

        with open_history(*place) as history:
            answer = search_history(history, query, HistoryOptions(**options))
            has_more = history.has_more()
        if has_more and place.root not in self._reading:
            self._reading.add(place.root)
            threading.Thread(target=self._read_rest, args=(place,), name="history", daemon=True).start()
        return answer

    def _read_rest(self, place: HistoryPlace) -> None:
        from dowse.searching.history.project_history import open_history

        deadline = time.monotonic() + READ_AHEAD_SECONDS
        try:
            with open_history(*place) as history:
                while history.has_more() and place.folder.is_dir() and time.monotonic() < deadline:
                    history.update(TURN_SECONDS)
        except (DowseError, OSError):
            pass  # the next search meets it and says so
        finally:
            self._reading.discard(place.root)


def history_reply(
    answers: Sequence[tuple[Callable[[str], str], "HistoryAnswer"]],
    limit: int,
    budget: int,
    warnings: Iterable[str],
    *,
    has_authors: bool,
) -> Reply:
    """Return the commits of one or several projects, and which commits were searched."""
    found = sorted(
        ((shown_path, hit) for shown_path, answer in answers for hit in answer.hits), key=lambda one: -one[1].score
    )[:limit]
    notes = [*warnings, *(note for _, answer in answers for note in answer.coverage.notes())]
    tail = {
        "covers": "; ".join(answer.coverage.text for _, answer in answers),
        **present(warnings=fit_notes(dict.fromkeys(notes), budget)),
    }
    items = [commit_as_json(hit, shown_path, has_authors=has_authors) for shown_path, hit in found]
    shown = fit_items(items, budget - ENVELOPE_CHARACTERS - wire_characters(tail)) or items[:1]
    return {
        "results": shown,
        "totalResults": len(shown),
        **present(cut=len(shown) < len(items)),
        **tail,
    }


def commit_reply(place: HistoryPlace, name: str, shown_path: Callable[[str], str]) -> Reply:
    """Return the changes of one commit, file by file."""
    from dowse.searching.history.commit_diffs import read_changes
    from dowse.searching.history.project_history import open_history

    with open_history(*place) as history:
        found = read_changes(history, name)
    files = [
        {"path": shown_path(one.path), "added": one.added, "removed": one.removed, "diff": one.text}
        | present(oldPath=shown_path(one.old_path) if one.old_path != one.path else "")
        | present(cut=one.is_cut, masked=list(one.masked))
        for one in found.files
    ]
    facts = {"commit": found.name, "date": found.time, "author": found.author, "message": found.message}
    return {**facts, "files": files, **present(notShown=found.hidden, cut=found.is_cut)}


def commit_as_json(hit: "CommitHit", shown_path: Callable[[str], str] = str, *, has_authors: bool) -> Reply:
    """Return a commit as replies show it."""
    return {
        "commit": hit.name[:SHORT_NAME],
        "date": hit.date,
        "subject": hit.subject,
        "score": hit.score,
        **present(lines=list(hit.lines)),
        "files": [shown_path(path) for path in hit.files],
        **present(
            moreFiles=hit.file_count - len(hit.files),
            hasUncountedFiles=hit.has_uncounted_files,
            symbols=list(hit.symbols),
            author=hit.author if has_authors else "",
            masked=list(hit.masked),
            flags=list(hit.flags),
        ),
    }

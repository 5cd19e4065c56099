"""The history of a root, in a folder of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from dowse.searching.history.project_history import History, open_history
from dowse.settings import Settings

OpenHistory = Callable[..., History]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenHistory]:
    """Open the history of a root and read all of it."""
    with ExitStack() as stack:

        def open_and_read(root: Path, settings: Settings | None = None) -> History:
            folder = tmp_path / "storage"
            folder.mkdir(exist_ok=True)
            history = stack.enter_context(open_history(root, folder, settings or Settings()))
            history.update(60)
            return history

        yield open_and_read


def subjects(history: History) -> list[str]:
    """Return the first lines of the messages of the commits that HEAD leads to, newest first."""
    rows = history.database.rows(
        "SELECT message FROM messages JOIN commits USING (number) WHERE is_reached = 1 ORDER BY number DESC"
    )
    return [message.split("\n")[0] for (message,) in rows]

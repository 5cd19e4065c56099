"""The changes of one commit, file by file, as far as they may be shown."""

import re
from dataclasses import dataclass

from dowse.errors import ItemNotFound
from dowse.screening.masking import screen_text
from dowse.searching.history.commit_reading import PATCH, moment_of, read_commits, split_patch
from dowse.searching.history.git_objects import open_objects
from dowse.searching.history.project_history import History

MAX_DIFF_BYTES = 2_000_000
"""The rest of a larger commit is not shown."""
MAX_FILES = 200
MAX_FILE_LINES = 800
"""Lines that are shown of one file's changes."""
READ_SECONDS = 10.0
_NAME = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class FileChanges:
    """The changes of one file: its name now and before, and the hunks as git prints them, with secrets masked."""

    path: str
    old_path: str
    text: str
    added: int
    removed: int
    is_cut: bool = False
    masked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitChanges:
    """A commit with the changes that may be shown."""

    name: str
    time: str
    author: str
    message: str
    files: tuple[FileChanges, ...]
    hidden: int = 0
    """Files that may not be shown, or that are too many."""
    is_cut: bool = False


def read_changes(history: History, name: str) -> CommitChanges:
    """Return the changes of a commit that HEAD leads to; raise ItemNotFound for any other name."""
    whole = _known_name(history, name)
    with open_objects(history.repository) as git:
        data, is_cut = git.output(*PATCH, "-U3", "--no-commit-id", whole, max_bytes=MAX_DIFF_BYTES)
        record = next(read_commits(git, [whole], READ_SECONDS, "-s"))
    masks, moment = history.settings.mask_secrets, moment_of(record.time)
    files, hidden = list[FileChanges](), 0
    for patch in split_patch(data, history.repository.lead):
        names = [name for name in (patch.old, patch.new) if name]
        text = patch.hunks.decode("utf-8", "replace").rstrip("\n")
        if not names:
            continue  # outside of the root
        is_hidden = not all(map(history.paths.allows, names)) or _is_key(history, text)
        if is_hidden or len(files) >= MAX_FILES:
            hidden += 1
        else:
            files.append(_screened(names, text, masks=masks))
    return CommitChanges(
        whole, moment.isoformat().replace("+00:00", "Z") if moment else "", screen_text(record.author, masks=masks).text,
        screen_text(record.message, masks=masks).text.strip(),
        tuple(files), hidden, is_cut,
    )  # fmt: skip


def _is_key(history: History, text: str) -> bool:
    """Return whether the lines before or after the commit are a private key."""
    sides = ([line[1:] for line in text.split("\n") if line[:1] in (sign, " ")] for sign in "+-")
    return any(history.paths.is_secret("\n".join(side)) for side in sides)


def _screened(names: list[str], text: str, *, masks: bool) -> FileChanges:
    """Return changes with their secrets masked; a secret of several lines is recognized without the signs before them."""
    lines = text.split("\n")
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    kept = lines[:MAX_FILE_LINES]
    screened = screen_text("\n".join(line[1:] for line in kept), path=names[-1], masks=masks)
    shown = (line[:1] + text for line, text in zip(kept, screened.text.split("\n"), strict=True))
    return FileChanges(
        names[-1], names[0], "\n".join(shown), added, removed, len(lines) > MAX_FILE_LINES, screened.masked_kinds
    )


def _known_name(history: History, name: str) -> str:
    if _NAME.fullmatch(name):
        history.update(READ_SECONDS)
        query = "SELECT name FROM commits WHERE name BETWEEN ? AND ? AND is_reached = 1 LIMIT 2"
        rows = history.database.rows(query, (name, f"{name}g"))
        if len(rows) == 1:
            return str(rows[0][0])
    raise ItemNotFound("the history has no such commit")

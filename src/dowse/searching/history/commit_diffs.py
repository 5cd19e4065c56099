"""The changes of one commit, file by file, as far as they may be shown."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from dowse.errors import ItemNotFound
from dowse.screening.masking import screen_text
from dowse.searching.history.commit_reading import read_commits
from dowse.searching.history.git_objects import open_objects
from dowse.searching.history.project_history import History

MAX_DIFF_BYTES = 2_000_000
"""The rest of a larger commit is not shown."""
MAX_FILES = 200
MAX_FILE_LINES = 800
"""Lines that are shown of one file's changes."""
READ_SECONDS = 10.0
_NAME = re.compile(r"[0-9a-f]{7,64}")
_PATCH = (
    "diff-tree", "--root", "-r", "-p", "-U3", "--no-color", "--no-ext-diff", "--no-textconv", "--no-commit-id",
    "--src-prefix=a/", "--dst-prefix=b/", "-M",
)  # fmt: skip
_FILE = re.compile(r"^(?:---|\+\+\+) (?:[ab]/(.*?)|/dev/null)\t?$", re.MULTILINE)
_RENAME = re.compile(r"^rename (?:from|to) (.+)$", re.MULTILINE)
_BINARY = re.compile(r"^Binary files (.++)$", re.MULTILINE)


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
        data, is_cut = git.output(*_PATCH, whole, max_bytes=MAX_DIFF_BYTES)
        record = next(read_commits(git, [whole], READ_SECONDS, "-s"))
    masks = history.settings.mask_secrets
    files, hidden = list[FileChanges](), 0
    for section in re.split(r"^diff --git ", data.decode("utf-8", "replace"), flags=re.MULTILINE)[1:]:
        found = _parse_file(section, history.repository.lead)
        if found is None:
            continue  # outside of the root
        is_allowed = all(map(history.paths.allows, {found.path, found.old_path}))
        if not is_allowed or len(files) >= MAX_FILES or _is_key(history, found.text):
            hidden += 1
        else:
            files.append(_screened(found, masks=masks))
    return CommitChanges(
        whole, _moment(record.time), screen_text(record.author, masks=masks).text,
        screen_text(record.message, masks=masks).text.strip(),
        tuple(files), hidden, is_cut,
    )  # fmt: skip


def _is_key(history: History, text: str) -> bool:
    """Return whether the lines before or after the commit are a private key."""
    sides = ([line[1:] for line in text.split("\n") if line[:1] in (sign, " ")] for sign in "+-")
    return any(history.paths.is_secret("\n".join(side)) for side in sides)


def _screened(found: FileChanges, *, masks: bool) -> FileChanges:
    """Return changes with their secrets masked; a secret of several lines is recognized without the signs before them."""
    lines = found.text.split("\n")
    screened = screen_text("\n".join(line[1:] for line in lines), path=found.path, masks=masks)
    shown = (line[:1] + text for line, text in zip(lines, screened.text.split("\n"), strict=True))
    return replace(found, text="\n".join(shown), masked=screened.masked_kinds)


def _known_name(history: History, name: str) -> str:
    if _NAME.fullmatch(name):
        history.update(READ_SECONDS)
        query = "SELECT name FROM commits WHERE name BETWEEN ? AND ? AND is_reached = 1 LIMIT 2"
        rows = history.database.rows(query, (name, f"{name}g"))
        if len(rows) == 1:
            return str(rows[0][0])
    raise ItemNotFound("the history has no such commit")


def _moment(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return ""


def _parse_file(section: str, lead: str) -> FileChanges | None:
    """Return the changes of one file; None for a file outside of the root."""
    header, at, hunks = section.partition("\n@@ ")
    names = [name for name in _FILE.findall(header) if name] or _RENAME.findall(header)
    if binary := _BINARY.search(header):
        before, _, after = binary[1].removesuffix(" differ").rpartition(" and ")
        names = [name[2:] for name in (before, after) if name.startswith(("a/", "b/"))]
    if not names:  # an empty file, or a mode: the same name twice
        first = header.partition("\n")[0]
        name = first[2 : len(first) // 2]
        names = [name] if name and first == f"a/{name} b/{name}" else []
    paths = [name[len(lead) :] for name in names if name.startswith(lead) and len(name) > len(lead)]
    if not paths:
        return None
    lines = f"@@ {hunks}".rstrip("\n").split("\n") if at else []
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    text = "\n".join(lines[:MAX_FILE_LINES])
    return FileChanges(paths[-1], paths[0], text, added, removed, len(lines) > MAX_FILE_LINES)

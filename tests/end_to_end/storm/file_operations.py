"""Random operations on the files of a project, repeatable by a seed.

All files are read after each operation, so that the tests know the contents of every file at any
moment.
"""

import contextlib
import os
import random
import re
import shutil
import stat
import string
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Snapshot = dict[str, bytes]
"""The contents of each regular file, by path."""

SENTINEL = "zz_sentinel.py"
TOKEN = re.compile(rb"\b[a-z]{14}\b")
FOLDERS = ("src", "src/core", "src/core/deep", "lib", "docs", "docs/guide", "tools", "a/b/c", "Ünï cödé")
NAMES = ("main.py", "Main.py", "util.js", "page.md", "notes.txt", "data.json", "Makefile", "x.rs", "README", "é è.py")
RULES = (
    "lib/", "*.json", "docs/guide", "/tools", "*.md\n!page.md", "src/core/**", "# nothing",
    "a/b/c/*\n!a/b/c/main.py",
)  # fmt: skip
RULE_FILES = (".gitignore", ".dowseignore")
BRANCHES = ("main", "left", "right")
GIT_USER = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Storm"), ("EMAIL", "storm@example.org"))
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its time, and the files before and after it."""

    name: str
    began: float
    ended: float
    before: Snapshot
    after: Snapshot

    def is_between(self, path: str) -> bool:
        """Return whether a file may have had other contents meanwhile: some operations have several steps."""
        has_steps = self.name.startswith(("git", "write")) or "folder" in self.name or "backup" in self.name
        return has_steps and (self.before.get(path) != self.after.get(path) or self.name.startswith("git"))

    @property
    def changes_rules(self) -> bool:
        """Whether the operation may change which files are indexed, without changing those files."""
        return "mode" in self.name or _rules(self.before) != _rules(self.after)


def _rules(files: Snapshot) -> Snapshot:
    return {path: content for path, content in files.items() if path.rpartition("/")[2] in RULE_FILES}


class RandomOperations:
    """Random operations on a git repository."""

    def __init__(self, root: Path, outside: Path, seed: int) -> None:
        self.root, self.outside = root, outside
        self.rng = random.Random(seed)
        self.tokens: list[str] = []
        """All words ever written to a file, the newest last."""
        self.files: Snapshot = {}
        """The files after the last operation."""
        self.history: list[Operation] = []
        self._read: dict[str, tuple[tuple[int, ...], bytes]] = {}
        root.mkdir(parents=True)
        outside.mkdir()
        self._git("init", "--quiet", "--initial-branch", "main")
        self._git("config", "gc.auto", "0")
        for folder in FOLDERS[:6]:
            for name in NAMES[:6]:
                self._write(root / folder / name)
        self._commit()
        for branch in BRANCHES[1:]:
            self._git("branch", branch)
        self.files = self.snapshot()

    def run_operations(self, max_count: int, pause_seconds: float) -> int:
        """Run some operations of a few kinds, with pauses up to a length; return their number.

        Not of all kinds: a change of ignore rules causes a full scan, which would hide missed changes.
        """
        kinds = self.rng.sample(_OPERATIONS, self.rng.choice((2, 4, 8, 16)))
        weights = [_WEIGHTS.get(kind, 1.0) for kind in kinds]
        operations = min(max_count, self.rng.choice((3, 6, 12, 24, 48)))
        for _ in range(operations):
            operation = self.rng.choices(kinds, weights)[0]
            began, before = time.monotonic(), self.files
            with contextlib.suppress(OSError):  # the chosen file does not exist
                operation(self)
            self.files = self.snapshot()
            name = operation.__name__.strip("_").replace("_", " ")
            self.history.append(Operation(name, began, time.monotonic(), before, self.files))
            time.sleep(self.rng.random() * pause_seconds)
        return operations

    def snapshot(self) -> Snapshot:
        """Return the files as they are now; files with an unchanged stat are not read again."""
        found: Snapshot = {}
        for folder, below, names in os.walk(self.root):
            if ".git" in below:
                below.remove(".git")
            for name in names:
                file = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    seen = os.lstat(file)
                    if stat.S_ISREG(seen.st_mode):
                        found[os.path.relpath(file, self.root)] = self._content(file, seen)
        return found

    def token(self) -> str:
        """Return a new word that occurs nowhere else."""
        word = "".join(self.rng.choices(string.ascii_lowercase, k=14))
        self.tokens.append(word)
        return word

    def _content(self, file: str, seen: os.stat_result) -> bytes:
        stamp = (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
        known = self._read.get(file)
        if known is None or known[0] != stamp or time.time_ns() - seen.st_ctime_ns < 50_000_000:
            known = self._read[file] = stamp, Path(file).read_bytes()
        return known[1]

    # Random choices

    def _random_file(self) -> Path:
        """Return an existing file."""
        paths = sorted(path for path in self.files if path != SENTINEL)
        return self.root / self.rng.choice(paths) if paths else self._random_path()

    def _random_path(self) -> Path:
        """Return the path of a file that may exist or not."""
        return self.root / self.rng.choice(FOLDERS) / self.rng.choice(NAMES)

    def _random_folder(self) -> Path:
        return self.root / self.rng.choice(FOLDERS)

    def _random_text(self, name: str, parts: int | None = None) -> str:
        parts = parts or self.rng.choice((1, 2, 4, 8))
        words = [self.token() for _ in range(parts)]
        if name.endswith(".py"):
            return "\n\n".join(f"def {word}():\n    return {len(word)}" for word in words) + "\n"
        if name.endswith(".md"):
            return "\n".join(f"# {word}\n\nSome words and {self.token()}.\n" for word in words)
        if name.endswith(".json"):
            return "{" + ",\n".join(f'"{word}": 1' for word in words) + "}\n"
        return "\n".join(f"some line with {word} in it" for word in words) + "\n"

    def _write(self, file: Path, text: str | None = None) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_symlink():
            file.unlink()
        file.write_text(self._random_text(file.name) if text is None else text, encoding="utf-8")

    def _new_path_outside(self) -> Path:
        """Return an unused path outside of the root."""
        return self.outside / self.token()

    # Files

    def write(self) -> None:
        self._write(self._random_path())

    def write_over(self) -> None:
        self._write(self._random_file())

    def write_much(self) -> None:
        file = self._random_path()
        self._write(file, self._random_text(file.name, parts=200))

    def write_binary(self) -> None:
        self._random_file().write_bytes(b"\0\1\2" + self.token().encode())

    def write_with_other_line_ends(self) -> None:
        file = self._random_file()
        file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    def append(self) -> None:
        with self._random_file().open("a", encoding="utf-8") as stream:
            stream.write(f"one more line with {self.token()}\n")

    def truncate(self) -> None:
        file = self._random_file()
        if file.name not in RULE_FILES:  # the rest could be a `*`, which ignores every file
            os.truncate(file, self.rng.choice((0, file.stat().st_size // 2)))

    def save_atomically(self) -> None:
        """Replace a file by a new one, as many editors do."""
        file = self._random_file()
        temporary = file.with_name(f".{file.name}.swp")
        temporary.write_text(self._random_text(file.name), encoding="utf-8")
        temporary.replace(file)

    def save_with_a_backup(self) -> None:
        """Rename the old file, write a new one and delete the old one, as other editors do."""
        file = self._random_file()
        backup = file.with_name(f"{file.name}~")
        file.rename(backup)
        file.write_text(self._random_text(file.name), encoding="utf-8")
        backup.unlink()

    def rewrite_with_the_same_size_and_time(self) -> None:
        file = self._random_file()
        seen, text = file.stat(), file.read_text(encoding="utf-8", errors="ignore")
        known = next((word for word in self.tokens if word in text), None)
        if known:
            file.write_text(text.replace(known, self.token()), encoding="utf-8")
            os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))

    def touch(self) -> None:
        os.utime(self._random_file(), (0, self.rng.randrange(2**31)))

    def rename(self) -> None:
        target = self._random_path()
        target.parent.mkdir(parents=True, exist_ok=True)
        self._random_file().rename(target)

    def rename_by_case_alone(self) -> None:
        file = self._random_file()
        file.rename(file.with_name(file.name.swapcase()))

    def exchange_two(self) -> None:
        one, other, aside = self._random_file(), self._random_file(), self._new_path_outside()
        one.rename(aside)
        other.rename(one)
        aside.rename(other)

    def delete(self) -> None:
        self._random_file().unlink()

    def delete_and_make_again(self) -> None:
        file = self._random_file()
        file.unlink()
        self._write(file)

    def copy(self) -> None:
        target = self._random_path()
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self._random_file(), target)

    def link(self) -> None:
        target = self._random_path()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.symlink_to(self._random_file())

    def change_the_mode(self) -> None:
        self._random_file().chmod(self.rng.choice((0o600, 0o644, 0o755, 0o000)))

    # Folders

    def rename_a_folder(self) -> None:
        self._random_folder().rename(self.root / self.rng.choice(("moved", "src/moved", "docs/moved", *FOLDERS)))

    def exchange_two_folders(self) -> None:
        one, other, aside = self._random_folder(), self._random_folder(), self._new_path_outside()
        one.rename(aside)
        other.rename(one)
        aside.rename(other)

    def delete_a_folder(self) -> None:
        shutil.rmtree(self._random_folder())

    def delete_a_folder_and_make_it_again(self) -> None:
        folder = self._random_folder()
        shutil.rmtree(folder)
        for name in self.rng.sample(NAMES, 2):
            self._write(folder / name)

    def move_a_folder_out(self) -> None:
        self._random_folder().rename(self._new_path_outside())

    def move_a_folder_in(self) -> None:
        kept = sorted(path for path in self.outside.iterdir() if path.is_dir())
        target = self._random_folder()
        target.parent.mkdir(parents=True, exist_ok=True)
        self.rng.choice(kept or [self._random_folder()]).rename(target)

    def copy_a_folder(self) -> None:
        aside, target = self._new_path_outside(), self._random_folder()
        shutil.copytree(self._random_folder(), aside, symlinks=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        aside.rename(target if self.rng.random() < 0.5 else target / "copy")

    def make_nested_folders(self) -> None:
        top = self.token()
        for number in range(self.rng.choice((1, 12))):
            self._write(self.root / "tools" / f"{top}{number}" / "in" / "side.py")

    def make_an_empty_folder(self) -> None:
        (self._random_folder() / self.token()).mkdir(parents=True)

    def put_a_folder_in_place_of_a_file(self) -> None:
        file = self._random_file()
        file.unlink()
        self._write(file / "inner.py")

    def put_a_file_in_place_of_a_folder(self) -> None:
        folder = self._random_folder()
        shutil.rmtree(folder)
        self._write(folder)

    def link_a_folder(self) -> None:
        (self.root / "docs" / "linked").unlink(missing_ok=True)
        (self.root / "docs" / "linked").symlink_to(self._random_folder())

    def change_the_mode_of_a_folder(self) -> None:
        self._random_folder().chmod(self.rng.choice((0o700, 0o755)))

    def clear_the_root(self) -> None:
        for path in self.root.iterdir():
            if path.name != ".git" and self.rng.random() < 0.5:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    # Rules

    def write_rules(self) -> None:
        place = self.rng.choice((self.root, self._random_folder()))
        name = self.rng.choice(RULE_FILES)
        self._write(place / name, self.rng.choice(RULES) + "\n")

    def write_rules_away(self) -> None:
        for file in (*self.root.rglob(".gitignore"), *self.root.rglob(".dowseignore")):
            file.unlink()

    # Git

    def git_commit(self) -> None:
        self._commit()

    def git_checkout(self) -> None:
        self._git("checkout", "--quiet", "--force", self.rng.choice(BRANCHES))

    def git_commit_and_checkout(self) -> None:
        self._commit()
        self.git_checkout()

    def git_stash(self) -> None:
        self._git("stash", "--quiet", "--include-untracked")

    def git_stash_pop(self) -> None:
        self._git("stash", "pop", "--quiet")

    def git_reset(self) -> None:
        self._git("reset", "--quiet", "--hard", self.rng.choice(("HEAD", "HEAD~1")))

    def git_merge(self) -> None:
        self._commit()
        self._git("merge", "--quiet", "--no-edit", "-X", "theirs", self.rng.choice(BRANCHES))
        self._git("merge", "--abort")

    def git_rebase(self) -> None:
        self._commit()
        self._git("rebase", "--quiet", "-X", "theirs", self.rng.choice(BRANCHES))
        self._git("rebase", "--abort")

    def git_clean(self) -> None:
        self._git("clean", "--quiet", "--force", "-d")

    def git_pack(self) -> None:
        self._git("pack-refs", "--all")

    def _commit(self) -> None:
        self._git("add", "--all", "--force")
        self._git("commit", "--quiet", "--allow-empty", "--message", "more")

    def _git(self, *arguments: str) -> None:
        """Run git; failures, such as merge conflicts, are expected."""
        command = ["git", *arguments]
        subprocess.run(command, cwd=self.root, env=os.environ | GIT_USER, capture_output=True, timeout=60, check=False)


_OFTEN: list[Callable[[RandomOperations], None]] = [
    RandomOperations.write, RandomOperations.write_over, RandomOperations.append, RandomOperations.save_atomically, RandomOperations.save_with_a_backup, RandomOperations.rename,
    RandomOperations.rewrite_with_the_same_size_and_time, RandomOperations.delete, RandomOperations.delete_and_make_again,
]  # fmt: skip
_OPERATIONS: list[Callable[[RandomOperations], None]] = [
    operation
    for name, operation in vars(RandomOperations).items()
    if not name.startswith("_") and name not in ("run_operations", "snapshot", "token")
]
_WEIGHTS = dict.fromkeys(_OFTEN, 3.0) | {RandomOperations.clear_the_root: 0.2}

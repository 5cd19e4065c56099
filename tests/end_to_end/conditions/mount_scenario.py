"""`unshare --mount python -m tests.end_to_end.conditions.mount_scenario KIND FOLDER`: folders on real file systems.

The process has mounts of its own, which end with it. It exits with 77 where the kernel has no such file system.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from tests.end_to_end.conditions.commands import Ran, found_paths, run_command
from tests.sample_data import write_tree
from tests.searching.history.repositories import Change, make_repository

CANNOT_MOUNT = 77
MAKE = {
    "seconds": ["mkfs.ext4", "-q", "-I", "128", "-O", "^has_journal"],  # inodes of 128 bytes have no room for less
    "casefold": ["mkfs.ext4", "-q", "-O", "casefold,^has_journal", "-E", "encoding=utf8"],
}


FILES = {"fruit.py": "def peel_apple(): ...\n", "guide.md": "# Guide\n\nPeel an apple.\n"}


def main(kind: str, folder: Path) -> int:
    """Mount a file system of this kind in a folder, and search a project; return the exit code."""
    if kind in SMALL_DISKS:
        (folder / "disk").mkdir()
        if subprocess.run([*SMALL_DISK, str(folder / "disk")], stderr=subprocess.DEVNULL, check=False).returncode:
            return CANNOT_MOUNT
        files = make_repository(folder / "project", [Change("Peel it", FILES)])
        SMALL_DISKS[kind](write_tree(files, FILES), folder / "disk")
        return 0
    image, disk = folder / "image", folder / "disk"
    with image.open("wb") as file:
        file.truncate(16_000_000)
    disk.mkdir()
    for command in ([*MAKE[kind], str(image)], ["mount", "-o", "loop", str(image), str(disk)]):
        if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
            return CANNOT_MOUNT
    project = disk / "project"
    project.mkdir()
    {"seconds": search_within_a_second, "casefold": search_in_any_case}[kind](project)
    return 0


def search_within_a_second(project: Path) -> None:
    """A file that is replaced by one of the same length within a second, or within two as on FAT, is read again."""
    file = project / "fruit.py"
    for word, other in (("apple", "grape"), ("lemon", "mango")):
        file.write_text(f"def peel_{word}(): ...\n", encoding="utf-8")
        even = int(file.stat().st_mtime) // 2 * 2
        os.utime(file, (even, even))
        assert file.stat().st_mtime_ns % 2_000_000_000 == 0
        assert found_paths(f"peel_{word}", project) == ["fruit.py"], word
        file.write_text(f"def peel_{other}(): ...\n", encoding="utf-8")
        os.utime(file, (even, even))
        assert found_paths(f"peel_{other}", project) == ["fruit.py"], other


def search_in_any_case(project: Path) -> None:
    """Names that differ in case are one file: a rename is followed, and what is denied is denied in any spelling."""
    subprocess.run(["chattr", "+F", str(project)], check=True)
    (project / "Fruit.py").write_text("def peel_apple(): ...\n", encoding="utf-8")
    (project / ".ENV").write_text("TOKEN=do_not_read_me\n", encoding="utf-8")
    assert (project / ".env").exists()
    assert found_paths("peel_apple", project) == ["Fruit.py"]
    assert found_paths("do_not_read_me", project) == []
    (project / "Fruit.py").rename(project / "fruit.py")
    assert found_paths("peel_apple", project) == ["fruit.py"]
    assert run_command("doctor", project).code == 0


def work_without_temporary_files(project: Path, disk: Path) -> None:
    """Where the folder for temporary files is full, every command does its work or says why it cannot."""
    os.environ["TMPDIR"] = str(disk)
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(bytes(512)):
            pass
    for ran in _use_everything(project):
        assert ran.code in (0, 1) or ran.err.startswith("dowse: "), ran.err
    assert found_paths("peel_apple", project) == ["fruit.py"]
    filler.unlink()
    assert [ran.code for ran in _use_everything(project)] == [0] * len(COMMANDS)
    assert list(disk.iterdir()) == [], "nothing is left behind"


def keep_a_home_elsewhere(project: Path, disk: Path) -> None:
    """A home on another file system than everything else works, and so does one that goes away."""
    os.environ["DOWSE_HOME"] = str(disk / "home")
    assert [ran.code for ran in _use_everything(project)] == [0] * len(COMMANDS)
    assert (disk / "home" / "indexes").is_dir()
    subprocess.run(["umount", "--lazy", str(disk)], check=True)
    assert found_paths("peel_apple", project) == ["fruit.py"]
    assert run_command("doctor", project).code == 0


COMMANDS = (
    "index {project}", "search peel {project}", "search --history peel {project}", "docs search apple {project}",
    "notes import fruit {project}/notes.jsonl --create", "notes search fruit apple", "doctor {project}",
)  # fmt: skip


def _use_everything(project: Path) -> list[Ran]:
    notes = project / "notes.jsonl"
    notes.write_text('{"doc_id": "one", "content": "Peel an apple."}\n', encoding="utf-8")
    return [run_command(*command.format(project=project).split()) for command in COMMANDS]


SMALL_DISK = ["mount", "-t", "tmpfs", "-o", "size=16m", "none"]
SMALL_DISKS = {"full temporary folder": work_without_temporary_files, "home elsewhere": keep_a_home_elsewhere}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

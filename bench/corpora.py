"""The corpora: real files, copied to a temporary folder where they can be changed."""

import shutil
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dowse.settings import Settings
from dowse.sources.policy import HEAD_BYTES, find_nul_byte
from dowse.sources.project_files import ProjectFiles
from dowse.types import Verdict

MISSING = """\
There are no corpora in {folder}.
Corpora are folders of real files, code and documentation, 10,000 files or more in all.
To get some, clone public repositories such as django/django and mdn/content into it:

    git clone --depth 1 REPOSITORY {folder}/OWNER+NAME

Until then the packages installed beside this Python are measured, which every machine has.
"""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A writable folder, and the files in it that can be indexed."""

    name: str
    folder: Path
    paths: tuple[str, ...]
    text_bytes: int

    def median_file(self) -> Path:
        """Return the file of median size."""
        sizes = sorted((self.folder / path).stat().st_size for path in self.paths)
        middle = sizes[len(sizes) // 2]
        return next(file for path in self.paths if (file := self.folder / path).stat().st_size == middle)


def find(folder: Path) -> list[Path]:
    """Return the corpora in a folder that have files to index, sorted by name."""
    below = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path.resolve() for path in below if path.is_dir() and indexable(path.resolve())]


def installed_packages(into: Path) -> Path:
    """Copy the installed packages, a corpus that every machine has, out of the environment, which is never indexed."""
    root = into / "installed-packages"
    shutil.copytree(sysconfig.get_paths()["purelib"], root, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def copy_corpus(root: Path, into: Path) -> Corpus:
    """Copy a corpus without its Git history."""
    folder = into / root.name
    shutil.copytree(root, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return _make_corpus(root.name, folder, indexable(folder))


def sample(roots: list[Path], count: int, into: Path) -> Corpus:
    """Copy this many files, or all, spread evenly over all corpora."""
    found = [(root, path) for root in roots for path in indexable(root)]
    count = min(count, len(found))
    chosen = [found[at * len(found) // count] for at in range(count)]
    folder = into / f"{count:05d}-files"
    for root, path in chosen:
        copy = folder / root.name / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, copy)
    return _make_corpus(f"{count:,} files", folder, tuple(f"{root.name}/{path}" for root, path in chosen))


def one_of_each_type(corpora: list[Corpus], into: Path) -> Path:
    """Copy a small file of every type, for a first run in which the tools unpack their files."""
    smallest: dict[str, Path] = {}
    for corpus in corpora:
        for file in (corpus.folder / path for path in corpus.paths):
            kind = file.suffix or file.name
            if file.stat().st_size >= 200 and (
                kind not in smallest or file.stat().st_size < smallest[kind].stat().st_size
            ):
                smallest[kind] = file
    folder = into / "one-of-each-type"
    folder.mkdir()
    for number, file in enumerate(smallest.values()):
        (folder / str(number)).mkdir()
        shutil.copy2(file, folder / str(number) / file.name)
    return folder


def read_all(corpus: Corpus) -> None:
    """Read every file once, so that all runs find them in the page cache."""
    for path in corpus.paths:
        (corpus.folder / path).read_bytes()


@cache
def indexable(root: Path) -> tuple[str, ...]:
    """Return the paths of the text files that the policy allows."""
    paths = (found.path for found in ProjectFiles(root, Settings()).entries() if not isinstance(found, Verdict))
    return tuple(path for path in paths if _is_text(root / path))


def _is_text(file: Path) -> bool:
    with file.open("rb") as opened:
        return find_nul_byte(opened.read(HEAD_BYTES)) is None


def _make_corpus(name: str, folder: Path, paths: tuple[str, ...]) -> Corpus:
    return Corpus(name, folder, paths, sum((folder / path).stat().st_size for path in paths))

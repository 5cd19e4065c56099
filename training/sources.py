"""The repositories of the training data: `python -m training.sources CLONES` checks them and writes the manifest."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORIES_FILE = Path(__file__).with_name("repositories.txt")
MEASURED_FILE = Path(__file__).with_name("measured.txt")
"""The repositories on which search or issue localisation is measured."""
MANIFEST_FILE = Path(__file__).with_name("manifest.json")
"""The name, licence and commit of each repository, and its number of pairs of each kind."""
ALLOWED_LICENCES = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "Zlib", "CC0-1.0", "Unlicense"}
LICENCE_PHRASES = {
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "Apache License",
    "BSD-2-Clause": "Redistribution and use in source and binary forms",
    "BSD-3-Clause": "Redistribution and use in source and binary forms",
    "ISC": "Permission to use, copy, modify",
    "Unlicense": "free and unencumbered",
    "CC0-1.0": "CC0",
}
"""A phrase that the text of each licence contains."""

_LICENCE_FILE = re.compile(r"(mit-)?(licen[cs]e|copying|unlicense)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Repository:
    """A cloned repository of the training data."""

    name: str
    licence: str
    folder: Path
    commit: str


def read_list(file: Path = REPOSITORIES_FILE) -> Iterator[tuple[str, str]]:
    """Yield the names and licences in a list."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, licence = line.partition(" ")
            yield name, licence


@cache
def measured_names() -> frozenset[str]:
    """Return the names, without their owners and in lower case, of the repositories that training may not use."""
    return frozenset(name.lower().partition("/")[2] for name, _ in read_list(MEASURED_FILE))


def repositories(clones: Path) -> list[Repository]:
    """Return every listed repository with its bare clone, `owner+name/repo` below a folder."""
    found = []
    for name, licence in read_list():
        folder = clones / name.replace("/", "+") / "repo"
        found.append(Repository(name, licence, folder, run_git(folder, "rev-parse", "HEAD").strip()))
    return found


def run_git(folder: Path, *words: str, is_partial: bool = False) -> str:
    """Return the output of a git command. With `is_partial`, errors are accepted: some clones lack their largest files."""
    completed = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=not is_partial)
    return completed.stdout.decode(errors="replace")


def find_refusal(name: str, licence: str) -> str | None:
    """Return why a repository may not be used for training, or None. A fork keeps the name, so the name is enough."""
    if name.lower().partition("/")[2] in measured_names():
        return f"{name}: search is measured on it"
    if not set(licence.split(" OR ")) <= ALLOWED_LICENCES:
        return f"{name}: {licence} is not permissive"
    return None


def find_problems(candidates: list[Repository]) -> Iterator[str]:
    """Yield the reasons why repositories may not be used, by their names and by the text of their licence files."""
    for repository in candidates:
        if problem := find_refusal(repository.name, repository.licence):
            yield problem
        text = " ".join(_licence_text(repository.folder).split())
        if not any(LICENCE_PHRASES.get(licence, "\0") in text for licence in repository.licence.split(" OR ")):
            yield f"{repository.name}: its licence file is not {repository.licence}"


def _licence_text(folder: Path) -> str:
    names = [
        name for name in run_git(folder, "ls-tree", "--name-only", "HEAD").split("\n") if _LICENCE_FILE.match(name)
    ]
    names = [name for name in names if run_git(folder, "cat-file", "-t", f"HEAD:{name}").strip() == "blob"]
    return "\n".join(run_git(folder, "show", f"HEAD:{name}")[:4000] for name in names)


def read_manifest() -> list[dict[str, Any]]:
    """Return the rows of the manifest."""
    rows: list[dict[str, Any]] = json.loads(MANIFEST_FILE.read_text(encoding="utf-8"))
    return rows


def write_manifest(rows: list[dict[str, Any]]) -> None:
    """Write the manifest with one row on each line."""
    MANIFEST_FILE.write_text("[\n" + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]\n", encoding="utf-8")


def main(clones: str) -> int:
    """Check the repositories and write the manifest without counts; mining adds them."""
    listed = repositories(Path(clones))
    found = list(find_problems(listed))
    print("\n".join(found) or f"{len(listed)} repositories may be used for training")
    if not found:
        write_manifest([{"name": item.name, "licence": item.licence, "commit": item.commit} for item in listed])
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""`python -m bench.shared PLACE FOLDER...`: measure publishing, serving and beginning with a shared index.

PLACE is a folder or an s3:// address; the files of the folders become one repository. The vectors of the model are random
where they are published, because making them takes an hour; those of changed files are made by the model itself.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench import program
from bench.report import Row, Table
from dowse.encoding.selection import model_version
from dowse.indexes.encoding_progress import record_encoding_complete
from dowse.indexes.index import ProjectIndex
from dowse.publishing import publish as publishing
from dowse.sharing.place_lookup import open_place

MARKER = "a shared index"
FILES, CHANGED_FILES = 3000, 50
QUERIES = (
    "how are redirects followed",
    "class Model",
    "parse a template",
    "serialize json",
    "cache timeout",
    "hash map",
)
ROUNDS = 5


def main() -> int:
    """Measure publishing, serving and beginning with a shared index."""
    parser = argparse.ArgumentParser(prog="python -m bench.shared", description=main.__doc__)
    parser.add_argument("place", help="a folder that does not exist, or an s3:// address without objects")
    parser.add_argument("folders", type=Path, nargs="+", help="the files of the repository")
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    root = _make_repository(work / "project", options.folders)
    rows: list[Row] = [("", "seconds")]
    os.environ["DOWSE_HOME"] = str(work / "publisher")
    setattr(publishing, "encode_now", _encode_at_random)  # noqa: B010 - in place of an hour of encoding
    first = _publish(root, options.place)
    rows.append(
        (
            f"publish {first.version.files:,} files, {first.version.chunks:,} chunks, without the model's time",
            f"{first.seconds:.1f}",
        )
    )
    _change(root)
    _git(root, "commit", "-qam", "Change files")
    rows.append((f"publish {CHANGED_FILES} changed files", f"{_publish(root, options.place).seconds:.1f}"))
    os.environ["DOWSE_HOME"] = str(work / "server")
    times = anyio.run(_serve, options.place)
    rows += [(name, f"{seconds:.2f}") for name, seconds in times.items()]
    _change(root)
    os.environ["DOWSE_HOME"] = str(work / "laptop")
    (work / "laptop").mkdir()
    place = options.place if "://" in options.place else str(Path(options.place).absolute())
    (work / "laptop" / "config.json").write_text(f'{{"sharedIndex": "{place}"}}', encoding="utf-8")
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "dowse", "index", str(root), "--wait"]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    what = f"a checkout with {CHANGED_FILES} other files, until all its chunks are encoded"
    rows.append((what, f"{time.monotonic() - started:.1f}"))
    rows.append(
        ("processor time of that", f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f}")
    )
    return [Table(f"A shared index at {options.place.partition('://')[0]}", rows)]


def _make_repository(root: Path, folders: list[Path]) -> Path:
    found = [
        file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file() and ".git" not in file.parts
    ]
    for number, file in enumerate(found[:FILES]):
        target = root / f"part{number % 7}" / f"{number}-{file.name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "Begin")
    return root


def _change(root: Path) -> None:
    """Add a function to some files."""
    files = [file for file in sorted(root.rglob("*")) if file.suffix in (".php", ".cc", ".h", ".py")]
    for number, file in enumerate(files[:: max(1, len(files) // CHANGED_FILES)][:CHANGED_FILES]):
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"\n// added {time.time_ns()}\nvoid added_{number}() {{ return; }}\n")


def _git(root: Path, *arguments: str) -> None:
    person = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    subprocess.run(["git", "-C", str(root), *person, *arguments], check=True, capture_output=True)


def _publish(root: Path, place: str) -> publishing.PublishReport:
    return publishing.publish(root, open_place(place), lambda *_: None, print)


def _encode_at_random(index: ProjectIndex, *_: Any) -> None:
    """Give each chunk without a vector of the model a random one."""
    version, random = model_version(index.settings) or "", np.random.default_rng(1)
    while chunks := index.whole.catalog.chunks_without_vectors(version, 2000):
        vectors = random.normal(size=(len(chunks), 384)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        index.whole.put_vectors(version, list(zip(chunks, vectors, strict=True)))
    record_encoding_complete(index.whole, index.settings)


async def _serve(place: str) -> dict[str, float]:
    """Return the times of a server without a checkout."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "dowse", "serve", "--store", place, "--only", "code"], env=dict(os.environ)
    )
    started = time.monotonic()
    async with Client(stdio_client(server)) as client:
        await client.list_tools()
        times = {"start of a server with an empty cache": time.monotonic() - started}
        searches = []
        for query in QUERIES * ROUNDS:
            started = time.monotonic()
            await client.call_tool("search_code", {"query": query})
            searches.append(time.monotonic() - started)
        return times | {"its first search": searches[0], "its searches then, p50": statistics.median(searches[6:])}


if __name__ == "__main__":
    sys.exit(main())

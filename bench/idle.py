"""`python -m bench.idle ROOT`: count the warnings in replies about a complete index that nobody touches."""

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters

from bench import calls, program
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from dowse.types import View
from mcp import Client

MARKER = "bench idle"
REPLIES, STARTS = 1000, 20
LEVELS = ("standard", "standard", "standard", "assistant")
"""The tools of the servers, in turns."""
WARNINGS = ("pending", "staleFiles", "newFiles", "warnings", "without", "problems", "leftOut", "truncated")
_SEED = 1


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.idle", description=__doc__)
    parser.add_argument("root", type=Path, metavar="ROOT", help="a project")
    parser.add_argument("--replies", type=int, default=REPLIES, help=f"default: {REPLIES:,}")
    parser.add_argument("--starts", type=int, default=STARTS, help=f"servers (default: {STARTS})")
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(work / "index")
    root = options.root.resolve()
    index = ProjectIndex(root, View.BOTH)
    index.update()
    index.whole.references.catch_up()
    calls.fill_model_vectors(index)
    paths = index.seen_as(View.PROJECT).store.paths()
    index.close()
    found, seconds, numbers = Counter[str](), list[list[float]](), random.Random(_SEED)  # noqa: S311 - not a secret
    for start in range(options.starts):
        level = LEVELS[start % len(LEVELS)]
        seconds.append(
            anyio.run(_ask, root, level, _calls(paths, level, numbers), options.replies // options.starts, found)
        )
        print(f"server {start + 1}, {level}:", dict(found), file=sys.stderr, flush=True)
    total = sum(map(len, seconds))
    rows: list[Row] = [
        ("", "measured", "goal"),
        ("replies", f"{total:,}", ""),
        ("replies with a warning", f"{found['replies']:,}", "0"),
        *((f"of these, with {name}", str(count), "") for name, count in sorted(found.items()) if name != "replies"),
        ("median of a first reply", f"{1000 * median(one[0] for one in seconds):.0f} ms", ""),
        ("median of the others", f"{1000 * median(time for one in seconds for time in one[1:]):.0f} ms", ""),
    ]
    return [Table(f"A complete index of {len(paths):,} files that nobody touches, {options.starts} servers", rows)]


def _calls(paths: list[str], level: str, numbers: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls of all kinds without an end."""
    while True:
        path = numbers.choice(paths)
        name, other = PurePosixPath(path).stem, PurePosixPath(numbers.choice(paths)).stem
        if level == "assistant":
            yield from (
                ("search", {"query": f"where is {name} used with {other}"}), ("find", {"texts": [name]}),
                ("uses", {"names": [name]}), ("read", {"places": [path]}),
            )  # fmt: skip
        else:
            yield from (
                ("search_code", {"query": f"{name} {other}"}), ("find_text", {"text": name}),
                ("search", {"query": f"{other} {name}"}), ("search_by_path", {"pattern": f"**/{name}*"}),
                ("get_index_status", {}),
            )  # fmt: skip


async def _ask(
    root: Path, level: str, asked: Iterator[tuple[str, dict[str, Any]]], count: int, found: Counter[str]
) -> list[float]:
    """Ask one server; return the seconds of each reply, and count the warnings."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dowse", "serve", str(root), "--tools", level],
        env={"DOWSE_HOME": os.environ["DOWSE_HOME"]},
    )
    seconds = list[float]()
    async with Client(server) as client:
        await client.list_tools()
        for _ in range(count):
            tool, arguments = next(asked)
            began = time.perf_counter()
            reply = await client.call_tool(tool, arguments)
            seconds.append(time.perf_counter() - began)
            content = reply.structured_content
            text = "".join(getattr(one, "text", "") for one in reply.content)
            warnings = set(_warnings(content)) if content is not None else {"text"} if "ot complete" in text else set()
            if reply.is_error:
                warnings.add("error")
            if warnings:
                print(tool, arguments, sorted(warnings), text[:300], file=sys.stderr)
                found.update([*warnings, "replies"])
    return seconds


def _warnings(reply: Any) -> Iterator[str]:
    """Yield the names of the warnings anywhere in a reply."""
    if isinstance(reply, dict):
        for name, value in reply.items():
            if (name in WARNINGS and value) or (name == "complete" and value is False):
                yield name
            yield from _warnings(value)
    elif isinstance(reply, list):
        for value in reply:
            yield from _warnings(value)


if __name__ == "__main__":
    sys.exit(main())

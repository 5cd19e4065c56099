"""`python -m bench.onefile DIR`: measure one changed file in a process that has the index open.

The time runs from the write of the file until the change is durable and searchable: ask the policy, read, chunk,
apply. The program prints the median over several files, and the medians of the steps.
"""

import json
import statistics
import sys
import time
from pathlib import Path

from bench.ours import change
from dowse.indexes.freshness.indexer import make_put
from dowse.indexes.index import ProjectIndex
from dowse.parsing.document_parsing import start_parsing
from dowse.types import Batch, Verdict

FILES = 20
"""Number of files, spread over the project so that large and small ones are among them."""


def main(folder: str) -> None:
    """Change files one by one and apply each change by itself."""
    project = ProjectIndex(Path(folder))
    paths = [document.path for document in project.store.documents()]
    chosen = paths[:: max(1, len(paths) // FILES)][:FILES]
    apply_change(project, chosen[0])  # imports parsers, as a running server has done
    times = [parts for path in chosen if (parts := apply_change(project, path))]
    project.close()
    whole = [sum(parts) for parts in times]
    read, chunk, apply = (statistics.median(part) for part in zip(*times, strict=True))
    figures = {"seconds": statistics.median(whole), "worst": max(whole), "read": read, "chunk": chunk, "apply": apply}
    print(json.dumps(figures))


def apply_change(project: ProjectIndex, path: str) -> tuple[float, float, float] | None:
    """Return the seconds to read, chunk and apply one file that has just been written."""
    change(project.root / path)
    started = time.perf_counter()
    entry = project.source.entry(path)
    content = entry if isinstance(entry, Verdict) else project.source.read(entry)
    if isinstance(content, Verdict):
        return None
    read = time.perf_counter()
    parsed = start_parsing(project.source, content[0])()
    if isinstance(parsed, Verdict):
        return None
    put = make_put(parsed)
    chunked = time.perf_counter()
    project.store.apply(Batch(puts=(put,)))
    return read - started, chunked - read, time.perf_counter() - chunked


if __name__ == "__main__":
    main(sys.argv[1])

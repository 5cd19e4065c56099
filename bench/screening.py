"""`python -m bench.screening CORPORA`: measure how much of real files is masked or flagged, and how long that takes."""

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench import corpora, program
from bench.report import Row, Table
from dowse.screening.masking import find_flags, screen_text

MARKER = "bench screening"
PASSAGE_LINES = 40
"""Lines of a passage: about a chunk of code, and four times the length of a shown passage."""


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, lambda options, work: [_table(options, work)])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.screening", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders are corpora")
    parser.add_argument("--code-search", type=Path, metavar="DIR", help="more corpora")
    parser.add_argument("--show", action="store_true", help="print every masked or flagged line")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _table(options: argparse.Namespace, work: Path) -> Table:
    folders = [folder for folder in (options.corpora, options.code_search) if folder]
    roots = [root for folder in folders for root in corpora.find(folder)]
    roots = roots or [corpora.installed_packages(work / "origin")]
    rows: list[Row] = [
        ("corpus", "passages", "masked", "speak to assistants", "hide characters", "median", "99th percentile")
    ]
    kinds: Counter[str] = Counter()
    for root in roots:
        rows.append(_row(root, kinds, shows=options.show))
    print(", ".join(f"{kind} {count}" for kind, count in kinds.most_common()), file=sys.stderr)
    return Table(f"Passages of {PASSAGE_LINES} lines", rows)


def _row(root: Path, kinds: Counter[str], *, shows: bool) -> Row:
    passages, masked, flags, times = 0, 0, Counter[str](), list[float]()
    for path, line, text in _passages(root):
        started = time.perf_counter()
        found = screen_text(text, path=path)
        times.append(time.perf_counter() - started)
        passages += 1
        masked += bool(found.masked)
        kinds.update({mask.kind for mask in found.masked})
        flags.update({flag.kind for flag in find_flags(text)})
        for at in {*(mask.line for mask in found.masked), *(flag.line for flag in found.flags)} if shows else ():
            said = found.text.split("\n")[at - 1].strip()[:120]
            print(f"{root.name}/{path}:{line + at}: {said!a}", file=sys.stderr)
    slow = statistics.quantiles(times, n=100)[98] if len(times) > 1 else 0.0
    return (
        root.name, f"{passages:,}", str(masked), str(flags["instructions"]), str(flags["hidden-characters"]),
        f"{statistics.median(times) * 1e6:.0f} µs", f"{slow * 1e3:.1f} ms",
    )  # fmt: skip


def _passages(root: Path) -> Iterator[tuple[str, int, str]]:
    for path in corpora.indexable(root):
        lines = (root / path).read_bytes().decode("utf-8", "replace").split("\n")
        for at in range(0, len(lines), PASSAGE_LINES):
            yield path, at, "\n".join(lines[at : at + PASSAGE_LINES])


if __name__ == "__main__":
    sys.exit(main())

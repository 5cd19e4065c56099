"""The frame of all benchmarks: work in a temporary folder, print the tables, and write them into a page."""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import machine, page
from bench.report import Table

Measure = Callable[[argparse.Namespace, Path], Sequence[Table]]


def add_markdown(parser: argparse.ArgumentParser, marker: str) -> None:
    """Add the option that writes the tables between the markers of a page."""

    def page_with_markers(value: str) -> Path:
        if not page.has_markers(Path(value), marker):
            raise argparse.ArgumentTypeError(
                f"{value} has no lines {' and '.join(page.marker_lines(marker))} to write between"
            )
        return Path(value)

    help_text = "renew the tables between the markers of FILE"
    parser.add_argument("--markdown", type=page_with_markers, metavar="FILE", help=help_text)


def run(options: argparse.Namespace, marker: str, measure: Measure) -> int:
    """Measure and print the tables."""
    facts = machine.description()
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        tables = measure(options, Path(temporary).resolve())
    print("\n".join([*facts, "", *(table.as_text() for table in tables)]))
    if options.markdown:
        lines = [*(f"- {fact}" for fact in facts), "", *(table.as_markdown() for table in tables)]
        page.replace_between(options.markdown, marker, "\n".join(lines))
    return 0

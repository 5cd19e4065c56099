"""What all programs that measure do: work in a folder of their own, show their tables, and renew a page with them."""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import machine, page
from bench.report import Table

Measure = Callable[[argparse.Namespace, Path], Sequence[Table]]


def add_markdown(parser: argparse.ArgumentParser, place: str) -> None:
    """The option to renew what stands at a place of a page."""

    def page_with_place(value: str) -> Path:
        if not page.has_place(Path(value), place):
            raise argparse.ArgumentTypeError(f"{value} has no lines {' and '.join(page.lines(place))} to write between")
        return Path(value)

    help_text = "renew the tables between the markers of FILE"
    parser.add_argument("--markdown", type=page_with_place, metavar="FILE", help=help_text)


def run(options: argparse.Namespace, place: str, measure: Measure) -> int:
    """Measure and show."""
    facts = machine.description()
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        tables = measure(options, Path(temporary).resolve())
    print("\n".join([*facts, "", *(table.as_text() for table in tables)]))
    if options.markdown:
        said = [*(f"- {fact}" for fact in facts), "", *(table.as_markdown() for table in tables)]
        page.put(options.markdown, place, "\n".join(said))
    return 0

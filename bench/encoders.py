"""`python -m bench.encoders CORPORA`: measure the speed and the memory of the shipped encoders on chunks of real files."""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import corpora, program
from bench.report import Row, Table
from dowse.encoding.packing import encoder_input
from dowse.parsing.document_parsing import start_parsing
from dowse.settings import Settings
from dowse.sources.project_files import ProjectFiles
from dowse.types import Entry, Verdict

MARKER = "bench encoders"
COUNTS = {"static": 20_000, "minilm": 400}
"""Number of chunks that each encodes, some seconds of work."""
FILES = 4000
SEED = 1


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.encoders", description=__doc__)
    parser.add_argument(
        "corpora", type=Path, metavar="CORPORA", help="a folder of corpora; chunks come from all of them"
    )
    program.add_markdown(parser, MARKER)
    return program.run(parser.parse_args(), MARKER, _tables)


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    roots = corpora.find(options.corpora) or [corpora.installed_packages(work / "origin")]
    texts = _chunks(roots)
    mean = sum(map(len, texts)) / len(texts)
    static, minilm = (_measure(name, texts[:count], work) for name, count in COUNTS.items())
    rows: list[Row] = [
        ("one core, processor time", "static table", "to reach", "MiniLM"),
        ("chunks/s", f"{static['encoded']:,.0f}", "≥ 3,000", f"{minilm['encoded']:.1f}"),
        ("opened, with all imports and the files' hashes", _ms(static["opened"]), "", _ms(minilm["opened"])),
        ("a question", _ms(static["question"]), "", _ms(minilm["question"])),
        ("memory of a process that has encoded", _mb(static["bytes"]), "", _mb(minilm["bytes"])),
    ]
    return [Table(f"{min(len(texts), max(COUNTS.values())):,} chunks of {mean:,.0f} characters", rows)]


def _chunks(roots: list[Path]) -> list[str]:
    """Return the encoder inputs of chunks of real files, in a random order that is always the same."""
    found: list[str] = []
    for root in roots:
        source = ProjectFiles(root, Settings())
        entries = [entry for entry in source.entries() if isinstance(entry, Entry)]
        for entry in random.Random(SEED).sample(entries, min(len(entries), FILES // len(roots))):  # noqa: S311
            content = source.read(entry)
            parsed = content if isinstance(content, Verdict) else start_parsing(source, content[0])()
            if not isinstance(parsed, Verdict):
                found += [encoder_input(entry.path, piece.text) for piece in parsed.chunks]
    random.Random(SEED).shuffle(found)  # noqa: S311
    return found


def _measure(name: str, texts: list[str], work: Path) -> dict[str, Any]:
    """Measure an encoder in a process of its own with one thread."""
    file = work / f"{name}.json"
    file.write_text(json.dumps(texts), encoding="utf-8")
    command = [sys.executable, "-m", "bench.inside.encode", name, str(file)]
    figures: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return figures


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


def _mb(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


if __name__ == "__main__":
    sys.exit(main())

"""No file costs more than two seconds or the parser processes more than 300 MB, whatever its content.

In `make soak` every language and format gets bombs of all sizes; `BOMBS` is their number for each, and `BOMB_SEED`
chooses others. In the suite a few of the worst are indexed.
"""

import hashlib
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dowse.parsing.document_parsing import start_parsing
from dowse.parsing.grammars import load_grammar
from dowse.reading.file_reading import read_document
from dowse.reading.languages import language_tables
from dowse.reading.outlines import Outline
from dowse.types import FileContent, Kind, Stat, View
from tests.examples import BOMB_SEED, choose_bombs
from tests.fuzzing import bombs, samples
from tests.fuzzing.bombs import Bomb
from tests.fuzzing.parser_costs import Cost, CostMeter, descendants, private_bytes
from tests.fuzzing.parsers import AnySource
from tests.sample_data import write_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, to measure processes")

MAX_SECONDS = 2.0
REPLACED_SECONDS = 0.5
"""More for a file whose process was ended, for the start of another one, on a busy machine: the worst PDF file takes 1.8 s."""
MAX_POOL_BYTES = 300_000_000
TEXTS = {"md": "markdown", "html": "markdown", "rst": "rst", "adoc": "asciidoc"}
TEXT_BYTES = 50_000
"""All bombs of this size take a reader some seconds, and minutes if the time grew with the square of it."""


def cost_of(path: str, language: str, kind: Kind, data: bytes) -> tuple[Cost, str]:
    """Parse a file as indexing does; return its cost and what its parser could not cope with.

    A small file is parsed before it, so that the start of a parser process, which is no cost of a file, is over.
    """
    _parse(path, language, kind, b"x\n")
    with CostMeter() as meter:
        parsed = _parse(path, language, kind, data)
    return meter.cost, getattr(parsed, "problem", "")


def _parse(path: str, language: str, kind: Kind, data: bytes) -> object:
    stat = Stat(size=len(data), mtime_ns=1, inode=1, ctime_ns=1)
    views = View.DOCUMENTS if kind == "docs" else View.PROJECT
    content = FileContent(path, kind, language, stat, hashlib.sha256(data).digest(), data, views)
    return start_parsing(AnySource(), content)()  # type: ignore[arg-type]


def assert_bounded(where: str, found: list[Bomb], language: str, kind: Kind) -> None:
    over = []
    for bomb in found:
        cost, problem = cost_of(f"page.{where}", language, kind, bomb.data)
        if cost.seconds > MAX_SECONDS + (REPLACED_SECONDS if problem else 0) or cost.peak_bytes > MAX_POOL_BYTES:
            over.append((bomb.name, len(bomb.data), cost, problem))
    assert over == [], where


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", samples.languages())
def test_no_bomb_of_a_language_costs_more_than_two_seconds(language: str) -> None:
    assert load_grammar(language) is not None
    chosen = choose_bombs(
        [(size, bomb.name) for size in bombs.SIZES for bomb in bombs.code_bombs(language, 100)], language
    )
    for size in bombs.SIZES:
        found = [bomb for bomb in bombs.code_bombs(language, size) if (size, bomb.name) in chosen]
        assert_bounded(language, found, language, "code")


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("extension", bombs.FORMATS)
def test_no_bomb_of_a_format_costs_more_than_two_seconds(extension: str) -> None:
    for size in (bombs.SIZES[1], bombs.SIZES[3]):
        assert_bounded(extension, list(bombs.document_bombs(extension, size)), "markdown", "docs")


def index_with_peak(root: Path) -> tuple[str, int]:
    """Run `dowse index`; return what it says and the most memory that its parser processes took together."""
    with subprocess.Popen(
        [sys.executable, "-m", "dowse", "index", root, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        peak = 0
        try:
            while process.poll() is None:
                peak = max(peak, sum(private_bytes(child) for child in descendants(process.pid)))
                signal.sigtimedwait([], 0.01)
        finally:
            process.kill()
        assert process.stdout is not None
        output = process.stdout.read()
    assert process.returncode == 0, output
    assert "Traceback" not in output
    return output, peak


def arrows(size: int) -> bytes:
    """Return the C file of which 480 KB once took 21 GB."""
    return next(bomb.data for bomb in bombs.code_bombs("c", size) if bomb.name.startswith("arrow"))


@pytest.mark.timeout(40)
@pytest.mark.parametrize(("extension", "language"), TEXTS.items())
def test_the_readers_of_text_take_a_bomb_in_seconds(extension: str, language: str) -> None:
    for bomb in bombs.document_bombs(extension, TEXT_BYTES):
        reading = read_document(bomb.data, f"page.{extension}")
        assert reading.title
        assert Outline(reading.text, language).section("nowhere") is None


def test_bombs_are_indexed_as_text_and_the_others_as_ever(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "project",
        {
            "pyproject.toml": "",
            "src/arrows.c": arrows(480_000),
            "docs/lines.md": b"a\n" * 300_000 + b"===\n",
            "src/apple.py": "def peel_apple():\n    pass\n",
        },
    )
    output, peak = index_with_peak(root)
    assert '"filesIndexed": 4' in output
    assert peak < MAX_POOL_BYTES


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_project_of_bombs_is_indexed_within_the_memory_of_the_pool(tmp_path: Path) -> None:
    dice = random.Random(BOMB_SEED)
    files: dict[str, bytes] = {}
    for language in samples.languages():
        bomb = dice.choice(list(bombs.code_bombs(language, dice.choice(bombs.SIZES))))
        files[f"{language}/{bomb.name}.{extension_of(language)}"] = bomb.data
    for extension in bombs.FORMATS:
        bomb = dice.choice(list(bombs.document_bombs(extension, 900_000)))
        files[f"docs/{bomb.name}.{extension}"] = bomb.data
    _, peak = index_with_peak(write_tree(tmp_path / "project", files))
    assert peak < MAX_POOL_BYTES


def extension_of(language: str) -> str:
    extensions = language_tables()["extensions"]
    return next((extension for extension, name in extensions.items() if name == language), language)


def test_every_language_has_bombs() -> None:
    for language in samples.languages():
        assert len(list(bombs.code_bombs(language, 200))) > 40

"""Every command block of README and docs does what the page says."""

import re
import shutil
from pathlib import Path

import click
import pytest

from dowse.cli.command_list import COMMANDS, dowse
from tests.docs.examples import blocks, dowse_commands, pages, read_page
from tests.repository import REPOSITORY

MAX_NOT_RUN = 13
"""Forms of one command, and what needs a registry, a browser or a program of others."""


def name(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


@pytest.mark.parametrize("page", [page for page in pages() if "```console" in page.read_text("utf-8")], ids=name)
def test_the_commands_of_a_page_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    if "$ git " in page.read_text(encoding="utf-8") and not shutil.which("git"):
        pytest.skip("needs git, which the page uses")
    for block, body in read_page(page.read_text(encoding="utf-8"), tmp_path):
        assert body == block.body, f"look at it, and write it with: python -m tests.docs.examples {name(page)}"


@pytest.mark.parametrize("page", [page for page in pages() if "<!-- not run:" in page.read_text("utf-8")], ids=name)
def test_a_command_that_is_not_run_is_one_that_dowse_accepts(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.reason is not None:
            for arguments in dowse_commands(block):
                assert_accepted(dowse, arguments)


def assert_accepted(command: click.Command, arguments: list[str]) -> None:
    """The parser takes the arguments; nothing is run."""
    if (
        isinstance(command, click.Group)
        and arguments
        and (found := command.get_command(click.Context(command), arguments[0]))
    ):
        assert_accepted(found, arguments[1:])
    elif "--help" not in arguments and "--version" not in arguments:
        command.make_context(command.name, list(arguments))


def test_few_blocks_are_not_run() -> None:
    not_run = [
        block for page in pages() for block in blocks(page.read_text(encoding="utf-8")) if block.reason is not None
    ]
    assert len(not_run) <= MAX_NOT_RUN


@pytest.mark.parametrize("page", pages(), ids=name)
def test_no_command_hides_in_a_block_of_another_kind(page: Path) -> None:
    command = re.compile(rf"^(?:\$ )?dowse (?:{'|'.join(COMMANDS)})\b", re.MULTILINE)
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [body for language, body in found if language not in ("console", "sh") and command.search(body)] == []

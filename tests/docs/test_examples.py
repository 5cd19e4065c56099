"""Every command block of README and docs does what the page says."""

import re
import shutil
from pathlib import Path

import pytest

from dowse.cli.command_list import COMMANDS
from tests.docs.choices import Chooser, choices
from tests.docs.examples import blocks, pages, read_page
from tests.repository import REPOSITORY


def name(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


@pytest.mark.parametrize("page", [page for page in pages() if "```console" in page.read_text("utf-8")], ids=name)
def test_the_commands_of_a_page_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    if "$ git " in page.read_text(encoding="utf-8") and not shutil.which("git"):
        pytest.skip("needs git, which the page uses")
    for block, body in read_page(page.read_text(encoding="utf-8"), tmp_path):
        assert body == block.body, f"look at it, and write it with: python -m tests.docs.examples {name(page)}"


def test_every_command_of_a_choice_succeeds(tmp_path: Path) -> None:
    chooser, tried = Chooser(tmp_path), list[list[str]]()
    for page in pages():
        for block in blocks(page.read_text(encoding="utf-8")):
            for words in choices(block) if block.is_choice else ():
                if words not in tried:
                    chooser.choose(words)
                    tried.append(words)
    assert len(tried) > 40


def test_no_command_hides_in_a_block_of_another_kind() -> None:
    for page in pages():
        command = re.compile(rf"^(?:\$ )?dowse (?:{'|'.join(COMMANDS)})\b", re.MULTILINE)
        text = page.read_text(encoding="utf-8")
        found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        assert [body for language, body in found if language not in ("console", "sh") and command.search(body)] == []

"""The block of instructions is short, is replaced in place, and leaves the rest as it was."""

from pathlib import Path

import pytest

from dowse.assistants.guidance import BEGIN, END, INSTRUCTIONS, put_guidance, remove_guidance

FILE = Path("AGENTS.md")


def test_the_instructions_are_short_and_name_the_tools() -> None:
    assert len(INSTRUCTIONS.split()) <= 150
    assert all(f"`{name}`" in INSTRUCTIONS for name in ("search", "read", "find", "uses"))


@pytest.mark.parametrize("text", ["# Rules\n", "# Rules", "# Rules\r\n\r\nBe kind.\r\n"])
def test_the_block_goes_to_the_end_and_away_again(text: str) -> None:
    put = put_guidance(FILE, text)
    assert put.startswith(text)
    assert put.rstrip().endswith(END)
    assert put_guidance(FILE, put) == put
    assert (remove_guidance(put) or "").rstrip() == text.rstrip()


def test_an_earlier_block_is_replaced_where_it_stands() -> None:
    text = f"# Rules\n\n{BEGIN}\nold\n{END}\n\nBe kind.\n"
    put = put_guidance(FILE, text)
    assert "old" not in put
    assert put.index("`search`") < put.index("Be kind.")
    assert remove_guidance(put) == "# Rules\n\nBe kind.\n"


def test_a_text_without_a_block_has_nothing_to_remove() -> None:
    assert remove_guidance("# Rules\n") is None
    assert remove_guidance(f"{BEGIN}\nnever ends\n") is None


@pytest.mark.parametrize(
    ("file", "beginning"),
    [
        (".claude/skills/dowse/SKILL.md", "---\nname: dowse\n"),
        (".claude/agents/dowse-search.md", "---\nname: dowse-search\n"),
        (".cursor/rules/dowse.mdc", "---\ndescription:"),
        ("AGENTS.md", BEGIN),
    ],
)
def test_a_file_of_our_own_begins_as_its_reader_expects(file: str, beginning: str) -> None:
    assert put_guidance(Path(file), "").startswith(beginning)

"""docs/site.md agrees with the program."""

import json
import re
import shlex

from dowse.cli.site_command import site
from dowse.sites import index_sources, site_constants
from dowse.sites.index_check import MAX_INDEX_BYTES, inspect_bytes
from dowse.surfaces.sites.sites_surface import MAX_RESULTS
from tests.repository import REPOSITORY

PAGE = (REPOSITORY / "docs" / "site.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_every_command_shown_is_taken() -> None:
    shown = [
        line
        for block in (*blocks("console"), *blocks("yaml"))
        for line in re.findall(r"(dowse site .+)$", block, re.MULTILINE)
    ]
    assert len(shown) >= 5
    for line in shown:
        _, _, name, *arguments = shlex.split(line)
        command = site.commands[name]
        command.make_context(name, arguments)


def test_the_example_of_the_format_is_good() -> None:
    (example,) = blocks("json")
    assert inspect_bytes(json.dumps(json.loads(example)).encode()).problems == ()


def test_limits_and_weights_are_those_of_the_program() -> None:
    assert f"1 to {MAX_RESULTS}" in PAGE
    assert f"at most {MAX_INDEX_BYTES >> 20} MB and {index_sources.FETCH_SECONDS:.0f} seconds" in PAGE
    body, title, abstract, topics = site_constants.FIELD_WEIGHTS
    assert f"body {body}, title {title:.2f}, abstract {abstract:.2f}, topics {topics}" in PAGE

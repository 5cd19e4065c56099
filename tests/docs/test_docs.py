"""The documentation agrees with the program: generated parts are up to date, the rest is compared."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import click
from docs.command_reference import commands_page, errors_page
from docs.reference import KEYS, reference
from docs.settings_reference import with_settings

from dowse.cli.command_list import COMMANDS, dowse
from dowse.cli.composition import ComposedServer, Offer
from dowse.keeping.served_index import Service
from dowse.settings import write_default_settings
from dowse.sources.denylist import categories
from dowse.types import Reason
from mcp import Client
from tests.repository import REPOSITORY
from tests.sample_data import index, write_tree

DOCS = REPOSITORY / "docs"
MEASURED = sorted((REPOSITORY / "bench").glob("*.md"))
PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted(DOCS.rglob("*.md")), *MEASURED]
RENEW = "renew it with: python docs/reference.py"
FREE_KEYS = ("skipped", "corrected", "searchedBy")
"""The values of these keys are objects whose keys are data, such as reasons and words."""


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def prose(text: str) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def inline_code(text: str) -> set[str]:
    """Return the inline code of a page."""
    return set(re.findall(r"`([^`\n]+)`", prose(text)))


# The tools


def test_the_reference_of_the_tools_is_what_the_server_tells() -> None:
    assert page("tools.md") == reference(), RENEW


def test_the_reference_marks_only_keys_as_optional_that_a_reply_may_lack() -> None:
    """Once every key was marked as optional: the required keys are in the first alternative of the schema."""
    search, status = (
        next(line for line in page("tools.md").split(f"## `{tool}`")[1].splitlines() if line.startswith("Reply:"))
        for tool in ("search_code", "get_index_status")
    )
    assert "`results` (" in search
    assert "`totalResults`," in search
    assert "`coverage`?" in search
    assert "`status`," in status
    assert "`storageSize`?" in status


def test_every_key_of_a_reply_is_in_the_reference(tmp_path: Path) -> None:
    replies = anyio.run(every_reply, small_project(tmp_path))
    assert {key for reply in replies for key in keys_of(reply)} <= inline_code(page("tools.md"))


def test_the_reference_explains_no_key_that_the_program_does_not_know() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in (REPOSITORY / "src").rglob("*.py"))
    assert [key for key in KEYS if not re.search(rf"\b{key}\b", sources)] == []


def small_project(tmp_path: Path) -> Path:
    code = {f"src/module{n}.py": f"def function{n}():\n    return {n}\n" * 30 for n in range(30)}
    root = write_tree(tmp_path / "small", {**code, "README.md": "# Small\n\nSome words.\n", ".env": "secret"})
    index(root)
    write_tree(root, {"src/new.py": "new = 1\n", "src/module1.py": "changed = 1\n"})
    return root


async def every_reply(root: Path) -> list[dict[str, Any]]:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_code", {"query": "function1"}),
        ("search_code", {"query": "functoin", "top_k": 50}),
        ("search_docs", {"query": "words"}),
        ("search_by_path", {"pattern": "**/*.py", "limit": 2}),
        ("search_by_path", {"pattern": "["}),
        ("get_index_status", {}),
        ("list_projects", {}),
        ("reindex_file", {"path": "src/module1.py"}),
        ("reindex_project", {}),
        ("delete_index", {"confirm": True}),
        ("get_index_status", {}),
        ("search_code", {"query": "function1"}),
    ]
    async with Client(ComposedServer(Service([root]), root, Offer(("code",), budget_tokens=1000)).server()) as client:
        return [dict((await client.call_tool(*call)).structured_content or {}) for call in calls]


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner) if key not in FREE_KEYS else ()


# The commands and their errors


def test_the_reference_of_the_commands_is_their_help() -> None:
    assert page("commands.md") == commands_page(), RENEW


def test_the_reference_of_the_errors_is_what_the_code_has() -> None:
    assert page("errors.md") == errors_page(), RENEW


def test_every_command_is_documented() -> None:
    for command in COMMANDS:
        assert any(
            f"dowse {command}" in text.read_text(encoding="utf-8") for text in PAGES if text.name != "commands.md"
        )


def test_every_option_of_the_server_is_documented() -> None:
    options = [name for option in serve_command().params if isinstance(option, click.Option) for name in option.opts]
    assert [name for name in options if name not in page("clients.md") + page("http.md")] == []


def serve_command() -> click.Command:
    found = dowse.get_command(click.Context(dowse), "serve")
    assert found is not None
    return found


# The clients


def test_a_json_configuration_of_a_client_starts_the_server() -> None:
    for block in blocks(page("clients.md") + page("how-to/monorepos.md"), "json"):
        content = json.loads(block)
        servers = content.get("mcpServers") or content["servers"]
        assert_starts_the_server(servers["dowse"])


def test_a_toml_configuration_of_a_client_starts_the_server() -> None:
    for block in blocks(page("clients.md"), "toml"):
        assert_starts_the_server(tomllib.loads(block)["mcp_servers"]["dowse"])


def assert_starts_the_server(entry: dict[str, Any]) -> None:
    """The command is dowse, and it accepts the arguments."""
    name, *arguments = entry["args"]
    assert (Path(entry["command"]).name, name) == ("dowse", "serve")
    serve_command().make_context("serve", arguments)


# The settings


def test_the_table_of_the_settings_is_what_the_code_has() -> None:
    assert page("configuration.md") == with_settings(page("configuration.md")), RENEW


def test_every_setting_is_documented_with_its_default(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    write_default_settings(file)
    written = json.loads(file.read_text(encoding="utf-8"))
    defaults = {key: value for key, value in written.items() if not key.startswith("_")}
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \|", page("configuration.md"), flags=re.MULTILINE)
    assert {key: json.loads(value) for key, value in rows if key in defaults} == defaults


def test_the_example_of_a_settings_file_is_one() -> None:
    for block in blocks(page("configuration.md"), "json"):
        assert isinstance(json.loads(block), dict)


def test_every_pattern_that_is_never_indexed_is_documented() -> None:
    patterns = {pattern for category in categories() for pattern in (*category.patterns, *category.files)}
    assert sorted(patterns - inline_code(page("concepts/never-read.md"))) == []


def test_every_reason_to_leave_a_file_out_is_documented() -> None:
    assert sorted({str(reason) for reason in Reason} - inline_code(page("concepts/never-read.md"))) == []


# All pages


def test_every_link_leads_somewhere() -> None:
    for file in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(file.read_text(encoding="utf-8"))):
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            leads_to = file.parent / name if name else file
            assert leads_to.exists(), target
            if anchor:
                assert anchor in anchors(leads_to), target


def anchors(file: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(file.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_navigation_of_the_site_once() -> None:
    listed = re.findall(r'"([^"]+\.md)"', page("zensical.toml"))
    assert sorted(listed) == sorted(set(listed))
    assert sorted({f"docs/{file.relative_to(DOCS)}" for file in DOCS.rglob("*.md")} - set(listed)) == []


def test_every_figure_of_the_readme_is_one_of_the_benchmarks() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+\|(.+)\| `(?:make|python)[^|]+\|$", readme, flags=re.MULTILINE)
    figures = [cell.strip() for row in rows for cell in row.split("|") if cell.strip()]
    assert len(figures) > 12
    assert [figure for figure in figures if f"| {figure}" not in page("benchmarks.md")] == []


def test_every_figure_of_the_benchmarks_was_measured() -> None:
    rows = re.findall(r"^\| [^|]+\|(.+)\|$", page("benchmarks.md"), flags=re.MULTILINE)
    figures = [cell.strip() for row in rows for cell in row.split("|") if re.match(r"\d", cell.strip())]
    assert len(figures) > 90
    measured = "".join(file.read_text(encoding="utf-8") for file in MEASURED)
    assert [figure for figure in figures if not re.search(rf"[|/:] {re.escape(figure)}(?!\w)", measured)] == []

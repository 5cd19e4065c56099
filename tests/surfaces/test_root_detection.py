"""Detection of the project root when no folder is given."""

from pathlib import Path
from typing import Any

import pytest
from mcp_types import ErrorData, ListRootsResult, Root
from pydantic import FileUrl

from tests.sample_data import index, write_tree
from tests.surfaces.project.project_client import (
    CANCEL,
    DECLINE,
    ScriptedUser,
    accept,
    call_tool,
    connect,
    expect_error,
)

pytestmark = pytest.mark.anyio

CODE = {"src/deep/a.py": "apple = 1\n"}


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A folder without a marker."""
    return write_tree(tmp_path / "plain", CODE)


def detected_root(mode: str, start: Path, **client: Any) -> str:
    """Return the project that a server detects when it starts in a folder."""
    return str(call_tool(mode, "get_index_status", start=start, client=client)["projectPath"])


# Markers


@pytest.mark.parametrize("marker", [".git/HEAD", ".git", "package.json", "pyproject.toml", "Cargo.toml", "go.mod"])
def test_the_nearest_folder_upwards_with_a_marker_is_the_project(plain: Path, marker: str) -> None:
    write_tree(plain, {marker: "gitdir: elsewhere\n"})
    assert detected_root("auto", plain / "src/deep") == str(plain)


def test_nobody_is_asked_where_there_is_a_marker(plain: Path) -> None:
    write_tree(plain, {"package.json": "{}"})
    user = ScriptedUser()
    assert detected_root("auto", plain, **user.client) == str(plain)
    assert user.questions == []


@pytest.mark.parametrize("folder", ["/", "home", "above home"])
def test_a_whole_disk_and_a_home_are_never_detected(storage: Path, folder: str) -> None:
    start = {"/": Path("/"), "home": storage.parent, "above home": storage.parent.parent}[folder]
    assert expect_error("auto", "create_index", start=start)["code"] == "PROJECT_NOT_DETECTED"


def test_a_home_that_is_named_is_served(storage: Path) -> None:
    write_tree(storage.parent, {"a.py": "apple = 1\n"})
    assert call_tool("auto", "get_index_status", storage.parent)["projectPath"] == str(storage.parent)


# Clients that cannot ask the user


def test_a_folder_that_is_never_read_is_not_detected(tmp_path: Path) -> None:
    start = write_tree(tmp_path, {".git/config": "", ".git/hooks/x": ""}) / ".git" / "hooks"
    (start.parent / "package.json").write_text("{}", encoding="utf-8")
    assert expect_error("auto", "create_index", start=start)["code"] == "PROJECT_NOT_DETECTED"


async def test_without_a_marker_the_folder_itself_is_taken_and_every_reply_says_so(plain: Path, mode: str) -> None:
    index(plain)
    async with connect(mode, start=plain) as assistant:
        for tool, arguments in (
            ("get_index_status", {}), ("search_code", {"query": "apple"}), ("search_by_path", {"pattern": "**"}), ("create_index", {})
        ):  # fmt: skip
            reply = await assistant.call_tool(tool, **arguments)
            assert reply["warnings"] == ["No project marker was found; the folder 'plain' is used as the project."], (
                tool
            )


# Clients that ask the user


@pytest.mark.parametrize("answer", ["", "1", " 1 ", "{default}"])
def test_a_person_may_choose_the_folder_we_are_in(plain: Path, mode: str, answer: str) -> None:
    user = ScriptedUser(accept(path=answer.format(default=plain)))
    assert detected_root(mode, plain, **user.client) == str(plain)
    assert user.questions == [
        f"Could not detect project root.\n[1] Use current directory: {plain}\n[2] Enter a custom path"
    ]
    assert user.fields[0]["path"]["default"] == str(plain)


async def test_a_person_may_name_another_folder(plain: Path, tmp_path: Path, mode: str) -> None:
    other = write_tree(tmp_path / "other", CODE)
    async with connect(mode, start=plain, **ScriptedUser(accept(path=str(other))).client) as assistant:
        assert (await assistant.call_tool("get_index_status"))["projectPath"] == str(other)
        assert (await assistant.call_tool("get_index_status"))["projectPath"] == str(other), "and is asked once"


def test_a_home_is_written_short(storage: Path, plain: Path, mode: str) -> None:
    write_tree(storage.parent, {"mine/a.py": ""})
    assert detected_root(mode, plain, **ScriptedUser(accept(path="~/mine")).client) == str(storage.parent / "mine")


NONSENSE = [
    "nonsense", "2", "src", "..", "/nowhere/at/all", "~nobody-of-that-name/x", "\0", "x" * 5000, "/", "~", "{home}", "{home}/..",
    "{plain}/src/deep/a.py", "{plain}/.git",
]  # fmt: skip


async def test_an_answer_that_is_no_project_is_refused_and_asked_for_again(
    storage: Path, plain: Path, mode: str
) -> None:
    (plain / ".git").mkdir()
    start = write_tree(plain.parent / "start", CODE)
    answers = [accept(path=answer.format(home=storage.parent, plain=plain)) for answer in NONSENSE]
    user = ScriptedUser(*answers, DECLINE, CANCEL, accept(path=str(plain)))
    async with connect(mode, start=start, **user.client) as assistant:
        for answer in (*NONSENSE, "decline", "cancel"):
            error = await assistant.expect_error("get_index_status")
            assert error["code"] == "PROJECT_NOT_DETECTED", answer
        assert (await assistant.call_tool("get_index_status"))["projectPath"] == str(plain)


async def test_where_the_folder_we_are_in_is_too_wide_it_is_not_offered(storage: Path, plain: Path, mode: str) -> None:
    user = ScriptedUser(accept(path=""), accept(path="1"), accept(path=str(plain)))
    async with connect(mode, start=storage.parent, **user.client) as assistant:
        for _ in range(2):
            assert (await assistant.expect_error("get_index_status"))["code"] == "PROJECT_NOT_DETECTED"
        assert (await assistant.call_tool("get_index_status"))["projectPath"] == str(plain)
    assert str(storage.parent) not in user.questions[0]
    assert "default" not in user.fields[0]["path"]


def test_the_root_and_the_consent_are_asked_in_turn(plain: Path, mode: str) -> None:
    user = ScriptedUser(accept(path="1"), accept())
    reply = call_tool(mode, "create_index", start=plain, client=user.client)
    assert (reply["status"], reply["filesIndexed"]) == ("success", 1)
    assert user.questions[1] == "Index 1 files of plain?"


# Roots of a client of the older protocol


def client_roots(*uris: str) -> dict[str, Any]:
    async def listed(_context: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(uri)) for uri in uris])

    return {"list_roots_callback": listed}


async def test_the_folders_of_the_client_are_served(plain: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "with space", CODE)
    roots = client_roots(plain.as_uri(), other.as_uri(), plain.as_uri())
    async with connect("legacy", start=tmp_path, **roots) as assistant:
        reply = await assistant.call_tool("get_index_status")
        assert [one["projectPath"] for one in reply["projects"]] == [str(plain), str(other)]
        assert "project" in (await assistant.tools())["search_code"].input_schema["properties"]


def test_the_folders_of_the_client_do_not_count_where_one_was_named(plain: Path, root: Path) -> None:
    assert call_tool("legacy", "get_index_status", root, client=client_roots(plain.as_uri()))["projectPath"] == str(
        root
    )


async def test_a_folder_of_the_client_that_is_no_project_is_said_once(
    storage: Path, plain: Path, tmp_path: Path
) -> None:
    write_tree(tmp_path, {".git/hooks/x": "", "file.py": ""})
    unserved = [
        "file:///", storage.parent.as_uri(), "file:///nowhere/at/all", f"file://elsewhere{plain}",
        (tmp_path / ".git/hooks").as_uri(), (tmp_path / "file.py").as_uri(), "file:///%00",
    ]  # fmt: skip
    write_tree(plain, {"go.mod": ""})
    async with connect("legacy", start=plain, **client_roots(*unserved)) as assistant:
        for _ in range(3):
            await assistant.tools()
            reply = await assistant.call_tool("get_index_status")
        assert reply["projectPath"] == str(plain)
        refused = [warning for warning in reply["warnings"] if "root of the client" in warning]
        assert refused == list(dict.fromkeys(refused)) != []


def test_a_client_that_cannot_tell_its_folders_has_none(plain: Path) -> None:
    async def broken(_context: object) -> ErrorData:
        return ErrorData(code=-32603, message="no idea")

    write_tree(plain, {"go.mod": ""})
    assert detected_root("legacy", plain, list_roots_callback=broken) == str(plain)


def test_a_client_of_the_newer_protocol_is_not_asked_for_its_folders(plain: Path, root: Path) -> None:
    write_tree(plain, {"go.mod": ""})
    assert detected_root("auto", plain, **client_roots(root.as_uri())) == str(plain)

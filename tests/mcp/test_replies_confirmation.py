"""Questions before an index is created, rebuilt or deleted; nothing changes unless the user accepts."""

import json
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ErrorData, InputRequiredResult

from dowse.indexes.index import ProjectIndex
from dowse.store import storage_layout
from tests.sample_data import write_tree
from tests.surfaces.project.conftest import INDEXED
from tests.surfaces.project.project_client import (
    CANCEL,
    DECLINE,
    Assistant,
    ScriptedUser,
    accept,
    call_tool,
    connect,
    content_of,
)

pytestmark = pytest.mark.anyio

QUESTIONS = {
    "create_index": f"Index {len(INDEXED)} files of fruit?",
    "reindex_project": "This will rebuild the entire index. Continue?",
    "delete_index": "Delete the index for this project? This cannot be undone.",
}
NOT_YES = {"decline": DECLINE, "cancel": CANCEL, "accept with false": accept(x=False)}


def index_state(root: Path) -> dict[str, object]:
    """Return the state of an index: its JSON files, the identity of its database, and its content."""
    folder = storage_layout.index_folder(root)
    names = ("config.json", "fingerprints.json", "docs-fingerprints.json")
    project = ProjectIndex(root)
    documents = [(document.id, document.path, document.content_hash) for document in project.store.documents()]
    project.close()
    files = {name: (folder / name).read_bytes() for name in names}
    return {**files, "catalog": (folder / "catalog.sqlite").stat().st_ino, "documents": documents}


async def test_a_person_is_asked_and_a_yes_is_done(root: Path, mode: str) -> None:
    user = ScriptedUser(accept(), accept(), accept())
    async with connect(mode, root, **user.client) as assistant:
        for tool in QUESTIONS:  # create, rebuild, delete
            assert (await assistant.call_tool(tool))["status"] == "success", tool
            assert storage_layout.index_folder(root).exists() == (tool != "delete_index")
    assert user.questions == list(QUESTIONS.values())


async def test_anything_but_a_yes_changes_nothing(indexed: Path, mode: str) -> None:
    before = index_state(indexed)
    user = ScriptedUser(*NOT_YES.values(), *NOT_YES.values(), *NOT_YES.values())
    async with connect(mode, indexed, **user.client) as assistant:
        for tool in QUESTIONS:
            for answer in NOT_YES:
                assert await assistant.call_tool(tool) == {"status": "cancelled"}, (tool, answer)
                assert index_state(indexed) == before, (tool, answer)
    assert len(user.questions) == 9


def test_a_project_that_nobody_agreed_to_index_leaves_no_trace(root: Path, storage: Path, mode: str) -> None:
    assert call_tool(mode, "create_index", root, client=ScriptedUser(DECLINE).client) == {"status": "cancelled"}
    assert not storage.exists()


async def test_an_argument_does_not_replace_the_question(indexed: Path, mode: str) -> None:
    before, user = index_state(indexed), ScriptedUser(DECLINE, DECLINE, DECLINE)
    async with connect(mode, indexed, **user.client) as assistant:
        for tool in QUESTIONS:
            assert await assistant.call_tool(tool, confirm=True) == {"status": "cancelled"}, tool
    assert user.questions == list(QUESTIONS.values())
    assert index_state(indexed) == before


def test_a_client_that_cannot_show_its_question_after_all_has_not_said_yes(indexed: Path) -> None:
    async def broken(_context: object, _question: object) -> ErrorData:
        return ErrorData(code=-32603, message="no window")

    before = index_state(indexed)
    reply = call_tool("legacy", "delete_index", indexed, client={"elicitation_callback": broken})
    assert reply == {"status": "cancelled"}
    assert index_state(indexed) == before


# Clients that cannot ask the user


async def test_what_destroys_needs_a_word_when_nobody_can_be_asked(indexed: Path, mode: str) -> None:
    async with connect(mode, indexed) as assistant:
        before = index_state(indexed)
        for tool in ("reindex_project", "delete_index"):
            for confirm in (False, None):
                reply = await assistant.call_tool(tool, confirm=confirm)
                assert (reply["status"], reply["question"]) == ("cancelled", QUESTIONS[tool])
                assert "confirm: true" in reply["message"]
        assert index_state(indexed) == before
        assert (await assistant.call_tool("delete_index", confirm=True))["status"] == "success"


# Larger than maxFiles


@pytest.fixture
def large(root: Path, storage: Path) -> Path:
    """A project with more files than `maxFiles`."""
    write_tree(storage, {"config.json": json.dumps({"maxFiles": 1})})
    return root


LARGE = f"This project is very large ({len(INDEXED)} files). Indexing may take several minutes. Continue?"


def test_a_large_project_needs_a_word_when_nobody_can_be_asked(large: Path, mode: str) -> None:
    reply = call_tool(mode, "create_index", large)
    assert (reply["status"], reply["code"], reply["question"]) == ("cancelled", "FILE_LIMIT_WARNING", LARGE)
    assert not storage_layout.index_folder(large).exists()
    assert call_tool(mode, "create_index", large, confirm=True)["filesIndexed"] == len(INDEXED)


# Forged answers of clients of the newer protocol


async def call_with_yes(assistant: Assistant, tool: str, state: str | None) -> CallToolResult | InputRequiredResult:
    """Call a tool again with a yes, and the state that the server gave, as clients of the newer protocol do."""
    return await assistant.client.session.call_tool(
        tool, {}, input_responses={"confirm": accept()}, request_state=state, allow_input_required=True
    )


async def state_of_question(assistant: Assistant, tool: str) -> str | None:
    """Call a tool, and return the state that comes with its question."""
    asked = await assistant.client.session.call_tool(tool, {}, allow_input_required=True)
    assert isinstance(asked, InputRequiredResult)
    return asked.request_state


async def test_an_answer_that_nobody_asked_for_counts_for_nothing(indexed: Path) -> None:
    async with connect("auto", indexed, **ScriptedUser().client) as assistant:
        before = index_state(indexed)
        assert isinstance(await call_with_yes(assistant, "delete_index", None), InputRequiredResult)
        assert index_state(indexed) == before


@pytest.mark.parametrize("state", ["", "x", '{"confirm": {"question": "' + QUESTIONS["delete_index"] + '"}}', None])
async def test_a_state_that_is_not_of_this_question_is_refused(indexed: Path, state: str | None) -> None:
    """Neither one that we did not give, nor that of a question about something else."""
    async with connect("auto", indexed, **ScriptedUser().client) as assistant:
        before = index_state(indexed)
        given = state if state is not None else await state_of_question(assistant, "reindex_project")
        with pytest.raises(MCPError):
            await call_with_yes(assistant, "delete_index", given)
        assert index_state(indexed) == before


async def test_a_question_whose_facts_changed_is_asked_again(root: Path) -> None:
    async with connect("auto", root, **ScriptedUser().client) as assistant:
        state = await state_of_question(assistant, "create_index")
        write_tree(root, {"src/new.py": "fig = 1\n"})
        again = await call_with_yes(assistant, "create_index", state)
        assert isinstance(again, InputRequiredResult)
        assert again.input_requests
        assert again.input_requests["confirm"].params.message == f"Index {len(INDEXED) + 1} files of fruit?"  # type: ignore[union-attr]
        done = await call_with_yes(assistant, "create_index", again.request_state)
        assert isinstance(done, CallToolResult)
        assert content_of(done)["filesIndexed"] == len(INDEXED) + 1

"""The SDK's own client over HTTP, in both revisions of the protocol, alone and among others."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp_types import CallToolResult, ElicitResult

from mcp import Client
from tests.mcp.http.conftest import FRUIT
from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import OLDER, PATIENCE_SECONDS
from tests.sample_data import index, write_tree

pytestmark = pytest.mark.anyio


def mode_of(revision: str) -> Any:
    return "legacy" if revision == OLDER else "auto"


async def call_tool(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Return the reply of a call that succeeds."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result
    assert isinstance(result.structured_content, dict)
    return result.structured_content


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server of several projects; all but one are indexed."""
    folder = tmp_path_factory.mktemp("market")
    known = [write_tree(folder / name, {"a.py": f"{name} = 1\n"}) for name in ("one", "two", "three", "four")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOWSE_HOME", str(folder / "dowse"))
        index(*known)
    fruit = write_tree(folder / "fruit", FRUIT)
    with HttpServer(fruit, *known, home=folder) as server:
        yield server
        assert "Traceback" not in server.stderr


async def test_a_question_and_its_answer(market: HttpServer, revision: str) -> None:
    questions, answers = list[str](), [ElicitResult(action="decline"), ElicitResult(action="accept", content={})]
    project = "three" if revision == OLDER else "four"

    async def answer(_context: object, question: Any) -> ElicitResult:
        questions.append(question.message)
        return answers.pop(0)

    options: dict[str, Any] = {"elicitation_callback": answer}
    async with Client(market.url, mode=mode_of(revision), **options) as client:
        assert client.protocol_version == revision
        replies = [await call_tool(client, "delete_index", project=project) for _ in range(2)]
        assert [reply["status"] for reply in replies] == ["cancelled", "success"]
    assert questions == ["Delete the index for this project? This cannot be undone."] * 2


async def test_two_clients_that_are_asked_at_once_are_each_asked_their_own(market: HttpServer) -> None:
    asked: list[str] = []

    async def delete(project: str, action: Any) -> None:
        async def answer(context: Any, params: Any) -> ElicitResult:
            asked.append(project)
            with anyio.fail_after(PATIENCE_SECONDS):
                while len(asked) < 2:  # the other is asked before we answer
                    await anyio.sleep(0.01)
            return ElicitResult(action=action, content={} if action == "accept" else None)

        async with Client(market.url, mode="legacy", elicitation_callback=answer) as client:
            status = (await call_tool(client, "delete_index", project=project))["status"]
            assert status == ("success" if action == "accept" else "cancelled")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(delete, "one", "accept")
        tasks.start_soon(delete, "two", "decline")
    assert sorted(asked) == ["one", "two"]

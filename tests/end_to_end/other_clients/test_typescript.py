"""The TypeScript SDK's clients over stdio and HTTP, in both revisions of the protocol.

Each client has one long conversation with a server of every surface, in Node; the tests examine its transcript.
The SDK validates every reply against the tool's output schema, and ends the conversation when one is invalid.
"""

from dataclasses import dataclass

import pytest

from tests.end_to_end.other_clients.sample_server import FILES, write_sample_server
from tests.end_to_end.other_clients.typescript_client import CALLS, CLIENTS, Client, Transcript, run_client
from tests.mcp.stdio.stdio_client import is_alive, wait_until

CONFIRMED = {
    "create": "Index 5 files of fruit?",
    "reindex": "This will rebuild the entire index. Continue?",
    "delete": "Delete the index for this project? This cannot be undone.",
}
DOCUMENTS = [name for name in sorted(FILES) if name.startswith("fruit/docs/")]
CANCELLED_BY_THE_CLIENT = {-32001, "REQUEST_TIMEOUT"}
"""The error codes of a cancelled request in version 1 and version 2 of the SDK."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A client, its transport and its transcript."""

    client: Client
    is_over_http: bool
    transcript: Transcript


def conversation(client: Client, transport: str, *marks: pytest.MarkDecorator) -> object:
    return pytest.param((client, transport == "http"), id=f"{client.name}-{transport}", marks=marks)


ONE, LEGACY, MODERN = CLIENTS


@pytest.fixture(
    scope="module",
    params=[
        conversation(LEGACY, "http", pytest.mark.soak),
        conversation(MODERN, "stdio"),
        conversation(MODERN, "http", pytest.mark.soak),
        conversation(ONE, "http", pytest.mark.soak),
        conversation(ONE, "stdio", pytest.mark.soak),
        conversation(LEGACY, "stdio", pytest.mark.soak),
    ],
)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Conversation:
    client, is_over_http = request.param
    sample_server = write_sample_server(tmp_path_factory.mktemp("everything"), has_orchard=True)
    return Conversation(client, is_over_http, run_client(client, sample_server, is_over_http=is_over_http))


@pytest.fixture
def transcript(recorded: Conversation) -> Transcript:
    return recorded.transcript


def test_the_server_says_what_it_is_and_what_it_can(recorded: Conversation) -> None:
    transcript = recorded.transcript
    if transcript["revision"] is not None:  # over stdio the older SDK does not report it
        assert transcript["revision"] == recorded.client.revision
    assert transcript["server"]["name"] == "dowse"
    assert transcript["capabilities"]["resources"] == {"subscribe": False, "listChanged": True}
    assert "tools" in transcript["capabilities"]
    assert "prompts" not in transcript["capabilities"]
    assert transcript["instructions"]


def test_every_tool_of_every_surface_is_listed_once_with_both_schemas_and_its_marks(transcript: Transcript) -> None:
    names = [tool["name"] for tool in transcript["tools"]]
    assert len(names) == len(set(names))
    assert {name for name, _ in CALLS} | {"create_index", "reindex_project", "delete_index"} <= set(names)
    for tool in transcript["tools"]:
        assert {tool[key]["type"] for key in ("inputSchema", "outputSchema")} == {"object"}, tool["name"]
        assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(tool["annotations"])


def test_a_call_of_every_kind_is_answered_and_fits_its_output_schema(transcript: Transcript) -> None:
    assert {name: reply["content"] for name, reply in transcript["calls"].items() if reply["isError"]} == {}
    replies = {name: reply["content"] for name, reply in transcript["calls"].items()}
    assert [hit["path"] for hit in replies["search_code"]["results"]] == ["fruit/src/apple.py"]
    assert [hit["path"] for hit in replies["search_docs"]["results"]] == ["fruit/docs/guide.md"]
    assert replies["search_by_path"]["matches"] == ["fruit/src/apple.py"]
    assert replies["get_index_status"]["status"] == "ready"
    assert [hit["uri"] for hit in replies["search_documents"]["results"]] == ["docs://fruit/docs/note.txt"]
    assert replies["search_fruit"]["results"][0]["path"] == "/posts/peeling-apples"
    assert {hit["document"]["source"] for hit in replies["searchLocalArchives"]["results"]} == {
        "research",
        "url-content",
    }
    assert replies["search_index"]["query_parsed"]["must"] == ["figs"]


def test_a_wrong_call_is_a_reply_that_says_what_is_wrong(transcript: Transcript) -> None:
    wrong = {title: reply.get("result", {}).get("content") for title, reply in transcript["wrong"].items()}
    assert wrong.pop("no such tool") is None
    assert transcript["wrong"]["no such tool"]["code"] == -32602
    assert wrong.pop("no such index") == {"error": "Index not found: nothing"}
    for title, reply in wrong.items():
        assert reply["code"] == "INVALID_ARGUMENT", title
        assert set(reply) == {"code", "userMessage", "developerMessage"}
    assert all(reply["result"]["isError"] for reply in transcript["wrong"].values() if "result" in reply)
    assert (transcript["before"]["isError"], transcript["before"]["content"]["code"]) == (True, "INDEX_NOT_FOUND")


@pytest.mark.parametrize("step", CONFIRMED)
def test_a_person_is_asked_and_only_a_yes_counts(transcript: Transcript, step: str) -> None:
    assert [reply["content"]["status"] for reply in transcript[step]] == ["cancelled", "success"]
    assert transcript["questions"].count(CONFIRMED[step]) == 2


def test_progress_is_told_up_to_the_last_file(transcript: Transcript) -> None:
    ours = [step for step in transcript["progress"] if step["message"].startswith("Indexing")]
    assert [step["progress"] for step in ours] == sorted(step["progress"] for step in ours)
    assert (ours[-1]["progress"], ours[-1]["total"]) == (5, 5)


def test_every_document_that_is_listed_is_read(transcript: Transcript) -> None:
    uris = [f"docs://{name}" for name in DOCUMENTS]
    assert [resource["uri"] for resource in transcript["resources"]] == uris
    assert [(read["uri"], read["mimeType"]) for read in transcript["read"]] == [
        (resource["uri"], resource["mimeType"]) for resource in transcript["resources"]
    ]
    assert all(read["text"] for read in transcript["read"])
    assert transcript["missing"]["message"].endswith("Resource not found: docs://fruit/nothing.md")


def test_a_missing_document_has_the_code_of_the_revision(recorded: Conversation) -> None:
    """The 2.x client reports the newer code for the older one."""
    expected = -32002 if recorded.client is ONE else -32602
    assert recorded.transcript["missing"]["code"] == expected


def test_the_client_hears_that_the_list_of_documents_changed(transcript: Transcript) -> None:
    assert transcript["fresh"]["isHeard"]
    assert "docs://fruit/docs/new.md" in transcript["fresh"]["uris"]


def test_a_call_that_is_given_up_harms_nobody(recorded: Conversation) -> None:
    transcript = recorded.transcript
    assert transcript["cancelled"]["code"] in CANCELLED_BY_THE_CLIENT
    assert transcript["afterwards"]["content"]["status"] == "ready"


def test_nothing_comes_that_the_client_does_not_understand(recorded: Conversation) -> None:
    """Except the message on a cancelled request with which the older revision ends a stream over HTTP."""
    strange = [error for error in recorded.transcript["errors"] if "Request cancelled" not in error]
    assert strange == []


def test_the_server_ends_with_its_client(recorded: Conversation) -> None:
    """Over HTTP the server keeps running; tests/mcp/http/test_app_shutdown.py tests its end."""
    process = recorded.transcript["pid"]
    assert recorded.is_over_http == (process is None)
    wait_until(lambda: process is None or not is_alive(process))

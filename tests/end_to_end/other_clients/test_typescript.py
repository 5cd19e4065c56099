"""The TypeScript SDK's clients, from the first list to the last goodbye, over stdio and HTTP, in both revisions.

Each has one long conversation with a server of every surface, in Node; what it tells of it is looked at here.
The SDK holds every reply against the tool's output schema, and ends the conversation when one does not fit.
"""

from dataclasses import dataclass

import pytest

from tests.end_to_end.other_clients.sample_server import FILES, write_everything
from tests.end_to_end.other_clients.typescript_client import CALLS, CLIENTS, Client, Told, talk
from tests.mcp.stdio.stdio_client import NEWER, OLDER, is_alive, wait_until

CONFIRMED = {
    "create": "Index 5 files of fruit?",
    "reindex": "This will rebuild the entire index. Continue?",
    "delete": "Delete the index for this project? This cannot be undone.",
}
DOCUMENTS = [name for name in sorted(FILES) if name.startswith("fruit/docs/")]
CANCELLED_BY_THE_CLIENT = {-32001, "REQUEST_TIMEOUT"}
"""How the SDKs of one and of two packages call a request that was given up."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Who spoke with what over which wire, and what was told of it."""

    client: Client
    is_over_http: bool
    told: Told


def conversation(client: Client, wire: str, *marks: pytest.MarkDecorator) -> object:
    return pytest.param((client, wire == "http"), id=f"{client.name}-{wire}", marks=marks)


ONE, LEGACY, MODERN = CLIENTS


@pytest.fixture(
    scope="module",
    params=[
        conversation(ONE, "stdio"),
        conversation(LEGACY, "http"),
        conversation(MODERN, "stdio"),
        conversation(MODERN, "http"),
        conversation(ONE, "http", pytest.mark.soak),
        conversation(LEGACY, "stdio", pytest.mark.soak),
    ],
)
def talked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Conversation:
    client, is_over_http = request.param
    everything = write_everything(tmp_path_factory.mktemp("everything"), has_orchard=True)
    return Conversation(client, is_over_http, talk(client, everything, is_over_http=is_over_http))


@pytest.fixture
def told(talked: Conversation) -> Told:
    return talked.told


def test_the_server_says_what_it_is_and_what_it_can(talked: Conversation) -> None:
    told = talked.told
    if told["revision"] is not None:  # over stdio the older SDK keeps it to itself
        assert told["revision"] == talked.client.revision
    assert told["server"]["name"] == "dowse"
    assert told["capabilities"]["resources"] == {"subscribe": False, "listChanged": True}
    assert "tools" in told["capabilities"]
    assert "prompts" not in told["capabilities"]
    assert told["instructions"]


def test_every_tool_of_every_surface_is_listed_once_with_both_schemas_and_its_marks(told: Told) -> None:
    names = [tool["name"] for tool in told["tools"]]
    assert len(names) == len(set(names))
    assert {name for name, _ in CALLS} | {"create_index", "reindex_project", "delete_index"} <= set(names)
    for tool in told["tools"]:
        assert {tool[key]["type"] for key in ("inputSchema", "outputSchema")} == {"object"}, tool["name"]
        assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(tool["annotations"])


def test_a_call_of_every_kind_is_answered_and_fits_its_output_schema(told: Told) -> None:
    assert {name: reply["content"] for name, reply in told["calls"].items() if reply["isError"]} == {}
    replies = {name: reply["content"] for name, reply in told["calls"].items()}
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


def test_a_wrong_call_is_a_reply_that_says_what_is_wrong(told: Told) -> None:
    wrong = {title: reply.get("result", {}).get("content") for title, reply in told["wrong"].items()}
    assert wrong.pop("no such tool") is None
    assert told["wrong"]["no such tool"]["code"] == -32602
    assert wrong.pop("no such index") == {"error": "Index not found: nothing"}
    for title, reply in wrong.items():
        assert reply["code"] == "INVALID_ARGUMENT", title
        assert set(reply) == {"code", "userMessage", "developerMessage"}
    assert all(reply["result"]["isError"] for reply in told["wrong"].values() if "result" in reply)
    assert (told["before"]["isError"], told["before"]["content"]["code"]) == (True, "INDEX_NOT_FOUND")


@pytest.mark.parametrize("step", CONFIRMED)
def test_a_person_is_asked_and_only_a_yes_counts(told: Told, step: str) -> None:
    assert [reply["content"]["status"] for reply in told[step]] == ["cancelled", "success"]
    assert told["questions"].count(CONFIRMED[step]) == 2


def test_progress_is_told_up_to_the_last_file(told: Told) -> None:
    ours = [step for step in told["progress"] if step["message"].startswith("Indexing")]
    assert [step["progress"] for step in ours] == sorted(step["progress"] for step in ours)
    assert (ours[-1]["progress"], ours[-1]["total"]) == (5, 5)


def test_every_document_that_is_listed_is_read(told: Told) -> None:
    uris = [f"docs://{name}" for name in DOCUMENTS]
    assert [resource["uri"] for resource in told["resources"]] == uris
    assert [(read["uri"], read["mimeType"]) for read in told["read"]] == [
        (resource["uri"], resource["mimeType"]) for resource in told["resources"]
    ]
    assert all(read["text"] for read in told["read"])
    assert told["missing"]["message"].endswith("Resource not found: docs://fruit/nothing.md")


def test_a_missing_document_has_the_code_of_the_revision(talked: Conversation) -> None:
    """The client of 2.x calls the older code by the newer one's name."""
    expected = -32002 if talked.client is ONE else -32602
    assert talked.told["missing"]["code"] == expected


def test_the_client_hears_that_the_list_of_documents_changed(told: Told) -> None:
    assert told["fresh"]["isHeard"]
    assert "docs://fruit/docs/new.md" in told["fresh"]["uris"]


def test_a_call_that_is_given_up_harms_nobody(talked: Conversation) -> None:
    told = talked.told
    assert told["cancelled"]["code"] in CANCELLED_BY_THE_CLIENT
    assert told["afterwards"]["content"]["status"] == "ready"


def test_nothing_comes_that_the_client_does_not_understand(talked: Conversation) -> None:
    """But a last word on what was given up: the older revision over HTTP ends a stream with one."""
    strange = [error for error in talked.told["errors"] if "Request cancelled" not in error]
    assert strange == []


def test_the_server_ends_with_its_client(talked: Conversation) -> None:
    """Over HTTP it goes on; tests/http/test_uvicorn_server_shutdown.py has its end."""
    process = talked.told["pid"]
    assert talked.is_over_http == (process is None)
    wait_until(lambda: process is None or not is_alive(process))


def test_the_clients_that_are_tested_speak_both_revisions() -> None:
    assert {client.revision for client in CLIENTS} == {OLDER, NEWER}

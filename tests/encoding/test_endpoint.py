"""An encoder behind an OpenAI-compatible endpoint: a real local server that serves our table, and misbehaves."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dowse.encoder_endpoint import EncoderEndpoint, parse_endpoint
from dowse.encoding import endpoint as endpoint_module
from dowse.encoding.endpoint import PROBE_TEXTS, open_endpoint, request_vectors
from dowse.encoding.endpoint_record import version_of
from dowse.encoding.selection import is_of_other_endpoint, model_version, open_version
from dowse.encoding.shipped import static_encoder
from dowse.errors import EndpointFailed, Failed
from dowse.settings import Settings
from tests.encoding.embedding_server import EmbeddingServer, serving

KEY = "sk-test-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setattr(endpoint_module, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(endpoint_module, "MAX_PAUSE_SECONDS", 0.01)
    with serving(EmbeddingServer()) as running:
        yield running


def named(server: EmbeddingServer, **more: Any) -> EncoderEndpoint:
    return parse_endpoint({"url": server.url, "model": "our-table", **more})


def test_a_text_gets_the_vector_of_the_server_whatever_its_width(server: EmbeddingServer) -> None:
    encoder = open_endpoint(named(server))
    texts = ["read a file", "bake a cake", "read the lines of a file"]
    rows = encoder.encode(texts)
    assert rows.shape == (3, 258)
    assert encoder.dimensions == 258
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    ours = np.array(server.vectors(texts))
    assert np.allclose(rows, ours / np.linalg.norm(ours, axis=1, keepdims=True), atol=1e-6)
    assert np.allclose(encoder.encode_query("read a file"), rows[0], atol=1e-6)
    assert encoder.encode([]).shape == (0, 258)
    assert {request["path"] for request in server.requests} == {"/v1/embeddings"}
    assert {request["model"] for request in server.requests} == {"our-table"}
    assert {request["key"] for request in server.requests} == {None}


@pytest.mark.parametrize(
    ("url", "path"),
    [("", "/v1/embeddings"), ("/", "/v1/embeddings"), ("/v1", "/v1/embeddings"), ("/api/v2/", "/api/v2/embeddings"),
     ("/v1/embeddings", "/v1/embeddings"), ("/v1?version=2", "/v1/embeddings?version=2")],
)  # fmt: skip
def test_the_address_of_the_server_is_enough(server: EmbeddingServer, url: str, path: str) -> None:
    open_endpoint(parse_endpoint({"url": server.url + url, "model": "m"}))
    assert server.requests[0]["path"] == path


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"url": "http://127.0.0.1:1"}, "has no text as 'model'"),
        ({"url": 5, "model": "m"}, "has no text as 'url'"),
        ({"url": "http://127.0.0.1:1", "model": "m", "key": "x"}, "unknown key 'key'"),
        ({"url": "http://127.0.0.1:1", "model": "m", "keyVariable": 1}, "not text"),
        ({"url": "http://127.0.0.1:1", "model": "m", "allowRemote": "yes"}, "not true or false"),
        ({"url": "ftp://127.0.0.1", "model": "m"}, "not an address"),
        ({"url": "http://127.0.0.1:99999", "model": "m"}, "not an address"),
        ({"url": "http://127.0.0.1:1/\r\nX: y", "model": "m"}, "not an address"),
        ({"url": "http://user:pass@127.0.0.1:1", "model": "m"}, "keyVariable"),
        ({"url": "http://example.com", "model": "m", "allowRemote": True}, "not encrypted"),
        ({"url": "http://127.0.0.1.example.com", "model": "m", "allowRemote": True}, "not encrypted"),
        ({"url": "https://example.com", "model": "m"}, '"allowRemote": true'),
    ],
)
def test_text_goes_only_where_the_user_said_so(value: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem.replace("(", r"\(")):
        parse_endpoint(value)


def test_this_machine_has_several_addresses_and_others_are_allowed_with_encryption() -> None:
    for host in ("127.0.0.1", "127.1.2.3", "[::1]", "localhost", "LOCALHOST"):
        assert parse_endpoint({"url": f"http://{host}:8080", "model": "m"}).is_local
    assert not parse_endpoint({"url": "https://example.com/v1", "model": "m", "allowRemote": True}).is_local


def test_the_key_comes_from_the_environment_and_is_never_shown(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = named(server, keyVariable="TEST_ENDPOINT_KEY")
    with pytest.raises(EndpointFailed, match="TEST_ENDPOINT_KEY is not set in the environment"):
        open_endpoint(endpoint)
    monkeypatch.setenv("TEST_ENDPOINT_KEY", "a\nb")
    with pytest.raises(EndpointFailed, match="characters that no key has"):
        open_endpoint(endpoint)
    assert server.requests == []
    monkeypatch.setenv("TEST_ENDPOINT_KEY", KEY)
    open_endpoint(endpoint)
    assert server.requests[0]["key"] == f"Bearer {KEY}"
    server.statuses = [(401, json.dumps({"error": {"message": f"Incorrect key {KEY}"}}))]
    with pytest.raises(EndpointFailed, match="answered 401") as raised:
        open_endpoint(endpoint)
    assert KEY not in str(raised.value)
    assert len(server.requests) == 2, "a wrong key stays wrong"


def test_secrets_are_masked_before_a_text_is_sent(server: EmbeddingServer) -> None:
    encoder = open_endpoint(named(server))
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    encoder.encode([f'token = "{token}"\n', "x = 1\n" * 660 + f'token = "{token}"\n'])
    encoder.encode_query(f"where is {token} used")
    sent = server.texts[len(PROBE_TEXTS) :]
    assert len(sent) == 3
    assert not [text for text in sent if token[:16] in text]
    assert "[masked: " in sent[0]
    assert "[masked: " in sent[2]


def test_prefixes_tell_queries_from_documents_and_belong_to_the_version(server: EmbeddingServer) -> None:
    endpoint = named(server, queryPrefix="query: ", documentPrefix="passage: ")
    encoder = open_endpoint(endpoint)
    encoder.encode(["a file"])
    encoder.encode_query("a file")
    assert server.texts[-2:] == ["passage: a file", "query: a file"]
    assert version_of(endpoint) != version_of(named(server))


@pytest.mark.parametrize(
    ("distort", "problem"),
    [
        (lambda items: items[:-1], "replied with 1 vectors for 2 texts"),
        (lambda items: [*items, items[0]], "replied with 3 vectors for 2 texts"),
        (lambda items: [items[0], {**items[1], "embedding": items[1]["embedding"][:9]}], "different dimensions"),
        (lambda items: [{**item, "embedding": item["embedding"][:9]} for item in items], "9 dimensions instead of 258"),
        (lambda items: [{**item, "embedding": [*item["embedding"][:-1], float("nan")]} for item in items], "infinite or none"),
        (lambda items: [{**item, "embedding": [1e300] * 258} for item in items], "infinite or none"),
        (lambda items: [{**item, "embedding": [0] * 258} for item in items], "a vector of zeros"),
        (lambda items: [{**item, "embedding": "AAAA"} for item in items], "what is no list of vectors|convert"),
        (lambda items: [{**item, "index": 0} for item in items], "numbers are not those of the texts"),
        (lambda items: [{"index": 0}, {"index": 1}], "what is no list of vectors"),
        (lambda items: None, "what is no list of vectors"),
        (lambda items: [[[]]] * 2, "what is no list of vectors"),
    ],
)  # fmt: skip
def test_a_wrong_reply_is_an_error_that_says_what_is_wrong(
    server: EmbeddingServer, distort: Callable[[list[dict[str, Any]]], Any], problem: str
) -> None:
    encoder = open_endpoint(named(server))
    server.distort = distort
    with pytest.raises(EndpointFailed, match=problem) as raised:
        encoder.encode(["a file", "a cake"])
    assert str(raised.value).startswith(f"{server.url}/v1/embeddings ")


def test_vectors_may_come_in_any_order_or_without_numbers(server: EmbeddingServer) -> None:
    encoder = open_endpoint(named(server))
    rows = encoder.encode(["a file", "a cake"])
    server.distort = lambda items: items[::-1]
    assert np.allclose(encoder.encode(["a file", "a cake"]), rows)
    server.distort = lambda items: [{"embedding": item["embedding"]} for item in items]
    assert np.allclose(encoder.encode(["a file", "a cake"]), rows)


def test_a_busy_server_is_asked_again_and_a_wrong_request_is_not(server: EmbeddingServer) -> None:
    encoder = open_endpoint(named(server))
    asked = len(server.requests)
    server.statuses, server.headers = [(503, "loading"), (429, "")], {"Retry-After": "1"}
    assert encoder.encode(["a file"]).shape == (1, 258)
    assert len(server.requests) == asked + 3
    server.statuses = [(404, json.dumps({"error": 'model "x" not found, try pulling it first'}))]
    with pytest.raises(EndpointFailed, match='answered 404 Not Found: model "x" not found, try pulling it first'):
        encoder.encode(["a file"])
    server.statuses = [(500, "")] * 9
    with pytest.raises(EndpointFailed, match="answered 500"):
        encoder.encode(["a file"])
    assert len(server.statuses) == 6, "after three attempts it is an error"


def test_a_text_that_is_too_long_for_the_server_is_sent_shorter(server: EmbeddingServer) -> None:
    encoder = open_endpoint(named(server))
    server.max_characters = 600
    rows = encoder.encode(["word " * 400, "short"])
    assert rows.shape == (2, 258)
    assert {len(text) for text in server.texts[len(PROBE_TEXTS) :]} == {2000, 1000, 500, 5}
    server.max_characters = 20
    with pytest.raises(EndpointFailed, match="too long for the context"):
        encoder.encode(["word " * 400])


def test_redirects_are_not_followed(server: EmbeddingServer) -> None:
    server.statuses, server.headers = [(307, "")], {"Location": f"{server.url}/elsewhere"}
    with pytest.raises(EndpointFailed, match="redirects to another address, which is not followed"):
        open_endpoint(named(server))
    assert len(server.requests) == 1


def test_no_proxy_of_the_environment_sees_what_goes_to_this_machine(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.lower(), "http://127.0.0.1:9")
    open_endpoint(named(server))
    assert len(server.requests) == 1


def test_a_server_that_is_away_or_hangs_is_said_and_queries_do_not_wait_for_it_each_time(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_module, "QUERY_SECONDS", 0.2)
    encoder = open_endpoint(named(server))
    server.is_hanging = True
    for _ in range(3):
        with pytest.raises(EndpointFailed, match="does not answer"):
            encoder.encode_query("a file")
    assert len(server.requests) == 2
    gone = parse_endpoint({"url": "http://127.0.0.1:9", "model": "m"})
    with pytest.raises(EndpointFailed, match=r"does not answer .*refused.*\. Start the server, or choose another"):
        request_vectors(gone, ["a"], None)


def test_a_common_direction_of_all_vectors_is_removed(server: EmbeddingServer) -> None:
    """Models whose unrelated texts have cosines of 0.7 would find everything near, and lose precision in eight bits."""
    server.common = 1.5
    encoder = open_endpoint(named(server))
    texts = ["open a file and read it", "read the lines of a file", "the dog barks at night"]
    near, far = encoder.encode(texts)[0] @ encoder.encode(texts)[1:].T
    ours = static_encoder().encode(texts)
    assert near == pytest.approx(float(ours[0] @ ours[1]), abs=0.15)
    assert far < 0.3
    again = open_endpoint(named(server))
    assert again.version == encoder.version
    assert np.array_equal(again.encode(texts), encoder.encode(texts))


def test_another_model_behind_the_same_name_gets_another_version(server: EmbeddingServer) -> None:
    settings = Settings(encoder=named(server))
    assert (model_version(settings) or "").endswith("-unknown")
    first = open_endpoint(named(server)).version
    assert model_version(settings) == first
    assert open_version(first, settings, str).version == first
    server.distort = lambda items: [{**item, "embedding": item["embedding"][::-1]} for item in items]
    second = open_endpoint(named(server)).version
    assert second != first
    assert model_version(settings) == second
    assert is_of_other_endpoint(first, settings)
    assert not is_of_other_endpoint(second, settings)


def test_an_endpoint_that_the_settings_no_longer_name_is_not_asked(server: EmbeddingServer) -> None:
    version = open_endpoint(named(server)).version
    asked = len(server.requests)
    assert is_of_other_endpoint(version, Settings())
    with pytest.raises(Failed, match="is not on this machine"):
        open_version(version, Settings(), str)
    assert len(server.requests) == asked


def test_a_damaged_record_is_made_anew(server: EmbeddingServer) -> None:
    version = open_endpoint(named(server)).version
    (file,) = Path(os.environ["DOWSE_HOME"]).glob("endpoint-*.json")
    for content in ("", "[]", '{"probe": 5}', '{"probe": "AAA"}', '{"probe": null}'):
        file.write_text(content, encoding="utf-8")
        assert version_of(named(server)).endswith("-unknown")
        assert open_endpoint(named(server)).version == version

"""An encoder behind an endpoint, from the user's settings to the reply of a search, with its server there and away."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dowse.cli.encoding_output import format_encoding
from dowse.encoding.endpoint import PROBE_TEXTS
from dowse.encoding_worker.client import EncodingClient
from dowse.encoding_worker.encode_now import encode_now
from dowse.errors import Failed
from dowse.indexes.encoder_state import serving_version
from dowse.indexes.encoding_progress import EncodingProgress, find_endpoint_problem
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search
from dowse.indexes.query_vectors import InProcessEncoder
from dowse.searching.search import SearchOptions
from tests.encoding.embedding_server import EmbeddingServer, serving
from tests.encoding_worker.conftest import StartEncoder, wait_until
from tests.sample_data import write_tree

Indexed = Callable[[Path], ProjectIndex]

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving(EmbeddingServer()) as running:
        yield running


def choose(storage: Path, encoder: Any) -> None:
    storage.mkdir(parents=True, exist_ok=True)
    (storage / "config.json").write_text(json.dumps({"encoder": encoder}), encoding="utf-8")


def encode(project: ProjectIndex) -> dict[str, Any]:
    return encode_now(project, lambda _done, _total: None, lambda _text: None).as_json


def encode_progress(project: ProjectIndex) -> EncodingProgress:
    progress = project.encoding()
    assert progress
    return progress


def found_by(project: ProjectIndex, encoder: Any) -> tuple[list[str], str]:
    answer, _ = search(project, "how to peel a fruit", SearchOptions(5), encoder=encoder)
    return [hit.path for hit in answer.hits], answer.skipped_method


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "dowse", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)


def test_an_endpoint_encodes_files_and_queries_and_search_goes_on_when_it_is_away(
    root: Path, storage: Path, indexed: Indexed, server: EmbeddingServer, start: StartEncoder
) -> None:
    write_tree(root, {"key.py": f'TOKEN = "{TOKEN}"\n'})
    choose(storage, {"url": server.url, "model": "our-table"})
    project = indexed(root)
    progress = encode(project)
    version = progress["encoder"]
    assert version.startswith("endpoint-our-table-")
    assert (progress["state"], progress["done"]) == ("complete", 4)
    assert progress["endpoint"] == f"our-table at {server.url}/v1/embeddings"
    sent = server.texts[len(PROBE_TEXTS) :]
    assert len(sent) == 4
    assert TOKEN not in "".join(sent)
    assert serving_version(project.whole, project.settings) == version

    asked = len(server.texts)
    paths, skipped = found_by(project, InProcessEncoder(project.settings))
    assert paths
    assert skipped == ""
    assert server.texts[asked:] == [*PROBE_TEXTS, "how to peel a fruit"]

    client = start()
    wait_until(lambda: client.encode_query(version, "a fruit", 5.0) is not None)
    port = int(server.url.rpartition(":")[2])
    assert "all 4 chunks encoded by our-table at " in format_encoding(encode_progress(project))
    assert find_endpoint_problem(project.settings) is None

    server.statuses = [(503, "busy")] * 100
    paths, skipped = found_by(project, client)
    assert paths, "the words and the table still answer"
    assert skipped == f"http://127.0.0.1:{port}/v1/embeddings answered 503 Service Unavailable: busy"
    checked = run("doctor", root)
    assert checked.returncode == 1
    assert f"encoder: http://127.0.0.1:{port}/v1/embeddings answered 503" in checked.stdout


def test_a_server_that_is_not_there_is_named_and_the_index_is_usable(
    root: Path, storage: Path, indexed: Indexed, start: Callable[[], EncodingClient]
) -> None:
    choose(storage, {"url": "http://127.0.0.1:9", "model": "m"})
    project = indexed(root)
    with pytest.raises(Failed, match=r"http://127.0.0.1:9/v1/embeddings does not answer .*Start the server"):
        encode(project)
    encoding = encode_progress(project)
    assert encoding.state == "failed"
    assert "does not answer" in (encoding.problem or "")
    paths, _ = found_by(project, InProcessEncoder(project.settings))
    assert paths
    client = start()
    problems: list[str] = []

    def is_refused() -> bool:
        try:
            client.encode_query(encoding.encoder or "", "a fruit", 1.0)
        except Failed as error:
            problems.append(str(error))
        return bool(problems)

    wait_until(is_refused)
    assert "does not answer" in problems[0]


def test_the_vectors_of_one_encoder_serve_until_the_other_is_complete(
    root: Path, storage: Path, indexed: Indexed, server: EmbeddingServer
) -> None:
    """From ours to the endpoint and back, and to another model behind the same name: nothing is mixed."""
    choose(storage, {"url": server.url, "model": "our-table"})
    first = encode(indexed(root))["encoder"]
    server.distort = lambda items: [{**item, "embedding": item["embedding"][:40]} for item in items]
    (root / "kiwi.py").write_text("def peel_kiwi(): return 'green'\n", encoding="utf-8")
    project = indexed(root)
    second = encode(project)
    assert second["encoder"] != first
    assert second["done"] == 4
    assert set(project.whole.catalog.encoders()) == {"dowse-static-2", second["encoder"]}
    assert found_by(project, InProcessEncoder(project.settings))[1] == ""
    project.close()
    choose(storage, "none")
    asked = len(server.requests)
    assert found_by(indexed(root), InProcessEncoder(project.settings))[0]
    choose(storage, "dowse")
    assert serving_version(indexed(root).whole, indexed(root).settings) == "dowse-minilm-2"
    assert len(server.requests) == asked


def test_a_secret_that_is_cut_between_chunks_is_masked_before_it_is_sent(
    tmp_path: Path, storage: Path, indexed: Indexed, server: EmbeddingServer
) -> None:
    body = "\n".join(f"MIIEowIBAAKCAQEA{number:04}" + "k9Xw2Lq7Rt5Yb3Nd8Fg6" * 2 for number in range(60))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n"
    root = write_tree(tmp_path / "p", {"test_key.py": f'VALUE = 1\nKEY = """\n{key}"""\n' + "x = 1\n" * 300})
    choose(storage, {"url": server.url, "model": "our-table"})
    project = indexed(root)
    assert encode(project)["done"] > 1
    assert "k9Xw2Lq7Rt5Yb3Nd8Fg6" not in "".join(server.texts)

"""A place in a bucket of a real S3 server, and the failures of stores."""

import os
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from dowse.errors import Failed
from dowse.places import place_table
from dowse.places.place_table import SharedPlace
from mcp import Client, StdioServerParameters
from tests import lance_extra
from tests.api.publishing.shared_places import commit, found_at, make_project, publish_words
from tests.http_server import serving
from tests.s3_server import make_bucket, needs_s3_server

pytestmark = needs_s3_server
lance_extra.import_or_skip()
PLACE = "s3://team/code"


@pytest.fixture
def bucket(s3_url: str) -> Any:
    return make_bucket("team")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "animals")


@pytest.mark.anyio
@pytest.mark.usefixtures("bucket")
async def test_a_commit_in_a_bucket_is_served_to_an_assistant(project: Path, capfd: Any) -> None:
    publish_words(project, PLACE)
    commit(project, {"src/pond.py": "def count_ducks():\n    return 3\n"})
    report = publish_words(project, PLACE)
    assert report.added == 1
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "dowse", "serve", "--store", PLACE], env=dict(os.environ)
    )
    async with Client(stdio_client(program)) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        reply = await client.call_tool("search_code", {"query": "count ducks"})
    assert not tools & {"create_index", "delete_index", "reindex_project", "reindex_file"}
    content = reply.content[0]
    assert isinstance(content, TextContent)
    assert "src/pond.py" in content.text
    assert report.project.commit in content.text
    assert "secret" not in capfd.readouterr().err


@pytest.mark.usefixtures("bucket")
def test_what_is_wrong_with_a_bucket_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failed, match="cannot be written"):
        publish_words(project, "s3://nobody/code")
    with monkeypatch.context() as wrong:
        wrong.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(Failed, match=r"secret key is wrong|have no access"):
            found_at(PLACE, "cow")
    with monkeypatch.context() as away:
        away.setattr(place_table, "CONNECT_SECONDS", 1)
        away.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
        with pytest.raises(Failed, match="does not answer"):
            found_at(PLACE, "cow")


class Careless(BaseHTTPRequestHandler):
    """A store that accepts every write, whatever its condition is."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response_only(200)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_DELETE(self) -> None:
        self.send_response_only(204)
        self.end_headers()


def test_a_store_that_ignores_conditions_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch, s3_url: str
) -> None:
    with serving(Careless) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", url)
        with pytest.raises(Failed, match="ignores the condition"):
            SharedPlace(PLACE).make_table()
        with pytest.raises(Failed, match="ignores the condition"):
            publish_words(project, PLACE)

"""A shared index in a bucket of a real S3 server."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from dowse.errors import Failed, UsageError
from dowse.publishing.publish import require_conditions
from dowse.sharing import object_place, s3_place
from dowse.sharing.place_lookup import open_place
from mcp import Client, StdioServerParameters
from tests.publishing.shared_places import commit, found_at, make_project, publish_words
from tests.s3_server import make_bucket, needs_s3_server
from tests.sharing.faulty_store import careless_store, faulty_store

pytestmark = needs_s3_server
lancedb = pytest.importorskip("lancedb", reason="needs the extra lance")
PLACE = "s3://team/animals"


@pytest.fixture
def bucket(s3_url: str) -> Any:
    return make_bucket("team")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "animals")


@pytest.mark.anyio
async def test_a_commit_in_a_bucket_is_served_to_an_assistant(bucket: Any, project: Path, capfd: Any) -> None:
    report = publish_words(project, PLACE)
    commit(project, {"src/pond.py": "def count_ducks():\n    return 3\n"})
    assert publish_words(project, PLACE).added == 1
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dowse", "serve", "--store", PLACE, "--only", "code"],
        env=dict(os.environ),
    )
    async with Client(stdio_client(program)) as client:
        reply = await client.call_tool("search_code", {"query": "count ducks"})
    content = reply.content[0]
    assert isinstance(content, TextContent)
    assert "src/pond.py" in content.text
    assert f"From the shared index {PLACE}: commit" in content.text
    assert report.version.commit not in content.text, "the first commit is not the one that is served"
    assert "secret" not in capfd.readouterr().err
    table = lancedb.connect(f"{PLACE}/index.lancedb", storage_options=dict(open_place(PLACE).options))
    assert table.open_table("project_docs").count_rows() == 3


def test_a_write_has_a_condition_that_the_store_checks(bucket: Any) -> None:
    place = open_place("s3://team/conditions")
    require_conditions(place)
    first = place.write("a", b"1", replaces=None)
    assert first
    assert place.write("a", b"2", replaces=None) is None
    second = place.write("a", b"2", replaces=first)
    assert second
    assert place.write("a", b"3", replaces=first) is None
    found = place.read("a")
    assert found == (b"2", second)
    assert place.keys("none") == []
    assert place.read("none") is None


def test_a_write_whose_reply_was_lost_is_not_taken_for_that_of_another(
    bucket: Any, s3_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with faulty_store(s3_url) as (proxy, faults):
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy)
        place = open_place(PLACE)
        faults.lost = 1
        tag = place.write("lease", b"mine", replaces=None)
        assert tag
        faults.lost = 1
        renewed = place.write("lease", b"mine again", replaces=tag)
        assert renewed
        assert renewed != tag
        assert faults.lost == 0
        assert place.write("lease", b"another's", replaces=tag) is None
        place.remove("lease")


def test_objects_that_are_too_large_are_not_read(bucket: Any, tmp_path: Path) -> None:
    bucket.put_object(Bucket="team", Key="animals/index.json", Body=bytes(object_place.MAX_READ_BYTES + 1))
    place = open_place(PLACE)
    with pytest.raises(Failed, match="more than 1,048,576 bytes"):
        place.read("index.json")
    with pytest.raises(Failed, match="more than 10 bytes"):
        place.download("index.json", tmp_path / "target", 10)
    assert not (tmp_path / "target").exists()
    place.remove("index.json")


def test_a_store_without_conditions_is_refused(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with careless_store() as careless:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", careless)
        with pytest.raises(Failed, match="ignores the condition If-None-Match"):
            require_conditions(open_place(PLACE))


def test_a_store_that_is_slow_or_overloaded_is_asked_again(
    bucket: Any, s3_url: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_words(project, "s3://team/faulty")
    with faulty_store(s3_url) as (proxy, faults):
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy)
        faults.refused, faults.seconds = 2, 0.05
        assert found_at("s3://team/faulty", "milk cow") == ["src/farm.py"]
        assert faults.requests > 3
        faults.refused, faults.seconds = 1000, 0.0
        monkeypatch.setattr(s3_place, "ATTEMPTS", 2)
        with pytest.raises(Failed, match="overloaded; try again later"):
            found_at("s3://team/faulty", "milk cow")


def test_what_cannot_be_reached_is_said(bucket: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failed, match="no such bucket"):
        publish_words(project, "s3://nowhere/animals")
    monkeypatch.setattr(s3_place, "ATTEMPTS", 1)
    with monkeypatch.context() as patched:
        patched.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(Failed, match=r"secret key is wrong|have no access"):
            found_at(PLACE, "milk cow")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    with pytest.raises(Failed, match="cannot be read"):
        found_at(PLACE, "milk cow")


@pytest.mark.parametrize("place", ["s3://", "https://example.org/index", "gs://bucket"])
def test_an_address_is_a_folder_or_a_bucket(place: str) -> None:
    with pytest.raises(UsageError, match=r"s3://bucket/prefix|an s3:// address"):
        open_place(place)

"""An index in a bucket, fetched from a real S3 server."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from dowse.errors import Failed, UsageError
from dowse.sites.index_sources import open_index_source
from dowse.sites.served_site import ServedSite
from tests.sites.sample_sites import PAGES, encoded, index

boto3 = pytest.importorskip("boto3", reason="needs the extra s3")
WEED = shutil.which("weed", path=str(Path(sys.executable).parent))
START_SECONDS, STARTS = 60, 5

pytestmark = pytest.mark.skipif(WEED is None, reason="NO S3 SERVER: run `make test`, which installs one")


def free_port() -> int:
    """Return a free port whose neighbour ten thousand higher is free too, because SeaweedFS also listens there."""
    for _ in range(200):
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port: int = one.getsockname()[1]
            try:
                if port < 55_000:
                    other.bind(("127.0.0.1", port + 10_000))
                    return port
            except OSError:
                continue
    pytest.skip("there is no port free")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an S3 server with one user."""
    folder = tmp_path_factory.mktemp("store")
    users = [{"name": "test", "credentials": [{"accessKey": "key", "secretKey": "secret"}], "actions": ["Admin", "Read", "Write", "List"]}]  # fmt: skip
    (folder / "users.json").write_text(json.dumps({"identities": users}), encoding="utf-8")
    (folder / "data").mkdir()
    server, port = start_server(folder)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def start_server(folder: Path) -> tuple["subprocess.Popen[bytes]", int]:
    """Start the server and return it with its port; where another program took a free port first, try other ones."""
    for _ in range(STARTS):
        ports = [free_port() for _ in range(4)]
        command = [
            str(WEED), "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder / 'data'}", "-s3",
            f"-s3.config={folder / 'users.json'}", f"-master.port={ports[0]}", f"-volume.port={ports[1]}",
            f"-filer.port={ports[2]}", f"-s3.port={ports[3]}", "-volume.max=2", "-master.volumeSizeLimitMB=64",
        ]  # fmt: skip
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        deadline = time.monotonic() + START_SECONDS
        while server.poll() is None and time.monotonic() < deadline:
            with (
                suppress(OSError, HTTPException),
                closing(HTTPConnection("127.0.0.1", ports[3], timeout=1)) as connection,
            ):
                connection.request("GET", "/")
                if "SeaweedFS" in connection.getresponse().getheader("Server", ""):
                    return server, ports[3]
            time.sleep(0.1)
        server.kill()
        server.wait()
    raise AssertionError((folder / "log").read_text(encoding="utf-8", errors="replace")[-2000:])


@pytest.fixture
def client(store: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client that may write to the server; the environment has its credentials."""
    environment = {
        "AWS_ENDPOINT_URL_S3": store,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    made = boto3.client("s3")
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with suppress(made.exceptions.BucketAlreadyExists, made.exceptions.BucketAlreadyOwnedByYou):
                made.create_bucket(Bucket="sites")
            made.put_object(Bucket="sites", Key="search-index.json", Body=encoded(index()))
            return made
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def test_an_index_is_served_from_a_bucket_and_renewed_when_it_changed(client: Any) -> None:
    now = 0.0
    live = ServedSite(open_index_source("s3://sites/search-index.json"), lambda: now)
    before = live.current
    assert len(before) == 4
    now = 100
    live.refresh()
    assert live.current is before
    assert live.problem is None
    client.put_object(Bucket="sites", Key="search-index.json", Body=encoded(index(*PAGES[:2])))
    now = 200
    live.refresh()
    assert len(live.current) == 2


def test_what_is_not_changed_is_not_sent(client: Any) -> None:
    source = open_index_source("s3://sites/search-index.json")
    first = source.fetch(None)
    assert first
    assert source.fetch(first.revision) is None


def test_what_is_not_there_is_said(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failed, match="no object with this name"):
        open_index_source("s3://sites/none.json").fetch(None)
    with pytest.raises(Failed, match="no such bucket"):
        open_index_source("s3://nowhere/none.json").fetch(None)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(Failed, match=r"secret key is wrong|have no access"):
        open_index_source("s3://sites/search-index.json").fetch(None)


def test_a_store_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    with pytest.raises(Failed, match="cannot be fetched"):
        open_index_source("s3://sites/search-index.json").fetch(None)


@pytest.mark.parametrize("place", ["s3://", "s3://bucket", "s3://bucket/"])
def test_an_address_needs_a_bucket_and_a_name(place: str) -> None:
    with pytest.raises(UsageError, match="s3://bucket/"):
        open_index_source(place)

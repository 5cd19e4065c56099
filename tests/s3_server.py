"""A real S3 server for tests: SeaweedFS, with one user and one bucket that is empty."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

WEED = shutil.which("weed", path=str(Path(sys.executable).parent))
START_SECONDS, STARTS = 60, 5
needs_s3_server = pytest.mark.skipif(WEED is None, reason="NO S3 SERVER: run `make test`, which installs one")


def s3_environment(url: str) -> dict[str, str]:
    """Return the variables by which a client finds the server and may write to it."""
    return {
        "AWS_ENDPOINT_URL_S3": url,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """Give a block the URL of a server that keeps its objects in a folder."""
    users = [{"name": "test", "credentials": [{"accessKey": "key", "secretKey": "secret"}], "actions": ["Admin", "Read", "Write", "List"]}]  # fmt: skip
    (folder / "users.json").write_text(json.dumps({"identities": users}), encoding="utf-8")
    (folder / "data").mkdir()
    server, port = start_server(folder)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def make_bucket(name: str) -> Any:
    """Make a bucket once the server answers; return a client that may write to it."""
    boto3 = pytest.importorskip("boto3", reason="needs the extra s3")
    made = boto3.client("s3")
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with suppress(made.exceptions.BucketAlreadyExists, made.exceptions.BucketAlreadyOwnedByYou):
                made.create_bucket(Bucket=name)
            made.put_object(Bucket=name, Key="first", Body=b"1")
            made.delete_object(Bucket=name, Key="first")
            return made
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


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


def start_server(folder: Path) -> tuple["subprocess.Popen[bytes]", int]:
    """Start the server and return it with its port; where another program took a free port first, try other ones."""
    for _ in range(STARTS):
        ports = [free_port() for _ in range(4)]
        command = [
            str(WEED), "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder / 'data'}", "-s3",
            f"-s3.config={folder / 'users.json'}", f"-master.port={ports[0]}", f"-volume.port={ports[1]}",
            f"-filer.port={ports[2]}", f"-s3.port={ports[3]}", "-s3.port.iceberg=0",
            "-s3.port.lance=0", "-volume.max=2", "-master.volumeSizeLimitMB=64",
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

"""The download of the unchanged model, once and complete, from a real server that fails in many ways."""

import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.encoding import model_download
from dowse.encoding.model_download import DONE_MESSAGE, STARTED_MESSAGE, download_model
from dowse.encoding.model_locations import REVISION, ModelFile, snapshot_folder
from dowse.errors import ModelMissing
from dowse.mcp.replies import error_reply
from tests.encoding.model_hub import Hub, served

FILES = {"tokenizer.json": b'{"version": "1.0"}', "onnx/model.onnx": bytes(range(256)) * 4000}
WANTED = tuple(ModelFile(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in FILES.items())
BEFORE = f"/Xenova/all-MiniLM-L6-v2/resolve/{REVISION}/"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """Serve the files in place of the Hugging Face, with a cache for this test."""
    monkeypatch.setattr(model_download, "PAUSE_SECONDS", 0)
    for name in ("HF_HUB_CACHE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with served(Hub({BEFORE + path: data for path, data in FILES.items()})) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


def test_the_model_is_downloaded_once_with_the_two_messages(hub: Hub, tmp_path: Path) -> None:
    messages: list[str] = []
    folder = download_model(messages.append, WANTED)
    assert messages == [STARTED_MESSAGE, DONE_MESSAGE]
    assert messages == ["Downloading embedding model... (one-time, ~90MB)", "Done! Model cached for future use."]
    assert folder == tmp_path / "hf" / "hub" / "models--Xenova--all-MiniLM-L6-v2" / "snapshots" / REVISION
    assert {path: (folder / path).read_bytes() for path in FILES} == FILES
    assert list((folder.parents[1] / "blobs").iterdir()) == []
    download_model(messages.append, WANTED)
    assert len(messages) == 2
    assert len(hub.requests) == 2


def test_a_download_that_breaks_off_is_gone_on_with(hub: Hub) -> None:
    hub.cut_after = [len(FILES["tokenizer.json"]), 300_000, 200_000]
    folder = download_model(str, WANTED)
    assert (folder / "onnx/model.onnx").read_bytes() == FILES["onnx/model.onnx"]
    assert [requested for path, requested in hub.requests if path.endswith(".onnx")] == [
        "",
        "bytes=300000-",
        "bytes=500000-",
    ]


def test_what_was_begun_by_a_process_that_died_is_gone_on_with_or_made_anew(hub: Hub) -> None:
    blobs = snapshot_folder().parents[1] / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{WANTED[1].sha256}.incomplete").write_bytes(b"nonsense")
    folder = download_model(str, WANTED)
    assert (folder / "onnx/model.onnx").read_bytes() == FILES["onnx/model.onnx"]
    assert [requested for path, requested in hub.requests if path.endswith(".onnx")] == ["bytes=8-", ""]


def test_a_damaged_file_of_the_cache_is_downloaded_again(hub: Hub) -> None:
    model = download_model(str, WANTED) / "onnx/model.onnx"
    model.write_bytes(FILES["onnx/model.onnx"][:-1] + b"x")
    hub.requests.clear()
    download_model(str, WANTED)
    assert model.read_bytes() == FILES["onnx/model.onnx"]
    assert len(hub.requests) == 1


def test_a_busy_server_is_asked_again(hub: Hub) -> None:
    hub.statuses = [503, 429]
    assert (download_model(str, WANTED) / "onnx/model.onnx").is_file()


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda hub: hub.statuses.append(403), "403"),
        (lambda hub: hub.files.clear(), "404"),
        (lambda hub: hub.statuses.extend([500] * 3), "500"),
        (lambda hub: hub.files.update({BEFORE + "onnx/model.onnx": b"x" * 1_024_000}), "not the expected file"),
        (lambda hub: hub.files.update({BEFORE + "onnx/model.onnx": b"x" * 9_000_000}), "not the expected file"),
        (lambda hub: hub.cut_after.extend([0] * 9), "ended too early"),
        (lambda hub: setattr(hub, "redirect", "http://192.0.2.1"), "only https"),
        (lambda hub: setattr(hub, "redirect", "file:///etc"), "only https"),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_is_told_in_the_words_of_the_catalogue(hub: Hub, break_it: object, words: str) -> None:
    assert callable(break_it)
    break_it(hub)
    with pytest.raises(ModelMissing, match=words) as raised:
        download_model(str, WANTED)
    shown = error_reply(raised.value)
    assert shown["code"] == "MODEL_DOWNLOAD_FAILED"
    assert shown["userMessage"] == (
        "Couldn't set up the search engine. Please check your internet connection and try again."
    )
    assert shown["developerMessage"] == f"MODEL_DOWNLOAD_FAILED: {raised.value}"
    assert not (snapshot_folder() / "onnx/model.onnx").exists()


def test_a_redirect_within_what_is_safe_is_followed(hub: Hub) -> None:
    hub.redirect = hub.url
    assert (download_model(str, WANTED) / "onnx/model.onnx").read_bytes() == FILES["onnx/model.onnx"]


def test_nothing_comes_unencrypted_from_elsewhere(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    for endpoint in ("http://192.0.2.1", "ftp://localhost", "file:///tmp", "nonsense"):
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        with pytest.raises(ModelMissing, match="https"):
            download_model(str, WANTED)


def test_nobody_there_is_told(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelMissing, match="refused"):
        download_model(str, WANTED)


def test_nothing_is_fetched_where_that_is_forbidden(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelMissing, match="HF_HUB_OFFLINE"):
        download_model(str, WANTED)
    assert hub.requests == []


def test_a_cache_that_cannot_be_written_is_told(hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "file" / "hub"))
    with pytest.raises(ModelMissing, match="cannot be written"):
        download_model(str, WANTED)


def test_several_who_want_it_at_once_download_it_once(hub: Hub) -> None:
    messages: list[str] = []
    threads = [threading.Thread(target=download_model, args=(messages.append, WANTED)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert messages == [STARTED_MESSAGE, DONE_MESSAGE]
    assert len(hub.requests) == 2

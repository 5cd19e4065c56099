"""The encoder that the settings select: ours, the unchanged one from a folder, the cache or the server, or none."""

import hashlib
from pathlib import Path

import pytest

from dowse.encoding import model_download, model_locations
from dowse.encoding.model_download import DONE_MESSAGE, STARTED_MESSAGE
from dowse.encoding.model_locations import REVISION, ModelFile, snapshot_folder
from dowse.encoding.selection import (
    MINILM_VERSION,
    STATIC_VERSION,
    model_version,
    open_version,
    uses_static,
)
from dowse.errors import Failed, ModelMissing
from dowse.settings import Settings
from tests.encoding.model_hub import Hub, served
from tests.encoding.sample_models import write_model

UNCHANGED = Settings(encoder="minilm")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder with the model, whose files are the pinned ones."""
    folder = tmp_path / "mine"
    write_model(folder)
    contents = {path: (folder / path).read_bytes() for path in ("tokenizer.json", "onnx/model.onnx")}
    files = tuple(ModelFile(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in contents.items())
    monkeypatch.setattr(model_locations, "FILES", files)
    monkeypatch.setattr(model_download.download_model, "__defaults__", (files,))
    return folder


@pytest.fixture(autouse=True)
def _caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Provide an empty cache, without network."""
    for name in ("HF_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_ours_is_the_default_and_needs_nothing() -> None:
    assert model_version(Settings()) == MINILM_VERSION
    assert uses_static(Settings())
    assert open_version(MINILM_VERSION, Settings(), pytest.fail).version == MINILM_VERSION
    assert open_version(STATIC_VERSION, Settings(), pytest.fail).version == STATIC_VERSION


def test_none_is_none() -> None:
    nothing = Settings(encoder="none")
    assert model_version(nothing) is None
    assert not uses_static(nothing)


def test_a_folder_that_is_named_is_used(folder: Path) -> None:
    settings = Settings(encoder="minilm", encoder_folder=str(folder))
    encoder = open_version("minilm-1", settings, pytest.fail)
    assert encoder.version == model_version(settings) == "minilm-1"
    assert encoder.encode(["read file"]).shape == (1, 32)


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_folder_that_is_named_without_the_model_is_not_passed_over(folder: Path, damage: str) -> None:
    write_model(snapshot_folder())
    graph = folder / "onnx" / "model.onnx"
    graph.write_bytes(graph.read_bytes()[:-1] + b"x") if damage == "changed" else graph.unlink()
    settings = Settings(encoder="minilm", encoder_folder=str(folder))
    for ask in (model_version, lambda one: open_version("minilm-1", one, pytest.fail)):
        with pytest.raises(ModelMissing, match="mine"):
            ask(settings)


@pytest.mark.usefixtures("folder")
def test_the_hugging_face_cache_is_looked_through() -> None:
    write_model(snapshot_folder())
    assert open_version("minilm-1", UNCHANGED, pytest.fail).version == model_version(UNCHANGED)
    assert open_version("minilm-1", Settings(encoder="dowse"), pytest.fail).version == "minilm-1"
    assert open_version(MINILM_VERSION, UNCHANGED, pytest.fail).version == MINILM_VERSION


def test_the_variables_of_the_hugging_face_tools_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "elsewhere"))
    assert snapshot_folder().parents[2] == tmp_path / "elsewhere"
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.delenv("HF_HOME")
    assert snapshot_folder().parents[2] == Path.home() / ".cache" / "huggingface" / "hub"


def test_without_a_model_the_version_is_that_of_the_download_and_its_failure_is_told() -> None:
    assert model_version(UNCHANGED) == "minilm-1"
    with pytest.raises(ModelMissing):
        open_version("minilm-1", UNCHANGED, str)


def test_nothing_is_downloaded_for_vectors_that_the_settings_no_longer_ask_for() -> None:
    for version in ("minilm-1", "minilm-other"):
        with pytest.raises(Failed, match=f"{version} is not on this machine"):
            open_version(version, Settings(), pytest.fail)


def test_a_damaged_model_is_downloaded_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(snapshot_folder(), seed=1)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    before, messages = f"/Xenova/all-MiniLM-L6-v2/resolve/{REVISION}/", list[str]()
    with served(Hub({before + "onnx/model.onnx": (folder / "onnx/model.onnx").read_bytes()})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        assert open_version("minilm-1", UNCHANGED, messages.append).encode(["read file"]).shape == (1, 32)
        assert messages == [STARTED_MESSAGE, DONE_MESSAGE]
        assert open_version("minilm-1", UNCHANGED, messages.append).version == "minilm-1"
    assert len(messages) == 2

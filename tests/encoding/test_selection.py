"""The encoder that the settings select: ours, the unchanged one from any location, or none."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from dowse.encoding import model_download, model_locations, selection
from dowse.encoding.model_download import DONE_MESSAGE, STARTED_MESSAGE, ModelFile
from dowse.encoding.selection import (
    MINILM_VERSION,
    STATIC_VERSION,
    model_version,
    open_model,
    open_version,
    uses_static,
)
from dowse.errors import Failed, ModelMissing
from dowse.settings import Settings
from tests.encoding.model_hub import Hub, served
from tests.encoding.sample_models import write_graph, write_model, write_tokenizer

UNCHANGED = Settings(encoder="minilm")


@pytest.fixture(autouse=True)
def caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Provide an empty cache, without network."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "hf"


def cached(caches: Path, repository: str, revision: str, seed: int = 0) -> Path:
    folder = caches / "hub" / f"models--{repository.replace('/', '--')}"
    write_model(folder / "snapshots" / revision, seed)
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs" / "main").write_text(revision, encoding="utf-8")
    return folder / "snapshots" / revision


def test_ours_is_the_default_and_needs_nothing() -> None:
    assert model_version(Settings()) == MINILM_VERSION
    assert uses_static(Settings())
    assert open_model(Settings(), pytest.fail).version == MINILM_VERSION
    assert open_version(STATIC_VERSION, Settings(), pytest.fail).version == STATIC_VERSION


def test_none_is_none() -> None:
    nothing = Settings(encoder="none")
    assert model_version(nothing) is None
    assert not uses_static(nothing)
    with pytest.raises(Failed, match="none"):
        open_model(nothing, pytest.fail)


def test_a_folder_that_is_named_is_used(tmp_path: Path) -> None:
    write_model(tmp_path / "mine")
    settings = Settings(encoder="minilm", encoder_folder=str(tmp_path / "mine"))
    encoder = open_model(settings, pytest.fail)
    assert encoder.version == model_version(settings)
    assert encoder.version.startswith("minilm-")
    assert encoder.encode(["read file"]).shape == (1, 32)


def test_a_folder_that_is_named_and_holds_nothing_is_not_passed_over(tmp_path: Path, caches: Path) -> None:
    cached(caches, "Xenova/all-MiniLM-L6-v2", "1")
    settings = Settings(encoder="minilm", encoder_folder=str(tmp_path / "nowhere"))
    for ask in (model_version, lambda one: open_model(one, pytest.fail)):
        with pytest.raises(ModelMissing, match="nowhere"):
            ask(settings)


@pytest.mark.parametrize("repository", ["Xenova/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_the_hugging_face_cache_is_looked_through(caches: Path, repository: str) -> None:
    cached(caches, repository, "older", seed=1)
    newest = cached(caches, repository, "newest", seed=2)
    assert next(model_locations.find_locations()).folder == newest
    assert open_model(UNCHANGED, pytest.fail).version == model_version(UNCHANGED)


def test_the_older_layout_of_transformers_js_is_known(caches: Path) -> None:
    folder = caches / "Xenova" / "all-MiniLM-L6-v2"
    write_graph(folder / "onnx" / "model_quantized.onnx")
    write_tokenizer(folder / "tokenizer.json")
    assert [place.folder for place in model_locations.find_locations()] == [folder]
    assert open_model(UNCHANGED, pytest.fail).encode(["read"]).shape == (1, 32)


def test_the_variables_of_the_hugging_face_tools_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "elsewhere"))
    assert model_locations.hub_cache() == tmp_path / "elsewhere"
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.delenv("HF_HOME")
    assert model_locations.hub_cache() == Path.home() / ".cache" / "huggingface" / "hub"


def test_other_weights_are_another_version(tmp_path: Path) -> None:
    versions = set()
    for seed in (1, 2):
        write_model(tmp_path / str(seed), seed)
        versions.add(model_version(Settings(encoder="minilm", encoder_folder=str(tmp_path / str(seed)))))
    write_model(tmp_path / "1", seed=3)
    versions.add(model_version(Settings(encoder="minilm", encoder_folder=str(tmp_path / "1"))))
    assert len(versions) == 3


def test_without_a_model_the_version_is_that_of_the_download_and_its_failure_is_told() -> None:
    assert model_version(UNCHANGED) == "minilm-1"
    with pytest.raises(ModelMissing):
        open_model(UNCHANGED, str)


def test_nothing_is_downloaded_for_vectors_that_the_settings_no_longer_ask_for() -> None:
    with pytest.raises(Failed, match="minilm-1 is not on this machine"):
        open_version("minilm-1", Settings(), pytest.fail)


def test_vectors_of_the_old_encoder_can_still_be_asked_for(caches: Path) -> None:
    cached(caches, "Xenova/all-MiniLM-L6-v2", "1")
    version = model_version(UNCHANGED)
    assert version is not None
    assert open_version(version, Settings(encoder="dowse"), pytest.fail).version == version
    assert open_version(MINILM_VERSION, UNCHANGED, pytest.fail).version == MINILM_VERSION


def test_a_model_that_cannot_be_loaded_is_downloaded_again(
    caches: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    damaged = cached(caches, "sentence-transformers/all-MiniLM-L6-v2", "1") / "onnx/model.onnx"
    damaged.write_bytes(damaged.read_bytes()[:-1000])
    write_graph(tmp_path / "hub" / "onnx" / "model.onnx")
    write_tokenizer(tmp_path / "hub" / "tokenizer.json")
    files = {path: (tmp_path / "hub" / path).read_bytes() for path in ("tokenizer.json", "onnx/model.onnx")}
    wanted = [ModelFile(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in files.items()]
    monkeypatch.setattr(model_download.download_model, "__defaults__", (tuple(wanted),))
    monkeypatch.setattr(model_locations, "TOKENIZER_HASHES", {wanted[0].size: wanted[0].sha256})
    monkeypatch.setattr(model_locations, "MODEL_HASHES", {wanted[1].size: wanted[1].sha256})
    monkeypatch.delenv("HF_HUB_OFFLINE")
    before = f"/Xenova/all-MiniLM-L6-v2/resolve/{model_locations.REVISION}/"
    messages: list[str] = []
    with served(Hub({before + path: data for path, data in files.items()})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        encoder = selection.open_model(UNCHANGED, messages.append)
    assert encoder.version == model_locations.VERSION
    assert np.linalg.norm(encoder.encode(["read file"])) == pytest.approx(1)
    assert messages[1:] == [STARTED_MESSAGE, DONE_MESSAGE]
    assert "cannot be loaded" in messages[0]
    assert model_version(UNCHANGED) == model_locations.VERSION, "and the damaged one is passed over from now on"
    messages.clear()
    assert selection.open_model(UNCHANGED, messages.append).version == model_locations.VERSION
    assert messages == []


def test_a_file_of_the_size_we_know_that_is_not_it_is_damaged(caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cached(caches, "Xenova/all-MiniLM-L6-v2", "1")
    size = (folder / "onnx/model.onnx").stat().st_size
    monkeypatch.setattr(model_locations, "MODEL_HASHES", {size: "0" * 64})
    assert list(model_locations.find_locations()) == []

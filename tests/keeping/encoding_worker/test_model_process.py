"""The process of a model: it gives the vectors of the model itself."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from dowse.encoding.selection import MODELS_FOLDER, open_here
from dowse.errors import Failed, ModelCrashed
from dowse.keeping.encoding_worker.model_process import ModelProcess

TEXTS = ["def read_file(path): return open(path)", "", "\ud800 half a character", "a" * 10_000]


def test_vectors_are_those_of_the_model() -> None:
    here, caged = open_here(MODELS_FOLDER / "minilm", "v"), ModelProcess(MODELS_FOLDER / "minilm", "v")
    assert (caged.version, caged.dimensions) == (here.version, here.dimensions)
    assert np.array_equal(caged.encode(TEXTS, "code"), here.encode(TEXTS, "code"))
    assert np.array_equal(caged.encode_query("read a file"), here.encode_query("read a file"))
    caged.close()


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="cannot be loaded"):
        ModelProcess(tmp_path, "v")


def test_a_link_to_a_model_elsewhere_is_followed(tmp_path: Path) -> None:
    """The Hugging Face tools keep the files apart from the folder that names them."""
    for file in (MODELS_FOLDER / "minilm").iterdir():
        (tmp_path / file.name).symlink_to(file)
    model = ModelProcess(tmp_path, "v")
    assert model.encode(["read"]).shape == (1, 384)
    model.close()


def test_a_crash_is_noted_and_raised_for_those_who_wait() -> None:
    crashes = list[str]()
    model = ModelProcess(MODELS_FOLDER / "minilm", "v", note_crash=lambda problem, _: crashes.append(problem))
    os.kill(model.id, signal.SIGSTOP)
    reply = model.start_query("text")
    os.kill(model.id, signal.SIGKILL)
    with pytest.raises(ModelCrashed, match="ended with code -9"):
        reply.result(30)
    with pytest.raises(ModelCrashed):
        model.encode(["text"])
    assert len(crashes) == 1

"""The shipped files are complete and give the recorded vectors; a damaged file gives a clear error."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dowse.encoding.minilm import MiniLM
from dowse.encoding.packing import encoder_input
from dowse.encoding.selection import (
    HASHES_FILE,
    MINILM_VERSION,
    MODELS_FOLDER,
    STATIC_VERSION,
    open_minilm,
    open_static,
    static_encoder,
)
from dowse.errors import DowseError
from dowse.store.catalog_rows import input_hash, text_hash

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))
TEXTS = [row["text"] for row in RECORDED]


def test_the_static_table_gives_the_recorded_vectors() -> None:
    found = static_encoder().encode(TEXTS)
    assert np.abs(found - np.array([row["static"] for row in RECORDED])).max() < 1e-5


def _lowest_cosine(encoder: MiniLM) -> float:
    """Return the least cosine between an encoder's vectors and those recorded in full precision."""
    found = encoder.encode(TEXTS, "code")
    return float((found * np.array([row["minilm"] for row in RECORDED])).sum(1).min())


def test_minilm_is_near_full_precision_on_every_processor() -> None:
    assert _lowest_cosine(open_minilm()) > 0.995


def test_minilm_in_floats_gives_the_recorded_vectors() -> None:
    assert _lowest_cosine(MiniLM.from_folder(MODELS_FOLDER / "minilm", "", in_eight_bits=False)) > 0.99999


def test_both_say_which_vectors_they_give() -> None:
    assert (static_encoder().version, static_encoder().dimensions) == (STATIC_VERSION, 256)
    encoder = open_minilm()
    assert (encoder.version, encoder.dimensions) == (MINILM_VERSION, 384)


def test_every_shipped_file_has_its_hash() -> None:
    files = {f"{file.parent.name}/{file.name}" for file in MODELS_FOLDER.glob("*/*")}
    assert set(json.loads(HASHES_FILE.read_text(encoding="utf-8"))) == files


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [_flip, _cut, Path.unlink])
@pytest.mark.parametrize("name", ["static/table.int8", "static/vocabulary.txt", "minilm/model.onnx"])
def test_a_damaged_file_is_named_and_not_loaded(tmp_path: Path, name: str, damage: Callable[[Path], Any]) -> None:
    shutil.copytree(MODELS_FOLDER, tmp_path / "models")
    damage(tmp_path / "models" / name)
    with pytest.raises(DowseError, match="Reinstall dowse") as raised:
        open_static(tmp_path / "models") if name.startswith("static") else open_minilm(1, tmp_path / "models")
    assert Path(name).name in str(raised.value)


def test_the_hash_of_a_chunk_is_that_of_the_text_which_is_encoded() -> None:
    assert input_hash("src/ä.py", "x = 1\n") == text_hash(encoder_input("src/ä.py", "x = 1\n").encode())

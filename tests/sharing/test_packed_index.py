"""A packed index brings along which files it has, and no other settings."""

import json
import zipfile
from pathlib import Path

from dowse.indexes.reference_lookup import read_missing_references
from dowse.sharing.packed_index import pack_index, unpack_index
from tests.sample_data import open_indexed, write_tree

PRIVATE = {"encoder": "minilm", "encoderFolder": "/models", "maskSecrets": False, "sharedIndex": "s3://elsewhere/index"}


def test_settings_that_are_no_business_of_others_are_neither_packed_nor_taken(tmp_path: Path) -> None:
    index = open_indexed(write_tree(tmp_path / "app", {"pear.py": "pear = 1\n", "vendor/plum.py": "plum = 1\n"}))
    read_missing_references(index)
    index.close()
    settings = index.folder / "config.json"
    settings.write_text(json.dumps({"exclude": ["vendor/**"], **PRIVATE}), encoding="utf-8")
    packed = tmp_path / "packed.zip"
    pack_index(index.folder, packed)
    with zipfile.ZipFile(packed) as file:
        assert json.loads(file.read("config.json")) == {"exclude": ["vendor/**"]}
        parts = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(packed, "w") as file:  # as somebody else may have packed it
        for name, data in {**parts, "config.json": settings.read_bytes()}.items():
            file.writestr(name, data)
    fetched = tmp_path / "fetched"
    fetched.mkdir()
    unpack_index(packed, fetched, with_settings=True)
    assert json.loads((fetched / "config.json").read_text(encoding="utf-8")) == {"exclude": ["vendor/**"]}
    assert "catalog.sqlite" in {file.name for file in fetched.iterdir()}

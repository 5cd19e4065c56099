"""`config.json`: defaults, validation of each key, and the project's values over the global ones."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dowse.settings import SETTING_FIELDS, Settings, load_settings, write_default_settings

SPECIFIED = {
    "include", "exclude", "respectGitignore", "maxFileSize", "maxFiles", "docPatterns", "indexDocs",
    "enhancedToolDescriptions", "indexingStrategy", "lazyIdleThreshold",
}  # fmt: skip
"""The keys of a generated file: another key would override the user's own file."""


def load(tmp_path: Path, project: Any = None, global_file: Any = None) -> tuple[Settings, list[str]]:
    files = (tmp_path / "global.json", tmp_path / "config.json")
    for file, content in zip(files, (global_file, project), strict=True):
        if content is not None:
            file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return load_settings(*files)


def test_without_files_the_defaults_hold(tmp_path: Path) -> None:
    assert load(tmp_path) == (Settings(), [])


def test_the_generated_file_says_what_the_defaults_are(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    write_default_settings(file)
    content = json.loads(file.read_text(encoding="utf-8"))
    keys = {key for key in content if not key.startswith("_")}
    assert keys == SPECIFIED
    assert set(content["_availableOptions"]) == keys
    assert load_settings(tmp_path / "none.json", file) == (Settings(), [])


def test_a_file_of_the_users_is_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"exclude": ["x"], "mine": 1}', encoding="utf-8")
    write_default_settings(file)
    assert json.loads(file.read_text(encoding="utf-8")) == {"exclude": ["x"], "mine": 1}


def test_the_project_overrides_the_global_file_key_by_key(tmp_path: Path) -> None:
    settings, warnings = load(
        tmp_path, {"maxFileSize": "2MB"}, {"maxFileSize": "500KB", "exclude": ["**/gen/**"], "indexDocs": False}
    )
    assert (settings.max_file_bytes, settings.exclude, settings.index_docs) == (2 * 1024**2, ("**/gen/**",), False)
    assert warnings == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("include", "**/*"), ("exclude", [1]), ("exclude", ["[x"]), ("respectGitignore", "yes"), ("maxFileSize", "1GB"),
        ("maxFileSize", 5), ("maxFileSize", "-1MB"), ("maxFiles", 0), ("maxFiles", True), ("maxFiles", 1.5),
        ("docPatterns", None), ("indexDocs", 1), ("enhancedToolDescriptions", "x"), ("indexingStrategy", "eager"),
        ("lazyIdleThreshold", -1), ("integrityHours", "24"), ("maskSecrets", 1),
        ("encoder", "bert"), ("encoder", {}), ("encoder", {"url": "http://example.com", "model": "x"}), ("encoder", None), ("encoder", ["dowse"]), ("encoderFolder", "models/minilm"),
        ("encoderFolder", 5), ("encoderFolder", "/a\0b"), ("encoderFolder", ""),
        ("memory", "tiny"), ("vectorCacheMB", 0), ("vectorCacheMB", "512MB"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_replaced_by_its_default_and_named(tmp_path: Path, key: str, value: Any) -> None:
    settings, warnings = load(tmp_path, {key: value, "lazyIdleThreshold": 7} | {key: value})
    default = Settings()
    field = SETTING_FIELDS[key]
    assert getattr(settings, field) == getattr(default, field)
    assert len(warnings) == 1
    assert key in warnings[0]
    if key != "lazyIdleThreshold":
        assert settings.lazy_idle_threshold == 7, "the other keys still count"


@pytest.mark.parametrize("content", ["{", "[]", '"x"', "nul\0", "[" * 100_000])
def test_a_file_that_makes_no_sense_is_reported_and_ignored(tmp_path: Path, content: str) -> None:
    settings, warnings = load(tmp_path, content)
    assert settings == Settings()
    assert len(warnings) == 1
    assert "config.json" in warnings[0]


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    settings, warnings = load(tmp_path, '{"maxFiles": 3, "x": "' + "y" * 11_000_000 + '"}')
    assert settings == Settings()
    assert "10 MB" in warnings[0]


def test_a_new_project_file_does_not_undo_the_global_one(tmp_path: Path) -> None:
    global_file, project = tmp_path / "global.json", tmp_path / "project.json"
    global_file.write_text('{"exclude": ["gen/**"], "maxFiles": "many", "unknown": 1}', encoding="utf-8")
    write_default_settings(project, global_file)
    settings, _ = load_settings(global_file, project)
    assert settings.exclude == ("gen/**",)
    assert settings.max_files == Settings().max_files
    assert "unknown" not in project.read_text(encoding="utf-8")


def test_a_folder_may_begin_at_home_and_a_cache_is_given_in_megabytes(tmp_path: Path) -> None:
    settings, warnings = load(tmp_path, {"encoder": "minilm", "encoderFolder": "~/models", "vectorCacheMB": 2})
    assert (settings.encoder, settings.encoder_folder) == ("minilm", str(Path.home() / "models"))
    assert settings.vector_cache_bytes == 2 * 1024**2
    assert warnings == []


def test_a_file_that_is_too_large_or_a_pipe_is_ignored_and_said(tmp_path: Path) -> None:
    with (tmp_path / "config.json").open("wb") as stream:
        stream.truncate(6 << 30)
    settings, (warning,) = load_settings(tmp_path / "config.json")
    assert settings == Settings()
    assert "it is larger than 10 MB). Make it smaller or remove it. It is ignored." in warning
    (tmp_path / "config.json").unlink()
    os.mkfifo(tmp_path / "config.json")
    settings, (warning,) = load_settings(tmp_path / "config.json")
    assert "not a regular file" in warning


def test_the_file_may_be_a_link_as_those_who_keep_their_settings_together_have_it(tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text('{"maxFiles": 7}', encoding="utf-8")
    (tmp_path / "config.json").symlink_to("kept.json")
    assert load_settings(tmp_path / "config.json") == (Settings(max_files=7), [])

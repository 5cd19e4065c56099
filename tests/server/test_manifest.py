"""`dowse.toml`: its keys, the flags that override them, and the limits of an untrusted file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dowse.cli import main
from dowse.cli.serve_options import load_manifest, merge_options
from dowse.errors import SettingsError, UsageError
from dowse.mcp.tools import SURFACES
from dowse.server.manifest import find_manifest, read_manifest
from tests.sample_data import write_tree

WHOLE = """
roots = ["backend", "frontend"]
documents = ["handbook"]
sites = ["site.json", "other=site.json"]
indexes = false
only = ["documents", "code", "site"]
tools = "full"
budget = 8000

[archives]
research = "reports"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = write_tree(
        tmp_path / "mine",
        {"backend/a.py": "", "frontend/a.js": "", "handbook/a.md": "", "reports/a.md": "", "site.json": "{}"},
    )
    (tmp_path / "outside").mkdir()
    (made / "escape").symlink_to(tmp_path / "outside")
    monkeypatch.chdir(made)
    return made


def write(folder: Path, text: str) -> Path:
    file = folder / "dowse.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_everything_that_can_be_said_is_understood(folder: Path) -> None:
    write(folder, WHOLE)
    said = find_manifest(folder)
    assert said is not None
    assert said.roots == (folder / "backend", folder / "frontend")
    assert said.documents == (folder / "handbook",)
    assert said.sites == (str(folder / "site.json"), f"other={folder / 'site.json'}")
    assert said.archives is not None
    assert said.archives.research == folder / "reports"
    assert (said.indexes, said.only, said.level, said.budget) == (False, ("code", "documents", "site"), "full", 8000)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(folder: Path) -> None:
    """A file of 6 GB was read whole before its size was checked."""
    with (folder / "dowse.toml").open("wb") as stream:
        stream.truncate(6 << 30)
    message = r"it is larger than 1 MB\)\. Make it smaller, or ignore it with --no-config"
    with pytest.raises(SettingsError, match=message):
        find_manifest(folder)
    with pytest.raises(SettingsError, match=message):
        read_manifest(folder / "dowse.toml", is_trusted=True)


def test_a_link_in_its_place_shows_nothing_of_the_file_that_it_leads_to(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link to `.env` showed the name of a key."""
    write_tree(folder, {".env": 'INNER_TOKEN = "abc"\n', "mine.toml": "indexes = false\n"})
    (folder / "dowse.toml").symlink_to(".env")
    assert main(["serve", "--http", "127.0.0.1:0"]) == 2
    shown = capsys.readouterr().err
    assert "dowse.toml cannot be read (symbolic link). Name the file that it leads to with --config" in shown
    assert "INNER" not in shown
    (folder / "dowse.toml").unlink()
    (folder / "dowse.toml").symlink_to("mine.toml")
    assert read_manifest(folder / "dowse.toml", is_trusted=True).indexes is False
    with pytest.raises(SettingsError, match="symbolic link"):
        find_manifest(folder)


@pytest.mark.parametrize("form", ["a pipe", "a folder", "a link to nothing"])
def test_what_is_no_file_in_its_place_does_not_count(folder: Path, form: str) -> None:
    file = folder / "dowse.toml"
    if form == "a pipe":
        os.mkfifo(file)
    elif form == "a folder":
        file.mkdir()
    else:
        file.symlink_to("gone")
    assert find_manifest(folder) is None


def test_flags_go_before_it_key_by_key(folder: Path) -> None:
    write(folder, WHOLE)
    manifest = find_manifest(folder)
    wish = merge_options({"level": "minimal", "only": ("site",)}, manifest)
    assert (wish.level, wish.surfaces, wish.budget) == ("minimal", ("site",), 8000)
    assert wish.roots == (folder / "backend", folder / "frontend")
    wish = merge_options({"roots": (folder,), "sites": ("x.json",)}, manifest)
    assert (wish.roots, wish.sites, wish.level) == ((folder,), ("x.json",), "full")
    assert merge_options({}, None).surfaces == SURFACES


def test_indexes_can_be_left_out(folder: Path) -> None:
    write(folder, "indexes = false\n")
    assert "indexes" not in merge_options({}, find_manifest(folder)).surfaces
    assert "indexes" not in merge_options({"only": ("federated",)}, find_manifest(folder)).surfaces


def test_no_roots_means_no_project_and_nothing_said_means_the_one_around_us(folder: Path) -> None:
    write(folder, "roots = []\n")
    assert not merge_options({}, find_manifest(folder)).has_projects
    write(folder, "tools = 'full'\n")
    assert merge_options({}, find_manifest(folder)).has_projects


def test_it_is_read_from_the_working_directory_and_only_where_no_folder_is_named(folder: Path) -> None:
    assert load_manifest(None, no_config=False, has_folders=False) is None
    write(folder, "tools = 'full'\n")
    assert load_manifest(None, no_config=False, has_folders=False) is not None
    assert load_manifest(None, no_config=False, has_folders=True) is None
    assert load_manifest(None, no_config=True, has_folders=False) is None
    assert load_manifest("dowse.toml", no_config=False, has_folders=True) is not None
    with pytest.raises(UsageError, match="exclude each other"):
        load_manifest("dowse.toml", no_config=True, has_folders=False)


WRONG = [
    ("root = []", "root is not a key.*Did you mean roots"),
    ("colour = 1", "colour is not a key.*Known keys: roots"),
    ("roots = 'backend'", "roots is not a list"),
    ("roots = [1]", r"roots\[0\] is not a string"),
    ("roots = ['nowhere']", r"roots\[0\] is not a folder"),
    (f"roots = ['{'long' * 100}']", r"roots\[0\] is not a folder"),
    ("documents = ['site.json']", r"documents\[0\] is not a folder"),
    ("sites = ['other=']", r"sites\[0\] does not name an index"),
    ("indexes = 1", "indexes is not true or false"),
    ("only = []", "only is empty"),
    ("only = ['wiki']", r"only\[0\] is not a surface: 'wiki'"),
    ("tools = 'some'", "tools is not a set of tools"),
    ("tools = ['full']", "tools is not a set of tools"),
    ("budget = 10", "budget is not a number of tokens"),
    ("budget = true", "budget is not a number of tokens"),
    ("archives = 'x'", "archives is not a table"),
    ("[archives]\nreserch = 'x'", r"archives\.reserch is not a key.*archives\.research"),
    ("roots = [", "not valid TOML.*--no-config"),
    ('roots = ["\\u0000"]', r"roots\[0\] is not a string"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[text for text, _ in WRONG])
def test_what_is_wrong_is_named_with_its_file_key_and_remedy(folder: Path, text: str, message: str) -> None:
    file = write(folder, text)
    with pytest.raises(SettingsError, match=f"(?s)dowse.toml.*{message}"):
        find_manifest(folder)
    with pytest.raises(SettingsError, match=message):
        read_manifest(file, is_trusted=True)


FORBIDDEN = [
    "roots = ['..']", "roots = ['../outside']", "roots = ['/']", "roots = ['escape']", "documents = ['escape']",
    "documents = ['backend/../..']", "sites = ['../outside/site.json']",
    "sites = ['https://example.org/index.json']", "sites = ['x=s3://bucket/index.json']",
    "[archives]\nresearch = '../outside'", "[archives]\nurlContent = '/etc'",
    "[archives]\ndatabase = 'handbook/a.md'", "[http]\naddress = '127.0.0.1:0'",
    "[http]\naddress = '0.0.0.0:80'\nallowRemote = true\npublic = true", "[http]\ntokenFile = 'token'",
]  # fmt: skip


@pytest.mark.parametrize("text", FORBIDDEN)
def test_one_that_was_merely_found_names_nothing_outside_its_folder_and_no_network(folder: Path, text: str) -> None:
    write(folder, text)
    with pytest.raises(SettingsError, match=r"only a file named with --config may do.*--config"):
        find_manifest(folder)


def test_a_home_is_not_a_way_out(folder: Path) -> None:
    write(folder, "roots = ['~']")
    with pytest.raises(SettingsError, match="is not a folder"):
        find_manifest(folder)


@pytest.mark.parametrize(
    "text", ["roots = ['..']", "sites = ['https://example.org/index.json']", "[archives]\ndatabase = 'x.db'"]
)
def test_one_that_the_user_names_may(folder: Path, text: str) -> None:
    assert read_manifest(write(folder, text), is_trusted=True).file.name == "dowse.toml"


def test_http_is_said_in_the_words_of_the_flags(folder: Path) -> None:
    text = "[http]\naddress = '127.0.0.1:0'\ntokenFile = 'secret'\nallowOrigin = ['https://a.example']\nrate = 5\n"
    said = read_manifest(write(folder, text), is_trusted=True).http
    assert said == {
        "address": "127.0.0.1:0",
        "token_file": str(folder / "secret"),
        "origins": ("https://a.example",),
        "rate": 5.0,
    }
    with pytest.raises(SettingsError, match="http has no address"):
        read_manifest(write(folder, "[http]\nrate = 5"), is_trusted=True)


def test_a_stranger_s_file_stops_the_server_with_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "roots = ['..']")
    assert main(["serve"]) == 2
    assert "outside the folder of dowse.toml" in capsys.readouterr().err
    assert main(["status", "--json"]) == 2
    assert "INVALID_CONFIG" in capsys.readouterr().out


def test_the_status_shows_what_would_be_served(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "roots = ['backend']\ndocuments = ['handbook']\n")
    assert main(["status", "--json"]) == 0  # named indexes can be searched
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    names = {one["name"]: one["state"] for one in shown["sources"]}
    assert names == {
        "project/backend": "not_found",
        "documents/backend": "not_found",
        "documents/handbook": "not_found",
        "index/default": "ready",
    }
    assert main(["status"]) == 0
    assert "dowse index" in capsys.readouterr().out
    assert main(["status", "--no-config", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["status"] == "not_found"
    assert main(["status", "--no-config", "--all"]) == 0
    assert "index/default: ready" in capsys.readouterr().out

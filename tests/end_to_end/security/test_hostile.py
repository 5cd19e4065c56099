"""Files made to break their reader: each is indexed or skipped, and the rest of the project is found."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse.settings import load_settings
from dowse.sites.site import load_site
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.sample_data import write_tree

DEEP = 30_000


def bomb() -> bytes:
    """Return a Word file of a few kilobytes that decompresses to hundreds of megabytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b"<w>" + b" " * 100_000_000)
    return made.getvalue()


HOSTILE: dict[str, str | bytes] = {
    "deep.ipynb": '{"cells": ' + "[" * DEEP + "]" * DEEP + "}",
    "deep.json": "[" * DEEP,
    "deep.py": "x = " + "(" * DEEP,
    "deep.md": ">" * DEEP + " quote\n" + "- " * DEEP,
    "deep.html": "<div>" * DEEP,
    "laughs.md": "---\na: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(12))
    + "---\n\n# Laughs\n",
    "object.md": "---\ntitle: !!python/object/apply:os.system ['touch hacked']\n---\n\n# Object\n",
    "deep.toml.md": "+++\na = " + "[" * 20_000 + "]" * 20_000 + "\n+++\n\n# Deep\n",
    "long.js": "a(" * 50_000,
    "stars.md": "*_" * 20_000,
    "links.md": "[" * 50_000,
    "entities.svg": '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><svg>&b;</svg>',
    "utf.txt": b"\xff\xfe" + b"\x00\xd8" * 20_000,
    "one.css": "a{" * 30_000,
}


@pytest.mark.timeout(100)
def test_no_file_stops_the_index_of_the_others(run: Run, tmp_path: Path) -> None:  # noqa: F811
    good = {"pyproject.toml": "", "src/apple.py": "def peel_apple():\n    pass\n", "good.md": "# Peel\n\nAn apple.\n"}
    root = write_tree(tmp_path / "fruit", {**HOSTILE, "bomb.docx": bomb(), **good})
    ran = run("index", root)
    assert ran.code == 0, ran.err
    assert "Traceback" not in ran.err
    assert "src/apple.py" in run("search", "peel apple", root).out
    assert "good.md" in run("docs", "search", "peel", root).out
    assert not (root / "hacked").exists()


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP,
        '{"pages": ' + "[" * DEEP,
        '{"version": "3.0", "site": ' + '{"a":' * DEEP + "}" * DEEP + ', "pages": []}',
        '{"version": "3.0", "pages": [{"url": "/", "title": "x", "topics": ' + "[" * DEEP + "]" * DEEP + "}]}",
    ],
    ids=range(4),
)
@pytest.mark.timeout(30)
def test_a_site_s_index_that_is_nested_too_deep_is_refused(run: Run, tmp_path: Path, text: str) -> None:  # noqa: F811
    file = tmp_path / "site.json"
    file.write_text(text, encoding="utf-8")
    ran = run("site", "check", file)
    assert ran.code == 1
    assert "Traceback" not in ran.err
    with pytest.raises(DowseError):
        load_site(file.read_bytes())


def test_settings_that_are_nested_too_deep_are_ignored_and_said(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text("[" * DEEP, encoding="utf-8")
    settings, warnings = load_settings(file)
    assert settings == load_settings()[0]
    assert len(warnings) == 1


def test_metadata_of_an_archive_that_is_nested_too_deep_does_no_harm(run: Run, tmp_path: Path) -> None:  # noqa: F811
    page = {"content.md": "# Apples\n\nGreen ones.\n", "metadata.json": "[" * DEEP}
    archive = write_tree(tmp_path / "url-content-archive" / "p", page).parent
    database = tmp_path / "search.db"
    research = write_tree(tmp_path / "research-archive", {"a.md": "# Pears\n\nApples too.\n"})
    ran = run("archive", "index", research, "--urls", archive, "--db", database, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["warnings"] == []
    found = json.loads(run("archive", "search", "apples", "--db", database, "--json").out)["results"]
    assert {one["document"]["title"] for one in found} == {"Apples", "Pears"}

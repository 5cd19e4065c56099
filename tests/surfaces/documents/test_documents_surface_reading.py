"""Reading of resources: whole or by section, with current contents, under every file name."""

import os
import sys
import unicodedata
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_types import TextResourceContents

from dowse.surfaces.documents.doc_uris import make_uri, parse_uri
from tests.sample_data import write_tree
from tests.surfaces.documents.documents_client import NOT_FOUND, Reader, connect, index, run_conversation

pytestmark = pytest.mark.anyio


async def test_a_document_is_read_as_a_reader_gets_it(notes: Path, mode: str) -> None:
    async with connect(mode, notes) as reader:
        assert await reader.read("docs://guide/pruning.md") == (notes / "guide/pruning.md").read_text(encoding="utf-8")
        assert await reader.read("docs://memo.txt") == "Buy secateurs\nand a ladder\nbefore spring\n"
        page = await reader.read("docs://guide/grafting.html")
        assert "# Grafting" in page
        assert "Join a **scion** to a rootstock." in page
        assert "steal" not in page
        assert "<" not in page


async def test_the_type_is_the_one_that_is_listed(notes: Path) -> None:
    async with connect("auto", notes) as reader:
        for listed in await reader.list_all():
            (content,) = (await reader.client.read_resource(str(listed.uri))).contents
            assert isinstance(content, TextResourceContents)
            assert content.mime_type == listed.mime_type


async def test_a_section_is_what_stands_below_its_heading(notes: Path) -> None:
    async with connect("auto", notes) as reader:
        when = "## When\n\nIn late winter, before the buds open.\n\n"
        assert await reader.read("docs://guide/pruning.md#when") == when
        assert await reader.read("docs://guide/pruning.md#When") == when
        assert (await reader.read("docs://guide/grafting.html#whip-and-tongue")).startswith("## Whip and tongue")
        assert await reader.read_error("docs://guide/pruning.md#where") == (
            NOT_FOUND["auto"],
            "Resource not found: docs://guide/pruning.md#where",
        )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
async def test_lines_end_as_they_do_in_the_file(tmp_path: Path, end: str) -> None:
    text = end.join(["# Title", "", "one", "", "## Über uns", "", "two", "", "## Next", "three", ""])
    write_tree(tmp_path, {"a.md": text.encode(), "b.md": b"\xef\xbb\xbf" + text.encode()})
    index(tmp_path)
    async with connect("auto", tmp_path) as reader:
        for uri in ("docs://a.md", "docs://b.md"):
            assert await reader.read(uri) == text
            section = end.join(["## Über uns", "", "two", "", ""])
            assert await reader.read(f"{uri}#%C3%BCber-uns") == section
            assert await reader.read(f"{uri}#über-uns") == section


async def test_a_document_is_read_as_it_is_now(notes: Path) -> None:
    async with connect("auto", notes) as reader:
        (notes / "memo.txt").write_text("Something else\n", encoding="utf-8")
        (notes / "new.md").write_text("# New\n", encoding="utf-8")
        assert await reader.read("docs://memo.txt") == "Something else\n"
        assert await reader.read("docs://new.md") == "# New\n"
        (notes / "memo.txt").unlink()
        assert (await reader.read_error("docs://memo.txt"))[0] == NOT_FOUND["auto"]


async def test_a_long_document_is_not_cut(tmp_path: Path) -> None:
    text = "# Long\n\n" + "All of this is wanted.\n" * 40_000
    write_tree(tmp_path, {"long.md": text})
    index(tmp_path)
    async with connect("legacy", tmp_path, budget_tokens=1000) as reader:
        assert await reader.read("docs://long.md") == text


NAMES = [
    "with space.md", "#hash#.md", "what?.md", "100%.md", "100%25.md", "%2e%2e.md", "a&b=c;d,e+f@g:h!i$j'k(l)*.md",
    'quo"te.md', "back\\slash.md", "new\nline.md", "tab\tand\x1b[31mred\x7f.md",
    "[brackets] {braces} |pipe| ~tilde^ `tick`.md", "<b>.md", "ümläut.md",
    unicodedata.normalize("NFD", "é-decomposed.md"), unicodedata.normalize("NFC", "é-composed.md"), "日本語/ファイル.md",
    "emoji 👨‍👩‍👧 \u202eright-to-left.md", "docs:/x.md", "..hidden.md", "trailing dot..md", "a/b/c/d/e/f.md",
    "UPPER.MD", "-dash.md", " leading.md", "x" * 200 + ".md", "%00.md", "C:.md",
]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="such names cannot be written there")
def test_every_address_that_is_listed_can_be_read_whatever_the_name(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "odd", {name: f"This is {name!r}.\n" for name in NAMES})
    write_tree(root, {".dowseignore": "!..hidden.md\n"})

    async def conversation(reader: Reader) -> None:
        listed = await reader.list_all()
        assert sorted(unquote(str(one.uri)).removeprefix("docs://") for one in listed) == sorted(NAMES)
        for one in listed:
            assert str(one.uri).isascii()
            assert str(one.uri).isprintable()
            name = unquote(str(one.uri)).removeprefix("docs://")
            assert await reader.read(str(one.uri)) == f"This is {name!r}.\n"
            assert str(one.name).replace("\u200d", "").isprintable()  # it joins letters and pictures

    run_conversation("auto", conversation, root)  # from the files
    index(root)
    run_conversation("auto", conversation, root)  # from the index


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all names are Unicode")
async def test_a_name_that_is_no_unicode_is_neither_listed_nor_read(tmp_path: Path) -> None:
    os.makedirs(os.fsencode(tmp_path / "odd"))
    with open(os.fsencode(tmp_path / "odd") + b"/caf\xe9.md", "wb") as file:
        file.write(b"# hunter2\n")
    write_tree(tmp_path / "odd", {"fine.md": "# Fine\n"})
    index(tmp_path / "odd")
    async with connect("auto", tmp_path / "odd") as reader:
        assert await reader.uris() == ["docs://fine.md"]
        code, message = await reader.read_error("docs://caf%E9.md")
        assert code == NOT_FOUND["auto"]
        assert message == "Resource not found: docs://caf%E9.md"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), st.text())
@settings(deadline=None, suppress_health_check=[HealthCheck.differing_executors])
def test_an_address_means_the_path_it_was_made_of(path: str, anchor: str) -> None:
    anchor = anchor.encode(errors="replace").decode()
    uri = make_uri(path, anchor)
    assert uri.isascii()
    assert uri.isprintable()
    assert parse_uri(uri) == (path, anchor)

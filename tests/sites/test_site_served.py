"""A replaced index is loaded; a broken one is refused and the old one stays served."""

import json
import logging
import os
from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse.sites.index_sources import open_index_source
from dowse.sites.site import ServedSite
from tests.sites.sample_sites import PAGES, index, write_index
from tests.sites.sites_client import Reader, run_conversation


def test_a_replaced_index_is_served_at_the_next_call(tmp_path: Path) -> None:
    file = write_index(tmp_path / "i.json")

    async def conversation(reader: Reader) -> None:
        assert (await reader.call_tool("search_fruit", query="quinces"))[0]["totalMatches"] == 0
        write_index(
            file, {"url": "/q", "title": "Quinces"}, site={"name": "New", "domain": "new.example", "toolPrefix": "x"}
        )
        content, _ = await reader.call_tool("search_fruit", query="quinces")
        assert content["results"][0]["url"] == "https://new.example/q"
        assert "search_fruit" in await reader.tools()  # a changed prefix waits for the next start

    run_conversation(conversation, file)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("{", "not JSON"),
        ("", "not JSON"),
        ('{"version": "3.0", "pages": [{"url": 1}]}', "pages.0.url"),
        (json.dumps(index(version="9.0")), "version"),
    ],
)
def test_a_broken_replacement_is_refused_and_said(
    tmp_path: Path, broken: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = write_index(tmp_path / "i.json")

    async def conversation(reader: Reader) -> None:
        file.write_text(broken, encoding="utf-8")
        with caplog.at_level(logging.WARNING):
            assert (await reader.call_tool("search_fruit", query="pears"))[0]["totalMatches"] == 1
            problem = (await reader.call_tool("get_index_info"))[0]["problem"]
        assert "the old one stays in use" in problem
        assert message in problem
        assert sum(message in line for line in caplog.messages) == 1
        write_index(file, *PAGES[:2])
        content, _ = await reader.call_tool("get_index_info")
        assert "problem" not in content
        assert content["pageCount"] == 2

    run_conversation(conversation, file)


def test_an_index_that_is_gone_goes_on_being_served(tmp_path: Path) -> None:
    file = write_index(tmp_path / "i.json")
    live = ServedSite(open_index_source(str(file)))
    file.unlink()
    assert live.may_have_changed
    live.refresh()
    assert len(live.current) == 4
    assert live.problem
    assert "i.json cannot be read" in live.problem
    write_index(file, *PAGES[:1])
    live.refresh()
    assert len(live.current) == 1
    problem: str | None = live.problem
    assert problem is None


def test_a_file_that_was_only_touched_is_not_loaded_again(tmp_path: Path) -> None:
    file = write_index(tmp_path / "i.json")
    live = ServedSite(open_index_source(str(file)))
    before = live.current
    os.utime(file)
    live.refresh()
    assert live.current is before
    assert not live.may_have_changed


def test_an_index_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_index(tmp_path / "i.json")
    for module in ("index_sources", "site"):
        monkeypatch.setattr(f"dowse.sites.{module}.MAX_INDEX_BYTES", 100)
    with pytest.raises(DowseError, match="the maximum is"):
        ServedSite(open_index_source(str(file)))

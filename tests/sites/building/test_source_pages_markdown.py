"""Pages of a folder of Markdown: their URLs, titles and dates."""

import json
from pathlib import Path
from typing import Any

from dowse.sites.building.builder import BuildSettings, BuiltSite, build
from dowse.sites.index_check import inspect_bytes
from tests.sample_data import write_tree

SETTINGS = BuildSettings(name="Site", domain="site.example")


def built(root: Path, settings: BuildSettings = SETTINGS) -> tuple[dict[str, dict[str, Any]], BuiltSite]:
    """Build an index, check it strictly and return its pages by URL."""
    done = build(root, settings)
    assert inspect_bytes(done.data).problems == ()
    return {page["url"]: page for page in json.loads(done.data)["pages"]}, done


def page(text: str = "Some words of text.", **matter: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in matter.items())
    return f"---\n{lines}---\n\n{text}\n" if matter else f"{text}\n"


def test_plain_markdown(tmp_path: Path) -> None:
    files = {
        "README.md": "# Welcome\n\nHome words.",
        "guide/index.md": "# The guide\n\nGuide words.",
        "guide/First Steps.md": page(title="Steps"),
        "guide/named.md": page(slug="other-name", title="Named"),
        "stated.md": page(permalink="/somewhere/else/", title="Stated"),
        "toml.md": '+++\ntitle = "Tom"\nslug = "/top/tom"\ndate = 2024-03-02T10:00:00+02:00\ntags = ["a", "b"]\n+++\n\nWords.\n',
        "abroad.md": page(url="https://other.example/x"),
        "draft.md": page(draft="true"),
        "hidden.md": page(published="false"),
        "day.md": page(published="2020-01-02", title="Dated"),
        "later.md": page(date="2999-01-01"),
        "empty.md": "\n",
        ".obsidian/x.md": "secret",
        "node_modules/x/README.md": "theirs",
    }
    pages, done = built(write_tree(tmp_path, files))
    assert done.format == "markdown"
    assert {url: one["title"] for url, one in pages.items()} == {
        "/": "Welcome",
        "/guide": "The guide",
        "/guide/First%20Steps": "Steps",
        "/guide/other-name": "Named",
        "/somewhere/else": "Stated",
        "/top/tom": "Tom",
        "/day": "Dated",
    }
    assert pages["/day"]["date"] == "2020-01-02"
    assert (pages["/top/tom"]["date"], pages["/top/tom"]["topics"]) == ("2024-03-02", ["a", "b"])
    assert done.skipped == {
        "it is a draft": ["draft.md", "hidden.md"],
        "its date is in the future": ["later.md"],
        "it has no text": ["empty.md"],
        "its address is on another site": ["abroad.md"],
    }


def test_drafts_and_pages_to_come_are_taken_where_that_is_wanted(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": page(draft="true"), "b.md": page(date="2999-01-01")})
    pages, _ = built(tmp_path, BuildSettings(name="S", domain="s.example", drafts=True, future=True))
    assert set(pages) == {"/a", "/b"}

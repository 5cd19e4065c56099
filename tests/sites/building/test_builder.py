"""The builder: clean text, dates, unique URLs, built HTML, reproducible bytes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dowse.errors import DowseError, UsageError
from dowse.sites.building.builder import BuildSettings, build
from dowse.sites.building.source_pages import markdown_text
from dowse.sites.index_check import inspect_bytes
from tests.end_to_end.security.fake_secrets import private_key
from tests.sample_data import write_tree

SETTINGS = BuildSettings(name="Site", domain="site.example")


def pages_of(root: Path, settings: BuildSettings = SETTINGS) -> dict[str, dict[str, Any]]:
    done = build(root, settings)
    assert inspect_bytes(done.data).problems == ()
    return {page["url"]: page for page in json.loads(done.data)["pages"]}


def test_markdown_becomes_clean_words() -> None:
    for markdown, expected in (
        ("# A *heading*\n\nSome **bold** [link](http://x.example) and `code`.", "A heading\n\nSome bold link and code."),
        ("![A picture](x.png) beside it", "A picture beside it"),
        ("- one\n- two\n  - three\n\n1. four", "one\n\ntwo\n\nthree\n\nfour"),
        ("| a | b |\n|---|---|\n| c | d |", "a b\n\nc d"),
        ("```python\ndef f():\n    pass\n```", "def f():\npass"),
        ("Before <!-- hidden\nwords --> after", "Before after"),
        ("<div>\n<p>Some <b>HTML</b></p>\n</div>\n\nAfter", "Some\nHTML\n\nAfter"),
        ("Line one\nline two  \nline three", "Line one line two\nline three"),
        ("A {{< ref \"x\" >}}word{{< /ref >}} {% if x %}b{% endif %} {{ y }}", "A word b"),
        ("## Title {#the-id}\n\nText{: .class }", "Title\n\nText"),
        ("> quoted\n> words", "quoted words"),
        ("Words[^1]\n\n[^1]: The note.", "Words\n\nThe note."),
        ("a\x00b\x1b[31m\u2028c", "ab[31mc"),
        ("<script>alert(1)</script>\n\ntext", "text"),
        ("", ""),
    ):  # fmt: skip
        assert markdown_text(markdown)[0] == expected


def test_an_odd_date_is_left_out_and_said(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "---\ndate: someday\n---\n\nWords.\n", "b.md": "---\ntitle: a: b\n---\n\nWords.\n"})
    done = build(tmp_path, SETTINGS)
    pages = json.loads(done.data)["pages"]
    assert all("date" not in page for page in pages)
    assert [page["body"] for page in pages] == ["Words.", "Words."]
    assert "'someday' is not a date" in done.warnings[0]
    assert "front matter" in done.warnings[1]


def test_an_address_is_given_once(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "One.", "a/index.md": "Two."})
    done = build(tmp_path, SETTINGS)
    assert json.loads(done.data)["pageCount"] == 1
    assert "another page has the URL /a" in done.warnings[0]


def test_the_same_input_at_the_same_time_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        f"{name}.md": f"---\ntags: [{name}, b, a]\n---\n\nWords of {name}.\n" for name in ["zebra", "apple", "mango"]
    }
    write_tree(tmp_path / "one", files)
    write_tree(tmp_path / "two", dict(reversed(files.items())))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first, second = (build(tmp_path / name, SETTINGS).data for name in ("one", "two"))
    assert first == second
    assert json.loads(first)["generated"] == "2023-11-14T22:13:20.000Z"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "now")
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH"):
        build(tmp_path / "one", SETTINGS)


def test_a_folder_without_pages_is_no_site(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "---\ndraft: true\n---\nx"})
    with pytest.raises(DowseError, match="1 because it is a draft") as caught:
        build(tmp_path, SETTINGS)
    assert caught.value.exit_code == 1


def test_nothing_outside_the_folder_and_no_secret_is_read(tmp_path: Path) -> None:
    outside = write_tree(tmp_path / "outside", {"secret.md": "secret"})
    files = {"a.md": "Words.", ".ssh/notes.md": "secret", "secring.md": "secret", "key.md": f"\n  {private_key()}"}
    root = write_tree(tmp_path / "site", files)
    (root / "link.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    assert list(pages_of(root)) == ["/a"]


def test_what_a_project_leaves_out_as_built_is_a_page_here(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "dist", {"a.md": "Words.", "build/b.md": "Words.", "target/c.md": "Words."})
    assert list(pages_of(root)) == ["/a", "/build/b", "/target/c"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.md": "x", "b.md": "x", "index.html": "x"}, ("markdown", 2)),
        ({"a.html": "x", "b.htm": "x", "README.md": "x"}, ("html", 2)),
        ({"a.html": "x", "a.md": "x"}, ("html", 1)),
    ],
)
def test_pages_are_the_files_of_the_kind_that_there_is_more_of(
    tmp_path: Path, files: dict[str, str], expected: tuple[str, int]
) -> None:
    done = build(write_tree(tmp_path, files), SETTINGS)
    assert (done.format, done.pages) == expected


def test_hostile_files_become_pages_or_nothing(tmp_path: Path) -> None:
    files = {
        "a.md": "---\n" + "[" * 5000 + "\n---\n\nWords.\n",
        "b.md": "---\ntitle: |\n  two\n  lines\x07\n---\n\n" + "> " * 2000 + "deep",
        "c.md": "[" * 20_000 + "\n\n" + "*a " * 5000,
        "d.md": "---\ntitle: [a, b]\ntags: {x: y}\ndate: {}\n---\nWords",
        "e e/f\u202eg.md": "Words",
        "g.md": "<A " * 3000 + "\n\nWords {" + "{" * 3000,
    }
    write_tree(tmp_path, files)
    (tmp_path / "bytes.md").write_bytes(bytes(range(256)) * 20)
    assert len(pages_of(tmp_path)) >= 5


# Settings


def test_what_is_not_stated_is_asked_for(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "Words."})
    with pytest.raises(UsageError, match="--name and --domain"):
        build(tmp_path, BuildSettings())


def test_a_domain_is_taken_without_what_does_not_belong_there(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "Words."})
    done = build(
        tmp_path,
        BuildSettings(name="S", domain="https://s.example/x", prefix="sss", description="A\n site", base="/b/"),
    )
    value = json.loads(done.data)
    assert value["site"] == {"name": "S", "domain": "s.example", "description": "A site", "toolPrefix": "sss"}
    assert value["pages"][0]["url"] == "/b/a"


def test_a_prefix_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "Words."})
    with pytest.raises(DowseError, match="toolPrefix"):
        build(tmp_path, replace(SETTINGS, prefix="Not One"))


# Built HTML

PAGE = """<!doctype html>
<html lang="en"><head>
<meta charset="utf-8">
<title>Peeling apples | Fruit Blog</title>
<meta name="description" content="How to peel.">
<meta property="article:published_time" content="2025-01-31T10:00:00Z">
<meta property="article:tag" content="apples">
<link rel="canonical" href="https://site.example/posts/peeling/">
<style>.x { color: red }</style>
</head><body>
<header><a href="/">Fruit Blog</a></header>
<nav><a href="/a">Navigation</a></nav>
<main>
<nav class="breadcrumbs">Home / Posts</nav>
<h1>Peeling apples<a class="headerlink" href="#x">¶</a></h1>
<p>First   paragraph with <em>emphasis</em>.</p>
<ul><li>One</li><li>Two</li></ul>
<pre><code>line one
  line two</code></pre>
<table><tr><td>cell</td><td>other</td></tr></table>
<p hidden>Hidden</p><div aria-hidden="true">Also hidden</div>
<script>alert(1)</script>
</main>
<aside>Related</aside>
<footer>Imprint</footer>
</body></html>"""


def test_html_gives_the_main_content(tmp_path: Path) -> None:
    write_tree(tmp_path, {"posts/peeling/index.html": PAGE})
    page = pages_of(tmp_path)["/posts/peeling"]
    assert build(tmp_path, BuildSettings(name="S")).site.domain == "site.example"
    assert page["title"] == "Peeling apples"
    assert page["abstract"] == "How to peel."
    assert page["date"] == "2025-01-31"
    assert page["topics"] == ["apples"]
    assert page["body"] == (
        "Peeling apples\n\nFirst paragraph with emphasis.\n\nOne\n\nTwo\n\nline one\nline two\n\ncell other"
    )


def html(body: str, head: str = "") -> str:
    return f"<html><head><title>T</title>{head}</head><body>{body}</body></html>"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("index.html", html("<p>Words</p>"), "/"),
        ("a/index.html", html("<p>Words</p>"), "/a"),
        ("a/b.html", html("<p>Words</p>"), "/a/b.html"),
        ("a.html", html("<p>Words</p>", '<link rel="canonical" href="/nice/">'), "/nice"),
        ("a.html", html("<p>Words</p>", '<link rel="canonical" href="https://www.site.example/x/?a=1#b">'), "/x"),
        (
            "a.html",
            html("<p>Words</p>", '<link rel="canonical" href="https://other.example/x">'),
            "belongs to another site",
        ),
        ("a.html", html("<p>Words</p>", '<meta name="robots" content="NOINDEX, follow">'), "noindex"),
        ("a.html", html("<p>Words</p>", '<meta name="googlebot" content="none">'), "noindex"),
        ("a.html", html("<p>Words</p>", '<meta http-equiv="refresh" content="0; url=/b">'), "leads to another"),
        ("404.html", html("<p>Words</p>"), "errors"),
        ("a.html", html("<nav>Only navigation</nav>"), "no text"),
        ("a.html", html("<p>Words</p>", '<meta property="article:published_time" content="2999-01-01">'), "future"),
    ],
)
def test_html_has_the_address_that_it_states(tmp_path: Path, path: str, text: str, expected: str) -> None:
    write_tree(tmp_path, {path: text, "zzz/other.html": html("<p>Another</p>")})
    done = build(tmp_path, SETTINGS)
    urls = [page["url"] for page in json.loads(done.data)["pages"]]
    if expected.startswith("/"):
        assert expected in urls
    else:
        assert urls == ["/zzz/other.html"]
        assert expected in next(iter(done.skipped))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<header>Top</header><div><p>Words</p></div><aside>Side</aside><footer>Foot</footer>", "Words"),
        ("<article><header>Kept</header><p>Words</p></article><div>Around</div>", "Kept\nWords"),
        ("<article><p>One</p></article><article><p>Two</p></article>", "One\n\nTwo"),
        ('<div role="main"><p>Words</p></div><div>Around</div>', "Words"),
        ('<main><p>All</p></main><div data-pagefind-body><p>Only this</p></div>', "Only this"),
        ("<main><p>Words</p><div data-pagefind-ignore>Not this</div></main>", "Words"),
        ("<p>a<br>b</p>", "a\nb"),
        ("<p>a &amp; b &lt;c&gt;</p>", "a & b <c>"),
        ("<div>" * 3000 + "deep" + "</div>" * 3000, "deep"),
    ],
)  # fmt: skip
def test_what_stands_around_the_content_is_left_out(tmp_path: Path, body: str, words: str) -> None:
    write_tree(tmp_path, {"a.html": html(body)})
    assert pages_of(tmp_path)["/a.html"]["body"].replace("\n\n", "\n").strip() == words.replace("\n\n", "\n")


def test_a_date_is_found_in_a_time(tmp_path: Path) -> None:
    write_tree(tmp_path, {"b.html": html('<main><time datetime="2023-01-02">then</time></main>')})
    assert pages_of(tmp_path)["/b.html"]["date"] == "2023-01-02"


def test_other_encodings_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(html("<p>Größe</p>", '<meta charset="iso-8859-1">').encode("latin-1"))
    assert pages_of(tmp_path)["/a.html"]["body"] == "Größe"


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
    pages, done = pages_of(write_tree(tmp_path, files)), build(tmp_path, SETTINGS)
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
    assert set(pages_of(tmp_path, replace(SETTINGS, drafts=True, future=True))) == {"/a", "/b"}


LAUGHS = "a0: &a0 [x]\n" + "".join(
    f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]\n" for number in range(1, 12)
)
"""A few hundred bytes of YAML that stand for thirty billion values."""


def test_a_page_that_cannot_be_parsed_is_left_out_with_its_reason(tmp_path: Path) -> None:
    files = {
        "a.md": "# Apple\n\nText.\n",
        "b.md": ">" * 900_000,
        "c.md": f"---\n{LAUGHS}tags: *a11\n---\n\nText.\n",
        "d.md": "# Date\n",
    }
    built = build(write_tree(tmp_path, files), SETTINGS)
    assert [page["url"] for page in json.loads(built.data)["pages"]] == ["/a", "/d"]
    reasons = {path: reason for reason, paths in built.skipped.items() for path in paths}
    assert {reasons["b.md"], reasons["c.md"]} <= {
        "it takes more than 1.5 s to parse",
        "it takes more than 100 MB to parse",
    }


@pytest.mark.parametrize("kind", ["md", "html"])
def test_a_long_page_in_any_script_is_whole(tmp_path: Path, kind: str) -> None:
    text = "Яблоко очищают ножом. " * 100_000
    page = f"# Я\n\n{text}\n" if kind == "md" else f"<meta charset=utf-8><title>Я</title><main><p>{text}</main>"
    built = build(write_tree(tmp_path, {f"a.{kind}": page}), SETTINGS)
    (found,) = json.loads(built.data)["pages"]
    assert found["body"].endswith(text.strip())

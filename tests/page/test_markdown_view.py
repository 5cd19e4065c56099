"""Rendered Markdown: readable, and nothing in it runs or leads astray."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.page import page_texts
from dowse.page.markdown_view import MAX_RENDERED_CHARACTERS, Resolve, heading_list, write_markdown
from dowse.page.page_texts import PageTexts, ParsedMarkdown
from dowse.parsing.grammars import find_bundle
from dowse.parsing.parser_pool import ParserPool

ALLOWED = re.compile(
    r"</?(p|h[1-6]|ul|ol|li|pre|code|em|strong|s|blockquote|table|tr|th|td|div|span|a|br|hr|sup|sub|dl|dt|dd)(\s[^<>]*)?>"
)
HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)", "![x](javascript:alert(1))", "<a href='javascript:x'>y</a>",
    "[x]: javascript:alert(1)\n\n[x]", "<javascript:alert(1)>", "[x](vbscript:x)", "[a](https://x.org/\"onclick=alert(1))",
    "# <img src=x> {#a\" onclick=\"x}", "```\"><script>\nx\n```", "| <b> | [x](javascript:a) |\n|---|---|\n| <svg onload=x> | y |",
    "<svg><script>alert(1)</script></svg>", "<iframe src=//evil>", "<!--><img src=x onerror=alert(1)>-->", "&lt;script&gt;",
    "[x](\x01javascript:alert(1))", "[x](java\nscript:alert(1))", "<style>*{background:url(//evil)}</style>", "[^<img>]\n\n[^<img>]: x",
]  # fmt: skip


def address(target: str) -> str | None:
    return target if target.startswith(("https://", "#")) else None


def parsed(text: str) -> ParsedMarkdown:
    found = asyncio.run(PageTexts().markdown(text))
    assert found
    return found


def rendered(text: str, picture: Resolve = lambda _: None) -> str:
    return write_markdown(parsed(text), address, picture)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("pictures", [False, True])
def test_nothing_in_it_runs(text: str, pictures: bool) -> None:
    body = rendered(f"# Top\n\n{text}\n", lambda _: "/picture?id=x" if pictures else None)
    for tag in re.findall(r"<[^>]*>", body):
        if re.fullmatch(r'<img src="/picture\?id=x" alt="[^"<>]*" loading="lazy">', tag) and pictures:
            continue
        assert ALLOWED.fullmatch(tag), tag
        assert not re.search(r"\son\w+\s*=|javascript:", re.sub(r'"[^"]*"', '""', tag)), tag
    for target in re.findall(r'href="([^"]*)"', body):
        assert target.startswith(("https://", "#"))


def test_front_matter_is_left_out_and_lines_and_headings_are_known() -> None:
    found = parsed("---\ntitle: X\n---\n\n# One\n\ntext\n\n## Two *b*\n")
    body = write_markdown(found, address, has_anchors=True)
    assert "title" not in body
    assert '<h2 id="md-two-b" data-line="9">Two <em>b</em></h2>' in body
    assert '<p data-line="7">text</p>' in body
    assert [heading.text for heading in found.headings] == ["One", "Two b"]
    assert '<a href="#md-two-b" data-line="9">Two b</a>' in heading_list(found.headings)


def test_a_comment_is_not_shown_wherever_it_ends() -> None:
    body = rendered(
        "Before <!-- one --> after.\n\n<!-- two\nthree\n\nfour -->\n\n<div>\nleft <!-- five\nsix -->\n</div>\n"
    )
    assert not re.search("one|two|three|four|five|six|--", body.replace("data-line", ""))
    assert "Before  after." in body
    assert "left" in body


def test_pictures_of_the_folder_are_shown_and_others_named() -> None:
    body = rendered(
        '![A *ripe* pear](img/pear.png) ![far](https://x.org/a.png)\n\n<p><img src="pear.png" alt="B"><br></p>\n',
        lambda target: f"/picture?id={target}" if target.endswith("pear.png") else None,
    )
    assert '<img src="/picture?id=img/pear.png" alt="A ripe pear" loading="lazy">' in body
    assert '<span class="image">far</span>' in body
    assert '<img src="/picture?id=pear.png" alt="B" loading="lazy"><br>' in body
    assert "x.org" not in body


def test_code_has_the_colours_of_its_language_and_words_are_marked() -> None:
    found = parsed("Peel it:\n\n```py\nx = 1\n```\n\n    indented\n")
    body = write_markdown(found, address, marks=lambda text: [(0, 4)] if text.startswith("Peel") else [])
    assert "<mark>Peel</mark> it:" in body
    assert 'x = <span class="n">1</span>' in body
    assert "<code>indented" in body


@pytest.fixture
def no_grammar_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A parser process that has loaded no grammar, and a folder without any."""
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path / "grammars"))
    find_bundle.cache_clear()
    pool = ParserPool(1)
    monkeypatch.setattr(page_texts, "shared_pool", lambda: pool)
    yield
    pool.close()
    find_bundle.cache_clear()


@pytest.mark.usefixtures("no_grammar_unpacked")
def test_code_is_coloured_at_the_first_view_in_languages_that_were_not_unpacked() -> None:
    assert '<span class="n">1</span>' in rendered("```ruby\nx = 1\n```\n")


@pytest.mark.usefixtures("no_grammar_unpacked")
def test_grammars_that_take_long_to_load_take_no_colours_from_the_code_after_them() -> None:
    found = parsed("".join(f"```{language}\nx = 1;\n```\n\n" for language in ("objc", "cpp", "ruby")))
    assert all(found.colours)


def test_a_text_with_much_code_is_rendered_and_coloured_at_its_beginning() -> None:
    block = "```python\n" + f"x = [{','.join('1' * 60)}]\n" * 30 + "```\n\n"
    found = parsed(block * (MAX_RENDERED_CHARACTERS // len(block)))
    assert found.colours[0]
    assert not found.colours[-1]
    assert write_markdown(found, address).count("<pre") == len(found.colours) > 90


def test_what_authors_write_beside_paragraphs_is_shown() -> None:
    text = (
        "Call `a<b>` now  \nor later.[^1]\n\n---\n\n- [x] done\n- [ ] open\n\n3. third\n4. fourth\n\n"
        "| Name | Size |\n|---|---|\n| pear | 2 |\n\n[^1]: In winter.\n\n![A *pear*](pear.png)\n"
    )
    body = rendered(text)
    assert "Call <code>a&lt;b&gt;</code> now<br>or later.<sup>[1]</sup>" in body
    assert "<hr>" in body
    assert "☑ done" in body
    assert "☐ open" in body
    assert '<ol start="3">' in body
    assert "<tr><th>Name</th><th>Size</th></tr>" in body
    assert "<td>pear</td><td>2</td>" in body
    assert '<div class="about">[1] <p' in body
    assert '<span class="image">A pear</span>' in body
    assert "pear.png" not in body

"""Rendered Markdown: readable, and nothing in it runs or leads astray."""

import re

import pytest

from dowse.page.markdown_view import render_markdown

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


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_it_runs(text: str) -> None:
    rendered = render_markdown(f"# Top\n\n{text}\n", address)
    assert rendered
    for tag in re.findall(r"<[^>]*>", rendered.body):
        assert ALLOWED.fullmatch(tag), tag
        assert not re.search(r"\son\w+\s*=|javascript:", re.sub(r'"[^"]*"', '""', tag)), tag
    for target in re.findall(r'href="([^"]*)"', rendered.body):
        assert target.startswith(("https://", "#"))


def test_front_matter_is_left_out_and_lines_and_headings_are_known() -> None:
    rendered = render_markdown("---\ntitle: X\n---\n\n# One\n\ntext\n\n## Two *b*\n", lambda _: None)
    assert rendered
    assert "title" not in rendered.body
    assert '<h2 id="md-two-b" data-line="9">Two <em>b</em></h2>' in rendered.body
    assert '<p data-line="7">text</p>' in rendered.body
    assert [heading.text for heading in rendered.headings] == ["One", "Two b"]


def test_what_authors_write_beside_paragraphs_is_shown() -> None:
    text = (
        "Call `a<b>` now  \nor later.[^1]\n\n---\n\n- [x] done\n- [ ] open\n\n3. third\n4. fourth\n\n"
        "| Name | Size |\n|---|---|\n| pear | 2 |\n\n[^1]: In winter.\n\n![A *pear*](pear.png)\n"
    )
    rendered = render_markdown(text, address)
    assert rendered
    body = str(rendered.body)
    assert "Call <code>a&lt;b&gt;</code> now<br>or later.<sup>[1]</sup>" in body
    assert "<hr>" in body
    assert "☑ done" in body
    assert "☐ open" in body
    assert '<ol start="3">' in body
    assert "<tr><th>Name</th><th>Size</th></tr>" in body
    assert "<td>pear</td><td>2</td>" in body
    assert '<div class="about">[1] <p' in body
    assert '<span class="image">A <em>pear</em></span>' in body
    assert "pear.png" not in body

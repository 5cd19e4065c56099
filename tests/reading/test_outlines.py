"""Headings of a text, and the sections that anchors lead to."""

from hypothesis import given
from hypothesis import strategies as st

from dowse.reading.outlines import Outline, Section, make_slug


def find_section(text: str, anchor: str) -> Section | None:
    return Outline(text).section(anchor)


def headings(text: str) -> list[tuple[int, str, str]]:
    return [(heading.level, heading.text, heading.anchor) for heading in Outline(text).headings]


def test_this_is_one_heading() -> None:
    for text, heading in (
        ("# A b", (1, "A b", "a-b")),
        ("###### Deep ##", (6, "Deep", "deep")),
        ("A\nb\n===", (1, "A b", "a-b")),
        ("A\n---", (2, "A", "a")),
        ("# *A* **b** `c_d` [e](f.md) ~~g~~", (1, "A b c_d e g", "a-b-c_d-e-g")),
        ("# A [b][r] <b>c</b><br>d\n\n[r]: x", (1, "A b c d", "a-b-c-d")),
        ("# ![Logo](a.png) Name", (1, "Name", "-name")),
        ("# ![Logo](a.png)", (1, "Logo", "logo")),
        ("# C&amp;A \\*b\\*", (1, "C&A *b*", "ca-b")),
        ("# A {#my-id}", (1, "A", "my-id")),
        ("# A {#__init__} ##", (1, "A", "__init__")),
        ("# A {: #my-id .wide key=x}", (1, "A", "my-id")),
        ("# A {.wide #my-id}", (1, "A", "my-id")),
        ("# A {/* #my-id */}", (1, "A", "my-id")),
        ("A {#my-id}\n---", (2, "A", "my-id")),
        ("# A {.wide}", (1, "A", "a")),
        ("# `{#no}`", (1, "{#no}", "no")),
        ("# Use {braces}", (1, "Use {braces}", "use-braces")),
        ('<h2 align="center">A <i>b</i></h2>', (2, "A b", "a-b")),
        ('<h2 id="my-id">A</h2>', (2, "A", "my-id")),
        ("<h1>\n\nA *b*\n\n</h1>", (1, "A b", "a-b")),
        ("<div>\n<H3>A\nb</H3>\n</div>", (3, "A b", "ab")),
        ("#", (1, "", "")),
        ("\ttext\n\n   # A", (1, "A", "a")),
        ("---\ntitle: no\n---\n# A", (1, "A", "a")),
    ):
        assert headings(text) == [heading]


def test_this_is_no_heading() -> None:
    for text in (
        "```\n# no\n```", "~~~~ md\n# no\n```\n# no\n~~~~", "```\r# no\r```", "    # no", "- ```\n  # no\n  ```",
        "`# no`", "#no", "####### no", "\\# no", "<!-- # no -->", "<!--\n# no\n<h1>no</h1>\n-->",
        "<script>\n'<h1>no</h1>'\n</script>", "<h1>never closed", "<h1>\n\n```\ncode\n```\n\n</h1>",
        "a | b\n--- | ---", "---", "---\ntitle: no\n---\n", "+++\ntitle = 'no'\n+++\n", "> # quoted", "- # listed",
    ):  # fmt: skip
        assert headings(text) == []


def test_words_become_the_anchor_that_github_makes_of_them() -> None:
    for words, anchor in (
        # The slugs that GitHub makes, from the fixtures of the library github-slugger.
        ("bravoCharlieDelta", "bravocharliedelta"),
        ("heading with a - dash", "heading-with-a---dash"),
        ("heading with an _ underscore", "heading-with-an-_-underscore"),
        ("exchange.bind_headers(exchange, routing [, bindCallback])", "exchangebind_headersexchange-routing--bindcallback"),
        ("apostrophe’s should be trimmed", "apostrophes-should-be-trimmed"),
        (" a ", "-a-"),
        ("I ♥ unicode", "i--unicode"),
        ("en–dash", "endash"),
        ("😄 - an emoji", "---an-emoji"),
        (":ok_hand: Single", "ok_hand-single"),
        ("Профили пользователей", "профили-пользователей"),
        ("Привет non-latin 你好", "привет-non-latin-你好"),
        ("İ", "i̇"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
        ("x² ½ Ⅷ", "x--ⅷ"),
    ):  # fmt: skip
        assert make_slug(words) == anchor


def test_equal_headings_are_numbered_as_on_github() -> None:
    words = ["echo", "echo", "echo 1", "echo-1", "echo", "foxtrot-1", "foxtrot", "foxtrot", "__proto__", "!", "!"]
    text = "\n".join(f"# {word.replace('_', '&#95;')}" for word in words)
    assert [anchor for _, _, anchor in headings(text)] == [
        "echo", "echo-1", "echo-1-1", "echo-1-2", "echo-2", "foxtrot-1", "foxtrot", "foxtrot-2", "__proto__", "", "",
    ]  # fmt: skip


def test_headings_have_the_lines_an_editor_shows() -> None:
    for end in ("\n", "\r\n", "\r"):
        lines = [
            "---",
            "title: Ü",
            "---",
            "",
            "# Ä",
            "",
            "Two",
            "lines",
            "---",
            "",
            "<div>",
            "<h2>日</h2>",
            "</div>",
            "",
            "# B",
        ]
        assert [(heading.text, heading.line) for heading in Outline(end.join(lines)).headings] == [
            ("Ä", 5),
            ("Two lines", 7),
            ("日", 12),
            ("B", 15),
        ]


GUIDE = """\
---
title: Guide
---
# Guide
text

## Install
text
### Linux
text
### Windows
text

## Use
text
# Appendix
"""


def test_a_section_goes_to_the_next_heading_of_its_level_or_above() -> None:
    for anchor, section in (
        ("guide", Section(4, 15, ("Guide",))),
        ("install", Section(7, 13, ("Guide", "Install"))),
        ("linux", Section(9, 10, ("Guide", "Install", "Linux"))),
        ("windows", Section(11, 13, ("Guide", "Install", "Windows"))),
        ("use", Section(14, 15, ("Guide", "Use"))),
        ("appendix", Section(16, 16, ("Appendix",))),
        ("#linux", Section(9, 10, ("Guide", "Install", "Linux"))),
        ("linux:~:text=text", Section(9, 10, ("Guide", "Install", "Linux"))),
        ("user-content-linux", Section(9, 10, ("Guide", "Install", "Linux"))),
        ("Install#Linux", Section(9, 10, ("Guide", "Install", "Linux"))),
        ("Guide#Linux", Section(9, 10, ("Guide", "Install", "Linux"))),
        ("Use#Linux", None),
        ("macos", None),
        ("", None),
        ("#", None),
        ("##", None),
        ("title-guide", None),
    ):
        assert find_section(GUIDE, anchor) == section


def test_a_level_left_out_does_not_end_the_section() -> None:
    assert find_section("# A\n### B\n## C\n# D", "a") == Section(1, 3, ("A",))
    assert find_section("### B\n## C\n# D", "b") == Section(1, 1, ("B",))


def test_other_ways_to_make_an_anchor_lead_to_the_heading_too() -> None:
    for anchor in ("the-a-p-i-of-v-2", "The A.P.I. of V.2", "the_api_of_v2", "The-API-of-v2", "THEAPIOFV2"):
        assert find_section("# x\n## The API of v2\n", anchor) == Section(2, 2, ("x", "The API of v2"))


def test_the_exact_anchor_is_preferred_to_one_that_is_similar() -> None:
    assert find_section("# C++\n# c\n# C", "c-1") == Section(2, 2, ("c",))


def test_a_heading_with_an_id_is_found_by_its_words_too() -> None:
    assert find_section("# A b {#x}", "a-b") == find_section("# A b {#x}", "x") == Section(1, 1, ("A b",))


def test_an_anchor_in_or_right_before_a_heading_is_the_headings() -> None:
    for text in (
        '# A\n\n<a id="x"></a>\n\n## B\ntext',
        '# A\n\n<a name="x"></a>\n<a id="y"/>\n## B\ntext',
        "# A\n\n<div id='x'>\n\n## B\ntext",
        '# A\n\n\n\n## <a id="x"></a>B\ntext',
        "# A\n\n\n\n## B <span id=x></span>\ntext",
        '# A\n\n\n\n<h2><a name="x">B</a></h2>\ntext',
        '# A\n\n<!-- x -->\n<a id="x"></a>\n## B\ntext',
    ):
        assert find_section(text, "x") == Section(5, 6, ("A", "B"))


def test_an_anchor_in_running_text_leads_to_the_section_around_it() -> None:
    text = '# A\n<a id="one"></a>\n<a id="uno"></a>\n\ntext\n\n- <a name="two"></a> item\n\nmore <b id="three">x</b>\n\n## B\n'
    assert {find_section(text, anchor) for anchor in ("one", "uno", "two", "three")} == {Section(1, 11, ("A",))}


def test_an_anchor_above_all_headings_stands_under_none() -> None:
    assert find_section("<a id=x></a> text\n\n# A", "x") == Section(1, 2, ())


def test_a_heading_in_a_quotation_leads_to_the_section_around_it_and_divides_nothing() -> None:
    text = "# A\n\n> ## Note\n> text\n\ntext\n\n## B"
    assert find_section(text, "a") == find_section(text, "note") == Section(1, 8, ("A",))


def test_this_is_no_anchor() -> None:
    for text in ("```\n<a id=x></a>\n```", "`<a id=x>`", "<!-- <a id=x></a> -->", '<img name="x">', "<a id=''>"):
        assert find_section(text, "x") is None


MARKUP = st.lists(
    st.sampled_from(
        [
            "#", "##", " ", "\n", "\r", "\r\n", "a", "ü", "---", "===", "```", "`", ">", "- ", "<h1>", "</h1>",
            "<a id=x>", "</a>", "<!--", "-->", "{#x}", "[b](c)", "*", "|", "\\", "    ", "&amp;", "![i](j)",
            "<div id='y'>", "\u2028",
        ]
    )
).map("".join)  # fmt: skip


@given(st.text() | MARKUP)
def test_any_text_has_an_outline_within_its_lines(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    outline = Outline(text)
    assert [heading.line for heading in outline.headings] == sorted(heading.line for heading in outline.headings)
    for anchor in ("x", "y", "a", *(heading.anchor for heading in outline.headings)):
        section = outline.section(anchor)
        assert section is None or 1 <= section.start_line <= section.end_line <= lines


@given(MARKUP)
def test_every_heading_with_an_anchor_can_be_led_to(text: str) -> None:
    outline = Outline(text)
    assert all(outline.section(heading.anchor) for heading in outline.headings if heading.anchor.strip("#"))


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3)), min_size=1))
def test_sections_of_the_outermost_headings_cover_all_below_the_first(shape: list[tuple[int, int]]) -> None:
    text = "".join(f"{'#' * level} h{number}\n" + "text\n" * below for number, (level, below) in enumerate(shape))
    outline = Outline(text)
    highest = 7
    ends = [0]
    for heading in outline.headings:
        if heading.level <= highest:
            section = outline.section(heading.anchor)
            assert section is not None
            assert section.start_line == ends[-1] + 1
            ends.append(section.end_line)
            highest = heading.level
    assert ends[-1] == len(text.splitlines())

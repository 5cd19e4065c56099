"""HTML that is escaped by default; numbers and times are said as people say them."""

import pytest

from dowse.page.markup import Html, counted, encode, html, render, tag, time_of, time_view
from dowse.visible_text import pluralize


def test_a_value_is_text_unless_it_is_html() -> None:
    assert (
        html('<a title="{x}">{x}</a>', x="<b>\"'&")
        == '<a title="&lt;b&gt;&quot;&#x27;&amp;">&lt;b&gt;&quot;&#x27;&amp;</a>'
    )
    assert html("<p>{x}</p>", x=Html("<b>ours</b>")) == "<p><b>ours</b></p>"
    assert html("{x}{y}", x=None, y=3) == "3"


def test_the_members_of_a_list_are_escaped_one_by_one() -> None:
    assert render(["<", Html("<br>"), ["&"]]) == "&lt;<br>&amp;"


def test_braces_of_a_value_are_no_places() -> None:
    assert html("{x}", x="{y} {x.__class__}") == "{y} {x.__class__}"


def test_anything_else_is_a_mistake() -> None:
    with pytest.raises(TypeError):
        html("{x}", x=object())


def test_an_element_has_the_attributes_that_have_a_value_and_none_is_empty() -> None:
    shown = tag("a", "<", Html("<b>"), href='"', class_="x", data_line=3, hidden=True, title=None, open=False)
    assert shown == '<a href="&quot;" class="x" data-line="3" hidden>&lt;<b></a>'
    assert tag("p", "", None, [tag("span", "")], class_="note") == ""


def test_an_attribute_may_be_zero() -> None:
    assert tag("div", "x", tabindex=0, title=None, open=False) == '<div tabindex="0">x</div>'


def test_a_lone_surrogate_can_be_sent() -> None:
    assert encode(html("{x}", x="a\udcff")) == b"a?"


def test_one_is_singular() -> None:
    assert (pluralize(1, "file"), pluralize(0, "file"), pluralize(1200, "file")) == ("1 file", "0 files", "1,200 files")
    assert counted({"documents": 1, "files": 2}) == "1 document, 2 files"


def test_a_time_has_its_exact_moment_and_an_odd_one_is_shown_as_it_is() -> None:
    view = time_view("2026-03-14T11:58:00Z")
    assert view == '<time datetime="2026-03-14T11:58:00Z">14 Mar 2026, 11:58 UTC</time>'
    assert time_view("2024-02-01") == '<time datetime="2024-02-01">1 Feb 2024</time>'
    assert (time_view("soon <b>"), time_view("")) == ("soon &lt;b&gt;", None)
    assert time_of(1 << 80) is None

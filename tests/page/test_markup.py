"""HTML that is escaped by default."""

import pytest

from dowse.page.markup import Html, encode, html, render


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


def test_a_lone_surrogate_can_be_sent() -> None:
    assert encode(html("{x}", x="a\udcff")) == b"a?"

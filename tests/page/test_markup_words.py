"""Numbers and times are said as people say them."""

from dowse.page.markup import counted, time_of, time_view
from dowse.visible_text import pluralize


def test_one_is_singular() -> None:
    assert (pluralize(1, "file"), pluralize(0, "file"), pluralize(1200, "file")) == ("1 file", "0 files", "1,200 files")
    assert counted({"documents": 1, "files": 2}) == "1 document, 2 files"


def test_a_time_has_its_exact_moment_and_an_odd_one_is_shown_as_it_is() -> None:
    view = time_view("2026-03-14T11:58:00Z")
    assert view == '<time datetime="2026-03-14T11:58:00Z">14 Mar 2026, 11:58 UTC</time>'
    assert time_view("2024-02-01") == '<time datetime="2024-02-01">1 Feb 2024</time>'
    assert (time_view("soon <b>"), time_view("")) == ("soon &lt;b&gt;", None)
    assert time_of(1 << 80) is None

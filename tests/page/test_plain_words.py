"""Numbers and times are said as people say them."""

from datetime import UTC, datetime

import pytest

from dowse.page.plain_words import counted, plural, readable_size, said_ago, time_of, time_view

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)


def test_one_is_singular() -> None:
    assert (plural(1, "file"), plural(0, "file"), plural(1200, "file")) == ("1 file", "0 files", "1,200 files")
    assert counted({"documents": 1, "files": 2}) == "1 document, 2 files"
    assert [readable_size(size) for size in (1, 999, 1200, 45_000_000, 2_100_000_000)] == [
        "1 byte", "999 bytes", "1.2 KB", "45 MB", "2.1 GB",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (3, "just now"),
        (60, "1 minute ago"),
        (150, "2 minutes ago"),
        (7200, "2 hours ago"),
        (90_000, "1 day ago"),
        (9e6, ""),
    ],
)
def test_a_time_is_said_from_now_on(seconds: float, said: str) -> None:
    assert said_ago(seconds) == said


def test_a_time_has_its_exact_moment_and_an_odd_one_is_shown_as_it_is() -> None:
    view = time_view("2026-03-14T11:58:00Z", NOW)
    assert view == '<time datetime="2026-03-14T11:58:00Z" title="14 Mar 2026, 11:58 UTC">2 minutes ago</time>'
    assert ">today<" in str(time_view("2026-03-14", NOW))
    assert ">yesterday<" in str(time_view("2026-03-13", NOW))
    assert ">1 Feb 2024<" in str(time_view("2024-02-01", NOW))
    assert (time_view("soon <b>"), time_view("")) == ("soon &lt;b&gt;", None)
    assert time_of(1 << 80) is None

"""Identities of URLs, and the parsing of dates."""

import pytest

from dowse.archives.dates import date_from_value, find_date, find_date_in_path
from dowse.archives.url_identities import url_identity


@pytest.mark.parametrize(
    "address",
    [
        "https://example.com/a/b", "http://example.com/a/b/", "HTTPS://EXAMPLE.com/a/b#part", "//example.com/a/b",
        "https://example.com:443/a/b", "http://example.com:80/a/b?utm_source=x&utm_medium=y",
        "https://example.com/a/b?fbclid=1#x", "https://example.com./a/%62",
    ],
)  # fmt: skip
def test_scheme_slash_fragment_tracking_and_case_of_the_host_do_not_count(address: str) -> None:
    assert url_identity(address) == "url:example.com/a/b"


@pytest.mark.parametrize(
    "address",
    [
        "https://example.com/A/b",
        "https://example.com/a/b?page=2",
        "https://example.com:8080/a/b",
        "https://other.com/a/b",
    ],
)
def test_everything_else_counts(address: str) -> None:
    assert url_identity(address) != "url:example.com/a/b"


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("https://doi.org/10.1000/182", "doi:10.1000/182"),
        ("http://dx.doi.org/10.1000/ABC", "doi:10.1000/abc"),
        ("https://arxiv.org/abs/2101.00001v3", "arxiv:2101.00001"),
        ("https://arxiv.org/pdf/2101.00001.pdf", "arxiv:2101.00001"),
        ("https://arxiv.org/abs/hep-th/9901001", "arxiv:hep-th/9901001"),
        ("https://www.python.org/dev/peps/pep-0008/", "pep:8"),
        ("https://peps.python.org/pep-0008/#a-foolish-consistency", "pep:8"),
        ("https://tools.ietf.org/html/rfc2616#section-5", "rfc:2616"),
        ("https://datatracker.ietf.org/doc/html/rfc2616", "rfc:2616"),
        ("https://www.rfc-editor.org/rfc/rfc2616.txt", "rfc:2616"),
    ],
)
def test_what_has_a_number_is_known_by_it(address: str, key: str) -> None:
    assert url_identity(address) == key


@pytest.mark.parametrize(
    "address", ["", "a/b.md", "mailto:a@b.c", "javascript:x", "http://[::1", "http://", "http://a:b/"]
)
def test_what_leads_nowhere_has_no_identity(address: str) -> None:
    assert url_identity(address) == ""


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2025-05-20T10:00:00Z", "2025-05-20"), ("2025/5/2", "2025-05-02"), ("20250520", "2025-05-20"),
        ("May 20, 2025", "2025-05-20"), ("20-May-2025", "2025-05-20"), ("5th June 2025", "2025-06-05"),
        ("June 1999", "1999-06"), ("2025-05", "2025-05"), ("2025-13-40", None), ("next week", None), ("", None),
    ],
)  # fmt: skip
def test_dates_are_read_as_people_write_them(written: str, date: str | None) -> None:
    assert find_date(written) == date


def test_a_number_is_seconds_or_milliseconds() -> None:
    assert date_from_value(1747735200) == date_from_value(1747735200000) == "2025-05-20"
    odd: list[object] = [True, None, [], -1, 1e300, float("nan")]
    assert [date_from_value(one) for one in odd] == [None] * 6


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("2025-05-20/report.md", "2025-05-20"), ("notes/2025-05-20 meeting.md", "2025-05-20"),
        ("2025/05/20/report.md", "2025-05-20"), ("2025/05/report.md", "2025-05"), ("pages/1234567/content.md", None),
        ("2024-01-01/2025-05-20.md", "2025-05-20"), ("report.md", None),
    ],
)  # fmt: skip
def test_a_path_has_the_date_nearest_to_the_file(path: str, date: str | None) -> None:
    assert find_date_in_path(path) == date

"""Dates as people and programs write them."""

from datetime import date

from dowse.reading.dates import date_from_value, day_from_value, find_date, find_date_in_path


def test_dates_are_read_as_people_write_them() -> None:
    for written, found in (
        ("2025-05-20T10:00:00Z", "2025-05-20"), ("2025/5/2", "2025-05-02"), ("20250520", "2025-05-20"),
        ("May 20, 2025", "2025-05-20"), ("20-May-2025", "2025-05-20"), ("5th June 2025", "2025-06-05"),
        ("June 1999", "1999-06"), ("2025-05", "2025-05"), ("2025-13-40", None), ("next week", None), ("", None),
        ("2025-01-31 10:00:00 +0100", "2025-01-31"), ("Fri, 31 Jan 2025 10:00:00 GMT", "2025-01-31"),
    ):  # fmt: skip
        assert find_date(written) == found


def test_a_number_is_seconds_or_milliseconds() -> None:
    assert date_from_value(1747735200) == date_from_value(1747735200000) == "2025-05-20"
    odd: list[object] = [True, None, [], -1, 1e300, float("nan")]
    assert day_from_value(date(2025, 5, 20)) == "2025-05-20"
    assert [day_from_value("June 1999"), day_from_value("soon")] == ["1999-06-01", ""]
    assert [date_from_value(one) for one in odd] == [None] * 6


def test_a_path_has_the_date_nearest_to_the_file() -> None:
    for path, found in (
        ("2025-05-20/report.md", "2025-05-20"), ("notes/2025-05-20 meeting.md", "2025-05-20"),
        ("2025/05/20/report.md", "2025-05-20"), ("2025/05/report.md", "2025-05"), ("pages/1234567/content.md", None),
        ("2024-01-01/2025-05-20.md", "2025-05-20"), ("report.md", None),
    ):  # fmt: skip
        assert find_date_in_path(path) == found

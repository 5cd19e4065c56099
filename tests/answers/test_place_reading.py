"""Places as assistants write them."""

import pytest

from dowse.answers.place_reading import RequestedPlace, parse_place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("src/a.py", RequestedPlace("src/a.py")),
        ("./src/a.py", RequestedPlace("src/a.py")),
        ("src/a.py:10-40", RequestedPlace("src/a.py", 10, 40)),
        ("src/a.py:40-10", RequestedPlace("src/a.py", 10, 40)),
        ("src/a.py:7", RequestedPlace("src/a.py", 7, 7)),
        ("src/a.py#L7-L9", RequestedPlace("src/a.py", 7, 9)),
        ("src/a.py:0-3", RequestedPlace("src/a.py", 1, 3)),
        ("src/a.py#Client.get", RequestedPlace("src/a.py", name="Client.get")),
        ("docs/", RequestedPlace("docs")),
        (".", RequestedPlace(".")),
        ("C#/a.cs#Run", RequestedPlace("C", name="/a.cs#Run")),
    ],
)
def test_a_place_is_a_path_with_lines_or_a_name(text: str, place: RequestedPlace) -> None:
    assert parse_place(text) == place

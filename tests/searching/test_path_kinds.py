"""The kinds of files, judged by their paths."""

import pytest

from dowse.searching.path_kinds import kinds_of


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("benches/scripts/tracing.js", {"example"}),
        ("Examples/Basic/Program.cs", {"example"}),
        ("src/workbench/view.ts", set()),
        ("priv/static/app.js.map", {"generated"}),
        ("src/map.ts", set()),
        ("src/Session.Tests/LoginTests.cs", {"test"}),
    ],
)
def test_a_path_says_what_kind_of_file_it_is(path: str, kinds: set[str]) -> None:
    assert kinds_of(path) == kinds

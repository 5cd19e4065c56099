"""The kinds of files, judged by their paths."""

from dowse.searching.path_kinds import kinds_of


def test_a_path_says_what_kind_of_file_it_is() -> None:
    for path, kinds in (
        ("benches/scripts/tracing.js", {"example"}),
        ("Examples/Basic/Program.cs", {"example"}),
        ("src/workbench/view.ts", set()),
        ("priv/static/app.js.map", {"generated"}),
        ("src/map.ts", set()),
        ("src/Session.Tests/LoginTests.cs", {"test"}),
    ):
        assert kinds_of(path) == kinds

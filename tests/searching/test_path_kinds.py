"""The kinds of files, judged by their paths."""

from dowse.searching.path_kinds import kinds_of, unrequested_kinds


def test_a_path_says_what_kind_of_file_it_is() -> None:
    for path, kinds in (
        ("benches/scripts/tracing.js", {"example"}),
        ("Examples/Basic/Program.cs", {"example"}),
        ("src/workbench/view.ts", set()),
        ("priv/static/app.js.map", {"generated"}),
        ("src/map.ts", set()),
        ("src/Session.Tests/LoginTests.cs", {"test"}),
        ("src/latest.py", set()),
        ("src/contest/a.py", set()),
    ):
        assert kinds_of(path) == kinds
    for path in ("tests/a.py", "pkg/test_a.py", "app/tests.py", "a_test.go", "src/a.spec.ts", "src/FooTest.java"):
        assert kinds_of(path) == {"test"}
    assert kinds_of("spec/a_spec.rb") == {"test"}
    assert unrequested_kinds("examples/a.py", frozenset({"exampl"})) == frozenset()

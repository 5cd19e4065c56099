"""A use means one definition of its name: told apart by scope, import and receiver, with a confidence."""

from tests.searching.references.conftest import Find, places


def test_an_import_tells_two_functions_of_one_name_apart(find: Find) -> None:
    found = find("apple.peel")
    assert [place.path for place in found.definitions] == ["src/fruit/apple.py"]
    assert places(found) == [
        "src/fruit/__init__.py:1 import certain",
        "src/fruit/apple.py:13 call certain",
        "src/fruit/kitchen.py:1 import certain",
        "src/fruit/kitchen.py:7 call certain",
    ]


def test_a_module_before_a_name_tells_whose_it_is(find: Find) -> None:
    assert places(find("pear.peel")) == [
        "src/fruit/__init__.py:2 import certain",
        "src/fruit/kitchen.py:8 call certain",
    ]


def test_a_name_of_another_library_is_left_out_and_counted(find: Find) -> None:
    found = find("peel")
    assert not [use for use in found.uses if use.line in (3, 9) and "kitchen" in use.path]
    assert found.others >= 2
    assert {use.definition for use in found.uses} == {"src/fruit/apple.py:4", "src/fruit/pear.py:1"}


def test_a_method_is_told_by_its_receiver_with_a_confidence(find: Find) -> None:
    assert places(find("Apple.rinse")) == [
        "src/fruit/apple.py:10 call certain",
        "src/fruit/kitchen.py:10 call certain",
        "src/fruit/kitchen.py:11 call possible",
    ]
    assert places(find("Pear.rinse")) == ["src/fruit/kitchen.py:11 call possible"]


def test_files_that_pass_a_name_on_are_followed(find: Find) -> None:
    assert places(find("press")) == ["web/app.ts:1 import certain", "web/app.ts:2 call certain"]


def test_a_go_package_is_its_folder(find: Find) -> None:
    assert places(find("stir")) == ["bar.go:3 call certain"]
    assert places(find("Mix")) == ["cmd/main.go:5 call certain"]

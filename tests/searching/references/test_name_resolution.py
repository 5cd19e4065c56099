"""A use means one definition of its name: told apart by scope, import and receiver, with a confidence."""

from pathlib import Path

import pytest

from dowse.searching.references import name_resolution
from dowse.store.reference_index import module_of
from tests.sample_data import write_tree
from tests.searching.references.conftest import Find, finder, indexed, places


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


def test_a_module_that_one_file_declares_is_another_file(tmp_path: Path) -> None:
    """The whole path before a call of Rust was taken for a type, whose members are elsewhere."""
    files = {
        "Cargo.toml": '[package]\nname = "m"\n',
        "src/lib.rs": "pub mod util;\n\npub fn go() {\n    crate::util::plum(1);\n}\n",
        "src/util.rs": "pub fn plum(n: i32) -> i32 {\n    n\n}\n",
    }
    with indexed(write_tree(tmp_path, files)) as index:
        assert places(finder(index)("plum")) == ["src/lib.rs:4 call likely"]


def test_a_file_that_stands_for_its_folder_is_known_by_its_own_name_too(tmp_path: Path) -> None:
    files = {"Cargo.toml": '[package]\nname = "pear"\n', "src/main.rs": "pub fn run() {}\n\nfn main() { run() }\n"}
    with indexed(write_tree(tmp_path, files)) as index:
        for name in ("main.run", "src.run"):
            assert [one.path for one in finder(index)(name).definitions] == ["src/main.rs"]


def test_the_modules_of_a_name_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were for each use, so that 2,000 static functions of a name with 5,000 uses took a minute."""
    looked_for = list[str]()

    def look_for(path: str) -> str:
        looked_for.append(path)
        return module_of(path)

    monkeypatch.setattr(name_resolution, "module_of", look_for)
    calls = "".join(f"int use{number}(struct disk *d) {{ return d->probe(); }}\n" for number in range(20))
    with indexed(
        write_tree(tmp_path, {f"{n}.c": f"static int probe(void) {{ return {n}; }}\n{calls}" for n in range(9)})
    ) as index:
        assert finder(index)("probe").total
    assert len(looked_for) < 9 * 20

"""Types that are written for variables, functions and fields say what a chain of calls means."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.indexes.reference_lookup import read_missing_references
from dowse.references.reference_search import ReferenceOptions, find_references
from tests.references.conftest import Find, places
from tests.sample_data import write_tree

FILES = {
    "pyproject.toml": "",
    "j/Tree.java": "package j;\nclass Tree {\n  Apple pick() { return null; }\n  Tree self() { return this; }\n}\n",
    "j/Apple.java": "package j;\nclass Apple { void peel() {} }\nclass Pear extends Apple { void peel() { super.peel(); } }\n",
    "j/Use.java": "package j;\nclass Use { void run(Tree tree) {\n  tree.self().pick().peel();\n  var one = tree.pick();\n  one.peel();\n} }\n",
    "go.mod": "module orchard\n",
    "g/tree.go": "package g\ntype tree struct{}\nfunc NewTree() *tree { return &tree{} }\nfunc (t *tree) Shake() {}\n",
    "g/bush.go": "package g\ntype bush struct{}\nfunc (b *bush) Shake() {}\nfunc run() {\n\tt := NewTree()\n\tt.Shake()\n}\n",
    "r/jam/Cargo.toml": '[package]\nname = "jam-pot"\n',
    "r/jam/src/lib.rs": "mod boil;\npub use boil::Boiler;\n",
    "r/jam/src/boil.rs": "pub struct Boiler;\nimpl Boiler { pub fn heat_up(&self) {} }\n",
    "r/app/Cargo.toml": '[package]\nname = "app"\n',
    "r/app/src/main.rs": "use jam_pot::Boiler;\nfn main() { let pot = Boiler::new(); pot.heat_up(); }\n",
    "r/far/src/lib.rs": "fn warm(oven: Oven) { other().heat_up(); }\n",
    "s/Clock.scala": "package s\npackage inner\nobject Clock {\n  val hour = 1\n  def tell = s\"$hour o'clock\"\n}\n",
    "s/Use.scala": 'package s\nimport s.inner.Clock\nclass Spec {\n  it {\n    val hour = 2\n    check(hour)\n  }\n  val now = Clock.hour\n}\n',
    "ruby/box.rb": "class Box\n  def sealed?\n  end\nend\n",
    "ruby/use.rb": "def look(box)\n  Paper.sealed?\n  box.sealed?\nend\n",
    "p/Form.php": "<?php\nclass Form {\n  public function strict() {}\n  function check() { $strict = 1; }\n}\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Find]:
    root: Path = tmp_path_factory.mktemp("orchard")
    write_tree(root, FILES)
    index = ProjectIndex(root)
    index.update()
    read_missing_references(index)
    database = index.whole.references.database
    yield lambda name: find_references(index.store, database, index.source.read_bytes, name, ReferenceOptions())
    index.close()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Apple.peel", ["j/Apple.java:3 call likely", "j/Use.java:3 call certain", "j/Use.java:5 call certain"]),
        ("Pear.peel", []),
        ("tree.Shake", ["g/bush.go:6 call certain"]),
        ("Boiler", ["r/app/src/main.rs:1 import certain", "r/app/src/main.rs:2 mention certain",
                    "r/jam/src/lib.rs:2 import certain", "r/jam/src/boil.rs:2 mention certain"]),
        ("heat_up", ["r/app/src/main.rs:2 call certain", "r/far/src/lib.rs:1 call possible"]),
        ("hour", ["s/Clock.scala:5 mention certain", "s/Use.scala:8 mention certain"]),
        ("sealed?", ["ruby/use.rb:2 mention possible", "ruby/use.rb:3 mention likely"]),
        ("strict", ["p/Form.php:4 mention by its text"]),
    ],
)  # fmt: skip
def test_uses_are_told_apart_by_the_types_of_expressions(find: Find, name: str, expected: list[str]) -> None:
    assert sorted(places(find(name))) == sorted(expected)

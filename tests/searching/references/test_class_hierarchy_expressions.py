"""Types that are written for variables, functions and fields say what a chain of calls means."""

from collections.abc import Iterator

import pytest

from tests.sample_data import write_tree
from tests.searching.references.conftest import Find, finder, indexed, places

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
    "n/Jam.java": "package n;\nclass Jam {\n  static Builder builder() { return null; }\n  static class Builder extends Base<Jam> { Jam cook() { return null; } }\n}\n",
    "n/Pie.java": "package n;\nclass Pie {\n  static Builder builder() { return null; }\n  static class Builder extends Base<Pie> { Pie cook() { return null; } }\n  void stir() {}\n}\n",
    "n/Base.java": "package n;\nclass Base<T> {\n  T setSugar(int grams) { return null; }\n  void stir() {}\n}\n",
    "n/Cook.java": "package n;\nclass Cook { void run(Pie.Builder one) {\n  Pie.builder().setSugar(1).cook();\n  Jam.builder().cook();\n  Pie.builder().stir();\n} }\n",
    "q/Press.php": "<?php\nclass Press {\n  /** @return Juice|null */\n  function squeeze() {}\n  function on_done() {}\n  function bind() { listen([$this, 'on_done']); }\n}\n",
    "q/Juice.php": "<?php\nclass Juice { function pour_out() {} }\nclass Milk { function pour_out() {} }\n",
    "q/Bar.php": "<?php\nclass Bar {\n  /** @param Juice $given */\n  function __construct(private Press $press, $given) { $given->pour_out(); }\n  function serve() { $this->press->squeeze()->pour_out(); }\n}\n",
    "v/tap.h": "class TAP_API Tap {\n  Valve valve_;\n  void turn(int shut_off);\n};\nint drip_rate(void);\n",
    "v/valve.h": "class Valve { void shut_off(); };\nclass Gate { void shut_off(); };\n",
    "v/tap.cc": '#include "tap.h"\nvoid Tap::turn(int by) {\n  valve_.shut_off();\n}\n',
    "v/unix/drip.c": '#include "../tap.h"\nint drip_rate(void) { return 1; }\n',
    "v/win/drip.c": '#include "../tap.h"\nint drip_rate(void) { return 2; }\n',
    "v/use.c": '#include "tap.h"\nint look(void) { return drip_rate(); }\n',
    "ruby/lid.rb": "class Lid\n  attr_reader :lid_size, :lid_edge\n  def wide\n    'x'.lid_size\n    lid_size\n    private :lid_size\n    {lid_size: 1, :lid_size => 2}\n  end\nend\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Find]:
    with indexed(write_tree(tmp_path_factory.mktemp("orchard"), FILES)) as index:
        yield finder(index)


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
        ("Pie.Builder.cook", ["n/Cook.java:3 call certain"]),
        ("Jam.Builder.cook", ["n/Cook.java:4 call certain"]),
        ("Pie.stir", []),
        ("Juice.pour_out", ["q/Bar.php:4 call certain", "q/Bar.php:5 call certain"]),
        ("on_done", ["q/Press.php:6 mention certain"]),
        ("Valve.shut_off", ["v/tap.cc:3 call certain"]),
        ("unix.drip.drip_rate", ["v/use.c:2 call certain"]),
        ("Lid.lid_size", ["ruby/lid.rb:4 mention possible", "ruby/lid.rb:5 mention certain", "ruby/lid.rb:6 mention certain"]),
    ],
)  # fmt: skip
def test_uses_are_told_apart_by_the_types_of_expressions(find: Find, name: str, expected: list[str]) -> None:
    assert sorted(places(find(name))) == sorted(expected)

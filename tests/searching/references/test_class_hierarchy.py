"""Types, bases and declarations tell uses apart, and a zero is compared with the text."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sample_data import write_tree
from tests.searching.references.conftest import Find, finder, indexed, places

FILES = {
    "pyproject.toml": "",
    "shop/Shape.java": "package shop;\nabstract class Shape {\n  abstract int area();\n  int twice() { return 2 * area(); }\n}\n",
    "shop/Circle.java": "package shop;\nclass Circle extends Shape {\n  Circle() {}\n  int area() { return 3; }\n}\n",
    "shop/Field.java": "package shop;\nclass Field {\n  int area() { return 4; }\n}\n",
    "shop/Paint.java": (
        "package shop;\nclass Paint {\n  private Field ground;\n  int run(Circle circle, Shape any) {\n"
        "    var made = new Circle();\n    return circle.area() + any.area() + ground.area() + made.area();\n  }\n}\n"
    ),
    "src/test/ShapeTest.java": "package shop;\nclass ShapeTest { void check(Circle c) { c.area(); } }\n",
    "c/list.h": "struct list;\nint list_push(struct list *one);\nextern int list_count;\n",
    "c/list.c": '#include "list.h"\nint list_count = 0;\nint list_push(struct list *one) {\n    return list_count++;\n}\n',
    "c/main.c": '#include "list.h"\nint main(void) {\n    return list_push(0);\n}\n',
    "k/Extensions.kt": "package k\nfun String.shorten(): String = this\nfun unused() {}\n",
    "k/Use.kt": "package k\nfun show(word: String) = word.shorten()\n",
    "client.py": "class Client:\n    def __init__(self): ...\n\n    def get(self): ...\n\n\ndef make():\n    return Client()\n",
    "server.py": "class Server:\n    def __init__(self): ...\n\n    def get(self): ...\n\n\nclass Cache:\n    def get(self): ...\n",
    "rail.zig": "pub fn hoist() void {}\n",
    "notes.md": "# Lift\n\nThe word heave is written here alone.\n",
    "cut.rb": "class Knife\n  def initialize\n    @edge = Edge.new\n  end\n\n  def slice\n    @edge.sharpen\n  end\nend\n",
    "edge.rb": "class Edge\n  def sharpen\n  end\nend\n\nclass Pencil\n  def sharpen\n  end\nend\n",
}


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Find]:
    with indexed(write_tree(tmp_path_factory.mktemp("shop"), FILES)) as index:
        yield finder(index)


def test_the_type_of_a_variable_tells_whose_method_it_is_and_code_comes_before_tests(find: Find) -> None:
    assert places(find("Circle.area")) == ["shop/Paint.java:6 call certain", "src/test/ShapeTest.java:2 call certain"]
    assert "shop/Paint.java:6 call certain" in places(find("Field.area"))


def test_a_base_names_what_overrides_it_and_is_a_declaration(find: Find) -> None:
    found = find("Shape.area")
    assert [place.kind for place in found.definitions] == ["method declaration"]
    assert [place.path for place in found.overrides] == ["shop/Circle.java"]
    assert "shop/Shape.java:4 call certain" in places(found)


def test_an_inherited_method_is_found_under_the_class_that_inherits_it(find: Find) -> None:
    assert [place.path for place in find("Circle.twice").definitions] == ["shop/Shape.java"]


def test_a_prototype_and_a_body_are_one_function(find: Find) -> None:
    found = find("list_push")
    assert [(place.path, place.kind) for place in found.definitions] == [
        ("c/list.c", "function"),
        ("c/list.h", "function declaration"),
    ]
    assert places(found) == ["c/main.c:3 call certain"]
    assert [place.kind for place in find("list_count").definitions] == ["variable", "variable declaration"]
    assert [place.kind for place in find("list").definitions] == ["class declaration"]


def test_an_extension_function_is_called_through_a_variable(find: Find) -> None:
    assert places(find("shorten")) == ["k/Use.kt:2 call likely"]


def test_a_constructor_is_called_by_its_class(find: Find) -> None:
    assert places(find("Client.__init__")) == ["client.py:8 call certain"]
    assert places(find("Circle.Circle")) == ["shop/Paint.java:5 call certain"]
    assert [owner.name for owner in find("__init__").owners] == ["Client.__init__", "Server.__init__"]


def test_a_common_name_answers_with_its_owners(find: Find) -> None:
    found = find("get")
    assert ([owner.name for owner in found.owners], found.uses) == (["Cache.get", "Client.get", "Server.get"], [])


def test_what_a_class_keeps_in_a_field_is_known_in_its_other_methods(find: Find) -> None:
    assert places(find("Edge.sharpen")) == ["cut.rb:7 mention certain"]
    assert find("Pencil.sharpen").total == 0


def test_a_zero_is_compared_with_the_text(find: Find) -> None:
    found = find("heave")
    assert (places(found), found.confidences) == (["notes.md:3 mention by its text"], {"by its text": 1})
    assert find("unused").total == 0
    assert not find("hoisting").is_found


def test_without_time_to_search_the_text_nothing_is_called_unknown(find: Find, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dowse.searching.references.reference_search.TEXT_SECONDS", -1.0)
    found = find("heave")
    assert (found.total, found.is_text_searched, found.is_found) == (0, False, True)


def test_a_language_that_was_not_measured_says_so(find: Find) -> None:
    assert (find("hoist").by_name_only, find("list_push").by_name_only) == (["zig"], [])


def test_a_file_that_is_too_long_to_be_parsed_has_its_names(tmp_path: Path) -> None:
    long = "".join(f"int value_{number}; /* pad the file with a comment that is long */\n" for number in range(9000))
    files = {"a.h": "int push(int x) { return x; }\n", "b.c": f"{long}int y = push(1);\n"}
    with indexed(write_tree(tmp_path, files)) as index:
        assert places(finder(index)("push")) == ["b.c:9001 call likely"]


EXPRESSIONS = {
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
def find_typed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Find]:
    with indexed(write_tree(tmp_path_factory.mktemp("orchard"), EXPRESSIONS)) as index:
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
def test_uses_are_told_apart_by_the_types_of_expressions(find_typed: Find, name: str, expected: list[str]) -> None:
    assert sorted(places(find_typed(name))) == sorted(expected)

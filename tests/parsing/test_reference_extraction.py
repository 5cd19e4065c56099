"""References are found with their kind, their receiver and the definition around them, in every language."""

from dowse.parsing.source_references import DEFINITION, KINDS, Use, unpack_references
from dowse.parsing.text_cutting import find_references


def uses_of(source: str, language: str) -> list[str]:
    """Return the uses of a text, each as `line kind receiver.name in path`."""
    return sorted(map(describe, unpack_references(find_references(source, language)).uses))


def describe(use: Use) -> str:
    name = use.name if use.kind == DEFINITION or not use.receiver else f"{use.receiver}.{use.name}"
    within = f" in {use.within}" if use.within else ""
    return f"{use.line} {KINDS[use.kind]} {name}{within}"


PYTHON = """\
from pkg.base import Base, helper as aid
@aid
class Apple(Base):
    skin: Base = aid(1)
    def peel(self, knife: Base) -> Base:
        knife.cut(self.skin, aid)
        aid = knife  # aid
        return len("Base")
def eat():
    return Apple().peel(f"{aid.x}")
"""


def test_python() -> None:
    assert uses_of(PYTHON, "python") == [
        "1 import Base", "1 import aid", "1 import base", "1 import helper", "10 call Apple in eat",
        "10 call Apple().peel in eat", "10 mention aid in eat", "10 mention aid.x in eat", "2 annotation aid",
        "3 definition Apple", "3 inheritance Base in Apple", "4 annotation Base in Apple.skin",
        "4 call aid in Apple.skin", "4 definition skin in Apple", "4 typed Base.skin in Apple",
        "4 typed Base.skin() in Apple", "5 annotation Base in Apple.peel", "5 annotation Base in Apple.peel",
        "5 definition peel in Apple", "5 typed Base.knife in Apple.peel", "5 typed Base.peel() in Apple",
        "6 call knife.cut in Apple.peel", "6 mention self.skin in Apple.peel", "7 typed =knife.aid in Apple.peel",
        "9 definition eat",
    ]  # fmt: skip


def test_other_languages() -> None:
    for language, source, expected in (
        ("typescript", "import {peel as cut} from './apple'\nexport class Pear extends Fruit {\n  run(x: Apple) { return this.cut(cut(x)) }\n}\n",
         {"1 import peel", "1 import cut", "2 definition Pear", "3 call this.cut in Pear.run", "3 call cut in Pear.run"}),
        ("tsx", "import {Apple} from './apple'\nexport const App = () => <Apple name='Apple'>Apple</Apple>\n",
         {"1 import Apple", "2 definition App", "2 mention Apple in App"}),
        ("javascript", "const {peel} = require('./apple')\nfunction run() { peel(1); const peel2 = peel; console.log(`${peel()}`) }\n",
         {"1 import peel", "2 call peel in run", "2 mention peel in run", "2 call console.log in run"}),
        ("go", 'package fruit\nimport "x/knife"\ntype Apple struct { Fruit }\nfunc (a *Apple) Peel(k *knife.Knife) error { k.Cut(); return helper(a) }\n',
         {"3 inheritance Fruit in Apple", "4 definition Peel in Apple", "4 annotation knife.Knife in Apple.Peel", "4 call k.Cut in Apple.Peel", "4 call helper in Apple.Peel"}),
        ("java", "package a;\nimport b.Knife;\nclass Apple extends Fruit { @Override void peel(Knife knife) { knife.cut(); help(Tool.ALL); } }\n",
         {"2 import Knife", "3 inheritance Fruit in Apple", "3 annotation Override in Apple.peel", "3 annotation Knife in Apple.peel", "3 call knife.cut in Apple.peel", "3 mention Tool.ALL in Apple.peel"}),
        ("kotlin", "package a\nimport b.Knife\nclass Apple : Fruit() { fun peel(knife: Knife) { knife.cut(); help() } }\n",
         {"2 import Knife", "3 inheritance Fruit in Apple", "3 annotation Knife in Apple.peel", "3 call knife.cut in Apple.peel", "3 call help in Apple.peel"}),
        ("csharp", "using Bb;\nnamespace A { class Apple : Fruit { void Peel(Knife knife) { knife.Cut(); Help(Tool.All); } } }\n",
         {"1 import Bb", "2 inheritance Fruit in A.Apple", "2 annotation Knife in A.Apple.Peel", "2 call knife.Cut in A.Apple.Peel", "2 mention Tool.All in A.Apple.Peel"}),
        ("php", "<?php\nuse B\\Knife;\nclass Apple extends Fruit { function peel(Knife $k) { $k->cut(); Tool::all(); help(); } }\n",
         {"2 import Knife", "3 inheritance Fruit in Apple", "3 annotation Knife in Apple.peel", "3 call Tool.all in Apple.peel", "3 call help in Apple.peel"}),
        ("rust", "use b::Knife;\nimpl Fruit for Apple { fn peel(&self, knife: &Knife) -> Skin { knife.cut(); Tool::all(); help!(1) } }\n",
         {"1 import Knife", "2 inheritance Fruit in Apple", "2 annotation Knife in Apple.peel", "2 call knife.cut in Apple.peel", "2 call Tool.all in Apple.peel", "2 call help in Apple.peel"}),
        ("c", '#include "knife.h"\nint peel(knife_t *knife) { int depth = 1; return cut(knife->edge, depth); }\n',
         {"2 annotation knife_t in peel", "2 call cut in peel", "2 mention knife.edge in peel"}),
        ("cpp", "class Apple : public Fruit { void peel(Knife& k); };\nvoid Apple::peel(Knife& k) { k.cut(); ns::help(); }\n",
         {"1 inheritance Fruit in Apple", "2 call k.cut in Apple.peel", "2 call ns.help in Apple.peel"}),
        ("ruby", "require 'knife'\nclass Apple < Fruit\n  def peel(knife)\n    knife.cut\n    Tool.all?\n    help(@skin)\n  end\nend\n",
         {"2 inheritance Fruit in Apple", "4 mention knife.cut in Apple.peel", "5 mention Tool.all? in Apple.peel", "6 call help in Apple.peel"}),
    ):  # fmt: skip
        assert expected - set(uses_of(source, language)) == set()


def test_local_variables_and_text_are_no_references() -> None:
    found = uses_of("def peel(): ...\ndef eat(peel):\n    'peel'\n    # peel\n    return peel()\n", "python")
    assert found == ["1 definition peel", "2 definition eat"]


def test_a_text_without_a_grammar_has_no_references() -> None:
    assert find_references("whatever", "text") == b""
    assert unpack_references(b"").uses == ()

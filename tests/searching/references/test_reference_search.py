"""References come with their lines, bounded, filtered and verified."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dowse.errors import NotWritable, PathRefused, UsageError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.reference_lookup import read_missing_references, references_now
from dowse.indexes.reference_lookup import related_files as related_files_now
from dowse.parsing.text_cutting import find_references as extract
from dowse.searching.direct_index import DirectIndex
from dowse.searching.query_terms import parse_search_query
from dowse.searching.references.reference_search import ReferenceOptions, References, find_references
from dowse.searching.references.related_files import find_related
from dowse.store.catalog import Catalog
from dowse.store.local import LocalStore
from dowse.store.reference_index import ReferenceIndex
from dowse.system.platform import Lock
from dowse.types import Batch, Stat, Verdict
from tests.sample_data import make_put, open_indexed, write_tree
from tests.searching.references.conftest import FILES, Find, places

if TYPE_CHECKING:
    from dowse.protocols import Searchable


def test_a_use_has_its_line_and_the_definition_around_it(find: Find) -> None:
    (use,) = find("cook", kind="call").uses
    assert (use.path, use.line, use.text, use.within) == ("tests/test_kitchen.py", 5, "cook(None, None)", "test_cook")


def test_uses_are_filtered_and_counted_and_come_in_pages(find: Find) -> None:
    everything = find("peel")
    assert everything.kinds == {"import": 3, "call": 3}
    assert find("peel", kind="call").total == 3
    assert find("peel", path_glob="src/fruit/k*").files == 1
    pages = [find("peel", limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [use for page in pages for use in page.uses] == everything.uses
    assert {page.total for page in pages} == {everything.total}


def test_an_unknown_name_suggests_similar_ones(find: Find) -> None:
    found = find("kitchn.coook")
    assert not found.is_found
    assert find("rinze").suggestions == ["rinse"]
    assert find("Kiwi.rinse").suggestions == ["Apple.rinse", "Pear.rinse"]


@pytest.mark.parametrize("name", ["", "a b", "def peel():"])
def test_what_is_no_name_is_refused(find: Find, name: str) -> None:
    with pytest.raises(UsageError, match="is no name"):
        find(name)


def refuse_to_write(*_: object) -> None:
    raise NotWritable("The index cannot be written: the disk is full.")


def test_references_that_cannot_be_stored_are_counted_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ReferenceIndex, "read", refuse_to_write)
    with closing(open_indexed(write_tree(tmp_path / "bowl", FILES))) as index:
        files = len(index.store.paths())
        found = references_now(index, "peel", ReferenceOptions())
        assert (found.missing, found.coverage.pending) == (files, files)
        assert related_files_now(index, "src/fruit/kitchen.py", 5).unread == files


def test_a_changed_file_is_left_out_and_named_where_nothing_can_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_indexed(write_tree(tmp_path / "bowl", FILES))) as index:
        read_missing_references(index)
        monkeypatch.setattr(LocalStore, "apply", refuse_to_write)
        write_tree(index.root, {"src/fruit/kitchen.py": "from fruit import peel\n\npeel(2)\n"})
        found = references_now(index, "peel", ReferenceOptions())
        assert found.found.outdated == ["src/fruit/kitchen.py"]
        assert {use.path for use in found.found.uses} == {"src/fruit/__init__.py", "src/fruit/apple.py"}
        assert found.coverage.pending == 1


def test_a_file_that_has_changed_is_left_out_and_named(project: ProjectIndex, bowl: Path, find: Find) -> None:
    file = bowl / "tests" / "test_kitchen.py"
    before = file.read_bytes()
    file.write_bytes(b"# nothing is cooked\n")
    try:
        found = find("cook")
    finally:
        file.write_bytes(before)
    assert found.outdated == ["tests/test_kitchen.py"]
    assert places(found) == []


SNIPPETS = {
    "python": ("py", "class {a}({b}):\n    def {b}(self, {c}: {a}):\n        self.{c}()\n        {a}().{b}()\nfrom {c} import *\n"),
    "javascript": ("js", "import {{{a}}} from './{b}'\nclass {c} extends {a} {{ {b}() {{ this.{c}(); {a}.{b}() }} }}\n"),
    "typescript": ("ts", "export interface {a} extends {b} {{ {c}(x: {a}): {b} }}\nexport function {c}(x: {a}) {{ x.{b}() }}\n"),
    "go": ("go", "package {a}\ntype {b} struct {{ {c} }}\nfunc (x *{b}) {a}() {{ x.{c}(); {a}() }}\n"),
    "java": ("java", "package {a};\nimport {b}.{c};\nclass {b} extends {c} {{ {a} {c}({b} x) {{ x.{a}(); {c}(); }} }}\n"),
    "kotlin": ("kt", "package {a}\nimport {b}.*\nclass {b}(val {c}: {a}) : {c}() {{ fun {a}() {{ {c}.{b}(); {c}() }} }}\nfun {b}.{c}() {{}}\n"),
    "scala": ("scala", "package {a}\nimport {b}._\ntrait {b} extends {c} {{ def {c}(x: {a}): Int\n val {a} = new {c}(1) }}\nobject {c} {{ {b}.{a}() }}\n"),
    "csharp": ("cs", "using {a};\nnamespace {b} {{ class {c} : {a} {{ {a} {b}({c} x) {{ x.{a}(); {b}(); }} }} }}\n"),
    "php": ("php", "<?php\nnamespace {a};\nuse {b}\\{c};\nclass {b} extends {c} {{ function {a}({c} $x) {{ $x->{b}(); $this->{c}(); }} }}\n"),
    "rust": ("rs", "use crate::{a}::{b};\nstruct {c} {{ {a}: {b} }}\nimpl {b} for {c} {{ fn {a}(&self) {{ self.{a}.{b}(); {c}::{a}() }} }}\n"),
    "c": ("c", '#include "{a}.h"\nint {b}(int {c});\nint {b}(int {c}) {{ return {a}({c}); }}\nstruct {c};\ntypedef struct {a} {{ int x; }} {a};\n'),
    "cpp": ("cc", '#include "{a}.h"\nnamespace {b} {{ class {a}; class {c} : public {a} {{ {c}(); int {b}({a}& x); }};\n{c}::{c}() {{}}\nint {c}::{b}({a}& x) {{ x.{b}(); }} }}\n'),
    "ruby": ("rb", "require '{a}'\nclass {b} < {c}\n  def {a}({b})\n    @{c} = {b}.new\n    {c}.{a}\n    @{c}.{b}\n  end\nend\n"),
    "swift": ("swift", "protocol {a} {{ func {b}(x: {c}) }}\nclass {b}: {a} {{ let {c}: {a}\n init() {{}}\n func {a}() {{ {c}.{b}(); self.{a}() }} }}\nextension {c} {{ func {b}() {{}} }}\n"),
    "dart": ("dart", "import '{a}.dart';\nclass {b} extends {c} {{ void {a}({c} x) {{ x.{b}(); {a}(); }} }}\n"),
    "lua": ("lua", "local {a} = require('{b}')\nfunction {c}({b}) {a}.{c}({b}) end\n"),
    "haskell": ("hs", "module {c} where\nimport {b}\n{a} x = {b} x\nclass {c} y where\n  {b} :: y\n"),
    "elixir": ("ex", "defmodule {a} do\n  alias {b}\n  import {c}\n  def {b}(x), do: {c}.{a}(x)\nend\n"),
    "zig": ("zig", 'const {a} = @import("{b}.zig");\npub fn {c}() void {{ {a}.{b}(); {c}(); }}\nconst {b} = struct {{ {a}: {c} }};\n'),
    "bash": ("sh", "source {a}.sh\n{b}() {{ {c} x; {a}; }}\n{c}\n"),
    "objc": ("m", "@interface {a} : {b}\n- (void){c};\n@end\n@implementation {a}\n- (void){c} {{ [self {b}]; }}\n@end\n"),
}  # fmt: skip
WORDS = ("Apple", "peel", "init", "get", "Knife", "new")
QUESTIONS = (
    *WORDS,
    "Apple.peel",
    "Knife::new",
    "Apple.__init__",
    "Apple.Apple",
    "operator==",
    "<=>",
    "peel#get",
    "->",
    "x()",
)


def no_file(path: str) -> tuple[bytes, Stat]:
    raise PathRefused(path)


@contextmanager
def references_of(folder: Path, files: list[tuple[str, str]]) -> Iterator[ReferenceIndex]:
    """Give a block the references of files, each in a language and with a text."""
    puts = []
    for number, (language, text) in enumerate(files, 1):
        put = make_put(f"src/{number % 3}/file{number}.{SNIPPETS[language][0]}", text)
        puts.append(replace(put, document=replace(put.document, language=language)))
    texts = {put.document.path: put.document.reading.text for put in puts}
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        catalog.apply(Batch(puts=puts))
        index = ReferenceIndex(
            catalog,
            Lock(folder / "write.lock"),
            lambda documents: ((one, extract(texts[one.path], one.language)) for one in documents),
        )
        index.catch_up()
        yield index


def ask(references: ReferenceIndex, name: str) -> References:
    """Find references in a store whose files are all gone."""
    nothing = DirectIndex((), lambda entry: Verdict(entry.path, None), parse_search_query(""), 0)
    return find_references(cast("Searchable", nothing), references, no_file, name, ReferenceOptions())


@st.composite
def texts(draw: st.DrawFn, language: str) -> str:
    names = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=3))
    text = SNIPPETS[language][1].format(**dict(zip("abc", names, strict=True)))
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


@pytest.mark.parametrize("language", SNIPPETS)
def test_a_name_that_several_files_define_is_found(language: str, tmp_path: Path) -> None:
    text = SNIPPETS[language][1].format(a="Apple", b="peel", c="Knife")
    with references_of(tmp_path, [(language, text)] * 2) as references:
        for name in ("Apple", "peel", "Knife"):
            assert ask(references, name).name == name


@given(st.data())
@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
def test_no_project_ends_in_an_unexpected_error(data: st.DataObject) -> None:
    languages = data.draw(st.lists(st.sampled_from(sorted(SNIPPETS)), min_size=1, max_size=6))
    files = [(language, data.draw(texts(language))) for language in languages]
    with TemporaryDirectory() as folder, references_of(Path(folder), files) as references:
        for name in QUESTIONS:
            with suppress(UsageError):
                ask(references, name)
        for row in list(references.all_documents()):
            find_related(references, no_file, row.path)

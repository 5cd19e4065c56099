"""MDX is read as the Markdown in it, line for line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.reading.file_reading import read_document
from dowse.types import Link, Reading


def mdx(source: str) -> Reading:
    return read_document(source.encode(), "guide/intro.mdx")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("import A from 'a'\nimport {\n  B,\n} from 'b'\n\n# T", "\n\n\n\n\n# T"),
        ("export const a = {\n  b: 1,\n}\n\ntext", "\n\n\n\ntext"),
        ("import duties are high", "import duties are high"),
        ("a\n{/* no\nno */}\nb", "a\n\n\nb"),
        ("<Tabs>\ntext\n</Tabs>", "\ntext\n"),
        ("a <Since v='1' /> b", "a  b"),
        ("<A b={{c: {d: '>'}}} e>x</A>", "x"),
        ('<TabItem value="a" label="npm">\nx\n</TabItem>', "**npm**\nx\n"),
        ('<Card title="T" href="/a" />', "[T](/a)"),
        ('<Link to="/a">the *text*</Link>', "[the *text*](/a)"),
        ('<Link\n  to="/a"\n>\n  text\n</Link>', "\n\n[\ntext\n](/a)"),
        ('<LinkButton href={"/a"} />', "[/a](/a)"),
        ("<>x</>", "x"),
        ("<motion.div>x</motion.div>", "x"),
        ("a{' '}b", "a b"),
        ("{props.a} 1 < 2 > 1", "{props.a} 1 < 2 > 1"),
        ("`<A>` ``<B>``", "`<A>` ``<B>``"),
        ("```jsx\nimport A\n<A />\n```\n<A />", "```jsx\nimport A\n<A />\n```\n"),
        ("~~~\n<A>\n", "~~~\n<A>\n"),
        ('<div className="x">html</div> <br/>', '<div className="x">html</div> <br/>'),
        ("<A>\n  <B>\n    ```sh\n    a\n      b\n    ```\n  </B>\n</A>", "\n\n```sh\na\n  b\n```\n\n"),
        ("1. a\n\n   <A>\n     b\n   </A>\n\n   c", "1. a\n\n   \n   b\n   \n\n   c"),
        ("<A>never closed", "never closed"),
        ("</A>never opened", "never opened"),
    ],
)
def test_components_and_modules_are_gone_and_their_words_stay(source: str, text: str) -> None:
    assert mdx(source).text == text


def test_title_description_and_tags_are_those_of_markdown() -> None:
    reading = mdx("---\ntitle: 'T'\ntags:\n  - a\n---\nimport X from 'x'\n\n<X>\n  The *first* text.\n</X>\n")
    assert (reading.title, reading.description, reading.tags) == ("T", "The first text.", ("a",))


def test_a_heading_in_code_is_no_title() -> None:
    assert mdx("```\n# no\n```\n\n# T").title == "T"


def test_links_keep_the_lines_of_the_file() -> None:
    assert mdx("import A from 'a'\r\n\r\n<A>\r\n  [b](c.mdx)\r\n</A>\r\n").links == (Link("c.mdx", "b", 4),)


def test_what_is_nothing_but_markdown_stays_as_it_is() -> None:
    source = "---\r\ntitle: T\r\n---\r\n# H\r\n<div>x</div>\r\n"
    reading = mdx(source)
    assert (reading.text, reading.is_verbatim) == (source, True)


def test_what_was_changed_is_not_verbatim() -> None:
    assert not mdx("a <A /> b").is_verbatim


HOSTILE = {
    "open tags": "<A " * 60_000,
    "open braces": "<A {" * 50_000,
    "open strings": "<A \"'" * 40_000,
    "open comments": "{/*" * 60_000,
    "nested": "<A>\n" * 20_000 + "</A>\n" * 20_000,
    "nested links": "<A to='x'>" * 10_000 + "</A>" * 10_000,
    "strangers": "<A>" * 20_000 + "</B>" * 20_000,
    "backticks": "`a" * 100_000,
    "imports": "import a from '\n" * 10_000,
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_document_is_read_in_seconds(source: str) -> None:
    assert mdx(source).title


PARTS = [
    "<A to='x'\n>",
    "<A>",
    "</A>",
    "<A ",
    " b='c'",
    "/>",
    "{",
    "}",
    "{/*",
    "*/}",
    "`",
    "```\n",
    "import a from 'b'\n",
    "\n",
    "  ",
    "x",
    "<>",
]


@given(st.lists(st.sampled_from(PARTS)).map("".join))
@settings(deadline=None)
def test_every_line_stays_in_its_place(source: str) -> None:
    assert mdx(source).text.count("\n") == source.count("\n")

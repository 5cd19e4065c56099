"""Links of a Markdown text, and their lines."""

from dowse.reading.file_reading import read
from dowse.reading.links import find_links
from dowse.types import Link


def test_this_is_one_link() -> None:
    for text, target, words in (
        ("see [the guide](guide.md)", "guide.md", "the guide"),
        ("[a](../b/c.md#part 'Title')", "../b/c.md#part", "a"),
        ("[a](<with space.md>)", "with space.md", "a"),
        ("[a](x_\\(y\\)?b=1&amp;c=2)", "x_(y)?b=1&c=2", "a"),
        ("[*a* `b`\nc](x)", "x", "a b c"),
        ("[a][ref]\n\n[REF]: https://a.org/ 'T'", "https://a.org/", "a"),
        ("[ref][]\n\n[ref]: x.md", "x.md", "ref"),
        ("[ref]\n\n[ref]: x.md", "x.md", "ref"),
        ("[[1]](https://a.org)", "https://a.org", "[1]"),
        ("<https://a.org/?q=1>", "https://a.org/?q=1", "https://a.org/?q=1"),
        ("https://a.org/b.", "https://a.org/b", "https://a.org/b"),
        ("(see https://a.org/b_(c)).", "https://a.org/b_(c)", "https://a.org/b_(c)"),
        ("**https://a.org**", "https://a.org", "https://a.org"),
        ("https://a.org/x.html#a.__b__c", "https://a.org/x.html#a.__b__c", "https://a.org/x.html#a.__b__c"),
        ("https://a.org/?x=1&amp;y=2, and", "https://a.org/?x=1&y=2", "https://a.org/?x=1&y=2"),
        ("詳細は（https://a.org/b）。", "https://a.org/b", "https://a.org/b"),
        ("www.a.org/b!", "http://www.a.org/b", "www.a.org/b"),
        ("HTTP://A.org", "HTTP://A.org", "HTTP://A.org"),
        ("[a](a%20b.md)", "a%20b.md", "a"),
        ("[a](/b/c/ (Title))", "/b/c/", "a"),
        ("[a \\[1\\]](x)", "x", "a [1]"),
        ("[[Page]]", "[[Page]]", "Page"),
        ("[[Page|the alias]]", "[[Page]]", "the alias"),
        ("[[Page|the *bold* `alias`]]", "[[Page]]", "the *bold* `alias`"),
        ("[[Page#Section]]", "[[Page#Section]]", "Page#Section"),
        ("[[Page#A part|the part]]", "[[Page#A part]]", "the part"),
        ("[[ My Page ]]", "[[My Page]]", "My Page"),
        ("[[AT&amp;T]]", "[[AT&T]]", "AT&T"),
        ("[[_private_]]", "[[_private_]]", "_private_"),
        ("[[snake\\_case]]", "[[snake_case]]", "snake_case"),
        ("*[[folder/Page]]*", "[[folder/Page]]", "folder/Page"),
        ("[[std::vector]]", "[[std::vector]]", "std::vector"),
        ("|a|\n|-|\n|[[Page\\|alias]]|", "[[Page]]", "alias"),
        ('<a href="x.md">a <b>b</b></a>', "x.md", "a b"),
        ("<a class=x href='x?a=1&amp;b=2'>t</a>", "x?a=1&b=2", "t"),
        ('<div>\n<a\n  href="x.md"\n>in a *block*</a>\n</div>', "x.md", "in a *block*"),
        ('> <div>\n> <a href="x.md">q</a>', "x.md", "q"),
        ("[![badge](b.svg)](https://ci)", "https://ci", "badge"),
        ("# A [heading](x)", "x", "heading"),
        ("- a [list](x)", "x", "list"),
        ("text[^1]\n\n[^1]: a [note](x)", "x", "note"),
        ("[a]( x )", "x", "a"),
    ):
        assert [(link.target, link.text) for link in find_links(text)] == [(target, words)]


def test_this_is_no_link() -> None:
    for text in (
        "![image](a.png)", "![image][r]\n\n[r]: a.png", "![[image.png]]",
        "![a [link](x) in words for an image](a.png)", "![https://a.org](a.png)", "[anchor](#part)", "[[#part]]",
        "[[^1]]", "[[_TOC_]]", "[[TOC]]", "[[a`b]]`", '<a href="#part">a</a>', "[https://a.org](#part)",
        "[mail](mailto:a@b.org)", "[mail](MAILTO:a@b.org)", "<a@b.org>", "<mailto:a@b.org>", "a@www.b.org",
        "[call](tel:+123)", "[script](javascript:alert(1))", "[empty]()", "`[code](x) https://a.org [[Page]]`",
        "```\n[code](x)\nhttps://a.org\n[[Page]]\n```", "```\r[code](x)\r```", "~~~ https://a.org\n~~~",
        "    [code](x) https://a.org", "<!-- [comment](x) https://a.org -->", "<!--\n\n[comment](x)\n\n-->",
        "text <!-- <a href=x>y</a> --> text", "<div>\n<!-- <a href=x>y</a> -->\n</div>",
        "<script>\nx = '<a href=y>z</a>'\n</script>", "\\[no](x)", "\\[[no]]", "\\[\\[no\\]\\]", "[no][undefined]",
        "[unused]: https://a.org", "[^1]: x", "[ ] task", "http:// and https://.", "xhttp://a.org",
        '<a name="x">y</a>', '<a data-href="x">y</a>', '<link href="x">',
    ):  # fmt: skip
        assert find_links(text) == ()


def test_each_link_has_the_line_an_editor_shows() -> None:
    for end in ("\n", "\r\n", "\r"):
        lines = [
            "---",
            "title: Ünïcode",
            "---",
            "# [heading](a)",
            "",
            "text ü",
            "[inline](b) [[c]] 日本 https://d.org",
            "",
            "<div>",
            "text",
            '<a href="e">html</a>',
            "</div>",
            "",
            "> quoted",
            '> <p><a href="f">f</a>',
            "",
            "[split",
            "over lines](g)",
            "",
            "|a|",
            "|-|",
            "|[[h\\|i]]|",
        ]
        reading = read(end.join(lines).encode(), "a.md", "markdown")
        found = {(link.target, link.line) for link in reading.links}
        assert found == {
            ("a", 4),
            ("b", 7),
            ("[[c]]", 7),
            ("https://d.org", 7),
            ("e", 11),
            ("f", 15),
            ("g", 17),
            ("[[h]]", 22),
        }


def test_mixed_line_ends_count_as_an_editor_counts() -> None:
    assert find_links("a\r\nb\rc\n\n[x](y)") == (Link("y", "x", 5),)


def test_other_separators_end_no_line() -> None:
    assert find_links("a\x0bb\x0cc\u2028d\x85 [x](y)") == (Link("y", "x", 1),)


def test_links_keep_their_order_and_repeat() -> None:
    assert [link.target for link in find_links("[a](x) [b](y)\n\n[c](x)")] == ["x", "y", "x"]


def test_wiki_links_and_addresses_share_a_line() -> None:
    found = find_links("https://a.org [[_b_]] https://c.org [[d]]https://e.org [[f|*g*]] https://h.org *[[i]]*")
    assert [link.target for link in found] == [
        "https://a.org", "[[_b_]]", "https://c.org", "[[d]]", "https://e.org", "[[f]]", "https://h.org", "[[i]]",
    ]  # fmt: skip


def test_an_anchor_that_is_never_closed_ends_with_its_block() -> None:
    assert find_links("<a href=x>open\n\nmore [b](y)") == (Link("x", "open", 1), Link("y", "b", 3))


def test_a_link_inside_an_anchor_is_a_link_of_its_own() -> None:
    assert [link.target for link in find_links("<a href=x>a [b](y) c</a>")] == ["x", "y"]

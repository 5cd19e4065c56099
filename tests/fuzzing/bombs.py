"""Files that are made to explode: for every grammar and every document format, in several sizes."""

import json
import random
import zipfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.fuzzing import samples

SIZES = (20_000, 100_000, 480_000, 1_000_000)
"""Sizes of the files; syntax is parsed up to 512,000 bytes, and files are indexed up to 1 MB."""

_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
_OPENERS = ('"', "'", "`", '"""', "'''", "/*", "{-", "(*", "<!--", "#|", "--[[", "=begin\n", "%q(", "r#\"", "$'", "<<A\n", "<?", "{{", "{%", "\\begin{a}", "begin ", "do ", "if a\n")  # fmt: skip
_NESTS = ('"${', '"#{', "`${", '"\\(', "f'{", '$"{', '#{"', '<%= "', "$(", "@(", "{{ '")
_ARROWS = ("=>", "->", "<-", ":=", "?", "::", "|>", ":")
_OPERATORS = ("+", "-", "*", "<", "|", "&", ".", ",")


class Bomb(NamedTuple):
    """A file that is made to explode."""

    name: str
    data: bytes


def _grow(line: str, size: int) -> bytes:
    """Return the line up to a size, with the number of each instead of NUL: lines that repeat are not parsed at all."""
    lines = (line.replace("\0", str(number)) for number in range(1 + size // len(line)))
    return "\n".join(lines).encode()[:size]


def _random(words: list[str], dice: random.Random, size: int) -> bytes:
    return " ".join(dice.choices(words, k=size // 3)).encode()[:size]


def _spell(sign: str) -> str:
    """Return a sign as the numbers of its characters, for the name of a file."""
    return "-".join(str(ord(letter)) for letter in sign)


def code_bombs(language: str, size: int) -> Iterator[Bomb]:
    """Yield the bombs for one language."""
    words = samples.words_of(language)
    signs = [word for word in words if not any(letter.isalnum() or letter in "\"'`" for letter in word)]
    dice = random.Random(language)
    for opening, closing in _PAIRS:
        yield Bomb(f"nest{ord(opening)}", _grow(f"a\0{opening * 119}", size))
        yield Bomb(f"closed{ord(opening)}", _grow(f"a\0{opening * 60}{closing * 60}", size))
    for arrow in [sign for sign in _ARROWS if sign in signs] or ["=>"]:
        yield Bomb(f"arrow{_spell(arrow)}", _grow(f"(a\0, b\0) {arrow} " * 8, size))
    for sign in dict.fromkeys((*_OPERATORS, *dice.sample(signs, min(6, len(signs))))):
        yield Bomb(f"chain{_spell(sign)}", _grow(f" {sign} ".join(f"a\0_{part}" for part in range(14)), size))
    yield Bomb("generics", _grow("".join(f"a\0<{letter}, " for letter in "abcdefgh"), size))
    for opener in _OPENERS:
        yield Bomb(f"open{_spell(opener)}", _grow(f"{opener}a\0 b", size))
    for nest in _NESTS:
        yield Bomb(f"inside{_spell(nest)}", _grow("a\0 " + nest * 20, size))
    for number in range(3):
        yield Bomb(
            f"random{number}", _random([*words, *(f"a{n}" for n in range(20)), "1", '"x"', *"\n" * 9], dice, size)
        )
    indented = (" " * min(number, 150) + f"if a{number}:" for number in range(size // 6))
    yield Bomb("deep", "\n".join(indented).encode()[:size])


def document_bombs(extension: str, size: int) -> Iterator[Bomb]:
    """Yield the bombs for one document format."""
    yield from ((Bomb(name, data[: size + 1000])) for name, data in _DOCUMENTS[extension](size))


def _repeated(piece: str, size: int, end: str = "") -> bytes:
    return (piece * (size // len(piece)) + end).encode()


def _markdown(size: int) -> Iterator[tuple[str, bytes]]:
    pieces = {
        "lines": ("a\n", "==="), "quotes": (">", "a"), "headings": ("# a\n", ""), "brackets": ("[", ""), "links": ("[a](", ""),
        "images": ("![", ""), "emphasis": ("*a **b ", ""), "stars": ("*_", ""), "ticks": ("`a``", ""), "tables": ("|a", "\n|-|\n"),
        "rows": ("a|b\n-|-\n", ""), "references": ("[a]: b\n", ""), "footnotes": ("[^a]: b [^a]\n", ""), "angles": ("<a ", ""),
        "comments": ("<!--", ""), "entities": ("&a", ""), "escapes": ("\\", ""), "autolinks": ("http://", ""), "mails": ("a@", ""),
        "fences": ("```\n", ""), "tildes": ("~~", ""), "html": ("<div>\n", ""), "dashes": ("-\n", ""), "front": ("---\na: b\n", ""),
        "math": ("$a", ""), "wiki": ("[[a", ""), "anchors": ("<a name=x>", ""), "underlines": ("a\n-\n", ""),
    }  # fmt: skip
    for name, (piece, end) in pieces.items():
        yield name, _repeated(piece, size, end)
    yield "lists", "\n".join(" " * (2 * (n % 200)) + "- a" for n in range(size // 200)).encode()
    yield "deep quotes", _repeated("> " * 500 + "a\n", size)
    yield "numbered", "\n".join(f"{n}. [a{n}][b{n}]\n\n[b{n}]: c" for n in range(size // 30)).encode()
    yield "wide table", ("|" + "a|" * (size // 8) + "\n|" + "-|" * (size // 8) + "\n" + "|\n" * (size // 8)).encode()
    yield "nested links", ("[" * (size // 8) + "a" + "](b)" * (size // 8)).encode()


def _html(size: int) -> Iterator[tuple[str, bytes]]:
    for tag in (
        "div",
        "b",
        "a href=x",
        "table",
        "ul><li",
        "p",
        "font",
        "blockquote",
        "svg",
        "template",
        "h1",
        "pre",
        "select",
        "dl><dd",
        "span",
    ):
        yield f"deep {tag[:4]}", _repeated(f"<{tag}>", size)
        yield (
            f"closed {tag[:4]}",
            (f"<{tag}>" * (size // 20) + "x" + f"</{tag.split()[0].split('>')[0]}>" * (size // 20)).encode(),
        )  # fmt: skip
    yield "attributes", ("<p " + " ".join(f"a{n}=b" for n in range(size // 9)) + ">x").encode()
    yield "cells", _repeated("<tr><td>a<td>b", size)
    yield "unclosed", _repeated("<a b='", size)
    yield "comments", _repeated("<!--", size)
    yield "entities", _repeated("&lt;&#x41;&amp", size)
    yield "ends", _repeated("</b>", size)
    yield "misnested", _repeated("<b><i></b></i><p>", size)
    yield "formatting", _repeated("<b><p>", size)
    yield "scripts", _repeated("<script>", size)
    yield "scopes", ('<table><tr><td colspan="100000" rowspan="65000">' + "<td colspan=1000>x" * (size // 20)).encode()


def _rst(size: int) -> Iterator[tuple[str, bytes]]:
    for name, piece in {
        "titles": "a\n=\n", "stars": "*", "ticks": "`", "roles": ":a:`", "bars": "|a", "notes": "[1]_ ", "fields": ":a: b\n",
        "literal": "a::\n\n b\n", "links": "`a <b>`_ ", "targets": ".. _a:\n", "replace": ".. |a| replace:: |a|\n", "quotes": ".. note::\n",
    }.items():  # fmt: skip
        yield name, _repeated(piece, size)
    yield "nested", "\n".join(" " * (n % 300) + "* a" for n in range(size // 150)).encode()
    yield "directives", "\n".join("   " * (n % 100) + ".. note::\n" for n in range(size // 150)).encode()
    yield "grid", ("+" + "-+" * 200 + "\n" + ("|" + "a|" * 200 + "\n") * (size // 402)).encode()
    yield "simple", ("= " * 300 + "\n" + "a " * (size // 2)).encode()
    yield "include", b"".join(b".. include:: page.rst\n" for _ in range(size // 25))


def _asciidoc(size: int) -> Iterator[tuple[str, bytes]]:
    for name, piece in {
        "titles": "== a\n", "stars": "*", "cells": "|a ", "links": "link:a[", "attributes": ":a: {a}{a}\n", "uses": "{a}", "anchors": "[[a]]",
        "references": "<<a,", "blocks": "----\n", "examples": "====\n", "lists": "* a\n", "terms": "a:: b\n", "conditions": "ifdef::a[]\n", "plus": "+", "passes": "+++",
    }.items():  # fmt: skip
        yield name, _repeated(piece, size)
    yield (
        "doubling",
        b"".join(b":a%d: {a%d}{a%d}\n" % (n + 1, n, n) for n in range(size // 25)) + b"{a%d}" % (size // 25),
    )
    yield "nested", b"".join(b"=" * (4 + n % 200) + b"\n" for n in range(size // 110))
    yield "deep lists", b"".join(b"*" * (n % 100 + 1) + b" a\n" for n in range(size // 55))


def _notebooks(size: int) -> Iterator[tuple[str, bytes]]:
    yield "nested", b'{"cells": ' + b"[" * (size // 2)
    yield "closed", b'{"cells": ' + b"[" * (size // 3) + b"]" * (size // 3) + b"}"
    yield "cells", b'{"cells": [' + b",".join([b'{"cell_type":"code","source":"a"}'] * (size // 40)) + b"]}"
    yield "lines", json.dumps({"cells": [{"cell_type": "markdown", "source": ["a\n"] * (size // 9)}]}).encode()
    yield "quotes", json.dumps({"cells": [{"cell_type": "markdown", "source": ">" * (size - 99)}]}).encode()
    yield "numbers", b'{"cells": [], "nbformat": ' + b"9" * size + b"}"
    yield "outputs", json.dumps({"cells": [{"cell_type": "code", "outputs": [{"text": "a"}] * (size // 20)}]}).encode()


def _word(size: int) -> Iterator[tuple[str, bytes]]:
    def with_parts(**parts: str | bytes) -> bytes:
        changed = {f"word/{name}.xml": content for name, content in parts.items()}
        return samples.pack({**samples.WORD_PARTS, **changed})

    body = samples.WORD_PARTS["word/document.xml"]
    start, end = body.split("<w:body>")[0] + "<w:body>", "</w:body></w:document>"
    large = 100_000_000
    yield "zeros", with_parts(document=bytes(large))
    yield "spaces", with_parts(document=(start + " " * large + end).encode())
    yield (
        "text",
        with_parts(document=(start + "<w:p><w:r><w:t>" + "a " * 10_000_000 + "</w:t></w:r></w:p>" + end).encode()),
    )
    yield "deep", with_parts(document=(start + "<w:p>" * 1_000_000).encode())
    yield (
        "closed",
        with_parts(
            document=(start + "<w:tbl><w:tr><w:tc>" * 100_000 + "</w:tc></w:tr></w:tbl>" * 100_000 + end).encode()
        ),
    )
    attributes = " ".join(f"a{n}='b'" for n in range(500_000))
    yield "attributes", with_parts(document=f"{start}<w:p {attributes}/>{end}".encode())
    yield "paragraphs", with_parts(document=(start + "<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 500_000 + end).encode())
    yield (
        "cells",
        with_parts(
            document=(start + "<w:tbl><w:tr>" + "<w:tc><w:p/></w:tc>" * 500_000 + "</w:tr></w:tbl>" + end).encode()
        ),
    )
    yield "styles", with_parts(styles=samples.WORD_PARTS["word/styles.xml"].replace("</w:styles>", "".join(f'<w:style w:styleId="S{n}"><w:basedOn w:val="S{n + 1}"/></w:style>' for n in range(200_000)) + "</w:styles>"))  # fmt: skip
    entities = "".join(f"<!ENTITY a{n + 1} '" + f"&a{n};" * 10 + "'>" for n in range(20))
    yield (
        "entities",
        with_parts(document=f'<!DOCTYPE d [<!ENTITY a0 "aaaa">{entities}]>{start}<w:p>&a20;</w:p>{end}'.encode()),
    )
    relations = samples.WORD_PARTS["word/_rels/document.xml.rels"]
    many = "".join(f'<Relationship Id="r{n}" Type="x/hyperlink" Target="http://a/{n}"/>' for n in range(300_000))
    yield (
        "relations",
        samples.pack({**samples.WORD_PARTS, "word/_rels/document.xml.rels": relations.replace("</R", many + "</R")}),
    )
    yield (
        "parts",
        samples.pack({**samples.WORD_PARTS, **{f"a/{n}": "" for n in range(size // 120)}}, zipfile.ZIP_STORED),
    )


def _pdf(size: int) -> Iterator[tuple[str, bytes]]:
    import zlib

    head = b"%PDF-1.4\n"

    def with_content(content: bytes, more: bytes = b"") -> bytes:
        stream = b"5 0 obj\n<< /Length %d %b >>\nstream\n%b\nendstream\nendobj\n" % (len(content), more, content)
        before, _, after = samples.PDF[0].partition(b"5 0 obj")
        return before + stream + after[after.index(b"6 0 obj") :]

    yield "flate", with_content(zlib.compress(b"BT (a) Tj ET " * 8_000_000, 9), b"/Filter /FlateDecode")
    yield (
        "twice",
        with_content(zlib.compress(zlib.compress(bytes(500_000_000), 9), 9), b"/Filter [/FlateDecode /FlateDecode]"),
    )
    yield "nested", head + b"1 0 obj\n" + b"[" * size
    yield "dictionaries", head + b"1 0 obj\n" + b"<</A " * (size // 6)
    yield (
        "kids",
        samples.PDF[0]
        .replace(b"[4 0 R]", b"[" + b"4 0 R " * (size // 6) + b"]")
        .replace(b"/Count 1", b"/Count %d" % (size // 6)),
    )
    yield "circle", samples.PDF[0].replace(b"[4 0 R]", b"[2 0 R 2 0 R]")
    yield "saves", with_content(b"q " * (size // 2))
    yield "texts", with_content(b"BT /F1 1 Tf (a) Tj ET\n" * (size // 22))
    yield "objects", head + b"".join(b"%d 0 obj\nnull\nendobj\n" % n for n in range(size // 25)) + samples.PDF[0]
    yield (
        "references",
        samples.PDF[0].replace(b"/Root 1 0 R", b"/Root 9 0 R")
        + b"\n9 0 obj\n10 0 R\nendobj\n10 0 obj\n9 0 R\nendobj\n",
    )


def _plain(size: int) -> Iterator[tuple[str, bytes]]:
    yield "one line", b"a" * size
    yield "words", _repeated("a ", size)
    yield "blank", _repeated("\n", size)
    yield "returns", _repeated("\r", size)
    yield "wide", ("\ufeff" + "\U0001f600" * (size // 4)).encode()
    yield "marks", ("a" + "\u0301" * (size // 2)).encode()
    yield "wrong", b"\xff\xfe" + b"\x00\xd8" * (size // 2)
    yield "mixed", bytes(random.Random(1).randrange(1, 256) for _ in range(size))


_DOCUMENTS: dict[str, Callable[[int], Iterator[tuple[str, bytes]]]] = {
    "md": _markdown, "html": _html, "rst": _rst, "adoc": _asciidoc,
    "ipynb": _notebooks, "docx": _word, "pdf": _pdf, "txt": _plain,
}  # fmt: skip
FORMATS = tuple(_DOCUMENTS)

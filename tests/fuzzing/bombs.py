"""Files that are made to explode: for every grammar and every document format, in several sizes."""

import json
import random
import re
import zipfile
import zlib
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
        "div", "b", "a href=x", "table", "ul><li", "p", "font", "blockquote", "svg", "template", "h1", "pre", "select",
        "dl><dd", "span",
    ):  # fmt: skip
        yield f"deep {tag[:4]}", _repeated(f"<{tag}>", size)
        end = re.sub("[ >].*", "", tag)
        yield f"closed {tag[:4]}", (f"<{tag}>" * (size // 20) + "x" + f"</{end}>" * (size // 20)).encode()
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
    doubled = b"".join(b":a%d: {a%d}{a%d}\n" % (n + 1, n, n) for n in range(size // 25))
    yield "doubling", doubled + b"{a%d}" % (size // 25)
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

    def document(inside: str, around: str = "") -> bytes:
        return with_parts(document=(around + start + inside + end).encode())

    yield "zeros", with_parts(document=bytes(100_000_000))
    yield "spaces", document(" " * 100_000_000)
    yield "text", document("<w:p><w:r><w:t>" + "a " * 10_000_000 + "</w:t></w:r></w:p>")
    yield "deep", with_parts(document=(start + "<w:p>" * 1_000_000).encode())
    yield "closed", document("<w:tbl><w:tr><w:tc>" * 100_000 + "</w:tc></w:tr></w:tbl>" * 100_000)
    attributes = " ".join(f"a{n}='b'" for n in range(500_000))
    yield "attributes", document(f"<w:p {attributes}/>")
    yield "paragraphs", document("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 500_000)
    yield "cells", document("<w:tbl><w:tr>" + "<w:tc><w:p/></w:tc>" * 500_000 + "</w:tr></w:tbl>")
    styles = "".join(f'<w:style w:styleId="S{n}"><w:basedOn w:val="S{n + 1}"/></w:style>' for n in range(200_000))
    whole = samples.WORD_PARTS["word/styles.xml"]
    yield "styles", with_parts(styles=whole.replace("</w:styles>", styles + "</w:styles>"))
    entities = "".join(f"<!ENTITY a{n + 1} '" + f"&a{n};" * 10 + "'>" for n in range(20))
    yield "entities", document("<w:p>&a20;</w:p>", f'<!DOCTYPE d [<!ENTITY a0 "aaaa">{entities}]>')
    relations = "word/_rels/document.xml.rels"
    many = "".join(f'<Relationship Id="r{n}" Type="x/hyperlink" Target="http://a/{n}"/>' for n in range(300_000))
    with_many = samples.WORD_PARTS[relations].replace("</R", many + "</R")
    yield "relations", samples.pack({**samples.WORD_PARTS, relations: with_many})
    parts = {f"a/{n}": "" for n in range(size // 120)}
    yield "parts", samples.pack({**samples.WORD_PARTS, **parts}, zipfile.ZIP_STORED)


def _pdf(size: int) -> Iterator[tuple[str, bytes]]:
    head = b"%PDF-1.4\n"

    def with_content(content: bytes, more: bytes = b"") -> bytes:
        stream = b"5 0 obj\n<< /Length %d %b >>\nstream\n%b\nendstream\nendobj\n" % (len(content), more, content)
        before, _, after = samples.PDF[0].partition(b"5 0 obj")
        return before + stream + after[after.index(b"6 0 obj") :]

    yield "flate", with_content(zlib.compress(b"BT (a) Tj ET " * 8_000_000, 9), b"/Filter /FlateDecode")
    twice = zlib.compress(zlib.compress(bytes(500_000_000), 9), 9)
    yield "twice", with_content(twice, b"/Filter [/FlateDecode /FlateDecode]")
    yield "nested", head + b"1 0 obj\n" + b"[" * size
    yield "dictionaries", head + b"1 0 obj\n" + b"<</A " * (size // 6)
    kids = samples.PDF[0].replace(b"[4 0 R]", b"[" + b"4 0 R " * (size // 6) + b"]")
    yield "kids", kids.replace(b"/Count 1", b"/Count %d" % (size // 6))
    yield "circle", samples.PDF[0].replace(b"[4 0 R]", b"[2 0 R 2 0 R]")
    yield "saves", with_content(b"q " * (size // 2))
    yield "texts", with_content(b"BT /F1 1 Tf (a) Tj ET\n" * (size // 22))
    yield "objects", head + b"".join(b"%d 0 obj\nnull\nendobj\n" % n for n in range(size // 25)) + samples.PDF[0]
    circle = b"\n9 0 obj\n10 0 R\nendobj\n10 0 obj\n9 0 R\nendobj\n"
    yield "references", samples.PDF[0].replace(b"/Root 1 0 R", b"/Root 9 0 R") + circle
    yield from _pdf_structures(size)


_CATALOG, _FONT = b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_WORDS = b"BT /F1 12 Tf 72 720 Td (Words) Tj ET\n"


def _pdf_structures(size: int) -> Iterator[tuple[str, bytes]]:
    """Yield files whose objects are many, deep, shared or of a strange size."""

    def stream(data: bytes, entries: bytes = b"") -> bytes:
        packed = zlib.compress(data, 9)
        head = b"<< /Length %d /Filter /FlateDecode %b >>" % (len(packed), entries)
        return b"%b\nstream\n%b\nendstream" % (head, packed)

    def page(contents: bytes = b"5 0 R", resources: bytes = b"/Font << /F1 3 0 R >>") -> bytes:
        return b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << %b >> /Contents %b >>" % (
            resources,
            contents,
        )

    def assembled(objects: dict[int, bytes], trailer: bytes = b"") -> bytes:
        whole = {1: _CATALOG, 2: b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>", 3: _FONT, 4: page()} | objects
        body = b"".join(b"%d 0 obj\n%b\nendobj\n" % item for item in whole.items())
        return b"%%PDF-1.5\n%b%b\ntrailer\n<< /Size %d /Root 1 0 R >>\n%%%%EOF" % (body, trailer, max(whole) + 1)

    words = {5: stream(_WORDS)}
    depth = size // 90
    tree = {n: b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (n + 1) for n in range(10, 10 + depth)}
    yield "deep tree", assembled({2: b"<< /Kids [10 0 R] /Count 1 >>", **tree, 10 + depth: page(), **words})
    circle = {10: b"<< /Type /Pages /Kids [11 0 R 11 0 R] /Count 9 >>", 11: b"<< /Type /Pages /Kids [10 0 R 10 0 R] >>"}
    yield "circle of two", assembled({2: b"<< /Kids [10 0 R 4 0 R] /Count 999999 >>", **circle, **words})
    pages = size // 170
    shared = {n: page() for n in range(10, 10 + pages)}
    kids = b"<< /Kids [%b] /Count %d >>" % (b" ".join(b"%d 0 R" % n for n in shared), pages)
    yield "shared content", assembled({2: kids, **shared, 5: stream(_WORDS * 30_000)})
    yield "contents", assembled({4: page(b"[" + b"5 0 R " * (size // 6) + b"]"), 5: stream(_WORDS * 100)})
    forms = {
        n: stream(b"/X Do " * 10, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >>" % (n + 1))
        for n in range(10, 20)
    }  # fmt: skip
    last = {20: stream(_WORDS, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 3 0 R >> >>")}
    laughs = {4: page(resources=b"/XObject << /X 10 0 R >>"), 5: stream(b"/X Do")}
    yield "ten forms in each form", assembled({**laughs, **forms, **last})
    image = b"/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /BitsPerComponent 1 /ColorSpace /DeviceGray"
    drawn = {4: page(resources=b"/XObject << /X 10 0 R >>"), 5: stream(b"/X Do " * 100)}
    yield "image", assembled({**drawn, 10: stream(bytes(60_000_000), image)})
    jbig = b"\0\0\0\0\x30\0\1\0\0\0\x13\0\0\xea\x60\0\0\xea\x60" + bytes(11)
    picture = b"<< %b /Filter /JBIG2Decode /Length %d >>\nstream\n%b\nendstream" % (image, len(jbig), jbig)
    yield "picture of two colours", assembled({**drawn, 10: picture})
    ranges = b"100 beginbfrange\n" + b"<0000> <FFFF> <0041>\n" * 100 + b"endbfrange\n"
    cmap = b"begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange\n" + ranges * (size // 400) + b"endcmap"
    yield "characters of a font", assembled({3: _FONT[:-2] + b"/ToUnicode 10 0 R >>", 10: stream(cmap), **words})
    described = b"<< /Type /Font /Subtype /TrueType /BaseFont /A /FontDescriptor 10 0 R >>"
    file = {10: b"<< /Type /FontDescriptor /FontName /A /Flags 4 /FontFile2 11 0 R >>", 11: stream(bytes(200_000_000))}
    yield "file of a font", assembled({3: described, **file, **words})
    inside = b" ".join(b"%d %d" % (n, 0) for n in range(10, 10 + size // 8))
    packed = stream(inside + b" " + b"[" * 1_000_000, b"/Type /ObjStm /N %d /First %d" % (size // 8, len(inside) + 1))
    compressed = b"\2\0\0\0\x09\0\0" * 4
    table = stream(compressed, b"/Type /XRef /Size 2147483647 /W [1 4 2] /Index [1 4] /Root 1 0 R /Prev 20")
    stored = b"%%PDF-1.5\n8 0 obj\n%b\nendobj\n9 0 obj\n%b\nendobj\n" % (table, packed)
    yield "object stream", stored + b"startxref\n%d\n%%%%EOF" % len(b"%PDF-1.5\n")
    entries = b"0000000015 00000 n \n" * (size // 20)
    yield "table", assembled(words, b"xref\n0 99999999\n" + entries + b"startxref\n9\n")


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

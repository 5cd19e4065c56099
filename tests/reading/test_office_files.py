"""Word documents, workbooks and presentations become Markdown, and hostile ones do no harm."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.reading import office_files, office_package
from dowse.reading.file_reading import read_document
from dowse.reading.office_package import MAX_CHARACTERS
from dowse.types import Link, Reading

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"

STYLES = """
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Deep"><w:name w:val="Deep"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="V1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Item"><w:name w:val="List Bullet"/>
  <w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Round"><w:name w:val="Round"/><w:basedOn w:val="Round"/></w:style>
"""


def part(element: str, inside: str, namespace: str = WORD) -> str:
    return (
        f'<?xml version="1.0"?><w:{element} xmlns:w="{namespace}" xmlns:r="{OFFICE}" xmlns:mc="{COMPATIBILITY}">'
        f"{inside}</w:{element}>"
    )


def relations(*found: tuple[str, str, str], mode: str = "") -> str:
    items = (f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{to}"{mode}/>' for key, kind, to in found)
    return f'<Relationships xmlns="{RELATIONS}">{"".join(items)}</Relationships>'


def archive(parts: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return packed.getvalue()


def word(body: str, title: str = "", keywords: str = "", notes: str = "", namespace: str = WORD) -> Reading:
    targets = (
        ("s", "styles", "styles.xml"),
        ("f", "footnotes", "notes.xml"),
    )
    link = f'<Relationship Id="l" Type="{OFFICE}/hyperlink" Target="https://a.org/b" TargetMode="External"/>'
    properties = f'<c:p xmlns:c="c" xmlns:d="d"><d:title>{title}</d:title><c:keywords>{keywords}</c:keywords></c:p>'
    data = archive(
        {
            "_rels/.rels": relations(
                ("a", "officeDocument", "word/document.xml"), ("b", "core-properties", "core.xml")
            ),
            "word/document.xml": part("document", f"<w:body>{body}</w:body>", namespace),
            "word/_rels/document.xml.rels": relations(*targets).replace("</R", link + "</R"),
            "word/styles.xml": part("styles", STYLES, namespace),
            "word/notes.xml": part("footnotes", notes, namespace),
            "core.xml": properties,
        }
    )
    return read_document(data, "in/Letter to B.docx")


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{styled}{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def item(text: str, list_id: int, depth: int = 0) -> str:
    return paragraph(text, "", f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>')


def test_paragraphs() -> None:
    for body, markdown in (
        (paragraph("a &lt; b") + paragraph("") + paragraph("c"), "a < b\n\nc"),
        (paragraph("H", "berschrift1") + paragraph("a"), "# H\n\na"),
        (paragraph("T", "Titel") + paragraph("O", "Own") + paragraph("D", "Deep"), "# T\n\n# O\n\n### D"),
        (paragraph("H", "Heading2"), "## H"),
        (paragraph("H", "", '<w:outlineLvl w:val="1"/>'), "## H"),
        (paragraph("round", "Round"), "round"),
        (paragraph("1 Intro 5", "V1") + paragraph("a"), "a"),
        (item("a", 1) + item("b", 1, 1) + item("c", 1), "- a\n  - b\n- c"),
        (item("a", 1) + paragraph("d"), "- a\n\nd"),
        (paragraph("a", "Item") + paragraph("b", "Item"), "- a\n- b"),
        (item("no list", 0), "no list"),
        ("<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>", "a b\nc"),
        ("<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>a</w:t></w:r></w:p>", "a"),
        ("<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:t>old</w:t></w:r></w:del></w:p>", "new"),
        ("<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:t>seen</w:t></w:r></w:p>", "seen"),
        (
            "<w:p><w:r><mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice>"
            "<mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:r></w:p>",
            "box",
        ),
        (paragraph("# no heading"), "\\# no heading"),
    ):
        assert word(body).text == markdown + "\n"


def test_a_table_has_its_first_row_as_head_and_tables_inside_it_are_text() -> None:
    def row(*cells: str) -> str:
        return "<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in cells) + "</w:tr>"

    inner = f"<w:tbl>{row(paragraph('in'), paragraph('ner'))}</w:tbl>"
    rows = row(paragraph("a"), paragraph("b|c", "berschrift1")) + row(paragraph("1") + paragraph("2"), inner)
    reading = word(paragraph("before") + f"<w:tbl>{rows}</w:tbl>" + paragraph("after"))
    assert reading.text == "before\n\n| a | b\\|c |\n| --- | --- |\n| 1 2 | in ner |\n\nafter\n"


def test_links_to_other_places_are_links() -> None:
    reading = word(
        '<w:p><w:hyperlink r:id="l" w:anchor="x"><w:r><w:t>one </w:t></w:r><w:r><w:t>two</w:t></w:r></w:hyperlink></w:p>'
        + '<w:p><w:hyperlink w:anchor="here"><w:r><w:t>inside</w:t></w:r></w:hyperlink></w:p>'
    )
    assert reading.text == "[one two](https://a.org/b#x)\n\ninside\n"
    assert reading.links == (Link("https://a.org/b#x", "one two", 1),)


def test_footnotes_stand_at_the_end() -> None:
    reading = word(
        '<w:p><w:r><w:t>Text</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r></w:p>',
        notes=f'<w:footnote w:id="0"><w:p/></w:footnote><w:footnote w:id="1">{paragraph("Note.")}</w:footnote>',
    )
    assert reading.text == "Text\n\nNote.\n"


def test_strict_documents_are_read_as_the_usual_ones() -> None:
    assert word(paragraph("H", "berschrift1"), namespace=STRICT).text == "# H\n"


def test_title() -> None:
    for title, body, found in (
        ("Stated", paragraph("H", "berschrift1"), "Stated"),
        ("Word Document", paragraph("H", "berschrift1"), "H"),
        ("letter_v2.docx", paragraph("H", "Titel"), "H"),
        ("", paragraph("D", "Deep"), "D"),
        ("", paragraph("text"), "Letter to B"),
    ):
        assert word(body, title=title).title == found


def test_description_and_tags() -> None:
    reading = word(paragraph("H", "berschrift1") + paragraph("The first text."), keywords="one; two words, one")
    assert (reading.description, reading.tags) == ("The first text.", ("one", "two words"))


def test_a_document_without_relations_is_found_where_it_usually_is() -> None:
    data = archive({"word/document.xml": part("document", paragraph("a"))})
    assert read_document(data, "a.docx").text == "a\n"


def test_a_document_that_declares_entities_is_not_read() -> None:
    for doctype in (
        '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE d [<!ENTITY b SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE d SYSTEM "http://127.0.0.1:9/d.dtd">',
    ):
        source = part("document", paragraph("&b;")).replace("?>", "?>" + doctype)
        assert read_document(archive({"word/document.xml": source}), "a.docx").text == ""


def test_a_bomb_is_read_up_to_a_limit() -> None:
    many = paragraph("a" * 1000) * 8000
    reading = read_document(archive({"word/document.xml": part("document", many)}), "a.docx")
    assert 4_000_000 < len(reading.text) < 6_000_000


def test_elements_without_text_are_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two million of them fit into 20 KB."""
    monkeypatch.setattr(office_package, "_MAX_ELEMENTS", 6000)
    source = part("document", paragraph("before") + "<w:p>" + "<w:r/>" * 7000 + "</w:p>" + paragraph("after"))
    assert read_document(archive({"word/document.xml": source}), "a.docx").text == "before\n"


def test_a_table_that_is_cut_keeps_its_first_rows() -> None:
    row = f"<w:tr><w:tc>{paragraph('a' * 100_000)}</w:tc></w:tr>"
    source = part("document", f"<w:tbl>{row * 60}</w:tbl>" + paragraph("after"))
    text = read_document(archive({"word/document.xml": source}), "a.docx").text
    assert 4_000_000 < len(text) < 6_000_000
    assert "after" not in text


def test_what_comes_before_the_damage_is_kept() -> None:
    source = part("document", paragraph("before") + "<w:p><broken")
    assert read_document(archive({"word/document.xml": source}), "a.docx").text == "before\n"


def test_what_is_no_document_says_nothing() -> None:
    for data in (b"", b"PK\3\4", b"\xd0\xcf\x11\xe0 encrypted", archive({}), archive({"word/document.xml": b"\0"})):
        reading = read_document(data, "in/Letter.docx")
        assert (reading.text, reading.title, reading.is_verbatim) == ("", "Letter", False)


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = f'xmlns:p="p" xmlns:a="a" xmlns:r="{OFFICE}"'


def workbook(rows: str, strings: str = "", sheets: str = '<sheet name="Prices" sheetId="1" r:id="s1"/>') -> bytes:
    return archive(
        {
            "_rels/.rels": relations(("m", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>{sheets}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(
                ("s1", "worksheet", "worksheets/one.xml"),
                ("s2", "worksheet", "worksheets/two.xml"),
                ("t", "sharedStrings", "strings.xml"),
            ),
            "xl/strings.xml": f'<sst xmlns="{SHEET}">{strings}</sst>',
            "xl/worksheets/one.xml": f'<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData></worksheet>',
            "xl/worksheets/two.xml": f'<worksheet xmlns="{SHEET}"><row><c t="str"><v>second</v></c></row></worksheet>',
        }
    )


def presentation(*slides: str, notes: str = "") -> bytes:
    order = "".join(f'<p:sldId r:id="s{number}" id="{256 + number}"/>' for number in range(len(slides)))
    parts = [(f"s{number}", "slide", f"slides/{number}.xml") for number in range(len(slides))]
    return archive(
        {
            "_rels/.rels": relations(("m", "officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f"<p:presentation {SLIDE}><p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(*reversed(parts)),
            "ppt/slides/_rels/0.xml.rels": relations(("n", "notesSlide", "../notes/0.xml")),
            "ppt/notes/0.xml": f"<p:notes {SLIDE}>{notes}</p:notes>",
            **{f"ppt/slides/{number}.xml": f"<p:sld {SLIDE}>{text}</p:sld>" for number, text in enumerate(slides)},
        }
    )


def shape(text: str, placeholder: str = "body") -> str:
    paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f'<p:sp><p:ph type="{placeholder}"/><p:txBody>{paragraphs}</p:txBody></p:sp>'


def test_a_sheet_is_a_heading_and_a_table() -> None:
    rows = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Sold</t></is></c></row>'
        '<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><f>1+1</f><v>12.5</v></c><c r="C2" t="b"><v>1</v></c></row>'
        '<row r="3"><c r="A3" t="s"><v>99</v></c><c r="XFD3"><v>7</v></c></row>'
    )
    strings = "<si><t>Product</t></si><si><r><t>Um</t></r><r><t>brella</t></r><rPh><x>no</x></rPh></si>"
    sheets = (
        '<sheet name="Prices" r:id="s1"/><sheet name="Secret" state="hidden" r:id="s2"/><sheet name="More" r:id="s2"/>'
    )
    read = read_document(workbook(rows, strings, sheets), "prices.xlsx")
    assert read.text == (
        "## Prices\n\n| Product |  | Sold |\n| --- | --- | --- |\n| Umbrella | 12.5 | TRUE |\n\n"
        "## More\n\n| second |\n| --- |\n"
    )
    assert (read.title, read.is_verbatim) == ("Prices", False)


def test_a_slide_is_a_section_with_its_tables_and_notes() -> None:
    cells = "".join(f"<a:tc><a:txBody><a:p><a:t>{text}</a:t></a:p></a:txBody></a:tc>" for text in ("Year", "Late"))
    table = f"<p:graphicFrame><a:tbl><a:tr>{cells}</a:tr><a:tr>{cells}</a:tr></a:tbl></p:graphicFrame>"
    first = shape("Why late", "ctrTitle") + shape("The carrier\nSnow") + shape("7", "sldNum")
    read = read_document(presentation(first, table, notes=shape("Mention it") + shape("1", "sldNum")), "talk.pptx")
    assert read.text == (
        "## Why late\n\nThe carrier\n\nSnow\n\nNotes:\n\nMention it\n\n"
        "## Slide 2\n\n| Year | Late |\n| --- | --- |\n| Year | Late |\n"
    )
    assert read.title == "Why late"


def test_a_file_that_cannot_be_read_has_no_text() -> None:
    for name in ("a.xlsx", "a.pptx"):
        for data in (b"", b"PK", archive({}), archive({"xl/workbook.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"})):
            assert read_document(data, name).text.strip() == ""


def test_the_text_of_a_workbook_has_a_limit() -> None:
    rows = '<row r="1">' + '<c t="s"><v>0</v></c>' * 400 + "</row>"
    read = read_document(workbook(rows * 60, f"<si><t>{'x' * 1000}</t></si>"), "large.xlsx")
    assert MAX_CHARACTERS * 0.9 < len(read.text) < MAX_CHARACTERS * 1.2


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["xl/worksheets/one.xml", "xl/strings.xml", "xl/workbook.xml"]))
def test_any_part_may_be_damaged(damage: bytes, part: str) -> None:
    parts = {
        "xl/workbook.xml": '<a><sheet name="x" id="s1"/></a>',
        "xl/_rels/workbook.xml.rels": relations(("s1", "w", "o")),
    }
    read_document(archive({**parts, part: damage}), "a.xlsx")
    read_document(archive({"ppt/presentation.xml": damage}), "a.pptx")


def test_empty_cells_before_far_ones_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """One cell at the right edge of each row once made hundreds of empty ones that nothing limited."""
    monkeypatch.setattr(office_files, "MAX_CHARACTERS", office_package.MAX_CHARACTERS // 10)
    rows = "".join(f'<row r="{n}"><c r="SF{n}" t="str"><v>x</v></c></row>' for n in range(1, 150))
    text = read_document(workbook(rows), "book.xlsx").text
    assert 90 < text.count("| x |") < 110

"""Workbooks and presentations become Markdown, and hostile ones do no harm."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.reading import office_files, office_package
from dowse.reading.file_reading import read_document
from dowse.reading.office_package import MAX_CHARACTERS
from tests.reading.test_office_files_word import OFFICE, archive, relations

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

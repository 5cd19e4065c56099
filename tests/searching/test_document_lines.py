"""A passage is the lines of the best unit that answer, without gaps: a whole unit where it fits, and its signature."""

from types import SimpleNamespace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from dowse.searching.document_lines import REACH, WINDOW_LINES, DocumentLines
from dowse.searching.passages import Passage
from dowse.searching.query_terms import parse_search_query
from dowse.searching.term_positions import WantedLines
from dowse.text.analysis import terms_of
from dowse.text.line_numbers import line_starts
from dowse.types import StoredChunk, StoredDocument, Symbol

PYTHON = cast(
    "StoredDocument", SimpleNamespace(id=1, path="src/sessions.py", language="python", kind="code", content_hash=b"")
)
MARKDOWN = cast(
    "StoredDocument", SimpleNamespace(id=1, path="HISTORY.md", language="markdown", kind="docs", content_hash=b"")
)


def chunk(text: str, first: int, last: int, *symbols: Symbol) -> StoredChunk:
    """Return a chunk of whole lines of a text."""
    data = text.encode()
    edges = [*line_starts(data), len(data)]
    return StoredChunk(1, 1, 0, edges[first - 1], edges[last], first, last, b"", symbols, ())


def wanted(query: str) -> WantedLines:
    return WantedLines.of(parse_search_query(query), dict.fromkeys(terms_of(query), 1.0))


def document_lines(text: str, query: str, *symbols: Symbol, document: StoredDocument = PYTHON) -> DocumentLines:
    return DocumentLines(document, text.encode(), lambda: symbols, wanted(query))


def shown(text: str, query: str, *symbols: Symbol, most: int = 15) -> Passage:
    lines = document_lines(text, query, *symbols)
    return lines.excerpt(lines.best_unit({}), most)


BODY = "\n".join(f"    step_{number}()" for number in range(40))
LONG = f'''import redirect

def send(request):
    """Send a request.

    It says redirect redirect redirect.
    """
{BODY.replace("step_30", "follow_redirect")}

def close():
    pass
'''
SYMBOLS = (Symbol("send", "function", 3), Symbol("close", "function", 49))


def test_the_lines_of_a_long_function_that_matter_come_with_its_signature() -> None:
    found = shown(LONG, "redirect", *SYMBOLS)
    assert "follow_redirect" in found.text
    assert found.signature == "def send(request):"
    assert found.whole == (3, 47)
    assert found.text.split("\n") == LONG.split("\n")[found.start_line - 1 : found.end_line]


def test_a_comment_that_names_a_function_is_not_its_signature() -> None:
    text = "// send sends a request.\n" + LONG.split("\n", 2)[2].replace("def send(", "func send(")
    assert shown(text, "redirect", Symbol("send", "function", 2)).signature == "func send(request):"


def test_imports_and_descriptions_are_not_what_is_meant() -> None:
    found = shown(LONG, "redirect", *SYMBOLS)
    assert "import" not in found.text
    assert "It says" not in found.text


def test_names_between_the_brackets_of_an_import_are_not_what_is_meant() -> None:
    names = "".join(f"    Name{number},\n" for number in range(20))
    text = f"from web import (\n    Redirect,\n{names})\n\nREDIRECT_LIMIT = 30\nOTHER = 1\n\ndef open():\n    lock()\n"
    found = shown(text, "redirect", Symbol("open", "function", 26), most=3)
    assert "REDIRECT_LIMIT = 30" in found.text


def test_the_head_of_a_class_comes_with_the_members_that_follow() -> None:
    text = "class Door:\n    width = 1\n\n    def close(self):\n        lock()\n"
    found = shown(text, "Door", Symbol("Door", "class", 1), Symbol("close", "method", 4))
    assert (found.text, found.symbols) == (text.rstrip("\n"), ("Door", "close"))


def test_a_function_that_fits_is_whole_and_alone() -> None:
    found = shown(LONG, "redirect", *SYMBOLS, most=60)
    assert found.text == "\n".join(LONG.split("\n")[2:47])
    assert (found.symbols, found.whole) == (("send",), None)


def test_a_class_that_is_asked_for_comes_before_its_methods() -> None:
    body = "".join(f"        query = self.query{number}\n" for number in range(12))
    text = f"class Query:\n    lazy = True\n\n    def query(self):\n{body}"
    found = shown(text, "Query", Symbol("Query", "class", 1), Symbol("query", "method", 4))
    assert found.symbols == ("Query",)


def test_a_class_is_shown_for_its_name_in_other_capitals() -> None:
    body = "".join(f"        cart.add(cart_item{number})\n" for number in range(12))
    text = f"class Cart:\n    size = 0\n\n    def add_item(self, cart_item):\n        cart = self.cart\n{body}"
    found = shown(text, "cart", Symbol("Cart", "class", 1), Symbol("add_item", "method", 4))
    assert found.symbols == ("Cart",), "a method with the word came first"


def test_an_attribute_is_not_shown_instead_of_the_method_that_answers() -> None:
    # The answer to "how are migrations applied" began with `replaces = []` below a comment that says "applied".
    head = "class Migration:\n    # Migrations that are not applied.\n    replaces = []\n\n"
    text = f"{head}    def apply(self, migration):\n        # Apply the migration.\n{BODY}\n"
    found = shown(text, "how are migrations applied", Symbol("Migration", "class", 1), Symbol("apply", "method", 5))
    assert found.symbols[0] == "apply"


def test_the_function_that_a_traceback_names_is_shown() -> None:
    query = 'It fails:\n  File "/usr/lib/src/sessions.py", line 20, in send\nValueError: bad\n'
    assert shown(LONG, query, *SYMBOLS).symbols == ("send",)


def test_a_section_is_shown_with_the_headings_above_it() -> None:
    text = "# History\n\n## 2.0\n\n- two\n\n## 1.9\n\n- redirect\n\n## 1.8\n\n- eight\n"
    part = chunk(text, 3, 13)
    lines = DocumentLines(MARKDOWN, text.encode(), tuple, wanted("redirect"), part)
    passage = lines.window(lines.best_unit({}))
    assert passage.headings == ("History", "1.9")


def test_a_chunk_within_a_very_long_line_is_shown_in_part() -> None:
    data = b"x " * 100_000 + b"needle " + b"y " * 100_000
    part = StoredChunk(1, 1, 0, 200_000, 200_006, 1, 1, b"", (), ())
    lines = DocumentLines(PYTHON, data, tuple, wanted("needle"), part)
    assert len(lines.window(lines.best_unit({})).text) < 3000


@given(st.text(alphabet="abé \n\r", max_size=60), st.integers(1, 30), st.integers(0, 30), st.booleans())
def test_any_chunk_of_any_text_gives_lines_of_it(text: str, first: int, length: int, is_markdown: bool) -> None:
    lines = [line.decode() for line in text.encode().splitlines()] or [""]
    start = min(first, len(lines))
    part = chunk(text, start, min(start + length, len(lines)))
    document = MARKDOWN if is_markdown else PYTHON
    for within in (None, part):
        found = DocumentLines(document, text.encode(), tuple, wanted("a"), within)
        for most in (3, 10, 40):
            passage = found.excerpt(found.best_unit({}), most)
            assert passage.text.split("\n") == lines[passage.start_line - 1 : passage.end_line]
            assert 1 <= len(passage.numbered_lines) <= max(most, WINDOW_LINES)


def test_of_a_section_without_end_the_lines_around_a_chunk_are_looked_at() -> None:
    text = "# Fruit\n" + "apple\n" * 200_000
    within = chunk(text, 100_000, 100_010)
    lines = DocumentLines(MARKDOWN, text.encode(), tuple, wanted("apple"), within)
    counted = lines.count_terms(range(len(lines.lines)))["appl"]
    assert 11 < counted < 2 * REACH // len("apple") + 12
    passage = lines.window(lines.best_unit({(100_000, 100_010): 1.0}))
    assert 80_000 < passage.start_line < 120_000
    assert (passage.headings, passage.whole) == (("Fruit",), (1, 200_001))


def test_of_a_line_without_end_the_part_around_a_chunk_is_looked_at() -> None:
    text = "apple " * 200_000
    within = StoredChunk(1, 1, 0, 600_000, 600_600, 1, 1, b"", (), ())
    lines = DocumentLines(MARKDOWN, text.encode(), tuple, wanted("apple"), within)
    assert 500 < len(lines.lines[0]) < REACH


def test_fewer_lines_than_are_wanted_are_looked_at_where_lines_are_long() -> None:
    """A section of 300 lines of 6,000 characters ended with an error."""
    text = "# Fruit\n" + ("apple " * 1000 + "\n") * 300
    lines = DocumentLines(MARKDOWN, text.encode(), tuple, wanted("apple"), chunk(text, 150, 152))
    (fruit,) = lines.units
    assert 150 in (shown := lines.stretch(fruit, 40))
    assert 1 < len(shown) < 40

"""Passages are the lines that answer: whole units where they fit, their signatures, and nothing that says nothing."""

from types import SimpleNamespace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from dowse.line_numbers import line_starts
from dowse.searching.document_lines import DocumentLines
from dowse.searching.passage_selection import ChosenPassages, FileLines, choose_passages
from dowse.searching.query_terms import parse_search_query
from dowse.searching.wanted_lines import WantedLines
from dowse.text.analysis import terms_of
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


def file_lines(text: str, query: str, *symbols: Symbol, document: StoredDocument = PYTHON) -> FileLines:
    lines = DocumentLines(document, text.encode(), lambda: symbols, wanted(query))
    return FileLines(lines, lines.ranked_units({}), 1.0)


def shown(text: str, query: str, *symbols: Symbol, characters: int = 1000) -> ChosenPassages:
    (found,) = choose_passages([file_lines(text, query, *symbols)], characters)
    return found


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
    found = shown(LONG, "redirect", *SYMBOLS, characters=400)
    first = found.passages[0]
    assert "follow_redirect" in first.text
    assert first.signature == "def send(request):"
    assert first.whole == (3, 47)
    assert first.text.split("\n") == LONG.split("\n")[first.start_line - 1 : first.end_line]


def test_a_comment_that_names_a_function_is_not_its_signature() -> None:
    text = "// send sends a request.\n" + LONG.split("\n", 2)[2].replace("def send(", "func send(")
    (first, *_) = shown(text, "redirect", Symbol("send", "function", 2), characters=400).passages
    assert first.signature == "func send(request):"


def test_a_long_signature_is_shown_by_its_first_lines() -> None:
    parameters = "".join(f"    parameter_{number},\n" for number in range(6))
    lines = file_lines(LONG.replace("def send(request):\n", f"def send(\n{parameters}):\n"), "send", *SYMBOLS).document
    (unit,) = (unit for unit in lines.units if unit.name == "send")
    assert [lines.lines[line] for line in lines.signature(unit)] == [
        "def send(",
        "    parameter_0,",
        "    parameter_1,",
    ]


def test_imports_and_descriptions_are_not_shown() -> None:
    found = shown(LONG, "redirect", *SYMBOLS, characters=400)
    text = "\n".join(passage.text for passage in found.passages)
    assert "import" not in text
    assert "It says" not in text


def test_closing_brackets_are_not_shown_by_themselves() -> None:
    # A bracket takes the least room of all lines, so pieces of a long function were lines with nothing else.
    blocks = "".join(
        f"    if (step_{number}(a, b, c, d, e, f, g, h)) {{\n    }}\n    }}\n    }}\n" for number in range(30)
    )
    text = f"function send() {{\n{blocks.replace('step_20', 'follow_redirect')}}}\n"
    found = shown(text, "redirect", Symbol("send", "function", 1), characters=1500)
    pieces = [piece for one in found.passages for piece in "\n".join(line for _, line in one.numbered_lines).split("…")]
    assert len(pieces) > 1
    assert [piece for piece in pieces if not any(character.isalpha() for character in piece)] == []


def test_names_between_the_brackets_of_an_import_are_not_shown() -> None:
    text = "from web import (\n    Redirect,\n    Session,\n)\n\nREDIRECT_LIMIT = 30\n\ndef open():\n    lock()\n"
    found = shown(text, "redirect", Symbol("open", "function", 8), characters=60)
    assert [passage.text.split("\n")[-1] for passage in found.passages] == ["REDIRECT_LIMIT = 30"]
    assert "Session" not in found.passages[0].text


def test_further_lines_of_a_function_are_numbered_across_the_gap() -> None:
    text = LONG.replace("step_5", "redirect_first")
    _, second = shown(text, "redirect", *SYMBOLS, characters=700).passages[:2]
    numbers = {number: line for number, line in second.numbered_lines if number}
    assert all(line == text.split("\n")[number - 1] for number, line in numbers.items())


def test_a_short_function_is_whole() -> None:
    found = shown("def open():\n    lock()\n\n\ndef close():\n    unlock()\n", "unlock", Symbol("open", "function", 1), Symbol("close", "function", 5))  # fmt: skip
    assert [(one.text, one.whole, one.symbols) for one in found.passages] == [
        ("def close():\n    unlock()", None, ("close",))
    ]


def test_a_class_that_is_asked_for_comes_before_its_methods() -> None:
    text = "class Query:\n    lazy = True\n\n    def query(self):\n        query = self.query\n        return query\n"
    found = shown(text, "Query", Symbol("Query", "class", 1), Symbol("query", "method", 4))
    assert [passage.symbols for passage in found.passages] == [("Query",)], "an unrelated method was shown beside it"


def test_a_class_is_shown_for_its_name_in_other_capitals() -> None:
    text = "class Cart:\n    size = 0\n\n    def add_item(self, cart_item):\n        cart = self.cart\n        cart.add(cart_item)\n"
    found = shown(text, "cart", Symbol("Cart", "class", 1), Symbol("add_item", "method", 4))
    assert [passage.symbols for passage in found.passages] == [("Cart",)], "a method with the word came first"


def test_an_attribute_is_not_shown_beside_the_method_that_answers() -> None:
    # The answer to "how are migrations applied" began with `replaces = []` below a comment that says "applied".
    head = "class Migration:\n    # Migrations that are not applied.\n    replaces = []\n\n"
    text = f"{head}    def apply(self, migration):\n        # Apply the migration.\n{BODY}\n"
    found = shown(text, "how are migrations applied", Symbol("Migration", "class", 1), Symbol("apply", "method", 5))
    assert {passage.symbols for passage in found.passages} == {("apply",)}


def test_a_long_function_that_may_be_meant_is_shown_beside_the_best_one() -> None:
    # "how are redirects followed" did not show `resolve_redirects`, since none of its many lines was likely.
    text = f"def send():\n{BODY.replace('step', 'follow_redirect')}\n\n\ndef resolve_redirects():\n    # redirect\n{BODY}\n{BODY}\n"
    symbols = Symbol("send", "function", 1), Symbol("resolve_redirects", "function", 44)
    found = shown(text, "how are redirects followed", *symbols, characters=1000)
    assert found.passages[0].symbols == ("send",)
    assert any("def resolve_redirects():" in passage.text for passage in found.passages)


def test_the_line_of_a_traceback_is_shown() -> None:
    query = 'It fails:\n  File "/usr/lib/src/sessions.py", line 20, in send\nValueError: bad\n'
    found = shown(LONG, query, *SYMBOLS)
    numbers = [number for passage in found.passages for number, _ in passage.numbered_lines]
    assert 20 in numbers


def test_the_best_files_get_more_room() -> None:
    names = [file_lines(LONG, "redirect", *SYMBOLS) for _ in range(3)]
    files = [FileLines(one.document, one.units, weight) for one, weight in zip(names, (1.0, 0.1, 0.01), strict=True)]
    first, second, third = (
        sum(len(one.numbered_lines) for one in found.passages) for found in choose_passages(files, 1500)
    )
    assert first > second > third


def test_what_is_worth_less_comes_after_all_hits() -> None:
    (found,) = choose_passages([file_lines(LONG, "redirect", *SYMBOLS)], 300, 600)
    first, later = ([number for one in some for number, _ in one.numbered_lines if number] for some in found)
    assert later
    assert not set(first) & set(later)


def test_whole_functions_are_shown_where_they_are_asked_for() -> None:
    (found,) = choose_passages([file_lines(LONG, "redirect", *SYMBOLS)], 4000, are_whole=True)
    assert found.passages[0].text == "\n".join(LONG.split("\n")[2:47])


def test_a_section_is_shown_with_the_headings_above_it() -> None:
    text = "# History\n\n## 2.0\n\n- two\n\n## 1.9\n\n- redirect\n\n## 1.8\n\n- eight\n"
    part = chunk(text, 3, 13)
    lines = DocumentLines(MARKDOWN, text.encode(), tuple, wanted("redirect"), part)
    passage = lines.window(lines.ranked_units({})[0].unit)
    assert passage.headings == ("History", "1.9")


def test_a_chunk_within_a_very_long_line_is_shown_in_part() -> None:
    data = b"x " * 100_000 + b"needle " + b"y " * 100_000
    part = StoredChunk(1, 1, 0, 200_000, 200_006, 1, 1, b"", (), ())
    lines = DocumentLines(PYTHON, data, tuple, wanted("needle"), part)
    assert len(lines.window(lines.ranked_units({})[0].unit).text) < 3000


@given(st.text(alphabet="abé \n\r", max_size=60), st.integers(1, 30), st.integers(0, 30), st.booleans())
def test_any_chunk_of_any_text_gives_lines_of_it(text: str, first: int, length: int, is_markdown: bool) -> None:
    lines = [line.decode() for line in text.encode().splitlines()] or [""]
    start = min(first, len(lines))
    part = chunk(text, start, min(start + length, len(lines)))
    document = MARKDOWN if is_markdown else PYTHON
    for within in (None, part):
        found = DocumentLines(document, text.encode(), tuple, wanted("a"), within)
        passages = choose_passages([FileLines(found, found.ranked_units({}), 1.0)], 100, 100)[0]
        for passage in (*passages.passages, *passages.further, found.window(found.units[0])):
            assert all(line == lines[number - 1] for number, line in passage.numbered_lines if number)

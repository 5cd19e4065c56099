"""Places as assistants write them."""

from dowse.federation.answers.place_reading import RequestedPlace, SourceText, parse_place, place_text, read_lines
from dowse.types import Kind, Symbol


def test_a_place_is_a_path_with_lines_or_a_name() -> None:
    for text, place in (
        ("src/a.py", RequestedPlace("src/a.py")),
        ("./src/a.py", RequestedPlace("src/a.py")),
        ("src/a.py:10-40", RequestedPlace("src/a.py", 10, 40)),
        ("src/a.py:40-10", RequestedPlace("src/a.py", 10, 40)),
        ("src/a.py:7", RequestedPlace("src/a.py", 7, 7)),
        ("src/a.py#L7-L9", RequestedPlace("src/a.py", 7, 9)),
        ("src/a.py:0-3", RequestedPlace("src/a.py", 1, 3)),
        ("src/a.py#Client.get", RequestedPlace("src/a.py", name="Client.get")),
        ("docs/", RequestedPlace("docs")),
        (".", RequestedPlace(".")),
        ("C#/a.cs#Run", RequestedPlace("C", name="/a.cs#Run")),
    ):
        assert parse_place(text) == place


def source_of(text: str, symbols: tuple[Symbol, ...], language: str = "python", kind: Kind = "code") -> SourceText:
    """Return a text with its definitions."""
    return SourceText("src/a.py", text, language, kind, symbols)


def class_of(methods: int) -> SourceText:
    """Return a file with a class of so many methods, and a function after it."""
    lines, symbols = ["class Till:", '    """Counts money."""'], []
    for number in range(methods):
        symbols.append(Symbol(f"take{number}", "method", len(lines) + 2, len(lines) + 4))
        lines += ["", f"    def take{number}(self):", "        count = 1", "        return count"]
    symbols.insert(0, Symbol("Till", "class", 1, len(lines)))
    symbols.append(Symbol("other", "function", len(lines) + 3, len(lines) + 4))
    return source_of("\n".join([*lines, "", "", "def other():", "    return 2", ""]), tuple(symbols))


def test_a_class_is_read_with_its_methods() -> None:
    text = read_lines(class_of(3), parse_place("src/a.py#Till"), "src/a.py", 5000)
    assert text.splitlines()[0] == "src/a.py:1-14  Till"
    assert text.splitlines()[-1] == "14         return count"
    assert place_text(class_of(3), parse_place("src/a.py#Till")).count("def take") == 3


def test_a_long_class_is_read_as_its_beginning_and_its_outline() -> None:
    text = read_lines(class_of(80), parse_place("src/a.py#Till"), "src/a.py", 5000)
    assert text.startswith(
        'src/a.py:1-2  Till\n1 class Till:\n2     """Counts money."""\nsrc/a.py:1-322 has 322 lines.'
    )
    assert "    4-6  def take0(self):\n    8-10  def take1(self):\n" in text
    assert "other" not in text
    cut = read_lines(class_of(80), parse_place("src/a.py#Till"), "src/a.py", 300)
    assert cut.endswith("-322 for the rest")


def test_a_section_is_read_with_those_below_it() -> None:
    text = "# Shop\n\n## Delivery\n\nFree from 50.\n\n### Abroad\n\nNever free.\n\n## Returns\n\nWithin a month.\n"
    source = source_of(text, (), "markdown", "docs")
    assert place_text(source, parse_place("src/a.py#Delivery")).splitlines()[-1] == "Never free."

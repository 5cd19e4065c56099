"""The expression before a member and the type of a variable are read from the text around a name."""

from dowse.parsing.reference_syntax import load_reference_syntax, receiver_before, written_type


def test_the_expression_before_a_member() -> None:
    for text, expected in (("self.client().", "self.client()"), ("'skin'.", '"'), ("[1, 2].", "?"), ("a..", ""), ("$this->press->", "$this.press")):  # fmt: skip
        code = text.replace("'skin'", " " * 6).encode()
        assert receiver_before(code, text.encode(), len(code)).decode() == expected


def test_the_type_that_is_written() -> None:
    for language, before, name, after, expected in (
        ("java", "final Map<Key, Value> ", "skins", ";", "Map"),
        ("rust", "fn ", "pick", "(&self) -> Self::Item {", ""),
        ("python", "", "apple", ": Apple = None", "Apple"),
        ("php", "/** @return Juice|null */\nfunction ", "squeeze", "() {}", "Juice"),
        ("php", "/** @param Juice $one */\nfunction pour(", "$one", ") {}", "Juice"),
        ("php", "/** @return Juice */\nfunction pour(", "$one", ") {}", ""),
        ("php", "function ", "squeeze", "(): ?Kitchen\\Juice {}", "Juice"),
        ("ruby", "", "@press", " = Press.new\n", "Press"),
        ("go", "var ", "tree", " *orchard.Tree\n", "Tree"),
    ):
        syntax = load_reference_syntax(language)
        assert syntax is not None
        data = (before + name + after).encode()
        code = before.rpartition("*/")[0].encode()
        code = b" " * (len(code) + 2 if code else 0) + data[len(code) + 2 if code else 0 :]
        assert written_type(syntax, code, data, len(before), len(before + name)).decode() == expected

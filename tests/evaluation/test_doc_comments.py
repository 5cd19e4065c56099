"""Doc comments are found with what they describe, and leave empty lines."""

import pytest

from dowse.evaluation.doc_comments import find_doc_comments, without_comments

PYTHON = '''class Apple:
    """A fruit of the orchard."""

    def peel(
        self, knife: str,
    ) -> None:
        """Take the skin off in one ribbon.

        Slowly.
        """
        cut(knife)
        turn()

    def eat(self): pass
'''

OTHERS = {
    "a.rs": "/// Takes the skin off.\n/// In one ribbon.\n#[inline]\npub fn peel(knife: &str) {\n    cut();\n}\nfn next() {}\n",
    "a.go": "// Peel takes the skin off. In one ribbon.\nfunc Peel(knife string) {\n\tcut()\n}\n",
    "a.ts": "/**\n * Takes the skin off.\n * In one ribbon.\n */\nexport async function peel(knife: string) {\n  cut();\n}\n",
    "A.java": "  /** Takes the skin off. In one ribbon. */\n  @Override\n  public void peel(String knife) {\n    cut();\n  }\n",
    "a.rb": "# Takes the skin off.\n# In one ribbon.\ndef peel(knife)\n  cut\nend\n",
    "a.c": "/* Takes the skin off. In one ribbon. */\nstatic int peel(char *knife) {\n    return cut();\n}\n",
}


def test_a_docstring_describes_its_function() -> None:
    found = list(find_doc_comments("a.py", PYTHON))
    assert [(one.text.split()[:3], one.lines, one.described) for one in found] == [
        (["A", "fruit", "of"], (2, 2), (1, 14)),
        (["Take", "the", "skin"], (7, 10), (4, 12)),
    ]
    left = without_comments(PYTHON, found).split("\n")
    assert (len(left), left[6:10], left[10].strip()) == (len(PYTHON.split("\n")), [""] * 4, "cut(knife)")


@pytest.mark.parametrize(("path", "text"), OTHERS.items(), ids=OTHERS)
def test_a_comment_describes_the_definition_below(path: str, text: str) -> None:
    (found,) = find_doc_comments(path, text)
    assert found.text.endswith("the skin off. In one ribbon.")
    described = text.split("\n")[found.described[0] - 1 : found.described[1]]
    assert "peel" in described[0].lower()
    assert "cut" in described[-1]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def f():\n    return 1\n"),
        ("a.py", 'def f():\n    """never ends\n'),
        ("a.go", "// a remark\n\nx := 1\n"),
        ("a.ts", "/** never ends\nfunction f() {}"),
        ("a.md", "# Title\n\nfunction f()\n"),
        ("a.py", ""),
    ],
)
def test_other_text_has_none(path: str, text: str) -> None:
    assert list(find_doc_comments(path, text)) == []


def test_very_long_lines_are_read_in_no_time() -> None:
    """20,000 blanks in a comment took 3.4 s, and the time grew with the square of them."""
    words, blanks = "word " * 60_000, " " * 300_000
    assert list(find_doc_comments("a.c", f"// Takes the skin off.\n{words}\n")) == []
    (found,) = find_doc_comments("a.c", f"/* Takes the skin off. {blanks} x\n*/\nint peel(void) {{\n    cut();\n}}\n")
    assert found.text.startswith("Takes the skin off.")

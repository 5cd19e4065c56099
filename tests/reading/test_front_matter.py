"""Front matter is read safely; front matter that cannot be read is text."""

import pytest

from dowse.reading.front_matter import FrontMatter, read_front_matter


def test_a_title_is_text_whatever_it_was_written_as() -> None:
    for text, title in (
        ("---\ntitle: Plain\n---\n", "Plain"),
        ("---\r\ntitle: Carriage\r\n---\r\n", "Carriage"),
        ("---\rtitle: Old Mac\r---\rtext", "Old Mac"),
        ("--- \ntitle: Spaces\n---\t\n", "Spaces"),
        ("---\ntitle: Dots\n...\ntext", "Dots"),
        ("---\ntitle: At the end\n---", "At the end"),
        ("---\ntitle: 'Quoted: yes'\n---\n", "Quoted: yes"),
        ("---\ntitle: 1.10\n---\n", "1.10"),
        ("---\ntitle: 2024-02-31\n---\n", "2024-02-31"),
        ("---\ntitle: yes\n---\n", "yes"),
        ("---\ntitle: >\n  folded\n  lines\n---\n", "folded lines\n"),
        ("---\nname: &n Anchored\ntitle: *n\n---\n", "Anchored"),
        ("---\ntitle: First\ntitle: Last\n---\n", "Last"),
        ("---\ntitle: Ünïcode 😀\n---\n", "Ünïcode 😀"),
        ("---\ntitle: null\n---\n", ""),
        ("---\ntitle:\n---\n", ""),
        ("---\ntitle: 'null'\n---\n", "null"),
        ("---\ntitle: [a, b]\n---\n", ""),
        ("---\ntitle: {a: b}\n---\n", ""),
        ("---\n# nothing but a comment\n---\n", ""),
        ("---\n---\n", ""),
        ('+++\ntitle = "TOML"\n+++\n', "TOML"),
        ('+++\r\ntitle = "Carriage"\r\n+++\r\n', "Carriage"),
        ("+++\ntitle = 2024-01-02\n+++\n", "2024-01-02"),
        ("+++\ntitle = 7\n+++\n", "7"),
        ("+++\ntitle = ['a']\n+++\n", ""),
    ):
        matter = read_front_matter(text)
        assert matter.title == title
        assert matter.end == len(text.removesuffix("text"))


def test_tags_are_a_list_or_words() -> None:
    for tags, expected in (
        ("[a, b]", ("a", "b")),
        ("\n  - a\n  - b c", ("a", "b c")),
        ("a, b c,, d", ("a", "b c", "d")),
        ("a b", ("a", "b")),
        ("[2024, 1.0, yes]", ("2024", "1.0", "yes")),
        ("[a, [nested], {b: c}, null, '']", ("a",)),
        ("[a, a]", ("a",)),
        ("{a: b}", ()),
        ("", ()),
        ("7", ("7",)),
    ):
        assert read_front_matter(f"---\ntags: {tags}\n---\n").tags == expected


def test_toml_tags_are_a_list() -> None:
    assert read_front_matter('+++\ntags = ["a", "b"]\n+++\n').tags == ("a", "b")


def test_what_cannot_be_read_is_no_front_matter() -> None:
    for text in (
        "", "# No front matter", " ---\ntitle: indented\n---\n", "---\ntitle: never closed\n",
        "---\ntitle: closed by a longer line\n----\n", "----\ntitle: opened by a longer line\n---\n",
        "---\ntitle: 'broken\n---\n", "---\n\ttitle: tab\n---\n", "---\n- a list\n---\n",
        "---\nA setext heading\n---\n", "---\ntitle: *nobody\n\x01: control\n---\n", "+++\ntitle = broken\n+++\n",
        "---\ntitle: two kinds\n+++\n", "---\n" + "#" * 70_000 + "\n---\n",
    ):  # fmt: skip
        assert read_front_matter(text) == FrontMatter()


@pytest.mark.parametrize(
    "text",
    [
        "---\na: " + "[" * 60_000 + "\n---\n", "---\n" + "{a: " * 15_000 + "\n---\n",
        "---\na: " + "[" * 20_000 + "]" * 20_000 + "\n---\n", "---\n" + "- " * 30_000 + "\n---\n",
        "---\n" + "? " * 30_000 + "\n---\n", "+++\na = " + "[" * 60_000 + "\n+++\n",
        "+++\n" + ".".join("a" * 30_000) + " = 1\n+++\n", "+++\na = " + "{a = " * 10_000 + "\n+++\n",
        "---\n" * 16_000,
    ],
    ids=["lists", "maps", "closed lists", "dashes", "keys", "toml lists", "toml dots", "toml maps", "fences"],
)  # fmt: skip
@pytest.mark.timeout(5)  # the parsers alone take 10 to 20 s for some, or crash
def test_front_matter_made_to_hang_is_no_front_matter(text: str) -> None:
    assert not read_front_matter(text).title


@pytest.mark.timeout(5)
def test_aliases_that_would_unfold_to_a_billion_items_are_not_unfolded() -> None:
    bomb = "\n".join(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 30))
    assert read_front_matter(f"---\na0: &a0 lol\n{bomb}\ntitle: Still here\n---\n").title == "Still here"

"""The outline has what a reader looks for, each below the definition around it."""

from dowse.page.beside_view import nest


def test_parts_of_a_class_are_left_out_and_methods_are_below_it() -> None:
    found = nest(
        [
            ("run", "method", 4, 6),
            ("A", "class", 1, 9),
            ("x", "field", 2, 2),
            ("LIMIT", "constant", 11, 11),
            ("f", "function", 12, 14),
        ]
    )
    assert [(one.name, one.depth) for one in found] == [("A", 0), ("run", 1), ("LIMIT", 0), ("f", 0)]
    assert nest([("A", "heading", 3, 0)])[0].end_line == 3

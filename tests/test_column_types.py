"""Values of another type than their column declares are found, whatever SQLite allows."""

import sqlite3
from contextlib import closing

from dowse.column_types import find_mistyped_columns

TABLES = """
    CREATE TABLE fruit (id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL, skin BLOB, count INTEGER NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5 (word);
    INSERT INTO fruit VALUES (1, 'apple', 1, x'00', 3), (2, 'pear', NULL, NULL, 4);
    INSERT INTO words VALUES ('apple');
"""


def test_a_value_of_another_type_is_found() -> None:
    for change, column in (("name = x'00'", "name"), ("weight = 'heavy'", "weight"), ("skin = 'red'", "skin"), ("skin = 1.5", "skin"),
    ("count = 'three'", "count"), ("count = 1.5", "count"), ("count = x'03'", "count")):  # fmt: skip
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(TABLES)
            assert find_mistyped_columns(connection) == []
            connection.execute(f"UPDATE fruit SET {change} WHERE id = 2")
            assert find_mistyped_columns(connection) == [f"1 values of fruit.{column} have another type"]

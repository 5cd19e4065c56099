"""Values of another type than their column declares: SQLite stores a text in a column of numbers, and returns it.

Tables declared STRICT would not help a reader: SQLite refuses to write such a value there, but a file that was damaged
is read as it is. Before version 3.37, SQLite cannot open such tables at all.
"""

import sqlite3
import struct

ODD_VALUES = (TypeError, ValueError, LookupError, ArithmeticError, struct.error)
"""The errors of code that meets a value which dowse never writes."""

_STORED_AS = {"INTEGER": "integer", "REAL": "real", "TEXT": "text", "BLOB": "blob"}
_COLUMNS = """
    SELECT tables.name, columns.name, columns.type, columns."notnull" OR columns.pk
    FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND tables.sql NOT LIKE 'CREATE VIRTUAL%' AND tables.name NOT LIKE 'sqlite_%'
"""


def find_mistyped_columns(connection: sqlite3.Connection) -> list[str]:
    """Return a problem for each column that has values of another type; this reads all rows of a database."""
    tables: dict[str, list[tuple[str, str]]] = {}
    for table, column, declared, is_required in connection.execute(_COLUMNS).fetchall():
        if stored := _STORED_AS.get(declared):
            allowed = f"'{stored}'" if is_required else f"'{stored}', 'null'"
            tables.setdefault(table, []).append((column, f'total(typeof("{column}") NOT IN ({allowed}))'))
    problems = []
    for table, columns in tables.items():
        query = f'SELECT {", ".join(count for _, count in columns)} FROM "{table}"'  # noqa: S608 - names of our tables
        counts = connection.execute(query).fetchone()
        problems += [
            f"{int(count):,} values of {table}.{name} have another type"
            for (name, _), count in zip(columns, counts, strict=True)
            if count
        ]
    return problems

"""The lengths of the entries of a real lexical index."""

from pathlib import Path

from dowse.types import TextQuery
from tests.sample_data import open_indexed, write_tree


def test_short_prose_counts_for_more_than_short_code_of_the_same_words(tmp_path: Path) -> None:
    short, long = "apple pear\n", "apple pear\n" + "plum cherry quince medlar\n" * 18
    files = {"short.md": short, "long.md": long, "short.py": short, "long.py": long}
    project = open_indexed(write_tree(tmp_path, files))
    project.store.refresh()
    for field in ("parts", "words"):
        hits = project.store.find_chunks(TextQuery(("apple",), {field: 1.0}), 4)
        names = project.store.paths_by_id(hit.document_id for hit in hits)
        scores = {names[hit.document_id]: hit.score for hit in hits}
        prose, code = (scores[f"short.{ending}"] / scores[f"long.{ending}"] for ending in ("md", "py"))
        assert prose > code * 1.05

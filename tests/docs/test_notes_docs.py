"""The page on named indexes agrees with the program."""

import re

from dowse.notes import limits
from dowse.notes.notes_documents import make_note
from tests.notes.conftest import Make
from tests.repository import REPOSITORY

PAGE = (REPOSITORY / "docs" / "notes.md").read_text(encoding="utf-8")


def test_the_worked_example_of_the_score_is_what_an_index_answers(make: Make) -> None:
    rows = re.findall(r"^\| `(\w)` \| (.+?) \| (.+?) \|$", PAGE, flags=re.MULTILINE)
    index = make()
    for doc_id, content, tokens in rows[:3]:
        index.add([make_note(doc_id, content)])
        assert index.tokenizer.tokens(content) == tokens.split(", ")
    scores = re.findall(r"^\| `(\w)` \| .+ \| .+ \| ([\d.]+) \|$", PAGE, flags=re.MULTILINE)
    found = [(one.doc_id, str(one.score)) for one in index.search("rate bucket").results]
    assert found == scores


def test_the_limits_are_those_of_the_program() -> None:
    numbers = (
        limits.MAX_INDEXES,
        limits.MAX_NAME_CHARACTERS,
        limits.MAX_ID_CHARACTERS,
        limits.MAX_METADATA_CHARACTERS,
        limits.MAX_METADATA_DEPTH,
    )
    for number in (*numbers, limits.MAX_BATCH_DOCUMENTS, limits.MAX_QUERY_CHARACTERS):
        assert f"{number:,}" in PAGE
    assert limits.MAX_CONTENT_BYTES == 10 * 2**20
    assert limits.MAX_MEMORY_BYTES == 2**30

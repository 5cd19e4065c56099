from hypothesis import given
from hypothesis import strategies as st

from dowse.parsing.text_cutting import MAX_CHUNKS, chunk
from dowse.types import Kind
from tests.parsing.passages import assert_exact, assert_nothing_lost, texts


@given(texts, st.sampled_from(["text", "klingon", ""]), st.sampled_from(["code", "docs"]))
def test_a_language_that_nobody_knows_is_cut_as_text(text: str, language: str, kind: Kind) -> None:
    chunks, is_truncated = chunk(text, language, kind)
    assert_exact(text, chunks, longest=4000 if kind == "code" else 8000)
    if not is_truncated:
        assert_nothing_lost(text, chunks)


def test_a_file_of_more_chunks_than_are_kept_says_so() -> None:
    for kind in ("code", "docs"):
        chunks, is_truncated = chunk("x" * 8_000_000, "text", kind)
        assert is_truncated
        assert len(chunks) == MAX_CHUNKS


def test_a_file_of_as_many_chunks_as_are_kept_is_whole() -> None:
    size, overlap = 4000, 800
    text = "x" * (size + (MAX_CHUNKS - 1) * (size - overlap))
    chunks, is_truncated = chunk(text, "text", "code")
    assert len(chunks) == MAX_CHUNKS
    assert not is_truncated


def test_documents_and_converted_pages_are_cut_by_their_headings() -> None:
    for language in ("markdown", "html"):
        assert chunk("# Title\n\nText.\n", language, "docs")[0][0].headings == ("Title",)


def test_a_hash_in_plain_text_is_no_heading() -> None:
    assert chunk("# Title\n\nText.\n", "text", "docs")[0][0].headings == ()

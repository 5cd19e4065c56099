"""The search before the first one, which loads what every search needs."""

from collections.abc import Callable
from string import hexdigits

from dowse.indexes.document_search import DocumentQuery, find_documents
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search_now
from dowse.indexes.query_vectors import load_vectors
from dowse.screening.secrets import find_secrets
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.types import View

FIRST_QUERY, FIRST_LIMIT = "how is the acess token of a file set", 7
"""The query has a word to correct."""
FIRST_TEXT = f"api_key = '{hexdigits}'"
"""A text that looks as if it had a secret, so that the rule for most secrets is compiled."""

IndexWork = Callable[[ProjectIndex], object]


def search_first(index: ProjectIndex) -> object:
    """Search one view of an index as it is."""
    query = parse_search_query(FIRST_QUERY)
    if index.view is View.DOCUMENTS:
        return find_documents(index, DocumentQuery(query, limit=FIRST_LIMIT))
    return search_now(index, query, SearchOptions(FIRST_LIMIT))


def prepare_index(
    index: ProjectIndex,
    load_model: Callable[[str], object] | None,
    search: IndexWork,
    is_asked: Callable[[], bool] = lambda: False,
) -> bool:
    """Load what a search needs, the model first; return whether the index can be searched as it is.

    Of an index that is not complete, files are read that it lacks, until it `is_asked`: a search of its own would let the
    first question wait for a second.
    """
    if not index.exists or index.is_being_updated():
        return False
    load_vectors(index, load_model)
    find_secrets(FIRST_TEXT)
    if index.is_ready():
        search(index)
    else:
        from dowse.indexes.growing_index import read_early  # here because most searches do not need it

        read_early(index, is_asked)
    return True

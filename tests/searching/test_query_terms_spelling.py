"""Words of a query that a real index does not have as they are typed: names in small letters, short and long forms."""

from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.searching.query_terms import check_spelling, parse_search_query
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import ask, paths

HANDLER = "class HTTPRequestHandler:\n    def answer(self):\n        return 200\n"
OTHERS = {
    "other.py": "def answer(question):\n    return 42\n",
    "more.py": "def parse(question):\n    return question\n",
}


def _opened(folder: Path, files: dict[str, str]) -> ProjectIndex:
    project = open_indexed(write_tree(folder, {**OTHERS, **files}))
    project.store.refresh()
    return project


def test_a_name_in_small_letters_is_the_definition_with_these_letters(tmp_path: Path) -> None:
    project = _opened(tmp_path, {"server.py": HANDLER})
    for text in ("httprequesthandler", "how does httprequesthandler answer"):
        written, _ = check_spelling(project.store, parse_search_query(text), writes_names=True)
        assert "HTTPRequestHandler" in written.names
        found = ask(project, text)
        assert (found.hits[0].path, found.corrected, found.unknown) == ("server.py", {}, ())


def test_a_word_that_occurs_is_not_replaced_by_a_name(tmp_path: Path) -> None:
    project = _opened(tmp_path, {"server.py": HANDLER, "readme.md": "# A httprequesthandler\n\nIt answers.\n"})
    query = parse_search_query("httprequesthandler answer")
    assert check_spelling(project.store, query, writes_names=True)[0] is query


def test_a_long_word_finds_its_short_form_and_a_short_word_its_long_forms(tmp_path: Path) -> None:
    files = {
        "setup.py": "def read_cfg(db):\n    return db.cfg\n",
        "login.py": "def authenticate(user):\n    return user\n",
    }
    project = _opened(tmp_path, files)
    assert paths(ask(project, "configuration of the database"))[0] == "setup.py"
    assert paths(ask(project, "auth")) == ["login.py"]
    _, spelling = check_spelling(project.store, parse_search_query("configuration of the database, auth"))
    assert (list(spelling.unknown), spelling.corrected) == ([], {})


def test_the_word_that_is_typed_counts_more_than_its_other_form(tmp_path: Path) -> None:
    files = {"a.py": "cfg = 1\n", "b.py": "configuration = 1\n", "c.py": "cfg = 2\n"}
    project = _opened(tmp_path, files)
    found = paths(ask(project, "configuration question"))
    assert found.index("b.py") < found.index("a.py")

"""The syntax of queries, any of which is accepted, and their words that a real index does not have as they are typed."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dowse.indexes.index import ProjectIndex
from dowse.searching.query_terms import MAX_CHARACTERS, check_spelling, parse_search_query
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import ask, paths


def test_a_sentence_that_quotes_a_message_requires_no_phrase() -> None:
    for text, phrases in (
        ('Saving twice fails with "unknown key"', ()),
        ('KeyError: "unknown key" when saving twice', ()),
        ('How do I get rid of "unknown key" after saving?', ()),
        ('where is "unknown key" raised', ("unknown key",)),
        ('"unknown key" retry backoff saving twice', ("unknown key",)),
        ('Saving twice fails with +"unknown key"', ("unknown key",)),
        ('Saving +twice fails with "unknown key"', ("unknown key",)),
        ('Saving twice fails with "unknown key" -cache', ("unknown key",)),
    ):
        query = parse_search_query(text)
        assert query.phrases == phrases
        assert {"unknown", "key"} <= {word.strip('":').lower() for word in query.positive}


def test_filters_count_in_a_sentence_that_quotes_a_message() -> None:
    query = parse_search_query('Saving twice fails with "unknown key" path:src', ["save_twice"])
    assert (query.phrases, query.filters.paths, query.terms[-1]) == ((), ("src",), "save_twice")


def test_symbols_paths_and_prose_are_told_apart() -> None:
    for text, shape in (
        ("QuerySet", "symbol"),
        ("get_user_name", "symbol"),
        ("Sinatra::Base", "symbol"),
        ("app.router.add", "symbol"),
        ("session", "symbol"),
        ("src/auth/login.ts", "path"),
        ("login.ts", "path"),
        ("how does login work", "prose"),
        ("login user", "prose"),
        ("", "prose"),
        ("日本語", "prose"),
    ):
        assert parse_search_query(text).shape == shape


def test_words_that_say_nothing_do_not_score_unless_there_are_no_others() -> None:
    assert parse_search_query("how is the session stored?").positive == ("session", "stored?")
    assert parse_search_query("what is it").positive == ("what", "is", "it")


def test_names_are_found_in_prose_and_in_qualified_symbols() -> None:
    assert parse_search_query("where is getUserName defined").names == ("getUserName",)
    assert parse_search_query("what does max_retries do").names == ("max_retries",)
    assert parse_search_query("app.Router").names == ("Router", "app")
    assert parse_search_query("plain words only").names == ()


@given(st.text(max_size=300))
def test_any_text_is_a_query(text: str) -> None:
    query = parse_search_query(text)
    assert all(word.strip() for word in (*query.positive, *query.must_not, *query.not_phrases))


def test_of_a_huge_query_the_beginning_counts() -> None:
    assert len(parse_search_query("word " * 50_000).text) <= MAX_CHARACTERS


def test_a_word_is_left_out_if_the_others_say_something() -> None:
    for text, left in (
        ("python sort a list", ("sort", "a", "list")),
        ("sort a list in Python?", ("sort", "a", "list", "in")),
        ("what is python", ("what", "is", "python")),
        ("+python sort", ("sort",)),
        ("python", ("python",)),
        ("sort", ("sort",)),
    ):
        query = parse_search_query(text)
        shorter = query.without_word("python")
        assert (shorter.terms, shorter.must) == (left, query.must)


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

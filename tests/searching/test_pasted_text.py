"""Pasted text is told apart from typed queries, and its dashes, plus signs and quotes are no operators."""

import textwrap
from dataclasses import replace

from dowse.searching.pasted_text import find_mentioned, take_apart
from dowse.searching.query_terms import SHOWN_WORDS, is_pasted, parse_search_query

TRACEBACK = """Login fails for users with "+" in their address

Traceback (most recent call last):
  File "/usr/lib/python3.12/runpy.py", line 198, in _run_module_as_main
    return _run_code(code, main_globals, None,
  File "/home/someone/app/src/auth/login.py", line 6, in login_user
    return open_session(email)
TypeError: open_session() got an unexpected keyword argument "email"
"""
FORM = """### Describe the bug
`logout_user` does not close the session - the token is "refreshed" again.

### Steps to reproduce
```sh
app --user a@b.c -v +debug
```

- [x] I have searched the existing issues
- [ ] I would like to fix it
"""
JSON = '{"error": "session store is closed", "code": -32603, "retry": false}'


def test_pasted_text_has_no_operators() -> None:
    for text in (
        TRACEBACK, FORM, JSON, "login\n-test", "why does `login_user -x` fail", "pip install --upgrade -e .",
        "python -m pytest -x", "$ ls -la", "git commit -m 'Fix the session'", 'KeyError: "session id"',
        'File "src/auth/login.py", line 6, in login_user', 'open_session("a b", -1)', 'email = "a b"',
        '<a href="x y">', "the session is lost - " * 10,
    ):  # fmt: skip
        query = parse_search_query(text)
        assert is_pasted(text)
        assert query.is_pasted
        assert not query.has_filters


def test_an_order_to_mend_something_is_read_like_an_issue() -> None:
    """In the subjects of commits, tests and changelogs were found before what was mended."""
    for text, title in (
        ("Fix the crash after a -v option", "the crash after a -v option"),
        ("fix(session): do not refresh a closed token", "(session): do not refresh a closed token"),
        ("[Bug] Fixes lost sessions after a restart", "lost sessions after a restart"),
        ("auth: fixed login without a password", "auth: fixed login without a password"),
    ):
        query = parse_search_query(text)
        assert query.pasted
        assert (query.pasted.title, query.terms) == (title, tuple(title.split()))
        assert not is_pasted("fix the login")
        assert not is_pasted("fixed-width columns of a table +width")


def test_a_typed_query_has_operators() -> None:
    for text in (
        "+login -test", '"access token" refresh', "C++ node-js -legacy", "open_session() -test",
        '-"access token" +"open session"', "git -submodule", "--flag", 'class "SessionStore": -tests',
        "error handling -java", "What is a session? -docs",
    ):  # fmt: skip
        assert not is_pasted(text)
        assert parse_search_query(text).has_filters


def test_a_long_path_or_name_is_not_pasted_text() -> None:
    path = "src/" + "deep/" * 60 + "login.py"
    assert (parse_search_query(path).shape, parse_search_query(path).is_pasted) == ("path", False)


def test_a_reply_does_not_repeat_pasted_text() -> None:
    shown = parse_search_query("word " * 1000).as_json()
    assert (len(shown["terms"]), set(shown)) == (SHOWN_WORDS, {"terms", "must", "must_not", "phrases"})


def test_a_query_without_its_filters_has_their_words() -> None:
    query = parse_search_query('+login "access token" refresh -test')
    assert query.without_filters().terms == ("refresh", "login", "access", "token")
    assert not query.without_filters().has_filters


def test_pasted_text_can_be_typed_without_its_signs() -> None:
    query = parse_search_query('pip install --upgrade "some package"')
    assert query.typed_text == "pip install upgrade some package"
    assert replace(query, pasted=None).typed_text == query.text


def test_the_title_is_the_first_line_that_says_something() -> None:
    for text, title in (
        (TRACEBACK, 'Login fails for users with "+" in their address'),
        (FORM, '`logout_user` does not close the session - the token is "refreshed" again.'),
        ("<!-- Thank you\nfor reporting! -->\n\n[Bug]: Sessions expire\n\n### Versions\n\nboto 1.2", "Sessions expire"),
        ("# Feature request: a longer session\n\n- [x] I searched", "a longer session"),
        ('Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1', 'File "a.py", line 1'),
        ("```\nx = 1\n```", "x = 1"),
        ("---\n", ""),
    ):
        assert take_apart(text).title == title


def test_comments_links_and_headings_of_forms_are_no_words_of_the_text() -> None:
    text = f"{FORM}\n<!-- zeppelin\n-->\nhttps://example.org/zeppelin\n**Expected behaviour**:\nclosed\n"
    words = take_apart(text).words
    assert not {"Steps", "Expected", "zeppelin", "https://example.org/zeppelin"} & set(words)
    assert {"token", "closed", "--user"} <= set(words)


FILES = dict(
    enumerate(["src/auth/login.py", "src/auth/__init__.py", "tests/login.py", "src/http/server.ts", "setup.py"])
)


def test_files_and_modules_that_a_text_names_are_found() -> None:
    for text, mentioned in (
        (TRACEBACK, {0: 1.0}),
        ("see\nauth/login.py", {0: 1.0}),
        ("see\nlogin.py and server.ts:12", {0: 0.5, 2: 0.5, 3: 1.0}),
        ("C:\\app\\src\\http\\server.ts(12,5)", {3: 1.0}),
        ("from auth.login import login_user", {0: 1.0}),
        ("src.auth.login.login_user() fails", {0: 1.0}),
        ("import src.auth", {1: 1.0}),
        ("/other/place/models.py, e.g. os.path", {}),
        ("site-packages/login/server.py", {}),
    ):
        assert find_mentioned(take_apart(text), FILES.items()) == mentioned


def test_a_text_without_an_end_names_no_file() -> None:
    """Each was looked through once for every position, which took two seconds."""
    for text in ("-" * 10_000, "a\\" * 5_000, "~/" * 5_000, "<!--" * 2_500):
        pasted = take_apart(f"Crash in src/app.py\n{text}")
        assert (pasted.title, pasted.files) == ("Crash in src/app.py", (("src", "app"),))


QUESTION = (
    "How does the spread of information in a network of libraries depend on the width of the network? "
    "Wanted are models of the spread, measurements of the width, and networks of other institutions."
)


def test_all_words_of_a_long_question_count_as_often_as_they_occur() -> None:
    wrapped = "\n".join(textwrap.wrap(QUESTION * 2, 70))
    for text in (QUESTION * 2, wrapped):
        assert take_apart(text).is_paragraph
        assert take_apart(text).words.count("network") == 2
    for text in (f"Wrong width of networks\n\n{QUESTION}", f"{QUESTION} It is in src/networks.py."):
        assert not take_apart(text).is_paragraph

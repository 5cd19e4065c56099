"""A project of a few files in several languages, and searches of it."""

from dowse.indexes.index import ProjectIndex
from dowse.searching.direct_index import DirectIndex
from dowse.searching.joined_store import JoinedStore
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import Answer, SearchOptions, search_store
from dowse.types import Entry

FILES = {
    "src/auth/login.py": '''"""Signing in."""


def login_user(email, password):
    """Check the password and open a session."""
    return open_session(email)


def logout_user(session):
    session.close()
''',
    "src/auth/session.py": """class SessionStore:
    def open_session(self, email):
        return self.backend.create(email)

    def expire(self):
        # the access token is refreshed elsewhere
        pass
""",
    "src/http/HTTPServer.java": "public class HTTPServer {\n  void startListening(int port) {}\n}\n",
    "tests/test_login.py": "from auth.login import login_user\n\n\ndef test_login_user():\n    assert login_user('a', 'b')\n",
    "docs/guide.md": "# Getting started\n\nInstall it.\n\n## Error handling\n\nErrors are retried three times.\n",
    "docs/日本語.md": "# 検索エンジン\n\n全文検索の説明。\n",
    "docs/french.txt": "Le café est fermé.\nDéjà vu.\n",
    "data/numbers.txt": "The answer is 42, the port 8080.\n",
}


def ask(project: ProjectIndex, text: str, **options: object) -> Answer:
    project.store.refresh()
    return search_store(project.store, project.source.read_bytes, parse_search_query(text), SearchOptions(**options))  # type: ignore[arg-type]


def direct_files(project: ProjectIndex, text: str) -> DirectIndex:
    """Return all files of a project, read for a query without an index."""
    entries = [entry for entry in project.source.entries() if isinstance(entry, Entry)]
    return DirectIndex(entries, project.source.read, parse_search_query(text), 60)


def ask_directly(project: ProjectIndex, text: str) -> Answer:
    files = JoinedStore({}, direct_files(project, text))
    return search_store(files, project.source.read_bytes, parse_search_query(text), SearchOptions())


def paths(found: Answer) -> list[str]:
    return [hit.path for hit in found.hits]

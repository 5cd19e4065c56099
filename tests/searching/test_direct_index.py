"""Files that are searched before they are indexed: their hits, compared with those of an index of the same files."""

import gc
import weakref
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.searching import direct_index
from dowse.searching.direct_index import DirectIndex
from dowse.searching.joined_store import JoinedStore
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions, search_store
from dowse.types import Entry
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import ask_directly, direct_files

FILES: dict[str, str | bytes] = {
    "src/redirects.py": '"""Following redirects."""\n\n\ndef resolve_redirects(response):\n    """Follow each redirect."""\n',
    "src/sessions.py": "class SessionStore:\n    def open(self):\n        # redirect to the login page\n        pass\n",
    "src/cookies.py": "def parse_cookie(header):\n    return dict(part.split('=') for part in header.split(';'))\n",
    "src/engine.cc": "int EngineStart(int power) {\n  return power;\n}\n",
    "src/empty.py": "",
    "src/french.py": "# le café fermé\nprix = 1\n".encode("latin-1"),
    "tests/test_cookies.py": "def test_parse_cookie():\n    assert parse_cookie('a=b')\n",
    "docs/guide.md": "# Guide\n\n## Cookies in queries\n\nEvery query sends its cookies.\n",
    "docs/日本語.md": "# 検索エンジン\n\n全文検索の説明。\n",
    "crlf.txt": "first\r\nsecond\r\nthe needle\r\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectIndex:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOWSE_HOME", str(tmp_path_factory.mktemp("home")))
        root = tmp_path_factory.mktemp("project")
        for path, content in FILES.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content if isinstance(content, bytes) else content.encode())
        return open_indexed(root)


@pytest.mark.parametrize(
    "query",
    [
        "how are redirects followed", "SessionStore", "parseCookie", "cookies in queries", "EngineStart",
        "src/redirects.py", "全文検索", "+cookie", "+cookie -test", '"the needle"', "café",
    ],
)  # fmt: skip
def test_the_first_hit_is_that_of_an_index(project: ProjectIndex, query: str) -> None:
    indexed = search_store(project.store, project.source.read_bytes, parse_search_query(query), SearchOptions())
    found = ask_directly(project, query)
    assert [hit.path for hit in found.hits][:1] == [hit.path for hit in indexed.hits][:1] != []
    assert found.hits[0].is_direct


def test_lines_and_symbols_are_those_of_the_file(project: ProjectIndex) -> None:
    (passage,) = ask_directly(project, "resolve_redirects").hits[0].passages
    assert (passage.start_line, passage.end_line, passage.symbols) == (1, 5, ("resolve_redirects",))
    assert passage.text.splitlines()[3] == "def resolve_redirects(response):"
    (passage,) = ask_directly(project, "needle").hits[0].passages
    assert (passage.start_line, passage.end_line) == (1, 3)


def test_an_empty_file_is_no_hit(project: ProjectIndex) -> None:
    assert "src/empty.py" not in {hit.path for hit in ask_directly(project, "empty").hits}
    indexed = search_store(project.store, project.source.read_bytes, parse_search_query("empty"), SearchOptions())
    assert "src/empty.py" not in {hit.path for hit in indexed.hits}


def test_the_best_of_many_files_are_analyzed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_index, "ANALYZED_FILES", 5)
    monkeypatch.setattr(direct_index, "ANALYZED_CHUNKS", 5)
    files = {
        f"src/m{number:03}.py": f"# {number}\n" + "value = table.lookup(key)\n" * (number % 7 + 1)
        for number in range(60)
    }
    files["src/zz.py"] = "class LookupTable:\n    def lookup(self, key): ...\n"
    project = ProjectIndex(write_tree(tmp_path / "project", files))
    found = ask_directly(project, "LookupTable")
    assert found.hits[0].path == "src/zz.py"
    assert len(found.hits) + found.weaker == 5


def test_nothing_keeps_the_files_of_an_earlier_query(project: ProjectIndex) -> None:
    query, files = parse_search_query("+cookie -test"), direct_files(project, "+cookie -test")
    assert search_store(JoinedStore({}, files), project.source.read_bytes, query, SearchOptions()).hits
    kept = weakref.ref(files)
    del files
    gc.collect()
    assert kept() is None


def test_files_that_cannot_be_read_in_time_are_counted(project: ProjectIndex) -> None:
    entries = [entry for entry in project.source.entries() if isinstance(entry, Entry)]
    files = DirectIndex(entries, project.source.read, parse_search_query("cookie"), 0)
    assert (len(files.files), files.unread_paths) == (0, frozenset(FILES))
    files = DirectIndex(entries, project.source.read, parse_search_query("cookie"), 60)
    assert (len(files.files), files.unread_paths) == (len(FILES), frozenset())


def test_a_call_is_not_taken_for_a_definition(tmp_path: Path) -> None:
    files = {f"app{number}/vite.config.ts": "export default defineConfig({\n  a: 1,\n})\n" for number in range(5)}
    files["src/public/options.ts"] = "export function defineConfig(config: object) {\n  return config\n}\n"
    project = ProjectIndex(write_tree(tmp_path / "project", files))
    found = ask_directly(project, "defineConfig")
    assert [hit.path for hit in found.hits if "definition" in hit.signals] == ["src/public/options.ts"]


def test_a_small_file_is_found_by_its_name_among_many_that_say_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct_index, "ANALYZED_FILES", 5)
    files = {f"lib/m{n:02}.py": "fixture = isolation(test)\n" * 30 + f"n = {n}\n" for n in range(40)}
    files["src/isolation-2-fixture.py"] = "x = 1\n"
    project = ProjectIndex(write_tree(tmp_path / "project", files))
    found = ask_directly(project, "isolation-2-fixture")
    assert "src/isolation-2-fixture.py" in [hit.path for hit in found.hits]

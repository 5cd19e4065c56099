"""The jobs of the page run in the parser processes, and no parser in the server's own."""

from pathlib import Path

import pytest

from dowse.page.view_jobs import COLOURS, run_job
from tests.end_to_end.security.audited_process import AuditedProcesses
from tests.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import wait_until
from tests.page.conftest import get
from tests.sample_data import write_tree


def test_a_server_with_a_page_imports_no_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_tree(tmp_path / "fruit", {"a.py": "def peel():\n    return 1\n", "b.md": "# B\n\n[a](a.py)\n"})
    audited = AuditedProcesses(tmp_path, modules=("pygments", "pyromark", "tree_sitter"))
    for name, value in audited.environment.items():
        monkeypatch.setenv(name, value)
    with HttpServer(root, home=tmp_path) as server:
        wait_until(lambda: b'class="k"' in get(server, "/read?id=project/fruit/a.py").body)
        get(server, "/read?id=project/fruit/b.md")
        get(server, "/outline?id=project/fruit/a.py")
    imported = audited.imports()
    assert [one for one in imported if "dowse.parsing.parser_worker" not in one] == []
    assert {name for name, *_ in imported} >= {"pygments", "pyromark", "tree_sitter"}


def test_colours_have_the_length_of_their_texts_and_unknown_languages_have_none() -> None:
    texts = ["def f():\n    return 'x'\n", "plain words", "\tlet x = 1;\r\n\n"]
    facts = [("python", "a.py"), ("text", "a.txt"), ("javascript", "a.js")]
    data = [text.encode() for text in texts]
    fields = {"job": "colours", "texts": [(*fact, len(one)) for fact, one in zip(facts, data, strict=True)]}
    reply, _ = run_job(fields, b"".join(data))
    python, plain, script = reply["colours"]
    assert (sum(python[::2]), plain, sum(script[::2])) == (len(texts[0]), [], len(texts[2]))
    assert all(0 <= colour < len(COLOURS) for colour in (*python[1::2], *script[1::2]))
    assert python[:2] == [3, COLOURS.index("k")]


def test_definitions_have_their_lines() -> None:
    fields = {"job": "symbols", "language": "python"}
    reply, _ = run_job(fields, b"class A:\n    def b(self):\n        pass\n")
    assert reply["symbols"] == [("A", "class", 1), ("b", "method", 2)]

"""The jobs of the page run in the parser processes, and no parser in the server's own."""

from pathlib import Path

import pytest

from dowse.page import view_jobs
from dowse.page.view_jobs import COLOURS, fence_languages, run_job
from tests.end_to_end.security.audited_process import AuditedProcesses
from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import wait_until
from tests.page.conftest import get
from tests.sample_data import write_tree


def test_a_server_with_a_page_imports_no_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_tree(tmp_path / "fruit", {"a.py": "def peel():\n    return 1\n", "b.md": "# B\n\n[a](a.py)\n"})
    audited = AuditedProcesses(tmp_path, modules=("pyromark", "tree_sitter"))
    for name, value in audited.environment.items():
        monkeypatch.setenv(name, value)
    with HttpServer(root, home=tmp_path) as server:
        wait_until(lambda: b'class="k"' in get(server, "/read?id=project/fruit/a.py").body)
        get(server, "/read?id=project/fruit/b.md")
        get(server, "/outline?id=project/fruit/a.py")
    imported = audited.imports()
    assert [one for one in imported if "dowse.parsing.parser_worker" not in one] == []
    assert {name for name, *_ in imported} >= {"pyromark", "tree_sitter"}


def colours(language: str, file: str, *passages: tuple[int, str]) -> list[list[tuple[str, str]]]:
    """Return the pieces of each passage with their colours."""
    data = [text.encode() for _, text in passages]
    sizes = [(line, len(one)) for (line, _), one in zip(passages, data, strict=True)]
    fields = {"job": "colours", "language": language, "path": "a", "passages": sizes}
    reply, _ = run_job(fields, b"".join(data) + file.encode())
    found = []
    for (_, text), runs in zip(passages, reply["colours"], strict=True):
        ends = [sum(runs[: at + 1 : 2]) for at in range(0, len(runs), 2)]
        starts = [0, *ends]
        found.append(
            [
                (text[start:end], COLOURS[runs[2 * n + 1]])
                for n, (start, end) in enumerate(zip(starts, ends, strict=False))
            ]
        )
    return found


def test_colours_have_the_length_of_their_texts_and_unknown_languages_have_none() -> None:
    texts = ["def f():\n    return 'x'\n", "\tlet x = 1;\r\n\n"]
    for language, text in zip(("python", "javascript"), texts, strict=True):
        ((first, *more),) = colours(language, text, (1, text))
        assert "".join(piece for piece, _ in (first, *more)) == text
    assert colours("python", texts[0], (1, texts[0]))[0][0] == ("def", "k")
    assert colours("text", "plain words", (1, "plain words")) == [[]]


def test_a_line_inside_a_string_or_comment_has_its_colour() -> None:
    for language, file, line, colour in (
        ("python", 'def f():\n    """Sum.\n\n    return for if\n    """\n    return 1\n', 4, "c"),
        ("python", 'X = f("""\nreturn for if\n""")\n', 2, "s"),
        ("python", 'X = """\n' + "".join(f"x{n}\n" for n in range(8_000)) + 'return for if\n"""\n', 8_002, "s"),
        ("javascript", "/*\n * a\n   return for if\n */\nlet x;\n", 3, "c"),
        ("javascript", "let x = `\nreturn for if\n`;\n", 2, "s"),
        ("go", "package a\n\nvar x = `\nreturn for if\n`\n", 4, "s"),
        ("rust", "/*\nreturn for if\n*/\nfn a() {}\n", 2, "c"),
    ):
        text = file.split("\n")[line - 1]
        ((*pieces,),) = colours(language, file, (line, text))
        assert {colour} == {one for piece, one in pieces if piece.strip()}


def test_a_passage_that_ends_inside_a_docstring_is_code_and_then_docstring() -> None:
    file = 'def f():\n    """Sum.\n\n    More.\n    """\n    return 1\n'
    first, last = colours("python", file, (1, 'def f():\n    """Sum.\n'), (5, '    """\n    return 1'))
    assert (first[0], first[-1]) == (("def", "k"), ('"""Sum.\n', "c"))
    assert [one for one in last if one[0].strip()] == [('    """', "c"), ("return", "k"), ("1", "n")]


def test_php_without_its_beginning_is_php() -> None:
    file = "<?php\n\nfunction f() {\n    return 1;\n}\n"
    ((*pieces,),) = colours("php", file, (4, "    return 1;"))
    assert ("return", "k") in pieces


def test_definitions_have_their_lines() -> None:
    fields = {"job": "symbols", "language": "python"}
    reply, _ = run_job(fields, b"class A:\n    def b(self):\n        pass\n")
    assert reply["symbols"] == [("A", "class", 1, 3), ("b", "method", 2, 3)]


def test_the_blocks_of_a_markdown_text_name_their_languages() -> None:
    text = (
        "```py\nx\n```\n\n- in a list\n  ~~~~ C++ title=a\n  x\n  ~~~~\n\n> ```js,ignore\n> x\n> ```\n\n"
        "````console\r\n```\r\n````\r\n\n```Python\n```\n\n```{.lua}\n```\n\n    indented\n\n`code` and ~~no~~ code\n"
    )
    assert fence_languages(text) == ["bash", "cpp", "javascript", "python"]
    assert fence_languages("# No code\n\n```\nplain\n```\n") == []


def test_a_block_of_code_that_takes_long_is_not_coloured_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_jobs, "MAX_COLOUR_SECONDS", 0.1)
    code = "".join(f"x{n} = [{','.join('1' * 60)}]\n" for n in range(1000))
    reply, _ = run_job({"job": "markdown"}, f"```python\n{code}```\n".encode())
    ((*_, plain, colour),) = reply["colours"]
    assert plain > len(code) // 4
    assert not colour

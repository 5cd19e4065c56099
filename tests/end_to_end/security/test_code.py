"""Static checks of the source code: data is never executed."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.repository import REPOSITORY

PACKAGE = REPOSITORY / "src" / "dowse"
MODULES = sorted(PACKAGE.rglob("*.py"))

RUNS_TEXT = {"eval", "exec", "compile", "__import__", "execfile", "input"}
RUNS_DATA = {
    "pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "jsonpickle", "joblib", "code", "codeop",
    "runpy",
}  # fmt: skip
RUNS_SHELL = {
    "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "pty.spawn", "commands.getoutput",
}  # fmt: skip
EXPANDS = {"xml.dom.minidom", "xml.sax", "xml.dom.pulldom", "lxml"}
TREE = {"xml.etree.ElementTree", "xml.etree.ElementTree.Element"}
"""An element of a tree, which somebody else has parsed."""
NETWORK = {
    "socket", "ssl", "http", "http.client", "urllib.request", "httpx", "requests", "aiohttp", "ftplib", "smtplib",
    "boto3",
}  # fmt: skip
MAY_USE_NETWORK = {
    "system/https_client.py": "downloads an index from a URL on the command line, and asks for a model or vectors as the user's settings say",
    "system/s3_client.py": "an index or a shared index in a bucket, on the command line or in the user's settings",
    "mcp/http/app.py": "listens where --http says",
    "surfaces/root_detection.py": "url2pathname, which converts paths only",
}


def name_of(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def calls(file: Path) -> Iterator[tuple[str, ast.Call]]:
    """Yield every call with the name of the function, such as `os.system`."""
    for node in nodes(file):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def imports(file: Path) -> Iterator[str]:
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield str(node.module)


def test_no_text_is_run_as_a_program() -> None:
    for file in MODULES:
        for name, node in calls(file):
            assert name not in RUNS_TEXT | RUNS_SHELL, f"{file}:{node.lineno}"
            assert not any(word.arg == "shell" for word in node.keywords), f"{file}:{node.lineno}"
        assert not {name.split(".")[0] for name in imports(file)} & RUNS_DATA, file


def test_yaml_makes_plain_values_and_xml_expands_nothing() -> None:
    for file in MODULES:
        for name, node in calls(file):
            if name.startswith("yaml.") and name != "yaml.YAMLError":
                loaders = [ast.unparse(word.value) for word in node.keywords if word.arg == "Loader"]
                assert name == "yaml.safe_load" or loaders, f"{file}:{node.lineno}"
                assert all("SafeLoader" in loader for loader in loaders), f"{file}:{node.lineno}"
        trees = {name for name in imports(file) if name.startswith("xml.etree")}
        assert trees in (set(), TREE), file
        assert not (set(imports(file)) - trees) & EXPANDS, file


def test_only_a_few_modules_know_the_network() -> None:
    knowing = {name_of(file) for file in MODULES if set(imports(file)) & NETWORK}
    assert knowing == set(MAY_USE_NETWORK)


def test_a_program_is_started_by_its_words_and_never_by_a_line() -> None:
    for file in MODULES:
        for name, node in calls(file):
            if name in {"subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_output"}:
                assert not isinstance(node.args[0], ast.Constant | ast.JoinedStr | ast.BinOp), f"{file}:{node.lineno}"


def test_a_token_is_compared_in_a_time_that_tells_nothing() -> None:
    file = PACKAGE / "mcp" / "http" / "access.py"
    assert "hmac.compare_digest" in [name for name, _ in calls(file)]
    for node in nodes(file):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            [other] = node.comparators
            is_constant = isinstance(other, ast.Constant) or (isinstance(other, ast.Name) and other.id.isupper())
            assert is_constant, f"{file}:{node.lineno}"

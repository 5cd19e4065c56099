"""The examples of docs/api.md run, print what the page says, and are typed."""

import contextlib
import importlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

import dowse
from tests.api.conftest import billing, shop
from tests.repository import REPOSITORY

__all__ = ["billing", "shop"]

EXAMPLES = Path(__file__).with_name("library_examples.py")
HEADER = '"""The examples of docs/api.md, for mypy; `python -m tests.docs.test_library_docs` writes them."""\n\n# ruff: noqa\n# fmt: off\n'
_BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def blocks(*, of_others: bool) -> list[tuple[str, str]]:
    """Return the examples and what they print: those that need packages of others, or all other ones."""
    page = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    found = [(code, printed or "") for code, printed in _BLOCK.findall(page)]
    return [one for one in found if ("langchain" in one[0] or "llama" in one[0]) is of_others]


def examples() -> str:
    return HEADER + "\n".join(code for code, _ in blocks(of_others=False))


@pytest.mark.usefixtures("shop", "billing")
def test_the_examples_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, printed in blocks(of_others=False):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(code, names)
        assert output.getvalue() == printed


def test_the_types_of_the_examples_are_checked() -> None:
    assert EXAMPLES.read_text(encoding="utf-8") == examples(), "write it with: python -m tests.docs.test_library_docs"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", ["langchain_core.retrievers", "llama_index.core.retrievers"])
def test_a_retriever_retrieves(module: str, shop: Path) -> None:
    try:
        importlib.import_module(module)
    except ImportError:
        pytest.skip(f"needs {module.partition('.')[0]}, which is not installed")
    code = next(code for code, _ in blocks(of_others=True) if module.partition(".")[0] in code)
    names: dict[str, Any] = {"dowse": dowse}
    exec(code, names)
    with dowse.open(shop) as index:
        retriever = names["DowseRetriever"](index=index)
        ask = getattr(retriever, "invoke", None) or retriever.retrieve
        assert "def shipping_cost" in str(ask("when is delivery free")[0])


def test_the_page_is_at_most_two_pages_long() -> None:
    page = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    assert len(page.split()) < 1000


if __name__ == "__main__":
    EXAMPLES.write_text(examples(), encoding="utf-8")

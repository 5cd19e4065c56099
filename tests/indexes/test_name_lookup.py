"""Files and definitions are found by parts of their names, the most likely first."""

import re
import time
from pathlib import Path

import pytest

from dowse.indexes.document_search import list_documents
from dowse.indexes.index import ProjectIndex
from dowse.indexes.name_lookup import find_names, match_quality
from dowse.surfaces.project.path_search import find_paths
from dowse.types import View
from tests.sample_data import open_indexed, write_tree

FILES = {
    "src/shipping_cost.py": "class ShippingCost:\n    rate = 1\n\n    def compute(self):\n        return self.rate\n",
    "src/ship.py": "def ship_order():\n    return 'ship%_'\n",
    "docs/shipping.md": "# Shipping\n",
    "tests/test_ship.py": "def test_ship_order():\n    assert True\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", FILES)


def names(index: ProjectIndex, text: str) -> list[tuple[str, str]]:
    return [(one.name, one.path) for one in find_names(index, text, 20)]


def test_the_whole_name_comes_before_its_beginning_and_a_part(root: Path) -> None:
    index = open_indexed(root)
    assert names(index, "ship.py")[0] == ("ship.py", "src/ship.py")
    assert names(index, "shippingcost")[0] == ("ShippingCost", "src/shipping_cost.py")
    found = names(index, "ship_order")
    assert found[:2] == [("ship_order", "src/ship.py"), ("test_ship_order", "tests/test_ship.py")]
    assert names(index, "tests ship") == [("test_ship.py", "tests/test_ship.py")]
    assert ("compute", "src/shipping_cost.py") in names(index, "cmpt")
    for text in ("", "   ", "zzz", "%", "_%", "'", "\\"):
        assert all("%" in text or text.strip("_%") == "" or text in name for name, _ in names(index, text))
    index.close()


def test_files_are_found_before_there_is_an_index(root: Path) -> None:
    index = ProjectIndex(root)
    assert ("shipping_cost.py", "src/shipping_cost.py") in names(index, "cost")
    index.close()


def test_qualities_have_this_order() -> None:
    for better, worse, wanted in (
        ("cost", "costs", "cost"),
        ("cost_of", "low_cost", "cost"),
        ("lowCost", "lowcost", "cost"),
        ("lowcost", "c_o_s_t", "cost"),
        ("c_o_s_t", "tsoc", "cost"),
    ):
        assert match_quality(wanted, better) > match_quality(wanted, worse)


def test_a_name_that_repeats_letters_is_compared_at_once() -> None:
    """A file that is called `referenreferen…` took hours for the letters `reference`."""
    started = time.process_time()
    assert match_quality("reference", "referen" * 36) == 0
    assert match_quality("reference", "referen" * 35 + "_c_e") > 0
    assert time.process_time() - started < 1


def test_a_file_that_was_denied_is_not_named_while_it_is_pending(root: Path) -> None:
    """A change of the rules is applied to twenty files before an answer."""
    index, documents = open_indexed(root), open_indexed(root, View.DOCUMENTS)
    assert [one.path for one in list_documents(documents)] == ["docs/shipping.md"]
    write_tree(root, {".gitignore": "ship*\n"})
    index.has_pending = documents.has_pending = True
    assert names(index, "shippingcost") == []
    assert find_paths(index, [], re.compile(".*"), str)[0] == ["tests/test_ship.py"]
    assert list_documents(documents) == []
    index.close()
    documents.close()

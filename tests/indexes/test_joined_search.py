"""Several projects are searched as one, and the model takes part as in one alone."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dowse.indexes.index import ProjectIndex
from dowse.indexes.joined_search import search_joined
from dowse.indexes.project_search import update_fully
from dowse.indexes.query_vectors import InProcessEncoder
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.settings import Settings
from tests.sample_data import write_tree

if TYPE_CHECKING:
    from dowse.types import Vectors


class PrefersScales(InProcessEncoder):
    """Scores texts about scales highest."""

    def start_scoring(self, version: str, text: str) -> "Callable[[Sequence[str], float], Vectors | None]":
        return lambda texts, _seconds: np.array([90.0 * ("read_scale" in text) for text in texts], np.float32)


def test_the_model_orders_files_of_all_projects(tmp_path: Path) -> None:
    shop = write_tree(tmp_path / "shop", {"counter.py": "def weigh_parcel(parcel):\n    return weigh(parcel)\n"})
    post = write_tree(tmp_path / "post", {"scale.py": "def read_scale(parcel):\n    return parcel.grams\n"})
    with closing(ProjectIndex(shop)) as first, closing(ProjectIndex(post)) as second:
        query, indexes = parse_search_query("how is a parcel weighed"), {"shop": first, "post": second}

        def paths(encoder: InProcessEncoder | None) -> list[str]:
            answer, _ = search_joined(indexes, query, SearchOptions(), update_fully, encoder)
            return [hit.path for hit in answer.hits]

        assert paths(None) == ["shop/counter.py", "post/scale.py"]
        assert paths(PrefersScales(Settings())) == ["post/scale.py", "shop/counter.py"]

"""The vectors that a query is compared with."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np

from dowse.encoding.selection import model_version
from dowse.indexes.encoding_progress import record_encoding_start
from dowse.indexes.index import ProjectIndex
from dowse.indexes.query_vectors import load_vectors
from dowse.settings import Settings


def test_the_vectors_of_the_model_are_loaded_before_it_is_ready(indexed: Path) -> None:
    """The second search of 140,000 chunks took 0.4 s: the first ones had no vector of the model, and loaded nothing."""
    version = model_version(Settings())
    assert version
    with closing(ProjectIndex(indexed)) as index:
        store = index.whole
        chunks = store.catalog.chunks_without_vectors(version, 10)
        store.put_vectors(version, [(chunk, np.ones(384, np.float32)) for chunk in chunks])
        record_encoding_start(store, index.settings)
        load_vectors(index)
        assert version in store._matrices._rows


def test_numpy_is_imported_before_another_thread_opens_the_model(indexed: Path) -> None:
    """Two threads that imported it at once saw half of it, and one search of fifty failed."""
    version = model_version(Settings())
    assert version
    with closing(ProjectIndex(indexed)) as index:
        chunks = index.whole.catalog.chunks_without_vectors(version, 10)
        index.whole.put_vectors(version, [(chunk, np.ones(384, np.float32)) for chunk in chunks])
        record_encoding_start(index.whole, index.settings)
    program = f"""
import sys, threading
from pathlib import Path
from dowse.indexes.index import ProjectIndex
from dowse.indexes.query_vectors import InProcessEncoder
threading.Thread.start = lambda self: print(self.name, "numpy" in sys.modules)
index = ProjectIndex(Path({str(indexed)!r}))
InProcessEncoder(index.settings).open_early(index)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "opens the model True\n"

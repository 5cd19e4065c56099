"""Index a folder with semble as its own command does: build or refresh from its cache, then save."""

import json
import os
import sys


def main(folder: str) -> None:
    """Index and print the counts. Imports stay here because every worker process imports this module."""
    os.environ.setdefault("SEMBLE_INDEX_WORKERS", "4")  # what semble's command sets
    from semble import SembleIndex  # type: ignore[import-not-found]
    from semble.cache import save_index_to_cache  # type: ignore[import-not-found]
    from semble.types import ContentType  # type: ignore[import-not-found]

    index = SembleIndex.from_path(folder, content=list(ContentType))
    save_index_to_cache(index, folder)
    print(json.dumps({"files": index.stats.indexed_files, "chunks": index.stats.total_chunks}))


if __name__ == "__main__":
    main(sys.argv[1])

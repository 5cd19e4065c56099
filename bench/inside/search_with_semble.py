"""Search folders with semble: reads requests as JSON lines, and writes the chunks of each query, best first."""

import json
import sys
from typing import Any


def main() -> None:
    """Answer each request; files that semble has in its cache are not indexed again."""
    from semble import SembleIndex  # type: ignore[import-not-found]
    from semble.cache import save_index_to_cache  # type: ignore[import-not-found]

    for line in sys.stdin:
        request = json.loads(line)
        index = SembleIndex.from_path(request["root"])
        save_index_to_cache(index, request["root"])
        print(json.dumps([_chunks(index, query, request["top_k"]) for query in request["queries"]]), flush=True)


def _chunks(index: Any, query: str, top_k: int) -> list[dict[str, object]]:
    found = index.search(query, top_k=top_k)
    return [
        {"path": one.chunk.file_path, "startLine": one.chunk.start_line, "score": one.score, "text": one.chunk.content}
        for one in found
    ]


if __name__ == "__main__":
    main()

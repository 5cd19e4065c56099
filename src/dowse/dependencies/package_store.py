"""The indexes of several packages, and files that are not indexed yet, searched as one."""

from collections.abc import Callable, Iterable, Mapping

from dowse.searching.direct_index import DirectIndex
from dowse.searching.joined_store import JoinedStore
from dowse.store.local import LocalStore
from dowse.types import Scored


class PackageStore(JoinedStore):
    """Stores of packages by the names that paths begin with, searched by words in English, with weights for paths."""

    def __init__(
        self, stores: Mapping[str, LocalStore], files: DirectIndex | None, weight: Callable[[str], float]
    ) -> None:
        """`files` have the names of their packages in their paths; `weight` is the factor of the scores of a path."""
        super().__init__({**stores, **({"": files} if files else {})})
        self.has_vectors, self._weight = False, weight

    def _best(self, found: list[Scored], limit: int) -> list[Scored]:
        hits = super()._best(found, 2 * limit)
        paths = self.paths_by_id({hit.document_id for hit in hits})
        weighed = [hit._replace(score=hit.score * self._weight(paths.get(hit.document_id, ""))) for hit in hits]
        return super()._best(weighed, limit)

    def main_language(self) -> str:
        """Return no language: packages of several may be searched."""
        return ""

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:  # noqa: ARG002 - packages are in English
        """Return no stems of other languages."""
        return {}

    def cover_documents(self, *_: object) -> list[Scored]:
        """Return no documents: packages are searched by their passages."""
        return []

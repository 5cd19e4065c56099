"""The dependencies of one project as a server has them: a thread that answers."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dowse.indexes.user_settings import reads_dependencies

if TYPE_CHECKING:
    from dowse.indexes.dependencies.package_search import Dependencies

Result = TypeVar("Result")


class ServedPackages:
    """The dependencies of one project. All work on them runs on one thread of their own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="answers for dependencies")
        self._dependencies: Dependencies | None = None

    @property
    def is_enabled(self) -> bool:
        """Whether the user lets dowse read dependencies."""
        return reads_dependencies(self.root)

    async def ask(self, work: "Callable[[Dependencies], Result]") -> Result:
        """Do some work on the thread of the dependencies."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    def _do(self, work: "Callable[[Dependencies], Result]") -> Result:
        if self._dependencies is None:
            from dowse.indexes.dependencies.package_search import Dependencies  # most servers do not need it

            self._dependencies = Dependencies(self.root)
        return work(self._dependencies)

    def close(self) -> None:
        """Close the indexes of all packages, and end the thread."""
        if self._dependencies:
            self._thread.submit(self._dependencies.close)
        self._thread.shutdown(wait=False)

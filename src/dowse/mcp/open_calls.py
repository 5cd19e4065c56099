"""The calls that are being answered, which other work gives way to."""

import asyncio


class OpenCalls:
    """Counts the calls that are being answered: `with` it, a call is one of them."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()

    def __enter__(self) -> None:
        self._count += 1
        self._none.clear()

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        if not self._count:
            self._none.set()

    async def wait_until_none(self) -> None:
        """Wait until no call is being answered."""
        await self._none.wait()

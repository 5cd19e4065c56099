"""Work that gives way to calls."""

import asyncio

from dowse.mcp.protocol import OpenCalls


def test_work_waits_until_no_call_is_open() -> None:
    async def waiting() -> list[bool]:
        calls, seen = OpenCalls(), list[bool]()
        with calls:
            work = asyncio.create_task(calls.wait_until_none())
            with calls:
                pass
            await asyncio.sleep(0)
            seen.append(work.done())
        await work
        return [*seen, work.done()]

    assert asyncio.run(waiting()) == [False, True]

"""Parties for await."""

import asyncio

import pytest

import symbolon as sy

ADDER = sy.builtin("add:16")


def test_runs_for_await(keys, pair, tmp_path) -> None:
    zero, one = pair(keys, (tmp_path / "a", tmp_path / "b"), timeout=20)

    async def work() -> list[int]:
        made = await asyncio.gather(zero.prepare_async(ADDER, 1), one.prepare_async(ADDER, 1))
        assert made[0].items == made[1].items
        results = await asyncio.gather(zero.run_async(ADDER, x=40), one.run_async(ADDER, y=2))
        batches = await asyncio.gather(
            zero.run_batch_async(ADDER, fresh=True, x=[1, 2]),
            one.run_batch_async(ADDER, fresh=True, y=[3, 4]),
        )
        assert list(batches[0].column()) == [4, 6]
        return [result.value for result in results]

    with zero, one:
        assert asyncio.run(work()) == [42, 42]


def test_a_task_that_is_cancelled_ends_the_connection(keys, pair) -> None:
    zero, one = pair(keys, timeout=20)

    async def work() -> list[int]:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(zero.run_async(ADDER, x=1), 0.3)
        # The party can be used again.
        results = await asyncio.gather(zero.run_async(ADDER, x=1), one.run_async(ADDER, y=2))
        return [result.value for result in results]

    with zero, one:
        assert asyncio.run(work()) == [3, 3]


def test_closing_a_party_cancels_what_awaits(keys, pair) -> None:
    zero, _ = pair(keys, timeout=20)

    async def work() -> None:
        task = asyncio.ensure_future(zero.run_async(ADDER, x=1))
        await asyncio.sleep(0.3)
        zero.close()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())

"""Replies on a connection of asyncio, from a server that sends what a test tells it to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import redis.exceptions
from redis.exceptions import ResponseError

import redisson_dq.aio
from redisson_dq._redis.replies import MOST_AHEAD, Replies
from redisson_dq.errors import RedisConnectionError

TWO_REPLIES = b"*2\r\n$6\r\norders\r\n$2\r\n\r\n\r\n-ERR no such thing\r\n"


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Replies, asyncio.StreamWriter]]:
    """The replies of a connection, and the writer of its server."""
    writers: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()
    server = await asyncio.start_server(lambda _, writer: writers.put_nowait(writer), "127.0.0.1", 0)
    _reader, client = await asyncio.open_connection(*server.sockets[0].getsockname())
    serving = await writers.get()
    try:
        yield Replies(client.transport, ResponseError), serving
    finally:
        for writer in (client, serving):
            writer.close()
        # The writer of redis-py's streams still hears of the end of its connection.
        await client.wait_closed()
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("cut", range(len(TWO_REPLIES)))
def test_replies_come_in_any_pieces(cut: int) -> None:
    async def read() -> None:
        async with connected() as (replies, server):
            reading = asyncio.ensure_future(replies.next(30))
            server.write(TWO_REPLIES[:cut])
            await asyncio.sleep(0)
            server.write(TWO_REPLIES[cut:])
            assert await reading == [b"orders", b"\r\n"]
            error = await replies.next(30)
            assert isinstance(error, ResponseError)
            assert "no such thing" in str(error)
            assert replies.are_all_read

    asyncio.run(read())


def test_a_reply_that_is_late_may_still_be_read() -> None:
    async def read() -> None:
        async with connected() as (replies, server):
            with pytest.raises(redis.exceptions.TimeoutError, match=r"no reply within 0\.01 s"):
                await replies.next(0.01)
            server.write(b"+late\r\n")
            assert await replies.next(30) == b"late"

    asyncio.run(read())


def test_a_short_time_limit_after_a_long_one_is_kept_and_the_other_way_round() -> None:
    async def read() -> None:
        async with connected() as (replies, server):
            server.write(b"+first\r\n")
            assert await replies.next(300) == b"first"
            with pytest.raises(redis.exceptions.TimeoutError):
                await replies.next(0.01)
            reading = asyncio.ensure_future(replies.next(300))
            await asyncio.sleep(0.05)
            assert not reading.done()
            server.write(b"+second\r\n")
            assert await reading == b"second"

    asyncio.run(read())


def test_a_reply_that_comes_in_many_pieces_has_to_be_whole_in_time() -> None:
    async def read() -> None:
        async with connected() as (replies, server):
            reading = asyncio.ensure_future(replies.next(0.1))
            server.write(b"+")
            while not reading.done():
                server.write(b"x")
                await asyncio.sleep(0.01)
            with pytest.raises(redis.exceptions.TimeoutError):
                await reading

    asyncio.run(read())


def test_a_cancelled_read_leaves_the_reply() -> None:
    async def read() -> None:
        async with connected() as (replies, server):
            reading = asyncio.ensure_future(replies.next(30))
            await asyncio.sleep(0)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            server.write(b"+still here\r\n")
            assert await replies.next(30) == b"still here"

    asyncio.run(read())


@pytest.mark.parametrize("before", [b"", b"$6\r\nord", b"+whole\r\n"], ids=["nothing", "half a reply", "a reply"])
def test_the_end_of_the_connection_comes_after_the_whole_replies(before: bytes) -> None:
    async def read() -> None:
        async with connected() as (replies, server):
            server.write(before)
            server.close()
            if before.startswith(b"+"):
                assert await replies.next(30) == b"whole"
            with pytest.raises(redis.exceptions.ConnectionError, match="closed by server"):
                await replies.next(30)
            assert replies.is_over
            assert not replies.are_all_read

    asyncio.run(read())


def test_bytes_that_are_no_reply_are_an_error() -> None:
    async def read() -> None:
        async with connected() as (replies, server):
            server.write(b"HTTP/1.1 400 Bad Request\r\n")
            with pytest.raises(redis.exceptions.InvalidResponse):
                await replies.next(30)

    asyncio.run(read())


def test_a_server_that_sends_more_than_is_read_has_to_wait() -> None:
    async def read() -> None:
        async with connected() as (replies, server):
            value = b"x" * 100_000
            count = 20 * MOST_AHEAD // len(value)
            for _ in range(count):
                server.write(b"$%d\r\n%s\r\n" % (len(value), value))
            while not replies.is_paused:
                await asyncio.sleep(0.01)
            assert not replies.are_all_read
            assert [await replies.next(30) for _ in range(count)] == [value] * count
            assert not replies.is_paused

    asyncio.run(read())


def test_a_server_that_had_to_wait_is_heard_again_once_all_is_read() -> None:
    async def read() -> None:
        async with connected() as (replies, server):
            server.write(b"$%d\r\n%s\r\n" % (MOST_AHEAD, b"x" * MOST_AHEAD))
            while not replies.is_paused:
                await asyncio.sleep(0.01)
            assert await replies.next(30) == b"x" * MOST_AHEAD
            assert not replies.is_paused
            server.close()
            with pytest.raises(redis.exceptions.ConnectionError, match="closed by server"):
                await replies.next(30)

    asyncio.run(read())


@pytest.mark.parametrize("stray", [b"+STRAY\r\n", b"$3\r\nst"], ids=["a reply", "half a reply"])
def test_a_connection_that_begins_with_more_than_its_replies_is_not_used(stray: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while sent := await reader.read(65536):
            replies = b"+OK\r\n" * len(re.findall(rb"(?m)^\*", sent))
            writer.write(replies + stray if b"SETNAME" in sent else replies)
        writer.close()

    async def call() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        client = redisson_dq.aio.connect(f"redis://127.0.0.1:{port}?socket_timeout=30")
        with pytest.raises(RedisConnectionError, match="more than it was asked for") as failed:
            await client.open()
        assert not failed.value.maybe_done
        await client.close()
        server.close()
        await server.wait_closed()

    asyncio.run(call())

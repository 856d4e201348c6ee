"""Where a client ends a connection itself, no outage is reported: neither in the log, nor to observers.

Without ``CLIENT ID`` or ``CLIENT UNBLOCK`` a wait ends only with its connection. The waits on many queues share one,
which ends too when a queue is closed whose last reply does not come.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

import redisson_dq.aio
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError
from redisson_dq.observing import Away, Happening
from tests.conftest import PATIENCE, eventually, thinned
from tests.faults.world import World
from tests.flavours import Flavour

LACKS = {"id": ("-client|id",), "right": ("-client|unblock",)}
# More queues than have a connection of their own.
MANY = [f"queue{number}" for number in range(10)]

Begin = Callable[[Callable[[], Any]], Future[Any]]


def url_without(admin: Any, url: str, *rights: str) -> str:
    """The URL of a user who lacks these rights."""
    admin.execute_command("ACL", "SETUSER", "served", "reset", "on", ">pw", "~*", "&*", "+@all", *rights)
    return url.replace("//", "//served:pw@")


def blocked(admin: Any, count: int = 1) -> None:
    eventually(lambda: admin.info("clients")["blocked_clients"] == count)


def has_ended(waiting: Future[Any]) -> None:
    assert isinstance(waiting.exception(PATIENCE), ClosedError)


def the_listener_leaves(client: Any, admin: Any, begin: Begin) -> None:
    queue = client.blocking_queue("orders")
    listener = queue.subscribe_on_elements(print)
    blocked(admin)
    # Its pop goes on, as its reply may be a value that exists nowhere else.
    queue.unsubscribe(listener)


def a_handle_is_closed(client: Any, admin: Any, begin: Begin) -> None:
    queue = client.blocking_queue("orders")
    waiting = begin(queue.receive)
    blocked(admin)
    queue.destroy()
    has_ended(waiting)
    blocked(admin, 0)


def a_handle_is_closed_under_a_pop(client: Any, admin: Any, begin: Begin) -> None:
    queue = client.blocking_queue("orders")
    waiting = begin(queue.take)
    blocked(admin)
    began = time.monotonic()
    queue.destroy()
    has_ended(waiting)
    # Not after the time that a lost reply is given.
    assert time.monotonic() - began < 2.0
    blocked(admin, 0)


def the_client_is_closed(client: Any, admin: Any, begin: Begin) -> None:
    waiting = [begin(client.blocking_queue("orders").take), begin(client.blocking_queue("more").receive)]
    blocked(admin, 2)
    client.close()
    for each in waiting:
        has_ended(each)


ENDS = [the_listener_leaves, a_handle_is_closed, a_handle_is_closed_under_a_pop, the_client_is_closed]


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(len(MANY)) as made:
        yield made


@pytest.mark.parametrize(("end", "lacks"), thinned(ENDS, LACKS, of=2))
def test_the_end_of_a_wait_is_no_outage(
    flavour: Flavour,
    admin: Any,
    url: str,
    threads: ThreadPoolExecutor,
    end: Callable[[Any, Any, Begin], None],
    lacks: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    url = url_without(admin, url, *LACKS[lacks])
    heard: list[Happening] = []
    with flavour.connect(url, codec=StringCodec(), observer=heard.append, probe_interval=600) as client:
        end(client, admin, threads.submit)
    # All background tasks have ended.
    assert not [each for each in heard if isinstance(each, Away)]
    assert "cannot be reached" not in caplog.text


def test_a_loop_that_waits_again_and_again_keeps_its_connection(admin: Any, url: str) -> None:
    async def waits() -> None:
        async with redisson_dq.aio.connect(mine, codec=StringCodec(), observer=heard.append) as client:
            queue = client.blocking_queue("orders", transfer=False)
            for _ in range(5):
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(queue.receive(), 0.03)
                connections.append(admin.info("stats")["total_connections_received"])
            # No caller comes any more.
            await asyncio.to_thread(blocked, admin, 0)
            admin.rpush("orders", "a")
            delivery = await queue.receive(timeout=PATIENCE)
            assert delivery is not None
            assert delivery.value == "a"

    mine = url_without(admin, url, "-client|id")
    heard: list[Happening] = []
    connections: list[int] = []
    asyncio.run(waits())
    assert connections[0] == connections[-1]
    assert not [each for each in heard if isinstance(each, Away)]


@pytest.mark.nightly
def test_the_waits_that_share_a_connection_go_on_when_one_of_them_cuts_it(
    flavour: Flavour, threads: ThreadPoolExecutor
) -> None:
    """A queue is closed, and Redis does not answer in time."""
    heard: list[Happening] = []
    with (
        World() as world,
        flavour.connect(world.gate.url, codec=StringCodec(), observer=heard.append, probe_interval=600) as client,
    ):
        queues = [client.blocking_queue(name, transfer=False) for name in MANY]
        waiting = [threads.submit(each.take) for each in queues]
        eventually(lambda: int(world.admin.info("stats")["tracking_total_keys"]) == 2)
        trap = world.gate.trap("LPOP", "command", "freeze", times=1)
        world.admin.rpush(MANY[-1], "late")
        assert trap.wait()
        queues[-1].destroy()
        has_ended(waiting[-1])
        trap.thawed.set()
        for name in MANY[:-1]:
            world.admin.rpush(name, name)
        assert [each.result(PATIENCE) for each in waiting[:-1]] == MANY[:-1]
    assert not [each for each in heard if isinstance(each, Away)]

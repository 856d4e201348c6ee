"""Behind a proxy that closes a connection at each command that it does not know, nobody can wait: an error says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedisReplyError
from tests.conftest import eventually
from tests.faults.world import World
from tests.flavours import Flavour
from tests.integration.looking.test_doctor_behind_proxies import UNKNOWN
from tests.workers.handlers import running

_WAITS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "take": ("BLPOP", lambda client: client.blocking_queue("orders").take()),
    "poll": ("BLPOP", lambda client: client.blocking_queue("orders").poll(timeout=30)),
    "receive": ("BLMOVE", lambda client: client.blocking_queue("orders").receive()),
    "partitions": ("BLPOP", lambda client: client.blocking_queue("orders", partitions=12).take()),
}


def _behind(world: World) -> str:
    for command in UNKNOWN:
        world.gate.trap(command, "command", "cut", times=1_000_000)
    return world.gate.url


@pytest.mark.parametrize("wait", _WAITS)
def test_a_wait_names_the_command_and_what_to_do(flavour: Flavour, wait: str) -> None:
    command, call = _WAITS[wait]
    with World() as world, flavour.connect(_behind(world), codec=StringCodec()) as client:
        with pytest.raises(RedisReplyError, match=rf"closed at {command}: the server is a proxy .* name the Redis"):
            call(client)
        client.delayed_queue("orders").offer("a", delay=60)
        assert client.delayed_queue("orders").size() == 1


def test_a_worker_tells_it_as_a_problem(flavour: Flavour) -> None:
    with World() as world, flavour.connect(_behind(world), codec=StringCodec()) as client:
        worker = flavour.worker(client)
        worker.handler("orders")(print)
        with running(worker):
            said = eventually(lambda: [str(each.error) for each in client.problems if "BLMOVE" in str(each.error)])
            assert "name the Redis behind it" in said[0]


def test_a_proxy_that_is_only_restarted_is_waited_for(flavour: Flavour) -> None:
    with World() as world:
        world.gate.trap("CLIENT", "command", "cut", times=1_000_000)
        with flavour.connect(world.gate.url, codec=StringCodec()) as client:
            trap = world.gate.trap("BLPOP", "command", "cut", times=1)
            queue = client.blocking_queue("orders")
            assert queue.poll(timeout=0.5) is None
            assert trap.count == 1

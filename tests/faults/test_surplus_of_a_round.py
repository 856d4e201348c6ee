"""Values were popped for a caller that is gone, and Redis refuses to take them back. The next caller gets them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq import partition_names
from redisson_dq.codecs import StringCodec
from tests.conftest import PATIENCE, eventually
from tests.faults.world import World
from tests.flavours import Flavour


@pytest.mark.parametrize("partitions", [None, 2])
def test_the_next_caller_gets_a_value_that_cannot_go_back(flavour: Flavour, partitions: int | None) -> None:
    options: dict[str, Any] = {} if partitions is None else {"partitions": partitions}
    key = "orders" if partitions is None else partition_names("orders", partitions)[1]
    with World() as world, flavour.connect(world.gate.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False, **options)
        # The value arrives while the pop is blocked, and its reply when nobody waits any more.
        trap = world.gate.trap("BLPOP", "reply", "freeze")
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(queue.poll, timeout=2)
            eventually(lambda: world.admin.info("clients")["blocked_clients"] == (partitions or 1))
            world.admin.rpush(key, "v1")
            assert waiting.result(PATIENCE) is None
        assert trap.sprung.wait(PATIENCE)
        assert not world.admin.exists(key)
        # One that is still blocked would be refused, and would end the connection with the reply.
        eventually(lambda: world.admin.info("clients")["blocked_clients"] == 0)
        world.admin.execute_command("REPLICAOF", "127.0.0.1", "1")
        refused = world.gate.trap("put_back.lua", "reply", "delay", times=2, seconds=0)
        world.gate.thaw()
        assert refused.sprung.wait(PATIENCE)
        # Redis refuses every write, the put-back and another pop.
        assert queue.poll(timeout=PATIENCE) == "v1"
        world.admin.execute_command("REPLICAOF", "NO", "ONE")
        world.admin.rpush(key, "v2")
        assert queue.take() == "v2"
        # No pop stays blocked without a caller.
        eventually(lambda: world.admin.info("clients")["blocked_clients"] == 0)
        assert not world.admin.exists(key)


def test_the_pops_of_other_partitions_end_when_such_a_value_was_given(flavour: Flavour) -> None:
    key = partition_names("orders", 2)[1]
    with World() as world, flavour.connect(world.gate.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False, partitions=2)
        trap = world.gate.trap("BLPOP", "reply", "freeze")
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(queue.poll, timeout=2)
            eventually(lambda: world.admin.info("clients")["blocked_clients"] == 2)
            world.admin.rpush(key, "v1")
            assert waiting.result(PATIENCE) is None
        assert trap.sprung.wait(PATIENCE)
        world.admin.set(key, "no list")
        refused = world.gate.trap("put_back.lua", "reply", "delay", times=2, seconds=0)
        world.gate.thaw()
        assert refused.sprung.wait(PATIENCE)
        assert queue.poll(timeout=PATIENCE) == "v1"
        eventually(lambda: world.admin.info("clients")["blocked_clients"] == 0)


def test_what_stands_behind_such_a_value_comes_after_it(flavour: Flavour) -> None:
    """A look took the value, and its reply came late. While the value goes back, no other look passes it."""
    key = partition_names("orders", 2)[0]
    with World() as world, flavour.connect(world.gate.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False, partitions=2)
        world.admin.rpush(key, "v1", "v2")
        late = world.gate.trap("LPOP", "reply", "freeze")
        back = world.gate.trap("put_back.lua", "command", "freeze")
        assert queue.poll(timeout=0.05) is None
        assert late.sprung.wait(PATIENCE)
        late.thawed.set()
        assert back.sprung.wait(PATIENCE)
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(queue.poll, 2, timeout=PATIENCE)
            eventually(lambda: waiting.done() or world.admin.info("clients")["blocked_clients"] == 1)
            back.thawed.set()
            assert waiting.result(PATIENCE) == ["v1", "v2"]

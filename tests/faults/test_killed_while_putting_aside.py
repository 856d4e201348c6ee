"""A connection breaks while a value that cannot be decoded is set aside. No other value is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import pytest

from redisson_dq import partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import DecodeError, RedisConnectionError
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.faults.gate import Where
from tests.faults.world import World
from tests.flavours import AsyncioFlavour, Flavour

_GOOD = [f"item:aside:{i}" for i in range(6)]
_BAD = b"\xff not UTF-8"


@pytest.mark.parametrize("undecodable", ["raise", "skip"])
@pytest.mark.parametrize("where", ["command", "sent", "reply", "half"])
@pytest.mark.parametrize("call", ["poll", "poll(timeout=)", "short poll(timeout=)", "take", "drain_to", "delayed.poll"])
def test_the_good_values_are_given(flavour: Flavour, call: str, where: Where, undecodable: str) -> None:
    with World() as world:
        client = flavour.connect(world.gate.url, codec=StringCodec(), undecodable=undecodable)
        with client:
            queue, delayed = (
                client.blocking_queue("orders", transfer=False),
                client.delayed_queue("orders", transfer=False),
            )
            if call == "delayed.poll":
                delayed.offer_all([("placeholder", 60)])
                delayed.clear()
                raw = flavour.connect(world.gate.url, codec=_Raw())
                raw.delayed_queue("orders", transfer=False).offer_all(
                    [(value, 60) for value in (_GOOD[0].encode(), _BAD, *(value.encode() for value in _GOOD[1:]))]
                )
                raw.close()
            else:
                world.admin.rpush("orders", _GOOD[0], _BAD, *_GOOD[1:])
            trap = world.gate.trap("RPUSH", where, "cut")
            calls: dict[str, Callable[[], Any]] = {
                "poll": lambda: queue.poll(limit=10),
                "poll(timeout=)": lambda: queue.poll(10, timeout=5),
                "short poll(timeout=)": lambda: queue.poll(10, timeout=0.2),
                "take": lambda: [queue.take()],
                "drain_to": lambda: queue.drain_to(),
                "delayed.poll": lambda: delayed.poll(10),
            }
            given: list[Any] = []
            for _ in range(12):
                try:
                    given += calls[call]()
                except DecodeError as error:
                    given += error.decoded
                except RedisConnectionError:
                    pass
                if len(given) >= len(_GOOD):
                    break
            assert trap.sprung.wait(PATIENCE)
        assert sorted(given + [value.decode() for value in world.admin.lrange("orders", 0, -1)]) == _GOOD


@pytest.mark.parametrize("partitions", [None, 2])
@pytest.mark.parametrize("timeout", [5.0, 0.2])
def test_a_wait_that_is_cancelled_leaves_the_good_values(timeout: float, partitions: int | None) -> None:
    flavour = AsyncioFlavour()
    options = {} if partitions is None else {"partitions": partitions}
    name = "orders" if partitions is None else partition_names("orders", partitions)[0]
    try:
        with World() as world, world.connect(flavour) as client:
            queue = client.blocking_queue("orders", transfer=False, **options)
            world.admin.rpush(name, _GOOD[0], _BAD, *_GOOD[1:])
            trap = world.gate.trap("RPUSH", "reply", "freeze")
            waiting = flavour.submit(queue.inner.poll, 10, timeout=timeout)
            assert trap.sprung.wait(PATIENCE)
            waiting.cancel()
            with pytest.raises(CancelledError):
                waiting.result()
            world.gate.clear()
            undecodable = QueueKeys.of(name).undecodable
            eventually(lambda: world.admin.llen(name) + world.admin.llen(undecodable) == len(_GOOD) + 1)
            assert sorted(value.decode() for value in world.admin.lrange(name, 0, -1)) == _GOOD
            assert world.admin.lrange(undecodable, 0, -1) == [_BAD]
    finally:
        flavour.close()


class _Raw(StringCodec):
    """Bytes as they are."""

    def encode(self, value: Any) -> bytes:
        return bytes(value)

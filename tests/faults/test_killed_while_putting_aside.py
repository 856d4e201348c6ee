"""A connection breaks while a value that cannot be decoded is set aside. It is kept once, and no other is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq import partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import DecodeError, RedisConnectionError
from redisson_dq.scripts.script import load
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually, thinned
from tests.faults.gate import Where
from tests.faults.world import World
from tests.flavours import AsyncioFlavour, Flavour

_GOOD = [f"item:aside:{i}" for i in range(6)]
_BAD = b"\xff not UTF-8"


@pytest.mark.parametrize(
    ("call", "where", "undecodable"),
    thinned(
        ["poll", "poll(timeout=)", "short poll(timeout=)", "take", "drain_to", "delayed.poll"],
        ["command", "sent", "reply", "half"],
        ["raise", "skip"],
        of=2,
    ),
)
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
            # Else the first try is refused, and does nothing.
            world.admin.script_load(load("put_back").source)
            trap = world.gate.trap("put_back.lua", where, "cut")
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
            world.admin.script_load(load("put_back").source)
            trap = world.gate.trap("put_back.lua", "reply", "freeze")
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


@pytest.mark.parametrize("second", [_BAD, b"\xff something else"])
@pytest.mark.parametrize("where", ["command", "reply"])
def test_two_takers_keep_each_value_once(flavour: Flavour, where: Where, second: bytes) -> None:
    """The second taker sets its value aside between two tries of the first."""
    undecodable = QueueKeys.of("orders").undecodable
    with World() as world, ThreadPoolExecutor() as threads:
        world.admin.script_load(load("put_back").source)
        world.admin.rpush("orders", _BAD)
        with world.connect(flavour) as one, flavour.connect(world.server.url, codec=StringCodec()) as other:
            trap = world.gate.trap("put_back.lua", where, "freeze")
            first = threads.submit(one.blocking_queue("orders", transfer=False).poll)
            assert trap.sprung.wait(PATIENCE)
            world.admin.rpush("orders", second)
            with pytest.raises(DecodeError):
                other.blocking_queue("orders", transfer=False).poll()
            world.gate.cut()
            error = first.exception(PATIENCE)
            assert isinstance(error, DecodeError)
            assert error.kept_in == undecodable
            assert sorted(world.admin.lrange(undecodable, 0, -1)) == sorted([_BAD, second])
            world.admin.rpush("orders", _BAD)
            with pytest.raises(DecodeError):
                one.blocking_queue("orders", transfer=False).poll()
        assert sorted(world.admin.lrange(undecodable, 0, -1)) == sorted([_BAD, second, _BAD])
        # Each client's next call drops the note of its last one.
        assert world.admin.zcard(QueueKeys.of(undecodable).returned) == 2


@pytest.mark.parametrize("rights", [("-zadd",), ("resetkeys", "~orders", "~redisson_dq_undecodable:{orders}")])
@pytest.mark.parametrize("lost", [False, True])
def test_without_the_right_to_the_script_the_value_is_kept(
    flavour: Flavour, rights: tuple[str, ...], lost: bool
) -> None:
    undecodable = QueueKeys.of("orders").undecodable
    with World() as world:
        world.admin.execute_command("ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all", *rights)
        world.admin.rpush("orders", _BAD)
        url = world.gate.url.replace("//", "//limited:secret@")
        with flavour.connect(url, codec=StringCodec()) as client:
            if lost:
                world.gate.trap("RPUSH", "reply", "cut")
            with pytest.raises(DecodeError) as failed:
                client.blocking_queue("orders", transfer=False).poll()
            assert failed.value.kept_in == undecodable
        # A plain command that is sent again may be carried out twice.
        assert world.admin.lrange(undecodable, 0, -1) == [_BAD] * (1 + lost)


class _Raw(StringCodec):
    """Bytes as they are."""

    def encode(self, value: Any) -> bytes:
        return bytes(value)

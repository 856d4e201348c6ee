"""An action on items loses its reply, and is sent again. It reports what it did."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.mending import MendCounts, MendedQueue, mend_aside, mend_waiting, select_aside, select_waiting
from redisson_dq.mending.releasing import ack, release, select_held
from tests.faults.world import World


def released(mended: MendedQueue) -> MendCounts:
    with select_held(mended) as chosen:
        return release(chosen)


def acked(mended: MendedQueue) -> MendCounts:
    with select_held(mended) as chosen:
        return ack(chosen)


def cancelled(mended: MendedQueue) -> MendCounts:
    with select_waiting(mended) as chosen:
        return mend_waiting(chosen, "cancel", 0)


def purged(mended: MendedQueue) -> MendCounts:
    with select_aside(mended, "dead") as chosen:
        return mend_aside(chosen, "purge")


@pytest.mark.parametrize(
    ("script", "act"),
    [("give_back.lua", released), ("mend_ack.lua", acked), ("mend.lua", cancelled), ("mend_aside.lua", purged)],
    ids=["release", "ack", "cancel", "purge"],
)
def test_what_was_done_is_counted(script: str, act: Callable[[MendedQueue], MendCounts]) -> None:
    with World() as world, redisson_dq.connect(world.gate.url, codec=StringCodec()) as client:
        queue, delayed = client.blocking_queue("orders", transfer=False), client.delayed_queue("orders", transfer=False)
        queue.add_all(["a", "b", "c", "d", "e", "f"])
        held = queue.receive(3, timeout=0)
        queue.reject_all(queue.receive(3, timeout=0))
        delayed.offer_all([("g", 3600), ("h", 3600), ("i", 3600)])
        trap = world.gate.trap(script, "reply", "cut")
        counts = act(MendedQueue(client, "orders"))
        assert trap.sprung.is_set()
        assert (counts.wanted, counts.done, dict(counts.left)) == (3, 3, {})
        if act is acked:
            assert (queue.read_all(), client.stats("orders")["orders"].in_flight) == ([], 0)
            assert not any(queue.ack_all(held))
        if act is released:
            assert queue.read_all() == ["a", "b", "c"]
            assert not any(queue.ack_all(held))
            # Each crash is counted once.
            assert [each.crashes for each in queue.receive(3, timeout=0)] == [1, 1, 1]


def test_a_lease_that_has_ended_before_is_left() -> None:
    with World() as world, redisson_dq.connect(world.gate.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add_all(["a", "b", "c"])
        held = queue.receive(3, timeout=0)
        with select_held(MendedQueue(client, "orders")) as chosen:
            assert held[1].ack()
            trap = world.gate.trap("give_back.lua", "reply", "cut")
            counts = release(chosen)
        assert trap.sprung.is_set()
        assert (counts.done, dict(counts.left)) == (2, {"gone": 1})
        assert queue.read_all() == ["a", "c"]


def test_whoever_waits_for_an_action_hears_that_redis_is_away_and_back() -> None:
    with World() as world, redisson_dq.connect(world.gate.url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer("a", 3600)
        told: list[str] = []
        mended = MendedQueue(client, "orders", away=told.append)
        with select_waiting(mended) as chosen:
            world.gate.trap("mend.lua", "reply", "cut")
            assert mend_waiting(chosen, "cancel", 0).done == 1
        assert len(told) == 2
        assert "mend" in told[0]
        assert told[1] == ""

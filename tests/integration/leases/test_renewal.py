"""Leases that are renewed while their values are worked on."""

from __future__ import annotations

import _thread
import asyncio
import gc
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.faults.gate import Gate
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts

#: The length of a lease that a test has to keep. It is renewed after a third of that. A busy machine stands still at
#: times.
SPAN = 2.0


def test_a_lease_is_renewed_until_it_is_ended(admin: Any, queue: Any) -> None:
    queue.add_all(["a", "b"])
    renewed = queue.receive(visibility_timeout=SPAN, renew=True)
    first = renewed.deadline
    plain = queue.receive(visibility_timeout=0.3)
    again = queue.receive(timeout=PATIENCE)
    assert (again.value, again.crashes) == ("b", 1)
    # The end of the lease by this client's clock, which may be a moment behind the server's.
    eventually(lambda: plain.lost)
    # Renewed more than once: beyond the first deadline.
    eventually(lambda: datetime.now(timezone.utc) > first)
    assert not renewed.lost
    assert renewed.deadline > first
    assert whereabouts(admin).ready == Counter()
    assert renewed.ack() is SettleOutcome.ACKED
    assert again.ack() is SettleOutcome.ACKED
    assert not admin.exists(KEYS.leases)


@pytest.mark.parametrize("how", ["extend", "extend_all", "pipeline"])
def test_a_lease_that_was_made_shorter_is_renewed_in_time(client: Any, queue: Any, how: str) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=60, renew=True)
    if how == "extend":
        assert delivery.extend(2)
    elif how == "extend_all":
        assert queue.extend_all([delivery], 2) == [SettleOutcome.EXTENDED]
    else:
        with client.pipeline() as pipe:
            pipe.add(delivery.requests.extend(2))
    eventually(lambda: delivery.remaining.total_seconds() > 2.5)
    assert delivery.ack() is SettleOutcome.ACKED


def test_many_leases_are_renewed_with_few_calls(admin: Any, queue: Any) -> None:
    queue.add_all([f"v{i}" for i in range(200)])
    batch = queue.receive(200, timeout=0, visibility_timeout=SPAN, renew=True)
    first = batch[0].deadline
    admin.config_resetstat()
    eventually(lambda: batch[0].deadline > first and batch[199].deadline > first)
    assert admin.info("commandstats")["cmdstat_evalsha"]["calls"] <= 5
    assert queue.ack_all(batch) == [SettleOutcome.ACKED] * 200


def test_a_delivery_that_nobody_has_any_more_is_renewed_no_more(queue: Any) -> None:
    queue.add("a")
    queue.receive(visibility_timeout=0.2, renew=True)
    gc.collect()
    assert queue.receive(timeout=PATIENCE).crashes == 1


def test_a_lost_lease_is_told_of_before_its_deadline(server: EmbeddedServer, flavour: Flavour) -> None:
    told: list[Any] = []
    with Gate(lambda: server.port or 0) as proxy:
        client = flavour.connect(proxy.url, codec=StringCodec())
        queue = client.blocking_queue("orders", transfer=False)
        queue.add("a")
        delivery = queue.receive(
            visibility_timeout=3,
            renew=True,
            on_lost=lambda lost: told.append((lost.id, lost.remaining.total_seconds())),
        )
        proxy.__exit__(None, None, None)
        eventually(lambda: told)
        ((id, left),) = told
        assert id == delivery.id
        assert left > 0
        assert delivery.lost
        assert delivery.outcome is None
        client.close()


@ONE_FLAVOUR_BY_DAY
def test_a_lost_lease_is_told_of_before_its_deadline_while_the_server_stands_still(
    own_server: EmbeddedServer, flavour: Flavour
) -> None:
    """The call that renews it hangs for longer than the lease."""
    told: list[Any] = []
    with flavour.connect(own_server.url, codec=StringCodec()) as client, redis.Redis.from_url(own_server.url) as admin:
        queues = [client.blocking_queue(name, transfer=False) for name in ("orders", "others")]
        held = []
        for queue in queues:
            queue.add("a")
            on_lost = lambda lost: told.append((lost.id, lost.remaining.total_seconds()))  # noqa: E731
            held.append(queue.receive(visibility_timeout=3, renew=True, on_lost=on_lost))
        pid = admin.info("server")["process_id"]
        os.kill(pid, signal.SIGSTOP)
        try:
            eventually(lambda: len(told) == 2)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert {id for id, _ in told} == {each.id for each in held}
        assert all(left > 0 for _, left in told)
        assert all(each.lost for each in held)


def test_an_ack_that_is_not_sent_ends_no_renewal(client: Any, queue: Any) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=SPAN, renew=True)
    first = delivery.deadline
    pipe = client.pipeline(transaction=True)
    acked = pipe.add(delivery.requests.ack())
    eventually(lambda: delivery.deadline > first)
    pipe.execute()
    assert acked.result is SettleOutcome.ACKED


def test_somebody_elses_end_of_a_lease_is_told_of(admin: Any, queue: Any) -> None:
    told: list[str] = []
    queue.add("a")
    delivery = queue.receive(visibility_timeout=0.5, renew=True, on_lost=lambda lost: told.append(lost.id))
    admin.delete(KEYS.leases)
    eventually(lambda: told == [delivery.id])
    assert delivery.outcome is SettleOutcome.LOST
    assert delivery.lost


def held_by(flavour: Flavour, gate: threading.Event) -> Callable[[], object]:
    """Stands still until the gate is open, as it is usual in this flavour."""
    if not isinstance(flavour, AsyncioFlavour):
        return gate.wait

    async def wait() -> None:
        while not gate.is_set():
            await asyncio.sleep(0.01)

    return wait


@ONE_FLAVOUR_BY_DAY
def test_a_callback_that_blocks_holds_up_no_renewal(admin: Any, flavour: Flavour, queue: Any) -> None:
    told: list[str] = []
    gate = threading.Event()
    wait = held_by(flavour, gate)

    def on_lost(lost: Any) -> object:
        told.append(lost.value)
        return wait()

    queue.add_all(["a", "b", "c"])
    lost, also_lost, kept = queue.receive(3, timeout=0, visibility_timeout=SPAN, renew=True, on_lost=on_lost)
    try:
        admin.zrem(KEYS.leases, bytes.fromhex(lost.id))
        eventually(lambda: told == ["a"])
        admin.zrem(KEYS.leases, bytes.fromhex(also_lost.id))
        eventually(lambda: also_lost.lost)
        first = kept.deadline
        # Twice, as one call may be under way.
        eventually(lambda: kept.deadline > first + timedelta(seconds=SPAN / 2))
        assert kept.ack() is SettleOutcome.ACKED
    finally:
        gate.set()
    eventually(lambda: told == ["a", "b"])


def test_close_waits_for_the_callbacks_of_what_is_lost(admin: Any, flavour: Flavour, url: str) -> None:
    told: list[str] = []
    pause: Any = asyncio.sleep if isinstance(flavour, AsyncioFlavour) else time.sleep

    def on_lost(lost: Any) -> object:
        told.append(lost.value)
        # The second one has not begun when the client is closed.
        return pause(0.1)

    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add_all(["a", "b"])
        held = queue.receive(2, timeout=0, visibility_timeout=0.5, renew=True, on_lost=on_lost)
        admin.zrem(KEYS.leases, *(bytes.fromhex(each.id) for each in held))
        eventually(lambda: all(each.lost for each in held))
    assert sorted(told) == ["a", "b"]


def test_a_callback_that_ends_its_thread_ends_no_renewal(server: EmbeddedServer, admin: Any) -> None:
    told: list[str] = []

    def on_lost(lost: Any) -> None:
        told.append(lost.value)
        raise SystemExit

    with redisson_dq.connect(server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add_all(["a", "b", "c"])
        *lost, kept = queue.receive(3, timeout=0, visibility_timeout=SPAN, renew=True, on_lost=on_lost)
        admin.zrem(KEYS.leases, *(bytes.fromhex(each.id) for each in lost))
        eventually(lambda: sorted(told) == ["a", "b"])
        first = kept.deadline
        eventually(lambda: kept.deadline > first)
        assert kept.ack() is SettleOutcome.ACKED


def test_a_callback_may_close_the_client(server: EmbeddedServer, admin: Any) -> None:
    told: list[str] = []
    client = redisson_dq.connect(server.url, codec=StringCodec())

    def on_lost(lost: Any) -> None:
        client.close()
        told.append(lost.value)

    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a")
    delivery = queue.receive(visibility_timeout=0.5, renew=True, on_lost=on_lost)
    admin.zrem(KEYS.leases, bytes.fromhex(delivery.id))
    eventually(lambda: told == ["a"])


def test_an_ack_is_never_taken_for_a_lost_lease(queue: Any) -> None:
    told: list[Any] = []
    queue.add_all([f"v{i}" for i in range(100)])
    for _ in range(100):
        delivery = queue.receive(visibility_timeout=0.2, renew=True, on_lost=told.append)
        # As long as it takes until the first renewal.
        time.sleep(0.06)
        outcome = delivery.ack()
        assert delivery.outcome is outcome
    assert [each for each in told if each.outcome is SettleOutcome.ACKED] == []


def test_leases_that_are_lost_are_told_though_a_thread_could_not_begin_at_first(
    admin: Any, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread for the callbacks was noted before it had begun, so no later lease had one."""
    begin, failures = _thread.start_new_thread, iter([False, False, True])

    def begun(function: Any, *arguments: Any) -> int:
        name = getattr(getattr(function, "__self__", None), "name", "")
        if name in ("redisson_dq-renewal", "redisson_dq-watch", "redisson_dq-lost") and next(failures, False):
            raise RuntimeError("can't start new thread")
        return begin(function, *arguments)

    monkeypatch.setattr(_thread, "start_new_thread", begun)
    lost = threading.Event()
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        terms: dict[str, Any] = {"renew": True, "on_lost": lambda delivery: lost.set(), "visibility_timeout": 1}
        queue.add("a")
        with pytest.raises(RuntimeError, match="cannot start a thread"):
            queue.receive(timeout=PATIENCE, **terms)
        delivery = queue.receive(timeout=PATIENCE, **terms)
        admin.flushall()
        assert lost.wait(PATIENCE)
        assert delivery.lost

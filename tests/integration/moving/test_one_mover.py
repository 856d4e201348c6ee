"""Several clients on one queue: one moves, the others step in when it does not."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import WrongTypeError
from redisson_dq.scripts.script import load
from redisson_dq.wire import calls
from redisson_dq.wire.envelope import Envelope, wrap
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, environment, eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.interop.sides import NO_PROBE


def transfers(admin: redis.Redis) -> int:
    stats: Any = admin.info("commandstats")
    return sum(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("evalsha", "eval"))


def mover(admin: redis.Redis) -> str | None:
    state: Any = admin.get(KEYS.mover)
    return None if state is None else state.decode().split()[0]


def subscribers(admin: redis.Redis) -> int:
    """Valkey 9.1's PUBSUB NUMSUB cannot count beyond one."""
    clients: Any = admin.client_list()
    return sum(client["sub"] != "0" for client in clients)


@contextmanager
def processes(url: str, count: int) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Processes that only move, by the names they have in Redis."""
    command = [sys.executable, "-m", "tests.integration.mover_process", url, "orders"]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment()) for _ in range(count)]
    try:
        named = {}
        for process in started:
            assert process.stdout is not None
            named[process.stdout.readline().strip()] = process
        yield named
    finally:
        for process in started:
            process.kill()
            process.communicate()


def test_more_clients_do_not_send_more(flavour: Flavour, url: str, admin: redis.Redis) -> None:
    clients, items = 8, 60
    with ExitStack() as stack:
        opened = [stack.enter_context(flavour.connect(url, codec=StringCodec())) for _ in range(clients)]
        queues = [moving(client.blocking_queue("orders")) for client in opened]
        eventually(lambda: subscribers(admin) == clients)
        producer = opened[0].delayed_queue("orders", transfer=False)
        # One round, so that they know the mover.
        producer.offer("first", 0)
        assert queues[0].take() == "first"
        admin.config_resetstat()
        producer.offer_all((f"item {number}", 0.1 + number * 0.02) for number in range(items))
        taken = [queues[number % clients].take() for number in range(items)]
    assert taken == [f"item {number}" for number in range(items)]
    assert items <= transfers(admin) < 3 * items, "of one, not of eight"
    assert admin.keys("*") == [], "the mover hands over when it is closed"


def test_the_death_of_any_mover_is_survived(url: str, admin: redis.Redis) -> None:
    with processes(url, 5) as alive:
        eventually(lambda: subscribers(admin) == 5)
        with Flavour().connect(url, codec=StringCodec()) as client:
            delayed = client.delayed_queue("orders", transfer=False)
            while alive:
                # The process that is about to move it is killed before it is due.
                delayed.offer(f"{len(alive)}", 0.5)
                victim = mover(admin) if len(alive) > 1 else None
                if victim is not None:
                    alive[victim].kill()
                    alive.pop(victim).wait()
                popped: Any = admin.blpop([KEYS.ready], timeout=PATIENCE)
                assert popped is not None
                if victim is None:
                    break
                if len(alive) > 1:
                    assert mover(admin) in alive
    assert admin.zcard(KEYS.timeout) == admin.llen(KEYS.envelopes) == 0


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_movers_that_die_one_after_the_other_get_on_with_a_long_list_of_javas(url: str, admin: redis.Redis) -> None:
    """What a pass learned dies with the client that made it. What was moved stays moved."""
    count, past, chance = 300_000, 1_000_000, random.Random(1)
    entries: list[bytes] = []
    for first in range(0, count, 5000):
        due = {wrap(Envelope.CURRENT, chance.randbytes(8), b"%d" % n): past + n for n in range(first, first + 5000)}
        admin.zadd(KEYS.timeout, due)
        entries += due
    listed = chance.sample(entries, count)
    for first in range(0, count, 5000):
        admin.rpush(KEYS.envelopes, *listed[first : first + 5000])
    deaths = 0
    with ExitStack() as stack:
        alive = stack.enter_context(processes(url, 2))
        # A note that nobody wrote anew may name one that is gone.
        while admin.zcard(KEYS.timeout):
            victim = mover(admin)
            if victim in alive:
                alive.pop(victim).kill()
                deaths += 1
                alive |= stack.enter_context(processes(url, 1))
            time.sleep(0.5)
    assert deaths
    assert admin.lrange(KEYS.ready, 0, -1) == [b"%d" % number for number in range(count)]
    assert admin.llen(KEYS.envelopes) == 0


def test_a_mover_that_stands_still_is_replaced_and_comes_back_as_one_of_the_others(
    url: str, admin: redis.Redis
) -> None:
    with processes(url, 3) as alive:
        eventually(lambda: subscribers(admin) == 3)
        with Flavour().connect(url, codec=StringCodec()) as client:
            delayed = client.delayed_queue("orders", transfer=False)
            delayed.offer("a", 0.5)
            # The client that hears of it first.
            eventually(lambda: mover(admin) is not None)
            before = mover(admin)
            assert before is not None
            alive[before].send_signal(signal.SIGSTOP)
            assert admin.blpop([KEYS.ready], timeout=PATIENCE) is not None
            after = mover(admin)
            assert after not in (None, before)
            alive[before].send_signal(signal.SIGCONT)
            for number in range(5):
                delayed.offer(f"{number}", 0.05)
                assert admin.blpop([KEYS.ready], timeout=PATIENCE) is not None
                assert mover(admin) in alive
    assert admin.zcard(KEYS.timeout) == 0


def test_one_client_alone_keeps_no_mover(flavour: Flavour, url: str, admin: redis.Redis) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        queue, delayed = moving(client.blocking_queue("orders")), moving(client.delayed_queue("orders"))
        delayed.offer("a", 0.05)
        assert queue.take() == "a"
        assert admin.keys("*") == []


def test_the_mover_of_an_idle_queue_is_forgotten_and_delivery_goes_on(
    flavour: Flavour, url: str, admin: redis.Redis
) -> None:
    with flavour.connect(url, codec=StringCodec()) as first, flavour.connect(url, codec=StringCodec()) as second:
        queues = [moving(client.blocking_queue("orders")) for client in (first, second)]
        eventually(lambda: subscribers(admin) == 2 and mover(admin))
        assert 0 < admin.pttl(KEYS.mover) <= 60_000
        admin.delete(KEYS.mover)
        first.delayed_queue("orders").offer("a", 0.1)
        assert queues[0].take() == "a"
        assert mover(admin) is not None


def test_nothing_waits_is_told_to_the_others_too(flavour: Flavour, url: str, admin: redis.Redis) -> None:
    """Or each of them would look once for every last item."""
    with ExitStack() as stack:
        opened = [stack.enter_context(flavour.connect(url, codec=StringCodec())) for _ in range(5)]
        queue, *_ = [moving(client.blocking_queue("orders")) for client in opened]
        eventually(lambda: subscribers(admin) == 5)
        delayed = opened[0].delayed_queue("orders", transfer=False)
        delayed.offer("first", 0)
        assert queue.take() == "first"
        admin.config_resetstat()
        for number in range(10):
            delayed.offer(f"{number}", 0.05)
            assert queue.take() == f"{number}"
        # The offers are script calls as well.
        assert transfers(admin) - 10 <= 30


def test_a_key_of_another_type_stops_the_transfer_before_it_moves(url: str, admin: redis.Redis) -> None:
    admin.rpush(KEYS.mover, "somebody else's")
    with Flavour().connect(url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer("a", 0)
        eventually(lambda: admin.zcount(KEYS.timeout, 0, int(admin.time()[0]) * 1000))
        # In a cluster nobody can tell who is alone.
        transfer = calls.transfer(KEYS, 10, 1000, "me", cluster=True)
        with pytest.raises(WrongTypeError, match="redisson_dq_mover"):
            client.runtime.connections.run(transfer)
        assert admin.llen(KEYS.ready) == 0
        admin.delete(KEYS.mover)
        assert client.runtime.connections.run(transfer).moved == 1


def test_a_note_of_a_later_time_holds_up_nobody(url: str, admin: redis.Redis) -> None:
    """The mover died, and the server's clock was set back, or a replica whose clock is behind took over."""
    with Flavour().connect(url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer("a", 0)
        eventually(lambda: admin.zcount(KEYS.timeout, 0, int(admin.time()[0]) * 1000))
        hour_ahead = (int(admin.time()[0]) + 3600) * 1_000_000
        admin.set(KEYS.mover, f"dead {hour_ahead} {hour_ahead}")
        # In a cluster nobody can tell who is alone.
        answer = client.runtime.connections.run(calls.transfer(KEYS, 10, 1000, "me", cluster=True))
        assert (answer.moved, answer.role, mover(admin)) == (1, "mover", "me")
        note: Any = admin.get(KEYS.mover)
        _, moved, told = note.split()
        assert int(told) == int(moved) < hour_ahead


def test_items_that_follow_each_other_closely_need_no_message_each(url: str, admin: redis.Redis) -> None:
    words = calls.transfer(KEYS, 10, 1000, "me", cluster=True).words
    due_in_6_ms = """
        local now, member = redis.call('TIME'), redis.call('ZRANGE', KEYS[1], 0, 0)[1]
        redis.call('ZADD', KEYS[1], now[1] * 1000 + math.ceil(now[2] / 1000) + 6, member)
    """
    with Flavour().connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)

        def told_after_a_transfer() -> Any:
            """When the mover told the others something. None when the item came due before the transfer."""
            admin.delete(KEYS.timeout, KEYS.envelopes)
            delayed.offer("a", 3600)
            # A message that is later than any pause between two.
            admin.set(KEYS.mover, f"me {int(admin.time()[0]) * 1_000_000} {told_us}")
            with admin.pipeline(transaction=True) as together:
                together.eval(due_in_6_ms, 1, KEYS.timeout)
                together.execute_command("EVAL", load("transfer").source, *words)
                moved = together.execute()[1][0]
            note: Any = admin.get(KEYS.mover)
            return None if moved else int(note.split()[2])

        told_us = (int(admin.time()[0]) + 3600) * 1_000_000
        assert eventually(told_after_a_transfer) == told_us


def test_a_mover_that_may_not_publish_moves_all_the_same(url: str, admin: redis.Redis) -> None:
    admin.acl_setuser("mute", enabled=True, nopass=True, keys=["*"], channels=["*"], commands=["+@all", "-publish"])
    try:
        with Flavour().connect(url, codec=StringCodec()) as producer:
            producer.delayed_queue("orders", transfer=False).offer_all([("a", 0), ("b", 3600)])
        eventually(lambda: admin.zcount(KEYS.timeout, 0, int(admin.time()[0]) * 1000))
        with Flavour().connect(url, codec=StringCodec(), username="mute", password="any") as client:
            answer = client.runtime.connections.run(calls.transfer(KEYS, 10, 1000, "me", cluster=True))
        assert (answer.moved, answer.role, mover(admin)) == (1, "mover", "me")
    finally:
        admin.acl_deluser("mute")


def test_the_next_occurrence_is_made_when_the_mover_dies_before_it_has(
    flavour: Flavour, url: str, admin: redis.Redis
) -> None:
    transfer = calls.transfer(KEYS, 10, 1000, "dying", cluster=True)
    with Flavour().connect(url, codec=StringCodec()) as dying, admin.pubsub() as somebody:
        somebody.subscribe(KEYS.channel)
        dying.delayed_queue("orders", transfer=False).offer_recurring("tick", "tick", every=0.5)
        assert dying.runtime.connections.run(transfer).role == "mover"
        with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
            delayed = moving(client.delayed_queue("orders"))
            eventually(lambda: subscribers(admin) == 2)
            eventually(lambda: dying.runtime.connections.run(transfer).moved or admin.llen(KEYS.ready))
            assert [client.blocking_queue("orders").poll(timeout=PATIENCE) for _ in range(3)] == ["tick"] * 3
            assert delayed.cancel_recurring("tick")


@ONE_FLAVOUR_BY_DAY
def test_a_cluster_has_one_mover_too(flavour: Flavour) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        opened = [stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec())) for _ in range(3)]
        queues = [moving(client.blocking_queue("orders")) for client in opened]
        admin = cluster.admins[cluster.owner("orders")]
        eventually(lambda: mover(admin))
        for number in range(20):
            opened[number % 3].delayed_queue("orders", transfer=False).offer(f"{number}", 0.02)
            assert queues[(number + 1) % 3].take() == f"{number}"
        assert mover(admin) is not None

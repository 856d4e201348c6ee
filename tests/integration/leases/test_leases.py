"""Receiving under a lease: the effect of each call, and that a late call has none."""

from __future__ import annotations

import copy
import pickle
import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import attrs
import pytest

from redisson_dq import Durability, SettleOutcome
from redisson_dq.codecs import Codec, StringCodec
from redisson_dq.errors import ArgumentError, ClosedError, DecodeError
from redisson_dq.testing import TestClock
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import DeadKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import Bridged, Flavour
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts
from tests.interop.sides import NO_PROBE

DEAD = DeadKeys.belonging_to("orders")

#: Keys that remain after leases have ended.
QUIET = {KEYS.alarm.encode(), KEYS.mover.encode()}


def left(admin: Any) -> set[bytes]:
    return set(admin.keys()) - QUIET


def lapse(admin: Any, queue: Any, delivery: Any) -> None:
    """Waits until a lease has ended and its value is ready again."""
    eventually(lambda: admin.zscore(KEYS.leases, bytes.fromhex(delivery.id)) is None)


# -- receive, ack ----------------------------------------------------------------------------------------------------


def test_what_was_received_and_acked_leaves_nothing(admin: Any, queue: Any) -> None:
    queue.add("a")
    delivery = queue.receive(timeout=PATIENCE)
    assert (delivery.value, delivery.data, delivery.attempt, delivery.failures, delivery.crashes) == (
        "a",
        b"a",
        1,
        0,
        0,
    )
    assert delivery.first_received == delivery.received
    assert delivery.deadline - delivery.received >= timedelta(seconds=30)
    assert not delivery.lost
    assert (delivery.context, delivery.reason, delivery.offered, delivery.due) == ({}, "", None, None)
    assert whereabouts(admin).leased == Counter([b"a"])
    assert queue.in_flight_size() == 1
    assert delivery.ack() is SettleOutcome.ACKED
    assert delivery.outcome is SettleOutcome.ACKED
    assert left(admin) == set()
    assert queue.in_flight_size() == 0


def test_a_lease_is_an_entry_with_an_id_of_ten_bytes_that_is_due_at_its_deadline(admin: Any, queue: Any) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=60)
    ((member, score),) = admin.zrange(KEYS.timeout, 0, -1, withscores=True)
    assert unwrap(member) == (bytes.fromhex(delivery.id), b"a")
    assert (member[0], len(bytes.fromhex(delivery.id))) == (10, 10)
    assert score == delivery.deadline.timestamp() * 1000
    assert not admin.exists(KEYS.envelopes)


def test_with_the_legacy_envelope_a_lease_is_an_entry_that_old_redissons_read(
    flavour: Flavour, url: str, admin: Any
) -> None:
    with flavour.connect(url, codec=StringCodec(), envelope="legacy", probe_interval=NO_PROBE) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        delivery = queue.receive(visibility_timeout=60)
        (member,) = admin.zrange(KEYS.timeout, 0, -1)
        assert len(member) == 8 + 8 + 1
        assert member == bytes.fromhex(delivery.id) + (1).to_bytes(8, "little") + b"a"
        assert delivery.extend(0.05)
        again = queue.receive(timeout=PATIENCE)
        assert (again.value, again.attempt, again.crashes) == ("a", 2, 1)
        assert again.nack(delay=60) is SettleOutcome.DELAYED
        assert admin.llen(KEYS.envelopes) == 1
        (item,) = client.delayed_queue("orders").items()
        assert item.run_now()
        last = queue.receive(timeout=PATIENCE)
        assert (last.attempt, last.crashes, last.failures) == (3, 1, 1)
        assert last.ack()
    # And what run_now() came to, which is remembered.
    assert left(admin) <= {KEYS.records.encode(), KEYS.forget.encode()}


def test_a_receive_without_anything(queue: Any) -> None:
    assert queue.receive(timeout=0) is None
    assert queue.receive(timeout=0.01) is None
    assert queue.receive(5, timeout=0) == []
    assert queue.receive(5, timeout=0.01) == []


def test_many_are_received_in_order_and_settled_in_one_call_each(admin: Any, queue: Any) -> None:
    queue.add_all([f"v{i}" for i in range(250)])
    batch = queue.receive(200, timeout=PATIENCE)
    assert [each.value for each in batch] == [f"v{i}" for i in range(200)]
    assert len({each.id for each in batch}) == 200
    assert queue.ack_all(batch[:50]) == [SettleOutcome.ACKED] * 50
    assert queue.nack_all(batch[50:100]) == [SettleOutcome.RETURNED] * 50
    assert queue.nack_all(batch[100:120], delay=60) == [SettleOutcome.DELAYED] * 20
    assert queue.reject_all(batch[120:130], "no") == [SettleOutcome.DEAD_LETTERED] * 10
    assert queue.extend_all(batch[130:], 600) == [SettleOutcome.EXTENDED] * 70
    assert {each.deadline for each in batch[130:]} == {batch[130].deadline}
    assert batch[130].remaining > timedelta(seconds=500)
    assert queue.ack_all([batch[0], batch[199], batch[199]]) == [
        SettleOutcome.LOST,
        SettleOutcome.ACKED,
        SettleOutcome.ACKED,
    ]
    found = whereabouts(admin)
    assert list(found.ready) == [f"v{i}".encode() for i in [*range(200, 250), *range(50, 100)]]
    assert sorted(found.waiting) == sorted(f"v{i}".encode() for i in range(100, 120))
    assert sorted(found.dead) == sorted(f"v{i}".encode() for i in range(120, 130))
    assert sorted(found.leased) == sorted(f"v{i}".encode() for i in range(130, 199))
    assert queue.ack_all([]) == []


def test_more_than_a_thousand_are_received_in_parts(queue: Any) -> None:
    queue.add_all([f"v{i}" for i in range(2500)])
    batches = [queue.receive(2500, timeout=0) for _ in range(4)]
    assert [len(batch) for batch in batches] == [1000, 1000, 500, 0]
    everything = [each for batch in batches for each in batch]
    assert [each.value for each in everything] == [f"v{i}" for i in range(2500)]
    assert queue.ack_all(everything) == [SettleOutcome.ACKED] * 2500
    assert queue.in_flight_size() == 0


def test_a_receiver_waits_until_something_comes(
    admin: Any, queue: Any, delayed: Any, threads: ThreadPoolExecutor
) -> None:
    waiting = threads.submit(queue.receive)
    eventually(lambda: admin.info("clients")["blocked_clients"])
    delayed.offer("late", delay=0.05)
    delivery = waiting.result(PATIENCE)
    assert delivery.value == "late"
    assert whereabouts(admin).arrivals == Counter()
    assert delivery.ack()


@pytest.mark.parametrize(("values", "scripts"), [(["a"], 1), (["a", "b", "c"], 2)])
def test_a_receiver_of_many_asks_for_more_only_where_more_is_left(
    admin: Any, client: Any, threads: ThreadPoolExecutor, values: list[str], scripts: int
) -> None:
    # A handle that transfers may run its first script late.
    queue = client.blocking_queue("orders", transfer=False)
    waiting = threads.submit(queue.receive, 10)
    eventually(lambda: admin.info("clients")["blocked_clients"])
    admin.config_resetstat()
    admin.rpush(KEYS.ready, *values)
    batch = waiting.result(PATIENCE)
    assert admin.info("commandstats")["cmdstat_evalsha"]["calls"] == scripts
    assert [each.value for each in batch] == values
    assert queue.ack_all(batch) == [SettleOutcome.ACKED] * len(values)


def test_many_receivers_share_one_connection_and_each_gets_its_own(
    admin: Any, queue: Any, threads: ThreadPoolExecutor
) -> None:
    waiting = [threads.submit(queue.receive) for _ in range(20)]
    eventually(lambda: admin.info("clients")["blocked_clients"])
    queue.add_all([f"v{i}" for i in range(20)])
    deliveries = [each.result(PATIENCE) for each in waiting]
    assert {each.value for each in deliveries} == {f"v{i}" for i in range(20)}
    assert admin.info("clients")["blocked_clients"] <= 1
    assert queue.ack_all(deliveries) == [SettleOutcome.ACKED] * 20


def test_a_value_whose_receiver_never_leased_it_is_received_next(admin: Any, queue: Any) -> None:
    queue.add_all(["c", "d"])
    admin.rpush(KEYS.arrivals, "a", "b")
    assert [each.value for each in queue.receive(10, timeout=0)] == ["a", "b", "c", "d"]


def test_what_comes_for_nobody_is_ready_for_others(
    admin: Any, flavour: Flavour, url: str, queue: Any, threads: ThreadPoolExecutor
) -> None:
    """Its wait is over at that moment: the value must not stay in the list of arrivals, where Java does not look."""
    for round in range(30):
        waiting = threads.submit(queue.receive, timeout=0.02)
        time.sleep(0.015 + 0.0005 * round)
        queue.add("a")
        delivery = waiting.result(PATIENCE)
        if delivery is not None:
            assert delivery.ack()
        else:
            eventually(lambda: admin.lrange(KEYS.ready, 0, -1) == [b"a"])
            assert queue.poll() == "a"
        assert whereabouts(admin).total == Counter()


# -- the end of a lease ----------------------------------------------------------------------------------------------


def test_a_lease_that_ends_makes_its_value_ready_again(admin: Any, queue: Any) -> None:
    queue.add("a")
    first = queue.receive(visibility_timeout=0.05)
    second = queue.receive(timeout=PATIENCE)
    assert (second.value, second.attempt, second.crashes, second.failures) == ("a", 2, 1, 0)
    assert second.first_received == first.first_received < second.received
    assert second.id != first.id
    # It counts from the arrival of the reply, which comes after the script.
    eventually(lambda: first.lost)
    before = admin.dump(KEYS.timeout), admin.hgetall(KEYS.deliveries), admin.zrange(KEYS.leases, 0, -1, withscores=True)
    assert first.ack() is SettleOutcome.LOST
    assert first.nack() is SettleOutcome.LOST
    assert first.nack(delay=5) is SettleOutcome.LOST
    assert first.reject("x") is SettleOutcome.LOST
    assert first.extend(60) is SettleOutcome.LOST
    assert first.lost
    assert not first.ack()
    after = admin.dump(KEYS.timeout), admin.hgetall(KEYS.deliveries), admin.zrange(KEYS.leases, 0, -1, withscores=True)
    assert after == before
    assert second.ack() is SettleOutcome.ACKED
    assert left(admin) == set()


def test_a_late_call_changes_nothing_though_the_value_was_not_moved_yet(flavour: Flavour, url: str, admin: Any) -> None:
    with TestClock(url) as clock, flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add("a")
        delivery = queue.receive(visibility_timeout=0.01)
        clock.advance(0.01)
        assert delivery.lost
        for late in (delivery.ack, delivery.nack, delivery.reject, lambda: delivery.extend(5)):
            assert late() is SettleOutcome.LOST
        assert admin.zcard(KEYS.timeout) == 1
        assert (queue.in_flight_size(), queue.in_flight()) == (0, [])


def test_extend_moves_the_deadline(flavour: Flavour, url: str, admin: Any) -> None:
    with TestClock(url) as clock, flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        delivery = queue.receive(visibility_timeout=30)
        assert delivery.extend(60) is SettleOutcome.EXTENDED
        assert delivery.deadline == clock.now + timedelta(seconds=60)
        clock.advance(59)
        assert not delivery.lost
        assert admin.zscore(KEYS.timeout, admin.zrange(KEYS.timeout, 0, 0)[0]) == delivery.deadline.timestamp() * 1000
        assert queue.poll() is None
        assert delivery.extend(0.05) is SettleOutcome.EXTENDED
        clock.advance(0.05)
        assert delivery.lost
        assert queue.receive().attempt == 2


def test_nack_gives_the_value_back_at_the_end_and_counts(queue: Any) -> None:
    queue.add_all(["a", "b"])
    delivery = queue.receive()
    assert delivery.nack(reason="broken") is SettleOutcome.RETURNED
    assert queue.read_all() == ["b", "a"]
    queue.remove("b")
    again = queue.receive(timeout=0)
    assert (again.attempt, again.failures, again.crashes, again.reason) == (2, 1, 0, "broken")
    assert again.first_received == delivery.first_received


def test_nack_with_a_delay(admin: Any, queue: Any, delayed: Any) -> None:
    queue.add("a")
    delivery = queue.receive()
    assert delivery.nack(delay=60, reason="later") is SettleOutcome.DELAYED
    assert admin.zrange(KEYS.timeout, 0, 0)[0][0] == 9, "it waits as any lean item"
    (item,) = delayed.items()
    # Due times are rounded up to milliseconds.
    assert timedelta(seconds=60) - PATIENCE * timedelta(seconds=1) < item.remaining < timedelta(seconds=60.001)
    assert item.run_now()
    again = queue.receive(timeout=PATIENCE)
    assert (again.value, again.attempt, again.failures, again.reason) == ("a", 2, 1, "later")
    assert again.ack()
    assert left(admin) == {KEYS.records.encode(), KEYS.forget.encode()}, "what run_now() notes of an item"


def test_a_hand_back_does_not_count_and_goes_to_the_head_in_order(admin: Any, queue: Any) -> None:
    queue.add_all(["a", "b", "c", "d"])
    batch = queue.receive(3, timeout=0)
    assert queue.nack_all(batch, count=False) == [SettleOutcome.RETURNED] * 3
    assert queue.read_all() == ["a", "b", "c", "d"]
    assert left(admin) == {b"orders"}
    assert queue.receive(timeout=0).attempt == 1


def test_a_hand_back_of_several_parts_keeps_the_order(queue: Any) -> None:
    """One script takes 1,000."""
    values = [str(number) for number in range(2500)]
    queue.add_all(values)
    batch = [each for _ in range(3) for each in queue.receive(1000, timeout=0)]
    assert queue.nack_all(batch[:2400], count=False) == [SettleOutcome.RETURNED] * 2400
    assert queue.read_all() == values[:2400]
    assert queue.nack_all(batch[2400:], count=True) == [SettleOutcome.RETURNED] * 100
    assert queue.read_all() == values
    again = [each for _ in range(3) for each in queue.receive(1000, timeout=0)]
    assert queue.nack_all(again) == [SettleOutcome.RETURNED] * 2500
    assert queue.read_all() == values


def test_a_hand_back_keeps_what_was_counted_before(queue: Any) -> None:
    queue.add("a")
    queue.receive().nack(reason="one")
    assert queue.receive().nack(count=False)
    again = queue.receive()
    assert (again.attempt, again.failures, again.reason) == (2, 1, "one")


def test_equal_values_keep_their_counts_apart(queue: Any) -> None:
    queue.add_all(["a"] * 3)
    one, two, three = queue.receive(3, timeout=0)
    one.nack(reason="one")
    again = queue.receive(timeout=0)
    again.nack(reason="two")
    two.nack(reason="three")
    three.nack(count=False)
    batch = queue.receive(3, timeout=0)
    assert sorted((each.attempt, each.reason) for each in batch) == [(1, ""), (2, "three"), (3, "two")]


# -- the context manager ---------------------------------------------------------------------------------------------


def test_a_block_acks(admin: Any, queue: Any) -> None:
    queue.add("a")
    with queue.receive() as delivery:
        assert delivery.value == "a"
    assert delivery.outcome is SettleOutcome.ACKED
    assert left(admin) == set()


def test_a_block_that_raises_nacks_with_its_reason(queue: Any) -> None:
    queue.add("a")
    with pytest.raises(KeyError), queue.receive() as delivery:
        raise KeyError("sku")
    assert delivery.outcome is SettleOutcome.RETURNED
    again = queue.receive(timeout=0)
    assert (again.attempt, again.failures, again.reason) == (2, 1, "KeyError: 'sku'")


def test_a_block_that_raises_tells_why_its_nack_was_not_confirmed(
    flavour: Flavour, url: str, queue: Any, caplog: pytest.LogCaptureFixture
) -> None:
    queue.add("a")
    with flavour.connect(url, codec=StringCodec(), durable=Durability(replicas=1, timeout=0.01)) as careful:
        delivery = careful.blocking_queue("orders").receive()
        with pytest.raises(ValueError, match="broken"), delivery:
            raise ValueError("broken")
    assert delivery.outcome is SettleOutcome.RETURNED
    (message,) = caplog.messages
    assert message.startswith(
        f"queue 'orders': nack of {delivery.id} because its block failed: give_back on 'orders': the "
    )


def test_a_block_that_is_interrupted_hands_back(queue: Any) -> None:
    queue.add("a")
    with pytest.raises(KeyboardInterrupt), queue.receive():
        raise KeyboardInterrupt
    again = queue.receive(timeout=0)
    assert (again.attempt, again.failures, again.reason) == (1, 0, "")


def test_what_a_block_did_itself_stands(queue: Any) -> None:
    queue.add("a")
    with queue.receive() as delivery:
        delivery.nack(delay=60)
    assert delivery.outcome is SettleOutcome.DELAYED


# -- dead letters ----------------------------------------------------------------------------------------------------


def test_after_its_last_delivery_a_value_is_a_dead_letter(admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", delivery_limit=3)
    queue.add("a")
    for _ in range(2):
        assert queue.receive().nack(reason="bad") is SettleOutcome.RETURNED
    # Times are whole milliseconds, and the three deliveries may be in one.
    time.sleep(0.002)
    assert queue.receive().nack(reason="worse") is SettleOutcome.DEAD_LETTERED
    (letter,) = queue.dead_letters()
    assert (letter.value, letter.data, letter.reason, letter.source) == ("a", b"a", "worse", "orders")
    assert (letter.attempts, letter.failures, letter.crashes) == (3, 3, 0)
    assert letter.first_received < letter.last_received <= letter.died
    assert admin.lrange("redisson_dq_dead:{orders}", 0, -1) == [b"a"]
    assert whereabouts(admin).total == Counter([b"a"])


def test_crashes_count_towards_the_limit(admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", delivery_limit=2)
    queue.add_all(["poison", "fine"])
    for attempt in (1, 2):
        delivery = queue.receive(visibility_timeout=0.03)
        assert (delivery.value, delivery.attempt) == ("poison", attempt)
        queue.receive().nack(count=False)
        lapse(admin, queue, delivery)
        queue.move("orders", from_end="last", to_end="first")
    assert queue.receive(timeout=0).value == "fine"
    (letter,) = queue.dead_letters()
    assert (letter.value, letter.attempts, letter.crashes) == ("poison", 2, 2)


def test_without_a_limit_a_value_comes_again_and_again(client: Any) -> None:
    queue = client.blocking_queue("orders", delivery_limit=None)
    queue.add("a")
    for attempt in range(1, 30):
        delivery = queue.receive(timeout=0)
        assert delivery.attempt == attempt
        assert delivery.nack() is SettleOutcome.RETURNED


def test_another_queue_can_take_the_dead_letters(client: Any) -> None:
    queue = client.blocking_queue("orders", dead_letter="orders-dead")
    queue.add("a")
    assert queue.receive().reject("why") is SettleOutcome.DEAD_LETTERED
    dead = client.blocking_queue("orders-dead")
    assert dead.read_all() == ["a"]
    (letter,) = queue.dead_letters()
    assert (letter.reason, letter.source, letter.attempts) == ("why", "orders", 1)
    assert dead.take() == "a"
    assert queue.dead_letters() == []


def test_redrive_begins_anew(admin: Any, queue: Any) -> None:
    queue.add_all(["a", "b", "c"])
    queue.reject_all(queue.receive(3, timeout=0), "why")
    letters = queue.dead_letters()
    done = queue.redrive([letters[1], letters[1].id, letters[2]], limit=1)
    assert (done.count, done.left) == (1, 2)
    assert queue.read_all() == ["b"]
    assert queue.redrive(limit=1).count == 1
    assert queue.redrive().count == 1
    assert queue.redrive().count == 0
    batch = queue.receive(9, timeout=0)
    assert [(each.value, each.attempt, each.reason) for each in batch] == [("b", 1, ""), ("a", 1, ""), ("c", 1, "")]
    queue.ack_all(batch)
    assert left(admin) == set()


def test_redrive_to_another_queue(client: Any, queue: Any) -> None:
    queue.add("a")
    queue.receive().reject()
    assert queue.redrive(to="other").count == 1
    assert client.blocking_queue("other").take() == "a"


def test_redrive_tells_whether_anybody_listens(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        quiet = client.blocking_queue("orders", transfer=False)
        quiet.add("a")
        quiet.receive().reject()
        assert quiet.redrive().clients == 0
        quiet.receive().reject()
        client.blocking_queue("orders").start_moving()
        eventually(lambda: admin.pubsub_numsub(KEYS.channel)[0][1] == 1)
        assert quiet.redrive().clients == 1


def test_purge_dead(admin: Any, queue: Any) -> None:
    queue.add_all(["a", "b", "c", "d"])
    queue.reject_all(queue.receive(4, timeout=0))
    letters = queue.dead_letters()
    # No more than the limit, whatever chooses them.
    assert queue.purge_dead(["00ff", letters[2], letters[3]], limit=1) == 1
    assert [letter.value for letter in queue.dead_letters()] == ["a", "b", "d"]
    assert queue.purge_dead(limit=1) == 1
    assert queue.purge_dead() == 2
    assert left(admin) == set()


def test_dead_letters_that_java_took_are_forgotten(admin: Any, queue: Any) -> None:
    queue.add_all(["a", "b"])
    queue.reject_all(queue.receive(2, timeout=0))
    admin.lpop(DEAD.dead, 2)
    assert queue.dead_letters() == []
    queue.add("c")
    queue.receive().reject("new")
    assert [letter.reason for letter in queue.dead_letters()] == ["new"]
    assert admin.hlen(DEAD.dead_info) == 1


def test_what_somebody_else_put_there_is_listed_and_redriven(admin: Any, queue: Any) -> None:
    admin.rpush(DEAD.dead, "x")
    (letter,) = queue.dead_letters()
    assert (letter.value, letter.id, letter.died, letter.attempts) == ("x", "", None, 0)
    assert queue.redrive().count == 1
    assert queue.receive(timeout=0).attempt == 1


def test_an_unreadable_value_is_a_dead_letter(admin: Any, queue: Any) -> None:
    admin.rpush(KEYS.ready, b"a", b"\xff", b"b")
    with pytest.raises(DecodeError) as caught:
        queue.receive(3, timeout=0)
    assert caught.value.kept_in == DEAD.dead
    assert caught.value.undecodable == [b"\xff"]
    assert [each.value for each in caught.value.decoded] == ["a", "b"]
    assert admin.lrange(DEAD.dead, 0, -1) == [b"\xff"]
    (letter,) = queue.dead_letters()
    assert letter.reason.startswith("undecodable: ")
    with pytest.raises(DecodeError):
        _ = letter.value


def test_unreadable_values_are_skipped_where_the_client_is_told_to(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec(), undecodable="skip") as client:
        queue = client.blocking_queue("orders")
        admin.rpush(KEYS.ready, b"\xff", b"\xfe", b"b")
        assert queue.receive(timeout=PATIENCE).value == "b"
        assert admin.lrange(DEAD.dead, 0, -1) == [b"\xff", b"\xfe"]


# -- arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0, -1, True, "5", 1.5])
def test_limits_are_checked(client: Any, queue: Any, bad: Any) -> None:
    with pytest.raises(ArgumentError, match="'orders'"):
        queue.receive(bad, timeout=0)
    with pytest.raises(ArgumentError, match="'orders'"):
        client.blocking_queue("orders", delivery_limit=bad)
    with pytest.raises(ArgumentError, match="'orders'"):
        queue.redrive(limit=bad)


def test_other_arguments_are_checked(client: Any, queue: Any) -> None:
    for timeout in (0, -1, "x", float("inf"), None):
        with pytest.raises(ArgumentError, match="visibility timeout"):
            queue.receive(timeout=0, visibility_timeout=timeout)
    for name in ("orders", "", KEYS.arrivals, KEYS.timeout):
        with pytest.raises(ArgumentError, match="'orders'"):
            client.blocking_queue("orders", dead_letter=name)
    with pytest.raises(ArgumentError, match="needs renew=True"):
        queue.receive(timeout=0, on_lost=print)
    queue.add("a")
    delivery = queue.receive()
    bad: list[Callable[[], Any]] = [
        lambda: delivery.nack(-1),
        lambda: delivery.nack(reason=5),
        lambda: delivery.nack(count=1),
        lambda: delivery.extend(0),
        lambda: delivery.reject(b"x"),
        lambda: queue.ack_all(["x"]),
        lambda: queue.ack_all("x"),
        lambda: queue.redrive(["zz"]),
        *(partial(queue.redrive, to=key) for key in (*attrs.astuple(DEAD), KEYS.arrivals, KEYS.timeout)),
        lambda: queue.in_flight(-1, 5),
        lambda: queue.dead_letters(0, 5000),
        # Not the last one, as to Redis: that page would have no bound.
        *(partial(page, 0, -1) for page in (queue.in_flight, queue.dead_letters)),
        # The class, where one of its objects is meant. Each call would fail, and not say why.
        lambda: client.blocking_queue("orders", StringCodec),
    ]
    for call in bad:
        with pytest.raises(ArgumentError, match="'orders'"):
            call()
    with pytest.raises(ArgumentError, match="expected a collection of deliveries"):
        queue.ack_all(None)
    with pytest.raises(ArgumentError, match="expected a collection of ids"):
        queue.redrive("ab")
    assert delivery.ack() is SettleOutcome.ACKED


def test_a_delivery_stays_with_its_client(queue: Any) -> None:
    queue.add("a")
    delivery = queue.receive()
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="'orders': a delivery belongs to the client that received it"):
            copied(delivery.inner if isinstance(delivery, Bridged) else delivery)
    assert delivery.ack()


def test_the_deliveries_of_another_client_are_not_ended(flavour: Flavour, url: str, queue: Any) -> None:
    """It may be connected to another server, which knows nothing of them."""
    with flavour.connect(url.removesuffix("/0") + "/1", codec=StringCodec()) as client:
        other = client.blocking_queue("orders")
        queue.add("a")
        delivery = queue.receive(timeout=PATIENCE)
        for end in (other.ack_all, other.nack_all, other.reject_all, lambda these: other.extend_all(these, 5)):
            with pytest.raises(ArgumentError, match="another client"):
                end([delivery])
    assert delivery.outcome is None
    assert delivery.ack() is SettleOutcome.ACKED


def test_a_closed_client_ends_a_wait(admin: Any, flavour: Flavour, url: str, threads: ThreadPoolExecutor) -> None:
    client = flavour.connect(url, codec=StringCodec())
    waiting = threads.submit(client.blocking_queue("orders").receive)
    eventually(lambda: admin.info("clients")["blocked_clients"])
    client.close()
    with pytest.raises(ClosedError):
        waiting.result(PATIENCE)
    eventually(lambda: not admin.info("clients")["blocked_clients"])


def test_close_leaves_what_its_callers_hold(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        queue.receive()
    assert whereabouts(admin).leased == Counter([b"a"])


def test_a_bounded_queue_has_room_again_when_the_value_is_done(admin: Any, client: Any) -> None:
    bounded = client.bounded_blocking_queue("orders")
    bounded.try_set_capacity(2)
    bounded.add_all(["a", "b"])
    one, two = bounded.receive(2, timeout=0)
    assert bounded.remaining_capacity() == 0
    assert one.nack()
    assert bounded.remaining_capacity() == 0
    assert two.ack()
    assert bounded.remaining_capacity() == 1
    assert bounded.receive(timeout=0).reject()
    assert bounded.remaining_capacity() == 2
    assert int(admin.get(KEYS.capacity)) == 2


@pytest.mark.parametrize("capacity", [["a"], "many"])
def test_what_is_done_is_told_where_the_capacity_is_no_number(admin: Any, client: Any, capacity: Any) -> None:
    bounded = client.bounded_blocking_queue("orders", delivery_limit=2)
    bounded.try_set_capacity(9)
    bounded.add_all(["a", "b", "c", "d"])
    one, two, three, four = bounded.receive(4, timeout=0)
    admin.delete(KEYS.capacity)
    admin.rpush(KEYS.capacity, *capacity) if isinstance(capacity, list) else admin.set(KEYS.capacity, capacity)
    assert one.ack() is SettleOutcome.ACKED
    assert bounded.ack_all([two]) == [SettleOutcome.ACKED]
    assert three.reject() is SettleOutcome.DEAD_LETTERED
    assert four.nack() is SettleOutcome.RETURNED
    (again,) = bounded.receive(1, timeout=0)
    assert again.nack() is SettleOutcome.DEAD_LETTERED
    assert [letter.value for letter in bounded.dead_letters()] == ["c", "d"]


def test_what_is_redriven_to_a_bounded_queue_takes_its_room_again(client: Any) -> None:
    bounded = client.bounded_blocking_queue("orders")
    bounded.try_set_capacity(2)
    for _ in range(3):
        assert bounded.offer("a")
        bounded.receive(timeout=0).reject()
    assert (bounded.remaining_capacity(), bounded.redrive().count, bounded.remaining_capacity()) == (2, 3, -1)
    assert not bounded.offer("b")
    assert all(bounded.ack_all(bounded.receive(9, timeout=0)))
    assert (bounded.redrive().count, bounded.remaining_capacity()) == (0, 2)
    # A redrive to it need not know that it has a capacity.
    other = client.blocking_queue("other")
    other.add("a")
    other.receive().reject()
    assert other.redrive(to="orders").count == 1
    assert bounded.remaining_capacity() == 1


def test_a_deque_receives_from_its_first_end(client: Any) -> None:
    deque = client.blocking_deque("orders")
    deque.add_all(["a", "b"])
    assert deque.receive().value == "a"


def test_ids_are_new_for_every_delivery(queue: Any) -> None:
    queue.add("a")
    ids = set()
    for _ in range(20):
        delivery = queue.receive(timeout=0)
        ids.add(delivery.id)
        delivery.nack(count=False)
    assert len(ids) == 20


class Unstable(Codec[str]):
    """Writes other bytes each time, like a set or a map."""

    def encode(self, value: str) -> bytes:
        return secrets.token_bytes(8) + value.encode()

    def decode(self, data: bytes) -> str:
        return data[8:].decode()


def test_every_call_works_by_the_bytes_that_were_received(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=Unstable(), probe_interval=NO_PROBE) as client:
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        delayed.offer("a", delay=0.01, context={"trace": "1"})
        first = queue.receive(timeout=PATIENCE)
        kept = first.data
        assert first.nack(reason="later")
        second = queue.receive(timeout=PATIENCE)
        assert (second.data, second.attempt, second.reason, second.context) == (kept, 2, "later", {"trace": "1"})
        assert second.nack(delay=0.01)
        third = queue.receive(timeout=PATIENCE)
        assert (third.data, third.attempt) == (kept, 3)
        assert third.extend(60)
        assert third.reject("never")
        (letter,) = queue.dead_letters()
        assert (letter.value, letter.reason, letter.attempts) == ("a", "never", 3)
        assert queue.redrive([letter]).count == 1
        last = queue.receive(timeout=PATIENCE)
        assert (last.data, last.attempt, last.context) == (kept, 1, {"trace": "1"})
        assert last.ack()
    assert whereabouts(admin).total == Counter()

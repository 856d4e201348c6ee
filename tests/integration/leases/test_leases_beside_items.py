"""Leases are stored among the waiting items: what each call of the delayed side does with them."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from redisson_dq import Outcome, SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError, QueueFullError, WrongTypeError
from redisson_dq.wire.envelope import unwrap
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.calls import dump
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts
from tests.interop.sides import HOUR


@pytest.fixture(params=["mirrored", "lean"])
def waiting(request: pytest.FixtureRequest, client: Any) -> Any:
    """A delayed queue on which ``w1`` and ``w2`` wait, while ``h1`` to ``h3`` are held around them."""
    delayed = client.delayed_queue("orders", transfer=False, lean=request.param == "lean")
    delayed.offer("w1", delay=HOUR)
    delayed.offer("w2", delay=3 * HOUR)
    return delayed


@pytest.fixture
def held(queue: Any, waiting: Any) -> list[Any]:
    queue.add_all(["h1", "h2", "h3"])
    return [queue.receive(visibility_timeout=hours * HOUR) for hours in (0.5, 2, 4)]


def test_what_is_held_does_not_wait(waiting: Any, held: list[Any]) -> None:
    assert waiting.size() == len(waiting) == 2
    assert waiting.read_all() == list(waiting) == ["w1", "w2"]
    assert [item.value for item in waiting.items()] == ["w1", "w2"]
    assert [item.value for item in waiting.items(1, 1)] == ["w2"]
    assert [item.value for item in waiting.items(by="offer")] == ["w1", "w2"]
    assert waiting.items(2, 5) == []
    assert waiting.peek() == waiting.element() == "w1"
    assert waiting.contains("w1")
    assert not waiting.contains("h1")
    assert not waiting.contains_all(["w1", "h2"])
    assert timedelta(minutes=59) < waiting.next_due() - datetime.now(timezone.utc) < timedelta(minutes=61)
    assert waiting.overdue().count == 0


@pytest.mark.parametrize("lean", [False, True])
def test_pages_between_many_leases(client: Any, queue: Any, lean: bool) -> None:
    delayed = client.delayed_queue("orders", transfer=False, lean=lean)
    chance = random.Random(7)
    delays = chance.sample(range(3_600, 10_800), 3000)
    delayed.offer_all([(f"w{delay}", delay) for delay in delays])
    queue.add_all([f"h{number}" for number in range(300)])
    for _ in range(60):
        assert len(queue.receive(5, timeout=5, visibility_timeout=chance.uniform(0.9, 3.1) * HOUR)) == 5
    due = [item.value for item in delayed.items(0, 2999)]
    assert len(due) == len(set(due)) == 3000
    assert due == sorted(due, key=lambda value: int(value[1:]))
    for start in (*range(0, 3000, 371), 2999, 3000, 3100):
        # The last ones are found by a look along all of it.
        for stop in (start, start + 99, start + 5000):
            assert [item.value for item in delayed.items(start, stop)] == due[start : stop + 1]
    # Everything that stands in the zset alone is held, or it is what waits.
    assert delayed.poll_last_and_offer_first_to("other") == (due if lean else [f"w{delay}" for delay in delays])[-1]


def test_what_is_held_is_not_taken(admin: Any, waiting: Any, held: list[Any]) -> None:
    assert not waiting.remove("h1")
    assert not waiting.remove_all(["h1", "h2"])
    assert waiting.remove_if(lambda value: value.startswith("h")) == 0
    assert waiting.poll_last_and_offer_first_to("other") == "w2"
    assert waiting.poll(10) == ["w1"]
    assert waiting.poll() is None
    assert waiting.poll_last_and_offer_first_to("other") is None
    assert waiting.is_empty()
    assert not waiting.retain_all(["w1"])
    assert [each.ack() for each in held] == [SettleOutcome.ACKED] * 3


def test_clear_leaves_what_is_held(admin: Any, waiting: Any, held: list[Any]) -> None:
    waiting.clear()
    assert waiting.is_empty()
    assert whereabouts(admin).leased == Counter([b"h1", b"h2", b"h3"])
    assert held[0].nack(delay=HOUR)
    assert held[1].extend(0.05)
    eventually(lambda: held[1].lost)
    waiting.clear()
    assert [each.ack() for each in held[1:]] == [SettleOutcome.LOST, SettleOutcome.ACKED]


def test_clear_forgets_what_was_known_of_what_waited(admin: Any, queue: Any, waiting: Any) -> None:
    queue.add_all(["a", "a"])
    queue.receive().nack(delay=HOUR, reason="gone with it")
    waiting.offer("b", delay=HOUR, context={"k": "v"})
    queue.receive().nack(reason="still ready")
    waiting.clear()
    delivery = queue.receive(timeout=0)
    assert (delivery.value, delivery.attempt, delivery.reason) == ("a", 2, "still ready")
    delivery.ack()
    assert admin.exists(KEYS.deliveries, KEYS.histories, KEYS.history_ends) == 0


def test_clear_keeps_what_is_known_of_what_redisson_made_ready(admin: Any, client: Any, waiting: Any) -> None:
    """The lease has ended and its value is ready, but only the next receive notes that."""
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a")
    queue.receive(visibility_timeout=0.05)
    (member,) = [each for each in admin.zrange(KEYS.timeout, 0, -1) if unwrap(each)[1] == b"a"]
    eventually(lambda: queue.in_flight_size() == 0)
    # Like Redisson's transfer, which knows nothing of leases.
    admin.rpush(KEYS.ready, "a")
    admin.zrem(KEYS.timeout, member)
    waiting.clear()
    delivery = queue.receive(timeout=0)
    assert (delivery.value, delivery.attempt, delivery.crashes) == ("a", 2, 1)
    delivery.ack()
    assert admin.exists(KEYS.deliveries, KEYS.histories, KEYS.history_ends) == 0


@pytest.mark.parametrize("envelope", ["current", "legacy"])
def test_values_that_are_given_back_together_are_items_of_their_own(
    admin: Any, flavour: Flavour, url: str, envelope: str
) -> None:
    with flavour.connect(url, codec=StringCodec(), envelope=envelope) as client:
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders", transfer=False)
        values = [f"v{i}" for i in range(50)]
        queue.add_all(values)
        first = queue.receive(50, timeout=0)
        assert all(queue.nack_all(first[:10]))
        assert all(queue.nack_all(first[10:], delay=HOUR, reason="later"))
        waiting = delayed.items(0, 99)
        assert [item.value for item in waiting] == values[10:], "in the order in which they were received"
        assert whereabouts(admin).waiting == Counter(value.encode() for value in values[10:])
        for item in waiting[1::2]:
            assert item.cancel() is Outcome.CANCELLED
        assert [item.value for item in delayed.items(0, 99)] == values[10::2]
        assert waiting[6].run_now() is Outcome.RESCHEDULED
        assert waiting[0].reschedule(delay=2 * HOUR) is Outcome.RESCHEDULED
        assert [each.value for each in queue.receive(10, timeout=0)] == values[:10]
        second = queue.receive(timeout=PATIENCE)
        assert (second.value, second.attempt, second.failures, second.reason) == (values[16], 2, 1, "later")
        for item in delayed.items(0, 99):
            assert item.run_now()
        rest = [queue.receive(timeout=PATIENCE) for _ in range(19)]
        assert Counter(each.value for each in rest) == Counter(values[10::2]) - Counter([values[16]])
        assert {(each.attempt, each.failures, each.reason) for each in rest} == {(2, 1, "later")}


def test_what_is_held_takes_no_room(waiting: Any, held: list[Any]) -> None:
    waiting.set_max_size(3)
    waiting.offer("w3", delay=HOUR)
    with pytest.raises(QueueFullError):
        waiting.offer("w4", delay=HOUR)
    with pytest.raises(QueueFullError):
        waiting.offer("w4", delay=HOUR, id="4")
    assert held[0].nack(delay=HOUR) is SettleOutcome.DELAYED, "what comes back comes back in any case"
    assert waiting.size() == 4


def test_a_lease_that_has_ended_waits_until_it_is_moved(client: Any, flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as quiet:
        queue, delayed = (open("orders", transfer=False) for open in (quiet.blocking_queue, quiet.delayed_queue))
        queue.add_all(["a", "b", "c", "d"])
        first, *_ = queue.receive(4, visibility_timeout=0.01)
        eventually(lambda: first.lost)
        time.sleep(0.01)
        assert delayed.size() == 4
        assert delayed.overdue().count == 4
        items = delayed.items()
        assert [item.value for item in items] == ["a", "b", "c", "d"]
        assert items[0].cancel() is Outcome.CANCELLED
        assert items[1].reschedule(delay=HOUR) is Outcome.RESCHEDULED
        assert delayed.poll() == "c"
        assert delayed.remove("d")
        assert items[1].run_now()
        client.blocking_queue("orders").start_moving()
        again = queue.receive(timeout=PATIENCE)
        assert (again.value, again.attempt, again.crashes) == ("b", 2, 1)
        queue.add_all(["a", "c", "d"])
        fresh = queue.receive(3, timeout=0)
        assert [(each.value, each.attempt) for each in fresh] == [("a", 1), ("c", 1), ("d", 1)]


def test_a_pause_keeps_leases_that_end(admin: Any, queue: Any, delayed: Any) -> None:
    queue.add_all(["a", "b"])
    first = queue.receive(visibility_timeout=0.5)
    delayed.pause()
    eventually(lambda: first.lost)
    time.sleep(0.05)
    assert first.ack() is SettleOutcome.LOST
    assert queue.receive(timeout=0).value == "b", "what is ready can be received"
    assert queue.receive(timeout=0) is None
    delayed.resume()
    again = queue.receive(timeout=PATIENCE)
    assert (again.value, again.attempt) == ("a", 2)


def test_leases_go_where_the_waiting_keys_go(client: Any, queue: Any, delayed: Any) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=0.5)
    delayed.rename("other")
    assert delivery.ack() is SettleOutcome.LOST
    again = client.blocking_queue("other").receive(timeout=PATIENCE)
    assert (again.value, again.attempt, again.crashes) == ("a", 2, 1)


def test_a_copy_delivers_what_was_held_too(client: Any, queue: Any, delayed: Any) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=0.3)
    assert delayed.copy("other")
    assert delivery.ack() is SettleOutcome.ACKED
    other = client.blocking_queue("other")
    assert other.receive(timeout=PATIENCE).attempt == 2


def test_a_state_has_the_leases_in_it(queue: Any, delayed: Any) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=HOUR)
    state = delayed.dump()
    delayed.delete()
    assert delivery.extend(5) is SettleOutcome.LOST
    assert delayed.restore(state)
    assert delivery.ack() is SettleOutcome.ACKED


@pytest.mark.parametrize("how", ["java", "expire", "delete"])
def test_leases_whose_values_are_gone_are_not_counted(admin: Any, queue: Any, delayed: Any, how: str) -> None:
    queue.add_all(["a", "b"])
    held = queue.receive(2, timeout=0)
    if how == "java":
        # What RDelayedQueue.delete() removes.
        admin.delete(KEYS.timeout, KEYS.envelopes)
    elif how == "expire":
        assert delayed.expire(0.001)
        eventually(lambda: not admin.exists(KEYS.timeout))
    else:
        assert delayed.delete()
    assert (queue.in_flight_size(), queue.in_flight()) == (0, [])
    assert queue.ack_all(held) == [SettleOutcome.LOST] * 2


@pytest.mark.parametrize("hours", [1, 3], ids=["before", "after"])
def test_leases_whose_values_are_gone_are_not_counted_among_new_ones(
    admin: Any, queue: Any, delayed: Any, hours: int
) -> None:
    """The new lease ends before the old ones, or after them."""
    queue.add_all([f"v{number}" for number in range(150)])
    old = queue.receive(150, timeout=0, visibility_timeout=2 * HOUR)
    admin.delete(KEYS.timeout, KEYS.envelopes)
    delayed.offer("w1", delay=HOUR)
    assert (delayed.size(), queue.in_flight_size()) == (1, 0)
    queue.add("new")
    new = queue.receive(visibility_timeout=hours * HOUR)
    assert (delayed.size(), queue.in_flight_size()) == (1, 1)
    delayed.set_max_size(1)
    with pytest.raises(QueueFullError):
        delayed.offer("w2", delay=HOUR)
    assert not old[0].ack()
    assert new.ack() is SettleOutcome.ACKED
    assert (delayed.size(), queue.in_flight_size()) == (1, 0)


def test_a_size_is_never_below_zero(admin: Any, queue: Any, delayed: Any) -> None:
    """A lease without a value between two others is counted until its deadline."""
    for hours in (2, 1, 3):
        queue.add("a")
        queue.receive(visibility_timeout=hours * HOUR)
        if hours == 2:
            admin.delete(KEYS.timeout)
    assert (delayed.size(), delayed.items()) == (0, [])


def test_the_ready_side_takes_arrivals_with_it(admin: Any, client: Any, queue: Any) -> None:
    admin.rpush(KEYS.arrivals, "a")
    admin.rpush(KEYS.ready, "b")
    queue.rename("other")
    assert not admin.exists(KEYS.arrivals)
    assert [each.value for each in queue.receive(5, timeout=0)] == ["a", "b"]
    for end in ("clear", "delete", "unlink"):
        admin.rpush("redisson_dq_arrivals:{other}", "a")
        getattr(queue, end)()
        assert not admin.exists("redisson_dq_arrivals:{other}"), end


# -- context ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lean", [False, True])
def test_a_context_reaches_whoever_receives(admin: Any, client: Any, queue: Any, lean: bool) -> None:
    delayed = client.delayed_queue("orders", lean=lean)
    context = {"trace": "00-ab\0c", "who": "Zoë"}
    item = delayed.offer("a", delay=0.02, context=context)
    delivery = queue.receive(timeout=PATIENCE)
    assert delivery.context == context
    assert delivery.due == item.due
    assert delivery.offered <= delivery.due <= delivery.received
    assert delivery.nack(delay=0.01)
    again = queue.receive(timeout=PATIENCE)
    assert (again.context, again.due, again.attempt) == (context, item.due, 2)
    assert again.reject()
    assert queue.dead_letters()[0].context == context
    queue.redrive()
    last = queue.receive(timeout=0)
    assert (last.context, last.attempt) == (context, 1)
    assert last.ack()
    assert admin.exists(KEYS.deliveries, KEYS.histories, KEYS.history_ends, KEYS.records) == 0


@pytest.mark.parametrize("envelope", ["current", "legacy", "lean"])
def test_many_are_offered_in_one_context(flavour: Flavour, url: str, admin: Any, envelope: str) -> None:
    options = {} if envelope == "lean" else {"envelope": envelope}
    context = {"trace": "00-ab\0c", "who": "Zoë"}
    with flavour.connect(url, codec=StringCodec(), **options) as client:
        # Nothing is moved before it was looked at, however long the offers take.
        queue = client.blocking_queue("orders", transfer=False)
        producer = client.delayed_queue("orders", lean=envelope == "lean", transfer=False)
        # More than one call of a script takes, equal values among them, the last ones due first.
        pairs = [(f"v{number % 900}", 0.2 - number / 10_000) for number in range(1200)]
        assert producer.offer_all(pairs, context=context) == 1200
        producer.offer_all([("plain", 0.2)])
        dues = [item.due for item in producer.items(0, 1999)]
        client.delayed_queue(queue).start_moving()
        batch: list[Any] = []
        while len(batch) < 1201:
            batch += queue.receive(1000, timeout=PATIENCE)
        assert Counter(each.value for each in batch) == Counter(value for value, _ in [*pairs, ("plain", 0)])
        assert [each.context for each in batch if each.value == "plain"] == [{}]
        known = [each for each in batch if each.value != "plain"]
        assert all(each.context == context for each in known)
        assert Counter(each.due for each in known) <= Counter(dues)
        assert all(each.offered <= each.due <= each.received for each in known)
        assert all(queue.ack_all(batch))
    assert admin.exists(KEYS.deliveries, KEYS.histories, KEYS.history_ends, KEYS.timeout, KEYS.envelopes) == 0


def test_many_in_one_context_are_all_offered_or_none(client: Any, admin: Any, delayed: Any) -> None:
    delayed.set_max_size(2)
    with pytest.raises(QueueFullError):
        delayed.offer_all([("a", HOUR), ("b", HOUR), ("c", HOUR)], context={"n": "1"})
    assert not admin.exists(KEYS.deliveries, KEYS.timeout)
    assert delayed.offer_all([("a", HOUR), ("b", HOUR)], context={"n": "1"}) == 2
    delayed.remove("a")
    with client.pipeline(transaction=True) as pipe:
        for request in delayed.requests.offer_all([("c", HOUR)], context={"n": "2"}):
            pipe.add(request)
    assert (delayed.read_all(), admin.hlen(KEYS.deliveries)) == (["b", "c"], 2)


def test_contexts_of_many_that_java_took_are_forgotten_by_later_offers(admin: Any, client: Any) -> None:
    producer = client.delayed_queue("orders", transfer=False)
    for _ in range(3):
        producer.offer_all([(f"v{number}", HOUR) for number in range(300)], context={"n": "1"})
        # Another client has moved and taken them.
        for member in admin.zrange(KEYS.history_ends, 0, -1):
            admin.zadd(KEYS.history_ends, {member: 1})
        admin.delete(KEYS.timeout, KEYS.envelopes)
    producer.offer_all([("last", HOUR)] * 600, context={"n": "2"})
    assert admin.hlen(KEYS.deliveries) == admin.zcard(KEYS.histories) == admin.zcard(KEYS.history_ends) == 600


def test_equal_values_have_their_own_contexts(admin: Any, queue: Any, delayed: Any) -> None:
    delayed.offer("a", delay=HOUR, context={"n": "later"})
    delayed.offer("a", delay=0.01, context={"n": "first"})
    delayed.offer("a", delay=0.03, context={"n": "second"})
    eventually(lambda: queue.size() == 2)
    queue.add("a")
    batch = queue.receive(3, timeout=0)
    assert [each.context.get("n") for each in batch] == ["first", "second", None]


def test_what_is_cancelled_leaves_no_context_for_an_equal_value(admin: Any, queue: Any, delayed: Any) -> None:
    item = delayed.offer("a", delay=HOUR, context={"n": "1"})
    item.cancel()
    delayed.offer("a", delay=HOUR, context={"n": "2"})
    delayed.remove("a")
    delayed.offer("a", delay=HOUR, context={"n": "3"})
    delayed.poll()
    delayed.offer("a", delay=HOUR, context={"n": "4"})
    delayed.poll_last_and_offer_first_to("other")
    delayed.offer("a", delay=HOUR, context={"n": "5"}, id="5")
    delayed.offer("b", delay=HOUR, id="5", on_duplicate="replace")
    delayed.cancel("5")
    assert admin.exists(KEYS.deliveries, KEYS.histories, KEYS.history_ends) == 0
    queue.add("a")
    assert queue.receive(timeout=0).context == {}


def test_a_context_follows_another_due_time(queue: Any, delayed: Any) -> None:
    item = delayed.offer("a", delay=HOUR, context={"n": "1"})
    delayed.offer("a", delay=2 * HOUR, context={"n": "2"})
    item.reschedule(delay=3 * HOUR)
    item.run_now()
    delivery = queue.receive(timeout=PATIENCE)
    assert delivery.context == {"n": "1"}
    assert delivery.due == item.due


def test_contexts_of_values_that_others_took_are_forgotten(admin: Any, queue: Any, delayed: Any) -> None:
    for _ in range(50):
        delayed.offer("a", delay=0, context={"n": "1"})
    eventually(lambda: queue.size() == 50)
    assert queue.poll(limit=50) == ["a"] * 50
    eventually(lambda: queue.receive(timeout=0) is None and not admin.exists(KEYS.deliveries))
    assert not admin.exists(KEYS.histories, KEYS.history_ends)


@pytest.mark.parametrize("bad", ["text", {"a": 1}, {1: "a"}, [("a", "b")], {"a": "x" * 20_000}, {"a": "\ud800"}])
def test_a_context_is_text_to_text(delayed: Any, bad: Any) -> None:
    with pytest.raises(ArgumentError, match="context="):
        delayed.offer("a", delay=1, context=bad)


#: Calls beside leases, with the values that are held. Each one either leaves everything as it was, or is done.
BESIDE: dict[str, Callable[[Any, Any, Sequence[Any]], Any]] = {
    "ack": lambda queue, delayed, held: queue.ack_all(held),
    "nack": lambda queue, delayed, held: queue.nack_all(held),
    "nack later": lambda queue, delayed, held: queue.nack_all(held, delay=5),
    "reject": lambda queue, delayed, held: queue.reject_all(held),
    "extend": lambda queue, delayed, held: queue.extend_all(held, 5),
    "receive": lambda queue, delayed, held: queue.receive(5, timeout=0),
    "redrive": lambda queue, delayed, held: queue.redrive(),
    "take_due": lambda queue, delayed, held: delayed.take_due(limit=5),
    "lease": lambda queue, delayed, held: delayed.take_due(limit=5, visibility_timeout=5),
    "offer": lambda queue, delayed, held: delayed.offer("w", 5, id="7", on_duplicate="replace"),
    "run_now": lambda queue, delayed, held: delayed.find("7").run_now(),
    "cancel": lambda queue, delayed, held: delayed.find("7").cancel(),
    "remove": lambda queue, delayed, held: delayed.remove("w"),
    "poll": lambda queue, delayed, held: delayed.poll(5),
    "poll_last": lambda queue, delayed, held: delayed.poll_last_and_offer_first_to("other"),
    "clear": lambda queue, delayed, held: delayed.clear(),
}
BESIDE_KEYS = ("leases", "deliveries", "histories", "history_ends", "lines", "turns", "handled", "arrivals")


def moved_by_redisson(admin: Any, delivery: Any) -> None:
    """Makes the value of a lease ready at its deadline, and notes nothing about it."""
    eventually(lambda: admin.zscore(KEYS.leases, bytes.fromhex(delivery.id)) < time.time() * 1000)
    ((member, _),) = [each for each in admin.zscan_iter(KEYS.timeout) if each[0].endswith(delivery.data)]
    admin.zrem(KEYS.timeout, member)
    admin.rpush("orders", delivery.data)


@pytest.mark.parametrize("call", BESIDE)
def test_a_key_of_another_type_changes_nothing(admin: Any, client: Any, call: str) -> None:
    queue, delayed = (open("orders", transfer=False) for open in (client.blocking_queue, client.delayed_queue))
    refused = set()
    for key in BESIDE_KEYS:
        admin.flushall()
        queue.add_all(["lapsed", "back", "dead", "a", "b", "c"])
        lapsed, back, dead, *held = queue.receive(5, timeout=0, visibility_timeout=HOUR)
        assert lapsed.extend(0.001)
        assert back.nack()
        assert dead.reject()
        delayed.offer("w", HOUR, id="7", context={"trace": "1"})
        delayed.offer("due", 0, context={"trace": "2"})
        for each in held:
            # As a worker's slot, and what its value is unique by.
            id, limit = bytes.fromhex(each.id), b"L" * 16
            admin.hset(KEYS.turns, mapping={b"s" + id: limit, b"u" + id: b"U" * 16 + b"1000"})
            admin.zadd(KEYS.lines, {b"s" + limit + id: 0})
        if key != "leases":
            moved_by_redisson(admin, lapsed)
        name = getattr(KEYS, key)
        admin.delete(name)
        admin.set(name, "text")
        before = dump(admin)
        with suppress(WrongTypeError):
            BESIDE[call](queue, delayed, held)
            continue
        refused.add(key)
        assert dump(admin) == before
    assert refused, "the keys are those that the call works on"

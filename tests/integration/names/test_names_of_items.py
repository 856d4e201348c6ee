"""An item keeps the id of its offer until it is settled: each call on it in each state, moved by us or by Java."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq import ItemState, OfferOutcome, Outcome, SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError, DuplicateItemError
from redisson_dq.wire.keys import DeadKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts
from tests.interop.sides import HOUR

DEAD = DeadKeys.belonging_to("orders")


# Like Redisson: the bytes of the values arrive, and nothing else is changed.
_MOVE = """
local now = redis.call('TIME')
local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now[1] * 1000 + math.floor(now[2] / 1000))
for _, member in ipairs(due) do
  local size = string.byte(member)
  if size ~= 8 and size ~= 9 and size ~= 10 then
    size = 7
  end
  redis.call('RPUSH', KEYS[1], string.sub(member, size + 10))
  redis.call('LREM', KEYS[3], 1, member)
  redis.call('ZREM', KEYS[2], member)
end
"""


def moved(admin: Any) -> None:
    """Moves what is due."""
    admin.eval(_MOVE, 3, KEYS.ready, KEYS.timeout, KEYS.envelopes)


def make_ready(admin: Any, producer: Any, value: str = "a", id: str = "71", **options: Any) -> None:
    before = admin.llen(KEYS.ready)
    producer.offer(value, delay=0, id=id, **options)

    def is_ready() -> bool:
        moved(admin)
        return bool(admin.llen(KEYS.ready) > before)

    eventually(is_ready)


def received(queue: Any, **options: Any) -> Any:
    return queue.receive(timeout=PATIENCE, **{"visibility_timeout": HOUR, **options})


def lapsed(admin: Any, queue: Any) -> None:
    """A lease ends, and Java makes its value ready again."""
    delivery = received(queue, visibility_timeout=0.02)
    eventually(lambda: delivery.remaining <= timedelta(0))
    moved(admin)
    assert admin.lrange(KEYS.ready, 0, -1) == [b"a"]


def waiting(admin: Any, producer: Any, queue: Any) -> None:
    producer.offer("a", delay=HOUR, id="71")


def ready(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)


def leased(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    received(queue)


def retrying(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    assert received(queue).nack(delay=HOUR, reason="no stock") is SettleOutcome.DELAYED


def returned(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    assert received(queue).nack() is SettleOutcome.RETURNED


def parked(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    assert received(queue).nack(delay=HOUR, count=False) is SettleOutcome.DELAYED


def crashed(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    lapsed(admin, queue)


def dead(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    assert received(queue).reject("broken") is SettleOutcome.DEAD_LETTERED


def redriven(admin: Any, producer: Any, queue: Any) -> None:
    dead(admin, producer, queue)
    assert queue.redrive().count == 1


STATES: dict[Callable[..., None], tuple[ItemState, int]] = {
    waiting: (ItemState.WAITING, 0),
    ready: (ItemState.READY, 0),
    leased: (ItemState.LEASED, 1),
    retrying: (ItemState.RETRYING, 1),
    returned: (ItemState.READY, 1),
    parked: (ItemState.PARKED, 0),
    crashed: (ItemState.READY, 1),
    dead: (ItemState.DEAD, 1),
    redriven: (ItemState.READY, 0),
}


@pytest.fixture(params=STATES, ids=lambda state: state.__name__)
def state(request: pytest.FixtureRequest, admin: Any, producer: Any, queue: Any) -> Any:
    request.param(admin, producer, queue)
    return request.param


def nothing_is_left(admin: Any) -> None:
    """The item is settled: neither its value nor its names stand anywhere, but for the line that remembers it."""
    looked = whereabouts(admin)
    assert looked.total.total() == looked.leased.total()
    assert [field[:1] for field in admin.hkeys(KEYS.records)] == [b"c"] * admin.zcard(KEYS.leases)


# -- each call in each state -----------------------------------------------------------------------------------------


def test_an_item_is_found_until_it_is_settled(state: Any, producer: Any) -> None:
    item = producer.find("71")
    assert (item.id, item.value, item.state, item.attempts) == ("71", "a", *STATES[state])


def test_a_cancelled_item_is_delivered_no_more(state: Any, admin: Any, producer: Any, queue: Any) -> None:
    assert producer.cancel("71") is Outcome.CANCELLED
    assert producer.cancel("71") is Outcome.UNKNOWN
    assert producer.find("71") is None
    looked = whereabouts(admin)
    assert looked.total == looked.leased
    assert looked.leased.total() == (state is leased)
    assert queue.receive(timeout=0.02) is None
    nothing_is_left(admin)


def test_a_handle_of_the_offer_cancels_the_item_in_each_state(state: Any, producer: Any) -> None:
    item = producer.find("71")
    assert item.cancel() is Outcome.CANCELLED
    assert item.cancel() is Outcome.UNKNOWN


def test_an_offer_under_the_id_is_refused(state: Any, admin: Any, producer: Any) -> None:
    before = whereabouts(admin).total
    with pytest.raises(DuplicateItemError) as refused:
        producer.offer("b", delay=HOUR, id="71")
    assert refused.value.state == STATES[state][0].value
    kept = producer.offer("b", delay=HOUR, id="71", on_duplicate="keep")
    assert (kept.outcome, kept.value) == (OfferOutcome.KEPT, "a")
    assert whereabouts(admin).total == before


def test_an_offer_replaces_the_item(state: Any, admin: Any, producer: Any, queue: Any) -> None:
    item = producer.offer("b", delay=HOUR, id="71", on_duplicate="replace")
    assert item.outcome is OfferOutcome.REPLACED
    looked = whereabouts(admin)
    assert dict(looked.waiting) == {b"b": 1}
    assert looked.total - looked.leased == looked.waiting
    assert looked.leased.total() == (state is leased)
    found = producer.find("71")
    assert (found.value, found.state) == ("b", ItemState.WAITING)


def test_an_item_runs_now(state: Any, admin: Any, producer: Any, queue: Any) -> None:
    attempts = STATES[state][1]
    assert producer.run_now("71") is Outcome.RESCHEDULED
    if state is leased:
        return
    moved(admin)
    delivery = received(queue)
    expected = 1 if state is dead else attempts + 1
    assert (delivery.value, delivery.offer_id, delivery.attempt) == ("a", "71", expected)
    assert producer.find("71").state is ItemState.LEASED
    assert delivery.ack() is SettleOutcome.ACKED
    assert (producer.find("71"), producer.cancel("71")) == (None, Outcome.DELIVERED)
    nothing_is_left_but_the_record(admin)


def nothing_is_left_but_the_record(admin: Any) -> None:
    assert whereabouts(admin).total.total() == 0
    assert sorted(field[:1] for field in admin.hkeys(KEYS.records)) == [b"e", b"i"]
    assert not admin.exists(KEYS.deliveries, KEYS.histories, KEYS.history_ends, KEYS.leases)


def test_an_item_is_put_off(state: Any, admin: Any, producer: Any, queue: Any) -> None:
    assert producer.reschedule("71", delay=2 * HOUR) is Outcome.RESCHEDULED
    item = producer.find("71")
    if state is leased:
        assert item.state is ItemState.LEASED
        return
    assert timedelta(seconds=1.9 * HOUR) < item.remaining
    # What is ready or dead waits again. No worker has parked it.
    before = STATES[state][0]
    waits_again = ItemState.RETRYING if STATES[state][1] and state is not dead else ItemState.WAITING
    assert item.state is (before if before in (ItemState.RETRYING, ItemState.PARKED) else waits_again)
    assert [each.state for each in producer.items()] == [item.state]
    assert queue.receive(timeout=0.02) is None
    assert dict(whereabouts(admin).waiting) == {b"a": 1}
    assert producer.cancel("71") is Outcome.CANCELLED
    nothing_is_left(admin)


def test_an_item_that_was_put_off_and_then_brought_forward_is_delivered_for_good(
    admin: Any, producer: Any, queue: Any
) -> None:
    make_ready(admin, producer)
    assert producer.reschedule("71", HOUR) is Outcome.RESCHEDULED
    assert producer.run_now("71") is Outcome.RESCHEDULED

    def is_ready() -> bool:
        moved(admin)
        return bool(admin.llen(KEYS.ready))

    eventually(is_ready)
    assert queue.poll() == "a"
    assert producer.reschedule("71", HOUR) is Outcome.DELIVERED
    assert producer.cancel("71") is Outcome.DELIVERED


def test_the_items_that_wait_have_their_names(state: Any, producer: Any) -> None:
    found = [(item.id, item.state, item.attempts) for item in producer.items()]
    waits = STATES[state][0] in (ItemState.WAITING, ItemState.RETRYING, ItemState.PARKED)
    assert found == ([("71", *STATES[state])] if waits else [])
    assert [item == producer.find("71") for item in producer.items()] == [True] * len(found)


# -- what a receiver sees --------------------------------------------------------------------------------------------


def test_one_order_is_followed_through_all_its_deliveries(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer, context={"trace": "00-4bf9"})
    told = []
    for attempt in range(1, 4):
        delivery = received(queue)
        told.append((delivery.offer_id, delivery.attempt, delivery.context))
        assert queue.in_flight()[0].offer_id == "71"
        if attempt < 3:
            delivery.nack()
    assert told == [("71", attempt, {"trace": "00-4bf9"}) for attempt in range(1, 4)]
    delivery.reject("broken")
    (letter,) = queue.dead_letters()
    assert (letter.offer_id, letter.context, letter.attempts) == ("71", {"trace": "00-4bf9"}, 3)


def test_a_value_without_an_id_has_none(queue: Any) -> None:
    queue.add("a")
    assert received(queue).offer_id is None


def test_a_receiver_learns_that_the_item_was_cancelled(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    delivery = received(queue)
    producer.cancel("71")
    assert not delivery.cancelled
    assert delivery.extend(HOUR) is SettleOutcome.EXTENDED
    assert delivery.cancelled
    assert not delivery.lost


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (lambda delivery: delivery.ack(), SettleOutcome.ACKED),
        (lambda delivery: delivery.nack(), SettleOutcome.CANCELLED),
        (lambda delivery: delivery.nack(delay=HOUR), SettleOutcome.CANCELLED),
        (lambda delivery: delivery.nack(count=False), SettleOutcome.CANCELLED),
        (lambda delivery: delivery.reject("broken"), SettleOutcome.CANCELLED),
    ],
)
def test_the_end_of_a_lease_whose_item_was_cancelled(
    end: Any, outcome: SettleOutcome, admin: Any, producer: Any, queue: Any
) -> None:
    make_ready(admin, producer)
    delivery = received(queue)
    producer.cancel("71")
    assert end(delivery) is outcome
    assert whereabouts(admin).total.total() == 0
    assert not admin.exists(KEYS.records, KEYS.deliveries, KEYS.histories)


def test_a_cancelled_item_whose_receiver_died_does_not_come_again(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    delivery = received(queue, visibility_timeout=0.1)
    assert producer.cancel("71") is Outcome.CANCELLED
    eventually(lambda: delivery.remaining <= timedelta(0))
    moved(admin)
    assert queue.receive(timeout=0.02) is None
    assert whereabouts(admin).total.total() == 0
    assert not admin.exists(KEYS.records, KEYS.deliveries, KEYS.histories)


def test_a_cancelled_item_does_not_come_again_however_long_nobody_receives(
    admin: Any, producer: Any, queue: Any
) -> None:
    make_ready(admin, producer)
    delivery = received(queue, visibility_timeout=0.1)
    assert producer.cancel("71") is Outcome.CANCELLED
    eventually(lambda: delivery.remaining <= timedelta(0))
    moved(admin)
    # The time for which outcomes are remembered is over, and a call drops them.
    admin.zadd(KEYS.forget, dict.fromkeys(admin.zrange(KEYS.forget, 0, -1), 1))
    producer.offer("b", delay=HOUR, id="72")
    assert queue.receive(timeout=0.02) is None
    assert whereabouts(admin).total == {b"b": 1}
    producer.cancel("72")
    nothing_is_left(admin)


def test_an_item_keeps_its_name_while_its_receiver_was_killed_before_the_lease(
    admin: Any, producer: Any, queue: Any
) -> None:
    make_ready(admin, producer)
    admin.lmove(KEYS.ready, KEYS.arrivals)
    admin.zadd(KEYS.forget, dict.fromkeys(admin.zrange(KEYS.forget, 0, -1), 1))
    producer.offer("b", delay=HOUR, id="72")
    assert producer.find("71").state is ItemState.READY
    assert received(queue).offer_id == "71"


def test_what_is_known_of_a_cancelled_item_goes_when_its_value_was_taken(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    delivery = received(queue, visibility_timeout=0.1)
    producer.cancel("71")
    eventually(lambda: delivery.remaining <= timedelta(0))
    moved(admin)
    assert admin.lpop(KEYS.ready) == b"a"
    assert queue.receive(timeout=0.02) is None
    admin.zadd(KEYS.forget, dict.fromkeys(admin.zrange(KEYS.forget, 0, -1), 1))
    assert producer.cancel("72") is Outcome.UNKNOWN
    assert not admin.exists(KEYS.records, KEYS.forget, KEYS.deliveries, KEYS.histories, KEYS.history_ends)


def test_a_leased_item_comes_again_when_it_was_told_to(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    delivery = received(queue)
    assert producer.reschedule("71", delay=HOUR) is Outcome.RESCHEDULED
    assert delivery.nack() is SettleOutcome.DELAYED
    assert producer.find("71").remaining > timedelta(seconds=HOUR - PATIENCE)
    assert producer.run_now("71") is Outcome.RESCHEDULED
    moved(admin)
    assert received(queue).attempt == 2


def test_an_ack_ends_the_name_and_the_id_is_remembered(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    received(queue).ack()
    with pytest.raises(DuplicateItemError) as refused:
        producer.offer("b", delay=0, id="71")
    assert refused.value.state == "delivered"
    nothing_is_left_but_the_record(admin)


# -- plain takers ----------------------------------------------------------------------------------------------------


def test_a_plain_take_ends_the_name(admin: Any, producer: Any, queue: Any) -> None:
    make_ready(admin, producer)
    assert queue.poll() == "a"
    assert (producer.find("71"), producer.cancel("71")) == (None, Outcome.DELIVERED)
    assert producer.run_now("71") is Outcome.DELIVERED


# -- equal values ----------------------------------------------------------------------------------------------------


def test_of_equal_values_the_right_one_is_cancelled(admin: Any, producer: Any, queue: Any) -> None:
    for id in ("first", "second", "third"):
        make_ready(admin, producer, id=id)
    assert producer.cancel("second") is Outcome.CANCELLED
    assert [received(queue).offer_id for _ in range(2)] == ["first", "third"]
    assert queue.receive(timeout=0.02) is None


def test_of_equal_values_that_somebody_took_the_oldest_are_gone(admin: Any, producer: Any, queue: Any) -> None:
    for id in ("first", "second", "third"):
        make_ready(admin, producer, id=id)
    assert queue.poll() == "a"
    assert producer.cancel("first") is Outcome.DELIVERED
    assert producer.find("second").state is ItemState.READY
    assert producer.cancel("third") is Outcome.CANCELLED
    assert admin.lrange(KEYS.ready, 0, -1) == [b"a"]


# -- other kinds of queues -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"lean": True}, {"lean": False}])
def test_a_retry_of_each_kind_of_entry(admin: Any, client: Any, queue: Any, options: dict[str, Any]) -> None:
    delayed = client.delayed_queue("orders", transfer=False, **options)
    make_ready(admin, delayed)
    received(queue).nack(delay=HOUR)
    assert delayed.find("71").state is ItemState.RETRYING
    assert delayed.cancel("71") is Outcome.CANCELLED
    nothing_is_left(admin)


def test_an_item_in_partitions(flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        queue, delayed = client.blocking_queue("orders", partitions=3), client.delayed_queue("orders", partitions=3)
        for number in range(9):
            delayed.offer(f"v{number}", delay=0, id=f"{number}")
        for _ in range(9):
            delivery = received(queue)
            assert delivery.value == f"v{delivery.offer_id}"
            delivery.nack(delay=HOUR)
        for number in range(9):
            found = delayed.find(f"{number}")
            assert (found.state, found.attempts) == (ItemState.RETRYING, 1)
            with pytest.raises(DuplicateItemError):
                delayed.offer("b", delay=0, id=f"{number}")
            assert delayed.cancel(f"{number}") is Outcome.CANCELLED
        assert delayed.size() == 0


@pytest.mark.parametrize("where", ["ready", "retrying", "leased", "dead"])
def test_a_cancelled_item_makes_room_in_a_bounded_queue(admin: Any, client: Any, producer: Any, where: str) -> None:
    queue = client.bounded_blocking_queue("orders")
    assert queue.try_set_capacity(2)
    assert queue.offer("other")
    assert received(queue).ack() is SettleOutcome.ACKED
    # A transfer takes no room. So a value that it moved makes room of its own.
    make_ready(admin, producer)
    admin.decrby(KEYS.capacity, 1)
    if where != "ready":
        delivery = received(queue)
        if where == "retrying":
            delivery.nack(delay=HOUR)
        elif where == "dead":
            delivery.reject("broken")
    assert producer.cancel("71") is Outcome.CANCELLED
    if where == "leased":
        assert queue.remaining_capacity() == 1
        assert delivery.nack() is SettleOutcome.CANCELLED
    assert queue.remaining_capacity() == 2


def test_an_offer_by_payload_is_a_duplicate_while_it_is_retried(admin: Any, producer: Any, queue: Any) -> None:
    producer.offer("a", delay=0, deduplicate_for=HOUR)
    moved_when_due(admin)
    received(queue).nack(delay=HOUR)
    with pytest.raises(DuplicateItemError) as refused:
        producer.offer("a", delay=0, deduplicate_for=HOUR)
    assert refused.value.state == "retrying"
    replaced = producer.offer("a", delay=2 * HOUR, deduplicate_for=HOUR, on_duplicate="replace")
    assert replaced.outcome is OfferOutcome.REPLACED
    assert dict(whereabouts(admin).total) == {b"a": 1}


def moved_when_due(admin: Any) -> None:
    def is_ready() -> bool:
        moved(admin)
        return bool(admin.llen(KEYS.ready))

    eventually(is_ready)


def test_a_redrive_into_another_queue_takes_the_name_along(admin: Any, client: Any, producer: Any, queue: Any) -> None:
    dead(admin, producer, queue)
    assert queue.redrive(to="orders{orders}").count == 1
    other = client.delayed_queue("orders{orders}", transfer=False)
    assert other.find("71").state is ItemState.READY
    delivery = received(client.blocking_queue("orders{orders}"))
    assert (delivery.offer_id, other.find("71").state) == ("71", ItemState.LEASED)
    assert producer.find("71") is None


def test_a_purge_ends_the_name(admin: Any, producer: Any, queue: Any) -> None:
    dead(admin, producer, queue)
    assert queue.purge_dead() == 1
    assert (producer.find("71"), producer.cancel("71")) == (None, Outcome.UNKNOWN)
    nothing_is_left(admin)


def test_names_go_along_with_a_dump_and_a_rename(admin: Any, producer: Any, client: Any, queue: Any) -> None:
    make_ready(admin, producer)
    received(queue).nack(delay=HOUR)
    content = producer.dump()
    producer.delete()
    assert producer.find("71") is None
    producer.restore(content)
    assert (producer.find("71").state, producer.find("71").attempts) == (ItemState.RETRYING, 1)
    producer.rename("orders{orders}")
    assert client.delayed_queue("orders{orders}", transfer=False).find("71").state is ItemState.RETRYING


def test_strange_names(admin: Any, producer: Any, queue: Any) -> None:
    for id in ['"', "\\", 'a",b', "a b", "\u00e9\u20ac\U0001f600", "\x00", "/", "i", "x" * 512]:
        make_ready(admin, producer, id=id)
        delivery = received(queue)
        assert delivery.offer_id == id
        delivery.nack(delay=HOUR)
        assert producer.find(id).id == id
        assert producer.cancel(id) is Outcome.CANCELLED


def test_the_word_of_the_library_is_refused_in_a_context(producer: Any) -> None:
    with pytest.raises(ArgumentError, match=r"redisson_dq\.item"):
        producer.offer("a", delay=0, context={"redisson_dq.item": "0a 5 i71"})


@pytest.mark.parametrize("ends", [False, True])
def test_an_overdue_item_keeps_its_name_however_long_nobody_moves_it(admin: Any, producer: Any, ends: bool) -> None:
    item = producer.offer("a", delay=0, id="71")
    eventually(lambda: item.remaining < timedelta(0))
    for number in range(3):
        # Each offer drops what is over. What was looked at is looked at again some seconds later.
        admin.zadd(KEYS.history_ends, dict.fromkeys(admin.zrangebyscore(KEYS.history_ends, 0, "+inf"), 1 + number))
        producer.offer("b", delay=HOUR, id=f"other {number}")
    assert producer.find("71").state is ItemState.WAITING
    if ends:
        producer.clear()
        assert not admin.exists(KEYS.histories, KEYS.history_ends, KEYS.deliveries, KEYS.records)


# -- now, and already ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["run_now", "reschedule"])
def test_a_ready_item_that_is_to_run_now_keeps_its_place(admin: Any, client: Any, call: str) -> None:
    delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
    names = [str(number) for number in range(10)]
    for name in names:
        delayed.offer(name, 0, id=name)
    eventually(lambda: admin.llen("orders") == len(names))
    for name in names:
        outcome = delayed.run_now(name) if call == "run_now" else delayed.reschedule(name, 0)
        assert outcome is Outcome.RESCHEDULED
    assert queue.read_all() == names
    assert not admin.exists(KEYS.timeout)


def test_an_overdue_item_that_is_to_run_now_keeps_its_place(admin: Any, producer: Any) -> None:
    for name in ("a", "b", "c"):
        producer.offer(name, 0, id=name)
    before = admin.zrange(KEYS.timeout, 0, -1, withscores=True)

    def all_are_overdue() -> bool:
        seconds, us = admin.time()
        return bool(seconds * 1000 + us // 1000 > before[-1][1])

    eventually(all_are_overdue)
    assert producer.run_now("a") is Outcome.RESCHEDULED
    assert admin.zrange(KEYS.timeout, 0, -1, withscores=True) == before

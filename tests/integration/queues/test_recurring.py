"""Recurring offers: one occurrence for each time, on the grid, whichever clients run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.items import OfferOutcome, Outcome
from redisson_dq.observing import Missed
from tests.conftest import eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import announced, of_server, wait_until
from tests.interop.sides import HOUR, NO_PROBE, server_ms, take


@pytest.fixture
def woken(flavour: Flavour, url: str) -> Iterator[Any]:
    """A client that learns of things by wake-ups alone."""
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        yield client


# -- declaring -------------------------------------------------------------------------------------------------------


def test_a_recurring_offer_is_listed(admin: Any, producer: Any) -> None:
    at = of_server(admin, 3_600_000).replace(microsecond=123_000)
    assert producer.offer_recurring("a", "b\0 %s\u4e2d", every=timedelta(hours=2), start=at) is OfferOutcome.OFFERED
    assert producer.offer_recurring("c", "d", cron="0 9 * * mon-fri", timezone="Europe/Berlin") is OfferOutcome.OFFERED
    every, cron = sorted(producer.recurring(), key=lambda offer: offer.id)
    assert (every.id, every.next_due, every.every, every.cron, every.data) == (
        "b\0 %s\u4e2d",
        at,
        timedelta(hours=2),
        None,
        b"a",
    )
    assert (cron.id, cron.every, cron.cron, cron.timezone) == ("d", None, "0 9 * * mon-fri", "Europe/Berlin")
    assert sorted(item.due for item in producer.items()) == sorted([at, cron.next_due])
    assert len(producer.recurring(0, 0)) == len(producer.recurring(1, 1)) == 1
    assert sorted(producer.read_all()) == ["a", "c"]
    assert producer.cancel_recurring("d")
    assert producer.cancel_recurring("b\0 %s\u4e2d")
    assert admin.keys() == []


def test_declared_again(admin: Any, producer: Any, flavour: Flavour, url: str) -> None:
    assert producer.offer_recurring("a", "daily", every=HOUR) is OfferOutcome.OFFERED
    before = producer.recurring()
    with flavour.connect(url, codec=StringCodec()) as other:
        delayed = other.delayed_queue("orders")
        assert delayed.offer_recurring("a", "daily", every=timedelta(hours=1)) is OfferOutcome.KEPT
        assert delayed.recurring() == before
        assert admin.zcard(KEYS.timeout) == 1
        for changed in ({"every": HOUR / 2}, {"cron": "@daily"}, {"cron": "@daily", "timezone": "Asia/Tokyo"}):
            assert delayed.offer_recurring("a", "daily", **changed) is OfferOutcome.REPLACED
            assert delayed.offer_recurring("a", "daily", **changed) is OfferOutcome.KEPT
        assert delayed.offer_recurring("b", "daily", **changed) is OfferOutcome.REPLACED, "another value"
    (offer,), (item,) = producer.recurring(), producer.items()
    assert (offer.next_due, item.due, item.value, producer.read_all()) == (item.due, offer.next_due, "b", ["b"])


def test_cancel_recurring(admin: Any, producer: Any) -> None:
    producer.offer("a", delay=60)
    producer.offer_recurring("a", "daily", every=60)
    assert producer.cancel_recurring("daily")
    assert not producer.cancel_recurring("daily")
    assert producer.recurring() == []
    assert producer.read_all() == ["a"]
    assert producer.offer_recurring("a", "daily", every=60) is OfferOutcome.OFFERED


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"every": 60, "cron": "@daily"},
        {"every": 0},
        {"cron": "* * *"},
        {"cron": "@daily", "timezone": "Mars/Base"},
        {"every": 60, "start": 5},
        {"cron": "0 0 30 feb *"},
    ],
)
def test_definitions_that_cannot_be_used(admin: Any, producer: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="'orders'"):
        producer.offer_recurring("a", "daily", **options)
    assert admin.keys() == []


def test_an_end_that_has_passed(admin: Any, producer: Any) -> None:
    with pytest.raises(ArgumentError, match="would never be due"):
        producer.offer_recurring("a", "daily", every=60, end=of_server(admin))
    assert admin.keys() == []


# -- coming ----------------------------------------------------------------------------------------------------------


def test_occurrences_are_on_the_grid(admin: Any, woken: Any) -> None:
    delayed, queue = woken.delayed_queue("orders"), woken.blocking_queue("orders")
    start = of_server(admin, 300).replace(microsecond=37_000) + timedelta(seconds=1)
    start_ms = round(start.timestamp() * 1000)
    with announced(admin) as dues:
        delayed.offer_recurring("a", "tick", every=0.1, start=start)
        for _ in range(10):
            assert take(queue) == "a"
        assert delayed.cancel_recurring("tick")
        taken = 10 + len(queue.poll(limit=100))
        last = server_ms(admin)
    come = [due for due in dues() if due <= last]
    assert come[0] == start_ms
    assert [due % 100 for due in dues()] == [37] * len(dues())
    # The cancel may have come just before the last one's transfer.
    assert taken in (len(come), len(come) - 1)
    assert delayed.is_empty()


def test_the_end_is_inclusive_and_leaves_nothing(admin: Any, woken: Any) -> None:
    delayed, queue = woken.delayed_queue("orders"), woken.blocking_queue("orders")
    start = of_server(admin, 200).replace(microsecond=0) + timedelta(seconds=1)
    delayed.offer_recurring("a", "tick", every=0.1, start=start, end=start + timedelta(milliseconds=100))
    assert take(queue) == "a"
    eventually(lambda: not delayed.recurring())
    eventually(lambda: admin.keys() in ([b"orders"], []))
    # A step that was late by a whole interval makes one occurrence of the two.
    assert len(queue.poll(limit=5)) <= 1


def test_a_cancelled_occurrence_is_left_out(admin: Any, woken: Any) -> None:
    """Also when nothing else waits, so that no timer runs for anything."""
    delayed, queue = woken.delayed_queue("orders"), woken.blocking_queue("orders")
    delayed.offer_recurring("a", "tick", every=0.3)
    (first,) = delayed.items()
    assert delayed.cancel(first.id) is Outcome.CANCELLED
    assert delayed.is_empty()
    assert take(queue) == "a"
    # The second one came; the third is offered a moment later.
    eventually(lambda: delayed.recurring()[0].next_due - first.due >= timedelta(milliseconds=600))
    assert (delayed.recurring()[0].next_due - first.due) % timedelta(milliseconds=300) == timedelta(0)
    assert delayed.cancel(first.id) is Outcome.UNKNOWN


def test_a_cancelled_occurrence_between_others_that_come(admin: Any, woken: Any) -> None:
    """The transfer that tells of one offer also tells when the next one of another is to be made."""
    delayed, queue = woken.delayed_queue("orders"), woken.blocking_queue("orders")
    start = of_server(admin, 400)
    delayed.offer_recurring("often", "often", every=HOUR, start=start)
    delayed.offer_recurring("skipped", "skipped", every=0.3, start=start + timedelta(milliseconds=100))
    (skipped,) = [item for item in delayed.items() if item.value == "skipped"]
    assert skipped.cancel() is Outcome.CANCELLED
    assert [take(queue), take(queue)] == ["often", "skipped"]


@pytest.mark.parametrize("skipped", [False, True])
def test_more_that_come_at_once_than_one_reply_tells_of(flavour: Flavour, admin: Any, url: str, skipped: bool) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE, transfer_batch=4) as client:
        delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
        # The items that are skipped are all cancelled before they are due.
        start = of_server(admin, 2500 if skipped else 500).replace(microsecond=0) + timedelta(seconds=1)
        for number in range(18):
            delayed.offer_recurring(f"{number}", f"{number}", every=HOUR, start=start)
        if skipped:
            # One transfer for all of them, as there is nothing to move.
            assert {item.cancel() for item in delayed.items()} == {Outcome.CANCELLED}
        else:
            assert sorted(int(take(queue)) for _ in range(18)) == list(range(18))
        eventually(lambda: {offer.next_due - start for offer in delayed.recurring()} == {timedelta(hours=1)})
        # The time tells by itself which one is next, and a transfer makes its item.
        eventually(lambda: admin.zcard(KEYS.timeout) == 18)


def test_a_step_that_fails_is_tried_again(admin: Any, woken: Any, caplog: Any) -> None:
    delayed, queue = woken.delayed_queue("orders"), woken.blocking_queue("orders")
    delayed.offer_recurring("a", "tick", every=0.2)
    (item,) = delayed.items()
    assert item.cancel() is Outcome.CANCELLED
    admin.set(KEYS.envelopes, "not a list")
    eventually(lambda: "a transfer failed" in caplog.text)
    admin.delete(KEYS.envelopes)
    assert take(queue) == "a"


def test_a_definition_of_a_later_release_holds_up_nothing(admin: Any, woken: Any, caplog: Any) -> None:
    delayed, queue = woken.delayed_queue("orders"), woken.blocking_queue("orders")
    delayed.offer_recurring("later", "later", every=HOUR)
    delayed.offer_recurring("a", "tick", every=0.1)
    (hourly,) = [item for item in delayed.items() if item.value == "later"]
    admin.hset(KEYS.recurring, "dlater", '{"v":3}')
    admin.zadd(KEYS.recurring_due, {"later": round(hourly.due.timestamp() * 1000) - 3_600_000})
    for _ in range(3):
        assert take(queue) == "a"
    assert "the rule of a recurring offer in form 3" in caplog.text
    assert [each.id for each in delayed.recurring()] == ["tick"]


def test_a_definition_that_was_evicted_holds_up_nothing(admin: Any, woken: Any, caplog: Any) -> None:
    delayed, queue = woken.delayed_queue("orders"), woken.blocking_queue("orders")
    delayed.offer_recurring("a", "tick", every=0.1)
    admin.delete(KEYS.recurring)
    assert delayed.recurring() == []
    assert take(queue) == "a"
    delayed.offer("b", delay=0.05)
    assert take(queue) == "b"
    eventually(lambda: admin.keys() == [])
    assert caplog.text == ""


def test_a_row_that_nobody_can_read_does_not_end_the_delivery(admin: Any, woken: Any, caplog: Any) -> None:
    admin.hset(KEYS.recurring, mapping={b"d\xff": "not JSON", b"v\xff": "value"})
    admin.zadd(KEYS.recurring_due, {b"\xff": 1})
    delayed, queue = woken.delayed_queue("orders"), woken.blocking_queue("orders")
    for value in ("a", "b"):
        delayed.offer(value, delay=0)
        assert take(queue) == value
    assert "the recurring offer '\\\\xff' cannot continue" in caplog.text


def test_a_declaration_after_the_one_before_was_evicted(admin: Any, producer: Any) -> None:
    producer.offer_recurring("a", "tick", every=HOUR)
    admin.delete(KEYS.recurring)
    assert producer.offer_recurring("a", "tick", every=HOUR) is OfferOutcome.REPLACED
    assert [offer.id for offer in producer.recurring()] == ["tick"]
    assert producer.size() == 2, "what waited cannot be found any more"
    admin.delete(KEYS.recurring)
    assert producer.cancel_recurring("tick")
    assert not producer.cancel_recurring("tick")


# -- nobody there ----------------------------------------------------------------------------------------------------


def test_after_a_time_without_anybody_one_is_made_up(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as first:
        first.delayed_queue("orders", transfer=False).offer_recurring("a", "tick", every=0.1)
        (offer,) = first.delayed_queue("orders", transfer=False).recurring()
    wait_until(admin, offer.next_due + timedelta(milliseconds=350))
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as second:
        delayed = moving(second.delayed_queue("orders"))
        eventually(lambda: delayed.recurring()[0].next_due > offer.next_due)
        (after,) = delayed.recurring()
        missed = (after.next_due - offer.next_due) / timedelta(milliseconds=100)
        assert missed == int(missed) >= 4
        delayed.cancel_recurring("tick")
        eventually(lambda: admin.zcard(KEYS.timeout) == 0)
        # One for all that were missed, and those that came since then.
        assert 1 <= admin.llen("orders") <= 1 + (server_ms(admin) - after.next_due.timestamp() * 1000) // 100 + 1


@pytest.mark.parametrize("skipped", [False, True])
def test_a_pause(admin: Any, woken: Any, producer: Any, skipped: bool) -> None:
    delayed, queue = woken.delayed_queue("orders"), woken.blocking_queue("orders")
    producer.pause()
    delayed.offer_recurring("a", "tick", every=0.1)
    (offer,) = delayed.recurring()
    (item,) = delayed.items()
    if skipped:
        assert item.cancel() is Outcome.CANCELLED
    wait_until(admin, offer.next_due + timedelta(milliseconds=250))
    assert delayed.recurring() == [offer]
    assert queue.is_empty()
    producer.resume()
    assert [take(queue), take(queue)] == ["a", "a"]
    (after,) = delayed.recurring()
    assert (after.next_due - offer.next_due) % timedelta(milliseconds=100) == timedelta(0)


def test_it_survives_every_client_and_clear(flavour: Flavour, url: str) -> None:
    for _ in range(3):
        with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
            delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
            delayed.offer_recurring("a", "tick", every=0.05)
            assert [take(queue), take(queue)] == ["a", "a"]
            delayed.clear()
            assert [take(queue), take(queue)] == ["a", "a"]
            assert delayed.offer_recurring("a", "tick", every=0.05) is OfferOutcome.KEPT


@pytest.mark.parametrize("field", ["d", "v", "e"])
def test_a_recurring_offer_whose_fields_are_gone_holds_up_nothing(
    admin: Any, woken: Any, producer: Any, field: str
) -> None:
    """As after an eviction."""
    queue = woken.blocking_queue("orders")
    producer.offer_recurring("lost", "lost", every=HOUR)
    producer.offer_recurring("a", "tick", every=0.1)
    admin.hdel(KEYS.recurring, f"{field}lost")
    assert {offer.id for offer in producer.recurring()} == {"tick", *(["lost"] if field == "e" else [])}
    admin.zadd(KEYS.recurring_due, {"lost": 5})
    for _ in range(3):
        assert take(queue) == "a"
    assert producer.offer_recurring("again", "lost", every=HOUR)
    assert producer.cancel_recurring("lost") is True


def test_a_definition_that_is_no_text_holds_up_nothing(admin: Any, woken: Any, producer: Any) -> None:
    queue = woken.blocking_queue("orders")
    producer.offer_recurring("lost", "lost", every=HOUR)
    admin.hset(KEYS.recurring, "dlost", b"\xff")
    admin.zadd(KEYS.recurring_due, {"lost": 5})
    producer.offer("a", delay=0.1)
    producer.offer("b", delay=0.4)
    assert [take(queue), take(queue)] == ["a", "b"]


# -- missed occurrences ----------------------------------------------------------------------------------------------


@pytest.fixture
def quiet(flavour: Flavour, url: str) -> Iterator[Any]:
    """A delayed queue that its client does not move."""
    with flavour.connect(url, codec=StringCodec()) as client:
        yield client.delayed_queue("orders", transfer=False)


def ago(admin: Any, name: str, minutes: int) -> int:
    """Moves the due time of the waiting occurrence into the past. Returns that time in epoch ms."""
    due = round(server_ms(admin)) - minutes * 60_000
    (member,) = admin.zrange(KEYS.timeout, 0, -1)
    admin.zadd(KEYS.timeout, {member: due})
    admin.zadd(KEYS.recurring_due, {name: due})
    return due


@pytest.mark.parametrize(
    ("missed", "come", "told"),
    [
        ({}, 1, (5, 0, "one")),
        ({"missed": "all"}, 6, (5, 5, "all")),
        ({"missed": "all", "missed_limit": 2}, 3, (5, 2, "all")),
    ],
)
def test_missed_occurrences(
    flavour: Flavour, admin: Any, url: str, quiet: Any, missed: dict[str, Any], come: int, told: tuple[int, int, str]
) -> None:
    heard: list[Any] = []
    quiet.offer_recurring("a", "report", every=600, **missed)
    due = ago(admin, "report", 55)
    with flavour.connect(url, codec=StringCodec(), observer=heard.append) as client:
        delayed = moving(client.delayed_queue("orders"))
        eventually(lambda: admin.llen("orders") == come)
        eventually(lambda: delayed.recurring()[0].next_due.timestamp() * 1000 == due + 3_600_000)
        assert delayed.offer_recurring("a", "report", every=600, **missed) is OfferOutcome.KEPT
        assert delayed.stats().missed == client.inspect("orders").missed == 5
        assert "missed         5" in str(delayed.stats())
    (happened,) = (each for each in heard if isinstance(each, Missed))
    assert (happened.count, happened.offered, happened.policy) == told
    assert [happened.first.timestamp() * 1000, happened.last.timestamp() * 1000] == [due + 600_000, due + 3_000_000]
    assert timedelta(minutes=45) <= happened.late_by < timedelta(minutes=46)
    assert admin.zcard(KEYS.timeout) == 1


def test_missed_occurrences_that_do_not_fit_into_one_call(flavour: Flavour, admin: Any, url: str, quiet: Any) -> None:
    heard: list[Any] = []
    quiet.offer_recurring("a" * 450_000, "report", every=600, missed="all")
    ago(admin, "report", 55)
    with flavour.connect(url, codec=StringCodec(), observer=heard.append) as client:
        delayed = moving(client.delayed_queue("orders"))
        eventually(lambda: admin.llen("orders") == 6)
        eventually(lambda: delayed.recurring()[0].next_due > of_server(admin))
        assert delayed.stats().missed == 5
    heard = [each for each in heard if isinstance(each, Missed)]
    assert [(each.count, each.offered) for each in heard] == [(2, 2), (2, 2), (1, 1)]
    assert all(before.last < after.first for before, after in itertools.pairwise(heard))


@pytest.mark.parametrize("lean", [False, True])
def test_missed_occurrences_that_are_skipped(flavour: Flavour, admin: Any, url: str, lean: bool) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False, lean=lean)
        delayed.offer_recurring("a", "report", every=600, missed="skip")
        assert delayed.recurring()[0].missed == "skip"
        (item,) = delayed.items()
        (record,) = (value for field, value in admin.hgetall(KEYS.records).items() if field[:1] == b"e")
        due = round(item.due.timestamp() * 1000)
        assert record.split()[1:3] == [b"%d" % due, b"%d" % (due + 60_000)], "a minute"
        # The same two times, fifty-five minutes before.
        ago(admin, "report", 55)
        for field in admin.hkeys(KEYS.records):
            admin.hset(KEYS.records, field, b"w %d %d 0 " % (due - 3_900_000, due - 3_840_000))
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed = moving(client.delayed_queue("orders", lean=lean))
        eventually(lambda: delayed.expired_count() == 1)
        eventually(lambda: delayed.recurring()[0].next_due > of_server(admin))
        assert (admin.llen("orders"), delayed.stats().missed, admin.zcard(KEYS.timeout)) == (0, 5, 1)
        (after,) = delayed.items()
        assert after.due == delayed.recurring()[0].next_due
        assert admin.hexists(KEYS.records, b"e" + bytes.fromhex(after.id.partition("-")[2]))


def test_an_occurrence_that_is_skipped_where_the_next_one_is_near(admin: Any, quiet: Any) -> None:
    quiet.offer_recurring("a", "tick", every=0.2, missed="skip")
    (offer,) = quiet.recurring()
    wait_until(admin, offer.next_due + timedelta(milliseconds=250))
    assert quiet.take_due() == []
    assert quiet.expired_count() == 1
    assert quiet.stats().missed >= 1


def test_missed_occurrences_of_a_take_and_past_the_end(admin: Any, quiet: Any, flavour: Flavour) -> None:
    start = of_server(admin, 100).replace(microsecond=0) + timedelta(seconds=1)
    quiet.offer_recurring("a", "report", every=0.1, start=start, end=start + timedelta(seconds=0.2), missed="all")
    wait_until(admin, start + timedelta(seconds=1))
    assert quiet.take_due() == ["a"]
    assert quiet.recurring() == []
    assert quiet.take_due() == ["a", "a"], "those before its end"
    assert quiet.take_due() == []


@pytest.mark.parametrize(
    "options", [{"missed": "none"}, {"missed": 5}, {"missed_limit": 5}, {"missed": "skip", "missed_limit": 5}]
    + [{"missed": "all", "missed_limit": each} for each in (0, 1001, True, "5", 2.0)],
)  # fmt: skip
def test_policies_that_cannot_be_used(admin: Any, producer: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="queue 'orders': missed"):
        producer.offer_recurring("a", "daily", every=60, **options)
    assert admin.keys() == []

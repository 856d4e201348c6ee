"""Items with an id, or identified by their payload: which offers are duplicates, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError, DuplicateItemError
from redisson_dq.items import OfferOutcome, Outcome
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import of_server, wait_until
from tests.interop.sides import HOUR, take

#: Ids are text of any kind.
IDS = [
    "42",
    " ",
    "a b\tc\r\n\n",
    "a\0b",
    "\0",
    "%s %d %.0f %",
    "i",
    "e12345678",
    "\u00e9\u4e2d\U0001f600",
    "\ufffd\ufeff",
    "-",
    "12-34",
    "w 1 2 3 i42",
    "x" * 512,
    "\u4e2d" * 170,
]


@pytest.fixture
def forgetful(flavour: Flavour, url: str) -> Iterator[Any]:
    """A client that remembers for 50 ms."""
    with flavour.connect(url, codec=StringCodec(), remember=0.05) as client:
        yield client


def refused(delayed: Any, value: str, **options: Any) -> DuplicateItemError:
    """The error of an offer that is a duplicate."""
    with pytest.raises(DuplicateItemError) as caught:
        delayed.offer(value, **options)
    return caught.value


# -- ids -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", IDS, ids=ascii)
def test_an_id_of_any_characters(admin: Any, client: Any, producer: Any, id: str) -> None:
    first = producer.offer("a", delay=60, id=id)
    assert (first.id, producer.find(id).id, producer.items()[0].id) == (id, id, id)
    assert refused(producer, "b", delay=0, id=id).id == id
    assert producer.reschedule(id, 120) is Outcome.RESCHEDULED
    assert producer.offer("b", delay=0, id=id, on_duplicate="replace").outcome is OfferOutcome.REPLACED
    assert take(client.blocking_queue("orders")) == "b"
    assert producer.cancel(id) is Outcome.DELIVERED
    assert producer.offer("c", delay=60, id=id, on_duplicate="replace").outcome is OfferOutcome.OFFERED
    assert producer.cancel(id) is Outcome.CANCELLED
    assert producer.offer("d", delay=60, id=id).outcome is OfferOutcome.OFFERED, "free after the cancel"
    assert producer.cancel(id) is Outcome.CANCELLED
    assert [field for field in admin.hkeys(KEYS.records) if field.startswith(b"i")] == []


def test_ids_that_begin_alike_are_others(producer: Any) -> None:
    for id in ("a", "a\0", "a\0b", "a ", "A"):
        producer.offer(id, delay=60, id=id)
    assert producer.cancel("a\0") is Outcome.CANCELLED
    assert producer.read_all() == ["a", "a\0b", "a ", "A"]


def test_reject(producer: Any) -> None:
    item = producer.offer("a", delay=60, id="42")
    for options in ({}, {"on_duplicate": "reject"}):
        error = refused(producer, "b", delay=0, id="42", **options)
        assert (error.id, error.due, error.state) == ("42", item.due, "waiting")
        assert "'orders'" in str(error)
    assert producer.read_all() == ["a"]


def test_keep_gives_the_item_that_stands(producer: Any) -> None:
    item = producer.offer("a", delay=60, id="42")
    producer.reschedule("42", delay=120)
    kept = producer.offer("b", delay=0, id="42", on_duplicate="keep")
    assert (item.outcome, kept.outcome) == (OfferOutcome.OFFERED, OfferOutcome.KEPT)
    assert (kept.id, kept.value, kept.due) == ("42", "a", producer.find("42").due)
    assert kept.remaining > timedelta(seconds=110)
    assert producer.read_all() == ["a"]
    assert kept.cancel() is Outcome.CANCELLED
    assert item.cancel() is Outcome.UNKNOWN


def test_replace(admin: Any, producer: Any) -> None:
    old = producer.offer("a", delay=0.005, id="42")
    producer.offer("other", delay=60)
    new = producer.offer("b", delay=60, id="42", on_duplicate="replace")
    assert (new.outcome, new.value, new.id) == (OfferOutcome.REPLACED, "b", "42")
    assert producer.read_all() == ["other", "b"]
    assert admin.zcard(KEYS.timeout) == 2
    assert old.cancel() is Outcome.UNKNOWN
    wait_until(admin, old.due)
    assert (old.cancel(), old.reschedule(60), old.run_now()) == (Outcome.UNKNOWN,) * 3, "it was never delivered"
    assert producer.find("42").value == "b"
    assert producer.cancel("42") is Outcome.CANCELLED


def test_a_replaced_item_is_not_delivered(producer: Any, queue: Any) -> None:
    producer.offer("a", delay=0.1, id="42")
    producer.offer("b", delay=0.2, id="42", on_duplicate="replace")
    producer.offer("last", delay=0.3)
    assert [take(queue), take(queue)] == ["b", "last"]


def test_after_its_delivery(client: Any, producer: Any) -> None:
    item = producer.offer("a", delay=0, id="42")
    assert take(client.blocking_queue("orders")) == "a"
    error = refused(producer, "b", delay=60, id="42")
    assert (error.state, error.due) == ("delivered", item.due)
    kept = producer.offer("b", delay=60, id="42", on_duplicate="keep")
    assert (kept.outcome, kept.due, kept.cancel()) == (OfferOutcome.KEPT, item.due, Outcome.DELIVERED)
    assert producer.is_empty()
    new = producer.offer("c", delay=60, id="42", on_duplicate="replace")
    assert new.outcome is OfferOutcome.OFFERED, "there was nothing to take out"
    assert (item.cancel(), item.run_now(), new.cancel()) == (Outcome.DELIVERED, Outcome.DELIVERED, Outcome.CANCELLED)


def test_immediate_items_are_remembered_from_their_offer_on(producer: Any, client: Any) -> None:
    """An offer whose reply was lost is made again, however fast the item went."""
    producer.offer("a", delay=0, id="42")
    assert refused(producer, "a", delay=0, id="42").state == "waiting"
    queue = client.blocking_queue("orders")
    assert take(queue) == "a"
    assert refused(producer, "a", delay=0, id="42").state == "delivered"
    for _ in range(20):
        assert producer.offer("a", delay=0, id="42", on_duplicate="keep").outcome is OfferOutcome.KEPT
    producer.offer("last", delay=0)
    assert take(queue) == "last"


def test_after_the_memory_has_passed(admin: Any, forgetful: Any) -> None:
    delayed = forgetful.delayed_queue("orders", transfer=False)
    old = delayed.offer("a", delay=0, id="42")
    with forgetful.blocking_queue("orders") as queue:
        assert take(queue) == "a"
    eventually(lambda: delayed.offer("b", delay=60, id="42", on_duplicate="keep").outcome is OfferOutcome.OFFERED)
    assert delayed.read_all() == ["b"]
    assert old.cancel() is Outcome.UNKNOWN
    assert delayed.cancel("42") is Outcome.CANCELLED


def test_an_id_is_free_in_time_however_far_the_sweeps_are_behind(admin: Any, producer: Any) -> None:
    """A few records go with each call; one whose time has passed counts no more, whether it has gone or not."""
    ids = [f"{number}" for number in range(200)]
    items = [producer.offer(id, delay=0, id=id) for id in ids]
    # As if a Java process had moved them, which leaves the records alone, and a day had passed.
    admin.delete(KEYS.timeout, KEYS.envelopes)
    admin.zadd(KEYS.forget, dict.fromkeys(admin.zrange(KEYS.forget, 0, -1), items[0].due.timestamp() * 1000))
    for id in reversed(ids):
        assert producer.offer(id, delay=60, id=id).outcome is OfferOutcome.OFFERED
    assert admin.zcard(KEYS.timeout) == admin.zcard(KEYS.forget) == 200
    assert admin.hlen(KEYS.records) == 600


def test_the_id_of_an_overdue_item_is_not_free(admin: Any, forgetful: Any) -> None:
    delayed = forgetful.delayed_queue("orders", transfer=False)
    item = delayed.offer("a", delay=0, id="42")
    wait_until(admin, item.due + timedelta(milliseconds=60))
    for _ in range(3):
        assert refused(delayed, "b", delay=0, id="42").state == "waiting"
    assert delayed.reschedule("42", 60) is Outcome.RESCHEDULED
    assert delayed.cancel("42") is Outcome.CANCELLED


@pytest.mark.parametrize("successor", ["replace", "cancelled before", "delivered before"])
def test_the_handle_of_an_old_item_never_touches_a_newer_one(client: Any, producer: Any, successor: str) -> None:
    old = producer.offer("old", delay=HOUR if successor != "delivered before" else 0, id="42")
    if successor == "cancelled before":
        assert old.cancel() is Outcome.CANCELLED
    elif successor == "delivered before":
        assert take(client.blocking_queue("orders")) == "old"
    new = producer.offer("new", delay=HOUR, id="42", on_duplicate="replace")
    outcomes = {old.cancel(), old.reschedule(0), old.run_now()}
    assert outcomes == {Outcome.DELIVERED if successor == "delivered before" else Outcome.UNKNOWN}
    assert producer.find("42").due == new.due
    assert producer.offer("other", delay=HOUR, id="42", on_duplicate="keep").value == "new"
    assert new.cancel() is Outcome.CANCELLED


def test_an_id_can_name_what_a_poll_took_until_its_time(producer: Any) -> None:
    producer.offer("a", delay=60, id="42")
    assert producer.poll() == "a"
    assert refused(producer, "b", delay=0, id="42").state == "delivered"


def test_ids_of_other_queues_are_others(client: Any) -> None:
    for name in ("orders", "bills"):
        client.delayed_queue(name, transfer=False).offer("a", delay=60, id="42")


# -- payloads --------------------------------------------------------------------------------------------------------


def test_equal_payloads(admin: Any, client: Any, producer: Any) -> None:
    item = producer.offer("a", delay=0, deduplicate_for=HOUR)
    assert producer.find(item.id) is not None
    error = refused(producer, "a", delay=60, deduplicate_for=HOUR)
    assert (error.id, error.due, error.state) == (item.id, item.due, "waiting")
    assert producer.offer("b", delay=60, deduplicate_for=HOUR).outcome is OfferOutcome.OFFERED
    with client.blocking_queue("orders") as queue:
        assert take(queue) == "a"
    assert refused(producer, "a", delay=60, deduplicate_for=HOUR).state == "delivered"
    kept = producer.offer("a", delay=60, deduplicate_for=HOUR, on_duplicate="keep")
    assert (kept.outcome, kept.id, kept.value, kept.cancel()) == (OfferOutcome.KEPT, item.id, "a", Outcome.DELIVERED)
    assert producer.read_all() == ["b"]
    other = client.delayed_queue("bills", transfer=False)
    assert other.offer("a", delay=60, deduplicate_for=HOUR).outcome is OfferOutcome.OFFERED


def test_a_plain_offer_of_the_same_payload_is_none(producer: Any) -> None:
    producer.offer("a", delay=60)
    producer.offer("a", delay=60, deduplicate_for=HOUR)
    producer.offer("a", delay=60)
    producer.offer("a", delay=60, id="42")
    assert producer.size() == 4


def test_a_payload_is_free_after_a_cancel(producer: Any) -> None:
    item = producer.offer("a", delay=60, deduplicate_for=HOUR)
    assert producer.cancel(item.id) is Outcome.CANCELLED
    assert producer.offer("a", delay=60, deduplicate_for=HOUR).outcome is OfferOutcome.OFFERED
    assert producer.remove("a")
    assert producer.offer("a", delay=60, deduplicate_for=HOUR).outcome is OfferOutcome.OFFERED


def test_the_interval_passes_after_the_delivery(producer: Any, client: Any) -> None:
    first = producer.offer("a", delay=0, deduplicate_for=0.1)
    with client.blocking_queue("orders") as queue:
        assert take(queue) == "a"
    eventually(
        lambda: producer.offer("a", delay=60, deduplicate_for=60, on_duplicate="keep").outcome is OfferOutcome.OFFERED
    )
    assert first.cancel() is Outcome.DELIVERED
    assert producer.size() == 1


@pytest.mark.parametrize("on_duplicate", ["reject", "keep", "replace"])
def test_the_interval_passes_while_it_still_waits(admin: Any, client: Any, producer: Any, on_duplicate: str) -> None:
    """The newer one stands for the payload then; the older one keeps all that is known of it."""
    old = producer.offer("a", delay=0.03, deduplicate_for=0.01, expires=HOUR)
    elsewhere = client.delayed_queue("orders", transfer=False)
    assert elsewhere.reschedule(old.id, HOUR) is Outcome.RESCHEDULED
    wait_until(admin, old.due)
    new = producer.offer("a", delay=HOUR, deduplicate_for=HOUR, on_duplicate=on_duplicate)
    assert new.outcome is OfferOutcome.OFFERED
    assert producer.size() == 2
    assert refused(producer, "a", delay=0, deduplicate_for=HOUR).id == new.id
    assert old.cancel() is Outcome.CANCELLED, "its other due time is known"
    assert refused(producer, "a", delay=0, deduplicate_for=HOUR).id == new.id
    assert new.cancel() is Outcome.CANCELLED


def test_an_older_item_of_the_payload_still_expires(admin: Any, client: Any, producer: Any) -> None:
    client.delayed_queue("orders", transfer=False).pause()
    old = producer.offer("a", delay=0, deduplicate_for=0.001, expires=0.02)
    wait_until(admin, old.due + timedelta(milliseconds=25))
    new = producer.offer("a", delay=0, deduplicate_for=HOUR)
    producer.resume()
    queue = client.blocking_queue("orders")
    assert take(queue) == "a"
    assert [item.data for item in producer.read_expired()] == [b"a"]
    assert (old.cancel(), new.cancel()) == (Outcome.EXPIRED, Outcome.DELIVERED)


def test_replace_by_payload(producer: Any) -> None:
    old = producer.offer("a", delay=60, deduplicate_for=HOUR)
    new = producer.offer("a", delay=120, deduplicate_for=HOUR, on_duplicate="replace")
    assert (new.outcome, producer.size()) == (OfferOutcome.REPLACED, 1)
    assert (old.cancel(), new.cancel()) == (Outcome.UNKNOWN, Outcome.CANCELLED)


# -- arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"id": "42", "deduplicate_for": 60},
        {"on_duplicate": "keep"},
        {"expires": 5, "id": "42", "on_duplicate": "ignore"},
        {"id": "42", "on_duplicate": 5},
        {"id": "1700000000000-0011223344556677"},
        {"id": ""},
        {"id": "x" * 513},
        {"id": "\u4e2d" * 171},
        {"id": "a\ud800"},
        {"id": b"42"},
        {"id": 42},
        {"id": True},
        {"deduplicate_for": 0},
        {"deduplicate_for": -1},
        {"deduplicate_for": float("nan")},
        {"deduplicate_for": "60"},
        {"expires": -1},
        {"expires": float("inf")},
        {"expires": of_server},
        {"id": "42", "delay": -1},
        {"id": "42", "delay": None},
    ],
)
def test_arguments_that_cannot_be_used(admin: Any, producer: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="'orders'"):
        producer.offer("a", **{"delay": 60, **options})
    assert admin.keys() == []


def test_the_records_are_of_the_queue(client: Any, admin: Any) -> None:
    client.delayed_queue("shop{1}", transfer=False).offer("a", delay=60, id="42")
    keys = QueueKeys.of("shop{1}")
    items = (keys.timeout, keys.envelopes, keys.records, keys.forget)
    known = (keys.deliveries, keys.histories, keys.history_ends)
    assert set(admin.keys()) == {key.encode() for key in (*items, *known)}

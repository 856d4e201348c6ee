"""Lean offers: entries in the timeout zset alone, in a queue of their own and beside mirrored ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import redis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from redisson_dq import connect
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError, EnvelopeError, QueueFullError
from redisson_dq.items import OfferOutcome, Outcome
from redisson_dq.scripts.script import load
from redisson_dq.wire.envelope import Envelope, unwrap, wrap
from tests.conftest import by_night, eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import of_server
from tests.interop.sides import HOUR, NO_PROBE

JAVA = wrap(Envelope.CURRENT, b"\xa5" * 8, b"java")


@pytest.fixture
def lean(client: Any) -> Any:
    return client.delayed_queue("orders", transfer=False, lean=True)


@pytest.fixture
def mixed(admin: Any, lean: Any, producer: Any) -> list[str]:
    """Three mirrored items, one of them Java's, and three lean ones: their values in the order of the calls."""
    producer.offer("second", delay=4 * HOUR)
    lean.offer("last", delay=5 * HOUR)
    producer.offer("first", delay=2 * HOUR)
    lean.offer_all([("lean", HOUR), ("lean", 3 * HOUR)])
    admin.zadd(KEYS.timeout, {JAVA: 5_000_000_000_000})
    admin.rpush(KEYS.envelopes, JAVA)
    return ["second", "first", "java", "lean", "lean", "last"]


@pytest.fixture(params=["lean", "producer"])
def either(request: pytest.FixtureRequest) -> Any:
    """Both kinds of handles see both kinds of items."""
    return request.getfixturevalue(request.param)


def members(admin: Any) -> list[bytes]:
    found: list[bytes] = admin.zrange(KEYS.timeout, 0, -1)
    return found


def assert_lean(admin: Any, count: int) -> None:
    found = members(admin)
    assert [(member[0], len(unwrap(member)[0])) for member in found] == [(9, 9)] * count
    assert not admin.exists(KEYS.envelopes)


# -- what is written -------------------------------------------------------------------------------------------------

OFFERS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda delayed: delayed.offer("a", 60),
    "many": lambda delayed: delayed.offer_all([("a", 60)]),
    "id": lambda delayed: delayed.offer("a", 60, id="42"),
    "replacing": lambda delayed: [delayed.offer("a", 60, id="42", on_duplicate="replace") for _ in range(2)],
    "payload": lambda delayed: delayed.offer("a", 60, deduplicate_for=60),
    "expires": lambda delayed: delayed.offer("a", 60, expires=60),
    "recurring": lambda delayed: delayed.offer_recurring("a", "tick", every=60),
    "recurring replaced": lambda delayed: [delayed.offer_recurring("a", "tick", every=every) for every in (60, 120)],
}


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_every_offer_is_lean(admin: Any, lean: Any, offer: Callable[[Any], Any]) -> None:
    offer(lean)
    assert_lean(admin, 1)
    (member,) = members(admin)
    entry, value = unwrap(member)
    assert (entry[8:], value, wrap(Envelope.CURRENT, entry, value)) == (b"\0", b"a", member)
    assert lean.read_all() == ["a"]


def test_an_offer_in_a_pipeline_is_lean(admin: Any, client: Any, lean: Any) -> None:
    with client.pipeline() as pipe:
        pipe.add(lean.requests.offer("a", 60))
        pipe.add(lean.requests.offer("b", 60, id="42"))
        size = pipe.add(lean.requests.size())
    assert size.result == 2
    assert_lean(admin, 2)


def test_a_batch_of_more_than_one_page(admin: Any, lean: Any) -> None:
    assert lean.offer_all((str(number), HOUR) for number in range(2500)) == 2500
    admin.zadd(KEYS.timeout, dict.fromkeys(members(admin), 5_000_000_000_000))
    assert_lean(admin, 2500)
    assert lean.read_all() == [str(number) for number in range(2500)], "ties stay in the order of their offers"


def test_the_legacy_envelope_has_no_lean_entries(flavour: Flavour, url: str) -> None:
    with flavour.connect(url, envelope="legacy") as client, pytest.raises(ArgumentError, match="lean=True"):
        client.delayed_queue("orders", lean=True)


# -- taking and looking ----------------------------------------------------------------------------------------------


def test_a_lean_queue_in_the_order_of_due_times(lean: Any) -> None:
    assert (lean.peek(), lean.size(), lean.is_empty(), lean.poll()) == (None, 0, True, None)
    lean.offer_all([("c", 30), ("a", 10), ("d", 40), ("b", 20)])
    assert (lean.size(), lean.is_empty(), lean.peek(), lean.element()) == (4, False, "a", "a")
    assert lean.read_all() == list(lean) == ["a", "b", "c", "d"]
    assert lean.items() == lean.items(by="offer")
    assert [item.value for item in lean.items(1, 2, by="offer")] == ["b", "c"]
    assert (lean.contains("c"), lean.contains("e"), lean.contains_all(["d", "a"])) == (True, False, True)
    assert lean.remove_head() == "a"
    assert lean.poll_last_and_offer_first_to("other") == "d"
    assert lean.poll(5) == ["b", "c"]
    assert lean.is_empty()


def test_mirrored_entries_come_first(either: Any, mixed: list[str]) -> None:
    assert (either.size(), either.peek(), either.element()) == (6, "second", "second")
    assert either.read_all() == list(either) == mixed
    for start in range(6):
        for stop in range(start, 8):
            assert [item.value for item in either.items(start, stop, by="offer")] == mixed[start : stop + 1]
    assert [item.value for item in either.items()] == ["lean", "first", "lean", "second", "last", "java"]
    assert either.contains_all(["java", "lean", "last", "first"])
    assert not either.contains_all(["java", "lean", "other"])
    assert either.poll() == "second"
    assert either.poll(3) == ["first", "java", "lean"]
    assert either.poll(9) == ["lean", "last"]
    assert either.poll() is None


def test_from_the_other_end(admin: Any, either: Any, mixed: list[str]) -> None:
    taken = [either.poll_last_and_offer_first_to("orders") for _ in range(7)]
    assert taken == [*reversed(mixed), None]
    assert [value.decode() for value in admin.lrange("orders", 0, -1)] == mixed
    assert admin.keys() == [b"orders"]


def test_pages_beyond_a_thousand(lean: Any, producer: Any) -> None:
    producer.offer_all((f"mirrored {number}", HOUR + number) for number in range(1100))
    lean.offer_all((f"lean {number}", 2 * number) for number in range(2100))
    expected = [f"mirrored {number}" for number in range(1100)] + [f"lean {number}" for number in range(2100)]
    assert lean.read_all() == list(producer) == expected
    for start, stop in ((0, 9), (1095, 1104), (1100, 1100), (2050, 2149), (3190, 3300), (3200, 3209)):
        assert [item.value for item in producer.items(start, stop, by="offer")] == expected[start : stop + 1]
    assert producer.contains_all(["lean 2099", "mirrored 1099"])
    assert producer.remove_if(lambda value: value.endswith("7")) == 320
    assert lean.remove_all(expected[:1100]) is True
    assert [lean.poll_last_and_offer_first_to("other") for _ in range(2)] == ["lean 2099", "lean 2098"]


# -- taking out ------------------------------------------------------------------------------------------------------


def test_remove_takes_the_first_and_remove_all_each(either: Any, mixed: list[str], lean: Any, producer: Any) -> None:
    producer.offer("lean", 9 * HOUR)
    assert either.remove("lean") is True
    assert either.read_all() == mixed, "the mirrored one was first"
    assert either.remove("lean") is True
    assert either.read_all() == ["second", "first", "java", "lean", "last"]
    assert either.remove("other") is False
    assert either.remove_all(["lean", "first", "other"]) is True
    assert either.read_all() == ["second", "java", "last"]
    assert either.remove_all(["lean"]) is False
    assert either.remove_if(lambda value: value != "java") == 2
    assert either.read_all() == ["java"]


def test_retain_all_and_clear(admin: Any, either: Any, mixed: list[str], lean: Any) -> None:
    assert either.retain_all(["java", "lean"]) is True
    assert either.read_all() == ["java", "lean", "lean"]
    assert either.retain_all(["lean", "java"]) is False
    assert either.retain_all(["lean"]) is True
    assert not admin.exists(KEYS.envelopes)
    either.clear()
    assert either.is_empty()
    assert not admin.exists(KEYS.timeout)


# -- single items ----------------------------------------------------------------------------------------------------


def test_a_lean_item_is_known_by_its_id(admin: Any, lean: Any, producer: Any) -> None:
    item = lean.offer("a", 60)
    assert re.fullmatch("[0-9]+-[0-9a-f]{16}00", item.id)
    found = producer.find(item.id)
    assert (found.value, found.due, found.id) == ("a", item.due, item.id)
    assert producer.reschedule(item.id, HOUR) is Outcome.RESCHEDULED
    assert producer.find(item.id).remaining > timedelta(minutes=59)
    assert [listed.id[-18:] for listed in lean.items()] == [item.id[-18:]]
    assert lean.next_due() == producer.find(item.id).due
    assert item.run_now() is Outcome.RESCHEDULED
    eventually(lambda: lean.overdue().count == 1)
    assert producer.cancel(item.id) is Outcome.CANCELLED
    assert item.cancel() is Outcome.UNKNOWN
    assert not admin.exists(KEYS.timeout, KEYS.envelopes)


def test_either_kind_replaces_the_other(admin: Any, lean: Any, producer: Any) -> None:
    for delayed, other in ((lean, producer), (producer, lean)):
        delayed.offer("a", 60, id="42")
        assert other.offer("b", 60, id="42", on_duplicate="replace").outcome is OfferOutcome.REPLACED
        assert other.read_all() == ["b"]
        assert admin.llen(KEYS.envelopes) == (other is producer)
        assert delayed.cancel("42") is Outcome.CANCELLED
        assert not admin.exists(KEYS.timeout, KEYS.envelopes)


def test_one_lean_item_among_thousands_of_the_same_millisecond(admin: Any, lean: Any, producer: Any) -> None:
    at = of_server(admin, 3_600_000).replace(microsecond=0)
    items = [(lean if number % 3 else producer).offer("same", at=at) for number in range(600)]
    for item in items[::7]:
        assert producer.find(item.id) == item
        assert lean.cancel(item.id) is Outcome.CANCELLED
        assert lean.find(item.id) is None
    assert lean.size() == 600 - len(items[::7])


def commands(admin: Any) -> set[str]:
    return {name.removeprefix("cmdstat_") for name in admin.info("commandstats")}


def test_no_list_is_looked_through_for_a_lean_item(admin: Any, lean: Any, producer: Any) -> None:
    producer.offer_all([("mirrored", HOUR)] * 100)
    items = [lean.offer(str(number), HOUR) for number in range(3)]
    lean.offer("a", HOUR, id="42")
    lean.offer_recurring("a", "tick", every=60)
    admin.config_resetstat()
    assert items[0].cancel() is Outcome.CANCELLED
    assert items[1].reschedule(60) is Outcome.RESCHEDULED
    assert items[2].run_now() is Outcome.RESCHEDULED
    assert lean.offer("b", HOUR, id="42", on_duplicate="replace").outcome is OfferOutcome.REPLACED
    assert lean.offer_recurring("b", "tick", every=60) is OfferOutcome.REPLACED
    assert producer.cancel_recurring("tick") is True
    seen = commands(admin)
    assert {"zadd", "zrem"} <= seen
    assert not {"lrem", "lrange", "lindex", "lpos", "lset", "rpush"} & seen


def test_a_page_of_a_lean_queue_reads_no_more_than_the_page(admin: Any, lean: Any) -> None:
    lean.offer_all((str(number), number) for number in range(3000))
    admin.config_resetstat()
    assert [item.value for item in lean.items(2000, 2009, by="offer")] == [str(n) for n in range(2000, 2010)]
    assert lean.peek() == "0"
    stats = admin.info("commandstats")
    # The page takes two, as the first entry tells how large the others may be.
    assert stats["cmdstat_zrange"]["calls"] == 3
    assert "cmdstat_lrange" not in stats


# -- the whole of it -------------------------------------------------------------------------------------------------


def test_the_largest_size_counts_both_kinds(lean: Any, mixed: list[str]) -> None:
    lean.set_max_size(7)
    lean.offer("a", 60)
    for options in ({}, {"id": "42"}):
        with pytest.raises(QueueFullError):
            lean.offer("b", 60, **options)


def test_dump_restore_copy_and_rename(client: Any, either: Any, mixed: list[str]) -> None:
    state = either.dump()
    assert either.copy("copied") is True
    assert client.delayed_queue("copied", transfer=False).read_all() == mixed
    either.rename("renamed")
    assert either.read_all() == mixed
    either.clear()
    assert either.restore_and_replace(state) is None
    assert either.read_all() == mixed


# -- delivery --------------------------------------------------------------------------------------------------------


def test_lean_items_are_delivered_by_whoever_has_the_queue_open(
    admin: Any, flavour: Flavour, url: str, lean: Any
) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as other:
        queue = moving(other.blocking_queue("orders"))
        eventually(lambda: admin.pubsub_numsub(KEYS.channel)[0][1] == 1)
        lean.offer_all([("c", 0.03), ("a", 0.01), ("b", 0.02)])
        assert [queue.take() for _ in range(3)] == ["a", "b", "c"]
        eventually(lambda: not admin.exists(KEYS.timeout, KEYS.envelopes))


def test_of_one_millisecond_the_mirrored_ones_come_first(admin: Any, client: Any, lean: Any, producer: Any) -> None:
    at = of_server(admin, 200)
    for number in range(40):
        (lean if number % 2 else producer).offer(str(number), at=at)
    queue = client.blocking_queue("orders")
    taken = [int(queue.take()) for _ in range(40)]
    assert taken == [*range(0, 40, 2), *range(1, 40, 2)]


def test_each_occurrence_of_a_lean_recurring_offer_is_lean(admin: Any, client: Any, lean: Any) -> None:
    lean.offer_recurring("tick", "tick", every=0.05)
    queue = client.blocking_queue("orders")
    assert [queue.take() for _ in range(3)] == ["tick"] * 3
    lean.pause()
    # The one after it may be on its way.
    eventually(lambda: len(members(admin)) == 1)
    assert_lean(admin, 1)


@pytest.mark.parametrize(("envelope", "size"), [("current", 9), ("legacy", 8)])
def test_the_next_occurrence_is_written_for_those_who_read(admin: Any, lean: Any, envelope: str, size: int) -> None:
    lean.offer_recurring("tick", "tick", every=60)
    ((name, come),) = admin.zrange(KEYS.recurring_due, 0, -1, withscores=True)
    script = load("advance")
    definition = admin.hget(KEYS.recurring, b"d" + name)
    lean.poll()
    words = (envelope, name, definition, int(come), int(come) + 60_000, "", 0, 0, "", "process")
    keys = [getattr(KEYS, key) for key in script.keys]
    assert admin.eval(script.source, len(keys), *keys, *words)[3] == [1, 0, 0]
    (member,) = members(admin)
    assert len(unwrap(member)[0]) == size
    assert admin.llen(KEYS.envelopes) == (0 if size == 9 else 1)


# -- what should not be ----------------------------------------------------------------------------------------------


def test_a_plain_entry_in_the_zset_alone(admin: Any, either: Any, lean: Any, producer: Any) -> None:
    """As Redisson's retainAll leaves it: it will be delivered, so it is there."""
    admin.zadd(KEYS.timeout, {JAVA: 5_000_000_000_000})
    assert (either.size(), either.peek(), either.read_all(), either.contains("java")) == (1, "java", ["java"], True)
    producer.offer("mirrored", HOUR)
    lean.offer("lean", 2 * HOUR)
    assert (either.size(), either.contains("java")) == (3, True)
    assert either.read_all() == ["mirrored", "lean"], "in this order it comes when the list is empty"
    assert [item.value for item in either.items()] == ["mirrored", "lean", "java"]
    assert either.poll(3) == ["mirrored", "lean", "java"]
    admin.zadd(KEYS.timeout, {JAVA: 5_000_000_000_000})
    assert either.remove("java") is True
    assert not admin.exists(KEYS.timeout)


def test_an_entry_in_the_list_alone(admin: Any, either: Any, lean: Any) -> None:
    """It has lost its due time and will never be delivered, so it does not count; it can be taken and removed."""
    admin.rpush(KEYS.envelopes, JAVA, JAVA, JAVA)
    lean.offer_all([("a", HOUR), ("b", 2 * HOUR)])
    assert either.size() == 2
    assert either.read_all() == ["java"] * 3 + ["a", "b"]
    assert [item.due is None for item in either.items(by="offer")] == [True] * 3 + [False] * 2
    assert either.contains_all(["java", "b"])
    assert either.poll() == "java"
    assert either.poll_last_and_offer_first_to("other") == "b"
    lean.offer("b", HOUR)
    assert either.remove_all(["java", "a"]) is True
    assert either.read_all() == ["b"]
    assert not admin.exists(KEYS.envelopes)


def test_a_malformed_member_in_the_zset_alone(admin: Any, either: Any, lean: Any) -> None:
    admin.zadd(KEYS.timeout, {b"\x09junk": 5})
    with pytest.raises(EnvelopeError):
        either.peek()
    lean.offer("a", HOUR)
    assert either.contains("a")
    assert either.poll() == "a"
    assert admin.lrange(KEYS.quarantine, 0, -1) == [b"5 \x09junk"]


# -- calls drawn at random -------------------------------------------------------------------------------------------

VALUES = st.sampled_from("abcd")


class Model(RuleBasedStateMachine):
    """Both kinds in one queue, against two plain lists: ``mirrored`` in offer order, ``lean`` by due hours."""

    def __init__(self, admin: redis.Redis, plain: Any, lean: Any) -> None:
        super().__init__()
        admin.flushall()
        self.handles = {False: plain, True: lean}
        self.mirrored: list[tuple[int, str, Any]] = []
        self.lean: list[tuple[int, str, Any]] = []
        self.hours = 0

    def all(self) -> list[tuple[int, str, Any]]:
        return self.mirrored + sorted(self.lean, key=lambda entry: entry[0])

    def drop(self, gone: list[tuple[int, str, Any]]) -> None:
        self.mirrored = [entry for entry in self.mirrored if entry not in gone]
        self.lean = [entry for entry in self.lean if entry not in gone]

    def due(self, earlier: bool) -> int:
        """No two are due in the same hour."""
        self.hours += 1
        return 5000 - self.hours if earlier else 5000 + self.hours

    @rule(value=VALUES, is_lean=st.booleans(), earlier=st.booleans())
    def offer(self, value: str, is_lean: bool, earlier: bool) -> None:
        due = self.due(earlier)
        item = self.handles[is_lean].offer(value, timedelta(hours=due))
        (self.lean if is_lean else self.mirrored).append((due, value, item))

    @rule(by=st.booleans(), start=st.integers(0, 8), count=st.integers(1, 8))
    def look(self, by: bool, start: int, count: int) -> None:
        handle, entries = self.handles[by], self.all()
        assert handle.size() == len(entries)
        assert handle.read_all() == list(handle) == [value for _, value, _ in entries]
        page = handle.items(start, start + count - 1, by="offer")
        assert page == [item for _, _, item in entries[start : start + count]]
        assert handle.items() == [item for _, _, item in sorted(entries, key=lambda entry: entry[0])]
        assert {value for value in "abcd" if handle.contains(value)} == {value for _, value, _ in entries}

    @rule(by=st.booleans(), limit=st.integers(1, 4))
    def poll(self, by: bool, limit: int) -> None:
        gone = self.all()[:limit]
        assert self.handles[by].poll(limit=limit) == [value for _, value, _ in gone]
        self.drop(gone)

    @rule(by=st.booleans())
    def poll_last(self, by: bool) -> None:
        gone = self.all()[-1:]
        assert self.handles[by].poll_last_and_offer_first_to("other") == (gone[0][1] if gone else None)
        self.drop(gone)

    @rule(by=st.booleans(), value=VALUES)
    def remove(self, by: bool, value: str) -> None:
        gone = [entry for entry in self.all() if entry[1] == value][:1]
        assert self.handles[by].remove(value) is bool(gone)
        self.drop(gone)

    @rule(by=st.booleans(), values=st.lists(VALUES, max_size=2), kept=st.booleans())
    def remove_many(self, by: bool, values: list[str], kept: bool) -> None:
        gone = [entry for entry in self.all() if (entry[1] in values) is not kept]
        call = self.handles[by].retain_all if kept else self.handles[by].remove_all
        assert call(values) is bool(gone)
        self.drop(gone)

    @rule(by=st.booleans(), index=st.integers(0, 8))
    def cancel(self, by: bool, index: int) -> None:
        gone = self.all()[index : index + 1]
        assert [self.handles[by].cancel(item.id) for _, _, item in gone] == [Outcome.CANCELLED] * len(gone)
        self.drop(gone)

    @rule(index=st.integers(0, 8), earlier=st.booleans())
    def reschedule(self, index: int, earlier: bool) -> None:
        for entry in self.all()[index : index + 1]:
            due = self.due(earlier)
            assert entry[2].reschedule(timedelta(hours=due)) is Outcome.RESCHEDULED
            kind = self.lean if entry in self.lean else self.mirrored
            kind[kind.index(entry)] = (due, *entry[1:])


@pytest.mark.parametrize("examples", [10, by_night(40)])
def test_both_kinds_do_what_two_lists_do(admin: Any, url: str, examples: int) -> None:
    with connect(url, codec=StringCodec()) as client:
        plain = client.delayed_queue("orders", transfer=False)
        lean = client.delayed_queue("orders", transfer=False, lean=True)
        run_state_machine_as_test(
            lambda: Model(admin, plain, lean),  # type: ignore[arg-type] # any factory
            settings=settings(
                max_examples=examples, stateful_step_count=40, deadline=None, derandomize=True, database=None
            ),
        )

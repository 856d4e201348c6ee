"""The forms of data in Redis: none changes under its number, and a newer one is left unchanged."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import DuplicateItemError, NewerFormError
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.recurrence import Recurrence
from redisson_dq.wire import forms
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.forms import FORMS
from redisson_dq.wire.keys import DeadKeys
from redisson_dq.wire.leases import LeaseRecord
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS

DEAD = DeadKeys.belonging_to("orders")
DIGEST = hashlib.sha1(b"a").hexdigest()[:32].encode()
HOUR = 3600

#: Of each form the texts that are written, by their names. T stands for a time in epoch ms, E for an entry's id in hex.
#: An entry is its first byte, and how many bytes it has beside that byte and its value.
#:
#: **A sample that has to change:** give the form another number in ``wire/forms.py``, and let this version read the old
#: one too. A text to which something is added that this version and the last one skip needs a new sample only.
SAMPLES: dict[str, dict[int, dict[str, bytes]]] = {
    "timeout": {
        10: {"mirrored": b"8+16", "lean": b"9+17", "lease": b"10+18", "legacy": b"+16"},
    },
    "records": {
        1: {
            "id": b"w T 0 0 ia",
            "bounded": b"w T T 0 ",
            "payload": b"w T 0 T h" + hashlib.sha256(b"a").hexdigest().encode(),
            "polled": b"d T 0 0 ia",
            "too late": b"x T T 0 ia",
        },
    },
    "deliveries": {
        1: {
            "first": b"1 0 0 T T 0 0 0 " + DIGEST + b" 0 ",
            "failed": b"1 1 0 T T 0 0 T " + DIGEST + b" 6 broken",
            "named": b"1 0 0 T T T T 0 " + DIGEST + b' 0 {"redisson_dq.item":"E 600000 in"}',
            "context": b"0 0 0 0 0 T T T " + DIGEST + b' 0 {"trace": "7"}',
        },
    },
    "dead_info": {
        1: {"rejected": b"T 6 90 orders1 0 0 T T 0 0 T " + DIGEST + b" 3 bada"},
    },
    "recurring": {
        1: {
            "every": b'{"cron":null,"end_ms":null,"every_ms":3600000,"start_ms":null,"timezone":"UTC","v":1}',
            "cron": b'{"cron":"30 9 * * mon-fri","end_ms":null,"every_ms":null,"start_ms":null,'
            b'"timezone":"Europe/Berlin","v":1}',
        },
    },
}

TIME = re.compile(rb"\b1\d{12}\b")
ENTRY = re.compile(rb"\b[0-9a-f]{16}\b")


def records(admin: Any) -> list[bytes]:
    return [text for field, text in admin.hgetall(KEYS.records).items() if field[:1] == b"e"]


def rules(admin: Any) -> list[bytes]:
    return [text for field, text in admin.hgetall(KEYS.recurring).items() if field[:1] == b"d"]


def entries(admin: Any) -> list[bytes]:
    (member,) = admin.zrange(KEYS.timeout, 0, -1)
    # The first byte of a legacy entry is one of its id's.
    return [b"%d+%d" % (member[0], len(member) - 1) if member[0] < 11 else b"+%d" % len(member)]


def deliveries(admin: Any) -> list[bytes]:
    found: list[bytes] = admin.hvals(KEYS.deliveries)
    return found


def letters(admin: Any) -> list[bytes]:
    found: list[bytes] = admin.hvals(DEAD.dead_info)
    return found


class Writer:
    """A client that moves nothing, and what it writes."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.delayed = client.delayed_queue("orders", transfer=False)
        self.queue = client.blocking_queue("orders", transfer=False)

    def received(self, value: str = "a") -> Any:
        self.queue.add(value)
        return self.queue.receive(visibility_timeout=HOUR)

    def named(self) -> None:
        self.delayed.offer("a", 0.001, id="n")
        eventually(lambda: self.delayed.overdue().count)
        assert len(self.delayed.take_due(visibility_timeout=HOUR)) == 1

    def too_late(self) -> None:
        self.delayed.offer("a", 0.001, id="a", expires=0.001)
        eventually(lambda: self.delayed.overdue().late_by.total_seconds() > 0.01)
        assert self.delayed.take_due() == []


#: The function that writes each sample, and the place of the text.
WRITERS: dict[tuple[str, str], tuple[Callable[[Writer], Any], Callable[[Any], list[bytes]]]] = {
    ("timeout", "mirrored"): (lambda each: each.delayed.offer("", HOUR), entries),
    ("timeout", "lean"): (
        lambda each: each.client.delayed_queue("orders", lean=True, transfer=False).offer("", HOUR),
        entries,
    ),
    ("timeout", "lease"): (lambda each: each.received(""), entries),
    ("timeout", "legacy"): (lambda each: each.delayed.offer("", HOUR), entries),
    ("records", "id"): (lambda each: each.delayed.offer("a", HOUR, id="a"), records),
    ("records", "bounded"): (lambda each: each.delayed.offer("a", HOUR, expires=9), records),
    ("records", "payload"): (lambda each: each.delayed.offer("a", HOUR, deduplicate_for=HOUR), records),
    ("records", "polled"): (lambda each: each.delayed.offer("a", HOUR, id="a") and each.delayed.poll(), records),
    ("records", "too late"): (Writer.too_late, records),
    ("deliveries", "first"): (Writer.received, deliveries),
    ("deliveries", "failed"): (lambda each: each.received().nack(HOUR, reason="broken"), deliveries),
    ("deliveries", "named"): (Writer.named, deliveries),
    ("deliveries", "context"): (lambda each: each.delayed.offer("a", HOUR, context={"trace": "7"}), deliveries),
    ("dead_info", "rejected"): (lambda each: each.received().reject("bad"), letters),
    ("recurring", "every"): (lambda each: each.delayed.offer_recurring("a", "r", every=HOUR), rules),
    ("recurring", "cron"): (
        lambda each: each.delayed.offer_recurring("a", "r", cron="30 9 * * mon-fri", timezone="Europe/Berlin"),
        rules,
    ),
}


# -- forms that are written ------------------------------------------------------------------------------------------


def test_each_form_has_samples() -> None:
    assert {name: form.writes for name, form in FORMS.items()} == {name: max(each) for name, each in SAMPLES.items()}
    assert {(name, sample) for name, form in FORMS.items() for sample in SAMPLES[name][form.writes]} == WRITERS.keys()


def test_what_is_written_is_read() -> None:
    assert [name for name, form in FORMS.items() if form.writes > form.reads] == []


@pytest.mark.parametrize(("name", "sample"), WRITERS)
def test_a_form_is_written_as_its_number_says(flavour: Flavour, url: str, admin: Any, name: str, sample: str) -> None:
    write, read = WRITERS[name, sample]
    with flavour.connect(url, codec=StringCodec(), envelope="legacy" if sample == "legacy" else "current") as client:
        write(Writer(client))
    (text,) = read(admin)
    assert ENTRY.sub(b"E", TIME.sub(b"T", text)) == SAMPLES[name][FORMS[name].writes][sample]


# -- former forms are read, and newer ones known ---------------------------------------------------------------------


def with_times(sample: bytes) -> bytes:
    return re.sub(rb"\bT\b", b"1795327848077", sample)


@pytest.mark.parametrize("form", SAMPLES["deliveries"])
def test_each_form_of_a_delivery_is_read(form: int) -> None:
    samples = SAMPLES["deliveries"][form]
    first, failed, context = (LeaseRecord.parse(with_times(samples[name])) for name in ("first", "failed", "context"))
    assert (first.attempt, first.failures, first.received_ms) == (1, 0, 1795327848077)
    assert (failed.attempt, failed.failures, failed.reason) == (1, 1, "broken")
    assert (context.attempt, context.due_ms, context.context) == (0, 1795327848077, {"trace": "7"})


@pytest.mark.parametrize("form", SAMPLES["recurring"])
def test_each_form_of_a_rule_is_read(form: int) -> None:
    every, cron = (Recurrence.from_json(SAMPLES["recurring"][form][name].decode()) for name in ("every", "cron"))
    assert (every.every_ms, cron.cron, cron.timezone) == (3_600_000, "30 9 * * mon-fri", "Europe/Berlin")


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in ("timeout", "recurring")])
def test_a_newer_form_looks_like_no_text_of_ours(name: str) -> None:
    assert forms.newer_form(b"v2 whatever follows") == 2
    assert [sample for form in SAMPLES[name].values() for sample in form.values() if forms.newer_form(sample)] == []


# -- something in a newer form ---------------------------------------------------------------------------------------

NEWER_ID = bytes(range(11))
NEWER = b"\x0b" + NEWER_ID + (1).to_bytes(8, "little") + b"n"


def told(caplog: pytest.LogCaptureFixture, key: str, form: int) -> bool:
    """Whether one error names the queue, the key and the form, and says what to do."""
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    names = [each for each in errors if f"'orders': the key {key!r}" in each and f"in form {form}," in each]
    assert len(names) <= 1, names
    return bool(names) and names[0].endswith("Upgrade this client")


def attached(admin: Any, handle: Any) -> Any:
    eventually(lambda: admin.pubsub_numsub(KEYS.channel)[0][1] == 1)
    return handle


@pytest.fixture
def _no_transfer_fails(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    assert "a transfer failed" not in caplog.text


def test_an_entry_is_set_aside_for_the_version_that_knows_it(
    admin: Any, queue: Any, delayed: Any, caplog: pytest.LogCaptureFixture
) -> None:
    attached(admin, queue)
    for round in range(3):
        admin.zadd(KEYS.timeout, {NEWER[:-1] + bytes([round]): 5 + round})
        admin.publish(KEYS.channel, "5")
        delayed.offer(f"behind {round}", delay=0.01)
        assert queue.take() == f"behind {round}"
    kept = [(NEWER[:-1] + bytes([round]), 5 + round) for round in range(3)]
    assert admin.zrange(KEYS.newer, 0, -1, withscores=True) == kept
    assert not admin.exists(KEYS.quarantine, KEYS.ready, KEYS.timeout)
    eventually(lambda: told(caplog, KEYS.newer, 11))


def test_an_entry_that_is_not_due_stays(admin: Any, queue: Any, delayed: Any) -> None:
    attached(admin, queue)
    admin.zadd(KEYS.timeout, {NEWER: 2**50})
    delayed.offer("a", delay=0.01)
    assert queue.take() == "a"
    assert delayed.take_due() == []
    assert admin.zscore(KEYS.timeout, NEWER) == 2**50
    assert not admin.exists(KEYS.newer)


def test_calls_that_take_pass_over_an_entry(
    admin: Any, producer: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    admin.zadd(
        KEYS.timeout, {NEWER: 5, wrap(Envelope.CURRENT, bytes(9), b"a"): 6, wrap(Envelope.CURRENT, bytes(9), b"b"): 7}
    )
    assert producer.take_due(limit=2) == ["a"]
    admin.zadd(KEYS.timeout, {NEWER[:-1] + b"m": 5})
    assert producer.poll() == "b"
    assert admin.zrange(KEYS.newer, 0, -1, withscores=True) == [(NEWER[:-1] + b"m", 5), (NEWER, 5)]
    assert not admin.exists(KEYS.quarantine)
    # A client that moves the queue tells of it.
    client.delayed_queue("orders").start_moving()
    eventually(lambda: told(caplog, KEYS.newer, 11))


def test_an_entry_that_a_former_version_has_set_aside_is_taken_back(admin: Any, delayed: Any, queue: Any) -> None:
    """Here the former version is one that knew no lean entries."""
    attached(admin, queue)
    members = {wrap(Envelope.CURRENT, bytes(8) + bytes([number]), b"%d" % number): number for number in range(250)}
    admin.zadd(KEYS.newer, {**members, NEWER: 1})
    admin.publish(KEYS.channel, "0")
    assert [queue.poll(timeout=PATIENCE) for _ in range(3)] == ["0", "1", "2"]
    taken = 3
    while taken < 250:
        # A mover looks at some each time it moves.
        admin.publish(KEYS.channel, "0")
        taken += len(queue.poll(250, timeout=0.05))
    assert admin.zrange(KEYS.newer, 0, -1) == [NEWER]


def newer_record(admin: Any, producer: Any, delay: float) -> tuple[bytes, bytes]:
    """An item whose record is in a newer form. Gives the record's field, and the form."""
    producer.offer("a", delay, id="a")
    (field,) = [field for field in admin.hkeys(KEYS.records) if field[:1] == b"e"]
    admin.hset(KEYS.records, field, b"v2 whatever")
    return field, b"v2 whatever"


@pytest.mark.usefixtures("_no_transfer_fails")
def test_an_item_whose_record_is_newer_is_delivered_and_its_record_stays(
    admin: Any, producer: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    field, text = newer_record(admin, producer, 0.01)
    queue = client.blocking_queue("orders")
    assert queue.take() == "a"
    assert admin.hget(KEYS.records, field) == text
    eventually(lambda: told(caplog, KEYS.records, 2))
    # Its time is over, and sweeps leave it.
    admin.zadd(KEYS.forget, {field[1:]: 5})
    producer.offer("b", 0.01, id="b")
    assert queue.take() == "b"
    assert admin.hget(KEYS.records, field) == text
    assert admin.zscore(KEYS.forget, field[1:]) > 5


CALLS: dict[str, Callable[[Any], Any]] = {
    "cancel": lambda delayed: delayed.cancel("a"),
    "reschedule": lambda delayed: delayed.reschedule("a", 5),
    "run_now": lambda delayed: delayed.run_now("a"),
    "find": lambda delayed: delayed.find("a"),
    "offer": lambda delayed: delayed.offer("a", 9, id="a"),
    "replace": lambda delayed: delayed.offer("a", 9, id="a", on_duplicate="replace"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_names_such_an_item_is_refused(admin: Any, producer: Any, call: str) -> None:
    newer_record(admin, producer, HOUR)
    before = {key: admin.dump(key) for key in admin.keys("*")}
    with pytest.raises(
        NewerFormError, match=r"queue 'orders': the key 'redisson_dq_records:\{orders\}' holds .* form 2"
    ) as caught:
        CALLS[call](producer)
    assert (caught.value.key, caught.value.form) == (KEYS.records, 2)
    assert {key: admin.dump(key) for key in admin.keys("*")} == before
    producer.offer("b", HOUR, id="b")
    with pytest.raises(DuplicateItemError):
        producer.offer("b", HOUR, id="b")


def test_the_history_of_a_value_stays_and_the_value_is_delivered(
    admin: Any, queue: Any, caplog: pytest.LogCaptureFixture
) -> None:
    queue.add("a")
    queue.receive().nack(reason="broken")
    (id,) = admin.hkeys(KEYS.deliveries)
    admin.hset(KEYS.deliveries, id, b"v3 whatever")
    delivery = queue.receive()
    assert (delivery.value, delivery.attempt, delivery.failures) == ("a", 1, 0)
    eventually(lambda: told(caplog, KEYS.deliveries, 3))
    assert admin.hget(KEYS.deliveries, id) == b"v3 whatever"
    assert delivery.nack(reason="again") is SettleOutcome.RETURNED
    # A record that this version knows comes first.
    again = queue.receive()
    assert (again.attempt, again.failures, again.reason) == (2, 1, "again")
    assert again.ack() is SettleOutcome.ACKED
    assert admin.hkeys(KEYS.deliveries) == [id]
    assert admin.zcard(KEYS.histories) == admin.zcard(KEYS.history_ends) == 1


@pytest.mark.usefixtures("_no_transfer_fails")
def test_a_lease_that_ends_is_left_to_the_version_that_knows_its_record(
    admin: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    reading = client.blocking_queue("orders", transfer=False)
    reading.add_all(["a", "b"])
    assert len(reading.receive(2, visibility_timeout=0.05)) == 2
    newer = sorted(admin.hkeys(KEYS.deliveries))[0]
    admin.hset(KEYS.deliveries, newer, b"v2 x")
    queue = client.blocking_queue("orders")
    found = sorted(queue.take() for _ in range(2))
    assert found == ["a", "b"]
    assert admin.hget(KEYS.deliveries, newer) == b"v2 x"
    assert admin.zrange(KEYS.leases, 0, -1) == [newer]
    eventually(lambda: told(caplog, KEYS.deliveries, 2))


@pytest.mark.parametrize("end", [lambda each: each.nack(), lambda each: each.reject()], ids=["nack", "reject"])
def test_a_lease_whose_record_is_newer_is_not_ended(admin: Any, client: Any, end: Callable[[Any], Any]) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a")
    delivery = queue.receive(visibility_timeout=HOUR)
    (id,) = admin.hkeys(KEYS.deliveries)
    admin.hset(KEYS.deliveries, id, b"v2 x")
    assert end(delivery) is SettleOutcome.LOST
    assert admin.hget(KEYS.deliveries, id) == b"v2 x"
    assert admin.zcard(KEYS.timeout) == admin.zcard(KEYS.leases) == 1
    assert not admin.exists(KEYS.ready, DEAD.dead)


def test_waiting_values_with_a_newer_history_are_not_leased(admin: Any, producer: Any) -> None:
    producer.offer("a", 0, context={"trace": "7"})
    producer.offer("b", 0)
    (id,) = admin.hkeys(KEYS.deliveries)
    admin.hset(KEYS.deliveries, id, b"v2 x")
    eventually(lambda: producer.overdue().count == 2)
    assert [each.value for each in producer.take_due(visibility_timeout=HOUR)] == ["b"]
    assert admin.hget(KEYS.deliveries, id) == b"v2 x"
    with pytest.raises(NewerFormError, match="redisson_dq_deliveries"):
        producer.reschedule(next(item.id for item in producer.items() if item.value == "a"), HOUR)


def test_dead_letters_of_a_newer_form_stay(admin: Any, queue: Any, caplog: pytest.LogCaptureFixture) -> None:
    for value in ("a", "b", "c"):
        queue.add(value)
        queue.receive().reject("bad")
    (id,) = [id for id, text in admin.hgetall(DEAD.dead_info).items() if text.endswith(b"b")]
    admin.hset(DEAD.dead_info, id, b"v2 x")
    listed = queue.dead_letters()
    assert [(each.value, each.reason) for each in listed] == [("a", "bad"), ("b", ""), ("c", "bad")]
    assert told(caplog, DEAD.dead_info, 2)
    assert queue.redrive([listed[1].id]).count == 0
    redriven = queue.redrive()
    assert (redriven.count, redriven.left) == (2, 1)
    assert queue.purge_dead() == 0
    assert admin.lrange(DEAD.dead, 0, -1) == [b"b"]
    assert admin.hgetall(DEAD.dead_info) == {id: b"v2 x"}
    assert sorted(queue.poll(limit=3)) == ["a", "c"]

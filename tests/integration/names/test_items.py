"""Single items: their handles, and the results of cancel, reschedule and run_now in every state."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import attrs
import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.items import Outcome, item_id
from redisson_dq.wire.envelope import Envelope, unwrap, wrap
from tests.conftest import eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import of_server, wait_until
from tests.interop.sides import HOUR, take

# -- handles ---------------------------------------------------------------------------------------------------------


def test_a_handle_tells_of_its_item(admin: Any, producer: Any) -> None:
    before = of_server(admin)
    item = producer.offer("a", delay=60)
    after = of_server(admin)
    assert item.due.tzinfo is timezone.utc
    assert before + timedelta(seconds=60) <= item.due <= after + timedelta(seconds=60, milliseconds=1)
    assert timedelta(seconds=59) < item.remaining <= timedelta(seconds=60, milliseconds=1)
    assert item.value == "a"
    ((member, score),) = admin.zrange(KEYS.timeout, 0, -1, withscores=True)
    assert item.id == item_id(int(score), unwrap(member)[0])
    assert item.due == datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=score)
    assert set(admin.keys()) == {KEYS.timeout.encode(), KEYS.envelopes.encode()}, "no table beside the two of Java"


def test_the_time_that_remains_goes_below_zero(producer: Any) -> None:
    item = producer.offer("a", delay=0.01)
    eventually(lambda: item.remaining < timedelta(0))


def test_a_handle_follows_its_reschedules_and_equals_other_handles_of_its_item(admin: Any, producer: Any) -> None:
    item, other = producer.offer("a", delay=60), producer.offer("a", delay=60)
    found = producer.find(item.id)
    at = of_server(admin, 7_200_000).replace(microsecond=5000)
    assert item.reschedule(at=at) is Outcome.RESCHEDULED
    assert (item.due, found.due < at) == (at, True)
    assert item.remaining > timedelta(hours=1)
    # It counts from the arrival of the reply, which comes after the script.
    eventually(lambda: item.remaining <= timedelta(hours=2))
    inner = [getattr(handle, "inner", handle) for handle in (item, found, other)]
    assert inner[0] == inner[1] != inner[2]
    assert len(set(inner)) == 2
    assert found.cancel() is Outcome.CANCELLED
    assert item.cancel() is Outcome.UNKNOWN


# -- outcomes --------------------------------------------------------------------------------------------------------


@attrs.frozen
class Scene:
    """One queue that nobody moves unless a test says so."""

    admin: Any
    client: Any
    delayed: Any

    def move(self) -> None:
        """Lets this client move what is due, and take it."""
        waiting = int(self.admin.zcard(KEYS.timeout))
        with moving(self.client.delayed_queue("orders")) as mover:
            eventually(lambda: self.admin.zcard(KEYS.timeout) < waiting)
            assert mover.transfer
        self.client.blocking_queue("orders", transfer=False).poll()

    def pass_due(self, item: Any) -> None:
        wait_until(self.admin, item.due)


State = Callable[[Scene, dict[str, Any]], Any]
STATES: list[Any] = []


def state(outcome: Outcome) -> Callable[[State], State]:
    """A state of an item, and the results of every call in it."""

    def register(make: State) -> State:
        STATES.append(pytest.param(make, outcome, id=make.__name__))
        return make

    return register


@state(Outcome.DELIVERED)
def delivered(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=0.005, **options)
    scene.move()
    return item


@state(Outcome.DELIVERED)
def delivered_after_it_was_run_now(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=HOUR, **options)
    assert scene.delayed.run_now(item.id) is Outcome.RESCHEDULED
    scene.move()
    return item


@state(Outcome.DELIVERED)
def delivered_after_two_reschedules(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=0, **options)
    assert scene.delayed.reschedule(item.id, delay=HOUR) is Outcome.RESCHEDULED
    assert scene.delayed.reschedule(item.id, delay=0.005) is Outcome.RESCHEDULED
    scene.move()
    return item


@state(Outcome.EXPIRED)
def too_late(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=0, expires=0.005, **options)
    wait_until(scene.admin, item.due + timedelta(milliseconds=5))
    scene.move()
    return item


@state(Outcome.UNKNOWN)
def removed_by_value(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=0.005, **options)
    assert scene.delayed.remove("a")
    scene.pass_due(item)
    return item


@state(Outcome.UNKNOWN)
def removed_with_others(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=0.005, **options)
    scene.delayed.offer("b", delay=HOUR)
    assert scene.delayed.retain_all(["b"])
    scene.pass_due(item)
    return item


@state(Outcome.UNKNOWN)
def cancelled_before_its_time(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=HOUR, **options)
    assert scene.delayed.cancel(item.id) is Outcome.CANCELLED
    return item


@state(Outcome.UNKNOWN)
def cancelled_and_its_time_has_passed(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=0.005, **options)
    assert item.cancel() is Outcome.CANCELLED
    scene.pass_due(item)
    return item


@state(Outcome.UNKNOWN)
def cancelled_after_a_reschedule(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=0.005, **options)
    assert scene.delayed.reschedule(item.id, delay=0.02) is Outcome.RESCHEDULED
    assert scene.delayed.cancel(item.id) is Outcome.CANCELLED
    scene.pass_due(item)
    return item


@state(Outcome.UNKNOWN)
def cleared(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=HOUR, **options)
    scene.delayed.clear()
    return item


@state(Outcome.UNKNOWN)
def cancelled_and_the_others_cleared(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=0.005, **options)
    assert item.cancel() is Outcome.CANCELLED
    scene.delayed.clear()
    scene.pass_due(item)
    return item


@state(Outcome.UNKNOWN)
def deleted(scene: Scene, options: dict[str, Any]) -> Any:
    item = scene.delayed.offer("a", delay=HOUR, **options)
    assert scene.delayed.delete()
    return item


@pytest.fixture
def scene(admin: Any, client: Any) -> Scene:
    return Scene(admin, client, client.delayed_queue("orders", transfer=False))


@pytest.fixture
def elsewhere(flavour: Flavour, url: str) -> Iterator[Any]:
    """The delayed side in another client."""
    with flavour.connect(url, codec=StringCodec()) as client:
        yield client.delayed_queue("orders", transfer=False)


@pytest.mark.parametrize("options", [{}, {"id": "42"}], ids=["made id", "own id"])
@pytest.mark.parametrize(("make", "outcome"), STATES)
def test_every_call_tells_what_became_of_an_item(
    scene: Scene, elsewhere: Any, make: State, outcome: Outcome, options: dict[str, Any]
) -> None:
    item = make(scene, options)
    before = scene.admin.zrange(KEYS.timeout, 0, -1, withscores=True)
    for delayed in (scene.delayed, elsewhere):
        assert delayed.cancel(item.id) is outcome
        assert delayed.reschedule(item.id, delay=60) is outcome
        assert delayed.run_now(item.id) is outcome
        assert delayed.find(item.id) is None
    due = item.due
    assert (item.cancel(), item.reschedule(60), item.run_now()) == (outcome, outcome, outcome)
    assert item.due == due
    assert not outcome
    assert scene.admin.zrange(KEYS.timeout, 0, -1, withscores=True) == before
    assert scene.admin.lrange(KEYS.envelopes, 0, -1) == [member for member, _ in before]


@pytest.mark.parametrize(
    ("options", "outcome"), [({}, Outcome.UNKNOWN), ({"id": "42"}, Outcome.DELIVERED)], ids=["made id", "own id"]
)
def test_an_item_that_was_polled_before_its_time(scene: Scene, options: dict[str, Any], outcome: Outcome) -> None:
    item = scene.delayed.offer("a", delay=HOUR, **options)
    assert scene.delayed.poll() == "a"
    assert (scene.delayed.cancel(item.id), item.cancel(), item.run_now()) == (outcome,) * 3


@pytest.mark.parametrize(
    ("options", "outcome"), [({}, Outcome.DELIVERED), ({"id": "42"}, Outcome.UNKNOWN)], ids=["made id", "own id"]
)
def test_an_item_that_was_cleared_and_its_time_has_passed(
    scene: Scene, options: dict[str, Any], outcome: Outcome
) -> None:
    item = scene.delayed.offer("a", delay=0.005, **options)
    scene.delayed.clear()
    scene.pass_due(item)
    assert item.cancel() is outcome


@pytest.mark.parametrize("options", [{}, {"id": "42"}], ids=["made id", "own id"])
@pytest.mark.parametrize("by", ["handle", "id", "id elsewhere"])
def test_a_waiting_item(scene: Scene, elsewhere: Any, options: dict[str, Any], by: str) -> None:
    item = scene.delayed.offer("a", delay=60, **options)
    scene.delayed.offer("b", delay=120)

    def call(method: str, *args: Any) -> Any:
        if by == "handle":
            return getattr(item, method)(*args)
        return getattr(elsewhere if by == "id elsewhere" else scene.delayed, method)(item.id, *args)

    assert call("reschedule", 180) is Outcome.RESCHEDULED
    assert [found.value for found in scene.delayed.items()] == ["b", "a"]
    assert scene.delayed.read_all() == ["a", "b"], "the order of offers stays"
    assert call("run_now") is Outcome.RESCHEDULED
    assert scene.delayed.items(0, 0)[0].remaining < timedelta(milliseconds=2)
    assert call("cancel") is Outcome.CANCELLED
    assert call("cancel") is Outcome.UNKNOWN
    assert scene.delayed.read_all() == ["b"]
    assert [found.value for found in scene.delayed.items()] == ["b"]


def test_the_id_of_before_a_reschedule_names_the_item_wherever_it_is_used(scene: Scene, elsewhere: Any) -> None:
    item = scene.delayed.offer("a", delay=60)
    assert elsewhere.reschedule(item.id, delay=120) is Outcome.RESCHEDULED
    (listed,) = elsewhere.items()
    assert listed.id != item.id, "it tells the due time"
    assert scene.delayed.reschedule(listed.id, delay=240) is Outcome.RESCHEDULED
    for id in (item.id, listed.id):
        assert scene.delayed.find(id).remaining > timedelta(seconds=230)
    assert elsewhere.cancel(item.id) is Outcome.CANCELLED
    assert scene.delayed.cancel(listed.id) is Outcome.UNKNOWN
    assert item.cancel() is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "id",
    [
        "never existed",
        "1700000000000-0011223344556677",
        "1700000000000-0011223344556677 ",
        "1700000000000-00 11 22 33 44 55",
        "1700000000000-001122334455667",
        "1700000000000-AABBCCDDEEFF0011",
        "-0011223344556677",
        "99999999999999999999-0011223344556677",
        "\u0661-0011223344556677",
        "-1-0011223344556677",
        "0-0000000000000000",
    ],
)
def test_an_id_that_nobody_has(admin: Any, producer: Any, id: str) -> None:
    producer.offer("a", delay=60)
    assert (producer.cancel(id), producer.reschedule(id, 1), producer.run_now(id)) == (Outcome.UNKNOWN,) * 3
    assert producer.find(id) is None
    assert producer.read_all() == ["a"]


@pytest.mark.parametrize("id", ["", "x" * 513, "\u00e9" * 257, "\ud800", "a\udfffb", 42, None, b"42"])
def test_what_cannot_be_an_id(admin: Any, producer: Any, id: Any) -> None:
    for call in (producer.cancel, producer.find, producer.run_now):
        with pytest.raises(ArgumentError, match="an id is a str"):
            call(id)
    with pytest.raises(ArgumentError, match="an id is a str"):
        producer.offer_recurring("a", id, every=60)
    assert admin.keys() == []


def test_an_id_is_of_one_queue(client: Any) -> None:
    orders, bills = (client.delayed_queue(name, transfer=False) for name in ("orders", "bills"))
    made, own = orders.offer("a", delay=60), orders.offer("b", delay=60, id="42")
    assert (bills.cancel(made.id), bills.cancel(own.id)) == (Outcome.UNKNOWN, Outcome.UNKNOWN)
    bills.offer("b", delay=60, id="42")
    assert own.cancel() is Outcome.CANCELLED
    assert bills.size() == 1


def test_outcomes_are_remembered_for_a_while(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), remember=0.05) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        items = [delayed.offer("a", delay=0), delayed.offer("b", delay=0, id="42")]
        with client.blocking_queue("orders") as queue:
            assert [queue.take(), queue.take()] == ["a", "b"]
        eventually(lambda: [delayed.cancel(item.id) for item in items] == [Outcome.UNKNOWN] * 2)


def test_nothing_is_remembered(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), remember=0) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        made, own = delayed.offer("a", delay=60), delayed.offer("b", delay=60, id="42")
        assert (made.cancel(), own.cancel()) == (Outcome.CANCELLED, Outcome.CANCELLED)
        assert (made.cancel(), own.cancel()) == (Outcome.UNKNOWN, Outcome.UNKNOWN)
        assert admin.keys() == []


# -- among many ------------------------------------------------------------------------------------------------------


def _fill(admin: Any, members: list[bytes], due_ms: int) -> None:
    """What other clients wrote: all due in the same millisecond."""
    random.Random(1).shuffle(members)
    for start in range(0, len(members), 1000):
        page = members[start : start + 1000]
        admin.zadd(KEYS.timeout, dict.fromkeys(page, due_ms))
        admin.rpush(KEYS.envelopes, *page)


def test_one_item_among_thousands_of_the_same_millisecond(admin: Any, producer: Any) -> None:
    chance = random.Random(2)
    at = of_server(admin, 3_600_000).replace(microsecond=0)
    due_ms = round(at.timestamp() * 1000)
    # Redisson's ids are random bytes (the legacy ones doubles); the values have every byte, and many are equal.
    values = [b"", b"\x00", b"same", b"\x00\x01 \n%s\xff", b"\x08" * 20]
    written = [
        wrap(envelope, id, chance.choice(values))
        for envelope in Envelope
        for id in (
            [chance.randbytes(8) for _ in range(1500)] + [struct.pack("<d", chance.random()) for _ in range(500)]
        )
    ]
    # Those whose ids begin and end the order of bytes, or look like the other format's first byte.
    edges = [b"\x00" * 8, b"\xff" * 8, b"\x08" * 8, b"\x08" + b"\x00" * 7, b"\x08" + b"\xff" * 7]
    written += [wrap(Envelope.CURRENT, id, b"same") for id in edges]
    written += [wrap(Envelope.LEGACY, bytes([id[0]]) + id[1:-1] + b"\x07", b"same") for id in edges]
    _fill(admin, written, due_ms)
    ours = [producer.offer("same", at=at) for _ in range(50)]

    left = {member for member, _ in admin.zrange(KEYS.timeout, 0, -1, withscores=True)}
    picked = chance.sample(written[:4000], 150) + [member for member in written if unwrap(member)[1] == b"same"][-10:]
    for number, member in enumerate(dict.fromkeys(picked)):
        id = item_id(due_ms, unwrap(member)[0])
        if number % 3 == 0:
            assert producer.reschedule(id, at=at + timedelta(milliseconds=1 + number)) is Outcome.RESCHEDULED
        assert producer.cancel(id) is Outcome.CANCELLED
        left.remove(member)
        assert producer.cancel(id) is Outcome.UNKNOWN
    for item in ours[::2]:
        assert item.cancel() is Outcome.CANCELLED
        left.remove(next(member for member in left if item.id == item_id(due_ms, unwrap(member)[0])))
    assert {member for member, _ in admin.zrange(KEYS.timeout, 0, -1, withscores=True)} == left
    assert set(admin.lrange(KEYS.envelopes, 0, -1)) == left
    assert admin.llen(KEYS.envelopes) == len(left)
    for item in ours[1::2]:
        assert producer.find(item.id).value == "same"


def test_of_equal_values_the_one_that_is_named_goes(admin: Any, producer: Any) -> None:
    items = [producer.offer("same", delay=delay) for delay in (60, 120, 60, 180, 0)]
    assert items[3].cancel() is Outcome.CANCELLED
    assert items[2].reschedule(240) is Outcome.RESCHEDULED
    assert [item.due for item in producer.items(by="offer")] == [items[n].due for n in (0, 1, 2, 4)]
    assert [item.due for item in producer.items()] == [items[n].due for n in (4, 0, 1, 2)]


@pytest.mark.parametrize("envelope", ["current", "legacy"])
def test_both_formats(flavour: Flavour, admin: Any, url: str, envelope: str) -> None:
    with flavour.connect(url, codec=StringCodec(), envelope=envelope) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        items = [delayed.offer(f"{n}", delay=60, id=id) for n, id in enumerate((None, "own", None))]
        (member,) = {len(member) for member in admin.lrange(KEYS.envelopes, 0, -1)}
        assert member == {"current": 18, "legacy": 17}[envelope]
        assert [delayed.find(item.id).value for item in items] == ["0", "1", "2"]
        assert items[0].cancel() is Outcome.CANCELLED
        assert delayed.run_now("own") is Outcome.RESCHEDULED
        assert take(client.blocking_queue("orders")) == "1"
        assert delayed.cancel("own") is Outcome.DELIVERED
        assert delayed.read_all() == ["2"]


# -- reschedules wake consumers --------------------------------------------------------------------------------------


def test_a_reschedule_to_a_later_time(admin: Any, producer: Any, queue: Any) -> None:
    first, second = producer.offer("first", delay=0.05), producer.offer("second", delay=0.1)
    assert first.reschedule(0.2) is Outcome.RESCHEDULED
    assert [take(queue), take(queue)] == ["second", "first"]
    assert of_server(admin) >= first.due > second.due


def test_the_last_item_can_be_put_off_while_a_timer_runs_for_it(admin: Any, producer: Any, queue: Any) -> None:
    item = producer.offer("a", delay=0.05)
    for _ in range(5):
        assert item.reschedule(0.1) is Outcome.RESCHEDULED
    assert take(queue) == "a"
    assert of_server(admin) >= item.due

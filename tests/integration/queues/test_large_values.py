"""Large waiting values: a script reads and returns at most about 1 MB of them, or one value."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys
from redisson_dq.wire.lease_source import LeaseSource
from tests.conftest import PATIENCE
from tests.integration.moving.test_walks import calls_of

PAST = datetime(2026, 1, 2, tzinfo=timezone.utc)
LATER = datetime(2100, 1, 2, tzinfo=timezone.utc)
COUNT = 30


def large(number: int, size: int = 100_000) -> str:
    return f"{number:03}" + "x" * size


@pytest.fixture(params=["mirrored", "lean", "both", "beside a lease"])
def kinds(request: pytest.FixtureRequest, client: Any) -> list[Any]:
    """Handles that offer in turn."""
    if request.param == "beside a lease":
        queue = client.blocking_queue("orders", transfer=False)
        queue.add("held")
        queue.receive(visibility_timeout=3600)
    lean = {"mirrored": [False], "both": [False, True]}.get(request.param, [True])
    return [client.delayed_queue("orders", transfer=False, lean=each) for each in lean]


def offered(kinds: list[Any], at: datetime) -> list[str]:
    """In the order of their due times."""
    values = [large(number) for number in range(COUNT)]
    for number, value in enumerate(values):
        kinds[number % len(kinds)].offer(value, at=at + timedelta(seconds=number))
    return values


@pytest.mark.parametrize("leased", [False, True])
@pytest.mark.parametrize("at", [PAST, LATER])
def test_take_due_takes_a_million_bytes_at_most(kinds: list[Any], at: datetime, leased: bool) -> None:
    values = offered(kinds, at)
    options = {"visibility_timeout": 60} if leased else {}
    taken: list[str] = []
    while found := kinds[0].take_due(until=at + timedelta(days=1), limit=1000, **options):
        assert len(found) == min(9, COUNT - len(taken))
        taken += [getattr(each, "value", each) for each in found]
    assert taken == values


def test_a_larger_value_is_taken_alone(kinds: list[Any]) -> None:
    for number, size in enumerate([5, 1_500_000, 1_500_000, 5, 5]):
        kinds[0].offer(large(number, size), at=PAST + timedelta(seconds=number))
    taken = [[int(value[:3]) for value in kinds[0].take_due()] for _ in range(4)]
    assert taken == [[0], [1], [2], [3, 4]]


@pytest.mark.parametrize("again", [False, True], ids=["fresh", "delivered before"])
def test_receive_leases_a_million_bytes_at_most(client: Any, again: bool) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    values = [large(number) for number in range(COUNT)]
    queue.add_all(values)
    if again:
        queue.receive(visibility_timeout=60).nack(count=True)
        values = [*values[1:], values[0]]
    taken: list[str] = []
    while found := queue.receive(1000, timeout=0, visibility_timeout=60):
        assert len(found) == min(10, COUNT - len(taken))
        taken += [delivery.value for delivery in found]
    assert taken == values


def test_a_larger_value_is_leased_alone(client: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all([large(number, size) for number, size in enumerate([1_500_000, 1_500_000, 5, 5])])
    leased = [[int(each.value[:3]) for each in queue.receive(9, timeout=0)] for _ in range(3)]
    assert leased == [[0], [1], [2, 3]]


def test_a_page_comes_in_parts(admin: Any, kinds: list[Any]) -> None:
    values = offered(kinds, LATER)
    in_offer_order = values[:: len(kinds)] + (values[1::2] if len(kinds) == 2 else [])
    pages: dict[str, Callable[[], list[str]]] = {
        "by due": lambda: [item.value for item in kinds[0].items(1, 28)],
        "by offer": lambda: [item.value for item in kinds[0].items(1, 28, by="offer")],
        "iteration": lambda: list(kinds[0])[1:29],
    }
    for name, page in pages.items():
        calls_of(admin)
        assert page() == (values if name == "by due" else in_offer_order)[1:29]
        assert calls_of(admin) >= 4, name
    assert [item.value for item in kinds[0].items(28, 99)] == values[28:]
    assert calls_of(admin) == 1
    assert kinds[0].read_all() == in_offer_order
    assert [item.value for item in kinds[0].items(5, 4)] == []


def test_a_page_of_leases_comes_in_parts(admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all([large(number) for number in range(COUNT)])
    for number in range(COUNT):
        assert queue.receive(visibility_timeout=100 + number).value == large(number)
    calls_of(admin)
    assert [held.value for held in queue.in_flight(1, 28)] == [large(number) for number in range(1, 29)]
    assert calls_of(admin) >= 4


def test_pages_of_partitions_come_in_parts(client: Any) -> None:
    delayed = client.delayed_queue("orders", partitions=3, transfer=False)
    queue = client.blocking_queue("orders", partitions=3, transfer=False)
    values = [large(number) for number in range(COUNT)]
    keys = ["a"] * (COUNT - 5) + ["b", "c", "d", "e", "f"]
    for number, (key, value) in enumerate(zip(keys, values, strict=True)):
        delayed.offer(value, at=LATER + timedelta(seconds=number), key=key)
        queue.add(value, key=key)
    assert [item.value for item in delayed.items(2, 99)] == values[2:]
    leased = 0
    while leased < COUNT:
        leased += len(queue.receive(COUNT, timeout=PATIENCE, visibility_timeout=600))
    assert sorted(held.value for held in queue.in_flight()) == values


def test_a_page_of_a_pipeline_is_one_script(client: Any, kinds: list[Any]) -> None:
    values = offered(kinds, LATER)
    with client.pipeline() as pipe:
        page = pipe.add(kinds[0].requests.items())
    assert [item.value for item in page.result] == values


def transferred(client: Any, delayed: Any) -> int:
    client.delayed_queue("orders").start_moving()
    queue = client.blocking_queue("orders", transfer=False)
    return len([queue.poll(timeout=PATIENCE) for _ in range(5)])


def source_of(delayed: Any) -> LeaseSource:
    return LeaseSource(
        LeaseKeys(queue=delayed.keys, dead=DeadKeys.belonging_to(delayed.name)), Envelope.CURRENT, 60_000_000, 0
    )


CALLS: dict[str, Callable[[Any, Any], int]] = {
    "transfer": transferred,
    "take_due": lambda client, delayed: len(delayed.take_due(until=LATER)),
    "items": lambda client, delayed: len(delayed.items()),
    "iteration": lambda client, delayed: len(list(delayed)),
    "contains": lambda client, delayed: int(delayed.contains("none")),
    "peek": lambda client, delayed: len(client.runtime.connections.run(source_of(delayed).peek(5))),
    "the last": lambda client, delayed: len(delayed.poll_last_and_offer_first_to("other")),
}


@pytest.mark.parametrize(
    ("how", "given"),
    [
        ("transfer", 5),
        ("take_due", 3),
        ("items", 5),
        ("iteration", 5),
        ("contains", 0),
        ("peek", 4),
        ("the last", 300_003),
    ],
)
def test_the_first_read_is_of_one_value(url: str, admin: Any, how: str, given: int) -> None:
    """How many the second one is of is told by the size of the first."""
    reads: list[tuple[int, int]] = []
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False, lean=how == "the last")
        for number in range(5):
            delayed.offer(large(number, 300_000), at=PAST if how == "transfer" else LATER)
        if how == "peek":
            client.blocking_queue("orders", transfer=False).add_all([large(number, 300_000) for number in range(5)])
        with admin.monitor() as monitor:
            assert CALLS[how](client, delayed) == given
            admin.echo("over")
            while not (command := monitor.next_command()["command"]).startswith("ECHO"):
                name, *words = command.split(" ", 4)
                if name in ("ZRANGE", "LRANGE"):
                    reads.append((int(words[1]), int(words[2])))
    assert reads
    assert all(first == last for first, last in reads), reads

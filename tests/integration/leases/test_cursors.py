"""The progress of the work on a value: saved by one receiver, known to the next one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import timedelta
from typing import Any

import attrs
import pytest

import redisson_dq
from redisson_dq import SettleOutcome
from redisson_dq.browsing import browse, find_row
from redisson_dq.cli._main import main
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.worker import Retry, fixed
from tests.conftest import environment, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.interop.sides import HOUR
from tests.workers.handlers import running

CURSORS = [0, 41_500, 'page \u4e2d "}', [1, [2, None]], {"at": 1.5, "redisson_dq.cursor": "x"}, False, "x" * 4094]


@pytest.mark.parametrize("end", ["nack", "later", "uncounted", "deadline", "reject"])
@pytest.mark.parametrize("named", [False, True])
def test_the_next_receiver_goes_on(flavour: Flavour, url: str, queue: Any, client: Any, end: str, named: bool) -> None:
    delayed = client.delayed_queue("orders")
    delayed.offer("a", 0, **({"id": "a-1", "context": {"from": "here"}} if named else {}))
    delivery = queue.receive(timeout=5)
    assert delivery.cursor is None
    for cursor in CURSORS:
        assert delivery.save(cursor) is SettleOutcome.EXTENDED
        assert delivery.cursor == cursor
        assert [each.cursor for each in queue.in_flight()] == [cursor]
    ways = {
        "nack": lambda: delivery.nack(reason="no"),
        "later": lambda: delivery.nack(delay=0.01),
        "uncounted": lambda: delivery.nack(count=False),
        "deadline": lambda: delivery.extend(0.001),
        "reject": lambda: delivery.reject("no") and queue.redrive(),
    }
    assert ways[end]()
    with flavour.connect(url, codec=StringCodec()) as other:
        again = other.blocking_queue("orders").receive(timeout=5)
        assert (again.value, again.cursor) == ("a", CURSORS[-1])
        assert (again.offer_id, again.context) == (("a-1", {"from": "here"}) if named else (None, {}))
        assert again.save(None) is SettleOutcome.EXTENDED
        again.nack(count=False)
        last = other.blocking_queue("orders").receive(timeout=5)
        assert (last.cursor, last.context) == (None, again.context)
        assert last.ack() is SettleOutcome.ACKED


def test_an_ack_leaves_nothing(admin: Any, queue: Any) -> None:
    queue.add("a")
    delivery = queue.receive()
    assert delivery.save(5)
    assert delivery.ack()
    assert admin.keys() in ([], [KEYS.alarm.encode()])
    queue.add("a")
    assert queue.receive().cursor is None, "an equal value is another one"


def test_a_save_is_a_renewal(queue: Any) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=60)
    delivery.extend(10)
    assert delivery.save(1)
    assert delivery.remaining > timedelta(seconds=50)
    delivery.extend(HOUR)
    assert delivery.save(2)
    assert delivery.remaining > timedelta(minutes=59), "it brings no deadline forward"


def test_one_command_a_save(queue: Any, admin: Any) -> None:
    queue.add("a")
    delivery = queue.receive()
    delivery.save(0)
    before = {name: stats["calls"] for name, stats in admin.info("commandstats").items()}
    delivery.save(1)
    after = {name: stats["calls"] for name, stats in admin.info("commandstats").items()}
    assert after["cmdstat_evalsha"] - before["cmdstat_evalsha"] == 1


def test_a_lost_lease_saves_nothing(queue: Any) -> None:
    queue.add("a")
    lost = queue.receive()
    assert lost.save(1)
    lost.extend(0.001)
    again = queue.receive(timeout=5)
    assert again.cursor == 1
    assert lost.save(2) is SettleOutcome.LOST
    assert lost.cursor == 1
    again.nack()
    assert queue.receive().cursor == 1


def test_a_save_in_a_transaction(queue: Any, client: Any, admin: Any) -> None:
    queue.add("a")
    delivery = queue.receive()
    with client.pipeline(transaction=True) as pipe:
        pipe.add(delivery.requests.save(7))
    assert delivery.cursor == 7


@pytest.mark.parametrize("cursor", ["x" * 4095, "\u00e9" * 2048, object(), {1, 2}, b"x", "\ud800"])
def test_cursors_that_cannot_be_saved(queue: Any, cursor: Any) -> None:
    queue.add("a")
    delivery = queue.receive()
    with pytest.raises(ArgumentError, match=r"queue 'orders': (a|the) cursor"):
        delivery.save(cursor)
    assert delivery.cursor is None


def test_the_word_is_no_word_of_a_context(producer: Any) -> None:
    with pytest.raises(ArgumentError, match=r"'redisson_dq\.cursor' is reserved by this library"):
        producer.offer("a", 1, context={"redisson_dq.cursor": "x"})


@pytest.mark.parametrize("text", ["5", "!!!!", "", "bm8"])
def test_a_cursor_that_something_else_wrote(queue: Any, admin: Any, text: str) -> None:
    queue.add("a")
    delivery = queue.receive()
    delivery.save(1)
    ((lease, record),) = admin.hgetall(KEYS.deliveries).items()
    admin.hset(KEYS.deliveries, lease, record.replace(b'"MQ"', b'"%s"' % text.encode()))
    delivery.nack()
    again = queue.receive()
    assert again.cursor is None
    assert again.save(3)
    again.nack()
    assert queue.receive().cursor == 3


def test_partitions(client: Any) -> None:
    queue = client.blocking_queue("parts", partitions=3)
    queue.add("a")
    delivery = queue.receive(timeout=5)
    assert delivery.save({"page": 2})
    delivery.nack()
    assert queue.receive(timeout=5).cursor == {"page": 2}


def test_what_is_seen_of_an_item_by_each_of_its_ids(client: Any, queue: Any, url: str, capsys: Any) -> None:
    client.delayed_queue(queue).offer("a", 0.01, id="own", context={"by": "Ada"})
    delivery = queue.receive(timeout=5)
    delivery.save({"page": 2})

    def shown(id: str) -> Any:
        assert main(["show", "orders", id, "--json", "--url", url]) == 0
        return json.loads(capsys.readouterr().out)["item"]

    assert [shown(id)["cursor"] for id in (delivery.id, "own")] == [{"page": 2}] * 2
    assert main(["show", "orders", "own", "--url", url]) == 0
    assert '{"page": 2}' in capsys.readouterr().out
    delivery.nack(delay=3600, reason="no paper")
    with redisson_dq.connect(url) as looking:
        (listed,) = browse(looking, "orders", "waiting").rows
        found = find_row(looking, "orders", "own")
        assert found is not None
        assert found == attrs.evolve(listed, now=found.now, envelope="")
        assert (found.cursor, found.reason, found.context) == ({"page": 2}, "no paper", {"by": "Ada"})
    client.delayed_queue(queue).reschedule("own", 0)
    queue.receive(timeout=5).reject("broken")
    assert (shown("own")["state"], shown("own")["cursor"], shown("own")["reason"]) == ("dead", {"page": 2}, "broken")


# -- workers ---------------------------------------------------------------------------------------------------------


def test_a_handler_goes_on_where_it_failed(flavour: Flavour, client: Any, queue: Any) -> None:
    worker, pages = flavour.worker(client), []

    def handle(value: str, event: Any) -> None:
        for page in range(event.cursor or 0, 5):
            pages.append(page)
            if page == 2 and event.attempt == 1:
                raise ValueError(page)
            assert event.save(page + 1) is SettleOutcome.EXTENDED
        assert event.cursor == 5

    worker.handler("orders", retry=Retry(limit=3, backoff=fixed(0.01)))(handle)
    queue.add("a")
    with running(worker):
        eventually(lambda: pages == [0, 1, 2, 2, 3, 4])
        eventually(lambda: queue.in_flight_size() == 0)


def test_a_coroutine_function_goes_on(flavour: Flavour, client: Any, queue: Any) -> None:
    if flavour.name == "sync":
        return
    worker = flavour.worker(client)
    worker.handler("orders", retry=Retry(limit=3, backoff=fixed(0.01)))(_pages)
    _seen.clear()
    queue.add("a")
    with running(worker):
        eventually(lambda: _seen == [(1, None), (2, "half")])
        eventually(lambda: queue.in_flight_size() == 0)


_seen: list[tuple[int, Any]] = []


async def _pages(value: str, event: Any) -> None:
    _seen.append((event.attempt, event.cursor))
    if event.attempt == 1:
        assert await event.save("half") is SettleOutcome.EXTENDED
        raise ValueError(value)


_WORKS = """
import sys, time, redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Worker
worker = Worker.connect(sys.argv[1], codec=StringCodec(), visibility_timeout=2)

@worker.handler("orders")
def handle(value, event):
    event.save([event.attempt, 41500])
    print("saved", flush=True)
    time.sleep(60)

worker.run()
"""


def test_another_process_goes_on_after_a_kill(client: Any, url: str) -> None:
    queue = client.blocking_queue("orders")
    queue.add("a")
    with subprocess.Popen(
        [sys.executable, "-c", _WORKS, url], stdout=subprocess.PIPE, env=environment(), text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "saved\n"
        process.send_signal(signal.SIGKILL)
    again = queue.receive(timeout=20)
    assert (again.attempt, again.crashes, again.cursor) == (2, 1, [1, 41500])

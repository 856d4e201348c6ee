"""A value whose handler fails comes again, or is given up. So does each value of a batch."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq.worker import (
    DeadLettered,
    Failed,
    GivenUp,
    HandedBack,
    Lost,
    Received,
    Reject,
    Retried,
    Retry,
    Succeeded,
    delays,
    fixed,
)
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running


def test_it_comes_again_until_it_succeeds(worker: Any, queue: Any, admin: Any) -> None:
    log, ledger = Log(worker), Ledger()

    def handle(value: Any, event: Any) -> None:
        ledger.note(value, (event.attempt, event.failures, event.reason))
        if event.attempt < 3:
            raise ValueError(f"not yet {event.attempt}")

    worker.handler("orders", retry=Retry(limit=5, backoff=delays([0, 0.02])))(handle)
    queue.add("a")
    with running(worker):
        ledger.some(3)
        at_rest(admin)
        log.until(Succeeded)
    assert ledger.events == [(1, 0, ""), (2, 1, "ValueError: not yet 1"), (3, 2, "ValueError: not yet 2")]
    assert [each.delay.total_seconds() for each in log.of(Retried)] == [0, 0.02]
    # What follows one attempt may be told after the next one has begun.
    attempts = [each.id for each in log.of(Received)]
    failed = ["Received", "Failed", "Retried"]
    assert [log.names(id) for id in attempts] == [failed, failed, ["Received", "Succeeded"]]
    assert [str(each.error) for each in log.of(Failed)] == ["not yet 1", "not yet 2"]


def test_the_retry_is_an_ordinary_item_that_waits(worker: Any, queue: Any, delayed: Any, admin: Any) -> None:
    log = Log(worker)
    worker.handler("orders", retry=Retry(limit=3, backoff=fixed(1000)))(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        log.until(Retried)
        assert whereabouts(admin).waiting == {b"a": 1}
        (item,) = delayed.items()
        assert item.value == "a"
        assert item.reschedule(delay=0)
        assert log.until(Retried, 2)[1].attempt == 2


def test_given_up_by_count(worker: Any, queue: Any, admin: Any) -> None:
    log, failed = Log(worker), Ledger()

    def give_up(value: Any, event: Any, error: BaseException) -> None:
        # The value is not a dead letter yet.
        failed.note(value, (event.attempt, str(error), whereabouts(admin).leased.total()))

    worker.handler("orders", retry=Retry(limit=2, backoff=fixed(0)), on_failed=give_up)(lambda value: int(value))
    queue.add("a")
    with running(worker):
        (dead,) = log.until(DeadLettered)
    ((attempt, message, leased),) = failed.events
    assert (attempt, leased) == (2, 1)
    assert "invalid literal" in message
    (letter,) = queue.dead_letters()
    assert (letter.value, letter.attempts, letter.failures) == ("a", 2, 1)
    assert letter.reason == dead.reason
    assert letter.reason.startswith("failed 2 times: ValueError: invalid literal")
    (given_up,) = log.of(GivenUp)
    assert given_up.why == "failed 2 times"


@pytest.mark.parametrize("is_async", [False, True])
def test_on_failed_may_be_declared_for_exceptions(flavour: Flavour, worker: Any, queue: Any, is_async: bool) -> None:
    log, failed = Log(worker), Ledger()

    def save(value: str, event: Any, error: Exception) -> None:
        failed.note(value, type(error))

    async def save_later(value: str, event: Any, error: Exception) -> None:
        failed.note(value, type(error))

    save_it = save_later if is_async and flavour.name == "asyncio" else save
    worker.handler("orders", str, retry=Retry(limit=2, backoff=0), on_failed=save_it)(lambda value: int(value))
    queue.add("a")
    with running(worker):
        log.until(DeadLettered)
    assert failed.events == [ValueError]


def test_elements_and_alternatives_choose_the_handler(flavour: Flavour, url: str) -> None:
    values = [["a", "b"], "a", 5, [1], 1.5]
    with flavour.connect(url) as client:
        worker, taken = flavour.worker(client), Ledger()
        worker.handler("orders", list[str])(lambda value: taken.note("lists", value))
        worker.handler("orders", int | str)(lambda value: taken.note("ones", value))
        worker.handler("orders")(lambda value: taken.note("others", value))
        for value in values:
            client.blocking_queue("orders").add(value)
        with running(worker):
            taken.some(len(values))
    places = ["lists", "ones", "ones", "others", "others"]
    assert sorted(zip(taken.values, map(repr, taken.events), strict=True)) == [
        (place, repr(value)) for place, value in sorted(zip(places, values, strict=True), key=repr)
    ]


def test_given_up_by_age(worker: Any, queue: Any, admin: Any) -> None:
    log = Log(worker)
    worker.handler("orders", retry=Retry(limit=None, backoff=fixed(0.02), max_age=1))(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        (dead,) = log.until(DeadLettered)
    assert dead.reason.startswith("older than 0:00:01")
    assert dead.attempt > 1


def test_no_retries(worker: Any, queue: Any) -> None:
    log = Log(worker)
    worker.handler("orders", retry=None)(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        (dead,) = log.until(DeadLettered)
    assert (dead.attempt, dead.reason) == (1, "no retry is wanted: ZeroDivisionError: division by zero")


def test_by_the_class_of_the_exception(worker: Any, queue: Any, admin: Any) -> None:
    log = Log(worker)
    errors = {"key": KeyError("k"), "value": ValueError("v"), "other": OSError("o")}
    policies = [Retry(limit=3, backoff=fixed(0), on=KeyError), Retry(limit=2, backoff=fixed(0), on=ValueError)]

    def handle(value: Any) -> None:
        raise errors[value]

    worker.handler("orders", retry=policies)(handle)
    queue.add_all(["key", "value", "other"])
    with running(worker):
        log.until(DeadLettered, 3)
    assert {letter.value: letter.attempts for letter in queue.dead_letters()} == {"key": 3, "value": 2, "other": 1}


def test_a_handler_asks_for_a_retry(worker: Any, queue: Any, admin: Any) -> None:
    log = Log(worker)

    def handle(value: Any, event: Any) -> None:
        if event.failures < 2:
            raise Retry("the printer is off", after=0.01)
        if event.reason != "uncounted":
            raise Retry("uncounted", after=0.02, count=False)

    worker.handler("orders", retry=Retry(limit=4, backoff=fixed(1000)))(handle)
    queue.add("a")
    with running(worker):
        eventually(lambda: len(log.of(Retried)) >= 3)
        at_rest_or_dead = log.of(DeadLettered)
        assert at_rest_or_dead == []
        eventually(lambda: len(log.of(Retried)) >= 5)
    assert [each.delay.total_seconds() for each in log.of(Retried)][:3] == [0.01, 0.01, 0.02]
    # What does not count leaves the number of attempts as it was.
    assert [each.attempt for each in log.of(Retried)][:5] == [1, 2, 3, 3, 3]


def test_a_handler_rejects(worker: Any, queue: Any, admin: Any) -> None:
    log, failed = Log(worker), Ledger()

    def handle(value: Any) -> None:
        raise Reject("no such customer" if value == "a" else "")

    worker.handler("orders", on_failed=lambda value, event, error: failed.note(value, error))(handle)
    queue.add_all(["a", "b"])
    with running(worker):
        log.until(DeadLettered, 2)
    assert [(letter.value, letter.reason) for letter in queue.dead_letters()] == [
        ("a", "no such customer"),
        ("b", "rejected"),
    ]
    assert failed.values == ["a", "b"]
    assert isinstance(failed.events[0], Reject)


def test_where_on_failed_fails_the_value_stays_leased_and_comes_again(
    flavour: Flavour, client: Any, queue: Any, admin: Any
) -> None:
    worker = flavour.worker(client, visibility_timeout=1.0)
    log, tries = Log(worker), []

    def persist(value: Any, event: Any, error: BaseException) -> None:
        tries.append(event.crashes)
        if len(tries) < 3:
            raise ConnectionError("the store is away")

    worker.handler("orders", retry=None, on_failed=persist)(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        eventually(lambda: len(tries) == 1)
        assert whereabouts(admin).leased == {b"a": 1}
        (dead,) = log.until(DeadLettered)
    assert tries == [0, 1, 2]
    assert dead.attempt == 3
    assert whereabouts(admin).dead == {b"a": 1}
    assert len(log.of(GivenUp)) == 1


@pytest.mark.parametrize("timeout", [None, 0.05], ids=["failed", "timed out"])
@pytest.mark.parametrize("batch", [False, True], ids=["one", "batch"])
def test_a_value_whose_on_failed_outlasts_the_grace_is_handed_back(
    worker: Any, queue: Any, admin: Any, batch: bool, timeout: float | None
) -> None:
    log, gate, persisted = Log(worker), Gate(), Ledger()

    def persist(value: Any, event: Any, error: BaseException) -> None:
        persisted.note(value)
        gate.wait()

    def fail(event: Any) -> None:
        if timeout is not None:
            eventually(lambda: event.cancelled)
        raise ValueError

    def handle_all(values: list[str], events: list[Any]) -> list[Any]:
        if timeout is not None:
            fail(events[0])
        return [ValueError(value) if value.startswith("bad") else None for value in values]

    options = {"retry": None, "on_failed": persist, "timeout": timeout}
    if batch:
        queue.add_all(["bad 1", "good", "bad 2"])
        worker.batch_handler("orders", 3, **options)(handle_all)
    else:
        queue.add("bad 1")
        worker.handler("orders", **options)(lambda value, event: fail(event))
    back = {b"bad 1": 1, b"bad 2": 1} if batch else {b"bad 1": 1}
    if batch and timeout is not None:
        back[b"good"] = 1
    worker.start()
    try:
        eventually(lambda: gate.inside)
        worker.stop(grace=0)
        assert whereabouts(admin).ready == back
        assert persisted.values == ["bad 1"]
    finally:
        gate.open()
    assert len(log.of(HandedBack)) == len(back)
    # They count as if they had never been received, and are given up then.
    with running(worker):
        assert {each.attempt for each in log.until(DeadLettered, len(back))} == {1}
    assert whereabouts(admin).total == whereabouts(admin).dead == back
    assert len(log.of(GivenUp)) == len(back)
    assert len(log.of(Succeeded)) == (1 if batch and timeout is None else 0)
    # What was handed back while it waited for its on_failed had none.
    assert len(persisted.values) == len(back) + 1


def test_a_stop_waits_for_the_on_failed_of_what_took_too_long(
    worker: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor
) -> None:
    log, gate = Log(worker), Gate()
    worker.handler("orders", retry=None, timeout=0.05, on_failed=lambda value, event, error: gate.wait())(
        lambda value, event: eventually(lambda: event.cancelled)
    )
    queue.add("a")
    worker.start()
    eventually(lambda: gate.inside)
    stopping = threads.submit(worker.stop, PATIENCE)
    eventually(lambda: not worker.is_consuming)
    gate.open()
    stopping.result(PATIENCE)
    assert whereabouts(admin).total == whereabouts(admin).dead == {b"a": 1}
    assert log.names().count("GivenUp") == 1


def test_on_failed_as_a_coroutine(flavour: Flavour, worker: Any, queue: Any) -> None:
    if flavour.name == "sync":
        return
    log, failed = Log(worker), Ledger()

    async def persist(value: Any, event: Any, error: BaseException) -> None:
        await asyncio.sleep(0)
        failed.note(value)

    worker.handler("orders", retry=None, on_failed=persist)(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        log.until(DeadLettered)
    assert failed.values == ["a"]


def test_a_handler_that_raises_what_is_no_exception_holds_up_nothing(worker: Any, queue: Any, admin: Any) -> None:
    log, ledger = Log(worker), Ledger()

    def handle(value: Any) -> None:
        if value == "exit":
            raise SystemExit("no")
        if value == "stop":
            raise StopIteration
        ledger.note(value)

    worker.handler("orders", retry=None)(handle)
    queue.add_all(["exit", "stop", "a"])
    with running(worker):
        assert ledger.next() == "a"
        log.until(DeadLettered, 2)
    assert {letter.value for letter in queue.dead_letters()} == {"exit", "stop"}


def test_a_backoff_that_fails_holds_up_nothing(worker: Any, queue: Any, admin: Any) -> None:
    log, ledger = Log(worker), Ledger()
    worker.handler("orders", when=lambda value: value == "a", retry=Retry(backoff=lambda failure: 1 / 0))(
        lambda value: 1 / 0
    )
    worker.handler("orders")(ledger.handle)
    queue.add_all(["a", "b"])
    with running(worker):
        assert ledger.next() == "b"
        (retried,) = log.until(Retried)
    assert retried.delay.total_seconds() == 60
    assert whereabouts(admin).waiting == {b"a": 1}


def test_a_handler_ends_its_lease_by_itself(flavour: Flavour, client: Any, worker: Any, queue: Any, admin: Any) -> None:
    done = client.blocking_queue("done")
    log = Log(worker)

    def handle(value: Any, event: Any) -> None:
        with client.pipeline(transaction=True) as pipe:
            acked = pipe.add(event.delivery.requests.ack())
            pipe.add(done.requests.add(value))
        assert acked.result

    async def handle_in_loop(value: Any, event: Any) -> None:
        async with client.inner.pipeline(transaction=True) as pipe:
            pipe.add(event.delivery.requests.ack())
            pipe.add(done.inner.requests.add(value))

    worker.handler("orders")(handle if flavour.name == "sync" else handle_in_loop)
    queue.add("a")
    with running(worker):
        log.until(Succeeded)
        at_rest(admin)
    assert done.read_all() == ["a"]
    assert log.of(Lost) == []


# -- batches ---------------------------------------------------------------------------------------------------------


def test_a_batch_that_is_full(worker: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()
    worker.batch_handler("orders", 4, within=1000)(lambda values, events: ledger.note(values, events))
    queue.add_all([str(number) for number in range(8)])
    with running(worker):
        assert ledger.some(2) == [["0", "1", "2", "3"], ["4", "5", "6", "7"]]
        at_rest(admin)
    assert [event.value for event in ledger.events[0]] == ["0", "1", "2", "3"]


def test_a_batch_whose_time_is_over(worker: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()
    worker.batch_handler("orders", 100, within=0.1)(lambda values: ledger.note(values))
    with running(worker):
        queue.add("a")
        queue.add("b")
        found = ledger.next()
        assert found[0] == "a"
        at_rest(admin)
    assert [value for some in ledger.values for value in some] == ["a", "b"]


def test_a_batch_of_what_is_there(worker: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()
    worker.batch_handler("orders", 100)(lambda values: ledger.note(values))
    queue.add_all(["a", "b", "c"])
    with running(worker):
        assert ledger.next() == ["a", "b", "c"]
        at_rest(admin)


def test_a_batch_begins_with_all_that_was_received_at_once(worker: Any, queue: Any, admin: Any) -> None:
    ledger, begun = Ledger(), threading.Event()

    def handle(values: Any) -> None:
        begun.set()
        ledger.note(values)

    # Between two values there is time enough for a batch to begin.
    worker.on(Received)(lambda happening: begun.wait(0.1))
    worker.batch_handler("orders", 100)(handle)
    queue.add_all(["a", "b", "c"])
    with running(worker):
        assert ledger.next() == ["a", "b", "c"]
        at_rest(admin)


def test_outcomes_of_a_batch(worker: Any, queue: Any, admin: Any) -> None:
    log, ledger = Log(worker), Ledger()

    def handle(values: list[Any], events: list[Any]) -> list[Any]:
        ledger.note(list(values))
        outcomes: dict[str, Any] = {
            "done": None,
            "again": Retry(after=0.02),
            "bad": Reject("bad"),
            "broken": ValueError("broken"),
        }
        return [None if event.attempt > 1 else outcomes[value] for value, event in zip(values, events, strict=True)]

    worker.batch_handler("orders", 10, within=0, retry=Retry(limit=3, backoff=fixed(0.02)))(handle)
    queue.add_all(["done", "again", "bad", "broken"])
    with running(worker):
        assert ledger.next() == ["done", "again", "bad", "broken"]
        at_rest(admin)
    assert sorted(value for some in ledger.values[1:] for value in some) == ["again", "broken"]
    assert [(letter.value, letter.reason) for letter in queue.dead_letters()] == [("bad", "bad")]
    assert len(log.of(Succeeded)) == 3


@pytest.mark.parametrize("wrong", [[None], "done", {"a": None}, 5, [None, "done"]])
def test_outcomes_that_are_none(worker: Any, queue: Any, admin: Any, wrong: Any) -> None:
    log = Log(worker)
    worker.batch_handler("orders", 10, retry=None)(lambda values: wrong)
    queue.add_all(["a", "b"])
    with running(worker):
        dead = log.until(DeadLettered, 1 if wrong == [None, "done"] else 2)
        at_rest(admin)
    assert all("TypeError" in each.reason for each in dead)


def test_a_batch_that_fails_fails_for_each(worker: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()

    def handle(values: list[Any], events: list[Any]) -> None:
        ledger.note(list(values))
        if events[0].attempt == 1:
            raise ValueError("all of them")

    worker.batch_handler("orders", 10, retry=Retry(limit=2, backoff=fixed(0)))(handle)
    queue.add_all(["a", "b"])
    with running(worker):
        ledger.next()
        at_rest(admin)
    assert sorted(value for some in ledger.values for value in some) == ["a", "a", "b", "b"]
    assert whereabouts(admin).dead == {}


def test_a_batch_takes_no_more_than_its_size_and_slots(worker: Any, queue: Any, admin: Any) -> None:
    gate = Gate()
    worker.batch_handler("orders", 3, within=1000, concurrency=2)(lambda values: gate.wait())
    queue.add_all([str(number) for number in range(12)])
    with running(worker, gate):
        eventually(lambda: gate.inside == 2)
        for _ in range(30):
            assert whereabouts(admin).leased.total() == 6
        gate.open()
        at_rest(admin)
    assert (gate.most, gate.entered) == (2, 4)


def test_a_batch_whose_time_is_over_leaves_no_room_for_what_was_to_fill_it(worker: Any, queue: Any, admin: Any) -> None:
    gate, ledger = Gate(), Ledger()

    def handle(values: Any) -> None:
        ledger.note(list(values))
        gate.wait()

    worker.batch_handler("orders", 5, within=0.05)(handle)
    queue.add_all(["a", "b"])
    with running(worker, gate):
        eventually(lambda: gate.inside == 1)
        queue.add_all(["c", "d", "e"])
        # Whatever the wait had been begun for.
        eventually(lambda: whereabouts(admin).leased == {b"a": 1, b"b": 1})
        for _ in range(50):
            found = whereabouts(admin)
            assert (found.leased.total(), found.ready.total() + found.arrivals.total()) == (2, 3)
        assert gate.inside == 1
        gate.open()
        at_rest(admin)
    assert [value for some in ledger.values for value in some] == ["a", "b", "c", "d", "e"]
    assert gate.most == 1


def test_what_is_gathered_goes_back_at_the_end(worker: Any, queue: Any, admin: Any) -> None:
    handled = threading.Event()
    worker.batch_handler("orders", 10, within=1000)(lambda values: handled.set())
    queue.add_all(["a", "b"])
    with running(worker):
        eventually(lambda: whereabouts(admin).leased.total() == 2)
    assert not handled.is_set()
    assert queue.read_all() == ["a", "b"]
    assert queue.receive(timeout=0).attempt == 1


def test_values_that_died_together_are_tried_one_at_a_time(
    flavour: Flavour, client: Any, queue: Any, admin: Any
) -> None:
    """One of them may kill the process again, and takes no other along then."""
    queue.add_all([f"v{number}" for number in range(6)])
    for _ in range(2):
        held = eventually(lambda: queue.receive(6, timeout=0, visibility_timeout=0.05))
        while len(held) < 6:
            held += eventually(lambda: queue.receive(6, timeout=0, visibility_timeout=0.05))
        eventually(lambda: queue.size() == 6)
    gate = threading.Lock()
    seen: list[tuple[str, int]] = []

    def handle(value: str, event: Any) -> None:
        assert gate.acquire(blocking=False), "two at a time"
        seen.append((value, event.crashes))
        threading.Event().wait(0.02)
        gate.release()

    worker = flavour.worker(client)
    worker.handler("orders", concurrency=8, retry=None)(handle)
    with running(worker):
        eventually(lambda: len(seen) == 6)
        at_rest(admin)
    assert {crashes for _, crashes in seen} == {2}
    assert queue.dead_letters() == []

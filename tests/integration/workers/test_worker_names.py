"""An offer's id in a worker: through retries, limits and dead letters, and in each log line."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

from redisson_dq import ItemState, Outcome
from redisson_dq.aio.worker import EventLogger as AioEventLogger
from redisson_dq.errors import DuplicateItemError
from redisson_dq.worker import (
    DeadLettered,
    EventLogger,
    ItemCancelled,
    Limit,
    Rate,
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
from tests.interop.sides import HOUR
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running


def state_of(delayed: Any, id: str = "71") -> ItemState | None:
    item = delayed.find(id)
    return None if item is None else item.state


def test_one_order_is_followed_through_all_attempts(
    worker: Any, delayed: Any, admin: Any, flavour: Flavour, caplog: pytest.LogCaptureFixture
) -> None:
    ledger, log = Ledger(), Log(worker)
    told = (EventLogger if flavour.name == "sync" else AioEventLogger)(logging.getLogger("shop"))

    def handle(value: Any, event: Any) -> None:
        told.warning("at work")
        ledger.note(value, (event.offer_id, event.attempt))
        if event.attempt < 3:
            raise ValueError("not yet")

    worker.handler("orders", retry=Retry(limit=5, backoff=delays([0, 0.02])))(handle)
    with running(worker):
        delayed.offer("a", delay=0.01, id="71")
        ledger.some(3)
        at_rest(admin)
        log.until(Succeeded)
    assert ledger.events == [("71", 1), ("71", 2), ("71", 3)]
    assert (state_of(delayed), delayed.cancel("71")) == (None, Outcome.DELIVERED)
    lines = [record.getMessage() for record in caplog.records if record.name in ("shop", "redisson_dq")]
    assert len(lines) == 5
    assert [line for line in lines if "71" not in line] == []
    assert [vars(record)["offer_id"] for record in caplog.records if record.name == "shop"] == ["71"] * 3


def test_a_retry_that_was_cancelled_does_not_fire(worker: Any, delayed: Any, admin: Any) -> None:
    ledger, log = Ledger(), Log(worker)

    def handle(value: Any, event: Any) -> None:
        ledger.note(value, event.attempt)
        raise ValueError("no stock")

    worker.handler("orders", retry=Retry(limit=5, backoff=fixed(HOUR)))(handle)
    with running(worker):
        delayed.offer("a", delay=0, id="71")
        log.until(Retried)
        assert state_of(delayed) is ItemState.RETRYING
        with pytest.raises(DuplicateItemError):
            delayed.offer("a", delay=0, id="71")
        assert delayed.run_now("71") is Outcome.RESCHEDULED
        log.until(Retried, 2)
        assert delayed.cancel("71") is Outcome.CANCELLED
        assert whereabouts(admin).total.total() == 0
    assert ledger.events == [1, 2]


def test_to_a_dead_letter_and_back_by_redrive(worker: Any, delayed: Any, queue: Any, admin: Any) -> None:
    ledger, log = Ledger(), Log(worker)
    mended = threading.Event()

    def handle(value: Any, event: Any) -> None:
        ledger.note(value, (event.offer_id, event.attempt))
        if not mended.is_set():
            raise Reject("broken")

    worker.handler("orders")(handle)
    with running(worker):
        delayed.offer("a", delay=0, id="71", context={"trace": "00-4bf9"})
        log.until(DeadLettered)
        assert state_of(delayed) is ItemState.DEAD
        assert queue.dead_letters()[0].offer_id == "71"
        mended.set()
        assert queue.redrive().count == 1
        log.until(Succeeded)
        at_rest(admin)
    assert ledger.events == [("71", 1), ("71", 1)]
    assert delayed.cancel("71") is Outcome.DELIVERED


def test_a_handler_at_work_sees_that_the_item_was_cancelled(worker: Any, delayed: Any, admin: Any) -> None:
    log = Log(worker)
    begun, seen = threading.Event(), threading.Event()

    def handle(value: Any, event: Any) -> None:
        begun.set()
        eventually(lambda: event.cancelled)
        seen.set()
        raise ValueError("left")

    worker.queue("orders", visibility_timeout=0.5)
    worker.handler("orders", retry=Retry(limit=5, backoff=fixed(0.01)))(handle)
    with running(worker):
        delayed.offer("a", delay=0, id="71")
        assert begun.wait(PATIENCE)
        assert state_of(delayed) is ItemState.LEASED
        assert delayed.cancel("71") is Outcome.CANCELLED
        assert seen.wait(PATIENCE)
        log.until(ItemCancelled)
        assert whereabouts(admin).total.total() == 0
    assert log.of(Retried, Succeeded) == []


def test_a_handler_that_ends_well_has_handled_a_cancelled_item(worker: Any, delayed: Any, admin: Any) -> None:
    log, gate = Log(worker), Gate()
    worker.handler("orders")(lambda value: gate.wait())
    with running(worker, gate):
        delayed.offer("a", delay=0, id="71")
        eventually(lambda: gate.inside == 1)
        assert delayed.cancel("71") is Outcome.CANCELLED
        assert delayed.offer("b", delay=HOUR, id="71").id == "71"
        gate.open()
        log.until(Succeeded)
        at_rest_but_waiting(admin)
    assert state_of(delayed) is ItemState.WAITING


def at_rest_but_waiting(admin: Any) -> None:
    eventually(lambda: whereabouts(admin).total == whereabouts(admin).waiting)


@pytest.mark.parametrize("limits", [{"limit": Limit(1)}, {"rate": Rate(1, per=HOUR)}])
def test_a_parked_item_keeps_its_name(limits: dict[str, Any], worker: Any, delayed: Any, admin: Any) -> None:
    gate, ledger = Gate(), Ledger()

    def handle(value: Any, event: Any) -> None:
        ledger.note(value, event.offer_id)
        gate.wait()

    worker.handler("orders", concurrency=4, **limits)(handle)
    with running(worker, gate):
        delayed.offer("a", delay=0, id="first")
        ledger.next()
        delayed.offer("b", delay=0, id="71")
        eventually(lambda: state_of(delayed) is ItemState.PARKED)
        with pytest.raises(DuplicateItemError) as refused:
            delayed.offer("c", delay=0, id="71")
        assert refused.value.state == "parked"
        assert delayed.cancel("71") is Outcome.CANCELLED
        gate.open()
        at_rest(admin)
    assert ledger.events == ["first"]


def test_when_the_first_of_a_key_is_cancelled_the_next_one_comes(worker: Any, delayed: Any, admin: Any) -> None:
    ledger, log = Ledger(), Log(worker)

    def handle(value: str, event: Any) -> None:
        ledger.note(value, event.offer_id)
        if value == "c1-first":
            raise ValueError("no stock")

    worker.handler("orders", key=lambda value: value[:2], retry=Retry(backoff=fixed(HOUR)))(handle)
    with running(worker):
        delayed.offer("c1-first", delay=0, id="71")
        log.until(Retried)
        delayed.offer("c1-second", delay=0, id="72")
        eventually(lambda: state_of(delayed, "72") is ItemState.PARKED)
        assert delayed.cancel("71") is Outcome.CANCELLED
        log.until(Succeeded)
        at_rest(admin)
    assert ledger.events == ["71", "72"]


def test_a_value_that_no_handler_is_free_for_keeps_its_name(worker: Any, delayed: Any, admin: Any) -> None:
    gate, ledger = Gate(), Ledger()

    def slow(value: Any, event: Any) -> None:
        ledger.note(value, event.offer_id)
        gate.wait()

    worker.handler("orders", when=lambda value: value[0] == "s", concurrency=1)(slow)
    worker.handler("orders", when=lambda value: value[0] == "f", concurrency=1)(ledger.handle)
    with running(worker, gate):
        delayed.offer("s1", delay=0, id="1")
        ledger.next()
        delayed.offer("s2", delay=0, id="2")
        eventually(lambda: state_of(delayed, "2") in (ItemState.PARKED, ItemState.LEASED, ItemState.READY))
        assert delayed.find("2").value == "s2"
        gate.open()
        assert ledger.next() == "s2"
        at_rest(admin)
    assert ledger.events == ["1", "2"]

"""The surroundings of a handler's run: middleware, dependencies, context variables, a logger that knows the value."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import copy
import logging
import pickle
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from redisson_dq.aio.worker import EventLogger as AioEventLogger
from redisson_dq.aio.worker import current_event as aio_current_event
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.worker import DeadLettered, EventLogger, Failed, Retry, Succeeded, Worker, current_event, fixed
from tests.conftest import eventually
from tests.flavours import Flavour
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running

_tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="nobody")


@pytest.fixture
def worker(flavour: Flavour, client: Any) -> Worker:
    made: Worker = flavour.worker(client)
    return made


def test_middlewares_run_around_each_handling_in_their_order(worker: Worker, queue: Any, admin: Any) -> None:
    steps: list[str] = []

    def middleware(name: str) -> Any:
        def around(event: Any) -> Iterator[None]:
            steps.append(f"{name} before {event.value}")
            yield
            steps.append(f"{name} after {event.value}")

        return around

    for name in ("outer", "inner"):
        worker.middleware(middleware(name))
    worker.handler("orders")(lambda value: steps.append(value))
    queue.add("a")
    with running(worker):
        at_rest(admin)
    assert steps == ["outer before a", "inner before a", "a", "inner after a", "outer after a"]


def test_a_middleware_sees_what_the_handler_raised(worker: Worker, queue: Any) -> None:
    log = Log(worker)
    seen: list[BaseException] = []

    @worker.middleware
    def around(event: Any) -> Iterator[None]:
        try:
            yield
        except ZeroDivisionError as error:
            seen.append(error)
            raise ValueError("another") from error

    worker.handler("orders", retry=None)(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        (dead,) = log.until(DeadLettered)
    assert len(seen) == 1
    assert "ValueError: another" in dead.reason


def test_a_middleware_that_swallows_makes_a_success(worker: Worker, queue: Any, admin: Any) -> None:
    log = Log(worker)

    @worker.middleware
    def around(event: Any) -> Iterator[None]:
        with contextlib.suppress(ZeroDivisionError):
            yield

    worker.handler("orders", retry=None)(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        log.until(Succeeded)
        at_rest(admin)
    assert queue.dead_letters() == []


def test_a_middleware_that_fails_is_a_failure(worker: Worker, queue: Any) -> None:
    log, ledger = Log(worker), Ledger()

    @worker.middleware
    def around(event: Any) -> Iterator[None]:
        if event.attempt == 1:
            raise ValueError("not now")
        yield

    worker.handler("orders", retry=Retry(limit=2, backoff=fixed(0)))(ledger.handle)
    queue.add("a")
    with running(worker):
        ledger.next()
        log.until(Succeeded)
    assert ledger.events[0].reason == "ValueError: not now"


def test_what_stands_behind_the_yield_runs_before_the_ack(worker: Worker, queue: Any, admin: Any) -> None:
    log = Log(worker)

    @worker.per_item
    def session() -> Iterator[str]:
        yield "session"
        raise ConnectionError("commit failed")

    def handle(value: Any, event: Any, session: str) -> None:
        assert session == "session"

    worker.handler("orders", retry=None)(handle)
    queue.add("a")
    with running(worker):
        (dead,) = log.until(DeadLettered)
    assert "commit failed" in dead.reason


def test_dependencies_per_worker_and_per_item(worker: Worker, client: Any, admin: Any) -> None:
    steps: list[Any] = []
    queue, other = client.blocking_queue("orders"), client.blocking_queue("other")

    @worker.per_worker
    def pool() -> Iterator[list[str]]:
        steps.append("open pool")
        yield ["pool"]
        steps.append("close pool")

    @worker.per_worker
    def settings(pool: list[str]) -> str:
        return f"settings of {pool[0]}"

    @worker.per_item
    def session(pool: list[str], event: Any) -> Iterator[str]:
        steps.append(f"begin {event.value}")
        yield f"{pool[0]} for {event.value}"
        steps.append(f"end {event.value}")

    @worker.per_item
    def unused() -> None:
        steps.append("unused")

    def handle(value: Any, event: Any, session: str, *, settings: str) -> None:
        steps.append((value, session, settings))

    worker.handler("orders")(handle)
    worker.handler("other")(lambda value: steps.append(value))
    queue.add_all(["a", "b"])
    with running(worker):
        at_rest(admin)
        other.add("c")
        at_rest(admin, "other")
    assert steps == [
        "open pool",
        "begin a",
        ("a", "pool for a", "settings of pool"),
        "end a",
        "begin b",
        ("b", "pool for b", "settings of pool"),
        "end b",
        "c",
        "close pool",
    ]


@pytest.mark.parametrize("is_own", [True, False])
def test_a_handler_gets_the_client_of_its_worker(
    flavour: Flavour, client: Any, url: str, admin: Any, is_own: bool
) -> None:
    worker: Worker = flavour.worker_of(url, codec=StringCodec()) if is_own else flavour.worker(client)

    async def answer(value: str, event: Any, client: Any) -> None:
        await client.blocking_queue("answers").add(f"{value}!")

    def answer_at_once(value: str, *, client: Any) -> None:
        client.blocking_queue("answers").add(f"{value}!")

    @worker.per_item
    def answers(client: Any) -> Any:
        return client.blocking_queue("answers")

    worker.handler("orders")(answer_at_once if flavour.name == "sync" else answer)
    worker.handler("names")(lambda value, event, answers: admin.rpush("names of answers", answers.name))
    admin.rpush("orders", "a")
    admin.rpush("names", "b")
    with running(worker):
        eventually(lambda: admin.lrange("answers", 0, -1) == [b"a!"])
        eventually(lambda: admin.lrange("names of answers", 0, -1) == [b"answers"])


def test_a_dependency_of_the_user_may_be_called_client(worker: Worker, queue: Any, admin: Any) -> None:
    @worker.per_worker
    def client() -> str:
        return "of the user"

    found: list[str] = []
    worker.handler("orders")(lambda value, event, client: found.append(client))
    queue.add("a")
    with running(worker):
        at_rest(admin)
    assert found == ["of the user"]


def test_a_dependency_sees_what_the_handler_raised(worker: Worker, queue: Any) -> None:
    log = Log(worker)
    steps: list[str] = []

    @worker.per_item
    def session() -> Iterator[None]:
        try:
            yield
        except ZeroDivisionError:
            steps.append("rollback")
            raise

    worker.handler("orders", retry=None)(lambda value, event, *, session: 1 / 0)
    queue.add("a")
    with running(worker):
        log.until(DeadLettered)
    assert steps == ["rollback"]


def test_a_dependency_that_nobody_declared(flavour: Flavour, client: Any, worker: Worker) -> None:
    worker.handler("orders")(lambda value, event, session: None)
    with pytest.raises(ArgumentError, match="session"):
        worker.start()
    assert not worker.is_running
    other = flavour.worker(client)

    @other.per_item
    def ctx() -> dict[str, int]:
        return {}

    # It would get the event instead.
    other.handler("orders")(lambda value, ctx: None)
    with pytest.raises(ArgumentError, match="after the value and the event"):
        other.start()

    def any_number(*args: Any) -> None: ...

    for wrong, message in ((any_number, "names of others"), (lambda: None, "with a name")):
        with pytest.raises(ArgumentError, match=message):
            other.per_item(wrong)


def test_a_dependency_per_worker_that_fails_ends_those_before_it(worker: Worker) -> None:
    steps: list[str] = []

    @worker.per_worker
    def first() -> Iterator[None]:
        yield
        steps.append("closed")

    @worker.per_worker
    def second() -> None:
        raise ConnectionError("no database")

    worker.add_handler(print, "orders")
    with pytest.raises(ConnectionError, match="no database"):
        worker.start()
    assert steps == ["closed"]
    assert not worker.is_running


def test_coroutines_around_a_handling(flavour: Flavour, client: Any, queue: Any, admin: Any) -> None:
    """In the asyncio flavour both kinds are nested as they were declared, around both kinds of handlers."""

    async def middleware(event: Any) -> AsyncIterator[None]:
        yield

    worker: Worker = flavour.worker(client)
    if flavour.name == "sync":
        with pytest.raises(ArgumentError, match="coroutine"):
            worker.middleware(middleware)
        with pytest.raises(ArgumentError, match="coroutine"):
            worker.per_item(middleware)
        return
    steps: list[str] = []

    @worker.per_worker
    async def pool() -> AsyncIterator[str]:
        await asyncio.sleep(0)
        yield "pool"
        steps.append("close pool")

    @worker.middleware
    def outer(event: Any) -> Iterator[None]:
        steps.append("outer")
        yield
        steps.append("outer ends")

    @worker.per_item
    async def session(pool: str) -> AsyncIterator[str]:
        await asyncio.sleep(0)
        yield f"session of {pool}"
        steps.append("commit")

    @worker.middleware
    def inner(event: Any) -> Iterator[None]:
        steps.append("inner")
        yield
        steps.append("inner ends")

    @worker.per_item
    async def name() -> str:
        return "name"

    def handle(value: Any, event: Any, session: str, name: str) -> None:
        steps.append(f"{value} {session} {name}")

    async def handle_in_loop(value: Any, event: Any, session: str, name: str) -> None:
        steps.append(f"{value} {session} {name}")

    worker.handler("orders", when=lambda value: value == "a")(handle)
    worker.handler("orders")(handle_in_loop)
    queue.add_all(["a", "b"])
    with running(worker):
        at_rest(admin)
    one = ["outer", "inner", "{} session of pool name", "inner ends", "commit", "outer ends"]
    assert steps == [step.format(value) for value in "ab" for step in one] + ["close pool"]


def test_context_variables_of_a_handling_are_its_own(worker: Worker, queue: Any, admin: Any) -> None:
    gate = Gate()
    seen: list[Any] = []

    @worker.middleware
    def tenant(event: Any) -> Iterator[None]:
        seen.append(_tenant.get())
        _tenant.set(event.value)
        yield

    def handle(value: Any) -> None:
        gate.wait()
        seen.append((value, _tenant.get()))

    worker.handler("orders", concurrency=2)(handle)
    queue.add_all(["a", "b"])
    with running(worker, gate):
        eventually(lambda: gate.inside == 2)
        gate.open()
        at_rest(admin)
        queue.add("c")
        at_rest(admin)
    assert seen[:2] == ["nobody", "nobody"]
    assert sorted(seen[2:4]) == [("a", "a"), ("b", "b")]
    assert seen[4:] == ["nobody", ("c", "c")]


def test_the_current_event_and_a_logger_that_knows_it(
    flavour: Flavour, worker: Worker, queue: Any, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger()
    current = current_event if flavour.name == "sync" else aio_current_event
    log = (EventLogger if flavour.name == "sync" else AioEventLogger)(logging.getLogger("shop"))
    caplog.set_level(logging.INFO, "shop")

    def deep_inside() -> None:
        log.info("%s is handled", "it", extra={"own": 1})
        ledger.note(current())

    worker.handler("orders")(lambda value: deep_inside())
    queue.add("a")
    with running(worker):
        event = ledger.next()
        at_rest(admin)
    assert event.value == "a"
    assert current() is None
    log.info("outside")
    inside, outside = [record for record in caplog.records if record.name == "shop"]
    assert inside.getMessage() == f"[orders {event.id} attempt 1] it is handled"
    known = vars(inside)
    assert [known[name] for name in ("queue", "delivery", "attempt", "own")] == ["orders", event.id, 1, 1]
    assert outside.getMessage() == "outside"


def test_the_context_of_an_offer_goes_along_with_its_retries(worker: Worker, delayed: Any, admin: Any) -> None:
    contexts: list[Any] = []

    def handle(value: Any, event: Any) -> None:
        contexts.append(event.context)
        if event.attempt < 3:
            raise Retry(after=0.01)

    worker.handler("orders")(handle)
    delayed.offer("a", delay=0.01, context={"trace": "00-4b"})
    with running(worker):
        eventually(lambda: len(contexts) == 3)
        at_rest(admin)
    assert contexts == [{"trace": "00-4b"}] * 3


class Naming(StringCodec):
    """Sets the tenant when it makes a value."""

    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self._seen = seen

    def decode(self, data: bytes) -> str:
        self._seen.append(_tenant.get())
        value = super().decode(data)
        _tenant.set(f"made {value}")
        return value


@pytest.mark.parametrize("limited", [False, True], ids=["leased", "seen first"])
def test_what_a_handler_or_a_codec_sets_is_seen_by_no_other_handling(
    flavour: Flavour, client: Any, admin: Any, limited: bool
) -> None:
    worker, ledger, made = flavour.worker(client), Ledger(), list[str]()
    options = {"key": lambda value: value} if limited else {}

    def handle(value: str) -> None:
        tenant = _tenant.get()
        _tenant.set(f"handled {value}")
        if value == "a":
            # Who adds a handler begins the receiving for it.
            getattr(worker, "inner", worker).add_handler(chosen, "more", **options)
        ledger.note(value, tenant)

    async def handle_in_loop(value: str) -> None:
        handle(value)

    chosen = handle if flavour.name == "sync" else handle_in_loop
    for name in ("orders", "more"):
        worker.queue(name, codec=Naming(made))
    worker.handler("orders", **options)(chosen)
    with running(worker):
        for name, value in (("orders", "a"), ("orders", "b"), ("more", "c"), ("more", "d")):
            client.blocking_queue(name).add(value)
            assert ledger.next() == value
            at_rest(admin, name)
    assert set(ledger.events) == {"nobody"}
    assert not [each for each in made if each.startswith("handled")]


@pytest.mark.parametrize("way", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_happening_tells_its_facts_in_another_process_too(worker: Any, queue: Any, admin: Any, way: Any) -> None:
    log = Log(worker)
    worker.handler("orders", retry=None)(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        (failed,) = log.until(Failed)
        at_rest(admin)
    again = way(failed)
    assert (type(again), again.queue, again.id, repr(again.error)) == (Failed, "orders", failed.id, repr(failed.error))
    told, event = again.event, failed.event
    for name in ("value", "queue", "id", "attempt", "failures", "crashes", "reason", "due", "context", "deadline"):
        assert getattr(told, name) == getattr(event, name)
    assert repr(told) == repr(event)
    with pytest.raises(AttributeError, match="the lease belongs to the process that received it"):
        told.delivery.ack()

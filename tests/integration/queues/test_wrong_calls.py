"""Wrong calls that look plausible: each is refused when it is made, by an error that names the right form."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import datetime
from typing import Any

import pytest

import redisson_dq
import redisson_dq.aio
import redisson_dq.aio.worker
from redisson_dq.codecs import JsonCodec, Kryo5Codec, StringCodec
from redisson_dq.errors import ArgumentError, EncodeError
from redisson_dq.worker import (
    Event,
    Failed,
    Limit,
    Rate,
    Reject,
    Retried,
    Retry,
    Succeeded,
    Worker,
    delays,
    exponential,
    fixed,
)
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.workers.handlers import Log, at_rest, running

NAIVE = datetime(2030, 1, 1)
LONG = 3600.0


class Shop:
    def handle(self, value: Any) -> None: ...

    @classmethod
    def of_class(cls, value: Any) -> None: ...


class Order: ...


@contextlib.contextmanager
def block(value: Any) -> Iterator[None]:
    yield


@contextlib.asynccontextmanager
async def async_block(value: Any) -> Any:
    yield


async def coroutine(value: Any) -> None: ...


def generator(value: Any) -> Iterator[Any]:
    yield value


async def async_generator(value: Any) -> Any:
    yield value


#: Any, as type checkers refuse it.
no_arguments: Any = lambda: None  # noqa: E731 - it has to be one that takes nothing


def two_parts(order_id: Any, customer: Any) -> None: ...


def of_event(value: Event) -> None: ...


def plain(value: Any) -> None: ...


class Calls:
    """The objects that the wrong calls are made on."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.queue = client.blocking_queue("orders", transfer=False)
        self.delayed = client.delayed_queue("orders", transfer=False)
        self.bounded = client.bounded_blocking_queue("bounded", transfer=False)
        self.deque = client.blocking_deque("deque")
        self.parts = client.delayed_queue("parts", partitions=3, transfer=False)
        self.worker: Any = Worker(client)

    def leased(self) -> Any:
        self.queue.add("leased")
        return self.queue.receive(timeout=0)


Wrong = Callable[[Calls], Any]

NO_NONE = "None cannot be added"
PAIRS = "offer_all takes pairs of value and delay in seconds"
COLLECTION = "expected a collection of"

VALUES: dict[str, tuple[Wrong, str]] = {
    "add None": (lambda on: on.queue.add(None), NO_NONE),
    "add None among others": (lambda on: on.queue.add_all(["a", None]), NO_NONE),
    "offer None": (lambda on: on.delayed.offer(None, 5), NO_NONE),
    "offer None among others": (lambda on: on.delayed.offer_all([("a", 5), (None, 5)]), NO_NONE),
    "offer None under an id": (lambda on: on.delayed.offer(None, 5, id="x"), NO_NONE),
    "None in a bounded queue": (lambda on: on.bounded.offer(None), NO_NONE),
    "None first in a deque": (lambda on: on.deque.add_first(None), NO_NONE),
    "None in a partition": (lambda on: on.parts.offer(None, 5), NO_NONE),
    "bytes as a pair": (lambda on: on.delayed.offer_all([b"a\x05"]), PAIRS),
    "a text as a pair": (lambda on: on.delayed.offer_all(["a5"]), PAIRS),
    "a set as a pair": (lambda on: on.delayed.offer_all([{"a", 5}]), PAIRS),
    "a dict as a pair": (lambda on: on.delayed.offer_all([{"a": 1, "b": 2}]), PAIRS),
    "a range as a pair": (lambda on: on.delayed.offer_all([range(2)]), PAIRS),
    "three parts": (lambda on: on.delayed.offer_all([("a", 5, "SECONDS")]), PAIRS),
    "one pair alone": (lambda on: on.delayed.offer_all(("a", 5)), PAIRS),
    "pairs in partitions": (lambda on: on.parts.offer_all([b"a\x05"]), "pairs|triples|value"),
    "a dict of delays": (lambda on: on.delayed.offer_all({("a", 5): 1}), COLLECTION),
    "parts exchanged": (
        lambda on: on.delayed.offer_all([(5, "a")]),
        "a delay must be a number of seconds or a timedelta",
    ),
    "a text as many": (lambda on: on.queue.add_all("abc"), COLLECTION),
    "bytes as many": (lambda on: on.queue.add_all(b"abc"), COLLECTION),
    "a bytearray as many": (lambda on: on.queue.add_all(bytearray(b"abc")), COLLECTION),
    "a dict as many": (lambda on: on.queue.add_all({"a": 1}), COLLECTION),
    "keep a text": (lambda on: on.queue.retain_all("abc"), COLLECTION),
    "remove a dict": (lambda on: on.queue.remove_all({"a": 1}), COLLECTION),
    "no number in JSON": (
        lambda on: on.client.blocking_queue("orders", JsonCodec()).add(float("nan")),
        "it would be read back as another value",
    ),
    "removed by a coroutine": (lambda on: on.queue.remove_if(coroutine), "a plain function that returns its answer"),
    "removed by a generator": (lambda on: on.delayed.remove_if(generator), "a plain function that returns its answer"),
    "an object that is not awaited": (lambda on: on.queue.add(Future()), "has no Java type"),
    "a class for its object": (lambda on: on.queue.add(Order), "has no Java type"),
}

TIMES: dict[str, tuple[Wrong, str]] = {
    "a delay as text": (lambda on: on.delayed.offer("a", "5"), "a delay must be a number of seconds or a timedelta"),
    "a delay as bool": (lambda on: on.delayed.offer("a", True), "a delay must be a number of seconds"),
    "no delay": (lambda on: on.delayed.offer("a"), "either delay= or at="),
    "delay and time": (lambda on: on.delayed.offer("a", 5, at=NAIVE), "either delay= or at="),
    "seconds since 1970": (
        lambda on: on.delayed.offer("a", time.time() + 60),
        r"would be \d+ years; a moment goes by at=",
    ),
    "milliseconds since 1970": (lambda on: on.delayed.offer("a", time.time() * 1000), "years; a moment goes by at="),
    "such a pair": (lambda on: on.delayed.offer_all([("a", time.time())]), "years; a moment goes by at="),
    "later at such a time": (lambda on: on.delayed.reschedule("x", time.time()), "years; a moment goes by at="),
    "a delay that is not a number": (lambda on: on.delayed.offer("a", float("nan")), "a delay must be finite"),
    "a negative delay": (lambda on: on.delayed.offer("a", -1), "not negative"),
    "a time without zone": (lambda on: on.delayed.offer("a", at=NAIVE), "a datetime with a time zone"),
    "a time as number": (lambda on: on.delayed.offer("a", at=1700000000), "a datetime with a time zone"),
    "a time as delay": (lambda on: on.delayed.offer("a", NAIVE), "a delay must be a number of seconds"),
    "Java's unit": (lambda on: on.delayed.offer("a", 5, "SECONDS"), "delay=2.5 is 2,500 ms"),
    "a unit of poll": (lambda on: on.queue.poll(5, "SECONDS"), "without a unit"),
    "a number alone": (lambda on: on.queue.poll(5), "may be a limit or a timeout"),
    "milliseconds by name": (lambda on: on.delayed.offer("a", delay_ms=5), "an offer takes either delay= or at="),
    "exchanged": (lambda on: on.delayed.offer(5, "a"), "a delay must be a number of seconds"),
    "a timeout as text": (lambda on: on.queue.receive(timeout="5"), "a timeout must be a number of seconds"),
    "a lease of no time": (lambda on: on.queue.receive(timeout=0, visibility_timeout=0), "above zero"),
    "due until when": (lambda on: on.delayed.take_due(until=NAIVE), "a datetime with a time zone"),
    "expires without zone": (lambda on: on.queue.expire_at(NAIVE), "a datetime with a time zone"),
    "reschedule to nothing": (lambda on: on.delayed.reschedule("x"), "either delay= or at="),
}

IDS: dict[str, tuple[Wrong, str]] = {
    "an id as number": (lambda on: on.delayed.offer("a", 5, id=5), "an id is a str"),
    "an empty id": (lambda on: on.delayed.offer("a", 5, id=""), "an id is a str"),
    "cancel the item": (lambda on: on.delayed.cancel(on.delayed.offer("a", 5)), "an id is a str"),
    "cancel nothing": (lambda on: on.delayed.cancel(None), "an id is a str"),
    "duplicates of no id": (lambda on: on.delayed.offer("a", 5, on_duplicate="keep"), "on_duplicate= needs id="),
    "a way that there is not": (lambda on: on.delayed.offer("a", 5, id="x", on_duplicate="ignore"), "on_duplicate="),
    "a context of numbers": (lambda on: on.delayed.offer("a", 5, context={"a": 5}), "from str to str"),
    "a context of text": (lambda on: on.delayed.offer("a", 5, context="a"), "from str to str"),
    "ack the value": (lambda on: on.queue.ack_all([on.leased().value]), "deliver"),
    "ack the id": (lambda on: on.queue.ack_all([on.leased().id]), "deliver"),
    "ack one as many": (lambda on: on.queue.ack_all(on.leased()), COLLECTION),
    "the reason as delay": (
        lambda on: on.leased().nack("no"),
        "a delay must be a number of seconds|a number of seconds",
    ),
    "a flag as delay": (lambda on: on.leased().nack(True), "a number of seconds"),
    "back at a time": (lambda on: on.leased().nack(time.time() + 60), "years; a moment goes by at="),
    "renewed by a word": (lambda on: on.queue.receive(timeout=0, renew="no"), "renew= must be True or False"),
    "lost to a coroutine": (
        lambda on: on.queue.receive(timeout=0, renew=True, on_lost=coroutine),
        "a coroutine function, which only redisson_dq.aio awaits",
    ),
    "one id of dead letters": (lambda on: on.queue.redrive("abc"), "."),
}

OBJECTS: dict[str, tuple[Wrong, str]] = {
    "a codec's class": (lambda on: on.client.blocking_queue("q", Kryo5Codec), "codec"),
    "a codec's name": (lambda on: on.client.blocking_queue("q", "kryo"), "codec"),
    "a queue's name as bytes": (lambda on: on.client.blocking_queue(b"q"), "name must be a non-empty str"),
    "partitions as flag": (lambda on: on.client.blocking_queue("q", partitions=True), "partitions"),
    "the call in a pipeline": (lambda on: on.client.pipeline().add(on.queue.size()), "."),
    "a listener to await": (lambda on: on.queue.subscribe_on_elements(coroutine), "which only redisson_dq.aio awaits"),
    "a listener with yield": (lambda on: on.queue.subscribe_on_elements(generator), "contains a yield"),
    "a listener of a deque": (lambda on: on.deque.subscribe_on_last_elements(coroutine), "redisson_dq.aio awaits"),
    "a listener of partitions": (
        lambda on: on.client.blocking_queue("parts", partitions=3).subscribe_on_elements(coroutine),
        "redisson_dq.aio awaits",
    ),
    "an observer of nothing": (
        lambda on: redisson_dq.connect("redis://localhost", observer=no_arguments),
        "an observer must be a function of one argument",
    ),
    "two types of JSON": (
        lambda on: on.client.blocking_queue("q", JsonCodec(int), type=str),
        "is of another type, the class int",
    ),
    "options set twice": (
        lambda on: [on.worker.queue("orders", transfer=False) for _ in range(2)],
        "options are already set",
    ),
    "a worker without client": (lambda on: Worker(None), r"Worker\.connect\(url\)"),  # type: ignore[arg-type]
    "a worker of a URL": (lambda on: Worker("redis://localhost"), "."),  # type: ignore[arg-type]
    "a worker of asyncio": (lambda on: redisson_dq.aio.worker.Worker(on.client), "redisson_dq.aio"),
    "a worker without handlers": (lambda on: on.worker.start(), r"declare them with @worker\.handler\("),
    "a worker without handlers in with": (lambda on: on.worker.__enter__(), "without handlers receives nothing"),
    "async with on a client": (lambda on: asyncio.run(entered(on.client)), r"use `with`.* redisson_dq\.aio\.connect"),
    "async with on a queue": (lambda on: asyncio.run(entered(on.queue)), r"use `with`"),
    "async with on partitions": (lambda on: asyncio.run(entered(on.parts)), r"use `with`"),
    "async with on a worker": (lambda on: asyncio.run(entered(on.worker)), r"Worker of redisson_dq\.aio\.worker"),
    "async with on a lease": (lambda on: asyncio.run(entered(on.leased())), r"use `with`"),
    "async with on a pipeline": (lambda on: asyncio.run(entered(on.client.pipeline())), r"use `with`"),
}


def declared(function: Any, **options: Any) -> Wrong:
    return lambda on: on.worker.add_handler(function, "orders", **options)


def second(**options: Any) -> Wrong:
    def declare(on: Calls) -> None:
        on.worker.add_handler(plain, "orders", **options)
        on.worker.add_handler(lambda value: None, "orders", **options)

    return declare


NONE_LEFT = "takes the same values, so this one would get none"

HANDLERS: dict[str, tuple[Wrong, str]] = {
    "a method of a class body": (declared(Shop.handle), "a method without an object, .* worker.add_handler"),
    "a method in a batch": (declared(Shop.handle, batch=5), "a method without an object"),
    "a classmethod": (declared(Shop.__dict__["of_class"]), "a handler must be a function"),
    "parts of the value": (declared(two_parts), "'customer' would get the event; name it event"),
    "parts of the values": (declared(two_parts, batch=5), "'customer' would get the event"),
    "the event first": (declared(of_event), "its first argument gets the value"),
    "nothing at all": (declared(lambda: None), "a handler takes the value"),
    "keywords alone": (declared(lambda *, value: None), "a handler takes the value"),
    "a coroutine in threads": (declared(coroutine), r"coroutine function: a worker of redisson_dq\.aio\.worker"),
    "a generator": (declared(generator), "contains a yield"),
    "an async generator": (declared(async_generator), "coroutine function|contains a yield"),
    "a class to be made": (declared(Order), "a class would only be called with the value"),
    "a function with a cache": (declared(functools.lru_cache(plain)), "it has a cache"),
    "a share of jitter": (lambda on: exponential(1, 60, jitter=0.5), "jitter= must be True or False"),  # type: ignore[arg-type]
    "options of a name like it": (
        lambda on: [on.worker.queue("order", transfer=False), declared(plain)(on), on.worker.__enter__()],
        "did you mean 'orders'",
    ),
    "a class beside all values": (
        lambda on: [
            on.worker.queue("orders", codec=JsonCodec()),
            declared(plain, type=Order)(on),
            declared(plain)(on),
            on.worker.__enter__(),
        ],
        "would get none: give each handler of the queue its class",
    ),
    "a text": (declared("handle"), "a handler must be a function"),
    "a property": (declared(property(plain)), "a handler must be a function"),
    "the function for the queue": (
        lambda on: on.worker.handler(plain),
        r'as in @worker\.handler\("orders"\)',
    ),
    "two for all values": (second(), NONE_LEFT),
    "two of one class": (second(type=str), NONE_LEFT),
    "two of the same fields": (second(where={"kind": "a"}), NONE_LEFT),
    "the same one twice": (lambda on: [declared(plain)(on) for _ in range(2)], NONE_LEFT),
    "when= to await": (declared(plain, when=coroutine), "when= must be a function of the value"),
    "when= of two": (declared(plain, when=lambda value, event: True), "when= must be a function of the value"),
    "when= with yield": (declared(plain, when=generator), "when= must be a function of the value"),
    "key= to await": (declared(plain, key=coroutine), "key= must be a function of the value"),
    "key= as text": (declared(plain, key="customer"), "key= must be a function of the value"),
    "unique_by= to await": (declared(plain, unique_for=5, unique_by=coroutine), "unique_by= must be a function"),
    "on_failed= of one": (declared(plain, on_failed=plain), "on_failed= must be a function of the value, the event"),
    "a number of retries": (declared(plain, retry=5), r"retry= must be a Retry such as Retry\(limit=5\)"),
    "the class of retries": (declared(plain, retry=Retry), "retry= must be a Retry such as"),
    "a retry that is raised": (declared(plain, retry=Retry(after=5)), "are for a Retry that is raised"),
    "a rejection as policy": (declared(plain, retry=Reject()), "retry= must be a Retry such as"),
    "a rate as number": (declared(plain, rate=10), "rate= must be a Rate"),
    "a limit as number": (declared(plain, limit=4), "limit= must be a Limit"),
    "a class by name": (declared(plain, type="Order"), "Order"),
    "an object for its class": (declared(plain, type=5), "handler 'plain' of queue 'orders'"),
    "fields as text": (declared(plain, where="kind"), "where= maps names of fields to values"),
    "a backoff to await": (lambda on: Retry(backoff=coroutine), "backoff= is seconds"),  # type: ignore[arg-type]
    "a backoff as text": (lambda on: Retry(backoff="5"), "backoff= is seconds"),  # type: ignore[arg-type]
    "delays as text": (lambda on: delays("15"), "must be one of a list"),  # type: ignore[arg-type]
    "a delay for the reason": (lambda on: Retry(5), "a reason must be a str"),  # type: ignore[arg-type]
    "a middleware without yield": (lambda on: on.worker.middleware(plain), "has no yield"),
    "a middleware of a call": (lambda on: on.worker.middleware(lambda event, call: call(event)), "has no yield"),
    "a hook with yield": (lambda on: on.worker.on(Failed)(generator), "a hook must be a plain function"),
    "a hook to await": (lambda on: on.worker.on(Failed)(coroutine), "a hook must be a plain function"),
    "a hook by name": (
        lambda on: on.worker.on("Failed"),
        "on\\(\\) takes classes of happenings",
    ),
    "on without brackets": (
        lambda on: on.worker.on(plain),
        "@worker.on\\(\\) is for all",
    ),
    "remove by the queue": (
        lambda on: on.worker.remove_handler("orders"),
        "takes the function",
    ),
    "a rate named by number": (lambda on: Rate(5, name=5), "name= is a text"),  # type: ignore[arg-type]
    "a limit without name": (lambda on: Limit(5, name=""), "name= is a text"),
}

WRONG = {**VALUES, **TIMES, **IDS, **OBJECTS, **HANDLERS}


async def entered(any: Any) -> None:
    async with any:
        raise AssertionError("it was let in")


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    with redisson_dq.connect(url) as made:
        yield made


@pytest.mark.parametrize("name", WRONG)
def test_it_is_refused_and_changes_nothing(client: Any, admin: Any, name: str) -> None:
    call, text = WRONG[name]
    on = Calls(client)
    with pytest.raises((ArgumentError, EncodeError, TypeError), match=text) as refused:
        call(on)
    assert isinstance(refused.value, redisson_dq.errors.RedissonDQError)
    # But what was right about it.
    assert admin.lrange(KEYS.ready, 0, -1) == []
    assert admin.exists("bounded", "deque") == 0


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_with_is_refused_by_what_is_for_asyncio(flavour: Flavour, url: str) -> None:
    with flavour.connect(url) as client:
        real = client._it if hasattr(client, "_it") else client
        for kind in (redisson_dq.aio.Client, redisson_dq.aio.worker.Worker):
            with pytest.raises(ArgumentError, match=r"use `async with`.* redisson_dq\.connect\(\)"):
                kind.__enter__(real)


# -- results of handlers ---------------------------------------------------------------------------------------------


def returns(result: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda value: result()


MEANT: dict[str, tuple[Callable[[], Any], str]] = {
    "a retry": (lambda: Retry("later", after=LONG), "Retry: later"),
    "its class": (lambda: Retry, "asked for a retry"),
    "a rejection": (lambda: Reject("never"), "never"),
    "its class too": (lambda: Reject, "rejected"),
    "an error": (lambda: ValueError("no"), "ValueError: no"),
    "an error's class": (lambda: KeyError, "KeyError"),
    "a class that takes arguments": (lambda: UnicodeDecodeError, "cannot be raised"),
    "in a list": (lambda: [Retry()], "has an exception in it: raise it"),
    "in a tuple": (lambda: (None, Reject), "has an exception in it: raise it"),
    "in a dict": (lambda: {"a": ValueError()}, "has an exception in it: raise it"),
    "a method that is not called": (lambda: Shop().handle, "was not called"),
    "a function": (lambda: plain, "was not called"),
    "a partial": (lambda: functools.partial(plain, 1), "was not called"),
    "a map": (lambda: map(plain, [1]), "was not called"),
    "a backoff": (lambda: fixed(5), "was not called"),
    "a block": (lambda: block(1), "nobody enters"),
    "an asynchronous block": (lambda: async_block(1), "nobody enters"),
    "a thread": (lambda: threading.Thread(target=print), "was not started"),
    "coroutines in a list": (lambda: [coroutine(1), coroutine(2)], "nobody waits for"),
    "a future in a dict": (lambda: {"a": Future()}, "nobody waits for"),
    "a future": (Future, "nobody waits for it"),
    "a generator": (lambda: generator(1), "the call returned a generator"),
}


@pytest.mark.parametrize("name", MEANT)
def test_a_result_that_means_no_success_acks_nothing(flavour: Flavour, url: str, admin: Any, name: str) -> None:
    result, reason = MEANT[name]
    with flavour.connect(url, codec=StringCodec()) as client:
        worker, queue = flavour.worker(client), client.blocking_queue("orders")
        log = Log(worker)
        worker.handler("orders", retry=Retry(limit=5, backoff=fixed(LONG)))(returns(result))
        queue.add("a")
        with running(worker):
            (failed,) = log.until(Failed)
            at_rest(admin) if isinstance(failed.error, Reject) else log.until(Retried)
        assert log.of(Succeeded) == []
        letters = [letter.reason for letter in queue.dead_letters()]
        assert letters == ([reason] if isinstance(failed.error, Reject) else [])
        assert reason in f"{type(failed.error).__name__}: {failed.error}" or reason == "rejected"


@pytest.mark.parametrize("result", [None, 5, "text", True, [1, 2], {"a": 1}, {"a"}, Shop(), Shop, threading.Event()])
def test_any_other_result_is_nobodys(client: Any, admin: Any, result: Any) -> None:
    worker = Worker(client)
    log = Log(worker)
    worker.handler("orders")(lambda value: result)
    client.blocking_queue("orders").add("a")
    with running(worker):
        log.until(Succeeded)
        at_rest(admin)


@pytest.mark.parametrize(
    ("result", "done"),
    [
        (lambda: Retry(after=LONG), 0),
        (lambda: Retry, 0),
        (lambda: [None, Retry], 1),
        (lambda: {"a": None}, 0),
        (lambda: 5, 0),
    ],
)
def test_the_result_of_a_batch(client: Any, admin: Any, result: Callable[[], Any], done: int) -> None:
    worker = Worker(client)
    log = Log(worker)
    worker.batch_handler("orders", 2, within=LONG, retry=Retry(backoff=fixed(LONG)))(lambda values: result())
    client.blocking_queue("orders").add_all(["a", "b"])
    with running(worker):
        log.until(Retried, 2 - done)
        if done:
            log.until(Succeeded)
    assert len(log.of(Succeeded)) == done


def test_an_on_failed_that_returns_an_error_gives_nothing_up(client: Any, admin: Any) -> None:
    worker, queue = Worker(client), client.blocking_queue("orders")
    log = Log(worker)
    worker.handler("orders", retry=None, on_failed=lambda value, event, error: Retry(after=5))(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        log.until(Failed)
    assert queue.dead_letters() == []


@pytest.mark.parametrize(
    "function",
    [
        lambda value, event: None,
        lambda value, _: None,
        lambda order, evt: None,
        lambda value, _unused: None,
        lambda self_service: None,
        lambda *given: None,
        lambda value, times=3: None,
        functools.partial(two_parts, "session"),
        Shop().handle,
        Shop.of_class,
        print,
        [].append,
    ],
)
def test_a_handler_that_can_be_called_is_taken(client: Any, function: Any) -> None:
    Worker(client).add_handler(function, "orders")


def told(value: Any, what: Event) -> None: ...


def told_of_many(values: Any, what: list[Event]) -> None: ...


def test_an_annotation_tells_the_event(client: Any) -> None:
    Worker(client).add_handler(told, "orders")
    Worker(client).add_handler(told_of_many, "orders", batch=5)


def test_the_delayed_side_of_another_clients_queue(flavour: Flavour, url: str) -> None:
    """It would offer to this client's server, and nobody who waits at the other one would get it."""
    with flavour.connect(url) as client, flavour.connect(url) as other:
        queue = other.blocking_queue("orders", transfer=False)
        with pytest.raises(ArgumentError, match="open in another client"):
            client.delayed_queue(queue)

"""The texts of errors: no address, no pool and no password of odd arguments, and the name that was meant."""

from __future__ import annotations

import asyncio
import enum
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from typing import Any

import pytest
import redis
import redis.asyncio

import redisson_dq
import redisson_dq.aio
import redisson_dq.aio.worker
import redisson_dq.worker
from redisson_dq import codecs, java
from redisson_dq._common.texts import nearest, shown
from redisson_dq.errors import ArgumentError, RedissonDQError, UnknownOptionError
from redisson_dq.working.limits import Limit, Rate
from redisson_dq.working.retries import Retry, delays, exponential, fixed

URL = "redis://user:s3cret@127.0.0.1:1/0"
FLAVOURS = [(redisson_dq, redisson_dq.worker), (redisson_dq.aio, redisson_dq.aio.worker)]
CLIENTS: dict[Any, Any] = {redisson_dq: redis.Redis, redisson_dq.aio: redis.asyncio.Redis}


class Unit(enum.Enum):
    MILLISECONDS = 1


class Settings:
    """Its repr has a password, and an address in memory."""

    def __repr__(self) -> str:
        return f"<Settings password=s3cret at {id(self):#x}>"


class Silent:
    """Its repr fails, and so does every comparison."""

    def __repr__(self) -> str:
        raise SystemError("no repr")

    def __eq__(self, other: object) -> bool:
        raise SystemError("no comparison")

    __hash__ = None  # type: ignore[assignment]


class Zone(tzinfo):
    def utcoffset(self, moment: datetime | None) -> timedelta:
        return timedelta(0)

    dst = utcoffset

    def tzname(self, moment: datetime | None) -> str:
        return "nowhere"


def h4() -> None:
    pass


def odd_objects() -> dict[str, Any]:
    made = redis.Redis.from_url(URL)
    in_threads = redisson_dq.Client(made)
    on_a_loop = redisson_dq.aio.Client(redis.asyncio.Redis.from_url(URL))
    return {
        "object": object(),
        "settings": Settings(),
        "silent": Silent(),
        "function": h4,
        "lambda": lambda: None,
        "partial": functools.partial(h4),
        "method": Settings().__repr__,
        "class": Settings,
        "enum": Unit.MILLISECONDS,
        "redis": made,
        "pool": made.connection_pool,
        "asyncio redis": redis.asyncio.Redis.from_url(URL),
        "client": in_threads,
        "asyncio client": on_a_loop,
        "queue": in_threads.blocking_queue("orders", transfer=False),
        "asyncio queue": on_a_loop.blocking_queue("orders", transfer=False),
        "url": URL,
        "number": -1,
        "many digits": 10**5000,
        "nan": float("nan"),
        "text": "x" * 100_000,
        "bytes": b"x" * 100_000,
        "list": [object(), made, Silent()] * 50,
        "dict": {"a": Settings(), "b": made},
        "set": {h4, Settings},
        "moment": datetime(2030, 1, 1, tzinfo=Zone()),
        "naive": datetime(2030, 1, 1),
        "generator": (each for each in "ab"),
        "generic": list[Settings],
        "exception": ValueError(Settings()),
        "surrogate": "\ud800",
        "none": None,
        "flag": True,
    }


ODD = odd_objects()
_BAD = re.compile(r"0x[0-9a-f]{6,}|s3cret|ConnectionPool\(|<redis|<function|<class|<bound|<Settings|x{200}")


def calls() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Every public call that checks arguments without a server: its name, itself, and arguments that it accepts."""
    for public, of_worker in FLAVOURS:
        flavour, kind = public.__name__, CLIENTS[public]
        client = public.Client(kind.from_url(URL))
        yield f"{flavour}.Client", public.Client, {"redis": kind.from_url(URL)}
        yield f"{flavour}.Worker", of_worker.Worker, {"client": client}
        worker = of_worker.Worker(client)
        yield f"{flavour}.Worker.connect", of_worker.Worker.connect, {"url": URL}
        for name in ("blocking_queue", "blocking_deque", "bounded_blocking_queue"):
            yield f"{flavour}.{name}", getattr(client, name), {"name": "orders", "transfer": False}
        yield f"{flavour}.delayed_queue", client.delayed_queue, {"queue": "orders", "transfer": False}
        yield f"{flavour}.pipeline.add", client.pipeline().add, {}
        yield f"{flavour}.worker.queue", worker.queue, {"name": "bills"}
        yield f"{flavour}.add_handler", worker.add_handler, {"function": print, "queue": "orders"}
        for name in ("middleware", "per_item", "per_worker"):
            yield f"{flavour}.{name}", getattr(worker, name), {}
    plain = redisson_dq.Client(redis.Redis.from_url(URL))
    queues: dict[str, Any] = {
        "queue": plain.blocking_queue("orders", transfer=False),
        "deque": plain.blocking_deque("orders", transfer=False),
        "bounded": plain.bounded_blocking_queue("orders", transfer=False),
        "delayed": plain.delayed_queue("orders", transfer=False),
        "parts": plain.blocking_queue("orders", partitions=2, transfer=False),
        "delayed parts": plain.delayed_queue("orders", partitions=2, transfer=False),
    }
    for name, handle in queues.items():
        for request, method in inspect.getmembers(handle.requests, callable):
            if not request.startswith("_") and inspect.signature(method).parameters:
                yield f"{name}.requests.{request}", method, {}
    for made in (Retry, Rate, Limit, fixed, exponential, delays, redisson_dq.Durability, redisson_dq.partition_names):
        yield made.__name__, made, {}
    yield "java_class", java.java_class, {"name": "com.acme.Odd"}
    for name in codecs.__all__:
        codec = getattr(codecs, name)
        if isinstance(codec, type) and issubclass(codec, codecs.Codec) and inspect.signature(codec).parameters:
            yield name, codec, {}


CALLS = {name: (call, accepted) for name, call, accepted in calls()}


def errors_of(call: Callable[..., Any], accepted: dict[str, Any]) -> Iterator[Exception]:
    """What the call raises for each odd object in the place of each of its arguments."""
    parameters = [each for each in inspect.signature(call).parameters.values() if each.kind is not each.VAR_KEYWORD]
    for parameter in parameters:
        for odd in ODD.values():
            if parameter.name == "transfer" and odd is True:
                # The client would begin to move items.
                continue
            arguments = {**accepted, parameter.name: odd}
            wanted = [each for each in parameters if each.name in arguments or each.default is each.empty]
            placed = [arguments.get(each.name, 1) for each in wanted if each.kind is not each.KEYWORD_ONLY]
            named = {each.name: arguments.get(each.name, 1) for each in wanted if each.kind is each.KEYWORD_ONLY}
            try:
                call(*placed, **named)
            except redis.ConnectionError:
                # By a client of redis-py that is asked for its elements.
                continue
            except Exception as error:
                yield error


@pytest.mark.parametrize("name", list(CALLS))
def test_no_error_shows_an_address_a_pool_or_a_password(name: str) -> None:
    texts = []
    for error in errors_of(*CALLS[name]):
        if isinstance(error, RedissonDQError):
            texts.append(str(error))
        else:
            # By an object that fails itself when somebody looks at it.
            assert isinstance(error, SystemError), repr(error)
    assert texts, "nothing was refused"
    assert [text for text in texts if _BAD.search(text) or len(text) > 1500] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        ("a", "'a'"),
        (b"a", "b'a'"),
        (None, "None"),
        (timedelta(seconds=5), "datetime.timedelta(seconds=5)"),
        (["a", 1, (2,), 3], "['a', 1, (2,), ...]"),
        ({"a": {1}}, "{'a': {1}}"),
        (Unit.MILLISECONDS, "Unit.MILLISECONDS"),
        (h4, "the function h4"),
        (Settings, f"the class {__name__}.Settings"),
        (Settings(), f"a {__name__}.Settings"),
        ([Settings()], f"[a {__name__}.Settings]"),
        (object(), "an object"),
        pytest.param(10**5000, "an int", id="many digits"),
        (ODD["client"], "a redisson_dq.Client"),
        (ODD["asyncio client"], "a redisson_dq.aio.Client"),
        (ODD["asyncio queue"], "a redisson_dq.aio.BlockingQueue"),
        (codecs.StringCodec(), "a redisson_dq.codecs.StringCodec"),
        (ODD["redis"], "a redis.Redis"),
        (ODD["asyncio redis"], "a redis.asyncio.Redis"),
        (URL, "'redis://***127.0.0.1:1/0'"),
        ("x" * 1000, f"{'x' * 100!r}..."),
        (list[int], "list[int]"),
    ],
)
def test_how_a_value_is_shown(value: Any, text: str) -> None:
    assert shown(value) == text


# -- what was meant --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("dely", "delay"),
        ("Delay", "delay"),
        ("onDuplicate", "on_duplicate"),
        ("delay_seconds", "delay"),
        ("max_retries", "retry"),
        ("retries", "retry"),
        ("zzz", None),
        ("order", None),
        ("as_attempts", None),
    ],
)
def test_the_nearest_name(name: str, meant: str | None) -> None:
    assert nearest(name, ["delay", "at", "on_duplicate", "retry", "codec"]) == meant


def options() -> Iterator[tuple[str, Callable[..., Any], str, str]]:
    """The name that an error has to give, a call, a name that it does not know, and the one that was meant."""
    for public, of_worker in FLAVOURS:
        yield "connect", functools.partial(public.connect, URL), "codecs", "codec"
        yield "connect", functools.partial(public.connect, URL), "pasword", "password"
        yield "Worker.connect", functools.partial(of_worker.Worker.connect, URL), "codecs", "codec"
        yield "Worker.connect", functools.partial(of_worker.Worker.connect, URL), "concurency", "concurrency"


OPTIONS = list(options())


def called(call: Callable[..., Any], **named: Any) -> None:
    """Calls it, and runs a coroutine to its end."""
    result = call(**named)
    if inspect.iscoroutine(result):
        asyncio.run(result)


@pytest.mark.parametrize(("name", "call", "unknown", "meant"), OPTIONS, ids=[f"{o[0]}-{o[2]}" for o in OPTIONS])
def test_an_unknown_option_is_named_with_the_nearest(
    name: str, call: Callable[..., Any], unknown: str, meant: str
) -> None:
    with pytest.raises(UnknownOptionError) as caught:
        called(call, **{unknown: 1})
    assert str(caught.value) == f"{name}() has no option {unknown!r}; did you mean {meant!r}?"
    assert (caught.value.option, caught.value.nearest) == (unknown, meant)
    assert isinstance(caught.value, ArgumentError)
    assert isinstance(caught.value, TypeError)


# -- what belongs elsewhere ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["MILLISECONDS", Unit.MILLISECONDS, 5])
def test_an_offer_with_javas_unit_hears_of_seconds(unit: Any) -> None:
    client = redisson_dq.Client(redis.Redis.from_url(URL))
    delayed: Any = client.delayed_queue("orders", transfer=False)
    with pytest.raises(ArgumentError, match=r"queue 'orders': .* in seconds .* without a unit: delay=2\.5 is 2,500 ms"):
        delayed.offer("x", 2500, unit)
    with pytest.raises(ArgumentError, match="pairs of value and delay in seconds"):
        delayed.requests.offer_all([("x", 2500, unit)])
    queue: Any = client.blocking_queue("orders", transfer=False)
    with pytest.raises(ArgumentError, match="seconds or a timedelta, without a unit"):
        queue.poll(5, unit)


@pytest.mark.parametrize(
    ("kind", "given", "texts"),
    [
        (
            "redisson_dq",
            "asyncio client",
            ["expected a redisson_dq.Client, not a redisson_dq.aio.Client", "do not mix"],
        ),
        ("redisson_dq.aio", "client", ["expected a redisson_dq.aio.Client, not a redisson_dq.Client", "do not mix"]),
        ("redisson_dq", "redis", ["expected a redisson_dq.Client, not a redis.Redis", "Client(redis)"]),
        ("redisson_dq.aio", "asyncio redis", ["not a redis.asyncio.Redis", "Client(redis)"]),
        ("redisson_dq", "url", ["not 'redis://***127.0.0.1:1/0'", "Worker.connect(url)"]),
    ],
)
def test_a_worker_says_which_client_it_takes(kind: str, given: str, texts: list[str]) -> None:
    of_worker = {public.__name__: of_worker for public, of_worker in FLAVOURS}[kind]
    with pytest.raises(ArgumentError) as caught:
        of_worker.Worker(ODD[given])
    assert [text for text in texts if text not in str(caught.value)] == []


@pytest.mark.parametrize("given", ["asyncio redis", "client", "url", "pool"])
def test_a_client_says_which_redis_it_takes(given: str) -> None:
    with pytest.raises(ArgumentError, match=r"redis\.Redis goes with redisson_dq\.Client.* URL with connect\(url\)"):
        redisson_dq.Client(ODD[given])


def test_a_handle_of_the_other_flavour_is_told() -> None:
    for client, queue in (("client", "asyncio queue"), ("asyncio client", "queue")):
        with pytest.raises(ArgumentError, match="for asyncio, and they do not mix"):
            ODD[client].delayed_queue(ODD[queue])


@pytest.mark.parametrize("of_worker", [redisson_dq.worker, redisson_dq.aio.worker])
def test_a_dependency_that_nobody_declared_is_named(of_worker: Any) -> None:
    worker = of_worker.Worker.connect(URL)

    @worker.per_worker
    def database() -> None: ...

    @worker.handler("orders")
    def handle(value: object, event: object, databse: object) -> None: ...

    with pytest.raises(ArgumentError) as caught:
        called(worker.start)
    text = str(caught.value)
    assert text.startswith(
        "handler 'test_a_dependency_that_nobody_declared_is_named.<locals>.handle' of queue 'orders' "
    )
    assert "takes 'databse', but no dependency has that name; did you mean 'database'?" in text


def test_a_worker_without_handlers_says_so() -> None:
    worker = redisson_dq.worker.Worker.connect(URL)
    with pytest.raises(ArgumentError, match=r"without handlers receives nothing: declare .* or import"):
        worker.run()

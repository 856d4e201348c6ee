"""Calls a second: each contender beside its limit, in alternating slices (A, B, A, B ...), by medians.

Single offers are compared with PING over one connection, a round trip that does nothing. Bulk offers are compared with
the pipelined commands that they replace, and with Redisson's own offers. Bulk takes are compared with LPOP.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import attrs
import redis
import redis.asyncio

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks.measures import ASYNCIO, LEAN, REDISSON, SYNC, Settings, Spread, ratios
from tests.peer import JavaPeer

__all__ = ["COMPARISONS", "Comparison", "Rates", "comparisons", "measure"]

#: Calls or items a second by contender, one figure a round. The first one, of cold code, does not count.
Rates = dict[str, list[float]]

#: The function of one slice, which returns its rate.
_Slice = Callable[[], float]

_QUEUE = "benchmark"
_SEED = 20240301
# Nothing falls due during the measurement.
_LEAST_DELAY, _MOST_DELAY = 3_600.0, 7_200.0
_PIPELINE = 1000
_IN_FLIGHT = 200

PING = "PING, redis-py"
BARE_PING = "PING, redis-py, connection without client"
AIO_PING = "PING, redis.asyncio"
OFFER = f"{SYNC} offer()"
AIO_OFFER = f"{ASYNCIO} offer()"
OFFER_ALL = f"{SYNC} offer_all()"
AIO_OFFER_ALL = f"{ASYNCIO} offer_all()"
LEAN_OFFER_ALL = f"{LEAN} offer_all()"
POLL = f"{SYNC} poll({_PIPELINE:,})"
AIO_POLL = f"{ASYNCIO} poll({_PIPELINE:,})"
LPOP = f"LPOP {_PIPELINE:,}"
RAW = f"ZADD + RPUSH an item, pipelined by {_PIPELINE:,}"
RAW_VARIADIC = f"one ZADD + one RPUSH for {_PIPELINE:,} items"
RAW_LEAN = f"one ZADD for {_PIPELINE:,} items"
REDISSON_OFFER = f"{REDISSON} offer()"
REDISSON_ASYNC = f"{REDISSON} offerAsync(), {_IN_FLIGHT} in flight"

#: The comparisons, in the order of the table.
COMPARISONS = (
    (OFFER, PING),
    (OFFER, BARE_PING),
    (AIO_OFFER, AIO_PING),
    (OFFER_ALL, RAW),
    (AIO_OFFER_ALL, RAW),
    (OFFER_ALL, RAW_VARIADIC),
    (LEAN_OFFER_ALL, RAW_VARIADIC),
    (LEAN_OFFER_ALL, RAW_LEAN),
    (OFFER_ALL, REDISSON_ASYNC),
    (AIO_OFFER_ALL, REDISSON_ASYNC),
    (OFFER, REDISSON_OFFER),
    (POLL, LPOP),
    (AIO_POLL, LPOP),
)


@attrs.frozen(kw_only=True)
class Comparison:
    """One contender compared with another of the same run."""

    name: str
    rate: Spread
    beside: str
    beside_rate: Spread
    ratio: Spread


def comparisons(rates: Mapping[str, Sequence[float]]) -> list[Comparison]:
    """The COMPARISONS that were measured."""
    rates = {name: figures[1:] for name, figures in rates.items()}
    return [
        Comparison(
            name=name,
            rate=Spread.of(rates[name]),
            beside=beside,
            beside_rate=Spread.of(rates[beside]),
            ratio=ratios(rates[name], rates[beside]),
        )
        for name, beside in COMPARISONS
        if name in rates and beside in rates
    ]


def measure(url: str, peer: JavaPeer | None, settings: Settings, say: Callable[[str], None]) -> Rates:
    """Runs every contender against the server at ``url``, whose data is deleted."""
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(url))
        clients = stack.enter_context(_clients(url))
        rates: Rates = {}
        groups: dict[str, Callable[[], dict[str, _Slice]]] = {
            "single offers": lambda: _single(clients, settings.offers),
            "single offers, asyncio": lambda: _single_asyncio(clients, settings.offers),
            "bulk offers": lambda: {**_bulk(clients, settings.bulk), **_redisson(peer, url, settings)},
            "bulk takes": lambda: _takes(clients, settings.bulk),
        }
        for title, make in groups.items():
            contenders = make()
            for number in range(settings.rounds + 1):
                say(f"{title} {number}/{settings.rounds}" if number else f"{title}, warm-up")
                for name, slice_ in contenders.items():
                    rates.setdefault(name, []).append(slice_())
                    admin.flushall()
        return rates


@attrs.frozen(kw_only=True)
class _Clients:
    """Open connections of every kind, made before anything is timed."""

    plain: redis.Redis
    aio_plain: redis.asyncio.Redis
    #: The connection that such a client would use.
    bare: Any
    offers: Any
    aio_offers: Any
    lean_offers: Any
    takes: Any
    aio_takes: Any
    loop: asyncio.AbstractEventLoop


@contextmanager
def _clients(url: str) -> Iterator[_Clients]:
    with ExitStack() as stack:
        loop = asyncio.new_event_loop()
        stack.callback(loop.close)
        plain = stack.enter_context(redis.Redis.from_url(url))
        bare = plain.connection_pool.get_connection()
        stack.callback(plain.connection_pool.release, bare)
        aio_plain = redis.asyncio.Redis.from_url(url)
        stack.callback(lambda: loop.run_until_complete(aio_plain.aclose()))
        client = stack.enter_context(redisson_dq.connect(url, codec=StringCodec()))
        aio_client = redisson_dq.aio.connect(url, codec=StringCodec())
        loop.run_until_complete(aio_client.open())
        stack.callback(lambda: loop.run_until_complete(aio_client.close()))
        yield _Clients(
            plain=plain,
            aio_plain=aio_plain,
            bare=bare,
            # A producer: it moves nothing.
            offers=client.delayed_queue(_QUEUE, transfer=False),
            aio_offers=aio_client.delayed_queue(_QUEUE, transfer=False),
            lean_offers=client.delayed_queue(_QUEUE, transfer=False, lean=True),
            takes=client.blocking_queue(_QUEUE, transfer=False),
            aio_takes=aio_client.blocking_queue(_QUEUE, transfer=False),
            loop=loop,
        )


def _delays(count: int) -> list[float]:
    chance = random.Random(_SEED)
    return [chance.uniform(_LEAST_DELAY, _MOST_DELAY) for _ in range(count)]


def _values(count: int) -> list[str]:
    return [f"order-{number}" for number in range(count)]


def _rate(count: int, start: float) -> float:
    return count / (time.perf_counter() - start)


# -- one at a time ---------------------------------------------------------------------------------------------------


def _single(clients: _Clients, count: int) -> dict[str, _Slice]:
    items = list(zip(_values(count), _delays(count), strict=True))

    def ping() -> float:
        call = clients.plain.ping
        start = time.perf_counter()
        for _ in items:
            call()
        return _rate(count, start)

    def bare_ping() -> float:
        connection = clients.bare
        start = time.perf_counter()
        for _ in items:
            connection.send_command("PING")
            connection.read_response()
        return _rate(count, start)

    def offer() -> float:
        call = clients.offers.offer
        start = time.perf_counter()
        for value, delay in items:
            call(value, delay)
        return _rate(count, start)

    return {PING: ping, OFFER: offer, BARE_PING: bare_ping}


def _single_asyncio(clients: _Clients, count: int) -> dict[str, _Slice]:
    items = list(zip(_values(count), _delays(count), strict=True))

    async def ping() -> float:
        call: Any = clients.aio_plain.ping
        start = time.perf_counter()
        for _ in items:
            await call()
        return _rate(count, start)

    async def offer() -> float:
        call = clients.aio_offers.offer
        start = time.perf_counter()
        for value, delay in items:
            await call(value, delay)
        return _rate(count, start)

    return {
        AIO_PING: lambda: clients.loop.run_until_complete(ping()),
        AIO_OFFER: lambda: clients.loop.run_until_complete(offer()),
    }


# -- many at once ----------------------------------------------------------------------------------------------------


def _bulk(clients: _Clients, count: int) -> dict[str, _Slice]:
    values, delays = _values(count), _delays(count)
    items = list(zip(values, delays, strict=True))
    keys = QueueKeys.of(_QUEUE)
    chance = random.Random(_SEED)
    now_ms = time.time_ns() // 1_000_000
    # Everything that a caller of plain commands has to compute is computed before.
    members = [wrap(Envelope.CURRENT, chance.randbytes(8), value.encode()) for value in values]
    scores = [now_ms + round(delay * 1000) for delay in delays]
    batches = [slice(first, first + _PIPELINE) for first in range(0, count, _PIPELINE)]

    def raw() -> float:
        start = time.perf_counter()
        pipeline = clients.plain.pipeline(transaction=False)
        for batch in batches:
            for member, score in zip(members[batch], scores[batch], strict=True):
                pipeline.zadd(keys.timeout, {member: score})
                pipeline.rpush(keys.envelopes, member)
            pipeline.execute()
        return _rate(count, start)

    def raw_variadic() -> float:
        start = time.perf_counter()
        pipeline = clients.plain.pipeline(transaction=False)
        for batch in batches:
            pipeline.zadd(keys.timeout, dict(zip(members[batch], scores[batch], strict=True)))
            pipeline.rpush(keys.envelopes, *members[batch])
            pipeline.execute()
        return _rate(count, start)

    def raw_lean() -> float:
        start = time.perf_counter()
        for batch in batches:
            clients.plain.zadd(keys.timeout, dict(zip(members[batch], scores[batch], strict=True)))
        return _rate(count, start)

    def offer_all(offers: Any) -> float:
        start = time.perf_counter()
        offers.offer_all(items)
        return _rate(count, start)

    async def aio_offer_all() -> float:
        start = time.perf_counter()
        await clients.aio_offers.offer_all(items)
        return _rate(count, start)

    return {
        RAW: raw,
        OFFER_ALL: lambda: offer_all(clients.offers),
        RAW_VARIADIC: raw_variadic,
        AIO_OFFER_ALL: lambda: clients.loop.run_until_complete(aio_offer_all()),
        LEAN_OFFER_ALL: lambda: offer_all(clients.lean_offers),
        RAW_LEAN: raw_lean,
    }


def _takes(clients: _Clients, count: int) -> dict[str, _Slice]:
    values = _values(count)
    batches = [slice(first, first + _PIPELINE) for first in range(0, count, _PIPELINE)]

    def fill() -> None:
        with clients.plain.pipeline(transaction=False) as pipeline:
            for batch in batches:
                pipeline.rpush(_QUEUE, *values[batch])
            pipeline.execute()

    def lpop() -> float:
        fill()
        start = time.perf_counter()
        while clients.plain.lpop(_QUEUE, _PIPELINE):
            pass
        return _rate(count, start)

    def poll() -> float:
        fill()
        start = time.perf_counter()
        while clients.takes.poll(limit=_PIPELINE):
            pass
        return _rate(count, start)

    async def aio_poll() -> float:
        start = time.perf_counter()
        while await clients.aio_takes.poll(limit=_PIPELINE):
            pass
        return _rate(count, start)

    def filled_aio_poll() -> float:
        fill()
        return clients.loop.run_until_complete(aio_poll())

    return {LPOP: lpop, POLL: poll, AIO_POLL: filled_aio_poll}


def _redisson(peer: JavaPeer | None, url: str, settings: Settings) -> dict[str, _Slice]:
    if peer is None:
        return {}
    # Without the database, which Redisson has as a separate setting.
    peer.call("open", address=url.rpartition("/")[0], codec="StringCodec")
    count = settings.redisson_offers
    items = [
        {"value": value, "delayMs": round(delay * 1000)}
        for value, delay in zip(_values(count), _delays(count), strict=True)
    ]

    def offers(items: list[dict[str, Any]], in_flight: int) -> float:
        # The peer measures the time from the first call to the last answer, with values made before.
        nanoseconds = peer.call("offer_many", timeout=120.0, queue=_QUEUE, items=items, inFlight=in_flight)
        return len(items) * 1e9 / float(nanoseconds)

    return {
        REDISSON_ASYNC: lambda: offers(items, _IN_FLIGHT),
        REDISSON_OFFER: lambda: offers(items[: settings.offers], 1),
    }

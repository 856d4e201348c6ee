"""Makes a client by a URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from redis.asyncio import Redis

from redisson_dq._async.client import Client
from redisson_dq._options import OnUndecodable, Wakeups, Written
from redisson_dq._redis import connection_factory, unexpected_option, without_password
from redisson_dq._shared_options import options_of, unknown_option
from redisson_dq._texts import shown
from redisson_dq.codecs.base import Codec
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError
from redisson_dq.observing import Observer
from redisson_dq.observing.observers import LogValues
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import NameMapper

__all__ = ["connect", "unopened"]

_A_URL = "redis://localhost:6379/0"


# The options stand here and in Client, as ``redis_options`` may have any name: a TypedDict has no room for these.
# Editors also show the defaults then.
def connect(
    url: str,
    *,
    codec: Codec | None = None,
    envelope: Written = Envelope.CURRENT,
    name_mapper: NameMapper | None = None,
    probe_interval: float = 30.0,
    transfer_batch: int = 5000,
    undecodable: OnUndecodable = "raise",
    remember: float = 600.0,
    wakeups: Wakeups = "channel",
    busy_wait: bool = True,
    durable: Durability | None = None,
    observer: Observer | None = None,
    log_values: LogValues = False,
    **redis_options: Any,
) -> Client:
    """A client for the server at ``url``: ``redis://``, ``rediss://`` (TLS) or ``unix://``, as in redis-py.

    ``redis_options`` go to redis-py's ``Redis.from_url`` (``username=``, ``password=``, ``ssl_ca_certs=`` ...); the
    others are those of :class:`Client`. For a Sentinel or a cluster make a redis-py client and give it to Client.

    Raises ArgumentError for a URL or an option that cannot be used. Whether Redis can be reached is checked by one
    round trip, which raises RedisConnectionError or RedisReplyError: at once here, and in :mod:`redisson_dq.aio`
    by ``async with`` or ``await client.open()``.

    Answers to ``Redisson.create(config)``.
    """
    client = unopened(
        url,
        {
            **redis_options,
            "codec": codec,
            "envelope": envelope,
            "name_mapper": name_mapper,
            "probe_interval": probe_interval,
            "transfer_batch": transfer_batch,
            "undecodable": undecodable,
            "remember": remember,
            "wakeups": wakeups,
            "busy_wait": busy_wait,
            "durable": durable,
            "observer": observer,
            "log_values": log_values,
        },
    )
    # sync: client.open()
    return client


def unopened(url: str, options: Mapping[str, Any], call: str = "connect", more: Iterable[str] = ()) -> Client:
    """A client by the arguments of :func:`connect`. Nothing is sent.

    ``call`` is the user's call, for errors, and ``more`` the options that it takes itself.
    """
    if not isinstance(url, str):
        kind = type(url).__name__
        raise ArgumentError(
            f"connect() takes a URL such as {_A_URL}, not a {kind}; around a client of redis-py write Client(...)"
        )
    own = options_of(Client)
    of_redis = {name: value for name, value in options.items() if name not in own}
    try:
        redis = Redis.from_url(url, **of_redis)
        # redis-py looks at an option when it makes its first connection, and not before.
        connection_factory(redis.connection_pool)
    except (ValueError, TypeError, AttributeError) as error:
        unknown = unexpected_option(error, of_redis)
        if unknown is not None:
            known = {*options_of(connect), *options_of(Redis), *more} - {"url"}
            raise unknown_option(call, [unknown], known) from error
        and_options = f" with {', '.join(f'{name}=' for name in of_redis)}" if of_redis else ""
        message = f"{shown(without_password(url))}{and_options} cannot be used: {error}; a URL looks like {_A_URL}"
        raise ArgumentError(message) from error
    return Client(redis, **{name: value for name, value in options.items() if name in own})

"""Makes a client by a URL, by the environment, or by a file of Redisson's settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from redis.asyncio import Redis
from redis.exceptions import RedisError

from redisson_dq._async.client import Client
from redisson_dq._common.signatures import options_of
from redisson_dq._redis import async_client_at
from redisson_dq._redis.options import OnUndecodable, Wakeups, Written
from redisson_dq._redisson_config import RedissonConfig
from redisson_dq._redisson_config.given import settings_of, unusable
from redisson_dq.codecs.base import Codec
from redisson_dq.durability import Durability
from redisson_dq.observing import Observer
from redisson_dq.observing.observers import LogValues
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import NameMapper

__all__ = ["connect", "unopened"]


# The options are here and in Client, as ``redis_options`` may have any name: a TypedDict has no room for these.
# Editors also show the defaults then.
def connect(
    url: str | None = None,
    *,
    redisson_config: RedissonConfig | None = None,
    codec: Codec | None = None,
    envelope: Written = Envelope.CURRENT,
    name_mapper: NameMapper | None = None,
    names: Literal["any", "plain"] = "any",
    undecodable: OnUndecodable = "raise",
    remember: float = 600.0,
    wakeups: Wakeups = "channel",
    durable: Durability | None = None,
    observer: Observer | None = None,
    log_values: LogValues = False,
    **redis_options: Any,
) -> Client:
    """A client for the server at ``url``, else for the one that the environment variable ``REDISSON_DQ_URL`` names.

    ``redis://host:port/db``, ``rediss://`` (TLS) and ``unix://path`` are as in redis-py. ``redis+sentinel://host:port,
    host:port/service`` is the master of a service, and ``redis+cluster://host:port,host:port`` a cluster, both also
    with ``rediss``. User and password come before the hosts (``user:password@``), and options of redis-py after a
    question mark (``?socket_timeout=2&ssl_ca_certs=ca.pem``).

    - ``redisson_config``: replaces the URL: a YAML or JSON file of Redisson, Spring's application.yml, or a mapping

    A file that names no server goes with a URL. Its server, user, password, TLS, timeouts and codec are taken over. A
    setting that matters and cannot be taken over is an ArgumentError. docs/settings.md lists them. Options that are
    given here win over the file. Example::

        client = redisson_dq.connect(redisson_config="redisson.yaml")

    ``redis_options`` go to redis-py (``username=``, ``password=``, ``ssl_ca_certs=`` ...); the others are those of
    :class:`Client`.

    Raises ArgumentError for a URL or an option that cannot be used. Whether Redis can be reached is checked by one
    round trip, which raises RedisConnectionError or RedisReplyError: at once here, and in :mod:`redisson_dq.aio`
    by ``async with`` or ``await client.open()``.

    Answers to ``Redisson.create(config)`` and ``Config.fromYAML(file)``.
    """
    client = unopened(
        url,
        {
            **redis_options,
            "redisson_config": redisson_config,
            "codec": codec,
            "envelope": envelope,
            "name_mapper": name_mapper,
            "names": names,
            "undecodable": undecodable,
            "remember": remember,
            "wakeups": wakeups,
            "durable": durable,
            "observer": observer,
            "log_values": log_values,
        },
    )
    # sync: client.open()
    return client


def unopened(url: str | None, options: Mapping[str, Any], call: str = "connect", more: Iterable[str] = ()) -> Client:
    """A client by the arguments of :func:`connect`. Nothing is sent.

    ``call`` is the user's call, for errors, and ``more`` the options that it takes itself.
    """
    own = options_of(Client)
    given = {name: value for name, value in options.items() if name != "redisson_config"}
    taken = settings_of(url, options.get("redisson_config"), given)
    of_redis = {**taken.redis_options, **{name: value for name, value in given.items() if name not in own}}
    of_client = {name: value for name, value in given.items() if name in own}
    if taken.codec is not None:
        of_client["codec"] = taken.codec
    try:
        redis = async_client_at(taken.url, of_redis)
    except (ValueError, TypeError, AttributeError, RedisError) as error:
        names = options_of(connect), options_of(Redis), more
        raise unusable(error, taken.url, of_redis, call, *names) from error
    made = Client(redis, **of_client)
    made.runtime.connections.own = redis
    return made

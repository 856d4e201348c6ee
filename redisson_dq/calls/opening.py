"""The requests of a client that opens: a PING, and the settings of the server that an option needs."""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import Any

from redisson_dq._redis.options import Options
from redisson_dq.calls.confirming import why_not
from redisson_dq.durability import Durability
from redisson_dq.errors import RedisReplyError, ServerSettingError
from redisson_dq.wire import commands
from redisson_dq.wire.request import Request

__all__ = ["opening"]

logger = logging.getLogger("redisson_dq")

_Asking = Generator[Request[Any], Any, None]


def opening(options: Options, *, is_cluster: bool) -> _Asking:
    """A generator of requests: each is sent the result of the one before. Raises ServerSettingError."""
    yield commands.ping()
    if options.wakeups == "keyspace":
        yield from _check_keyspace_events(is_cluster=is_cluster)
    if options.durable is not None:
        yield from _check_durability(options.durable)


def _check_keyspace_events(*, is_cluster: bool) -> _Asking:
    """Refuses a server that publishes no keyspace events of sorted sets. Where CONFIG is forbidden, only a warning is
    logged.
    """
    if is_cluster:
        raise ServerSettingError('wakeups="keyspace" is for one server: a cluster node reports only its own keys')
    request = Request(words=("CONFIG", "GET", "notify-keyspace-events"), types={"": ""}, parse=list)
    try:
        found = yield request
    except RedisReplyError as error:
        logger.warning("cannot check whether the server publishes keyspace events: %s", error)
        return
    flags = found[1].decode() if len(found) > 1 else ""
    if "K" not in flags or not ("z" in flags or "A" in flags):
        raise ServerSettingError(
            f'the server\'s notify-keyspace-events is {flags!r}; wakeups="keyspace" needs K and z in it: '
            "CONFIG SET notify-keyspace-events Kz"
        )


def _check_durability(durable: Durability) -> _Asking:
    """Refuses a server that cannot confirm changes in that way."""
    # This request changes nothing, so the only possible answer of interest is an error.
    words = ("WAITAOF", 1, 0, 1) if durable.fsync else ("WAIT", 0, 1)
    try:
        yield Request(words=words, types={"": ""}, parse=bool)
    except RedisReplyError as error:
        raise ServerSettingError(f"durable=: {why_not(durable, error)}") from error

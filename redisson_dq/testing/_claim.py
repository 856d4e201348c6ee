"""A private database for a test: claimed while it is empty, emptied at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import redis.exceptions

from redisson_dq._redis import hint_of_tls, translate, without_password
from redisson_dq.errors import ArgumentError, RedisConnectionError, RedissonDQError
from redisson_dq.testing._scripts import MARK_KEY, OWN_KEYS

__all__ = ["NotForTestsError", "check_url", "claim", "empty", "name_in", "reaching"]

_SCHEMES = ("redis://", "rediss://", "unix://")
_NAME = "redisson-dq-test-clock"
# A killed test leaves its mark, which expires after this many seconds.
_MARKED = 86_400
# How many keys are named in an error, and how many are removed at once.
_NAMED, _AT_ONCE = 3, 500


class NotForTestsError(RedissonDQError):
    """The server has data that no test has made, or another test clock runs in the database."""


_CLAIM = f"""\
if redis.call('EXISTS', '{MARK_KEY}') == 0 and redis.call('DBSIZE') > 0 then
  return 0
end
redis.call('SET', '{MARK_KEY}', 1, 'EX', {_MARKED})
return 1
"""


_IS_THEIRS = f"return redis.call('DBSIZE') > 0 and redis.call('EXISTS', '{MARK_KEY}') == 0 and 1 or 0"


def check_url(url: str) -> None:
    """Raises ArgumentError for a URL that does not name one server."""
    if not isinstance(url, str) or not url.startswith(_SCHEMES):
        raise ArgumentError(
            f"{without_password(url)}: a test needs the URL of one Redis ({', '.join(_SCHEMES)}); "
            "under a Sentinel that is the master's, and its clients may ask the Sentinel"
        )


@contextlib.contextmanager
def reaching(url: str) -> Iterator[None]:
    """Raises RedisConnectionError if no Redis answers, RedisReplyError if it refuses the login or a command."""
    shown = without_password(url)
    try:
        yield
    except (redis.AuthenticationError, redis.exceptions.AuthorizationError, redis.ResponseError) as error:
        raise translate(error, f"{shown}, the Redis for the tests (its user needs all rights)") from error
    except (redis.ConnectionError, redis.TimeoutError) as error:
        remedy = hint_of_tls(redis.Redis.from_url(url).connection_pool, error) or (
            "start it, or let the tests start one (no --redisson-url, server_of_tests())"
        )
        raise RedisConnectionError(f"{shown}: the Redis for the tests cannot be reached: {error}; {remedy}") from error


def name_in(url: str) -> str:
    """The name of the connection that moves the time. The connection is in another database when it sets its name."""
    return f"{_NAME}-{redis.Redis.from_url(url).connection_pool.connection_kwargs.get('db') or 0}"


def claim(admin: redis.Redis, url: str) -> bool:
    """Marks the database as used by tests. Returns whether it was already marked. Raises NotForTestsError.

    Each database of the server has to be empty or marked.
    """
    if admin.info("cluster").get("cluster_enabled"):
        raise NotForTestsError(
            f"{without_password(url)}: each node of a cluster has a time of its own; tests of a cluster go by real time"
        )
    here = int(admin.connection_pool.connection_kwargs.get("db") or 0)
    shown = without_password(url)
    with redis.Redis.from_url(url, protocol=2, decode_responses=True, single_connection_client=True) as other:
        for name in sorted(admin.info("keyspace")):
            number = int(name.removeprefix("db"))
            if number != here:
                other.execute_command("SELECT", number)
                if other.eval(_IS_THEIRS, 0):
                    raise NotForTestsError(_refusal(shown, number, other))
        other.execute_command("SELECT", here)
        was_marked = bool(other.exists(MARK_KEY))
        if not admin.eval(_CLAIM, 0):
            raise NotForTestsError(_refusal(shown, here, other))
    _check_alone(admin, url)
    return was_marked


def _check_alone(admin: redis.Redis, url: str) -> None:
    """Raises NotForTestsError if another clock controls the time of the database."""
    own, name = admin.client_id(), name_in(url)
    if any(each["name"] == name and int(each["id"]) != own for each in admin.client_list()):
        raise NotForTestsError(
            f"{without_password(url)}: another test's clock runs in that database; "
            "give each process a database of its own (redis://host:port/1)"
        )


def _refusal(url: object, number: int, admin: Any) -> str:
    _, keys = admin.scan(count=_NAMED)
    named = ", ".join(repr(key) for key in keys[:_NAMED])
    return (
        f"{url}: database {number} holds keys that no test made, such as {named}; "
        "tests need a Redis of their own, for example an EmbeddedServer"
    )


def empty(admin: redis.Redis, *, keeps: tuple[str, ...] = (MARK_KEY,)) -> None:
    """Removes everything that tests have made in the database. It was empty when it was claimed."""
    if not admin.exists(MARK_KEY):
        return
    found = [key for key in admin.scan_iter(count=_AT_ONCE) if key not in (*OWN_KEYS, MARK_KEY)]
    for at in range(0, len(found), _AT_ONCE):
        admin.unlink(*found[at : at + _AT_ONCE])
    admin.unlink(*(key for key in (*OWN_KEYS, MARK_KEY) if key not in keeps))

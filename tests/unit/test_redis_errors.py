"""How redis-py's errors are translated, and which of them a blocking call waits through. There is no server."""

from __future__ import annotations

import pytest
import redis
from redis import exceptions

from redisson_dq import _redis
from redisson_dq._redis.errors import with_remedy
from redisson_dq.errors import (
    ClosedError,
    CrossSlotError,
    RedisConnectionError,
    RedisReplyError,
    RedissonDQError,
    ServerFullError,
)


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (exceptions.ConnectionError("gone"), RedisConnectionError),
        (exceptions.TimeoutError("slow"), RedisConnectionError),
        (ConnectionResetError("reset"), RedisConnectionError),
        (exceptions.AuthenticationError("WRONGPASS"), RedisReplyError),
        (exceptions.ResponseError("CROSSSLOT Keys in request don't hash to the same slot"), CrossSlotError),
        (exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), ServerFullError),
        (exceptions.ResponseError("ERR unknown command"), RedisReplyError),
    ],
)
def test_each_kind_becomes_one_of_ours(error: Exception, ours: type[RedissonDQError]) -> None:
    made = _redis.translate(error, "queue 'orders'")
    assert type(made) is ours
    assert str(made).startswith("queue 'orders': ")


def test_only_a_lost_connection_leaves_a_doubt_and_only_when_it_was_sent() -> None:
    for sent in (False, True):
        made = _redis.translate(exceptions.ConnectionError("gone"), "queue 'orders'", sent=sent)
        assert isinstance(made, RedisConnectionError)
        assert made.maybe_done is sent
        assert ("may have been carried out" in str(made)) is sent


def test_an_error_of_ours_stays_as_it_is() -> None:
    error = ClosedError("closed")
    assert _redis.translate(error, "queue 'orders'") is error


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (exceptions.BusyLoadingError("LOADING Redis is loading the dataset in memory"), True),
        (exceptions.ReadOnlyError("You can't write against a read only replica."), True),
        (exceptions.ResponseError("BUSY Redis is busy running a script."), True),
        (exceptions.ResponseError("NOREPLICAS Not enough good replicas to write."), True),
        (exceptions.ResponseError("MISCONF Redis is configured to save RDB snapshots"), True),
        (exceptions.ResponseError("UNBLOCKED force unblock from blocking operation"), True),
        (exceptions.MovedError("3999 127.0.0.1:6381"), True),
        (exceptions.ResponseError("WRONGTYPE Operation against a key holding the wrong kind of value"), False),
        (exceptions.NoPermissionError("this user has no permissions to run the 'blpop' command"), False),
        (exceptions.ResponseError("ERR unknown command"), False),
    ],
)
def test_passing_conditions(error: exceptions.ResponseError, passes: bool) -> None:
    assert _redis.is_passing(error) is passes


def test_connections_are_made_from_a_copy_of_the_users_settings() -> None:
    theirs = redis.Redis(host="example", port=7, db=3, password="secret", decode_responses=True, socket_timeout=9)
    before = dict(theirs.connection_pool.connection_kwargs)
    pool = _redis.pool_from(theirs.connection_pool, "client")
    settings = pool.connection_kwargs
    assert pool is not theirs.connection_pool
    assert (settings["host"], settings["port"], settings["db"], settings["password"]) == ("example", 7, 3, "secret")
    connection = pool.connection_class(**settings)
    assert connection.retry.get_retries() == 0
    assert connection.encoder.decode_responses is False
    assert connection.socket_keepalive
    assert theirs.connection_pool.connection_kwargs == before
    theirs.close()


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("LONGSIZE the longs of this server have 4 bytes", "nothing was done: use a 64-bit build of Redis or Valkey"),
        (
            "bad lua script for redis cluster, all the keys that the script uses should be passed using the KEYS "
            "array, and KEYS should not be in expression",
            "set the parameter script_check_enable of the instance to 0",
        ),
    ],
)
def test_a_server_that_takes_no_script_of_ours_is_named(said: str, remedy: str) -> None:
    text = with_remedy(exceptions.ResponseError(said))
    assert text.startswith(said)
    assert text.endswith(remedy)


def test_an_http_server_at_the_port_is_named() -> None:
    error = redis.exceptions.InvalidResponse('Protocol error, got "H" as reply type byte')
    assert "an HTTP server answers there, not Redis: check the port" in with_remedy(error)


def test_neither_a_lost_connection_nor_a_defect_is_a_refusal() -> None:
    denied = exceptions.NoPermissionError("NOPERM no right to a key")
    ours = _redis.translate(denied, "queue 'orders'")
    ours.__cause__ = denied
    assert _redis.refusal_of(denied) == _redis.refusal_of(ours) is not None
    assert _redis.refusal_of(_redis.translate(exceptions.ConnectionError("gone"), "queue 'orders'")) is None
    assert _redis.refusal_of(ValueError("a defect")) is None


@pytest.mark.parametrize(
    "error",
    [
        exceptions.InvalidResponse("Bad simple string value"),
        exceptions.ResponseError(
            "Error compiling script (new function): :16: Script attempted to access nonexistent global variable "
            "'struct' stack traceback:  [G]: in function 'error'  :16: in function <:14>"
        ),
        exceptions.ResponseError(
            "Error running script: @user_script:?: 1: attempt to index global 'cmsgpack' (a nil value)\n"
            'stack traceback:\n\t[string "<python>"]:1: in main chunk'
        ),
    ],
)
def test_an_imitation_of_redis_is_told_and_no_traceback_of_its_lua(error: Exception) -> None:
    said = str(_redis.translate(error, "queue 'orders'"))
    assert "an imitation of Redis" in said
    assert "traceback" not in said
    assert "\n" not in said


def test_a_reply_of_an_http_server_is_told_as_that() -> None:
    said = with_remedy(exceptions.InvalidResponse('Protocol error, got "H" as reply type byte'))
    assert said.endswith("an HTTP server answers there, not Redis: check the port")

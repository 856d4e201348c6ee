"""The settings of our own connections, made from the user's. There is no server: no connection is opened."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest
import redis
import redis.asyncio

import redisson_dq
from redisson_dq._redis.introducing import COMMANDS
from redisson_dq._redis.pools import async_pool_from, pool_from

URL = "redis://localhost:1"
#: The user's pool, and ours.
POOLS: list[Any] = [
    (lambda **options: redis.Redis.from_url(URL, **options).connection_pool, pool_from),
    (lambda **options: redis.Redis(**options).connection_pool, pool_from),
    (lambda **options: redis.asyncio.Redis.from_url(URL, **options).connection_pool, async_pool_from),
    (lambda **options: redis.asyncio.Redis(**options).connection_pool, async_pool_from),
]
NEW = hasattr(redis, "driver_info")


def c1() -> str:
    """The client, and the process that it is in: a fork of the one that has collected the tests."""
    return f"c1@{socket.gethostname()}:{os.getpid()}"


def told(pool: Any, role: str = COMMANDS, queue: str = "") -> dict[str, str]:
    return {what: words[-1] for what, words in pool.introduction.words(role, queue).items()}


@pytest.mark.parametrize(("theirs", "ours"), POOLS)
def test_our_library_is_named_in_the_place_of_redis_py(theirs: Any, ours: Any) -> None:
    pool = ours(theirs(), "c1")
    version = redisson_dq.__version__
    assert told(pool) == {
        "name": f"redisson-dq/{version}/{c1()}/commands",
        "library": "redisson-dq",
        "version": version,
    }
    assert told(pool, "receiver", "orders")["name"] == f"redisson-dq/{version}/{c1()}/receiver/orders"
    connection = pool.make_connection()
    assert connection.introduction is pool.introduction
    assert (connection.driver_info if NEW else connection.lib_name) is None
    assert connection.client_name is None


@pytest.mark.parametrize(("theirs", "ours"), POOLS)
def test_what_the_user_says_of_the_driver_is_told_instead(theirs: Any, ours: Any) -> None:
    if NEW:
        info = redis.DriverInfo().add_upstream_driver("shop", "1.0")
        for said in (info, None):
            pool = ours(theirs(driver_info=said), "c1")
            assert pool.make_connection().driver_info is said
            assert set(told(pool)) == {"name"}
    else:
        pool = ours(theirs(lib_name="shop"), "c1")
        assert pool.make_connection().lib_name == "shop"


@pytest.mark.parametrize(("theirs", "ours"), POOLS)
def test_a_name_of_the_users_comes_first(theirs: Any, ours: Any) -> None:
    pool = ours(theirs(client_name="shop-api"), "c1")
    assert told(pool)["name"] == f"shop-api/redisson-dq/{redisson_dq.__version__}/{c1()}/commands"


@pytest.mark.parametrize(
    ("queue", "part"),
    [
        ("orders", "orders"),
        ("{shop}orders:7-x", "{shop}orders:7-x"),
        ("two words", "two%20words"),
        ("a/b", "a%2Fb"),
        ("caf\u00e9\n", "caf%C3%A9%0A"),
        ("x" * 500, "x" * 79 + "~"),
        ("x" * 78 + "\n" + "x" * 10, "x" * 78 + "~"),
    ],
)
def test_a_queues_name_is_printable_and_bounded(queue: str, part: str) -> None:
    name = told(pool_from(redis.Redis.from_url(URL).connection_pool, "c1"), "receiver", queue)["name"]
    assert name.rpartition("/")[2] == part
    assert all("!" <= letter <= "~" for letter in name)


def test_no_setting_but_the_name_is_told() -> None:
    url = "redis://someone:secret@localhost:1/3?client_name=shop"
    pool = pool_from(redis.Redis.from_url(url).connection_pool, "c1")
    words = " ".join(told(pool, "receiver", "orders").values())
    assert not any(part in words for part in ("someone", "secret", "localhost"))


@pytest.mark.parametrize("text", ["unknown subcommand 'SETINFO'", "NOPERM this user has no permissions"])
def test_what_is_refused_is_not_sent_again(text: str) -> None:
    pool = pool_from(redis.Redis.from_url(URL).connection_pool, "c1")
    pool.introduction.note("library", redis.exceptions.ResponseError(text))  # type: ignore[attr-defined]
    assert set(told(pool)) == {"name", "version"}


def test_what_is_refused_for_a_moment_is_sent_again() -> None:
    pool = pool_from(redis.Redis.from_url(URL).connection_pool, "c1")
    error = redis.exceptions.ResponseError("BUSY Redis is busy running a script")
    pool.introduction.note("name", error)  # type: ignore[attr-defined]
    assert "name" in told(pool)

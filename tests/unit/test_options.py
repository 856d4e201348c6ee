"""What connect() and Client() refuse before anything is sent."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import attrs
import pytest
import redis
import redis.asyncio

import redisson_dq
from redisson_dq._redis.options import Options
from redisson_dq.errors import ArgumentError, RedissonDQError

UNUSED = "redis://127.0.0.1:1/0"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("codec", "StringCodec"),
        ("envelope", "old"),
        ("name_mapper", 5),
        ("names", "some"),
        ("undecodable", "ignore"),
        ("undecodable", None),
        ("observer", "print"),
        ("observer", int),
        ("observer", asyncio.sleep),
        ("no_such_option", 1),
    ],
)
def test_an_option_that_cannot_be_used_is_named(option: str, value: Any) -> None:
    for connect in (redisson_dq.connect, redisson_dq.aio.connect):
        with pytest.raises(ArgumentError, match=option):
            connect(UNUSED, **{option: value})


@pytest.mark.parametrize("flavour", [redisson_dq, redisson_dq.aio])
def test_connect_and_client_take_the_same_options(flavour: Any) -> None:
    """They are in both signatures, where an editor shows them, and are checked in one place."""
    of_client, of_connect = (
        {
            name: parameter.default
            for name, parameter in inspect.signature(call).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name != "redisson_config"
        }
        for call in (flavour.Client, flavour.connect)
    )
    assert of_client == of_connect
    assert list(of_client) == [option.alias for option in attrs.fields(Options) if option.init]


@pytest.mark.parametrize("url", ["", "localhost:6379", "http://localhost", "redis://localhost:port", None, 5])
def test_a_bad_url_is_refused_and_a_good_one_shown(url: Any) -> None:
    for connect in (redisson_dq.connect, redisson_dq.aio.connect):
        with pytest.raises(ArgumentError, match="redis://localhost:6379/0"):
            connect(url)


@pytest.mark.parametrize("connect", [redisson_dq.connect, redisson_dq.aio.connect])
def test_a_client_in_place_of_a_url_is_told_where_it_goes(connect: Any) -> None:
    with pytest.raises(ArgumentError, match=r"for a redis-py client use Client\(\.\.\.\)"):
        connect(redis.Redis())


def test_a_password_does_not_show_in_an_error() -> None:
    for connect in (redisson_dq.connect, redisson_dq.aio.connect):
        with pytest.raises(ArgumentError) as caught:
            connect("redis://user:se//cret@localhost:port/0")
        assert "cret" not in str(caught.value)
        with pytest.raises(ArgumentError) as caught:
            connect("redis://localhost?password=secret&socket_timeout=abc")
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("given", [None, "redis://localhost", redis.asyncio.Redis()])
def test_a_client_is_made_from_a_synchronous_redis(given: Any) -> None:
    with pytest.raises(ArgumentError, match=r"redis\.Redis"):
        redisson_dq.Client(given)


@pytest.mark.parametrize("given", [None, redis.Redis()])
def test_an_asyncio_client_is_made_from_an_asyncio_redis(given: Any) -> None:
    with pytest.raises(ArgumentError, match=r"redis\.asyncio\.Redis"):
        redisson_dq.aio.Client(given)


def test_every_error_has_one_root() -> None:
    for name in redisson_dq.errors.__all__:
        assert issubclass(getattr(redisson_dq.errors, name), RedissonDQError)

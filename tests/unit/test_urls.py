"""The redis-py client that a URL stands for. There is no server: nothing is sent."""

from __future__ import annotations

import re
from typing import Any

import pytest
import redis
import redis.asyncio

import redisson_dq
from redisson_dq._common.texts import shown
from redisson_dq._redis import async_client_at, client_at
from redisson_dq.errors import ArgumentError, RedisConnectionError, UnknownOptionError
from redisson_dq.worker import Worker

FLAVOURS: list[Any] = [client_at, async_client_at]
PLACES = [("redis", "/0"), ("rediss", ""), ("redis+sentinel", "/main"), ("redis+cluster", "")]
#: Passwords that are not written as a URL wants them.
MISWRITTEN = ["secret/x", "secret#x", "secret?x", "[secret]", "secret]", "12/secret", "12?secret"]


def settings(client: Any) -> dict[str, Any]:
    return dict(client.connection_pool.connection_kwargs)


@pytest.mark.parametrize("made", FLAVOURS)
@pytest.mark.parametrize(
    ("url", "expected", "connection"),
    [
        ("redis://u:p%40@h:1/3?socket_timeout=2", {"host": "h", "port": 1, "db": 3, "password": "p@"}, "Connection"),
        ("rediss://h?ssl_ca_path=/&ssl_check_hostname=no", {"ssl_ca_path": "/"}, "SSLConnection"),
        ("unix:///run/redis.sock?db=2", {"path": "/run/redis.sock", "db": 2}, "UnixDomainSocketConnection"),
    ],
)
def test_one_server(made: Any, url: str, expected: dict[str, Any], connection: str) -> None:
    client = made(url, {"health_check_interval": 7})
    assert settings(client).items() >= {**expected, "health_check_interval": 7}.items()
    assert client.connection_pool.connection_class.__name__ == connection


@pytest.mark.parametrize("made", FLAVOURS)
@pytest.mark.parametrize(("scheme", "is_tls"), [("redis", False), ("rediss", True)])
def test_a_sentinels_master(made: Any, scheme: str, is_tls: bool) -> None:
    query = "db=3&socket_timeout=2&sentinel_username=watch&sentinel_password=own" + "&ssl_cert_reqs=none" * is_tls
    client = made(f"{scheme}+sentinel://u:p%2F@one:1,two,[::1]:5/the%20master?{query}", {"client_name": "shop"})
    pool = client.connection_pool
    assert pool.service_name == "the master"
    of_master = {"username": "u", "password": "p/", "db": 3, "socket_timeout": 2.0, "client_name": "shop"}
    assert settings(client).items() >= of_master.items()
    asked = [settings(each) for each in pool.sentinel_manager.sentinels]
    assert [(each["host"], each["port"]) for each in asked] == [("one", 1), ("two", 26379), ("::1", 5)]
    of_each = {"username": "watch", "password": "own", "socket_timeout": 2.0}
    assert all(each.items() >= of_each.items() for each in asked)
    pools = [pool, *(each.connection_pool for each in pool.sentinel_manager.sentinels)]
    assert ["SSL" in each.connection_class.__name__ for each in pools] == [is_tls] * 4


@pytest.mark.parametrize("made", FLAVOURS)
def test_a_sentinel_is_asked_without_the_masters_password(made: Any) -> None:
    client = made("redis+sentinel://u:p@one/main/2", {})
    assert settings(client)["db"] == 2
    asked = settings(client.connection_pool.sentinel_manager.sentinels[0])
    assert (asked.get("username"), asked.get("password")) == (None, None)


def test_a_cluster_asks_nobody_before_its_first_use() -> None:
    made: Any = client_at("redis+cluster://u:p@127.0.0.1:1,127.0.0.1:2", {"socket_timeout": 3})
    assert isinstance(made, redis.RedisCluster)
    made.close()
    with pytest.raises(redis.exceptions.RedisClusterException):
        made.get_primaries()
    made.close()


def test_a_cluster_with_asyncio() -> None:
    made = async_client_at("rediss+cluster://u:p@one:1,two?ssl_cert_reqs=none", {"socket_timeout": 3})
    assert isinstance(made, redis.asyncio.RedisCluster)
    assert sorted(made.nodes_manager.startup_nodes) == ["one:1", "two:6379"]
    known = made.connection_kwargs
    assert (known["username"], known["password"], known["socket_timeout"]) == ("u", "p", 3)
    assert "SSL" in known["connection_class"].__name__


@pytest.mark.parametrize("flavour", [redisson_dq, redisson_dq.aio])
@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis+sentinel://secret@h", "it has to name the service"),
        ("redis+sentinel://:secret@h/main/x", "number of the database"),
        ("redis+sentinel://:secret@/main", "names no host"),
        ("redis+cluster://:secret@h:port", "host:port"),
        ("redis+cluster://:secret@h:70000", "host:port"),
        ("redis+cluster://:secret@h/3", "database 0"),
        ("redis+cluster://:secret@h?db=3", "database 0"),
        ("redis+cluster://h?socket_timeout=x&password=secret", "socket_timeout"),
        ("redis+other://:secret@h", "schemes"),
        ("http+cluster://:secret@h", "schemes"),
        *((f"{of}://u:{word}@h:1{path}", "is written %40") for of, path in PLACES for word in MISWRITTEN),
        ("redis://:secret@h/orders", "number of the database"),
        ("redis://:secret@h/1/2", "number of the database"),
        ("redis://:secret@h/-1", "number of the database"),
        ("redis:////h", "number of the database"),
        ("redis://:secret@h:70000", "port cannot be read"),
        ("redis://:secret@[h", "port cannot be read"),
        ("redis://:secret@h\u2100", "port cannot be read"),
        ("redis+cluster://:secret@::1", "host:port"),
        ("unix://run/redis.sock", "the socket's file"),
        ("unix://", "the socket's file"),
        ("redis://h?protocol=9", "protocol"),
        *(
            (f"{url}?{name}={seconds}", f"{name}= must be a number of seconds above 0")
            for url in ("redis://h", "redis+sentinel://h/main", "redis+cluster://h", "unix:///redis.sock")
            for name in ("socket_timeout", "socket_connect_timeout")
            for seconds in ("-1", "0", "nan", "inf")
        ),
        ("rediss://h?ssl_cert_reqs=some", "none of 'none', 'optional', 'required'"),
    ],
)
def test_a_url_that_cannot_be_used_says_why_without_the_password(flavour: Any, url: str, why: str) -> None:
    with pytest.raises(ArgumentError, match=why) as refused:
        flavour.connect(url)
    error: BaseException | None = refused.value
    while error is not None:
        assert "secret" not in str(error)
        error = error.__context__
    assert "redis://localhost:6379/0" in str(refused.value)


@pytest.mark.parametrize("flavour", [redisson_dq, redisson_dq.aio])
@pytest.mark.parametrize("url", ["redis://h", "redis+sentinel://h/main", "redis+cluster://h"])
def test_an_unknown_option_is_named(flavour: Any, url: str) -> None:
    with pytest.raises(UnknownOptionError, match=r"socket_timeouts.*did you mean 'socket_timeout'"):
        flavour.connect(url, socket_timeouts=3)


@pytest.mark.parametrize("flavour", [redisson_dq, redisson_dq.aio])
@pytest.mark.parametrize(
    "place", ["redis://u:secret@h", "redis+sentinel://h/main", "redis+cluster://h", "unix:///r.sock"]
)
@pytest.mark.parametrize(
    ("query", "option", "says"),
    [
        ("socket_timout=5", "socket_timout", "did you mean 'socket_timeout'?"),
        ("db=0&max_connection=5", "max_connection", "did you mean 'max_connections'?"),
        ("sentinel_pasword=x", "sentinel_pasword", "did you mean 'sentinel_password'?"),
        ("xyzzy=1", "xyzzy", "has no option 'xyzzy'"),
        ("codec=json", "codec", "pass it beside the URL: connect(url, codec=...)"),
        ("ssl_ca_certs=/ca.pem", "ssl_ca_certs", "TLS options need a URL that begins with rediss://"),
    ],
)
def test_an_unknown_option_of_a_url_is_named(flavour: Any, place: str, query: str, option: str, says: str) -> None:
    if option == "ssl_ca_certs" and "+" in place:
        place = "redis://h"
    with pytest.raises(UnknownOptionError, match=re.escape(says)) as refused:
        flavour.connect(f"{place}?{query}")
    assert refused.value.option == option
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("query", ["socket_timout=", "socket_timout", "db=0&=5"])
def test_an_option_of_a_url_without_a_value_is_refused(query: str) -> None:
    with pytest.raises(ArgumentError, match=r"its option '(socket_timout)?' has no value"):
        redisson_dq.connect(f"redis://h?{query}")


@pytest.mark.parametrize("flavour", [redisson_dq, redisson_dq.aio])
def test_tls_is_said_by_the_url(flavour: Any) -> None:
    with pytest.raises(ArgumentError, match="rediss://"):
        flavour.connect("redis://h", ssl=True)


@pytest.mark.parametrize("flavour", [redisson_dq, redisson_dq.aio])
def test_a_timeout_of_another_type_is_refused_at_once(flavour: Any) -> None:
    with pytest.raises(ArgumentError, match="socket_timeout= must be a number of seconds above 0, or None"):
        flavour.connect("redis://h", socket_timeout="2")


def test_a_cluster_that_is_away_is_named_without_a_key() -> None:
    with pytest.raises(RedisConnectionError, match=r"^the server: "):
        redisson_dq.connect("redis+cluster://127.0.0.1:1")


def test_an_at_sign_behind_the_hosts_is_of_no_password() -> None:
    assert settings(client_at("redis://h?client_name=a@b", {}))["client_name"] == "a@b"
    assert settings(client_at("unix:///run/a@b.sock", {}))["path"] == "/run/a@b.sock"


def test_a_client_of_sentinels_says_that_it_speaks_tls() -> None:
    assert "rediss+sentinel://h:26379/main" in repr(redisson_dq.aio.connect("rediss+sentinel://h/main"))


def test_no_text_shows_a_password_of_a_url() -> None:
    text = shown("rediss+sentinel://u:secret@h/main?sentinel_password=secret&ssl_password=secret&db=1")
    assert "secret" not in text
    assert text.startswith("'rediss+sentinel://***h/main?")


# -- without a URL ---------------------------------------------------------------------------------------------------


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDISSON_DQ_URL", "redis+sentinel://one/main")
    client = redisson_dq.aio.connect()
    made: Any = client.runtime.connections.own
    assert made.connection_pool.service_name == "main"
    monkeypatch.setenv("REDISSON_DQ_URL", "http://elsewhere")
    with pytest.raises(ArgumentError, match="http://elsewhere"):
        redisson_dq.connect()
    # A URL that is given wins.
    redisson_dq.aio.connect("redis://h")


@pytest.mark.parametrize("flavour", [redisson_dq, redisson_dq.aio])
@pytest.mark.parametrize("value", [None, ""])
def test_no_url_is_an_error(flavour: Any, value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDISSON_DQ_URL", raising=False)
    if value is not None:
        monkeypatch.setenv("REDISSON_DQ_URL", value)
    with pytest.raises(ArgumentError, match="set the environment variable REDISSON_DQ_URL"):
        flavour.connect()


def test_a_worker_may_wait_for_its_url_until_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDISSON_DQ_URL", raising=False)
    with pytest.raises(UnknownOptionError, match="codecs"):
        Worker.connect(codecs=None)
    worker = Worker.connect(grace=0)
    worker.handler("orders")(print)
    with pytest.raises(ArgumentError, match="REDISSON_DQ_URL"):
        worker.start()
    worker.set_url("redis://elsewhere:1")

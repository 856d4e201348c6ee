"""A client's password appears in no log, no repr, no error and no traceback."""

from __future__ import annotations

import asyncio
import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio

import redisson_dq
import redisson_dq.aio
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedissonDQError
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, PROGRAMS, eventually
from tests.faults.world import World
from tests.flavours import Flavour

_SECRET = "s3cret-that-nobody-may-read"


class _Everything(logging.Handler):
    """Keeps what every logger says, as a handler of the user's would write it."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += [self.format(record), repr(record.args), repr(record.__dict__)]


@pytest.fixture
def logged() -> Iterator[list[str]]:
    handler, root = _Everything(), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler.lines
    root.removeHandler(handler)
    root.setLevel(before)


def _told(error: BaseException) -> list[str]:
    """All that an error shows: of itself, of what led to it, and with the local variables of where it came from."""
    told = [*traceback.format_exception(error)]
    chain: list[BaseException | None] = [error]
    while chain and (one := chain.pop()) is not None:
        told += [str(one), repr(one), repr(one.args), repr({k: repr(v) for k, v in vars(one).items()})]
        chain += [one.__cause__, one.__context__]
    return told


def _assert_kept(lines: list[str]) -> None:
    assert lines
    shown = [line for line in lines if _SECRET in line]
    assert not shown, shown[:3]


_URLS = [
    "redis://:{secret}@127.0.0.1:1/0",
    "redis://user:{secret}@127.0.0.1:1/0",
    "redis://127.0.0.1:1/0?password={secret}",
    "redis://127.0.0.1:1/0?username=user&password={secret}",
    "rediss://user:{secret}@127.0.0.1:1/0",
    "rediss://user:{secret}@127.0.0.1:1/0?ssl_cert_reqs=maybe",
    "unix://user:{secret}@/nowhere/redis.sock",
    "unix:///nowhere/redis.sock?password={secret}",
    "redis://user:{secret}@127.0.0.1:port/0",
    "redis://user:{secret}@127.0.0.1:1/0?socket_timeout=soon",
    "redis://user:{secret}@127.0.0.1:1/0?no_such_option=1",
    "redis://user:{secret}@[::1/0",
    "nonsense://user:{secret}@127.0.0.1:1/0",
    "user:{secret}@127.0.0.1",
    " redis://user:{secret}@127.0.0.1:1/0",
    "redis://user:{secret}@@127.0.0.1:1/0",
    "redis://user:{secret}@127.0.0.1:1/0\n",
    "redis:/user:{secret}@127.0.0.1:1/0",
    "redis+sentinel://user:{secret}@127.0.0.1:1/main",
    "redis+sentinel://127.0.0.1:1/main?password={secret}&sentinel_password={secret}",
    "redis+sentinel://user:{secret}@127.0.0.1:1",
    "redis+sentinel://user:{secret}@127.0.0.1:1/main/other",
    "rediss+sentinel://user:{secret}@127.0.0.1:1/main?no_such_option=1",
    "redis+cluster://user:{secret}@127.0.0.1:1,127.0.0.1:2",
    "redis+cluster://127.0.0.1:1?password={secret}",
    "redis+cluster://user:{secret}@127.0.0.1:port",
    "redis+nonsense://user:{secret}@127.0.0.1:1",
]

_FILES = [
    'singleServerConfig: {{address: "redis://127.0.0.1:1", password: "{secret}"}}',
    'singleServerConfig: {{address: "redis://user:{secret}@127.0.0.1:1"}}',
    'singleServerConfig: {{address: "redis://127.0.0.1:1", password: "{secret}", nonsense: 1}}',
    'singleServerConfig: {{address: "redis://127.0.0.1:1", password: "{secret}", timeout: soon}}',
    'singleServerConfig: {{address: "redis://127.0.0.1:1", password: [{secret}]}}',
    'singleServerConfig: {{address: "nonsense://:{secret}@127.0.0.1:1"}}',
    'singleServerConfig: {{address: "redis://127.0.0.1:1", password: {secret}',
    'password: {secret}\nsingleServerConfig: {{address: "redis://127.0.0.1:1", password: other}}',
    'clusterServersConfig: {{nodeAddresses: ["redis://127.0.0.1:1"], password: "{secret}"}}',
    "sentinelServersConfig: "
    '{{sentinelAddresses: ["redis://127.0.0.1:1"], masterName: m, sentinelPassword: "{secret}"}}',
]


@pytest.mark.parametrize("file", _FILES)
def test_a_file_of_settings_that_leads_nowhere(flavour: Flavour, file: str, logged: list[str], tmp_path: Path) -> None:
    path = tmp_path / "redisson.yaml"
    path.write_text(file.format(secret=_SECRET), "utf-8")
    with pytest.raises(RedissonDQError) as caught, flavour.connect(None, redisson_config=path):
        raise AssertionError("there is nobody")
    _assert_kept([*_told(caught.value), *logged])


@pytest.mark.parametrize("url", _URLS)
def test_a_url_that_leads_nowhere(flavour: Flavour, url: str, logged: list[str]) -> None:
    with pytest.raises(Exception) as caught, flavour.connect(url.format(secret=_SECRET)):  # noqa: PT011
        raise AssertionError("there is nobody")
    _assert_kept([*_told(caught.value), *logged])


@pytest.mark.parametrize("password", ["option", "wrong option"])
def test_a_password_that_is_given_apart(flavour: Flavour, password: str, logged: list[str]) -> None:
    options: dict[str, Any] = {"password": _SECRET}
    if password == "wrong option":
        options["db"] = "none"
    with pytest.raises(Exception) as caught, flavour.connect("redis://127.0.0.1:1/0", **options):  # noqa: PT011
        raise AssertionError("there is nobody")
    _assert_kept([*_told(caught.value), *logged])


def test_a_wrong_password(flavour: Flavour, logged: list[str]) -> None:
    with EmbeddedServer(program=PROGRAMS["redis"](), config={"requirepass": "another"}) as server:
        url = server.url.replace("another", _SECRET)
        with pytest.raises(redisson_dq.errors.RedisReplyError) as caught, flavour.connect(url):
            raise AssertionError("it was let in")
        # The password in use is in the server's own URL, and not in what it shows of itself.
        assert "another" in server.url
        _assert_kept([*_told(caught.value), *logged])


@pytest.mark.parametrize("unixsocket", [False, True])
@pytest.mark.parametrize("secret", [_SECRET, "with \" quotes ' \\ and ünïcode %"])
def test_a_server_of_ones_own(unixsocket: bool, secret: str) -> None:
    """Neither it nor a process of it shows its password. Only its URL has it, for clients."""
    with EmbeddedServer(program=PROGRAMS["redis"](), unixsocket=unixsocket, config={"requirepass": secret}) as server:
        arguments = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            # One may have ended by now.
            with suppress(OSError):
                arguments.append(path.read_bytes())
        assert any(b"_supervisor.py" in each for each in arguments)
        assert not [each for each in arguments if secret.encode() in each]
        assert secret not in repr(server)
        assert "***" in repr(server)
        with redis.Redis.from_url(server.url) as client:
            assert client.ping()
            assert client.config_get("requirepass")["requirepass"] == secret


@ONE_FLAVOUR_BY_DAY
def test_what_fails_while_a_client_works(flavour: Flavour, logged: list[str]) -> None:
    """Connections cut, commands refused, values that cannot be read, a server that goes away."""
    lines: list[str] = []
    with World(config={"requirepass": _SECRET}) as world:
        _fail_in_every_way(flavour, world, lines)
    _assert_kept([*lines, *logged])
    assert any("redisson_dq" in line for line in logged)


def _fail_in_every_way(flavour: Flavour, world: World, lines: list[str]) -> None:
    url = world.gate.url.replace("//", f"//:{_SECRET}@")
    client = flavour.connect(url, codec=StringCodec(), probe_interval=0.2)
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")

    def told(call: Callable[[], Any]) -> None:
        try:
            lines.append(repr(call()))
        except Exception as error:
            lines.extend(_told(error))

    objects = (client, queue, delayed, client.pipeline(), delayed.offer("waits", 60), queue.requests.poll())
    lines.extend(text for each in objects for text in (repr(each), str(each), repr(getattr(each, "inner", each))))
    world.admin.rpush("orders", b"\xff")
    told(lambda: queue.poll(timeout=1))
    world.admin.rpush("orders", "leased", b"\xff")
    delivery = queue.receive(timeout=1)
    lines.extend((repr(delivery), str(delivery), repr(getattr(delivery, "inner", delivery))))
    told(lambda: queue.receive(timeout=1))
    world.admin.set("wrong", "a string")
    told(lambda: client.blocking_queue("wrong").take())
    told(lambda: queue.poll_from_any("wrong", timeout=0.1))
    for command in ("EVALSHA", "LPOP", "BLPOP", "CLIENT", "SUBSCRIBE"):
        world.gate.trap(command, "sent", "cut")
        told(lambda: delayed.offer("x", 0))
        told(lambda: queue.poll())
        told(lambda: queue.poll(timeout=0.6))
    world.gate.clear()
    world.admin.config_set("maxmemory", 1)
    told(lambda: delayed.offer("x", 0))
    world.admin.config_set("maxmemory", 0)
    world.admin.execute_command("ACL", "SETUSER", "default", "-lpop")
    told(lambda: queue.poll())
    world.gate.refusing = True
    world.gate.cut()
    told(lambda: queue.poll(timeout=0.5))
    told(lambda: delayed.offer("x", 0))
    world.gate.clear()
    world.admin.config_set("requirepass", "changed meanwhile")
    world.gate.cut()
    told(lambda: queue.size())
    told(lambda: queue.poll(timeout=0.3))
    told(lambda: queue.receive(timeout=0.3))
    told(delivery.ack)
    eventually(lambda: len(lines) > 10)
    with suppress(redisson_dq.errors.RedissonDQError):
        client.close()


def test_clients_of_redis_py(logged: list[str]) -> None:
    """One that the user has made, which knows its password."""
    made = redis.Redis.from_url(f"redis://user:{_SECRET}@127.0.0.1:1/0")
    client = redisson_dq.Client(made)
    lines = [repr(client), str(client)]
    try:
        client.blocking_queue("orders", transfer=False).size()
    except redisson_dq.errors.RedissonDQError as error:
        lines += _told(error)
    with pytest.raises(redisson_dq.errors.ArgumentError) as mixed:
        redisson_dq.aio.Client(made)  # type: ignore[arg-type]
    client.close()
    made.close()
    _assert_kept([*lines, *_told(mixed.value), *logged])


@ONE_FLAVOUR_BY_DAY
def test_a_worker(flavour: Flavour, logged: list[str]) -> None:
    """Its handler fails, its connections are cut, and then its password is wrong."""
    failed = threading.Event()

    def fail(value: str) -> None:
        failed.set()
        raise ValueError(value)

    with World(config={"requirepass": _SECRET}) as world:
        url = world.gate.url.replace("//", f"//:{_SECRET}@")
        worker = flavour.worker_of(url, codec=StringCodec(), grace=0.2)
        worker.handler("orders")(fail)
        running = threading.Thread(target=worker.run)
        running.start()
        world.admin.rpush("orders", b"\xff", "order-42")
        assert failed.wait(PATIENCE)
        world.admin.config_set("requirepass", "changed meanwhile")
        world.gate.cut()
        eventually(lambda: any("invalid username-password" in line for line in logged))
        worker.request_stop()
        running.join(PATIENCE)
        assert not running.is_alive()
        lines = [repr(worker), str(worker), repr(getattr(worker, "inner", worker))]
    _assert_kept([*lines, *logged])


def test_an_event_loop_that_shows_what_it_does(logged: list[str]) -> None:
    """asyncio's debug mode logs tasks and callbacks by their repr."""

    async def main() -> None:
        async with redisson_dq.aio.connect(f"redis://user:{_SECRET}@127.0.0.1:1/0"):
            raise AssertionError("there is nobody")

    with pytest.raises(redisson_dq.errors.RedisConnectionError) as caught:
        asyncio.run(main(), debug=True)
    _assert_kept([*_told(caught.value), *logged])

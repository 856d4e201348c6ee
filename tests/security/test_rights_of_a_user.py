"""A user that has the rights of the documentation, and no others, can make every call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.calls import CALLS, Call, fill, opened, plain_by_day
from tests.integration.conftest import KEYS

_PAGE = Path(__file__).parents[2] / "docs" / "rights.md"
_NAMES = ("orders", "other")
# A Redis from 7.2 on knows it, and redis-py sends it without looking at the answer.
_NEWER = {"client setinfo", "waitaof"}


def documented_commands() -> set[str]:
    """The commands in the table of docs/rights.md."""
    section = _PAGE.read_text("utf-8").split("## What is sent")[1]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return {name.lower() for row in rows for name in re.findall(r"`([A-Z_]+(?: [A-Z]+)?)`", row)}


def grants() -> list[str]:
    """The user's rights, as ACL SETUSER takes them."""
    known = [f"+{name.replace(' ', '|')}" for name in sorted(documented_commands() - _NEWER)]
    keys = [QueueKeys.of(name) for name in _NAMES]
    patterns = [f"~{key}" for each in keys for key in keys_of(each)]
    # Scripts are given a channel's name among their keys.
    channels = [f"{sign}{channel}" for each in keys for channel in each.channels for sign in "&~"]
    return [*known, *patterns, *channels, "&redisson_dq:none", "~redisson_dq_restoring_*"]


def keys_of(keys: QueueKeys) -> list[str]:
    """All of them, without the channels."""
    own = [key for key in attrs.astuple(keys) if key not in keys.channels]
    return [*own, *attrs.astuple(DeadKeys.belonging_to(keys.ready))]


@pytest.fixture
def server(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    return servers("redis")


@pytest.fixture
def limited_url(server: EmbeddedServer) -> Iterator[str]:
    with redis.Redis.from_url(server.url) as admin:
        admin.flushall()
        admin.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">secret", *grants())
        yield server.url.replace("//", "//limited:secret@")
        admin.execute_command("ACL", "DELUSER", "limited")


@pytest.mark.parametrize("call", plain_by_day([call for call in CALLS if not call.local], "lean"), ids=str)
def test_every_call(server: EmbeddedServer, limited_url: str, call: Call) -> None:
    thread = ThreadPoolExecutor(1)
    with redis.Redis.from_url(server.url) as admin, Flavour().connect(limited_url, codec=StringCodec()) as client:
        handle = opened(client, call.kind)
        fill(client, admin, KEYS)
        admin.execute_command("ACL", "LOG", "RESET")
        failure = thread.submit(call.run, handle).exception(PATIENCE)
        assert failure is None or "NOPERM" not in str(failure)
        denied = admin.execute_command("ACL", "LOG")
        assert not denied, denied[0]
    thread.shutdown(wait=False)


def test_a_wait_and_what_moves_for_it(flavour: Flavour, server: EmbeddedServer, limited_url: str) -> None:
    with redis.Redis.from_url(server.url) as admin, ThreadPoolExecutor(1) as thread:
        admin.execute_command("ACL", "LOG", "RESET")
        with flavour.connect(limited_url, codec=StringCodec(), probe_interval=0.1) as client:
            queue = client.blocking_queue("orders")
            waiting = thread.submit(queue.take)
            eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
            client.delayed_queue(queue).offer("order-42", delay=0.3)
            assert waiting.result(PATIENCE) == "order-42"
            assert queue.poll(timeout=0.6) is None
        assert not admin.execute_command("ACL", "LOG")


def test_the_table_names_only_commands(server: EmbeddedServer) -> None:
    with redis.Redis.from_url(server.url) as admin:
        for name in documented_commands() - _NEWER:
            assert admin.execute_command("COMMAND", "INFO", name.replace(" ", "|"))[name.replace(" ", "|")], name

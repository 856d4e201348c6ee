"""A proxy that closes a connection at each command that it does not know, as twemproxy does."""

from __future__ import annotations

import re

import pytest

from redisson_dq.cli._main import main
from redisson_dq.testing.faults._commands import Command, Trap, Where
from tests.faults.world import World

#: What twemproxy 0.5 does not know, and a client of ours sends.
UNKNOWN = ("CLIENT", "INFO", "BLPOP", "BLMOVE", "SUBSCRIBE", "MULTI", "SCAN", "CONFIG", "TIME", "SLOWLOG", "PUBSUB")


def test_the_doctor_says_that_a_proxy_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    with World() as world:
        for command in UNKNOWN:
            world.gate.trap(command, "command", "cut", times=1_000_000)
        assert main(["doctor", "--url", world.gate.url]) == 64
        told = capsys.readouterr().out
        assert "a proxy that closes the connection" in told
        assert "# name the Redis behind it" in told


def test_a_server_that_cannot_be_reached_is_no_proxy(capsys: pytest.CaptureFixture[str]) -> None:
    with World() as world:
        world.gate.trap("PING", "command", "cut", times=1_000_000)
        assert main(["doctor", "--url", world.gate.url]) == 69
        assert "proxy" not in capsys.readouterr().out


def test_a_strict_check_of_scripts_is_named_with_its_setting(capsys: pytest.CaptureFixture[str]) -> None:
    """Alibaba Cloud's proxies take no script without a key, and old ones none with a key that is not ``KEYS[n]``."""
    refused = b"-ERR bad lua script for redis cluster, all the keys should be passed using the KEYS array\r\n"
    keyless = b"-ERR for redis cluster, eval/evalsha number of keys can't be negative or zero\r\n"
    with World() as world:
        strict = world.gate.springs

        def springs(command: Command, where: Where) -> Trap | None:
            if where == "command" and command.name in (b"EVAL", b"EVALSHA") and command.words[2] == b"0":
                return Trap(command.name.decode(), "command", "refuse", answer=keyless)
            if (
                where == "command"
                and command.name == b"EVAL"
                and re.search(rb"redis.call\('\w+', key", command.words[1])
            ):
                return Trap("EVAL", "command", "refuse", answer=refused)
            return strict(command, where)

        world.gate.springs = springs  # type: ignore[method-assign]
        assert main(["doctor", "--url", world.gate.url, "--only", "commands"]) == 1
        told = capsys.readouterr().out
        assert "transfers, receives and acks fail" in told
        assert "script_check_enable" in told
        assert "1 check: 1 problem" in told

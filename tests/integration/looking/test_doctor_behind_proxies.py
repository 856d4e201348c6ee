"""A proxy that closes a connection at each command that it does not know, as twemproxy does."""

from __future__ import annotations

import pytest

from redisson_dq.cli._main import main
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

"""The round trip of ``python -m tests.compatibility``, with the versions of this run."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from redisson_dq.embedded import EmbeddedServer
from tests.compatibility.combinations import tried
from tests.compatibility.environments import Environment
from tests.peer import VERSIONS, JavaPeer


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_values_go_there_and_back(redis7: EmbeddedServer, peers: Callable[[str], JavaPeer], version: str) -> None:
    result = tried(Environment.own(), redis7, peers(version))
    assert (result.failure, result.redisson) == ("", version)


def test_a_step_that_fails_is_told(redis7: EmbeddedServer, peers: Callable[[str], JavaPeer]) -> None:
    own = Environment.own()
    broken = attrs.evolve(own, program=own.program.with_name("redisson-dq"))
    assert tried(broken, redis7, peers(VERSIONS[0])).failure.startswith("Python: ")

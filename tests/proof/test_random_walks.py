"""Longer random orders of the scripts than those of which there can be all: more items, more time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS, by_night
from tests.proof.walking import Walk


@pytest.fixture(scope="module")
def admin() -> Iterator[Any]:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as server, redis.Redis.from_url(server.url) as client:
        yield client


@pytest.mark.parametrize("examples", [6, by_night(500)])
def test_any_calls_in_any_order(admin: Any, examples: int) -> None:
    walk = Walk(admin, items=5, ticks=8)

    @settings(max_examples=examples, deadline=None)
    @given(st.lists(st.integers(0, 99), min_size=20, max_size=60))
    def follow(choices: list[int]) -> None:
        walk.follow(choices)

    follow()
    assert walk.made["receive"]
    assert walk.made["cancel"]

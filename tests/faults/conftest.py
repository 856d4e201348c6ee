"""The servers behind proxies that the tests of one file share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.world import World


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World() as made:
        yield made

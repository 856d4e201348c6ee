"""The sources that have called a lookout: those that call no more leave nothing behind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from redisson_dq.waits.rotation import CalledSources


class Pump:
    """A watched source, as a key of a table."""

    def __init__(self, key: str) -> None:
        self.source = SimpleNamespace(key=key)


def pump(key: str) -> Any:
    return Pump(key)


def test_a_key_is_counted_as_long_as_a_source_has_it() -> None:
    sources = CalledSources()
    first, second, other = pump("orders"), pump("orders"), pump("bills")
    for each in (first, second, other):
        sources.add(each)
    assert (sources.keys, sources.of(b"orders")) == (2, [first, second])
    sources.forget(first)
    assert (sources.keys, sources.of(b"orders")) == (2, [second])
    sources.forget(second)
    assert (sources.keys, sources.of(b"orders"), sources.of(None)) == (1, [], [other])
    sources.add(first)
    assert (sources.keys, sources.of(b"orders")) == (2, [first])

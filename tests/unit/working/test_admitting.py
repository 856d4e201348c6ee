"""Which of the values that were seen are let past the limit of a busy handler, decided without a server."""

from __future__ import annotations

from redisson_dq.wire.leases import Leased
from redisson_dq.working.admission import Admitting
from redisson_dq.working.handlers import declared
from redisson_dq.working.limits import Rate


def leased(data: bytes, number: int) -> Leased:
    return Leased(data=data, key="orders", id=bytes([number]), deadline_ms=0, now_us=0, read_us=0, text=b"")


def test_values_of_two_looks_at_a_time_are_let_past_each() -> None:
    """One fetcher follows the other, and both look for a moment."""
    admitting = Admitting(lambda handler: True)
    handlers = [declared(print, "orders", rate=Rate(1))]
    first = admitting.words(handlers, [(b"a", "a", True)], None)
    second = admitting.words(handlers, [(b"b", "b", True)], None)
    admitting.leased([leased(b"a", 1)], first.passed)
    admitting.leased([leased(b"b", 2)], second.passed)
    assert [admitting.admits(id) for id in ("01", "02", "03")] == [False, False, True]
    # Each is asked for once.
    assert admitting.admits("01")

"""A source whose values are seen before they are leased."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from redisson_dq.wire import calls
from redisson_dq.wire.calls import Admitted, LimitWords, Seen
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["PeekSource"]


@attrs.frozen(cache_hash=True)
class PeekSource(LeaseSource):
    """The first values of a list, which a look shows. :meth:`admit` leases those whose turn it is.

    A value that was seen stays where it is, so a caller who is gone holds up nothing.
    """

    def look(self, count: int) -> Request[list[Taken]]:
        if count < 1:
            return self.return_arrival()
        return self.peek(count).then(lambda found: [Taken(key=self.key, data=data) for data in found])

    def peek(self, count: int) -> Request[list[bytes]]:
        """The first so many values. They stay."""
        return attrs.evolve(calls.peek(self.lease_keys.queue, count), repeatable=True)

    def admit(self, count: int, limits: Sequence[LimitWords], seen: Sequence[Seen]) -> Request[Admitted]:
        """Leases at most so many of the values that were seen. Sent again, it gives the same leases."""
        request = calls.admit(
            self.lease_keys, self.envelope, self._nonce(), count, self.visible_ms, self.limit, limits, seen
        )
        return attrs.evolve(request.then(self._admitted), repeatable=True)

    def _admitted(self, admitted: Admitted) -> Admitted:
        self.warn_of_dead(admitted.buried)
        return admitted

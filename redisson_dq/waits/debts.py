"""The requests, and the look, that have to be sent again after a lost reply.

A command may have taken a value, and its reply may never come. So a debt is noted before the command is sent, and paid
when its reply has been read. When the connection breaks in between, the debt is left, and the next connection begins
with it. (A watched source holds the request that is under way in its ``commands``, and notes it when they fail.)

* A repeatable request owes itself. Sent again, it gives the same values.
* A blocking command that sets a value aside owes a look. Any look finds such a value, and one look pays for all. Where
  a repeatable request was sent together with the command, only the request is owed. It looks there first.

Requests come before the look, in the order in which they were lost. The debts belong to the source: a pump that takes
the place of another one goes on with them.
"""

from __future__ import annotations

from collections import deque

from redisson_dq.waits.line import Waiter
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Debts"]

_Asks = Request[list[Taken]]


class Debts:
    """All debts of one source. A caller leaves its own request without a mutex; only a task that sends pays."""

    def __init__(self) -> None:
        self.requests: list[_Asks] = []
        #: Whether a look is owed.
        self.look = False
        #: Callers that have left their request, and go on. :meth:`admit` notes them.
        self.left: deque[Waiter] = deque()

    def __bool__(self) -> bool:
        return bool(self.requests or self.look or self.left)

    @property
    def first(self) -> _Asks | None:
        """The request that is sent again next."""
        return self.requests[0] if self.requests else None

    @property
    def has_request(self) -> bool:
        """Whether a request has to be sent again."""
        return bool(self.left or self.requests)

    def leave_request(self, waiter: Waiter) -> None:
        """Leaves the request of a caller that does not wait for its reply any more.

        One step that no signal handler can split. The next choice of a command must :meth:`admit` it before.
        """
        waiter.is_leaving = True
        self.left.append(waiter)

    def admit(self) -> bool:
        """Notes the requests that callers have left. Under the mutex of the line. Returns whether anything is owed."""
        while self.left:
            waiter = self.left.popleft()
            if waiter.request is not None and not waiter.is_gone:
                # The request may be sent again only once, or two callers would have the values.
                waiter.is_gone, waiter.farewell = True, None
                self.owe(waiter.request)
        return bool(self.requests or self.look)

    def owe(self, request: _Asks) -> None:
        """Notes a request. One that is noted already is noted once."""
        if request not in self.requests:
            self.requests.append(request)

    def owe_first(self, request: _Asks) -> None:
        """Notes a request that was about to be paid. It comes before all others again."""
        if request not in self.requests:
            self.requests.insert(0, request)

    def paid(self, request: _Asks) -> None:
        """Notes that the reply to a request has come. Does nothing for a request that is not noted."""
        if request in self.requests:
            self.requests.remove(request)

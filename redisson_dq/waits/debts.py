"""Debts after a lost reply: a look, or one request that is sent again.

Theory of operation. A command may have taken a value, and its reply may never come. So a debt is noted before the
command is sent, and paid when its reply has been read. When the connection breaks in between, the debt is left. The
next connection begins with it.

* A blocking command of a source that sets values aside owes a look. Any look finds such a value.
* A repeatable request owes itself. Sent again, it gives the same values.
* Where a repeatable request was sent together with the blocking command, the request alone is owed. It looks first at
  the values that the blocking command has set aside.

One look pays for any number of looks. Each request pays for itself alone. Requests come first, in the order in which
they were lost.

The debts belong to the source. A pump that takes the place of another one goes on with them. A caller whose own request
has lost its reply may still see the pump of before, and leaves the request here all the same.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import attrs

from redisson_dq.scheduling.tables import TableEnum
from redisson_dq.waits.line import Waiter
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["LOOK", "NOTHING", "Debt", "Debts", "Owed", "repeat"]


class Owed(TableEnum):
    """What kind of debt it is."""

    NOTHING = "nothing"
    LOOK = "a look, which may find what a blocking command has set aside"
    REPEAT = "one request, which is sent again"


@attrs.frozen
class Debt:
    """One debt. ``request`` belongs to ``REPEAT``."""

    owed: Owed
    request: Request[list[Taken]] | None = None


NOTHING: Final = Debt(Owed.NOTHING)
LOOK: Final = Debt(Owed.LOOK)


def repeat(request: Request[list[Taken]]) -> Debt:
    """The debt of a repeatable request."""
    return Debt(Owed.REPEAT, request)


class Debts:
    """All debts of one source, in the order in which they are paid.

    A caller leaves its own request without a mutex. Only a task that sends commands for the source pays.
    """

    def __init__(self) -> None:
        self.all: list[Debt] = []
        # Callers that have left their request, and go on.
        self._left: deque[Waiter] = deque()

    def __bool__(self) -> bool:
        return bool(self.all or self._left)

    @property
    def first(self) -> Debt:
        """The debt that is paid next. Requests come before the look."""
        asked = next((debt for debt in self.all if debt.owed is Owed.REPEAT), None)
        return asked or (LOOK if self.all else NOTHING)

    @property
    def has_request(self) -> bool:
        """Whether a request has to be sent again."""
        return bool(self._left) or self.first.owed is Owed.REPEAT

    def leave_request(self, waiter: Waiter) -> None:
        """Leaves the request of a caller that does not wait for its reply any more.

        One step that no signal handler can split. The next choice of a command must :meth:`admit` it before.
        """
        waiter.is_leaving = True
        self._left.append(waiter)

    def admit(self) -> bool:
        """Notes the requests that callers have left. Under the mutex of the line. Gives whether anything is owed."""
        while self._left:
            waiter = self._left.popleft()
            if waiter.request is not None and not waiter.is_gone:
                # Only once may the request be sent again, or two callers would have the values.
                waiter.is_gone, waiter.farewell = True, None
                self.owe(repeat(waiter.request))
        return bool(self.all)

    def owe(self, debt: Debt) -> None:
        """Notes a debt. An equal one is noted once."""
        if debt is not NOTHING and debt not in self.all:
            self.all.append(debt)

    def owe_first(self, debt: Debt) -> None:
        """Notes a debt that was about to be paid. It comes before all others again."""
        if debt is not NOTHING and debt not in self.all:
            self.all.insert(0, debt)

    def paid(self, debt: Debt) -> None:
        """A reply has come. Does nothing for a debt that is not noted."""
        if debt in self.all:
            self.all.remove(debt)

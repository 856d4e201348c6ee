"""Debts after a lost reply: a look, or one request that is sent again.

Theory of operation. A command may have taken a value, and its reply may never come. So a debt is noted before the
command is sent, and paid when its reply has been read. When the connection breaks in between, the debt is left. The
next connection begins with it.

* A blocking command of a source that sets values aside owes a look. Any look finds such a value.
* A repeatable request owes itself. Sent again, it gives the same values.
* Where a repeatable request was sent together with the blocking command, the request alone is owed. It looks first at
  the values that the blocking command has set aside.

One look pays for any number of looks. Each request pays for itself alone. Requests come first, in the order in which
they were lost. A caller whose own request has lost its reply adds that request here.
"""

from __future__ import annotations

from typing import Final

import attrs

from redisson_dq._tables import TableEnum
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

    A caller adds the debt of its own request without a mutex. Only the task that sends the commands pays.
    """

    def __init__(self) -> None:
        self.all: list[Debt] = []

    def __bool__(self) -> bool:
        return bool(self.all)

    @property
    def first(self) -> Debt:
        """The debt that is paid next. Requests come before the look."""
        asked = next((debt for debt in self.all if debt.owed is Owed.REPEAT), None)
        return asked or (LOOK if self.all else NOTHING)

    @property
    def has_request(self) -> bool:
        """Whether a request has to be sent again."""
        return self.first.owed is Owed.REPEAT

    def owe(self, debt: Debt) -> None:
        """Notes a debt. An equal one is noted once."""
        if debt is not NOTHING and debt not in self.all:
            self.all.append(debt)

    def paid(self, debt: Debt) -> None:
        """A reply has come. Does nothing for a debt that is not noted."""
        if debt in self.all:
            self.all.remove(debt)

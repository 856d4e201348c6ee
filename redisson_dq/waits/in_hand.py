"""The values that a pumper carries from one action to the next."""

from __future__ import annotations

import math
from typing import Any, Final

import attrs

from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["EMPTY", "InHand"]


@attrs.frozen
class InHand:
    """One blocking command and its outcome, or a look's values, from one choice of the pumper to the next."""

    #: When the blocking command was sent, and after how many seconds the server ends it.
    sent_at: float = 0.0
    span: float = math.inf
    #: The request that was sent together with it.
    behind: Request[list[Taken]] | None = None
    #: Its reply, or Redis's error instead, and how long that took in seconds.
    reply: Any = None
    refusal: Exception | None = None
    took: float = 0.0
    #: Values that came, and that nobody has been given yet.
    taken: list[Taken] = attrs.field(factory=list)
    #: The error that ended an action; after the diagnosis our own error, or None when nothing is wrong.
    error: BaseException | None = None

    def answered(self, now: float, reply: Any = None, refusal: Exception | None = None) -> InHand:
        """The blocking command has been answered."""
        return InHand(self.sent_at, self.span, self.behind, reply, refusal, now - self.sent_at)

    def with_values(self, taken: list[Taken]) -> InHand:
        """These are the values in hand now. Without any nothing changes."""
        if not taken:
            return self
        return InHand(self.sent_at, self.span, self.behind, self.reply, self.refusal, self.took, taken)

    def failed(self, error: BaseException | None) -> InHand:
        """An action has failed. The values stay in hand."""
        return attrs.evolve(self, error=error)

    @property
    def is_aside(self) -> bool:
        """Whether the blocking command has set a value aside."""
        return self.reply is not None and not self.taken

    @property
    def is_refused(self) -> bool:
        """Whether Redis refused the blocking command, and nothing came behind it."""
        return self.refusal is not None and not self.taken


#: Nothing was sent, and nothing is in hand.
EMPTY: Final = InHand()

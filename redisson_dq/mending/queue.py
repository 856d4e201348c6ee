"""One queue for actions on its items: its parts, and operations that are sent again if a reply is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from redisson_dq.admin import Admin, AdminQueue

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["MendedQueue"]

# The pauses, in seconds, before an operation whose reply was lost is sent again.
_PAUSES = (0.1, 0.3, 1.0, 3.0)


class MendedQueue:
    """A queue by its name. Its partitions count as one queue.

    ``dead_letter`` names the queue that gets its dead letters, if it has no list of its own. ``away`` is called with
    the reason while Redis is away, and with an empty text when it answers again.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        *,
        partitions: int | None = None,
        dead_letter: str | None = None,
        away: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self.client = client
        self.name = name
        self.partitions = partitions
        self.dead_letter = dead_letter
        self.admin = Admin(client, pauses=_PAUSES, away=away)
        self.parts = tuple(self.admin.parts(name, partitions, dead_letter))

    @property
    def where(self) -> str:
        """The server, without a password."""
        return self.admin.where

    def part(self, name: str) -> AdminQueue | None:
        """The part with this name."""
        return next((each for each in self.parts if each.name == name), None)

    def now_ms(self) -> int:
        """The server's time."""
        return self.parts[0].time_ms()

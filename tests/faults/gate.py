"""The proxy of the kit, with a ledger: it knows the items that were lost with a connection.

Each pop that Redis may have carried out and whose reply the client never got is a :class:`LostReply`: with the items of
the reply if the gate has seen it, otherwise with the greatest possible number of items. The checker allows these losses
and no others.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from redisson_dq.testing.faults._commands import Command, Trap, Where
from redisson_dq.testing.faults._proxy import Proxy

__all__ = ["ITEM", "Gate", "LostReply", "Trap", "Where"]

#: Finds an item's name inside its value.
ITEM = re.compile(rb"item:[a-z]+[0-9a-z]*:[0-9]+")

_POPS = {b"BLPOP", b"BRPOP", b"LPOP", b"RPOP"}


@dataclass(frozen=True)
class LostReply:
    """A pop whose reply never reached its client. ``held`` are the items in it, or None if the gate has not seen it."""

    key: bytes
    most: int
    held: frozenset[str] | None
    ended_by: str
    at: float


class Gate(Proxy):
    """Forwards everything to the server at ``port()`` until a trap is set."""

    def __init__(self, port: Callable[[], int], *, delay: float = 0.0) -> None:
        self.lost: list[LostReply] = []
        super().__init__(port, delay=delay)

    def reply_lost(self, command: Command, reply: bytes | None, ended_by: str) -> None:
        # The reply to EXEC has what the pops of its transaction took, and their own replies have nothing.
        pops = [(key, most) for each in (command, *command.transaction) for key, most in (_pop(each),) if most]
        if command.is_queued or not pops:
            return
        held = None if reply is None else frozenset(each.decode() for each in ITEM.findall(reply))
        if held is None or held:
            self.lost.append(LostReply(pops[-1][0], sum(most for _, most in pops), held, ended_by, time.time()))


def _pop(command: Command) -> tuple[bytes, int]:
    """The key of a command that takes values, and how many it takes at most."""
    said = command.words
    if command.name not in _POPS:
        return b"", 0
    if command.name in (b"LPOP", b"RPOP"):
        return said[1], int(said[2]) if len(said) > 2 else 1
    return said[1], 1

"""The README's table under "What you can rely on", for each way to take, in a form that can be checked.

A kind of load names its rules. In a load that receives under leases, an item counts as taken when its ack was answered,
so it is taken once, as everywhere. Its deliveries are counted separately.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AT_ONCE", "BESIDE_JAVA", "LEASED", "WAITS", "Rules"]


@dataclass(frozen=True)
class Rules:
    """The allowed fates of an item whose offer was acknowledged."""

    row: str
    #: The items of a reply that never arrived may be lost.
    lost_with_reply: bool
    #: The items that a cancelled or interrupted call had popped may be lost.
    lost_with_cancel: bool
    #: A call that raises may have taken items. A call that waits has not.
    at_once: bool
    #: An item may be delivered more than once.
    twice: bool = False
    #: The items of a reply are lost when the client itself closed its connection.
    lost_with_drop: bool = False


WAITS = Rules("take, poll(timeout=), listeners", lost_with_reply=True, lost_with_cancel=False, at_once=False)
AT_ONCE = Rules("poll(), poll(limit), drain_to", lost_with_reply=True, lost_with_cancel=True, at_once=True)
LEASED = Rules("receive, ack, nack ...", lost_with_reply=False, lost_with_cancel=False, at_once=False)
# Redisson closes connections that have not answered for some seconds, and their items are lost.
BESIDE_JAVA = Rules("take() here, poll() in Java", True, lost_with_cancel=False, at_once=False, lost_with_drop=True)

"""What the table under "What you can rely on" of the README says of each way to take, in a form that can be checked.

A kind of load names its rules. Of a load that receives under leases an item counts as taken when its ack was answered,
so that it is taken once, as everywhere; how often it was delivered is counted beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AT_ONCE", "BESIDE_JAVA", "LEASED", "WAITS", "Rules"]


@dataclass(frozen=True)
class Rules:
    """What may become of an item that was offered and acknowledged."""

    row: str
    #: The items of a reply that never came are lost.
    lost_with_reply: bool
    #: So are the items that a cancelled or interrupted call had popped.
    lost_with_cancel: bool
    #: A call that raises may have taken items. A call that waits has not.
    at_once: bool
    #: An item may come more than once.
    twice: bool = False
    #: The items of a reply are lost when the client itself closed its connection.
    lost_with_drop: bool = False


WAITS = Rules("take, poll(timeout=), listeners", lost_with_reply=True, lost_with_cancel=False, at_once=False)
AT_ONCE = Rules("poll(), poll(limit), drain_to", lost_with_reply=True, lost_with_cancel=True, at_once=True)
LEASED = Rules("receive, ack, nack ...", lost_with_reply=False, lost_with_cancel=False, at_once=False)
# Redisson closes connections that have not answered for some seconds, and what they held is gone.
BESIDE_JAVA = Rules("take() here, poll() in Java", True, lost_with_cancel=False, at_once=False, lost_with_drop=True)

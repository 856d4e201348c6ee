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
    #: What a reply held that never came is gone.
    lost_with_reply: bool
    #: So is what a call had popped that was cancelled or interrupted.
    lost_with_cancel: bool
    #: A call that raises may have taken items; one that waits never has.
    at_once: bool
    #: An item may come more than once.
    twice: bool = False
    #: So is what a reply held whose connection the client closed by itself.
    lost_with_drop: bool = False


WAITS = Rules("take, poll(timeout=), listeners", lost_with_reply=True, lost_with_cancel=False, at_once=False)
AT_ONCE = Rules("poll(), poll(limit), drain_to", lost_with_reply=True, lost_with_cancel=True, at_once=True)
LEASED = Rules("receive, ack, nack ...", lost_with_reply=False, lost_with_cancel=False, at_once=False)
# Redisson closes connections that have not answered for some seconds, and what they held is gone.
BESIDE_JAVA = Rules("take() here, poll() in Java", True, lost_with_cancel=False, at_once=False, lost_with_drop=True)

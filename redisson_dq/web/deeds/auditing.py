"""The log of actions: the user, the action, how many items."""

from __future__ import annotations

from redisson_dq.web.deeds.kinds import OF_QUEUE, WebDeed
from redisson_dq.web.lines import audit, in_one_line
from redisson_dq.web.masks import Masks

__all__ = ["tell_begin", "tell_end"]


def tell_begin(deed: WebDeed, masks: Masks, user: str, verb: str) -> None:
    """Logs that a user begins to carry out or undo an action."""
    audit.info("%s begins to %s%s", in_one_line(user), verb, _in_words(deed, masks))


def tell_end(deed: WebDeed, masks: Masks, user: str, past: str, count: int) -> None:
    """Logs how many items were changed or restored."""
    audit.info(
        "%s: %s %d of %d: %s%s", in_one_line(user), past, count, deed.wanted, _in_words(deed, masks),
        f": failed: {in_one_line(deed.error)}" if deed.error else "",
    )  # fmt: skip


def _in_words(deed: WebDeed, masks: Masks) -> str:
    which = f"by filter {masks.filter(deed.filter)!r}" if deed.filter else "by ids" if deed.ids else "all"
    when = f" to {deed.when!r}" if deed.when else ""
    thing = f"{deed.wanted} {deed.state} items {which}"
    if deed.state == OF_QUEUE:
        thing = "one value" if deed.kind.name == "offer" else "the queue"
    return f"{deed.kind.name}{when} {thing} of {deed.queue!r}, action {deed.id}, from {in_one_line(deed.address)}"

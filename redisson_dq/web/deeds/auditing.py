"""The log of actions: the user, the action, how many items."""

from __future__ import annotations

from redisson_dq._log import Log
from redisson_dq.web.deeds.kinds import OF_QUEUE, WebDeed
from redisson_dq.web.masks import Masks

__all__ = ["audit", "in_one_line", "tell_begin", "tell_end"]

#: Has a line of each action: the user, the action, how many items.
audit = Log("redisson_dq.web.audit")
_LONGEST = 200


def in_one_line(text: str) -> str:
    """A text that cannot begin a line of its own in a log, or change the look of one. Hooks and proxies name users."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in shown)


def tell_begin(deed: WebDeed, masks: Masks, user: str, verb: str) -> None:
    """Notes that a user begins to carry an action out, or to take it back."""
    audit.info("%s begins to %s%s", in_one_line(user), verb, _in_words(deed, masks))


def tell_end(deed: WebDeed, masks: Masks, user: str, past: str, count: int) -> None:
    """Notes how many items were changed, or put back."""
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

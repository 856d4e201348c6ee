"""The log of actions, logins and refusals, and how texts of others are in its lines."""

from __future__ import annotations

import logging

__all__ = ["audit", "in_one_line"]

#: Has a line of each action: the user, the action, how many items.
audit = logging.getLogger("redisson_dq.web.audit")
_LONGEST = 200


def in_one_line(text: str) -> str:
    """A text that cannot begin a line of its own in a log, or change the look of one. Hooks and proxies name users."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in shown)

"""The log of actions, logins and refusals, and the escaping of foreign texts in its lines."""

from __future__ import annotations

import logging

__all__ = ["audit", "in_one_line"]

#: Has a line of each action: the user, the action, how many items.
audit = logging.getLogger("redisson_dq.web.audit")
_LONGEST = 200


def in_one_line(text: str) -> str:
    """A text that cannot start a new line in a log or change how a line looks. Hooks and proxies choose the names of
    users.
    """
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in shown)

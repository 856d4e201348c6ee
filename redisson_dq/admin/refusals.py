"""The reasons for which Redis refuses: programs for operators name the remedy for each."""

from __future__ import annotations

from redisson_dq._redis import passes, translate
from redisson_dq._redis.errors import (
    A_PROXY,
    A_SENTINEL,
    ONE_NODE,
    is_denied,
    is_login_refused,
    is_misnamed,
    lacks_rights,
    serves_nobody,
    was_closed,
    with_remedy,
)

__all__ = [
    "A_PROXY",
    "A_SENTINEL",
    "ONE_NODE",
    "is_denied",
    "is_login_refused",
    "is_misnamed",
    "lacks_rights",
    "passes",
    "serves_nobody",
    "translate",
    "was_closed",
    "with_remedy",
]

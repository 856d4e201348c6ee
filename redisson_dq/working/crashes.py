"""Values whose receivers died: when they are tried again, and when they are given up. Decisions without I/O."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any, Final

from redisson_dq.working.handlers import Handler

__all__ = ["DANGEROUS", "Crashed", "fault_of", "pause_apart", "waits_apart"]

#: For this many seconds after its handling began, a value with crashes may still kill the process.
DANGEROUS: Final = 30.0
# After this many crashes a value is tried on its own. Before that, it comes again after a pause.
_CRASHES: Final = 2
_APART: Final = 0.3


class Crashed(Exception):
    """A value was delivered too often to receivers that died, or hung, with it."""


def waits_apart(handlers: Iterable[Handler], crashes: int, *, is_one_tried: bool) -> bool:
    """Whether a value has to wait, as it was in a crash with others and one of those may kill the process again.

    Values that were in a crash together are tried one at a time in each process, so that none takes another one down.
    """
    limits = [each.crash_limit for each in handlers if each.crash_limit is not None]
    limit = min(limits, default=math.inf)
    return is_one_tried and max(1, min(_CRASHES, limit - 1)) <= crashes < limit


def pause_apart(place: int, chance: random.Random) -> float:
    """For how many seconds such a value waits, so that several come one by one."""
    return _APART * (1 + place + chance.random())


def fault_of(
    handler: Handler, value: Any, data: bytes, crashes: int, error: BaseException | None
) -> BaseException | None:
    """Why a value is not given to its handler's function any more. ``error`` is that of the choice of a handler."""
    if handler.crash_limit is not None and crashes >= handler.crash_limit:
        return Crashed(f"its receivers died or hung {crashes} times")
    if error is None and handler.admission is not None:
        return handler.admission.fault_of(value, data)
    return error

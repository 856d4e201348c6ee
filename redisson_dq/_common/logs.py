"""The loggers of the library: an error in the program's own filters or handlers ends no call.

A call may hold values that it has taken, and a background task may serve all callers. So neither may end because a
filter of the program raises. The error is shown as logging shows those of its own handlers.
"""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any

__all__ = ["LOGGERS", "guard_loggers"]

#: Every logger that the library uses.
LOGGERS = (
    "redisson_dq",
    "redisson_dq.embedded",
    "redisson_dq.leases",
    "redisson_dq.transfers",
    "redisson_dq.web.audit",
)


def guard_loggers() -> None:
    """Keeps the loggers of the library from raising. The package calls it once, when it is imported."""
    for name in LOGGERS:
        _guard(logging.getLogger(name))


def _guard(logger: logging.Logger) -> None:
    make, handle = logger.makeRecord, logger.handle

    def guarded_make(*arguments: Any, **named: Any) -> Any:
        try:
            return make(*arguments, **named)
        except Exception:
            _show_error()
            return None

    def guarded_handle(record: logging.LogRecord | None) -> None:
        try:
            if record is not None:
                handle(record)
        except Exception:
            _show_error()

    logger.makeRecord, logger.handle = guarded_make, guarded_handle  # type: ignore[method-assign]


def _show_error() -> None:
    """Shows the error that is being handled, unless the program has set ``logging.raiseExceptions`` to False."""
    if logging.raiseExceptions and sys.stderr is not None:
        traceback.print_exc()

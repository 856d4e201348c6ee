"""The library's way to the log: an error of the program's own filters and handlers reaches no call.

A call may hold values that it has taken, and a background task may serve all callers. So neither may end because a
filter of the program's raises. The error is shown as logging shows those of its own handlers.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Mapping
from typing import Any

__all__ = ["Log", "show_error_of_logging"]

# The method of Log and the one that it calls lie between the logging module and the place that is logged.
_HERE = 3


class Log:
    """A logger by its name. Its methods are those of :class:`logging.Logger`, and raise nothing."""

    def __init__(self, name: str = "redisson_dq") -> None:
        self._logger = logging.getLogger(name)
        #: Whether a line of a level would be logged, as logging is set up now. It is asked often, so it is no method.
        self.is_on = self._logger.isEnabledFor

    def debug(self, text: str, *arguments: object) -> None:
        if self._logger.isEnabledFor(logging.DEBUG):
            self._write(logging.DEBUG, text, arguments)

    def info(self, text: str, *arguments: object) -> None:
        if self._logger.isEnabledFor(logging.INFO):
            self._write(logging.INFO, text, arguments)

    def warning(self, text: str, *arguments: object, exc_info: Any = None) -> None:
        if self._logger.isEnabledFor(logging.WARNING):
            self._write(logging.WARNING, text, arguments, exc_info)

    def error(self, text: str, *arguments: object, exc_info: Any = None) -> None:
        if self._logger.isEnabledFor(logging.ERROR):
            self._write(logging.ERROR, text, arguments, exc_info)

    def exception(self, text: str, *arguments: object) -> None:
        """Logs an error with the traceback of the exception that is being handled."""
        if self._logger.isEnabledFor(logging.ERROR):
            self._write(logging.ERROR, text, arguments, True)

    def log(
        self,
        level: int,
        text: str,
        *arguments: object,
        exc_info: Any = None,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        if self._logger.isEnabledFor(level):
            self._write(level, text, arguments, exc_info, extra)

    def _write(
        self,
        level: int,
        text: str,
        arguments: tuple[object, ...],
        exc_info: Any = None,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        try:
            self._logger.log(level, text, *arguments, exc_info=exc_info, extra=extra, stacklevel=_HERE)
        except Exception:
            show_error_of_logging()


def show_error_of_logging() -> None:
    """Shows the error that is being handled, unless the program has told logging to hide errors."""
    if logging.raiseExceptions and sys.stderr is not None:
        traceback.print_exc()

"""The error that ends a command: on standard error for people, and with ``--json`` on standard output for programs."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import click

from redisson_dq.cli.frame._json import SCHEMA, show_json
from redisson_dq.cli.frame._output import say

if TYPE_CHECKING:
    from redisson_dq.cli.documents.common import FailureDocument

__all__ = ["Attempt", "abandon_output", "attempt"]


@attrs.define
class Attempt:
    """One run of the program: its arguments, and the data that a failure reports besides the error.

    ``queue`` is the queue that the command is for, ``remedy`` the line that helps after an error.
    """

    arguments: Sequence[str] = ()
    queue: str | None = None
    remedy: str | None = None

    def failed(self, error: Exception, code: int, message: str, text: str) -> int:
        """Prints the text on standard error. With ``--json`` the message also goes to standard output. Returns the
        code.
        """
        say(text, error=True, lines=True)
        if self._wants_json():
            self._show(error, code, message)
        return code

    def _wants_json(self) -> bool:
        # The arguments themselves may be wrong, so only they can be searched for --json. Words after -- are not
        # options.
        words = list(self.arguments)
        return "--json" in words[: words.index("--") if "--" in words else len(words)]

    def _show(self, error: Exception, code: int, message: str) -> None:
        told: FailureDocument = {
            "failure": {
                "exit_code": code,
                "error": "UsageError" if isinstance(error, click.ClickException) else type(error).__name__,
                "message": message,
                "queue": self.queue,
                "key": getattr(error, "key", None),
                "remedy": self.remedy,
            }
        }
        try:
            # On one line, as a continuous command prints its documents.
            show_json({"schema": SCHEMA, **told})
            sys.stdout.flush()
        except OSError:  # nobody reads it, or its disk is full
            abandon_output()


def abandon_output() -> None:
    """Discards standard output, so that flushing its last part cannot fail at the end of the process."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def attempt() -> Attempt | None:
    """The current run. None if a command was called without the program."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.find_object(Attempt)

"""The errors of ``generate-classes`` that are no error of its arguments."""

from __future__ import annotations

from redisson_dq.errors import ArgumentError

__all__ = ["UnreadableError"]


class UnreadableError(ArgumentError):
    """A jar, a class file or a module cannot be read, or contradicts itself."""

    #: The command line's exit code for data that cannot be read.
    exit_code = 65

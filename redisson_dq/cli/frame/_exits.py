"""The exit codes, and the one that belongs to an error."""

from __future__ import annotations

from redisson_dq import errors
from redisson_dq.errors import RedissonDQError

__all__ = ["DATA", "FINE", "NO_RIGHTS", "PROBLEM", "UNREACHABLE", "USAGE", "code_of"]

#: Success, also with warnings; a problem was found. The others are those of sysexits.h.
FINE, PROBLEM, USAGE, DATA, UNREACHABLE, NO_RIGHTS = 0, 1, 64, 65, 69, 77

# The first matching class decides.
_CODES: tuple[tuple[type[RedissonDQError], int], ...] = (
    (errors.RedisConnectionError, UNREACHABLE),
    (errors.WrongTypeError, DATA),
    (errors.CodecError, DATA),
    (errors.EnvelopeError, DATA),
    (errors.ArgumentError, USAGE),
)


def code_of(error: RedissonDQError) -> int:
    """The exit code for an error that ends a command. An attribute ``exit_code`` of the error takes precedence."""
    own = getattr(error, "exit_code", None)
    if isinstance(own, int):
        return own
    if isinstance(error, (errors.RedisReplyError, errors.RedisConnectionError)):
        from redisson_dq.admin.refusals import is_misnamed, lacks_rights, serves_nobody

        if is_misnamed(error):
            return USAGE
        if lacks_rights(error):
            return NO_RIGHTS
        if serves_nobody(error):
            return UNREACHABLE
    return next((code for kind, code in _CODES if isinstance(error, kind)), PROBLEM)

"""Lines on standard error for work that ended by an error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from redisson_dq.cli.frame._output import say

__all__ = ["hint_on_error", "tell_outage"]


def tell_outage(reason: str) -> None:
    """Says on standard error why Redis did not do a request that is sent again. An empty text says nothing."""
    if reason:
        say(f"{reason}; it is asked again", error=True)


@contextlib.contextmanager
def hint_on_error(hint: Callable[[], str], *, but_not: type[BaseException] | tuple[()] = ()) -> Iterator[None]:
    """Prints a hint where the block ends by an error, such as the command that goes on or takes back.

    An error ``but_not`` says itself how to go on. The error goes on. A standard error that cannot be written to hides
    it from nobody.
    """
    try:
        yield
    except but_not:
        raise
    except BaseException:
        with contextlib.suppress(OSError):
            say(hint(), error=True)
        raise

"""The question before a command writes: how many first, then whether."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import attrs
import click

from redisson_dq.cli.frame._output import say
from redisson_dq.cli.frame._types import BoundedNumber

__all__ = ["Consent", "write_options"]

_F = TypeVar("_F", bound=Callable[..., Any])


@attrs.frozen(kw_only=True)
class Consent:
    """The consent of the user, by ``--dry-run``, ``--yes`` and ``--rate``."""

    dry_run: bool
    yes: bool
    #: At most this many items a second; None: no limit.
    rate: float | None = None

    def given(self, deed: str, count: int | None = None) -> bool:
        """Prints the pending action on standard error, such as ``"cancel 12 items of orders"``. Returns whether to do
        it.

        ``count`` is how many things it changes; if it is 0, nothing is asked or done. At a terminal the user is asked.
        Raises click.UsageError if there is neither ``--yes`` nor a terminal.
        """
        say(f"{deed}{'' if count != 0 else ': nothing to do'}", error=True)
        if count == 0:
            return False
        if self.dry_run:
            say("--dry-run: nothing was changed", error=True)
            return False
        if self.yes:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise click.UsageError("nothing was changed: without a terminal, this needs --yes")
        if _agrees():
            return True
        say("nothing was changed", error=True)
        return False


def _agrees() -> bool:
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def write_options(*, rate: bool = False) -> Callable[[_F], _F]:
    """``--dry-run`` and ``--yes``, with ``rate=True`` also ``--rate``: the function gets them as ``consent``."""

    def decorate(function: _F) -> _F:
        @functools.wraps(function)
        def with_consent(*args: Any, dry_run: bool, yes: bool, rate: float | None = None, **rest: Any) -> Any:
            return function(*args, consent=Consent(dry_run=dry_run, yes=yes, rate=rate), **rest)

        made: Any = with_consent
        if rate:
            kind = BoundedNumber(float, 0.001, what="a number of items a second")
            made = click.option("--rate", metavar="N", type=kind, help="At most N items a second.")(made)
        made = click.option("--yes", is_flag=True, help="Ask nothing.")(made)
        made = click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")(made)
        return cast(_F, made)

    return decorate

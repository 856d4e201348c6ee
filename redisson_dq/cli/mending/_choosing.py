"""The options by which items are chosen: ids, ``--filter`` or ``--all``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
import click

from redisson_dq.cli.frame import BoundedNumber

if TYPE_CHECKING:
    from redisson_dq import Client
    from redisson_dq.mending import ItemRow, MendedQueue

__all__ = ["Choice", "choice_options", "mended", "partitions_option"]

_F = TypeVar("_F", bound=Callable[..., Any])


@attrs.frozen(kw_only=True)
class Choice:
    """Which items of a queue a command is for: those with some ids, those that a filter picks, or all."""

    ids: tuple[str, ...]
    filter: str | None

    def wanted(self) -> Callable[[ItemRow], bool] | None:
        """The rows that are chosen, or None for all."""
        if self.ids:
            ids = frozenset(self.ids)
            return lambda row: row.has_id(ids)
        return None


def choice_options(function: _F) -> _F:
    """``ID...``, ``--filter`` and ``--all``, of which one is given: the function gets them as ``choice``."""

    @functools.wraps(function)
    def with_choice(*args: Any, ids: tuple[str, ...], all_items: bool, **rest: Any) -> Any:
        if bool(ids) + all_items != 1:
            raise click.UsageError("say which items: one or more ids, or --all")
        return function(*args, choice=Choice(ids=ids, filter=None), **rest)

    made: Any = click.option("--all", "all_items", is_flag=True, help="All of them.")(with_choice)
    return cast(_F, click.argument("ids", metavar="[ID]...", nargs=-1)(made))


def partitions_option(function: _F) -> _F:
    """``--partitions``, for a queue whose partitions are not found by their keys."""
    kind = BoundedNumber(int, 1, 1024, "a number of partitions")
    text = "How many partitions the queue has, where its keys do not tell."
    return click.option("--partitions", metavar="N", type=kind, help=text)(function)


def mended(client: Client, name: str, partitions: int | None, dead_letter: str | None = None) -> MendedQueue:
    """The queue, and its partitions as one."""
    from redisson_dq.mending import MendedQueue, found_partitions

    if partitions is None:
        partitions = found_partitions(client, name)
    return MendedQueue(client, name, partitions=partitions, dead_letter=dead_letter)

"""The options that select items: ids, ``--filter`` or ``--all``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
import click

from redisson_dq.cli.frame import found_partitions, tell_outage
from redisson_dq.cli.looking._values import ValueChoice, value_options

if TYPE_CHECKING:
    from redisson_dq import Client
    from redisson_dq.browsing import SeenItem
    from redisson_dq.mending import IdProblem, MendedQueue

__all__ = ["Choice", "choice_options", "mended"]

_F = TypeVar("_F", bound=Callable[..., Any])


@attrs.frozen(kw_only=True)
class Choice:
    """The items of a queue that a command acts on: those with some ids, those that match a filter, or all."""

    ids: tuple[str, ...]
    filter: str | None
    values: ValueChoice

    def wanted(self) -> Callable[[SeenItem], bool] | None:
        """The filter for rows, or None for all rows.

        Raises FilterError, ArgumentError for the codec, and click.UsageError for classes that cannot be loaded.
        """
        if self.filter is None:
            return None
        from redisson_dq.browsing import Filter
        from redisson_dq.mending import filtered

        return filtered(Filter(self.filter), self.values.reader())

    def unknown(self, met: Collection[str], text: str) -> list[IdProblem]:
        """A problem with this text for each id that is in none of the rows."""
        from redisson_dq.mending import IdProblem

        return [IdProblem(id=id, state="unknown", text=text) for id in dict.fromkeys(self.ids) if id not in met]


def choice_options(function: _F) -> _F:
    """``ID...``, ``--filter`` and ``--all``, of which exactly one is given: the function gets them as ``choice``.

    ``--codec`` and ``--classes`` say how the filter reads values.
    """

    @functools.wraps(function)
    def with_choice(
        *args: Any, ids: tuple[str, ...], filter: str | None, values: ValueChoice, all_items: bool, **rest: Any
    ) -> Any:
        if bool(ids) + (filter is not None) + all_items != 1:
            raise click.UsageError("choose items: one or more ids, --filter, or --all")
        return function(*args, choice=Choice(ids=ids, filter=filter, values=values), **rest)

    made: Any = value_options(with_choice)
    made = click.option("--all", "all_items", is_flag=True, help="All of them.")(made)
    text = "Choose the items that match, such as 'order.id = 42 and late > 5m'."
    made = click.option("--filter", metavar="TEXT", help=text)(made)
    return cast(_F, click.argument("ids", metavar="[ID]...", nargs=-1)(made))


def mended(client: Client, name: str, partitions: int | None, dead_letter: str | None = None) -> MendedQueue:
    """The queue, with its partitions as one queue."""
    from redisson_dq.mending import MendedQueue

    count = found_partitions(client, name, partitions)
    return MendedQueue(client, name, partitions=count, dead_letter=dead_letter, away=tell_outage)

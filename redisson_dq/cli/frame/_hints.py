"""Hints on standard error: after work that ended with an error, and about a server that shows only a part."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from redisson_dq.cli.frame._failures import attempt
from redisson_dq.cli.frame._output import say
from redisson_dq.errors import RedisConnectionError

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["hint_on_error", "refuse_part_of_cluster", "tell_outage", "tell_part_of_cluster"]


def tell_outage(reason: str) -> None:
    """Prints on standard error why a request to Redis failed and is sent again. An empty text prints nothing."""
    if reason:
        say(f"{reason}; asking again", error=True)


@contextlib.contextmanager
def hint_on_error(hint: Callable[[], str], *, but_not: type[BaseException] | tuple[()] = ()) -> Iterator[None]:
    """Prints a hint if the block raises, such as the command that continues or undoes the work.

    An error ``but_not`` contains the hint itself. The error is raised again. It is not hidden if standard error cannot
    be written to.
    """
    try:
        yield
    except but_not:
        raise
    except BaseException:
        line = hint()
        if (run := attempt()) is not None:
            run.remedy = line
        with contextlib.suppress(OSError):
            say(line, error=True)
        raise


def tell_part_of_cluster(client: Client, *, may_be_away: bool = False) -> None:
    """Prints a warning on standard error if the server is one node of a cluster.

    Raises RedisConnectionError, unless the server ``may_be_away``.
    """
    from redisson_dq.browsing import cluster_url

    try:
        url = cluster_url(client)
    except RedisConnectionError:
        if not may_be_away:
            raise
        return
    if url is not None:
        from redisson_dq.admin import Admin

        node = Admin(client).where
        say(
            f"{node} is one node of a cluster, and shows only its own queues: --url {url} shows all of them", error=True
        )


def refuse_part_of_cluster(client: Client) -> None:
    """Raises click.UsageError if the server is one node of a cluster, and RedisConnectionError if it is away."""
    from redisson_dq.browsing import cluster_url

    url = cluster_url(client)
    if url is not None:
        from redisson_dq.admin import Admin

        node = Admin(client).where
        raise click.UsageError(f"{node} is one node of a cluster: name it as {url}; nothing was changed")

"""Lines on standard error: of work that ended by an error, and of a server that shows a part."""

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
    """Says on standard error why Redis did not do a request that is sent again. An empty text says nothing."""
    if reason:
        say(f"{reason}; asking again", error=True)


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
        line = hint()
        if (run := attempt()) is not None:
            run.remedy = line
        with contextlib.suppress(OSError):
            say(line, error=True)
        raise


def tell_part_of_cluster(client: Client, *, may_be_away: bool = False) -> None:
    """Says on standard error that the server is one node of a cluster, where it is.

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
    """Raises click.UsageError where the server is one node of a cluster, and RedisConnectionError where it is away."""
    from redisson_dq.browsing import cluster_url

    url = cluster_url(client)
    if url is not None:
        from redisson_dq.admin import Admin

        node = Admin(client).where
        raise click.UsageError(f"{node} is one node of a cluster: name it as {url}; nothing was changed")

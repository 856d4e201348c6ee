"""Options and arguments that commands share."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import attrs
import click

from redisson_dq._operations.shell import NamedServer, command_line, named_server
from redisson_dq.cli.frame._failures import attempt
from redisson_dq.cli.frame._output import Output, say
from redisson_dq.cli.frame._types import SECONDS, BoundedNumber

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = [
    "Server",
    "allow_host_option",
    "dead_letter_option",
    "found_partitions",
    "json_option",
    "other_server_option",
    "partitions_option",
    "queue_argument",
    "queues_argument",
    "server_choice",
    "server_options",
]

_F = TypeVar("_F", bound=Callable[..., Any])


class _Decorator(Protocol):
    def __call__(self, function: _F, /) -> _F: ...


_VARIABLE = "REDISSON_DQ_URL"
_WITHOUT_PASSWORD = (
    f"the commands above name no server, as its URL has a password: set the environment variable {_VARIABLE} to the URL"
)


@attrs.frozen(kw_only=True)
class Server:
    """The server that a command is about."""

    url: str | None = attrs.field(repr=False)
    redisson_config: str | None
    #: How long a reply of Redis may take, in seconds. None uses the setting of the URL or the file.
    timeout: float | None

    @contextlib.contextmanager
    def client(self, **options: Any) -> Iterator[Client]:
        """A client, which is closed at the end. Nothing is sent before the first call, and nothing runs in the
        background.

        ``options`` are those of :func:`redisson_dq.connect`. Raises click.UsageError when no server is named.
        """
        client = self.opened(**options)
        try:
            yield client
        finally:
            client.close()

    def opened(self, **options: Any) -> Client:
        """A client that the caller closes. Otherwise like :meth:`client`."""
        if self.url is None and self.redisson_config is None and not os.environ.get(_VARIABLE):
            raise click.UsageError(
                "name a server: --url redis://localhost:6379/0, --redisson-config FILE, or the environment variable "
                f"{_VARIABLE}"
            )
        from redisson_dq.admin import Admin
        from redisson_dq.admin.names import unopened
        from redisson_dq.cli.frame._raw_values import RawValues

        if self.timeout is not None:
            options = {"socket_timeout": self.timeout, "socket_connect_timeout": self.timeout, **options}
        # Loading the codec of an ordinary client takes longer than the reply of Redis.
        client = unopened(self.url, {"redisson_config": self.redisson_config, "codec": RawValues(), **options})
        Admin(client).looks_only()
        return client


def server_choice(url_help: str = f"The server (default: environment variable {_VARIABLE}).") -> _Decorator:
    """``--url`` and ``--redisson-config``, which the function gets as ``url`` and ``redisson_config``."""

    def decorate(function: _F) -> _F:
        @functools.wraps(function)
        def checked(*args: Any, url: str | None, redisson_config: str | None, **rest: Any) -> Any:
            if url is not None and redisson_config is not None:
                raise click.UsageError("--url and --redisson-config both name a server: give one of them")
            with named_server(NamedServer.of(url, redisson_config)) as named:
                try:
                    return function(*args, url=url, redisson_config=redisson_config, **rest)
                finally:
                    if named.left_out:
                        say(_WITHOUT_PASSWORD, error=True)

        config_help = "Use the server in this YAML or JSON file of Redisson's settings."
        made = click.option("--redisson-config", metavar="FILE", help=config_help)(checked)
        return cast(_F, click.option("--url", metavar="URL", help=url_help)(made))

    return decorate


def allow_host_option(function: _F) -> _F:
    """``--allow-host`` of the ports of a command, which the function gets as ``hosts``."""
    help = "A host name with dots that clients use, or * for any."
    return click.option("--allow-host", "hosts", metavar="NAME", multiple=True, help=help)(function)


def server_options(function: _F) -> _F:
    """``--url``, ``--redisson-config`` and ``--timeout``, which the function gets as ``server``."""

    @functools.wraps(function)
    def with_server(
        *args: Any, url: str | None, redisson_config: str | None, timeout: float | None, **rest: Any
    ) -> Any:
        return function(*args, server=Server(url=url, redisson_config=redisson_config, timeout=timeout), **rest)

    timeout = click.option("--timeout", metavar="S", type=SECONDS, help="How long a reply of Redis may take (10).")
    return cast(_F, server_choice()(timeout(with_server)))


def json_option(function: _F) -> _F:
    """``--json``, which makes the ``output`` that the function gets."""

    @functools.wraps(function)
    def with_output(*args: Any, as_json: bool, **rest: Any) -> Any:
        queues = (rest["queue"],) if "queue" in rest else rest.get("queues", ())
        if len(queues) == 1 and (run := attempt()) is not None:
            run.queue = queues[0]
        return function(*args, output=Output(as_json), **rest)

    made = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(with_output)
    return cast(_F, made)


def other_server_option(text: str) -> _Decorator:
    """``--allow-other-server``, for a file with data of another server."""
    return click.option("--allow-other-server", is_flag=True, help=text)


def queue_argument(function: _F) -> _F:
    """One queue: the function gets its name as ``queue``."""
    return click.argument("queue", metavar="QUEUE")(function)


def queues_argument(*, required: bool = True) -> _Decorator:
    """Any number of queues: the function gets their names as the tuple ``queues``."""
    return click.argument("queues", metavar="QUEUE...", nargs=-1, required=required)


def partitions_option(function: _F) -> _F:
    """``--partitions``, which the function gets as ``partitions``."""
    kind = BoundedNumber(int, 1, 1024, "a number of partitions")
    text = "QUEUE has N partitions (default: detected if it has no keys of its own)."
    return click.option("--partitions", metavar="N", type=kind, help=text)(function)


def dead_letter_option(function: _F) -> _F:
    """``--dead-letter``, which the function gets as ``dead_letter``."""
    text = "The queue that gets its dead letters (default: its own list)."
    return click.option("--dead-letter", metavar="NAME", help=text)(function)


def found_partitions(client: Client, queue: str, partitions: int | None, *, may_be_missing: bool = False) -> int | None:
    """The given number of partitions, or the number found from the keys in Redis.

    A queue without any key in Redis is reported on standard error, unless the command creates the queue, waits for it
    or reports that itself: ``may_be_missing``.
    """
    from redisson_dq.browsing import exists, partitions_of

    count = partitions_of(client, queue) if partitions is None else partitions
    if not may_be_missing and not exists(client, queue, count):
        others = command_line("queues")
        say(f"{queue}: it has no keys in Redis; these queues have some: {others}", error=True)
    return count

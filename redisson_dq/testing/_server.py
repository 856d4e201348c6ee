"""The server of a run of tests, and a database of it for each process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import attrs
import redis
from redis.connection import parse_url

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisConnectionError
from redisson_dq.testing._claim import check_url, claim, empty, reaching
from redisson_dq.testing._entered import entered
from redisson_dq.testing._scripts import MARK_KEY

__all__ = ["ServerOfTests", "server_of_tests"]


@attrs.frozen
class ServerOfTests:
    """A Redis that is only used by tests, and the database of this process."""

    url: str
    #: A plain client in the database of this process.
    admin: redis.Redis = attrs.field(repr=False)
    #: The program, if it was started here.
    embedded: EmbeddedServer | None = attrs.field(default=None, repr=False)

    def empty(self) -> None:
        """Removes everything that tests have made in this database. Other databases stay unchanged."""
        empty(self.admin)


@entered
@contextlib.contextmanager
def server_of_tests(url: str | None = None, number: int = 0) -> Iterator[ServerOfTests]:
    """The server at a URL, in the database ``number`` after that of the URL; without one, a server that is started.

    Raises NotForTestsError for a server with other data, ArgumentError for a URL that names no single server.
    """
    if url is not None:
        check_url(url)
    with contextlib.ExitStack() as stack:
        embedded = stack.enter_context(EmbeddedServer()) if url is None else None
        url = _in_database(url or "", number) if embedded is None else embedded.url
        admin = stack.enter_context(redis.Redis.from_url(url, protocol=2, decode_responses=True))
        with reaching(url):
            try:
                claim(admin, url)
            except redis.ResponseError as error:
                if "DB index" not in str(error):
                    raise
                raise RedisConnectionError(
                    f"each process of pytest-xdist uses a database of its own: {error}; start the server with "
                    "--databases 64, or use fewer processes"
                ) from error
            empty(admin)
        stack.callback(admin.delete, MARK_KEY)
        stack.callback(empty, admin)
        yield ServerOfTests(url, admin, embedded=embedded)


def _in_database(url: str, number: int) -> str:
    if not number:
        return url
    place, _, options = url.partition("?")
    others = [each for each in options.split("&") if each and not each.startswith("db=")]
    first = parse_url(url).get("db") or 0
    # redis-py uses this option, whatever follows the host in the URL.
    return f"{place}?{'&'.join([*others, f'db={first + number}'])}"

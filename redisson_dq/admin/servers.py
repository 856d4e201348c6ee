"""The servers of a client, as programs for operators use them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import redis.exceptions

from redisson_dq._redis import where
from redisson_dq._redis.errors import is_passing
from redisson_dq._sync.connecting.asking import answers, timed
from redisson_dq.errors import RedisConnectionError
from redisson_dq.wire import calls, commands
from redisson_dq.wire.keys import NameMapper
from redisson_dq.wire.request import Request

if TYPE_CHECKING:
    from redisson_dq import Client
    from redisson_dq._sync.connecting.dedicated import Dedicated
    from redisson_dq.scheduling.clock import Clock

__all__ = ["KeyCommand", "Node", "CommandProbe", "AdminServers"]

T = TypeVar("T")


@attrs.frozen
class Node:
    """A master of the client's servers: its host and port, and its pool of connections."""

    name: str
    pool: Any = attrs.field(repr=False)


@attrs.frozen
class KeyCommand:
    """A command on a key: the key, its type (empty for any), and the words without the key."""

    key: str
    kind: str
    words: tuple[Any, ...]

    @property
    def request(self) -> Request[Any]:
        """The words of the command, as they are sent."""
        name, *others = self.words
        return Request(words=(name, self.key, *others), types={self.key: self.kind}, parse=_as_is)


class AdminServers:
    """The servers of a client: one, or the masters of a cluster. :class:`Admin` has their queues too.

    ``pauses``: an operation whose reply was lost is sent again after each of these pauses, in seconds. Operations that
    change something take a nonce or the state they expect, so they are done only once. ``away`` is called with the
    reason while Redis is away, and with an empty text when it answers again.
    """

    def __init__(
        self, client: Client, *, pauses: Sequence[float] = (), away: Callable[[str], None] = lambda reason: None
    ) -> None:
        self.client = client
        self._connections = client.runtime.connections
        self._options = client.runtime.options
        self._pauses = pauses
        self._away, self._is_away = away, False

    # -- the client --------------------------------------------------------------------------------------------------

    @property
    def where(self) -> str:
        """The URL of the servers, without a password."""
        return str(self._connections.where)

    @property
    def is_cluster(self) -> bool:
        """Whether its queues are spread over the nodes of a cluster."""
        return bool(self._connections.is_cluster)

    @property
    def database(self) -> int:
        """The number of the database."""
        return self._connections.database

    @property
    def id(self) -> str:
        """The id of the client, as used in the names of its connections."""
        return self._connections.client

    @property
    def clock(self) -> Clock:
        """The client's clock."""
        return self._connections.clock

    @property
    def name_mapper(self) -> NameMapper | None:
        """``name_mapper=`` of the client."""
        return self._options.name_mapper

    @property
    def writes_legacy(self) -> bool:
        """Whether the client writes entries in the legacy form: ``envelope="legacy"``."""
        return self._options.envelope == "legacy"

    @property
    def remember_ms(self) -> int:
        """For how many ms outcomes of items are remembered: ``remember=``."""
        return self._options.remember_ms

    def looks_only(self) -> None:
        """From now on calls read-only scripts in the way that is allowed to a user without write permission."""
        self._connections.only_looks = True

    # -- nodes and commands ------------------------------------------------------------------------------------------

    def nodes(self) -> list[Node]:
        """The masters."""
        return [Node(where(pool), pool) for pool in self._connections.masters()]

    def command(self, *words: str | int, node: Node | None = None) -> Any:
        """The reply to a command that has no key, from one node."""
        return self.run(Request(words=words, types={"": ""}, parse=_as_is), node)

    def command_on(self, key: str, command: str, *words: str | int) -> Any:
        """The reply to a command about a key, from the node that has it: ``command_on(key, "TTL")``."""
        return self.run(KeyCommand(key, "", (command, *words)).request)

    def commands_on(self, asked: Sequence[KeyCommand]) -> list[Any]:
        """The replies to commands on keys, in one round trip. Raises the first error."""
        return self.run_together([each.request for each in asked])

    def time_us(self) -> int:
        """The time of a server, in epoch us."""
        return self.run(commands.server_time_us(""))

    def timed_us(self, node: Node) -> tuple[int, int]:
        """The time of a server, and how many us its reply took."""
        return timed(self._connections, commands.server_time_us(""), node.pool)

    def missing_rights(self, asked: Sequence[tuple[str, Iterable[str]]], node: Node | None = None) -> list[list[str]]:
        """For each key, the commands that the user may not send for it. From Redis 7.0 on; no refusal is logged.

        An empty key stands for no queue; ``node`` says which node to ask.
        """
        requests = [calls.missing_rights([key] if key else [], list(dict.fromkeys(words))) for key, words in asked]
        if node is None or (self.is_cluster and all(key for key, _ in asked)):
            # In a cluster, the node of the key answers for all nodes.
            return answers(self._connections, requests)
        return [self.run(request, node) for request in requests]

    def unknown_commands(self, key: str, names: list[str], node: Node) -> list[str]:
        """The commands that a node does not know in scripts."""
        return self.run(calls.unknown_commands([key], names), node)

    def probe(self, node: Node) -> CommandProbe:
        """A separate connection to a node, on which single commands are tried."""
        return CommandProbe(lambda: self._connections.dedicated_at(node.pool, "doctor", ""))

    # -- sending -----------------------------------------------------------------------------------------------------

    def run_together(self, requests: list[Request[Any]]) -> list[Any]:
        replies = self._connections.run_many(requests) if requests else []
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    def run(self, request: Request[T], node: Node | None = None) -> T:
        for pause in self._pauses:
            try:
                found = self._connections.run(request, node=None if node is None else node.pool)
            except RedisConnectionError as error:
                self._is_away = True
                self._away(str(error))
                self.clock.sleep(pause)
            else:
                if self._is_away:
                    self._is_away = False
                    self._away("")
                return found
        return self._connections.run(request, node=None if node is None else node.pool)


class CommandProbe:
    """A separate connection. Some proxies close it at an unknown command; the next command then gets a new one."""

    def __init__(self, connect: Callable[[], Dedicated]) -> None:
        self._connect = connect
        self._line: Dedicated | None = None

    def error_of(self, *words: str) -> Exception | None:
        """The error with which a command is refused, or at which the connection broke. None if it was carried out.

        A node that redirects the command to another node knows it. Raises redis.exceptions.TimeoutError.
        """
        line = self._line
        try:
            # After a refusal by a replica, or for lack of replicas, the next command gets a new connection.
            if line is None or line.is_over:
                self.close()
                line = self._line = self._connect()
                line.connect()
            line.send(*words)
            line.read()
        except redis.exceptions.ResponseError as error:
            return None if is_passing(error) else error
        except redis.exceptions.TimeoutError:
            raise
        except (redis.exceptions.RedisError, OSError) as error:
            self.close()
            return error
        if words[0] in ("MULTI", "SUBSCRIBE"):
            self.close()
        return None

    @contextlib.contextmanager
    def closing(self) -> Iterator[CommandProbe]:
        """Closes the connection at the end of the block."""
        try:
            yield self
        finally:
            self.close()

    def close(self) -> None:
        """Closes the connection."""
        line, self._line = self._line, None
        if line is not None:
            line.close()


def _as_is(reply: Any) -> Any:
    return reply

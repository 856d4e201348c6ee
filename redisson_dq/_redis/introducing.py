"""The names that connections give themselves, so that ``CLIENT LIST`` shows their client and their purpose.

A connection is named ``redisson-dq/<version>/<client>@<host>:<pid>/<role>/<queue>``. A name that the user gave is put
before it. The first eight digits of the client begin the ids of its leases.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError

from redisson_dq._redis.errors import is_passing, was_closed
from redisson_dq._version import __version__

__all__ = ["COMMANDS", "Introduction", "async_introduce", "introduce", "name_of_client", "own_leases", "own_process"]

logger = logging.getLogger("redisson_dq")

_LIBRARY = "redisson-dq"
#: The role of a connection of the pool.
COMMANDS = "commands"

# How many characters of a user's name and of a queue's name are included.
_LONGEST_PART = 80
# redis-py's words about itself, where the user has said nothing.
_DRIVER = "redis-py"
# The characters that stay as they are. Redis refuses blanks, and "/" is between the parts.
_PLAIN = "{}:.-_~@+,=()[]#"


# The beginning of the names of this process's clients, where somebody has chosen one.
_owner = b""


def own_process(owner: bytes) -> None:
    """Lets the names of all clients that are made from now on begin with these four bytes."""
    global _owner
    _owner = owner


# By the names of clients: "+" and the beginning of the ids of their leases, where these are not those of the client.
_owners: dict[str, str] = {}


def own_leases(client: str, owner: bytes) -> None:
    """Makes the connections that a client opens from now on report this owner as the owner of its leases."""
    if owner and not client.startswith(owner.hex()):
        _owners[client] = f"+{owner.hex()}"


def name_of_client() -> str:
    """A name for a new client: 16 hex digits, by which the server and the scripts distinguish it from others."""
    return (_owner + secrets.token_bytes(8))[:8].hex()


class Introduction:
    """The names of one pool's connections. A command that the server has refused is not sent again."""

    def __init__(self, settings: Mapping[str, Any], client: str) -> None:
        """``settings`` are those of the user's pool, ``client`` is the name by which scripts distinguish clients."""
        theirs = settings.get("client_name")
        self._before = f"{_told(str(theirs))}/" if theirs else ""
        self._client = client
        #: Whether our library is named instead of redis-py.
        self.names_library = _says_nothing_of_a_driver(settings)
        # Another thread may note a refusal meanwhile. It is the same one.
        self._refused: set[str] = set()
        #: Whether the server has ever replied to such a command.
        self.was_heard = False
        #: Whether the server closes a connection at a command that it does not know.
        self.is_cut = False

    def words(self, role: str, queue: str) -> dict[str, tuple[str, ...]]:
        """The commands to send when a connection has been made, by their purpose."""
        where = f"{self._client}{_owners.get(self._client, '')}@{_told(socket.gethostname())}:{os.getpid()}"
        name = f"{self._before}{_LIBRARY}/{_told(__version__)}/{where}/{role}"
        if queue:
            name += f"/{_told(queue)}"
        told: dict[str, tuple[str, ...]] = {"name": ("CLIENT", "SETNAME", name)}
        if self.names_library:
            told["library"] = ("CLIENT", "SETINFO", "LIB-NAME", _LIBRARY)
            told["version"] = ("CLIENT", "SETINFO", "LIB-VER", _told(__version__))
        return {what: words for what, words in told.items() if what not in self._refused}

    def note(self, what: str, error: ResponseError) -> None:
        """Notes that the server does not know a command, or that the user has no right to it."""
        if not is_passing(error):
            self._refused.add(what)

    def may_be_unwanted(self, error: Exception) -> bool:
        """Whether a connection may have been closed because of these commands, as twemproxy does."""
        return not self.was_heard and not self._refused and isinstance(error, Disconnected) and was_closed(error)

    def go_without(self) -> None:
        """Sends none of these commands any more."""
        logger.warning("the server closes a connection at CLIENT SETNAME: the connections of this client have no names")
        self._refused.update(("name", "library", "version"))
        self.is_cut = True


def _told(text: str) -> str:
    """A text as a part of a name, in printable characters without blanks. A long one ends with ``~``."""
    quoted = quote(text, safe=_PLAIN, errors="replace")
    if len(quoted) <= _LONGEST_PART:
        return quoted
    return re.sub(r"%.?$", "", quoted[: _LONGEST_PART - 1]) + "~"


def _says_nothing_of_a_driver(settings: Mapping[str, Any]) -> bool:
    if "lib_name" in settings or "lib_version" in settings:
        return False
    if "driver_info" not in settings:
        return True
    # redis-py's own clients fill it in.
    info = settings["driver_info"]
    return info is not None and getattr(info, "formatted_name", None) == _DRIVER


def introduce(connection: Any, connect: Callable[[], None]) -> None:
    """Sends the name and library of a new connection. One round trip. A refusal is no error. Raises redis-py's errors.

    Where the connection ends at that, ``connect`` makes it again, once, and it goes on without a name.
    """
    try:
        _introduce(connection)
    except (RedisError, OSError) as error:
        connection.disconnect()
        if not connection.introduction.may_be_unwanted(error):
            raise
        if not _answers(connection, connect):
            connection.disconnect()
            raise
        connection.introduction.go_without()


def _introduce(connection: Any) -> None:
    told = connection.introduction.words(connection.role, connection.queue)
    if told:
        connection.send_words(told.values())
    for what in told:
        try:
            connection.read_response(disable_decoding=True)
        except ResponseError as error:
            connection.introduction.note(what, error)
        connection.introduction.was_heard = True


def _answers(connection: Any, connect: Callable[[], None]) -> bool:
    """Whether a connection without a name does any better."""
    try:
        connect()
        connection.send_words([("PING",)])
        connection.read_response(disable_decoding=True)
    except ResponseError:
        return True
    except (RedisError, OSError):
        return False
    return True


async def async_introduce(connection: Any, connect: Callable[[], Awaitable[None]]) -> None:
    """Sends the name and library of a new connection. One round trip. A refusal is no error. Raises redis-py's errors.

    Where the connection ends at that, ``connect`` makes it again, once, and it goes on without a name.
    """
    try:
        await _async_introduce(connection)
    except BaseException as error:
        await connection.disconnect(nowait=True)
        if not (isinstance(error, Exception) and connection.introduction.may_be_unwanted(error)):
            raise
        if not await _async_answers(connection, connect):
            await connection.disconnect(nowait=True)
            raise
        connection.introduction.go_without()


async def _async_introduce(connection: Any) -> None:
    told = connection.introduction.words(connection.role, connection.queue)
    if told:
        await connection.send_words(told.values())
    for what in told:
        try:
            await connection.read_response(disable_decoding=True)
        except ResponseError as error:
            connection.introduction.note(what, error)
        connection.introduction.was_heard = True


async def _async_answers(connection: Any, connect: Callable[[], Awaitable[None]]) -> bool:
    """Whether a connection without a name does any better."""
    try:
        await connect()
        await connection.send_words([("PING",)])
        await connection.read_response(disable_decoding=True)
    except ResponseError:
        return True
    except (RedisError, OSError):
        await connection.disconnect(nowait=True)
        return False
    except BaseException:
        await connection.disconnect(nowait=True)
        raise
    return True

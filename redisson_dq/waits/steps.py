"""What the engine of a wait asks for: one step at a time, each of which a driver carries out and answers.

A step that fails raises :class:`StepFailed` inside of the engine, and :class:`StepRefused` where Redis has answered
with an error.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Generator
from operator import attrgetter
from typing import Any, Union

import attrs

from redisson_dq.wire.blocking import PutBack
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = [
    "Ask",
    "Backs",
    "Behind",
    "Bell",
    "Block",
    "Diagnose",
    "StepFailed",
    "Follow",
    "Pause",
    "StepRefused",
    "WaitStep",
    "Steps",
    "Do",
]


class Backs:
    """Values on their way back to where they came from. A subclass sends them.

    The mutex of the line guards ``surplus`` and ``unsure``.
    """

    def __init__(self) -> None:
        #: Puts values back, later. It is also given those that could not be sent.
        self.again: Callable[[list[Taken]], None] = self.add
        #: Those that are still to be sent, in the order in which they were taken.
        self.surplus: list[Taken] = []
        #: Put-backs whose replies were lost. They are sent again unchanged, before any other request.
        self.unsure: list[PutBack] = []
        #: By key, the nonce of the last put-back that was answered.
        self.answered: dict[str, bytes] = {}

    @property
    def are_left(self) -> bool:
        """Whether anything is not back yet. May be read without the mutex."""
        return bool(self.surplus or self.unsure)

    def add(self, values: list[Taken]) -> None:
        """Takes values to put back, in the order in which they were taken."""
        self.surplus += values
        self.surplus.sort(key=attrgetter("number"))

    def pause_of(self, seconds: float) -> float:
        """How long to wait before the next try."""
        raise NotImplementedError


class StepFailed(Exception):
    """A step has failed with this ``error``."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(repr(error))
        self.error = error


class StepRefused(StepFailed):
    """Redis has answered with an error. One that ``passes`` ends by itself; ``is_full``: there is no memory."""

    def __init__(self, error: Exception, *, passes: bool = False, is_full: bool = False) -> None:
        super().__init__(error)
        self.passes, self.is_full = passes, is_full
        #: The request, where only that shows what the refusal is about.
        self.request: Request[list[Taken]] | None = None


class Do(enum.Enum):
    """The steps without arguments."""

    CONNECT = "make the connection; gives the seconds of one round trip"
    DISCONNECT = "close the connections that were given up"
    READ = "read one reply more"
    PUT_BACK = "put values back; gives whether all are back"
    REPEAT = "send the first request that is owed by itself; gives its values, or None to try later"
    GIVE_WAY = "let the callers go on first"


@attrs.define
class Bell:
    """Wait for the bell for ``seconds``. Returns what rang, or None. ``lingers``: the connection waits for nobody."""

    seconds: float
    lingers: bool = False


@attrs.define
class Ask:
    """Send a request and read its reply. Returns the values."""

    request: Request[list[Taken]]


@attrs.define(eq=False)
class Block:
    """Send the blocking command and the request ``behind`` that follows it, and read the command's reply.

    Redis ends it after ``span`` seconds. With a span of 0 it is sent in a transaction, where it does not block.
    """

    began: float
    span: float
    behind: Request[list[Taken]] | None
    #: When Redis ends it: ``began + span``, noted when it is sent. A PING that is sent earlier would come first, and
    #: its reply would be read as the command's.
    until: float = math.inf
    #: Whether a PING was sent after it, whose reply is to be read too.
    is_pinged: bool = False


@attrs.define
class Behind:
    """Read the reply to the request that was sent after the blocking command. Returns the values."""

    request: Request[list[Taken]]


@attrs.define
class Follow:
    """Send what has to follow a take."""

    after: PutBack


@attrs.define
class Diagnose:
    """Find out why the wait broke. Returns our error, None where nothing is wrong, and whether Redis has refused.

    The error may be about a key that only the refused ``request`` uses.
    """

    error: BaseException
    request: Request[list[Taken]] | None = None


@attrs.define
class Pause:
    """Pause for ``seconds``, or until the close. Longer where others are refused too, for the same ``reason``.

    ``is_trouble``: nothing can be taken meanwhile. Otherwise the server has no memory for a command that blocks.
    """

    seconds: float
    reason: BaseException
    is_trouble: bool = True


WaitStep = Union[Do, Bell, Ask, Block, Behind, Follow, Diagnose, Pause]
Steps = Generator[WaitStep, Any, None]

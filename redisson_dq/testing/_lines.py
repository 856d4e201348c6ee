"""Connections to a server with a test's time: they translate commands, and know which replies are expected."""

from __future__ import annotations

import collections
import enum
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import attrs

from redisson_dq._redis import pack
from redisson_dq.testing._claim import NotForTestsError
from redisson_dq.testing._held import are_any, held_at, passed
from redisson_dq.testing._scripts import (
    CHANNEL_OF,
    COMMAND,
    by_sha,
    is_transfer,
    needs_time,
    running_ahead,
    sha_of,
    timed,
)
from redisson_dq.testing._waits import Alarms, TimedAlarm

__all__ = ["TimedLine", "TimedLines"]

_BLOCKING = frozenset((b"BLPOP", b"BRPOP", b"BLMOVE", b"BRPOPLPUSH"))
_SUBSCRIBING = frozenset((b"SUBSCRIBE", b"PSUBSCRIBE", b"SSUBSCRIBE"))
_OF_CHANNELS = frozenset((b"SUBSCRIBE", b"UNSUBSCRIBE"))
# The prefix of channels on which Redis itself publishes.
_OF_REDIS = b"__"
# How soon a command that Redis has not read yet is ended, in seconds of real time.
_AGAIN = 0.002
# The least time to wait for a reply that a fault holds back, in seconds of the test clock.
_LEAST = 0.25
# The answer to a PING that asks whether all messages were read.
_BARRIER = b"redisson_dq:test:"


class TimedLines:
    """The connections of all clients of one test clock."""

    def __init__(self, alarms: Alarms, owner: str, unblock: Callable[[int], bool]) -> None:
        """``owner`` identifies the database of the clock.

        ``unblock`` ends the blocking command of a connection, by its id. It returns False if none blocks.
        """
        self.alarms = alarms
        self._owner = owner.encode()
        #: The suffix of the names of this clock's channels.
        self.channels_end = CHANNEL_OF.encode() + self._owner
        self.unblock = unblock
        #: Up to when a transfer may run ahead, in epoch us. 0: not at all.
        self.ahead_until_us = 0
        # The ready lists of the queues whose due items are moved here, by their channels.
        self._moved: dict[str, bytes] = {}
        self._mutex = threading.Lock()
        self._all: weakref.WeakSet[TimedLine] = weakref.WeakSet()

    def open(self, connection: Any) -> TimedLine:
        line = TimedLine(self, connection)
        with self._mutex:
            self._all.add(line)
        return line

    def check(self, connection: Any, owner: object) -> None:
        """Raises NotForTestsError if this clock does not control the database of a connection, given the owner."""
        if owner != self._owner:
            where = f"{getattr(connection, 'host', 'Redis')}:{getattr(connection, 'port', '')}"
            raise NotForTestsError(
                f"{where}, database {connection.db}: the test's clock moves only the database of its own URL; "
                "make a client of another one, or of a cluster, before the clock: it goes by real time"
            )

    def all(self) -> list[TimedLine]:
        """Those that are open."""
        with self._mutex:
            return [line for line in self._all if line.is_open]

    def quiet(self) -> set[str]:
        """The channels of the queues that are moved here, and for whose values nobody waits."""
        lines = self.all()
        if any(line.hears_of_keys for line in lines):
            return set()
        waited_for = {word for line in lines for word in line.waited_for}
        return {channel for channel, ready in self._moved.items() if ready not in waited_for}

    def ahead(self, words: list[bytes]) -> bool:
        """Lets a transfer run ahead, if allowed. Its words are EVALSHA, a script, the number of keys, and the keys."""
        ready, channel = words[3], words[7].decode()
        self._moved[channel] = ready
        if not self.ahead_until_us or channel not in self.quiet():
            return False
        words.append(b"%d" % self.ahead_until_us)
        return True


class _LinePhase(enum.Enum):
    """What comes over a connection."""

    CONNECTING = "nothing yet, or the replies to its greeting"
    REPLIES = "a reply to each command"
    SUBSCRIBING = "a reply to each command, until a subscription is on its way"
    MESSAGES = "messages of channels"


@attrs.define(eq=False)
class _Unread:
    """A command whose reply has not been read."""

    name: bytes
    words: tuple[bytes, ...] = ()
    alarm: TimedAlarm | None = None


class TimedLine:
    """One connection, with the commands whose replies have not been read yet."""

    def __init__(self, lines: TimedLines, connection: Any) -> None:
        self._lines = lines
        self._alarms = lines.alarms
        self._connection = weakref.ref(connection)
        self.id = 0
        self.is_open = True
        self._phase = _LinePhase.CONNECTING
        #: Whether Redis notifies it of changed keys.
        self.hears_of_keys = False
        #: Held during a write.
        self.writing = threading.Lock()
        self._sent: collections.deque[_Unread] = collections.deque()
        self._in_transaction = False
        # How many replies have been read.
        self._replies = 0
        # Rings when the wait for a reply that a fault holds back is over.
        self._patience: TimedAlarm | None = None
        #: The numbers of the last barrier that was sent, and of the last one that was answered.
        self.asked = self.answered = 0
        #: The thread that is reading, if any.
        self.reader: int | None = None

    def connected(self) -> None:
        """Starts to observe all commands."""
        connection = self._connection()
        self._replies = 0 if connection is None else passed(connection.local_address())
        self._phase, self.reader = _LinePhase.REPLIES, None
        self._alarms.happened()

    def close(self) -> None:
        self.is_open = False
        if self._patience is not None:
            self._patience.cancel()
        for sent in self._sent:
            if sent.alarm is not None:
                sent.alarm.cancel()
        self._sent.clear()
        self._alarms.happened()

    @property
    def is_connecting(self) -> bool:
        """Whether the server has not greeted it yet."""
        return self._phase is _LinePhase.CONNECTING

    @property
    def is_subscribed(self) -> bool:
        """Whether messages come, and no replies."""
        return self._phase is _LinePhase.MESSAGES

    # -- sending -----------------------------------------------------------------------------------------------------

    def translated(self, packed: bytes) -> bytes:
        """Translates commands for a test. They count as sent from here on."""
        made = [self._of(words) for words in _commands(packed)]
        self._alarms.began()
        return b"".join(made)

    def written(self) -> None:
        """The commands are on their way."""
        if self._phase is _LinePhase.SUBSCRIBING:
            self._phase = _LinePhase.MESSAGES
        if self.is_subscribed or self.is_blocking:
            self._alarms.happened()
        else:
            self._alarms.began()

    def _of(self, words: list[bytes]) -> bytes:
        name = words[0].upper()
        unread = None
        if name in (b"EVALSHA", b"EVALSHA_RO"):
            script = by_sha().get(words[1])
            if script is not None:
                words[1] = sha_of(self._text_of(script.source, words)).encode()
        elif name in (b"EVAL", b"EVAL_RO"):
            words[1] = self._text_of(words[1].decode(), words).encode()
        elif needs_time(words):
            keys = words[1:2]
            words = [b"EVAL", COMMAND.encode(), b"%d" % len(keys), *keys, *words]
        elif name == b"MULTI":
            self._in_transaction = True
        elif name in (b"EXEC", b"DISCARD"):
            self._in_transaction = False
        elif name in _BLOCKING and not self._in_transaction and float(words[-1]):
            # Redis waits without a limit, and the test clock ends the wait.
            seconds, words[-1] = float(words[-1]), b"0"
            unread = _Unread(name, tuple(words))
            unread.alarm = self._alarms.alarm(
                seconds, partial(self._end_wait, unread), f"{name.decode()} {words[1].decode()}"
            )
        if name == b"PSUBSCRIBE" or words[:3] == [b"CLIENT", b"TRACKING", b"ON"]:
            self.hears_of_keys = True
        if name in _OF_CHANNELS:
            end = self._lines.channels_end
            words[1:] = [each if each.startswith(_OF_REDIS) else each + end for each in words[1:]]
        if name in _SUBSCRIBING:
            if not self.is_subscribed:
                self._phase = _LinePhase.SUBSCRIBING
        elif self._phase in (_LinePhase.CONNECTING, _LinePhase.REPLIES):
            self._sent.append(unread or _Unread(name, tuple(words) if name in _BLOCKING else ()))
        return pack(words)

    def _text_of(self, source: str, words: list[bytes]) -> str:
        return running_ahead(source) if is_transfer(source) and self._lines.ahead(words) else timed(source)

    def _end_wait(self, unread: _Unread) -> None:
        if self.is_open and unread in self._sent and not self._lines.unblock(self.id):
            # By real time the wait may be over before Redis has read the command.
            again = threading.Timer(_AGAIN, self._end_wait, (unread,))
            again.daemon = True
            again.start()

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(self, reply: Any) -> bool:
        """Records a reply. False for a reply that is not passed on."""
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if self.is_subscribed:
            # Once the last channel is unsubscribed, the answer is no longer a message.
            word = reply[1] if isinstance(reply, list) and reply[0] == b"pong" else reply
            if isinstance(word, bytes) and word.startswith(_BARRIER):
                with self._alarms.changed:
                    self.answered = int(word[len(_BARRIER) :])
                    self._alarms.changed.notify_all()
                return False
            if isinstance(reply, list):
                reply[:] = [self._plain(each) for each in reply[:2]] + reply[2:]
        elif self._sent:
            sent = self._sent.popleft()
            self._replies += 1
            if sent.alarm is not None:
                sent.alarm.cancel()
        self._alarms.happened()
        return True

    def _plain(self, word: Any) -> Any:
        """The name of a channel as the client knows it."""
        end = self._lines.channels_end
        if isinstance(word, bytes):
            return word.removesuffix(end)
        return word.removesuffix(end.decode()) if isinstance(word, str) else word

    # -- for those who wait for rest ---------------------------------------------------------------------------------

    @property
    def is_held(self) -> bool:
        """Whether a fault holds back its replies."""
        if not are_any():
            return False
        connection = self._connection()
        held = None if connection is None else held_at(connection.local_address())
        return held is not None and (self.is_connecting or self.is_subscribed or held == self._replies)

    def limit_wait(self) -> None:
        """Ends the wait for a reply that a fault holds back by the test clock, after the connection's timeout."""
        connection = self._connection()
        if connection is None or self._patience is not None or not (self.is_connecting or self._sent):
            return
        seconds = connection.socket_connect_timeout if self.is_connecting else connection.socket_timeout
        if seconds and self.is_held:
            self._patience = self._alarms.alarm(
                max(seconds, _LEAST), self._give_up, f"the reply of connection {self.id}"
            )

    def _give_up(self) -> None:
        connection, self._patience = self._connection(), None
        if connection is not None and self.is_open and self.is_held:
            connection.break_off()

    @property
    def is_blocking(self) -> bool:
        """Whether its next reply belongs to a blocking command."""
        return bool(self._sent) and self._sent[0].name in _BLOCKING and not self.is_held

    @property
    def waited_for(self) -> tuple[bytes, ...]:
        """The words of the blocking command."""
        return self._sent[0].words if self._sent and self._sent[0].name in _BLOCKING else ()

    @property
    def is_busy(self) -> bool:
        """Whether it expects a reply or a message."""
        waits = self.is_connecting or (bool(self._sent) and self._sent[0].name not in _BLOCKING)
        return waits and not self.is_held

    def barrier(self, number: int) -> None:
        """Sends a PING, whose answer follows all messages."""
        connection = self._connection()
        self.asked = number
        packed = pack((b"PING", _BARRIER + str(number).encode()))
        if connection is not None:
            connection.send_barrier(packed)


def _commands(packed: bytes) -> Iterator[list[bytes]]:
    """The words of packed commands."""
    at = 0
    while at < len(packed):
        end = packed.index(b"\r\n", at)
        count, at, words = int(packed[at + 1 : end]), end + 2, []
        for _ in range(count):
            end = packed.index(b"\r\n", at)
            size = int(packed[at + 1 : end])
            words.append(packed[end + 2 : end + 2 + size])
            at = end + 4 + size
        yield words

"""The ends of RESP messages, and the words of commands. Other bytes are separated, but not interpreted."""

from __future__ import annotations

import re

__all__ = ["CommandFrames", "Frames", "ReplyFrames", "words"]

_LINE = frozenset(b"+-:_,#(")
_BLOB = frozenset(b"$!=")
# How many messages belong to each one that is counted, and how many come besides: attributes are before a reply.
_LIST = {ord("*"): (1, 0), ord("~"): (1, 0), ord(">"): (1, 0), ord("%"): (2, 0), ord("|"): (2, 1)}
_COUNT = re.compile(rb"-?[0-9]{1,19}")
# Redis's limits for a command: bytes of a line, words, and bytes of a word.
_MOST_OF_A_LINE, _MOST_WORDS, _MOST_OF_A_WORD = 1 << 16, (1 << 31) - 1, 1 << 29


class _NoMessage(Exception):
    """The bytes are not RESP, so the beginning of the next message is unknown."""


class Frames:
    """Cuts a stream of bytes into whole messages."""

    def __init__(self) -> None:
        self._rest = bytearray()
        # Where the next part of the message begins, and how many parts are still to come.
        self._at, self._left = 0, 1
        #: Whether invalid bytes have arrived. Everything after them is invalid too.
        self.is_lost = False

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete with these bytes."""
        self._rest += data
        found: list[bytes] = []
        try:
            while not self.is_lost and len(self._rest) > self._at and self._goes_on():
                if not self._left:
                    found.append(bytes(self._rest[: self._at]))
                    del self._rest[: self._at]
                    self._at, self._left = 0, 1
        except _NoMessage:
            self.is_lost = True
        return found

    def strays(self) -> bytes:
        """Removes and returns the invalid bytes, once there are any."""
        found = bytes(self._rest) if self.is_lost else b""
        if found:
            self._rest.clear()
        return found

    def _goes_on(self) -> bool:
        """Goes to the end of the next part. False until it has arrived completely. Raises _NoMessage."""
        raise NotImplementedError

    def _line(self) -> bytes | None:
        """The line of the next part, without its kind."""
        end = self._rest.find(b"\r\n", self._at)
        return None if end < 0 else bytes(self._rest[self._at + 1 : end])

    def _pass(self, size: int, parts: int = 0) -> bool:
        """Skips a part of this many bytes, which has parts of its own."""
        if self._at + size > len(self._rest):
            return False
        self._at += size
        self._left += parts - 1
        return True


class ReplyFrames(Frames):
    """The messages of a server, in RESP2 and RESP3."""

    def _goes_on(self) -> bool:
        kind = self._rest[self._at]
        if kind not in _LINE and kind not in _BLOB and kind not in _LIST:
            raise _NoMessage
        line = self._line()
        if line is None:
            return False
        size = len(line) + 3
        if kind in _LINE:
            return self._pass(size)
        count = _number(line)
        if kind in _BLOB:
            return self._pass(size if count < 0 else size + count + 2)
        each, besides = _LIST[kind]
        return self._pass(size, max(0, count) * each + besides)


class CommandFrames(Frames):
    """The commands of a client: arrays of strings, or lines with spaces between their words."""

    def _goes_on(self) -> bool:
        kind = self._rest[self._at]
        if not self._at and kind != ord("*"):
            end = self._rest.find(b"\n")
            return self._pass(end + 1) if end >= 0 else self._has_room()
        line = self._line()
        if line is None:
            return self._has_room()
        count, size = _number(line), len(line) + 3
        if not self._at:
            if count > _MOST_WORDS:
                raise _NoMessage
            return self._pass(size, max(0, count))
        if kind != ord("$") or not 0 <= count <= _MOST_OF_A_WORD:
            raise _NoMessage
        return self._pass(size + count + 2)

    def _has_room(self) -> bool:
        if len(self._rest) - self._at > _MOST_OF_A_LINE:
            raise _NoMessage
        return False


def _number(line: bytes) -> int:
    if not _COUNT.fullmatch(line):
        raise _NoMessage
    return int(line)


def words(command: bytes) -> list[bytes]:
    """The words of a command as a client sends it. Redis ignores one that has none."""
    if not command.startswith(b"*"):
        return command.split()
    found, at = [], command.index(b"\r\n") + 2
    while at < len(command):
        line = command.index(b"\r\n", at)
        length = int(command[at + 1 : line])
        found.append(command[line + 2 : line + 2 + length])
        at = line + 2 + length + 2
    return found

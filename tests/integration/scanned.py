"""Counts the entries of a list that the server traverses, by the output of MONITOR and a copy of the list."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import redis

__all__ = ["Scanned"]


class Scanned:
    """Follows what is done to one list.

    Entries that a script reads count, and so do those that LREM and LPOS traverse. Seeking an index counts nothing,
    because Redis skips whole nodes.
    """

    def __init__(self, admin: redis.Redis, key: str) -> None:
        self._admin, self._key = admin, key.encode()
        #: How many bytes of entries the calls have copied into scripts.
        self.bytes_read = 0

    def of(self, call: Callable[[], Any]) -> int:
        """How many entries one call passes over."""
        listed: Any = self._admin.lrange(self._key, 0, -1)
        passed = 0
        monitor: Any = self._admin.connection_pool.make_connection()
        try:
            monitor.connect()
            monitor.send_command("MONITOR")
            monitor.read_response()
            call()
            self._admin.echo("the end")
            while (words := _words(monitor.read_response()))[-1] != b"the end":
                if len(words) > 1 and words[1] == self._key:
                    self.bytes_read += sum(map(len, _read(listed, words)))
                    passed += _passed(listed, words)
        finally:
            monitor.disconnect()
        assert listed == self._admin.lrange(self._key, 0, -1), "the copy has followed all that was done"
        return passed


def _read(listed: list[bytes], words: list[bytes]) -> list[bytes]:
    name = words[0].upper()
    if name == b"LINDEX":
        place = int(words[2])
        return listed[place : place + 1 or None]
    return listed[slice(*_span(words, len(listed)))] if name == b"LRANGE" else []


def _passed(listed: list[bytes], words: list[bytes]) -> int:
    """Applies a command to the copy. Returns the number of entries that the server traverses."""
    name, size = words[0].upper(), len(listed)
    if name == b"LRANGE":
        return len(listed[slice(*_span(words, size))])
    if name == b"LINDEX":
        return 1
    if name == b"LPOS":
        options = dict(zip(words[3::2], words[4::2], strict=True))
        most, backward = int(options.get(b"MAXLEN", b"0")) or size, options.get(b"RANK", b"1") == b"-1"
        way = (listed[::-1] if backward else listed)[:most]
        return way.index(words[2]) + 1 if words[2] in way else len(way)
    if name == b"LSET":
        listed[int(words[2])] = words[3]
        return 1
    if name == b"LTRIM":
        listed[:] = listed[slice(*_span(words, size))]
        return 0
    if name == b"LREM":
        return _removed(listed, int(words[2]), words[3])
    assert name in (b"LLEN", b"TYPE", b"RPUSH", b"PEXPIRETIME", b"PTTL"), words
    if name == b"RPUSH":
        listed += words[2:]
    return 0


def _span(words: list[bytes], size: int) -> tuple[int, int]:
    first, last = (int(word) + (size if int(word) < 0 else 0) for word in words[2:4])
    return max(0, first), last + 1


def _removed(listed: list[bytes], count: int, member: bytes) -> int:
    places = range(len(listed)) if count >= 0 else range(len(listed) - 1, -1, -1)
    gone: list[int] = []
    passed = 0
    for place in places:
        passed += 1
        if listed[place] == member:
            gone.append(place)
            if len(gone) == abs(count):
                break
    for place in sorted(gone, reverse=True):
        del listed[place]
    return passed


def _words(line: bytes) -> list[bytes]:
    """The words of a line of MONITOR, as the bytes that were sent."""
    quoted = re.findall(rb'"((?:[^"\\]|\\.)*)"', line)
    return [word.decode("unicode_escape").encode("latin-1") for word in quoted]

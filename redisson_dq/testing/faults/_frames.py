"""The ends of RESP messages, and the words of commands. Nothing else is understood."""

from __future__ import annotations

__all__ = ["Frames", "words"]

_LINE = frozenset(b"+-:_,#(")
_BLOB = frozenset(b"$!=")
_LIST = frozenset(b"*~>")


class Frames:
    """Cuts a stream of bytes into whole messages."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete with these bytes."""
        self._rest += data
        found, start = [], 0
        while (end := _end(self._rest, start)) is not None:
            found.append(bytes(self._rest[start:end]))
            start = end
        del self._rest[:start]
        return found


def _end(data: bytearray, start: int) -> int | None:
    """Behind the message that begins at ``start``, or None while it is not complete."""
    line = data.find(b"\r\n", start)
    if line < 0:
        return None
    kind, after = data[start], line + 2
    if kind in _LINE:
        return after
    count = int(data[start + 1 : line])
    if kind in _BLOB:
        end = after if count < 0 else after + count + 2
        return end if end <= len(data) else None
    if kind in _LIST or kind == ord("%"):
        for _ in range(2 * count if kind == ord("%") else max(0, count)):
            end_of_one = _end(data, after)
            if end_of_one is None:
                return None
            after = end_of_one
        return after
    raise ValueError(f"not RESP: {bytes(data[start : start + 20])!r}")


def words(command: bytes) -> list[bytes]:
    """The words of a command as a client sends it: an array of strings."""
    found, at = [], command.index(b"\r\n") + 2
    while at < len(command):
        line = command.index(b"\r\n", at)
        length = int(command[at + 1 : line])
        found.append(command[line + 2 : line + 2 + length])
        at = line + 2 + length + 2
    return found

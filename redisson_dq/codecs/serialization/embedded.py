"""A stream inside the bytes of another codec: objects one after another that share its header and its handles.

Kryo's JavaSerializer keeps one ObjectOutputStream for each of its own instances while one Kryo value is written.
Its first object begins with the stream's header, the later ones stand without, and refer to what the earlier ones
named. So a state serves one such instance for one value::

    state = ReadState()
    first, pos = read_object(data, pos, state)
    ...
    second, pos = read_object(data, pos, state)
"""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.serialization.decoder import Decoder
from redisson_dq.codecs.serialization.encoder import Encoder
from redisson_dq.codecs.serialization.reader import StreamReader
from redisson_dq.codecs.serialization.writer import StreamWriter

__all__ = ["ReadState", "WriteState", "read_object", "write_object"]


class ReadState:
    """What is known of a stream between its objects, on the reading side."""

    __slots__ = ("decoder", "generic", "reader")

    def __init__(self, *, generic: bool = False) -> None:
        """``generic``: objects of undeclared classes become JavaObject."""
        self.generic = generic
        self.reader: StreamReader | None = None
        self.decoder: Decoder | None = None


class WriteState:
    """What is known of a stream between its objects, on the writing side."""

    __slots__ = ("encoder", "writer")

    def __init__(self) -> None:
        self.encoder = Encoder()
        self.writer = StreamWriter()


def read_object(data: bytes, pos: int, state: ReadState) -> tuple[Any, int]:
    """The next object of the stream, which begins at ``pos``, and the position after it.

    ``data`` are the same bytes for all objects of a state. Raises Malformed, and IndexError or struct.error
    where the bytes end too early.
    """
    if state.reader is None or state.decoder is None:
        state.reader = StreamReader(data, pos)
        state.decoder = Decoder(len(data), generic=state.generic)
    else:
        state.reader.pos = pos
    content = state.reader.object()
    return state.decoder.value(content), state.reader.pos


def write_object(value: Any, state: WriteState) -> bytes:
    """The bytes of the next object of the stream. Raises Unencodable."""
    writer = state.writer
    writer.write(state.encoder.content(value))
    data = b"".join(writer.out)
    writer.out.clear()
    return data

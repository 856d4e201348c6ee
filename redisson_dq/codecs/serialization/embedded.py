"""Streams inside the bytes of another codec. Each is a sequence of objects that share its header and its handles.

While a Kryo value is written, each JavaSerializer of Kryo keeps one ObjectOutputStream. Its first object begins with
the stream's header. Later objects have no header, and refer to earlier names. A state is for one Kryo value, and each
of its streams has a name::

    state = ReadState()
    first, pos = read_object(data, pos, state, "a")
    ...
    second, pos = read_object(data, pos, state, "a")
"""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.serialization.decoder import Decoder
from redisson_dq.codecs.serialization.encoder import Encoder
from redisson_dq.codecs.serialization.reader import StreamReader
from redisson_dq.codecs.serialization.writer import StreamWriter

__all__ = ["ReadState", "WriteState", "read_object", "write_object"]


class ReadState:
    """The state of the streams between their objects, on the reading side.

    They share one decoder, so all their work is charged against the same bytes.
    """

    __slots__ = ("decoder", "generic", "streams")

    def __init__(self, *, generic: bool = False) -> None:
        """``generic``: objects of undeclared classes become JavaObject."""
        self.generic = generic
        self.decoder: Decoder | None = None
        self.streams: dict[str, StreamReader] = {}

    @property
    def other(self) -> str:
        """Why a value would be written to other bytes. Empty if it would not."""
        return "" if self.decoder is None else self.decoder.other


class WriteState:
    """The state of the streams between their objects, on the writing side."""

    __slots__ = ("encoder", "streams")

    def __init__(self) -> None:
        self.encoder = Encoder()
        self.streams: dict[str, StreamWriter] = {}


def read_object(data: bytes, pos: int, state: ReadState, stream: str = "", depth: int = 0) -> tuple[Any, int]:
    """The next object of a stream, which begins at ``pos``, and the position after it.

    ``data`` are the same bytes for all objects of a state, and ``depth`` is the object's depth in them. Raises
    Malformed, and IndexError or struct.error if the bytes end too early.
    """
    if state.decoder is None:
        state.decoder = Decoder(len(data), generic=state.generic)
    reader = state.streams.get(stream)
    if reader is None:
        reader = state.streams[stream] = StreamReader(data, pos)
    else:
        reader.pos = pos
    reader.depth = state.decoder.depth = depth
    state.decoder.stream = stream
    content = reader.object()
    value = state.decoder.value(content)
    state.decoder.other = state.decoder.other or reader.other
    return value, reader.pos


def write_object(value: Any, state: WriteState, stream: str = "", depth: int = 0) -> bytes:
    """The bytes of the next object of a stream. Raises Unencodable."""
    writer = state.streams.get(stream)
    if writer is None:
        writer = state.streams[stream] = StreamWriter()
    writer.depth = state.encoder.depth = depth
    writer.write(state.encoder.content(value))
    data = b"".join(writer.out)
    writer.out.clear()
    return data

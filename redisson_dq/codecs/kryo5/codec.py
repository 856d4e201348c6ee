"""The codec itself: flat values at once, the rest through a reader or a writer, every fault as one error."""

from __future__ import annotations

import struct
from typing import Any

from redisson_dq.codecs.base import Codec
from redisson_dq.codecs.faults import TOO_DEEP, Malformed, Unencodable
from redisson_dq.codecs.kryo5 import reader, writer
from redisson_dq.codecs.kryo5.reader import Reader
from redisson_dq.codecs.kryo5.writer import Writer

__all__ = ["Kryo5Codec"]

_read_flat = reader.FLAT.get
_write_flat = writer.FLAT.get


class Kryo5Codec(Codec):
    """Redisson's default codec, ``org.redisson.codec.Kryo5Codec`` as it is made by ``new Kryo5Codec()``.

    ==================  =======================================================================
    Python              Java
    ==================  =======================================================================
    None                null
    bool                Boolean
    int                 Integer, or Long, or BigInteger: the first that holds it
    float               Double
    str                 String
    bytes               byte[] (also from bytearray and memoryview)
    decimal.Decimal     BigDecimal
    list                ArrayList
    dict                LinkedHashMap
    the types of
    redisson_dq.java    the type of the same name
    ==================  =======================================================================

    The other way round, the common lists, sets and maps of java.util come back as list, set and dict; sets
    are read, not written. The bytes are those that Redisson writes for the same value.

    Raises EncodeError for any other type, and for collections nested more than 200 deep; DecodeError for
    bytes that are not one whole value, for a Java class outside that list (named in the message), and for a
    map or set that Python cannot hold (keys that are lists, or equal in Python only, as 1 and 1L are).
    Time and memory are O(size of the value or of the bytes).
    """

    def encode(self, value: Any) -> bytes:
        """The bytes of ``value``. Raises EncodeError. O(size)."""
        flat = _write_flat(type(value))
        if flat is not None:
            data = flat(value)
            if data is not None:
                return data
        state = Writer()
        try:
            state.write_any(value)
        except Unencodable as exc:
            raise exc.error(self.name) from exc
        except RecursionError as exc:
            raise Unencodable(TOO_DEEP).error(self.name) from exc
        return b"".join(state.out)

    def decode(self, data: bytes) -> Any:
        """The value of ``data``. Raises DecodeError. O(size)."""
        if type(data) is not bytes:
            data = bytes(data)
        try:
            read = _read_flat(data[0])
            if read is not None:
                value, end = read(data, 1, None)
            else:
                value, end = Reader().read_any(data, 0)
            if end != len(data):
                raise Malformed(f"{len(data) - end} bytes too many after the value", end)
        except Malformed as exc:
            raise exc.error(self.name, data) from exc
        except (IndexError, struct.error) as exc:
            fault = Malformed("the bytes end in the middle of the value", len(data))
            raise fault.error(self.name, data) from exc
        except RecursionError as exc:
            raise Malformed(TOO_DEEP).error(self.name, data) from exc
        return value

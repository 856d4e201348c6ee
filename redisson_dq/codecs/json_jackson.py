"""Redisson's JSON codec: every value as Jackson writes it, with the Java types that JSON does not show."""

from __future__ import annotations

import json
from typing import Any

from redisson_dq.codecs.base import Codec
from redisson_dq.codecs.faults import TOO_DEEP, Malformed, Unencodable
from redisson_dq.codecs.json_reading import value_of
from redisson_dq.codecs.json_writing import json_text

__all__ = ["JsonJacksonCodec"]


class JsonJacksonCodec(Codec):
    """JSON with Java types: ``org.redisson.codec.JsonJacksonCodec``.

    ==================  ==============================================================================
    Python              JSON
    ==================  ==============================================================================
    None, bool          ``null``, ``true``, ``false``
    int                 ``5``; beyond 32 bits ``["java.lang.Long",..]``, then ``["java.math.BigInteger",..]``
    float               ``1.5``, as Double.toString writes it
    str                 ``"text"``
    bytes               ``["[B","base64"]``
    decimal.Decimal     ``["java.math.BigDecimal",1.50]``
    list                ``["java.util.ArrayList",[..]]``
    dict, keys str      ``{"@class":"java.util.LinkedHashMap",..}``
    ==================  ==============================================================================

    The types of redisson_dq.java become the Java type of the same name, and the common lists, sets and maps
    of java.util come back as list, set and dict; sets are read, not written.

    The bytes are those that Redisson writes for the same value, save where Redisson's own lose the value.
    There this codec writes what every Redisson reads right: bytes and non-finite floats carry their type also
    when they are the whole value, and a None in a dict is written, not dropped.

    Raises EncodeError for any other type, for keys that are not str, numbers of more than 1,000 digits and
    collections nested more than 200 deep; DecodeError for bytes that are not one JSON value, and for a Java
    class outside that list (named in the message). O(size of the value or of the bytes).
    """

    def encode(self, value: Any) -> bytes:
        """The bytes of ``value``. Raises EncodeError. O(size)."""
        try:
            return json_text(value).encode()
        except Unencodable as exc:
            raise exc.error(self.name) from exc
        except RecursionError as exc:
            raise Unencodable(TOO_DEEP).error(self.name) from exc

    def decode(self, data: bytes) -> Any:
        """The value of ``data``. Raises DecodeError. O(size).

        The offset of a fault of syntax is exact; for a class or value that is refused it is the first place
        where that class is named, and the message says where in the value it stands.
        """
        try:
            text = str(data, "utf-8")
            return value_of(text)
        except Malformed as exc:
            raise exc.error(self.name, data) from exc
        except json.JSONDecodeError as exc:
            fault = Malformed(f"the bytes are no JSON: {exc.msg}", len(text[: exc.pos].encode()))
            raise fault.error(self.name, data) from exc
        except UnicodeDecodeError as exc:
            raise Malformed(f"the bytes are no UTF-8: {exc.reason}", exc.start).error(self.name, data) from exc
        except RecursionError as exc:
            raise Malformed(TOO_DEEP).error(self.name, data) from exc
        except ValueError as exc:  # Python's own limit on the digits of a whole number
            raise Malformed(f"a number that cannot be read: {exc}").error(self.name, data) from exc

"""Java's bytes under every option of a mapper: written to the same bytes, refused, or known to have others."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest

from redisson_dq import codecs
from redisson_dq.codecs import Codec
from redisson_dq.codecs.marks import has_no_room, other_bytes
from redisson_dq.errors import DecodeError, EncodeError
from tests.unit.codecs import acme  # noqa: F401 - the classes in the samples
from tests.unit.codecs.vectors import of_codec

PATTERNS = {"java.util.Date": ("yyyy-MM-dd HH:mm:ss", "Asia/Shanghai"), "java.time.LocalDateTime": "yyyy-MM-dd HH:mm"}
NAMINGS: list[dict[str, Any]] = [{}, {"naming": "snake_case"}, {"naming": "upper_camel_case"}]
TIMES: list[dict[str, Any]] = [
    *({}, {"java_time": "numbers"}, {"java_time": "text"}, {"time_zone": "GMT+8", "java_time": "text"}),
    {"patterns": PATTERNS, "java_time": "text"},
    {"as_text": ["java.lang.Long", "long", "java.math.BigDecimal"]},
]
MADE: dict[str, list[dict[str, Any]]] = {
    "JsonJacksonCodec": [{**naming, **times} for naming, times in product(NAMINGS, TIMES)],
    **dict.fromkeys(("CborJacksonCodec", "SmileJacksonCodec", "MsgPackJacksonCodec", "JsonJackson3Codec"), NAMINGS),
    "Kryo5Codec": [{}],
}
#: Two options at once are for the night.
CASES = [
    pytest.param(name, options, id=f"{name} {options}", marks=[pytest.mark.nightly] if len(options) > 1 else [])
    for name, each in MADE.items()
    for options in each
]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_what_is_read_is_written_in_the_same_form(name: str, options: dict[str, Any]) -> None:
    counted: Counter[str] = Counter()
    for vector in of_codec(name):
        if vector.data is None or vector.spec != "null":
            continue
        codec: Codec[Any] = getattr(codecs, name)(**options, redisson=vector.redisson)
        try:
            value = codec.decode(vector.data)
        except DecodeError:
            counted["refused"] += 1
            continue
        try:
            written = codec.encode(value)
        except EncodeError:
            counted["not written"] += 1
            continue
        counted["same"] += written == vector.data
        # A queue refuses to look for a value that has a mark, or looks at its bytes where a value has no room for one.
        assert written == vector.data or other_bytes(value) or has_no_room(value), (vector, value, written)
    assert counted["same"] > 20

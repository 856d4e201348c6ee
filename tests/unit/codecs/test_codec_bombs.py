"""A few compressed bytes take no more memory than was allowed, whatever small elements they become."""

from __future__ import annotations

import json
import subprocess
import sys
from base64 import b64encode
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.codecs import ByteArrayCodec, Kryo5Codec, ZStdCodec
from redisson_dq.errors import DecodeError, EncodeError
from tests.conftest import PATIENCE
from tests.unit.codecs.bombs import CODECS, ELEMENTS, LIMIT, SHAPES, Nothing, bomb

# Estimates are not exact: of short texts, say. Python itself keeps some memory.
_TIMES_OVER, _SPARE = 3, 1_500_000


def grown(path: Path, bombs: list[tuple[str, str, str]]) -> dict[str, int]:
    """By how many bytes a process grows that reads these."""
    rows = [(*each, b64encode(data).decode()) for each in bombs if (data := bomb(*each)) is not None]
    assert rows
    path.write_text(json.dumps(rows), "utf-8")
    command = [sys.executable, "-m", "tests.unit.codecs.bombs", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10 * PATIENCE)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(rows)
    return {"/".join(names): count for *names, count in told}


def test_small_elements_take_no_more_than_allowed(tmp_path: Path) -> None:
    bombs = [(codec, element, "list") for codec in CODECS for element in ("sets", "lists")]
    more = [("kryo5-references", "longs", "list"), ("cbor3", "bytes", "list"), ("json", "floats", "map")]
    found = grown(tmp_path / "bombs", [*bombs, *more])
    assert len(found) > 30
    assert {each: count for each, count in found.items() if count > _TIMES_OVER * LIMIT + _SPARE} == {}


WITHOUT_BYTES: dict[str, Any] = {
    "objects": lambda count: [Nothing() for _ in range(count)],
    "objects in lists": lambda count: [[Nothing() for _ in range(count // 100)] for _ in range(100)],
    "nulls": lambda count: [None] * (10 * count),
    "nulls in lists": lambda count: [[None] * (count // 10)] * 100,
    "declared": lambda count: {"a": [Nothing()] * count},
}


@pytest.mark.parametrize("kind", WITHOUT_BYTES)
def test_elements_without_bytes_count_in_the_memory_of_a_value(kind: str) -> None:
    few, many = map(WITHOUT_BYTES[kind], (2000, 10_000))
    packed = ZStdCodec(ByteArrayCodec(), max_ratio=None).encode(Kryo5Codec().encode(many))
    assert len(packed) < 1000
    codec = ZStdCodec(Kryo5Codec(), max_size=LIMIT, max_ratio=None)
    assert codec.decode(codec.encode(few)) == few
    assert ZStdCodec(Kryo5Codec(), max_ratio=None).decode(packed) == many
    with pytest.raises(DecodeError, match="bytes of memory after decompression, 1000000 are allowed"):
        codec.decode(packed)
    with pytest.raises(EncodeError, match="bytes of memory after decompression, 1000000 are allowed"):
        codec.encode(many)


def test_no_more_elements_without_bytes_are_written_than_are_read() -> None:
    codec = Kryo5Codec()
    for most in ([None] * 100_000, [[None] * 50_000] * 2, [Nothing()] * 100_000):
        assert codec.decode(codec.encode(most)) == most
        with pytest.raises(EncodeError, match="more than 100000 elements without bytes"):
            codec.encode([most, [None]])


@pytest.mark.nightly
@pytest.mark.parametrize("codec", CODECS)
def test_no_small_element_of_any_codec_takes_more_than_allowed(tmp_path: Path, codec: str) -> None:
    found = grown(tmp_path / "bombs", list(product([codec], ELEMENTS, SHAPES)))
    assert {each: count for each, count in found.items() if count > _TIMES_OVER * LIMIT + _SPARE} == {}

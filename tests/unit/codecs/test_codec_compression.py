"""The compressing codecs: Java's bytes both ways, sizes that lie, errors that name both codecs, the missing extra."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq.codecs import ByteArrayCodec, Codec, JsonJacksonCodec, Kryo5Codec, StringCodec
from redisson_dq.codecs.compression import MAX_SIZE, LZ4Codec, LZ4CodecV2, SnappyCodec, SnappyCodecV2, ZStdCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from tests.conftest import as_many
from tests.unit.codecs.golden_rows import caught_from, same
from tests.unit.codecs.rows import check_rows
from tests.unit.codecs.vectors import Vector, vectors
from tests.vector_files import all_rows
from tests.versions import NEWEST, OLDEST, REDISSONS

KINDS = (LZ4Codec, LZ4CodecV2, SnappyCodec, SnappyCodecV2, ZStdCodec)
BYTES = ByteArrayCodec()
RAW = {kind.__name__: kind(BYTES) for kind in KINDS}  # compress, and nothing else
SIZED = (LZ4Codec(BYTES), LZ4CodecV2(BYTES), ZStdCodec(BYTES))

#: The codec inside, as the vectors name it, and by which name the vectors have its own bytes.
INNER: dict[str | None, str] = {None: "Kryo5Codec", "StringCodec": "StringCodec"}

ROWS = [
    (row, inner)
    for codec in RAW
    for wanted, inner in INNER.items()
    for row in vectors(codec, None if wanted is None else {"name": codec, "inner": wanted})
    if row.data is not None
]


def plain(inner: str) -> dict[tuple[str, str], bytes | None]:
    found = vectors(inner)
    newest = {row.name: row.data for row in found if row.redisson == NEWEST}
    # Of a Redisson between the oldest and the newest there are only the rows that differ.
    same = {(version, name): data for version in REDISSONS for name, data in newest.items()}
    return {**same, **{(row.redisson, row.name): row.data for row in found}}


PLAIN = {inner: plain(inner) for inner in INNER.values()}

REPETITIVE = {"items": [{"sku": f"A-{number}", "price": number * 1.25} for number in range(200)]}


def name_of(row_and_inner: tuple[Vector, str]) -> str:
    row, inner = row_and_inner
    return f"{row}-{inner}"


# Java's bytes


def test_java_wrote_with_every_codec() -> None:
    assert {row.codec for row, _ in ROWS} == {"LZ4Codec", "LZ4CodecV2", "SnappyCodecV2", "ZStdCodec"}
    assert len(ROWS) > 350


WITH_ROWS = sorted({row.codec for row, _ in ROWS})


def rows_of(codec: str) -> list[tuple[Vector, str]]:
    return [(row, inner) for row, inner in ROWS if row.codec == codec]


def check_compressed(row_and_inner: tuple[Vector, str]) -> None:
    row, inner = row_and_inner
    assert row.data is not None
    expected = PLAIN[inner][row.redisson, row.name]
    found = RAW[row.codec].decode(row.data)
    if expected is None:  # too long for the vectors
        assert len(found) > 1000
    elif row.deterministic:
        assert found == expected


@pytest.mark.parametrize("codec", WITH_ROWS)
def test_what_java_compressed_is_what_its_inner_codec_writes(codec: str) -> None:
    check_rows(rows_of(codec), check_compressed, name=name_of)


def check_compressor(row_and_inner: tuple[Vector, str]) -> None:
    row, _ = row_and_inner
    assert row.data is not None
    raw = RAW[row.codec].decode(row.data)
    if row.codec == "LZ4Codec" or row.redisson == OLDEST or len(raw) < 12:
        assert RAW[row.codec].encode(raw) == row.data
    else:
        assert RAW[row.codec].decode(RAW[row.codec].encode(raw)) == raw


@pytest.mark.parametrize("codec", WITH_ROWS)
def test_the_bytes_are_javas_where_both_have_the_same_compressor(codec: str) -> None:
    """LZ4Codec always; Snappy before its 1.1.10, ZStandard in its 1.5.7, otherwise what is too short to matter."""
    check_rows(rows_of(codec), check_compressor, name=name_of)


def test_compressors_inside_each_other() -> None:
    json_of = plain("JsonJacksonCodec")
    codecs = {
        "LZ4Codec": LZ4Codec(LZ4Codec(BYTES)),
        "LZ4CodecV2": LZ4CodecV2(LZ4Codec(BYTES)),
        "SnappyCodecV2": SnappyCodecV2(LZ4Codec(BYTES)),
        "ZStdCodec": ZStdCodec(LZ4Codec(BYTES)),
    }
    for name, codec in codecs.items():
        rows = vectors(name, {"name": name, "inner": {"name": "LZ4Codec", "inner": "JsonJacksonCodec"}})
        assert len(rows) > 20
        for row in rows:
            if row.data is not None and row.deterministic:
                assert codec.decode(row.data) == json_of[row.redisson, row.name]


def test_chunks_of_the_snappy_codec_that_redisson_has_dropped() -> None:
    read = 0
    for row in all_rows("foreign"):
        if row["codec"] == "SnappyCodec":
            raw = RAW["SnappyCodec"].decode(bytes.fromhex(row["hex"]))
            assert raw == PLAIN["Kryo5Codec"][row["redisson"], row["name"]]
            read += 1
    assert read > 40


# As Redisson 4, and 3.50.0 for SnappyCodec, write them.
@pytest.mark.parametrize(
    ("codec", "data", "value"),
    [
        (LZ4Codec(), "0000000330038261", "a"),
        (LZ4CodecV2(), "0000000330038261", "a"),
        (SnappyCodec(), "000000050308038261", "a"),
        (SnappyCodecV2(), "0308038261", "a"),
        (ZStdCodec(), "0000000328b52ffd0058180000038261010000", "a"),
        (ZStdCodec(StringCodec()), "0000000028b52ffd2000010000", ""),
        (LZ4Codec(StringCodec()), "0000000000", ""),
        (SnappyCodecV2(StringCodec()), "00", ""),
        (SnappyCodec(StringCodec()), "", ""),
        (LZ4Codec(StringCodec()), "000000401f78010027507878787878", "x" * 64),
    ],
)
def test_small_values(codec: Codec, data: str, value: Any) -> None:
    raw = bytes.fromhex(data)
    assert same(codec.decode(raw), value)
    assert codec.encode(value) == raw


def test_snappy_chunks_are_those_of_redisson() -> None:
    raw = random.Random(1).randbytes(100_000)
    data = RAW["SnappyCodec"].encode(raw)
    sizes, offset = [], 0
    while offset < len(data):
        length = int.from_bytes(data[offset : offset + 4], "big")
        sizes.append(len(RAW["SnappyCodecV2"].decode(data[offset + 4 : offset + 4 + length])))
        offset += 4 + length
    assert sizes == [32767, 32767, 32767, 1699]
    assert RAW["SnappyCodec"].decode(data) == raw


@pytest.mark.parametrize("kind", [LZ4Codec, SnappyCodec, SnappyCodecV2, ZStdCodec])
def test_values_get_shorter(kind: type[LZ4Codec]) -> None:
    codec = kind()
    data = codec.encode(REPETITIVE)
    assert len(data) < len(Kryo5Codec().encode(REPETITIVE)) / 2
    assert codec.decode(data) == REPETITIVE


# LZ4CodecV2, which Java before 4.5.0 reads only where nothing is compressed


@pytest.mark.parametrize("size", [1, 14, 15, 16, 269, 270, 271, 524, 525, 1000, 192 * 1024])
def test_lz4_literals(size: int) -> None:
    raw = bytes(size)
    data = LZ4CodecV2(BYTES).encode(raw)
    assert len(data) > size
    assert data.endswith(raw)
    assert LZ4CodecV2(BYTES).decode(data) == LZ4Codec(BYTES).decode(data) == raw


def test_lz4_v2_compresses_what_older_versions_do_not_read_anyway_and_what_it_is_told_to() -> None:
    long = bytes(192 * 1024 + 1)
    assert LZ4CodecV2(BYTES).encode(long) == LZ4Codec(BYTES).encode(long)
    assert LZ4CodecV2(compress=True).encode(REPETITIVE) == LZ4Codec().encode(REPETITIVE)
    assert LZ4CodecV2().decode(LZ4Codec().encode(REPETITIVE)) == REPETITIVE


# Errors


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_the_inner_codec_names_both_and_keeps_the_bytes_of_redis(kind: type[LZ4Codec]) -> None:
    data = kind(BYTES).encode(b"\x01\x00com.acme.Nobod\xf9\x01")
    with pytest.raises(DecodeError) as caught:
        kind().decode(data)
    error, name = caught.value, f"{kind.__name__}(Kryo5Codec)"
    assert str(error).startswith(f"{name}: after decompression: ")
    assert "com.acme.Nobody" in str(error)
    assert (error.codec, error.data, error.undecodable) == (name, data, [data])
    assert isinstance(error.__cause__, DecodeError)
    assert (error.__cause__.codec, error.__cause__.data) == ("Kryo5Codec", b"\x01\x00com.acme.Nobod\xf9\x01")


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_that_the_inner_codec_refuses(kind: type[LZ4Codec]) -> None:
    with pytest.raises(EncodeError) as caught:
        kind(JsonJacksonCodec()).encode([1, {"a": [object()]}])
    error, name = caught.value, f"{kind.__name__}(JsonJacksonCodec)"
    assert str(error).startswith(f"{name}: object ")
    assert (error.codec, error.path) == (name, "$[1]['a'][0]")


def test_names() -> None:
    codec = ZStdCodec(LZ4CodecV2(StringCodec("latin-1")))
    assert codec.name == "ZStdCodec(LZ4CodecV2(StringCodec))"
    assert repr(codec) == "ZStdCodec(LZ4CodecV2(StringCodec('latin-1')))"
    assert repr(SnappyCodecV2()) == "SnappyCodecV2(Kryo5Codec())"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("inner", "max_size", "text"),
    [
        (Kryo5Codec, MAX_SIZE, "inner must be a redisson_dq.codecs.Codec"),
        ("Kryo5Codec", MAX_SIZE, "inner must be a redisson_dq.codecs.Codec, .* not 'Kryo5Codec'"),
        (None, 0, "max_size is a number of bytes from 1 to 2113929216, not 0"),
        (None, 2**31, "max_size"),
        (None, True, "max_size"),
        (None, "1", "max_size"),
    ],
)
def test_arguments(kind: type[LZ4Codec], inner: Any, max_size: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        kind(inner, max_size=max_size)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_ratio", [0, -1, 1.5, True, "9"])
def test_max_ratio_is_a_whole_number(kind: type[LZ4Codec], max_ratio: Any) -> None:
    with pytest.raises(ArgumentError, match="max_ratio must be a whole number of 1 or more, or None"):
        kind(BYTES, max_ratio=max_ratio)


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_extra_the_error_says_what_to_install(kind: type[LZ4Codec], monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "cramjam", None)
    with pytest.raises(ArgumentError, match=rf"{kind.__name__} needs cramjam: pip install 'cramjam>=2.9'") as caught:
        kind()
    assert isinstance(caught.value.__cause__, ImportError)


def test_the_module_itself_does_without_the_extra() -> None:
    code = "import sys; sys.modules['cramjam'] = None; import redisson_dq.codecs.compression"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[3])


# Sizes


@pytest.mark.parametrize("codec", RAW.values(), ids=lambda codec: codec.name)
def test_max_size_holds_both_ways(codec: Codec) -> None:
    little = type(codec)(BYTES, max_size=1000)  # type: ignore[call-arg]
    assert little.decode(little.encode(bytes(1000))) == bytes(1000)
    with pytest.raises(EncodeError, match="1001 bytes before compression, max_size is 1000"):
        little.encode(bytes(1001))
    for value in (bytes(1001), random.Random(2).randbytes(1001)):
        with pytest.raises(DecodeError, match="1001 bytes announced, max_size is 1000"):
            little.decode(codec.encode(value))


def test_max_size_holds_for_all_chunks_together() -> None:
    data = RAW["SnappyCodec"].encode(bytes(100_000))
    with pytest.raises(DecodeError, match="98301 bytes announced, max_size is 70000"):
        SnappyCodec(BYTES, max_size=70_000).decode(data)


@contextmanager
def little_memory() -> Iterator[None]:
    """A hundred megabytes more than the process has now, whether touched or not."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 100 * 2**20, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        *((codec, b"\x70\x00\x00\x00" + bytes(16)) for codec in SIZED),
        *((codec, b"\x7f\xff\xff\xff" + bytes(16)) for codec in SIZED),
        *((codec, b"\xff\xff\xff\xff" + bytes(16)) for codec in SIZED),
        (SnappyCodecV2(BYTES), b"\x80\x80\x80\x80\x07" + bytes(15)),
        (SnappyCodecV2(BYTES), b"\xff\xff\xff\xff\x0f" + bytes(15)),
        (SnappyCodec(BYTES), b"\x00\x00\x00\x10\x80\x80\x80\x80\x07" + bytes(11)),
        (SnappyCodec(BYTES), b"\x7f\xff\xff\xff" + bytes(16)),
        (SnappyCodec(BYTES), b"\xff\xff\xff\xff" + bytes(16)),
    ],
    ids=lambda part: part.hex() if isinstance(part, bytes) else part.name,
)
def test_twenty_bytes_that_announce_gigabytes_fail_at_once(codec: Codec, data: bytes) -> None:
    assert len(data) == 20
    for max_size in (MAX_SIZE, 0x7E000000):
        each = type(codec)(BYTES, max_size=max_size)  # type: ignore[call-arg]
        with little_memory(), pytest.raises(DecodeError, match="bytes announced") as caught:
            each.decode(data)
        assert (caught.value.codec, caught.value.data) == (codec.name, data)


def test_a_bomb_fails_before_it_takes_memory() -> None:
    bomb = ZStdCodec(BYTES, max_ratio=None).encode(bytes(64 * 2**20))
    assert len(bomb) < 3_000
    subprocess.run([sys.executable, "-c", BOMB, bomb.hex()], check=True, cwd=Path(__file__).resolve().parents[3])


#: Reads the bytes of its argument in a separate process, whose peak memory shows the cost of reading.
BOMB = """
import resource, sys
from redisson_dq.codecs import ByteArrayCodec
from redisson_dq.codecs.compression import LZ4Codec, ZStdCodec
from redisson_dq.errors import DecodeError

bomb = bytes.fromhex(sys.argv[1])
LZ4Codec(ByteArrayCodec()).decode(LZ4Codec(ByteArrayCodec()).encode(bytes(1000)))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(100):
    try:
        ZStdCodec(ByteArrayCodec()).decode(bomb)
    except DecodeError as error:
        assert "max_ratio is 1000" in str(error), error
    else:
        raise AssertionError("the bomb was read")
took = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert took < 4096, f"{took} KiB"
"""


@pytest.mark.parametrize("codec", RAW.values(), ids=lambda codec: codec.name)
def test_max_ratio_holds_both_ways(codec: Codec) -> None:
    strict = type(codec)(BYTES, max_ratio=4, **({"compress": True} if codec.name.startswith("LZ4CodecV2") else {}))  # type: ignore[call-arg]
    for value in (bytes(2**20), random.Random(2).randbytes(2**20 + 1), bytes(10)):
        assert strict.decode(strict.encode(value)) == value
    large = bytes(2**20 + 1)
    with pytest.raises(EncodeError, match=r"1048577 bytes of .* compressed ones: max_ratio is 4, give the codec a"):
        strict.encode(large)
    with pytest.raises(DecodeError, match=r"bytes of .* compressed ones: max_ratio is 4, give the codec a larger one"):
        strict.decode(type(codec)(BYTES, max_ratio=None).encode(large))  # type: ignore[call-arg]
    for ratio in (30_000, None):
        free = type(codec)(BYTES, max_ratio=ratio)  # type: ignore[call-arg]
        assert free.decode(free.encode(large)) == large


def test_a_frame_that_holds_more_than_it_announces_stops_there() -> None:
    bomb = ZStdCodec(BYTES, max_ratio=None).encode(bytes(60_000_000))
    assert len(bomb) < 10_000
    with little_memory(), pytest.raises(DecodeError, match="not ZStandard data of the announced size"):
        ZStdCodec(BYTES).decode((1000).to_bytes(4, "big") + bomb[4:])


@pytest.mark.parametrize("codec", SIZED, ids=lambda codec: codec.name)
@pytest.mark.parametrize("wrong", [-1, 1, 100])
def test_the_announced_size_is_the_real_one(codec: Codec, wrong: int) -> None:
    raw = b"abcdefgh" * 40
    data = codec.encode(raw)
    with pytest.raises(DecodeError) as caught:
        codec.decode((len(raw) + wrong).to_bytes(4, "big") + data[4:])
    assert (caught.value.codec, caught.value.offset) == (codec.name, 4)


# Damaged bytes


@pytest.mark.parametrize("codec", RAW.values(), ids=lambda codec: codec.name)
@pytest.mark.parametrize(
    "raw", [b"\x03\x82a", b"abcdefgh" * 40, bytes(range(256)) * 2], ids=["little", "text", "bytes"]
)
def test_every_truncation_and_anything_after_the_value(codec: Codec, raw: bytes) -> None:
    data = codec.encode(raw)
    for end in range(len(data)):
        if end or codec.name != "SnappyCodec(ByteArrayCodec)":  # no chunk at all is the empty value
            with pytest.raises(DecodeError) as caught:
                codec.decode(data[:end])
            assert (caught.value.codec, caught.value.data) == (codec.name, data[:end])
            assert 0 <= caught.value.offset <= end
    for more in (b"\0", b"\xff", b"abcdefgh"):
        with pytest.raises(DecodeError):
            codec.decode(data + more)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_bytes_give_a_value_or_a_decode_error(kind: type[LZ4Codec]) -> None:
    rng = random.Random(11)
    codec = kind()
    sources = [codec.encode(value) for value in ("a", REPETITIVE, ["x" * 300, 1.5, None], b"ab" * 500)]
    errors = 0
    for _ in range(4000):
        data = bytearray(rng.choice(sources))
        for _ in range(rng.randint(1, 3)):
            data[min(rng.randrange(len(data)), rng.randrange(1, 200))] = rng.randrange(256)
        error = caught_from(partial(codec.decode, bytes(data)))
        if error is not None:
            assert isinstance(error, DecodeError)
            assert error.data == data
            errors += 1
    assert errors > 1000


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    for codec in RAW.values():
        error = caught_from(partial(codec.decode, data))
        assert error is None or (isinstance(error, DecodeError) and error.data == data)


# Both ways

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(), inner, max_size=8),
    max_leaves=30,
)


@given(st.binary(max_size=2000), st.integers(1, 200))
def test_bytes_come_back(raw: bytes, times: int) -> None:
    raw *= times
    for codec in RAW.values():
        data = codec.encode(raw)
        assert type(data) is bytes
        assert codec.decode(data) == codec.decode(memoryview(data)) == raw  # type: ignore[arg-type]


@settings(max_examples=as_many(30, 3000))
@given(VALUES)
def test_values_come_back(value: Any) -> None:
    for kind in KINDS:
        assert same(kind().decode(kind().encode(value)), value)
        assert same(kind(StringCodec()).decode(kind(StringCodec()).encode("\u65e5" * 9)), "\u65e5" * 9)

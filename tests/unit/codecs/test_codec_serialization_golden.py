"""Every named sample in Java's own serialization: read as its Python value, and written to the same bytes."""

from __future__ import annotations

import hashlib

import pytest

from redisson_dq import java
from redisson_dq.codecs.serialization import SerializationCodec
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java.declare import java_class
from redisson_dq.java.registry import declaration_for
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import same
from tests.unit.codecs.rows import check_rows
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.vectors import Vector, vectors
from tests.vector_files import rows
from tests.versions import NEWEST, OLDEST

codec = SerializationCodec()

#: What Java computes for the classes of com.acme that declare none themselves.
_UIDS = {
    acme.Order: 2_208_193_040_985_352_831,
    acme.Boxed: -8_792_988_848_717_371_158,
    acme.Circle: 8_254_709_024_105_414_806,
    acme.Square: 6_744_100_062_328_739_590,
    acme.Drawing: 6_132_757_024_503_495_791,
    acme.Box: 2_617_934_190_525_136_679,
    acme.StringBox: -6_735_185_940_295_170_317,
    acme.Shelf: 3_633_530_394_406_135_621,
    acme.Loose: -8_198_261_289_727_598_225,
    acme.Arrays: 731_396_600_495_342_189,
    acme.Collected: -6_635_465_503_696_695_684,
    acme.Dates: -8_815_760_764_473_868_160,
    acme.Empty: -7_467_265_573_466_695_837,
}
for _python, _uid in _UIDS.items():
    _known = declaration_for(_python)
    assert _known is not None
    java_class(_known.name, final=_known.final, rename=_known.rename, serial_version_uid=_uid)(_python)

ROWS = [vector for vector in vectors("SerializationCodec") if vector.data is not None]

#: No Python value, or a class that is not declared; and what the error says.
UNREAD = {
    "set/from-map": "java.util.Collections$SetFromMap",
    "map/properties-defaults": "Properties with defaults",
    "object/money": "com.acme.Money",
    "object/sealed": "com.acme.Sealed",
}
#: Java's bytes hold more than the sample says: sizes of tables and capacities, that a list may hold nulls, an exception
#: that was made with null as its cause, and that two equal texts or dates are one object or two.
NOT_SAID = {
    *("atomic/reference-map", "list/arraylist-nested", "list/vector", "map/hash-null-key", "unmodifiable/map-hash"),
    *("map/capacity", "map/access-order", "queue/linked-blocking-bounded", "immutable/stream-tolist"),
    *("exception/own-in-list", "objects/equal-strings", "objects/shared-date"),
}
#: What Java's serialization says of these, Python does not know, and keeps from what was read.
UNWRITTEN = {
    **dict.fromkeys(
        ("timezone/utc", "timezone/berlin", "timezone/offset"), "a sun.util.calendar.ZoneInfo is written as"
    ),
    **dict.fromkeys(("calendar/utc", "calendar/berlin"), "a java.util.GregorianCalendar is written as"),
}
#: Where the Python value says less than Java's, or another object stands for it twice.
WRITTEN_OTHERWISE = NOT_SAID | {
    "list/aslist",
    "list/aslist-mixed",
    "list/arraylist-same-twice",
    "object/order-aslist-tags",
}
#: The component type of an array behind a list is kept here, and not in the samples; a cycle has no repr.
LIKE = {"list/aslist", "list/aslist-mixed", "object/order-aslist-tags"}

READ = [row for row in ROWS if row.name not in UNREAD]


def expected(row: Vector) -> object:
    return SAMPLES[row.name]


def test_every_version_has_its_samples() -> None:
    assert {row.redisson for row in ROWS} >= {NEWEST, OLDEST}
    assert len(ROWS) > 1000
    assert len(READ) > 980


def check_read(row: Vector) -> None:
    assert row.data is not None
    value = codec.decode(row.data)
    assert value == expected(row) if row.name in LIKE else same(value, expected(row)), value


def test_a_sample_is_read_as_its_python_value() -> None:
    check_rows([row for row in READ if row.name in SAMPLES], check_read)


WRITTEN = [row for row in READ if row.deterministic]


def check_rewritten(row: Vector) -> None:
    assert row.data is not None
    value = codec.decode(row.data)
    assert codec.encode(value) == row.data


def test_what_was_read_is_written_to_the_same_bytes() -> None:
    check_rows(WRITTEN, check_rewritten)


def check_written(row: Vector) -> None:
    assert codec.encode(expected(row)) == row.data


def test_the_python_value_is_written_to_the_bytes_of_java() -> None:
    but = WRITTEN_OTHERWISE | UNWRITTEN.keys()
    check_rows([row for row in WRITTEN if row.name in SAMPLES and row.name not in but], check_written)


@pytest.mark.parametrize("row", [row for row in ROWS if row.name in UNREAD], ids=str)
def test_a_class_that_is_not_known_is_named(row: Vector) -> None:
    assert row.data is not None
    with pytest.raises(DecodeError) as caught:
        codec.decode(row.data)
    assert UNREAD[row.name] in str(caught.value)


@pytest.mark.parametrize("row", [row for row in ROWS if row.name in UNWRITTEN], ids=str)
def test_what_python_cannot_make_is_refused(row: Vector) -> None:
    with pytest.raises(EncodeError) as caught:
        codec.encode(SAMPLES[row.name])
    assert UNWRITTEN[row.name] in str(caught.value)


def long_samples() -> list[tuple[str, int, str]]:
    long = [row for row in rows("types", NEWEST) if "sha256" in row and row["codec"] == "SerializationCodec"]
    return [(row["name"], row["length"], row["sha256"]) for row in long]


LONG = {
    "string/ascii-65536": "0123456789abcdef" * 4096,
    "string/ascii-100k": "0123456789" * 10_000,
    "array/byte-100k": bytes(100_000),
}


def test_long_texts_and_arrays_are_written_to_the_bytes_of_java() -> None:
    found = {name: (length, digest) for name, length, digest in long_samples()}
    for name, value in LONG.items():
        data = codec.encode(value)
        assert (len(data), hashlib.sha256(data).hexdigest()) == found[name]
        assert codec.decode(data) == value


def test_what_java_cannot_serialize_is_refused() -> None:
    refused = [name for name in SAMPLES if name.startswith("optional/") or name in ("map/weak", "object/maybe")]
    assert len(refused) > 10
    for value in [*(SAMPLES[name] for name in refused), java.Charset("UTF-8")]:
        with pytest.raises(EncodeError):
            codec.encode(value)

"""Every value that Java wrote is read, and written to the same bytes."""

from __future__ import annotations

from decimal import Decimal
from itertools import groupby
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.errors import DecodeError, EncodeError
from tests.unit.codecs.golden_rows import CODECS, Row, rows, same
from tests.versions import REDISSONS

#: Read as a collection and written as another: their bytes differ only by the class's name.
RENAMED = {"java.util.HashMap": "java.util.LinkedHashMap", "java.util.LinkedList": "java.util.ArrayList"}
#: Read as a collection; not written, or with other bytes.
ONLY_READ = frozenset(f"java.util.{name}" for name in ("TreeMap", "HashSet", "LinkedHashSet", "TreeSet", "ArrayDeque"))
#: Java types that no codec here reads, and the class name Java gives them.
UNREAD = {
    "java.util.UUID": "java.util.UUID",
    "java.util.Date": "java.util.Date",
    "int[]": "[I",
    "long[]": "[J",
    "java.lang.String[]": "[Ljava.lang.String;",
    "java.lang.Object[]": "[Ljava.lang.Object;",
}


def group(row: Row) -> tuple[str, str, str]:
    return row.redisson, row.codec, row.java_type


GROUPS = [(key, list(found)) for key, found in groupby(sorted(rows(), key=group), group)]


def of(*java_types: str, but: frozenset[str] | set[str] = frozenset()) -> pytest.MarkDecorator:
    """The groups of these Java types, or of all but some, as test parameters."""
    chosen = [(key, found) for key, found in GROUPS if (key[2] in java_types if java_types else key[2] not in but)]
    assert chosen
    return pytest.mark.parametrize("found", [f for _, f in chosen], ids=["-".join(key) for key, _ in chosen])


def is_root_of_lost_value(row: Row) -> bool:
    """Java's JSON of a byte[] or a non-finite number that is the whole value is a mere string."""
    return row.codec == "JsonJacksonCodec" and (
        row.java_type == "byte[]" or (isinstance(row.value, float) and row.value - row.value != 0)
    )


def has(value: Any, wanted: Any) -> bool:
    """Whether a dict somewhere in the value has an entry of that kind."""
    if isinstance(value, dict):
        return any(wanted(k, v) for k, v in value.items()) or any(has(v, wanted) for v in value.values())
    return isinstance(value, list) and any(has(item, wanted) for item in value)


def has_null_entry(value: Any) -> bool:
    return has(value, lambda _key, item: item is None)


def has_odd_key(value: Any) -> bool:
    return has(value, lambda key, _item: type(key) is not str)


def without_null_entries(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_null_entries(v) for k, v in value.items() if v is not None}
    return [without_null_entries(item) for item in value] if isinstance(value, list) else value


def as_decoded(value: Any) -> Any:
    """What comes back for a value given with wrappers: the plain type where that becomes the same Java type."""
    if isinstance(value, list):
        return [as_decoded(item) for item in value]
    if isinstance(value, dict):
        return {as_decoded(key): as_decoded(item) for key, item in value.items()}
    if type(value) is java.Long and not -(2**31) <= value < 2**31:
        return int(value)
    if type(value) is java.BigInteger and not -(2**63) <= value < 2**63:
        return int(value)
    if type(value) is java.Double:
        return float(value)
    return value


def json_as_decoded(row: Row) -> Any:
    """What JsonJacksonCodec gives: as above, less what Redisson's JSON does not carry."""
    value = without_null_entries(as_decoded(row.value))
    if is_root_of_lost_value(row):
        return row.node["v"]
    if row.java_type == "java.lang.Float":
        return float(row.node["v"])
    if row.java_type in ("java.lang.Short", "java.lang.Byte"):
        return int(value)
    if row.java_type == "java.lang.Character":
        return str(value)
    if row.java_type == "java.math.BigDecimal":
        return Decimal(format(value, "f"))
    if isinstance(value, dict):
        return {key if type(key) is str else str(key): item for key, item in value.items()}
    return value


def expected(row: Row) -> Any:
    if row.codec == "Kryo5Codec":
        return as_decoded(row.value)
    if row.codec == "JsonJacksonCodec":
        return json_as_decoded(row)
    if row.codec == "StringCodec":
        return row.value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\ufffd", "?")
    return int(row.value) if row.codec in ("LongCodec", "IntegerCodec") else as_decoded(row.value)


def lost_in_java(row: Row) -> bool:
    """Whether Redisson's own bytes do not hold the value."""
    if row.codec == "StringCodec":
        return not same(expected(row), row.value)
    return row.codec == "JsonJacksonCodec" and (is_root_of_lost_value(row) or has_null_entry(row.value))


def renamed(row: Row) -> bytes:
    """Java's bytes with the classes of maps and lists that this library writes. Kryo marks a name's last letter."""
    assert row.data is not None
    data = row.data
    for old, new in RENAMED.items():
        cut = -1 if row.codec == "Kryo5Codec" else None
        data = data.replace(old[:cut].encode(), new[:cut].encode())
    return data


def plain(value: Any) -> Any:
    """The value with every collection as list, set and dict."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, java.OrderedSet):
        return set(value)
    return [plain(item) for item in value] if isinstance(value, list) else value


def written_back(row: Row) -> bytes | None:
    """The bytes that what was read becomes."""
    return row.data if row.codec in ("JsonJacksonCodec", "Kryo5Codec") else renamed(row)


def test_every_version_and_codec_is_there() -> None:
    assert {row.redisson for row in rows()} == {*REDISSONS}
    assert {row.codec for row in rows()} == set(CODECS)
    assert len(rows()) > 1900


@of(but=UNREAD.keys() | {"java.util.ArrayDeque"})
def test_what_java_wrote_is_read(found: list[Row]) -> None:
    for row in found:
        if row.data is not None:
            value = CODECS[row.codec].decode(row.data)
            assert same(plain(value), expected(row)), (row, value)


@of("java.util.ArrayDeque")
def test_a_deque_is_read_as_a_list(found: list[Row]) -> None:
    for row in found:
        assert row.data is not None
        assert same(plain(CODECS[row.codec].decode(row.data)), row.value.body), row


@of(but=ONLY_READ | UNREAD.keys())
def test_the_same_bytes_are_written(found: list[Row]) -> None:
    for row in found:
        if not lost_in_java(row) and not (row.codec == "JsonJacksonCodec" and has_odd_key(row.value)):
            data = CODECS[row.codec].encode(row.value)
            assert row.matches(data) if row.data is None else data == renamed(row), row


@of(but=ONLY_READ | UNREAD.keys())
def test_what_was_read_is_written_back_as_it_was(found: list[Row]) -> None:
    for row in found:
        if row.data is not None:
            codec = CODECS[row.codec]
            assert codec.encode(codec.decode(row.data)) == written_back(row), row


@of(*UNREAD)
def test_a_class_that_is_not_known_is_named(found: list[Row]) -> None:
    for row in found:
        assert row.data is not None
        if row.codec == "JsonJacksonCodec" and row.data.startswith(b'"'):
            # Redisson before 4 writes a UUID as a mere string.
            assert CODECS[row.codec].decode(row.data) == str(row.value)
            continue
        if row.codec == "Kryo5Codec" or row.data.startswith(f'["{UNREAD[row.java_type]}",'.encode()):
            assert CODECS[row.codec].encode(CODECS[row.codec].decode(row.data)) == row.data
            continue
        with pytest.raises(DecodeError) as caught:
            CODECS[row.codec].decode(row.data)
        assert caught.value.data == row.data
        named = UNREAD[row.java_type].encode() in row.data
        assert (UNREAD[row.java_type] if named else "without the name of its Java type") in str(caught.value)


def test_what_java_loses_is_kept_or_refused() -> None:
    lost = [row for row in rows() if lost_in_java(row) and not has_odd_key(row.value)]
    assert {row.java_type for row in lost} >= {"byte[]", "java.lang.Double", "java.lang.Float", "java.lang.String"}
    assert any(has_null_entry(row.value) for row in lost)
    for row in lost:
        codec = CODECS[row.codec]
        if row.codec == "StringCodec":
            with pytest.raises(EncodeError, match=r"U\+D[89A-F]"):
                codec.encode(row.value)
        else:
            data = codec.encode(row.value)
            assert not row.matches(data), row
            assert same(codec.decode(data), as_decoded(row.value)), row


def test_json_keys_that_java_turns_into_text_are_refused() -> None:
    odd = [row for row in rows() if row.codec == "JsonJacksonCodec" and has_odd_key(row.value)]
    assert odd
    for row in odd:
        with pytest.raises(EncodeError, match="keys are str"):
            CODECS[row.codec].encode(row.value)


def test_what_java_cannot_encode_is_refused() -> None:
    refused = [row for row in rows() if row.encode_error]
    assert refused
    for row in refused:
        with pytest.raises(EncodeError):
            CODECS[row.codec].encode(row.value)

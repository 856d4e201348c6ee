"""Kryo5Codec: ConcurrentHashMap.newKeySet() in the bytes of Redisson 4.7 and of those before it."""

from __future__ import annotations

from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs import Kryo5Codec
from redisson_dq.errors import DecodeError, EncodeError
from tests.unit.codecs.golden_rows import same

SET, MAP, LIST = (
    name.encode().hex()[:-2] + f"{ord(name[-1]) | 0x80:02x}"
    for name in (java.ConcurrentHashSet.java_name, java.ConcurrentHashMap.java_name, "java.util.ArrayList")
)
of = java.ConcurrentHashSet
ALLOWED = (java.ConcurrentHashMap.java_name, java.ConcurrentHashSet.java_name)
shared = of("z")

#: A value, whether with references, and the bytes of Redisson 4.7 and 4.3.
OF_JAVA: list[tuple[Any, bool, str, str]] = [
    (of("abc"), False, f"0100{SET}0101{MAP}040382610501038262050103826305010501", f"0100{SET}840300826182628263"),
    (of(), False, f"0100{SET}0101{MAP}010501", f"0100{SET}01"),
    (
        [of("a"), of(), java.ConcurrentHashMap({"x": 1}), of("b")],
        False,
        f"0100{LIST}050101{SET}0102{MAP}0203826105010501010101020105010102020382780202010101020203826205010501",
        f"0100{LIST}050101{SET}82030082610101010102{MAP}02038278020201018203008262",
    ),
    (
        [of("a"), of(), of("b")],
        False,
        f"0100{LIST}840101{SET}000102{MAP}0203826105010501010201050101020203826205010501",
        f"0100{LIST}840101{SET}008203008261018203008262",
    ),
    (
        of("abc"),
        True,
        f"0100{SET}010101{MAP}01040301826105010301826205010301826305010501",
        f"0100{SET}01840300018261018262018263",
    ),
    (of(), True, f"0100{SET}010101{MAP}01010501", f"0100{SET}0101"),
    (
        [shared, shared],
        True,
        f"0100{LIST}01830101{SET}00010102{MAP}01020301827a0501050103",
        f"0100{LIST}01830101{SET}000182030001827a03",
    ),
    (
        java.Elements(of.java_name, [of("z")]),
        False,
        f"0100{SET}0101{MAP}02010001010203827a0501050105010501",
        f"0100{SET}82010000820300827a",
    ),
]


@pytest.mark.parametrize(("value", "references", "new", "old"), OF_JAVA)
def test_the_bytes_are_those_of_the_redisson_that_is_there(value: Any, references: bool, new: str, old: str) -> None:
    newest, before = Kryo5Codec(references=references), Kryo5Codec(references=references, redisson="4.6.1")
    assert newest.encode(value).hex() == new
    with pytest.raises(EncodeError, match=r"Java's Kryo cannot read back before Redisson 4\.7: send a set"):
        before.encode(value)
    assert Kryo5Codec(references=references, redisson="4.7").encode(value) == newest.encode(value)
    for codec in (newest, before):
        for data in (new, old):
            assert same(codec.decode(bytes.fromhex(data)), value)
    assert newest.encode(newest.decode(bytes.fromhex(new))).hex() == new


@pytest.mark.parametrize("redisson", [None, "4.7.0", "4.3", "3.50"])
@pytest.mark.parametrize(
    ("allowed", "references", "written"),
    [(ALLOWED, False, "0c8203008261"), (ALLOWED, True, "0c01820300018261"), (ALLOWED[1:], False, "0b8203008261")],
)
def test_with_allowed_classes_no_redisson_reads_what_it_writes(
    redisson: str | None, allowed: tuple[str, ...], references: bool, written: str
) -> None:
    codec = Kryo5Codec(allowed, references, redisson=redisson)
    with pytest.raises(EncodeError, match=r"Java's Kryo cannot read back with allowed classes: send a set"):
        codec.encode(of("a"))
    assert same(codec.decode(bytes.fromhex(written)), of("a"))


@pytest.mark.parametrize("end", ["0e00", "050100"])
def test_what_redisson_itself_cannot_read_is_refused(end: str) -> None:
    data = bytes.fromhex(f"0100{SET}0101{MAP}0203827102{end}" if end == "0e00" else f"0100{SET}0101{MAP}02038271{end}")
    with pytest.raises(DecodeError, match=r"the keySet\(\) of a ConcurrentHashMap, which Redisson cannot read"):
        Kryo5Codec().decode(data)


def test_values_of_the_keys_are_not_told_by_the_set_and_not_written_back() -> None:
    # map.keySet(5) of {q=7}
    data = bytes.fromhex(f"0100{SET}0101{MAP}02038271020e020a")
    found = Kryo5Codec().decode(data)
    assert same(found, of("q"))
    assert Kryo5Codec().encode(found) != data

"""SerializationCodec and bytes made to do harm. Their cost is in proportion to their length, and they run no code."""

from __future__ import annotations

import functools
import random
import struct
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs.serialization import SerializationCodec, stream
from redisson_dq.codecs.serialization.descriptors import array_descriptor
from redisson_dq.codecs.serialization.stream import ArrayInstance, ClassDesc, ClassObject, Content, FieldDesc, Instance
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import java_class
from tests.conftest import as_many
from tests.unit.codecs.golden_rows import caught_from, with_little_stack
from tests.unit.codecs.hostile_families import instance, written
from tests.unit.codecs.vectors import vectors

codec = SerializationCodec()
generic = SerializationCodec(unknown="generic")
#: Seconds of CPU: what is not bounded takes hours, however slow the machine is.
LIMIT = 60.0
OBJECTS = "[Ljava.lang.Object;"
#: How often one object is referred to.
OFTEN = as_many(200, 5_000)


def array_list(*items: Content) -> Instance:
    return instance("java.util.ArrayList", {"size": len(items)}, [struct.pack(">i", len(items)), *items])


def hash_set(*items: Content) -> Instance:
    return instance("java.util.HashSet", {}, [struct.pack(">ifi", 16, 0.75, len(items)), *items])


def linked_map(*pairs: tuple[Content, Content]) -> Instance:
    head = struct.pack(">ii", 16, len(pairs))
    flat = [content for pair in pairs for content in pair]
    return instance("java.util.LinkedHashMap", {"loadFactor": 0.75}, [head, *flat])


def big_integer(value: int) -> Instance:
    magnitude = ArrayInstance(array_descriptor("[B"), value.to_bytes((value.bit_length() + 7) // 8, "big"))
    return instance("java.math.BigInteger", {"signum": 1, "magnitude": magnitude})


def user_class(name: str, *fields: FieldDesc, uid: int = 1, superclass: ClassDesc | None = None) -> ClassDesc:
    return ClassDesc(name, uid, stream.SC_SERIALIZABLE, fields, superclass)


def quickly(call: Callable[[], Any]) -> Any:
    """The result of a call, or its error, that takes no longer than it may."""
    results: list[Any] = []
    started = time.process_time()
    error = caught_from(lambda: results.append(call()))
    assert time.process_time() - started < LIMIT
    return error or results[0]


# Shared references


def test_sets_of_shared_sets_are_read_at_once() -> None:
    # Java computes a hash for every path through these, 2 ** 100 of them.
    left, right = hash_set("one"), hash_set("other")
    for _ in range(100):
        left, right = hash_set(left, right, "x"), hash_set(left, right)
    value = quickly(lambda: codec.decode(written(hash_set(left, right))))
    assert isinstance(value, java.Elements)
    assert value[0][0] is value[1][0]


def test_lists_of_shared_lists_are_read_and_written_at_once() -> None:
    node = array_list("x")
    for _ in range(150):
        node = array_list(node, node)
    data = written(node)
    value = quickly(lambda: codec.decode(data))
    assert value[0] is value[1]
    assert quickly(lambda: codec.encode(value)) == data


@java_class("com.acme.hostile.Pair", serial_version_uid=1)
@attrs.frozen
class Pair:
    left: Any
    right: Any


PAIR = user_class(
    "com.acme.hostile.Pair", FieldDesc("left", "Ljava/lang/Object;"), FieldDesc("right", "Ljava/lang/Object;")
)


def pair(left: Content, right: Content) -> Instance:
    return Instance(PAIR, {PAIR.name: stream.Section({"left": left, "right": right})})


def shared_pairs(depth: int) -> Instance:
    node = pair("x", "y")
    for _ in range(depth):
        node = pair(node, node)
    return node


@pytest.mark.parametrize("container", [hash_set, lambda key: linked_map((key, None))])
def test_a_key_that_takes_too_long_to_hash_is_refused(container: Callable[[Content], Content]) -> None:
    assert codec.decode(written(container(shared_pairs(5))))
    error = quickly(lambda: codec.decode(written(container(shared_pairs(100)))))
    assert isinstance(error, DecodeError)
    assert "referred to too often" in str(error)


def test_one_key_in_very_many_maps_is_refused() -> None:
    key = shared_pairs(10)
    error = quickly(lambda: codec.decode(written(array_list(*[linked_map((key, None)) for _ in range(1000)]))))
    assert isinstance(error, DecodeError)
    assert "referred to too often" in str(error)


def test_keys_of_one_hash_are_refused() -> None:
    # Multiples of 2 ** 61 - 1 have the hash 0 in Python.
    keys = [big_integer(n * (2**61 - 1)) for n in range(1, 20_000)]
    for node in (hash_set(*keys), linked_map(*[(key, None) for key in keys])):
        data = written(node)
        error = quickly(functools.partial(codec.decode, data))
        assert isinstance(error, DecodeError)
        assert "same hash" in str(error)
    assert len(codec.decode(written(hash_set(*[big_integer(n << 64) for n in range(1, 5000)])))) == 4999


def unmodifiable(inner: Instance) -> Instance:
    return instance("java.util.Collections$UnmodifiableList", {"c": inner, "list": inner})


def as_list(inner: ArrayInstance) -> Instance:
    return instance("java.util.Arrays$ArrayList", {"a": inner})


@pytest.mark.parametrize(
    "copying",
    [
        lambda: [unmodifiable(inner) for inner in [array_list(*[None] * 20_000)] for _ in range(OFTEN)],
        lambda: [
            as_list(inner)
            for inner in [ArrayInstance(array_descriptor(OBJECTS), [None] * 20_000)]
            for _ in range(OFTEN)
        ],
        lambda: [
            instance("java.util.BitSet", {"bits": inner})
            for inner in [ArrayInstance(array_descriptor("[J"), (-1,) * 2_000)]
            for _ in range(OFTEN)
        ],
        lambda: [
            instance("java.lang.StringBuffer", {"count": 20_000, "value": inner})
            for inner in [ArrayInstance(array_descriptor("[C"), (97,) * 20_000)]
            for _ in range(OFTEN)
        ],
        lambda: [
            instance("java.math.BigInteger", {"signum": 1, "magnitude": inner})
            for inner in [ArrayInstance(array_descriptor("[B"), b"\xff" * 20_000)]
            for _ in range(OFTEN)
        ],
        lambda: [
            instance("java.math.BigDecimal", {"intVal": inner})
            for inner in [big_integer(10**3999)]
            for _ in range(4 * OFTEN)
        ],
        lambda: [ClassObject(inner) for inner in [user_class("x" * 60_000)] for _ in range(OFTEN)],
        lambda: [instance("java.net.URI", {"string": inner}) for inner in ["x" * 60_000] for _ in range(OFTEN)],
        lambda: [
            instance("java.net.URL", {"protocol": "http", "file": inner})
            for inner in ["x" * 60_000]
            for _ in range(OFTEN)
        ],
        lambda: [instance("java.util.Collections$CopiesList", {"n": 0x7FFFFFFF})],
        lambda: [
            instance("java.util.concurrent.CopyOnWriteArraySet", {"al": inner})
            for inner in [
                instance(
                    "java.util.concurrent.CopyOnWriteArrayList",
                    {},
                    [struct.pack(">i", 10_000), *map(str, range(10_000))],
                )
            ]
            for _ in range(OFTEN)
        ],
    ],
)
def test_what_is_copied_from_one_object_very_often_is_refused(copying: Callable[[], list[Content]]) -> None:
    data = written(array_list(*copying()))
    tracemalloc.start()
    error = quickly(lambda: codec.decode(data))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(error, DecodeError)
    assert "referred to too often" in str(error)
    assert peak < 100 * len(data) + 50_000_000


# Nesting and numbers


@pytest.mark.parametrize("depth", [199, 200, 201, 5_000])
def test_lists_nest_so_deep_and_no_deeper(depth: int) -> None:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    node = array_list()
    for _ in range(min(depth, 400) - 1):
        node = array_list(node)
    if depth <= 200:
        data = codec.encode(value)
        assert codec.decode(data) == value
        return
    with pytest.raises(EncodeError, match="deeper than 200"):
        codec.encode(value)
    head = b"\xac\xed\x00\x05" + b"\x75" + written(array_descriptor(OBJECTS))[4:] + b"\0\0\0\1"
    with pytest.raises(DecodeError, match="deeper than 200"):
        codec.decode(head + b"\x75\x71\x00\x7e\x00\x00\0\0\0\1" * depth + b"\x70")


def test_too_little_stack_is_an_error_of_the_codec() -> None:
    value: Any = []
    for _ in range(150):
        value = [value]
    data = codec.encode(value)
    assert isinstance(with_little_stack(60, lambda: caught_from(lambda: codec.encode(value))), EncodeError)
    assert isinstance(with_little_stack(60, lambda: caught_from(lambda: codec.decode(data))), DecodeError)


def test_deep_superclasses_are_refused() -> None:
    desc = user_class("com.acme.C0")
    for number in range(150):
        desc = user_class(f"com.acme.C{number + 1}", superclass=desc)
    with pytest.raises(DecodeError, match="not declared"):
        codec.decode(written(Instance(desc)))
    # Each alone is shallow, and refers to the one before.
    head = b"".join((b"\x76\x72\x00\x01C", bytes(8), b"\x02\x00\x00\x78\x70"))
    # A class descriptor and its Class object take a handle each.
    chain = [
        b"\x76\x72\x00\x01C" + bytes(8) + b"\x02\x00\x00\x78\x71" + struct.pack(">i", 0x7E0001 + 2 * n)
        for n in range(300)
    ]
    array = b"\xac\xed\x00\x05\x75" + written(array_descriptor(OBJECTS))[4:] + struct.pack(">i", 301)
    with pytest.raises(DecodeError):
        codec.decode(array + head + b"".join(chain))


def test_a_class_cannot_be_its_own_superclass() -> None:
    data = b"\xac\xed\x00\x05\x73\x72\x00\x01C" + bytes(8) + b"\x02\x00\x00\x78\x71\x00\x7e\x00\x00"
    with pytest.raises(DecodeError, match="a class is missing"):
        codec.decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\x75" + written(array_descriptor("[B"))[4:] + b"\x7f\xff\xff\xff",
        b"\x75" + written(array_descriptor("[J"))[4:] + b"\x10\x00\x00\x00",
        b"\x75" + written(array_descriptor(OBJECTS))[4:] + b"\x7f\xff\xff\xff",
        b"\x75" + written(array_descriptor(OBJECTS))[4:] + b"\xff\xff\xff\xff",
        b"\x7c\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"\x7c\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x74\xff\xffa",
        b"\x72\x00\x01C" + bytes(8) + b"\x02\xff\xff",
        b"\x7d\x00\x00\xff\xff",
        b"\x7d\x7f\xff\xff\xff",
        b"\x7a\x7f\xff\xff\xff",
        b"\x7a\xff\xff\xff\xff",
    ],
)
def test_a_length_is_compared_with_what_is_there(data: bytes) -> None:
    tracemalloc.start()
    error = quickly(lambda: codec.decode(b"\xac\xed\x00\x05" + data))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(error, DecodeError)
    assert peak < 1_000_000


def test_a_decimal_may_not_have_too_many_digits() -> None:
    with pytest.raises(DecodeError, match="4000 digits"):
        codec.decode(written(instance("java.math.BigDecimal", {"intVal": big_integer(10**4000)})))


def test_the_type_of_a_field_is_the_one_announced() -> None:
    for wrong in ("I", "", "Xcom.acme.A", "[I"):
        desc = user_class("com.acme.A", FieldDesc("a", "Lcom.acme.B;"))
        data = written(ClassObject(desc)).replace(
            b"t\0\x0cLcom.acme.B;", b"t\0" + bytes((len(wrong),)) + wrong.encode()
        )
        with pytest.raises(DecodeError, match="where 'L' is announced"):
            codec.decode(data)


def test_many_objects_of_a_deep_class_take_no_longer() -> None:
    desc = user_class("com.acme.C0")
    for number in range(190):
        desc = user_class(f"com.acme.C{number + 1}", superclass=desc)
    data = written(ArrayInstance(array_descriptor(OBJECTS), [Instance(desc) for _ in range(50_000)]))
    value = quickly(lambda: generic.decode(data))
    assert len(value) == 50_000


# Damaged bytes


def distinct() -> list[bytes]:
    return sorted(
        {vector.data for vector in vectors("SerializationCodec") if vector.data}, key=lambda data: (len(data), data)
    )


def value_or_error(data: bytes, of: SerializationCodec) -> bool:
    """Whether the bytes are a value, which then can be written, or is refused as one that is only read."""
    error = caught_from(lambda: of.decode(data))
    if error is not None:
        assert isinstance(error, DecodeError), data
        assert (error.codec, error.data) == (of.name, data)
        assert 0 <= error.offset <= len(data)
        return False
    refused = caught_from(lambda: of.encode(of.decode(data)))
    assert refused is None or isinstance(refused, EncodeError), data
    return True


def test_golden_bytes_cut_off_anywhere_are_no_value() -> None:
    for data in distinct()[:: as_many(18, 1)]:
        for end in range(len(data)):
            assert not value_or_error(data[:end], codec), (data, end)


def test_golden_bytes_changed_at_random_are_a_value_or_an_error() -> None:
    chance = random.Random(20260727)
    values = errors = 0
    for data in distinct():
        for turn in range(25):
            if value_or_error(damaged(data, chance), generic if turn % 2 else codec):
                values += 1
            else:
                errors += 1
    assert values > 500
    assert errors > 5_000


def damaged(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        position = chance.randrange(len(changed))
        kind = chance.randrange(5)
        if kind == 0:
            changed.insert(position, chance.randrange(256))
        elif kind == 1 and len(changed) > 5:
            del changed[position : position + chance.randrange(1, 4)]
        elif kind == 2:
            changed[position : position + 5] = b"\x71\x00\x7e\x00" + bytes((chance.randrange(30),))
        elif position < len(changed):
            changed[position] = chance.choice((changed[position] ^ 1 << chance.randrange(8), 0x70, 0x78, 0x80, 0xFF))
    return bytes(changed)

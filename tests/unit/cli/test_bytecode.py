"""The walk through a method's code: every operation once, however long its operands are."""

from __future__ import annotations

import struct

import pytest

from redisson_dq.cli.generate_classes._bytecode import NEW, PUT_STATIC, instructions

#: Operations whose operands would be taken for others by one who counts them wrong; each followed by a NEW of 7.
CODES = {
    "nop": b"\x00",
    "bipush": b"\x10\xbb",
    "sipush": b"\x11\xbb\xb3",
    "wide iload": b"\xc4\x15\xbb\xb3",
    "wide iinc": b"\xc4\x84\xbb\xb3\xbb\xb3",
    "invokeinterface": b"\xb9\x00\xbb\x01\x00",
    "multianewarray": b"\xc5\x00\xbb\xb3",
    "goto_w": b"\xc8\xbb\xb3\xbb\xb3",
}


@pytest.mark.parametrize("name", CODES)
def test_operands_are_no_operations(name: str) -> None:
    assert found(CODES[name]) == [7]


@pytest.mark.parametrize("before", range(4))
def test_the_tables_of_switches_are_passed_over(before: int) -> None:
    start = b"\x00" * before
    padding = b"\xbb" * (3 - before)
    table = b"\xaa" + padding + struct.pack(">iiiiii", 0, -1, 1, 0xBB, 0xBB, 0xBB)
    assert found(start + table) == [7]
    lookup = b"\xab" + padding + struct.pack(">iiiiii", 0, 2, 1, 0xBB, 2, 0xBB)
    assert found(start + lookup) == [7]


def test_code_that_is_cut_off_ends() -> None:
    with pytest.raises((IndexError, struct.error)):
        list(instructions(b"\xaa", 0, 1))
    assert [operation for operation, _ in instructions(b"\xbb", 0, 1)] == [NEW]


def found(code: bytes) -> list[int]:
    data = b"head" + code + b"\xbb\x00\x07"
    walked = list(instructions(data, 4, len(code) + 3))
    assert not [operation for operation, _ in walked if operation == PUT_STATIC]
    return [int.from_bytes(data[at : at + 2], "big") for operation, at in walked if operation == NEW]

"""Invisible characters: a text that contains one can be told from any other text."""

from __future__ import annotations

import pytest

from redisson_dq._operations.shell import safe

#: Default_Ignorable_Code_Point of Unicode 15, by first and last.
IGNORABLE = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)


@pytest.mark.parametrize(("first", "last"), IGNORABLE)
def test_ignorable_code_points_are_escaped(first: int, last: int) -> None:
    for point in range(first, last + 1):
        assert safe(f"or{chr(point)}ders").isascii()


def test_all_of_them_are_tested() -> None:
    assert sum(last - first + 1 for first, last in IGNORABLE) == 4174

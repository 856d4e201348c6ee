"""Decoding takes time in proportion to the bytes, whatever they are."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable
from typing import Any

import pytest

from redisson_dq.errors import EncodeError
from tests.conftest import by_night
from tests.unit.codecs.hostile_families import FAMILIES, Family, work_on

#: Four times the bytes may take this many times the work: 16 would be quadratic.
MOST_GROWTH = 9.0
#: What takes less is not looked at: seconds of CPU for the bytes that are four times as many.
NOTHING = 0.08
#: The size grows until the work can be measured, but not beyond this many bytes.
SIZES = (200, 800)
SIZES_AT_NIGHT = (*SIZES, 3_200)
LARGEST = 150_000
#: A machine that others use as well is slow at times, but not each time.
ATTEMPTS = 6


def in_turn(families: Iterable[Family]) -> list[Any]:
    """Every third of the families by day.

    Of the kinds of sets a codec has one by day for each kind of key, all of them in turn.
    """
    sets: dict[tuple[str, str], list[Family]] = {}
    for family in families:
        kind, _, keys = family.name.partition(" of ")
        if kind in ("HashSet", "LinkedHashSet", "small sets"):
            sets.setdefault((repr(family.codec), keys), []).append(family)
    at_night = {
        id(each)
        for number, alike in enumerate(sets.values())
        for each in alike
        if each is not alike[number % len(alike)]
    }
    return [
        by_night(family) if number % 3 or id(family) in at_night else family for number, family in enumerate(families)
    ]


def seconds(family: Family, data: bytes) -> float:
    gc.disable()
    try:
        started = time.process_time()
        work_on(family, data)
        return time.process_time() - started
    finally:
        gc.enable()


@pytest.mark.parametrize("family", in_turn(FAMILIES), ids=lambda family: f"{family.codec!r} {family.name}")
@pytest.mark.parametrize("sizes", [SIZES, by_night(SIZES_AT_NIGHT)], ids=len)
def test_the_work_grows_no_faster_than_the_bytes(family: Family, sizes: tuple[int, ...]) -> None:
    for size in sizes:
        try:
            large = family.make(4 * size)
        except EncodeError:
            # A codec writes no more than it would read.
            return
        taken = seconds(family, large)
        if taken >= NOTHING or len(large) > LARGEST:
            break
    if taken < NOTHING:
        return
    # What is refused after so many steps grows faster up to there, and what is quadratic goes on.
    told = too_fast(family, size) and too_fast(family, 4 * size)
    assert not told, told


def too_fast(family: Family, size: int) -> str:
    """What four times the bytes took that grew too fast."""
    small, large = family.make(size), family.make(4 * size)
    growth = len(large) / len(small)
    taken = seconds(family, large)
    for _ in range(ATTEMPTS):
        # The least of several is what the work itself takes.
        if taken < NOTHING or taken <= seconds(family, small) * growth * MOST_GROWTH / 4:
            return ""
        taken = min(taken, seconds(family, large))
    return f"{len(large)} bytes take {taken:.2f} s, {len(small)} bytes {seconds(family, small):.2f} s"

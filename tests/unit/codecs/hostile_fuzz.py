"""Looks for bytes that take long: ``python -m tests.unit.codecs.hostile_fuzz --seconds 600``.

It takes bytes that Java wrote, and repeats a part of them very often. Bytes whose work grows faster than their length
are printed, and the command ends with 1. The same seed tries the same bytes.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence

from redisson_dq.codecs import Codec, SerializationCodec
from redisson_dq.codecs.jackson.json_jackson import JsonJacksonCodec
from tests.unit.codecs.hostile_families import FAMILIES, Family, work_on
from tests.unit.codecs.test_codec_vectors import CODECS
from tests.unit.codecs.vectors import vectors

#: Bytes of the larger of two values, and the seconds of CPU that it may take.
LARGE = 100_000
MOST_SECONDS = 2.0
MOST_GROWTH = 9.0


def repeated(data: bytes, start: int, end: int, size: int) -> bytes:
    """The bytes with a part of them so often that they are about ``size``."""
    return data[:start] + data[start:end] * max(1, size // (end - start)) + data[end:]


def seconds(codec: Codec, data: bytes) -> float:
    started = time.process_time()
    work_on(Family("", codec, bytes), data)
    return time.process_time() - started


def is_slow(codec: Codec, small: bytes, large: bytes) -> bool:
    """Whether the larger value takes more, each time, than its length pays for."""
    taken = seconds(codec, large)
    if taken < 0.1:
        return False
    for _ in range(5):
        if taken <= MOST_SECONDS and taken <= seconds(codec, small) * MOST_GROWTH:
            return False
        taken = min(taken, seconds(codec, large))
    return True


def tries(chance: random.Random) -> Iterator[tuple[Codec, bytes, int, int]]:
    known = {name: [vector.data for vector in vectors(name) if vector.data] for name in CODECS}
    codecs: list[tuple[Codec, str]] = [(codec, name) for name, codec in CODECS.items()]
    codecs.append((JsonJacksonCodec(unknown="generic"), "JsonJacksonCodec"))
    codecs.append((SerializationCodec(unknown="generic"), "SerializationCodec"))
    while True:
        codec, name = chance.choice(codecs)
        data = bytearray(chance.choice(known[name]))
        if chance.random() < 0.5:
            data[chance.randrange(len(data))] = chance.randrange(256)
        start = chance.randrange(len(data))
        yield codec, bytes(data), start, min(len(data), start + chance.choice((1, 1, 2, 3, 5, 8, 20, 60, 200)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Look for bytes that take long to decode.")
    parser.add_argument("--seconds", type=float, default=600, help="when to end")
    parser.add_argument("--most", type=int, default=1_000_000, help="how many values to try at most")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args(arguments)
    ends = time.monotonic() + options.seconds
    found = count = 0
    for codec, data, start, end in tries(random.Random(options.seed)):
        if time.monotonic() > ends or count == options.most:
            break
        count += 1
        small, large = (repeated(data, start, end, size) for size in (LARGE // 4, LARGE))
        if is_slow(codec, small, large):
            found += 1
            print(f"{codec!r}: {data.hex()} [{start}:{end}] repeated")
    for family in FAMILIES:
        if time.monotonic() > ends:
            break
        if is_slow(family.codec, family.make(1_000), family.make(4_000)):
            found += 1
            print(f"{family.codec!r}: {family.name}")
    print(f"{count} values with the seed {options.seed}, {found} of them slow")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

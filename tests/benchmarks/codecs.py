"""How many values a second each codec encodes and decodes, beside Redisson's own and beside Python's usual formats.

The values are samples that the Java peer has too, so both sides use the same ones. Slices alternate (A, B, A, B ...),
and each uses one value that was made before.
"""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import orjson
import pytest

from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from tests.benchmarks.measures import REDISSON, SYNC, Settings, Spread
from tests.peer import JavaPeer
from tests.unit.codecs.acme import Order
from tests.unit.codecs.long_way import take_shortcuts_away
from tests.unit.codecs.samples import SAMPLES

__all__ = ["DECODE", "ENCODE", "KRYO", "ORDER", "SCALARS", "CodecRates", "Figure", "figures", "measure"]

ENCODE, DECODE = "encode", "decode"

#: The samples by their names in the table. The last one is an object of five fields, one of which is an object that
#: contains another one.
_SCALARS = {
    "Integer 65536": "int/65536",
    "Long 2 ** 32": "long/4294967296",
    "Double 19.99": "double/19.99",
    "String of 13, ASCII": "string/ascii",
    "String of 7, Unicode": "string/unicode",
}
ORDER = "Order"
_VALUES = {
    **_SCALARS,
    "list of 3 Strings": "list/arraylist-strings",
    "map of 6, mixed": "map/linked-mixed",
    ORDER: "object/order",
}
SCALARS = tuple(_SCALARS)

KRYO = f"{SYNC} Kryo5Codec"
_CODECS: dict[str, Codec] = {
    f"{SYNC} {codec.name}": codec for codec in (Kryo5Codec(), JsonJacksonCodec(), SerializationCodec())
}
_REDISSON = {f"{REDISSON} {codec.name}": codec.name for codec in _CODECS.values()}

_LONG_WAY = ", without functions made for a class"

#: Values a second, one figure a round, by value, direction and contender. The first one, of cold code, does not count.
CodecRates = dict[tuple[str, str, str], list[float]]

_Call = Callable[[Any], Any]

#: Calls between two readings of the clock.
_BATCH = 50


@attrs.frozen(kw_only=True)
class Figure:
    """The result of one contender with one value in one direction."""

    value: str
    direction: str
    name: str
    rate: Spread


def figures(rates: Mapping[tuple[str, str, str], Sequence[float]]) -> list[Figure]:
    """All measurements, without the first round."""
    return [
        Figure(value=value, direction=direction, name=name, rate=Spread.of(found[1:]))
        for (value, direction, name), found in rates.items()
    ]


def measure(peer: JavaPeer | None, settings: Settings, say: Callable[[str], None]) -> CodecRates:
    """Every contender with every value, both ways."""
    slices = {key: call for value in _VALUES for key, call in _slices(value, peer, settings.slice_ms).items()}
    rates: CodecRates = {}
    for number in range(settings.rounds + 1):
        say(f"codecs {number}/{settings.rounds}" if number else "codecs, warm-up")
        for key, run in slices.items():
            rates.setdefault(key, []).append(run())
    return rates


def _slices(value: str, peer: JavaPeer | None, millis: int) -> dict[tuple[str, str, str], Callable[[], float]]:
    """By value, direction and contender: the function that measures one slice and returns its rate."""
    sample = SAMPLES[_VALUES[value]]
    plain = attrs.asdict(sample) if isinstance(sample, Order) else sample
    contenders: dict[str, tuple[_Call, _Call, Any]] = {
        **{name: (codec.encode, codec.decode, sample) for name, codec in _CODECS.items()},
        "json": (lambda given: json.dumps(given).encode(), json.loads, plain),
        "orjson": (orjson.dumps, orjson.loads, plain),
        "pickle": (pickle.dumps, pickle.loads, sample),
    }
    found: dict[tuple[str, str, str], Callable[[], float]] = {}
    for name, (encode, decode, given) in contenders.items():
        found[value, ENCODE, name] = _repeated(encode, given, millis)
        found[value, DECODE, name] = _repeated(decode, encode(given), millis)
    if value == ORDER:
        found |= _long_ways(sample, millis)
    if peer is not None:
        for name, codec_name in _REDISSON.items():
            for direction in (ENCODE, DECODE):
                found[value, direction, name] = _java(peer, f"time_{direction}", codec_name, _VALUES[value], millis)
    return found


def _long_ways(sample: Any, millis: int) -> dict[tuple[str, str, str], Callable[[], float]]:
    """The same codecs without the functions that they generate for a declared class, to show what these are worth."""
    found: dict[tuple[str, str, str], Callable[[], float]] = {}
    for name, codec in _CODECS.items():
        with pytest.MonkeyPatch.context() as patched:
            take_shortcuts_away(patched)
            slow = type(codec)()
            data = slow.encode(sample)
            slow.decode(data)
        for direction, call, given in ((ENCODE, slow.encode, sample), (DECODE, slow.decode, data)):
            found[ORDER, direction, f"{name}{_LONG_WAY}"] = _without_shortcuts(_repeated(call, given, millis))
    return found


def _without_shortcuts(run: Callable[[], float]) -> Callable[[], float]:
    def slow() -> float:
        with pytest.MonkeyPatch.context() as patched:
            take_shortcuts_away(patched)
            return run()

    return slow


def _repeated(call: _Call, given: Any, millis: int) -> Callable[[], float]:
    def run() -> float:
        count, start = 0, time.perf_counter_ns()
        now, end = start, start + millis * 1_000_000
        while now < end:
            for _ in range(_BATCH):
                call(given)
            count += _BATCH
            now = time.perf_counter_ns()
        return count / (now - start) * 1e9

    return run


def _java(peer: JavaPeer, op: str, codec: str, sample: str, millis: int) -> Callable[[], float]:
    def run() -> float:
        answer = peer.call(op, codec=codec, name=sample, millis=millis)
        return float(answer["count"] / answer["nanos"] * 1e9)

    return run

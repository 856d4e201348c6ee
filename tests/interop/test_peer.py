"""The Java peer itself: the properties that other tests rely on."""

from __future__ import annotations

import json
import math
import struct
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as NotYet
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import by_night, eventually
from tests.interop.conftest import EACH_VERSION
from tests.peer import VERSIONS, JavaPeer, PeerDied, PeerError, Typed, from_json, to_json
from tests.vector_files import FOLDER, made, rows, settled
from tests.versions import NEWEST, OLDEST, REDISSONS

LONG_5 = {"$": "java.lang.Long", "v": "5"}


@pytest.fixture
def redis_url(servers: Callable[[str], EmbeddedServer]) -> str:
    return servers("redis").url.removesuffix("/0")


@pytest.fixture(params=EACH_VERSION)
def peer(request: pytest.FixtureRequest, peers: Callable[[str], JavaPeer], redis_url: str) -> Iterator[JavaPeer]:
    yield from _with_main_client(peers(request.param), redis_url)


@pytest.fixture
def current(peers: Callable[[str], JavaPeer], redis_url: str) -> Iterator[JavaPeer]:
    yield from _with_main_client(peers(VERSIONS[0]), redis_url)


def _with_main_client(started: JavaPeer, redis_url: str) -> Iterator[JavaPeer]:
    started.call("open", address=redis_url)
    yield started
    started.call("close")


def test_says_what_it_runs(peer: JavaPeer) -> None:
    assert peer.about["redisson"] == peer.version


def test_an_offer_waits_in_the_envelope_of_its_version(peer: JavaPeer, queue: str) -> None:
    before = time.time() * 1000
    peer.call("offer", queue=queue, value="hello", delayMs=60_000)
    after = time.time() * 1000

    dump = peer.call("dump", queue=queue)

    value = bytes.fromhex(peer.call("encode", codec="Kryo5Codec", value="hello"))
    (envelope,) = dump["envelopes"]["items"]
    legacy = peer.version == OLDEST
    assert legacy or envelope.startswith("08")
    assert bytes.fromhex(envelope)[8 if legacy else 9 :] == struct.pack("<Q", len(value)) + value
    (timeout,) = dump["timeouts"]["items"]
    assert timeout["hex"] == envelope
    assert before - 1 <= timeout["score"] - 60_000 <= after + 1
    assert dump["ready"] == {"key": queue, "items": []}
    assert dump["envelopes"]["key"] == f"redisson_delay_queue:{{{queue}}}"
    assert dump["timeouts"]["key"] == f"redisson_delay_queue_timeout:{{{queue}}}"


def test_an_open_delayed_queue_delivers_when_due(peer: JavaPeer, queue: str) -> None:
    assert peer.call("open_delayed", queue=queue)
    items = [{"value": number, "delayMs": 50 * number} for number in range(4)]
    nanoseconds = peer.call("offer_many", queue=queue, items=items)
    offered = time.time() * 1000

    taken = peer.call("take_many", queue=queue, count=4, timeoutMs=3000)

    assert nanoseconds > 0
    assert [item["value"] for item in taken] == [0, 1, 2, 3]
    assert [item["atMs"] for item in taken] == sorted(item["atMs"] for item in taken)
    assert offered <= taken[3]["atMs"] + 1 <= time.time() * 1000 + 1
    assert peer.call("destroy_delayed", queue=queue)
    assert not peer.call("destroy_delayed", queue=queue)


def test_offers_in_flight_all_arrive(current: JavaPeer, queue: str) -> None:
    items = [{"value": number, "delayMs": 60_000} for number in range(500)]
    current.call("offer_many", queue=queue, items=items, inFlight=50)

    values = current.call("read_all", queue=queue, side="delayed")

    assert sorted(values) == list(range(500))


def test_take_many_ends_when_nothing_comes(current: JavaPeer, queue: str) -> None:
    current.call("add", queue=queue, value="only")
    taken = current.call("take_many", queue=queue, count=5, timeoutMs=1000)
    assert [item["value"] for item in taken] == ["only"]


def test_an_offer_with_a_due_time_gets_what_is_left_of_it(current: JavaPeer, queue: str) -> None:
    before = time.time() * 1000
    due_ms = round(before) + 60_000
    current.call("offer_many", queue=queue, items=[{"value": "later", "dueMs": due_ms}])
    taken_ms = time.time() * 1000 - before

    (timeout,) = current.call("dump", queue=queue)["timeouts"]["items"]
    assert due_ms <= timeout["score"] <= due_ms + taken_ms + 1


def test_take_to_appends_a_line_for_each_value(current: JavaPeer, queue: str, tmp_path: Path) -> None:
    file = tmp_path / "taken"
    current.submit("take_to", queue=queue, file=str(file))
    before = time.time_ns() // 1000
    for number in range(3):
        current.call("add", queue=queue, value=f"value {number}")

    eventually(lambda: file.exists() and file.read_text("utf-8").count("\n") == 3)
    lines = [line.rpartition(" ") for line in file.read_text("utf-8").splitlines()]
    assert [value for value, _, _ in lines] == ["value 0", "value 1", "value 2"]
    times = [int(at_us) for _, _, at_us in lines]
    assert before <= times[0] <= times[1] <= times[2] <= time.time_ns() // 1000


def test_drain_takes_many_at_once(current: JavaPeer, queue: str) -> None:
    current.call("invoke", queue=queue, kind="queue", method="addAll", args=[{"arg": "values", "v": list("abcde")}])
    batches = current.call("drain", queue=queue, count=5, limit=2, timeoutMs=30_000)
    assert [batch["values"] for batch in batches] == [["a", "b", "c"], ["d", "e"]]
    assert [batch["atMs"] for batch in batches] == sorted(batch["atMs"] for batch in batches)


def test_drain_ends_when_its_time_is_over(current: JavaPeer, queue: str) -> None:
    current.call("add", queue=queue, value="only")
    (batch,) = current.call("drain", queue=queue, count=5, limit=10, timeoutMs=500)
    assert batch["values"] == ["only"]


def test_a_blocking_take_does_not_hold_up_other_requests(current: JavaPeer, queue: str) -> None:
    waiting = current.submit("take", queue=queue)
    with pytest.raises(NotYet):
        waiting.result(0.2)

    assert current.call("size", queue=queue, side="ready") == 0
    current.call("add", queue=queue, value={"n": LONG_5})

    assert waiting.result(5) == {"n": LONG_5}


def test_both_sides_of_a_queue(current: JavaPeer, queue: str) -> None:
    def delayed(op: str, **arguments: Any) -> Any:
        return current.call(op, queue=queue, side="delayed", **arguments)

    def ready(op: str, **arguments: Any) -> Any:
        return current.call(op, queue=queue, side="ready", **arguments)

    for value in ("a", "b", "c", "d"):
        current.call("offer", queue=queue, value=value, delayMs=60_000)
        current.call("add", queue=queue, value=value)

    for side in (delayed, ready):
        assert side("size") == 4
        assert side("contains", value="b")
        assert side("remove", value="b")
        assert not side("contains", value="b")
        assert side("peek") == "a"
        assert side("poll") == "a"
        assert side("poll_limit", limit=5) == ["c", "d"]
        assert side("read_all") == []
    assert ready("poll", timeoutMs=1000) is None


def test_clients_have_names_codecs_and_name_mappers(peer: JavaPeer, redis_url: str, queue: str) -> None:
    mapped: dict[str, Any] = {"client": "mapped", "queue": queue}
    peer.call("open", client="mapped", address=redis_url, codec="StringCodec", nameMapperPrefix="app:")
    peer.call("offer", **mapped, value="x", delayMs=60_000)
    peer.call("add", **mapped, value="y")

    dump = peer.call("dump", **mapped)

    assert dump["ready"] == {"key": f"app:{queue}", "items": [b"y".hex()]}
    assert dump["envelopes"]["key"] == f"redisson_delay_queue:{{app:{queue}}}"
    assert dump["envelopes"]["items"][0].endswith(struct.pack("<Q", 1).hex() + b"x".hex())
    assert peer.call("close", client="mapped")
    with pytest.raises(PeerError, match="no open client mapped"):
        peer.call("size", **mapped, side="ready")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**31),
        LONG_5,
        {"$": "java.lang.Short", "v": "-3"},
        {"$": "java.math.BigInteger", "v": str(2**80)},
        -0.0,
        {"$": "java.lang.Double", "v": "NaN"},
        "",
        "\ud800 lone, \U0001f600 paired",
        {"$": "java.lang.Character", "v": "\udc00"},
        {"$": "byte[]", "v": "AP8="},
        [1, [None], {"a": [LONG_5]}],
        {"$": "java.util.LinkedHashMap", "v": [[1, "a"], ["$", "b"]]},
        {"$": "java.util.TreeMap", "v": [["a", 1], ["b", {"$": "java.util.LinkedList", "v": [1]}]]},
        {"$": "java.util.UUID", "v": "123e4567-e89b-12d3-a456-426614174000"},
        {"$": "int[]", "v": [1, 2]},
        {"$": "java.util.concurrent.TimeUnit", "v": "SECONDS"},
    ],
)
def test_typed_values_go_through_a_codec_and_back(current: JavaPeer, value: Any) -> None:
    encoded = current.call("encode", codec="Kryo5Codec", value=value)
    assert current.call("decode", codec="Kryo5Codec", hex=encoded) == value


@pytest.mark.parametrize(
    ("number", "java"), [(2**31 - 1, None), (2**31, "java.lang.Long"), (2**63, "java.math.BigInteger")]
)
def test_a_json_integer_takes_the_smallest_java_type(current: JavaPeer, number: int, java: str | None) -> None:
    encoded = current.call("encode", codec="Kryo5Codec", value=number)
    expected = number if java is None else {"$": java, "v": str(number)}
    assert current.call("decode", codec="Kryo5Codec", hex=encoded) == expected


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        12,
        1.5,
        math.inf,
        b"\x00\xff",
        Decimal("1.10"),
        uuid.UUID(int=7),
        datetime(2024, 2, 29, 12, 30, 0, 123_000, timezone.utc),
        {"a": [1, {"b": None}]},
        {1: "a", "$": "b"},
        {"x", "y"},
        Typed("java.util.ArrayDeque", [1, LONG_5]),
    ],
)
def test_python_values_survive_java(current: JavaPeer, value: Any) -> None:
    encoded = current.call("encode", codec="Kryo5Codec", value=to_json(value))
    assert from_json(current.call("decode", codec="Kryo5Codec", hex=encoded)) == value


def test_the_name_of_a_class_decides_its_java_type() -> None:
    class Long(int):
        pass

    class Float(float):
        pass

    assert to_json([Long(5), Float("nan")]) == [LONG_5, {"$": "java.lang.Float", "v": "NaN"}]
    with pytest.raises(TypeError, match="no Java type for object"):
        to_json(object())


def test_errors_name_the_java_class(current: JavaPeer) -> None:
    with pytest.raises(PeerError, match=r"IllegalArgumentException: no operation fly"):
        current.call("fly")
    with pytest.raises(PeerError, match=r"IllegalArgumentException: Delay can't be negative"):
        current.call("offer", queue="q", value=1, delayMs=-1)
    with pytest.raises(PeerError, match=r"ClassNotFoundException: this Redisson has no codec Rot13Codec"):
        current.call("encode", codec="Rot13Codec", value=1)


def test_a_clean_end(redis_url: str) -> None:
    peer = JavaPeer(address=redis_url)
    waiting = peer.submit("take", queue="nobody-offers-here")
    peer.close()
    with pytest.raises((PeerDied, PeerError)):
        waiting.result(5)
    with pytest.raises(PeerDied, match="ended with status 0"):
        peer.submit("size", queue="q", side="ready")


def test_a_death_shows_what_the_jvm_said() -> None:
    with pytest.raises(PeerDied, match="Unrecognized option: -no-such-flag"):
        JavaPeer(flags=("-no-such-flag",))


def test_a_missing_tool_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RuntimeError, match="is not in PATH"):
        JavaPeer()


@pytest.mark.parametrize("version", EACH_VERSION)
def test_the_vectors_are_what_this_redisson_writes(version: str) -> None:
    assert (FOLDER / f"basic-{version}.jsonl").read_text("utf-8") == made("basic", version)


@pytest.mark.parametrize("version", [VERSIONS[0], *map(by_night, VERSIONS[1:])])
@pytest.mark.parametrize("kind", ["types", "foreign"])
def test_the_samples_are_what_this_redisson_writes(kind: str, version: str) -> None:
    check_samples(kind, version)


def test_the_samples_are_what_marshalling_writes() -> None:
    check_samples("marshalling", OLDEST)


def check_samples(kind: str, version: str) -> None:
    committed = (FOLDER / f"{kind}-{version}.jsonl").read_text("utf-8").splitlines()
    written = made(kind, version).splitlines()
    assert [settled(json.loads(line)) for line in committed] == [settled(json.loads(line)) for line in written]


@pytest.mark.parametrize("version", REDISSONS[1:])
def test_the_files_of_an_older_redisson_hold_only_what_differs(version: str) -> None:
    for kind in ("basic", "types", "foreign"):
        whole = rows(kind, version)
        assert {row["redisson"] for row in whole} == {version}
        path = FOLDER / f"{kind}-{version}.jsonl"
        of_newest = [settled({**row, "redisson": version}) for row in rows(kind, NEWEST)]
        kept = [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]
        assert not any(settled(row) in of_newest for row in kept)
        assert all(row in whole for row in kept)


ORDER_FIELDS = {
    "id": {"$": "java.lang.Long", "v": "1"},
    "sku": "A-1",
    "price": 19.99,
    "tags": ["new", "gift"],
    "customer": {
        "$": "com.acme.Customer",
        "v": {
            "name": "Ann",
            "address": {
                "$": "com.acme.Address",
                "v": {"street": "Main St 1", "city": "Springfield", "zip": 12345},
            },
        },
    },
}


@pytest.mark.parametrize(
    "codec",
    [
        "Kryo5Codec",
        "SerializationCodec",
        {"name": "TypedJsonJacksonCodec", "class": "com.acme.Order"},
        {"name": "TypedJsonJacksonCodec", "type": "com.acme.Order"},
        {"name": "JsonJacksonCodec", "modules": True},
        {"name": "SnappyCodecV2", "inner": {"name": "LZ4Codec", "inner": "CborJacksonCodec"}},
        {"name": "CompositeCodec", "mapKey": "StringCodec", "mapValue": "LongCodec", "value": "Kryo5Codec"},
    ],
)
def test_a_sample_goes_through_a_codec_with_options(peer: JavaPeer, codec: Any) -> None:
    encoded = peer.call("encode_sample", codec=codec, name="object/order")
    assert peer.call("check_sample", codec=codec, name="object/order", hex=encoded)["equal"]
    described = peer.call("describe", codec=codec, hex=encoded)
    assert described == {"$": "com.acme.Order", "v": ORDER_FIELDS}


@pytest.mark.parametrize(
    "codec",
    [
        {"name": "Kryo5Codec", "references": True},
        {"name": "Kryo5Codec", "allowedClasses": ["com.acme.Point"]},
        {"name": "ProtobufCodec", "class": "com.acme.Circle"},
    ],
)
def test_an_option_that_came_later_is_missed_by_name(codec: Any, peers: Callable[[str], JavaPeer]) -> None:
    name = "object/circle" if "class" in codec else "int/1"
    current, old = peers(NEWEST), peers(OLDEST)
    assert current.call(
        "check_sample", codec=codec, name=name, hex=current.call("encode_sample", codec=codec, name=name)
    )
    with pytest.raises(PeerError, match=r"NoSuchMethodException|ClassNotFoundException"):
        old.call("encode_sample", codec=codec, name=name)


def test_a_check_tells_values_apart_that_java_calls_equal(peer: JavaPeer) -> None:
    def check(name: str, other: str) -> dict[str, Any]:
        encoded = peer.call("encode_sample", codec="SerializationCodec", name=other)
        result: dict[str, Any] = peer.call("check_sample", codec="SerializationCodec", name=name, hex=encoded)
        return result

    assert check("list/arraylist-mixed", "list/arraylist-mixed") == {
        "equal": True,
        "class": "java.util.ArrayList",
        "text": "[1, a, null, 2, 1.5, true]",
    }
    for name, other in [
        ("list/arraylist-mixed", "list/linkedlist"),
        ("map/tree", "map/skiplist"),
        ("map/tree", "map/tree-case-insensitive"),
        ("map/linked-same-class", "map/linked-empty"),
        ("int/1", "long/1"),
        ("double/0.0", "double/-0.0"),
        ("array/int-2d", "array/int-2d-null"),
        ("lang/pattern", "lang/pattern-flags"),
        ("object/customer", "object/vip-customer"),
        ("exception/runtime", "exception/no-trace"),
    ]:
        assert not check(name, other)["equal"], (name, other)


def test_a_cycle_is_compared_and_described(peer: JavaPeer) -> None:
    codec = "SerializationCodec"
    encoded = peer.call("encode_sample", codec=codec, name="cycle/list")
    assert peer.call("check_sample", codec=codec, name="cycle/list", hex=encoded)["equal"]
    assert peer.call("describe", codec=codec, hex=encoded) == [1, {"$": "java.util.ArrayList", "up": 1}]


def test_many_values_are_encoded_again_in_one_call(peer: JavaPeer) -> None:
    items = [peer.call("encode", codec="Kryo5Codec", value=number) for number in range(100)]

    results = peer.call("recode_many", codec="Kryo5Codec", items=[*items, "ff"])

    assert [result.get("hex") for result in results] == [*items, None]
    assert results[1] == {"class": "java.lang.Integer", "text": "1", "hex": items[1]}
    assert results[-1].keys() == {"error"}
    assert results[-1]["error"].startswith("com.esotericsoftware.kryo")


def test_every_sample_has_a_name_of_its_own_and_a_row(peers: Callable[[str], JavaPeer]) -> None:
    names = peers(VERSIONS[0]).call("samples")
    assert len(names) > 500
    assert {row["name"] for row in rows("types", NEWEST)} == set(names)
    with pytest.raises(PeerError, match="no sample no/such"):
        peers(VERSIONS[0]).call("encode_sample", codec="Kryo5Codec", name="no/such")

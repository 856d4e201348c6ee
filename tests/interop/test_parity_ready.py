"""The ready side against Redisson itself: the same calls in both languages answer the same and leave the same bytes."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import redisson_dq
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.java_args import bytes_, int_, long, unit, values
from tests.interop.parity import (
    QUEUE,
    Call,
    Failed,
    JavaSide,
    Pair,
    PythonSide,
    Twins,
    answers,
    differs,
    here,
    redisson,
    same,
    signatures,
)
from tests.interop.ready_cases import (
    CAPACITY,
    CASES,
    KINDS,
    NESTED,
    OPERATIONS,
    SECOND,
    UNREACHABLE,
    WAITING,
    WAITING_FROM_ANY,
    Case,
    Make,
    mapped_differences,
)
from tests.interop.sides import Java
from tests.peer import VERSIONS, JavaPeer


@dataclass(frozen=True)
class Naming:
    """How a queue is called, and what its name mapper puts before that."""

    id: str
    name: str
    prefix: str = ""


PLAIN = Naming("plain", "q-{}")
TAGGED = Naming("tagged", "orders-{{{}}}")
MAPPED = Naming("mapped", "é-日本-{}", "shop:")


@pytest.fixture(params=[PLAIN, TAGGED, MAPPED], ids=lambda naming: naming.id)
def naming(request: pytest.FixtureRequest) -> Naming:
    made: Naming = request.param
    return made


class Scene:
    """A client in each language, and two names, A and B."""

    def __init__(self, peer: JavaPeer, url: str, admin: redis.Redis, flavour: Flavour, naming: Naming) -> None:
        number = uuid.uuid4().hex
        # Names of one length: their keys take the same memory.
        self.names = naming.name.format(f"{number}-a"), naming.name.format(f"{number}-b")
        self.prefix = naming.prefix
        self.admin = admin
        options: dict[str, Any] = {"name_mapper": naming.prefix} if naming.prefix else {}
        self.client = flavour.connect(url, **options)
        self._java = {name: Java(peer, url, name, prefix=naming.prefix) for name in self.names}
        self._threads = ThreadPoolExecutor(32, "python-side")

    def twins(self, kind: str, *, crossed: bool = False, capacity: int = CAPACITY) -> Twins:
        """Java on A and Python on B, or the other way round: missing queues, bounded ones with their capacity."""
        a, b = reversed(self.names) if crossed else self.names
        handle = getattr(self.client, KINDS[kind])(b)
        made = Twins(JavaSide(self._java[a], kind, a), PythonSide(handle, b), self.admin)
        if kind == "bounded" and not crossed:
            made.run(same(redisson.trySetCapacity(int_(capacity)), here.try_set_capacity(capacity)))
        return made

    def start(self, side: JavaSide | PythonSide, call: Call) -> Future[Any]:
        return self._threads.submit(side.run, call)

    def blocked(self) -> int:
        """How many connections wait in a blocking command."""
        return int(self.admin.info("clients")["blocked_clients"])

    def waiting_for_room(self, name: str) -> bool:
        channel = QueueKeys.of(self.prefix + name).capacity_channel
        ((_, count),) = self.admin.pubsub_numsub(channel)
        return bool(count)

    def close(self) -> None:
        """What still waits ends with the clients."""
        self.client.close()
        for java in self._java.values():
            java.close()
        self._threads.shutdown()


@pytest.fixture
def scene(
    peers: Callable[[str], JavaPeer], redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, naming: Naming
) -> Iterator[Scene]:
    made = Scene(peers(VERSIONS[0]), redis7.url, look, flavour, naming)
    yield made
    made.close()


plain_names = pytest.mark.parametrize("naming", [PLAIN], ids=lambda naming: naming.id)


# -- the tables ------------------------------------------------------------------------------------------------------


def _each_kind(cases: Iterable[Case], of: int = 1) -> list[Any]:
    """Each case on each kind of queue that has it. By day one of so many has its turn."""
    each = ((kind, case) for case in cases for kind in case.kinds)
    return [
        pytest.param(kind, case, id=f"{kind}-{case.name}", marks=pytest.mark.nightly if place % of else ())
        for place, (kind, case) in enumerate(each)
    ]


# What a name leads to is worked out before the flavours part, so each naming is played by one of them.
@pytest.mark.parametrize(("kind", "case"), _each_kind(CASES, of=2))
@pytest.mark.parametrize(
    ("flavour", "naming"), [("sync", TAGGED), ("asyncio", PLAIN)], ids=["sync-tagged", "asyncio-plain"], indirect=True
)
def test_parity(scene: Scene, kind: str, case: Case) -> None:
    scene.twins(kind).run(*case.pairs)


# The calls themselves are those of test_parity.
@pytest.mark.parametrize(
    ("kind", "case"), _each_kind([*filter(lambda case: case.mapped, CASES), *mapped_differences(MAPPED.prefix)], of=3)
)
@pytest.mark.parametrize(("flavour", "naming"), [("sync", MAPPED)], ids=["sync-mapped"], indirect=True)
def test_parity_under_a_name_mapper(scene: Scene, kind: str, case: Case) -> None:
    scene.twins(kind).run(*case.pairs)


@pytest.mark.parametrize("kind", KINDS)
def test_no_method_is_left_out(kind: str) -> None:
    """Every method of Redisson that a docstring names is called, on a queue of that class."""
    ours = {
        "blocking_queue": redisson_dq.BlockingQueue,
        "blocking_deque": redisson_dq.BlockingDeque,
        "bounded": redisson_dq.BoundedBlockingQueue,
    }[kind]
    called = [pair.java for case in CASES if kind in case.kinds for pair in case.pairs]
    wanted = {signature for signature in signatures(ours) if signature[0] not in UNREACHABLE}
    left_out = {signature for signature in wanted if not any(answers(call, signature) for call in called)}
    # Those that go through bytes have tests of their own; move() is a deque's in Redisson, and every queue's here.
    dumps = {signature for signature in wanted if signature[0] in ("dump", "restore", "restoreAndReplace")}
    moves = set() if kind == "blocking_deque" else {signature for signature in wanted if signature[0] == "move"}
    assert left_out == dumps | moves


# -- waiting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "java_call", "call"),
    [
        pytest.param(kind, pair.java, pair.python, id=f"{kind}-{pair.java.method}")
        for kind in WAITING
        for pair in WAITING[kind]
    ],
)
def test_a_value_that_comes_while_both_wait(scene: Scene, kind: str, java_call: Call, call: Call) -> None:
    twins, crossed = scene.twins(kind), scene.twins(kind, crossed=True)
    java, python = scene.start(twins.java, java_call), scene.start(twins.python, call)
    eventually(lambda: scene.blocked() == 2)

    # Each is woken by the other language.
    crossed.java.run(redisson.put(NESTED))
    crossed.python.run(here.put(NESTED))

    named = java_call.method.endswith("WithName")
    assert java.result(PATIENCE) == ([scene.prefix + QUEUE, NESTED] if named else NESTED)
    assert python.result(PATIENCE) == ([QUEUE, NESTED] if named else NESTED)
    states = twins.states()
    # Redisson's move() does not map the other name.
    assert (states[0] == states[1]) is (java_call.method != "move" or not scene.prefix)


@plain_names
@pytest.mark.parametrize("pair", WAITING_FROM_ANY, ids=lambda pair: pair.java.method)
def test_a_value_that_comes_elsewhere_while_both_wait(scene: Scene, pair: Pair) -> None:
    twins = scene.twins("blocking_queue")
    waiting = scene.start(twins.java, pair.java), scene.start(twins.python, pair.python)
    eventually(lambda: scene.blocked() == 2)

    for name in scene.names:
        scene.client.blocking_queue(name + "-b").put(NESTED)

    results = [future.result(PATIENCE) for future in waiting]
    assert results[0] == results[1]
    assert results[0] in (NESTED, [QUEUE + "-b", NESTED])
    assert twins.states() == ({}, {})


@plain_names
@pytest.mark.parametrize("kind", WAITING)
def test_a_time_that_passes(scene: Scene, kind: str) -> None:
    """All at once; each answers None, and nothing is left."""
    twins = scene.twins(kind)
    before = twins.states()
    pairs = [pair for pair in WAITING[kind] if not pair.java.method.startswith("take")]
    waiting = [scene.start(twins.java, _within_a_second(pair.java)) for pair in pairs]
    waiting += [
        scene.start(twins.python, Call(pair.python.method, pair.python.args, {**pair.python.kwargs, "timeout": 1}))
        for pair in pairs
    ]
    assert [future.result(PATIENCE) for future in waiting] == [None] * 2 * len(pairs)
    assert twins.states() == before


def _within_a_second(call: Call) -> Call:
    shorter = {"long": 1, "duration": 1000}
    args = [type(arg)(arg.kind, shorter.get(arg.kind, arg.body)) for arg in call.args]
    return Call(call.method, tuple(args))


# -- bytes across languages ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["blocking_queue", "blocking_deque"])
def test_a_dump_is_restored_by_the_other_language(scene: Scene, kind: str) -> None:
    twins, crossed = scene.twins(kind), scene.twins(kind, crossed=True)
    twins.run(same(redisson.dump(), here.dump()))
    items = [*range(200), NESTED, "a", "a"]
    twins.run(same(redisson.addAll(values(items)), here.add_all(items)), same(redisson.dump(), here.dump()))
    theirs, ours = twins.java.run(redisson.dump()), twins.python.run(here.dump())

    void = "Redisson's method is void, and throws where there is something already"
    restored = differs(void, redisson.restore(bytes_(ours)), None, here.restore(theirs), True)
    twins.run(same(redisson.delete(), here.delete()), restored)
    crossed.run(same(redisson.readAll(), here.read_all()))
    assert twins.java.run(redisson.readAll()) == items

    busy = twins.java.run(redisson.restore(bytes_(ours)))
    assert isinstance(busy, Failed)
    assert "BUSYKEY" in busy.error
    assert twins.python.run(here.restore(theirs)) is False

    hour = (long(1), unit("HOURS"))
    twins.run(
        same(redisson.clear(), here.clear()),
        same(redisson.add("other"), here.add("other")),
        same(redisson.restoreAndReplace(bytes_(ours)), here.restore_and_replace(theirs)),
        same(redisson.restoreAndReplace(bytes_(ours), *hour), here.restore_and_replace(theirs, ttl=3600)),
        same(redisson.readAll(), here.read_all()),
        same(redisson.delete(), here.delete()),
        differs(void, redisson.restore(bytes_(ours), *hour), None, here.restore(theirs, timedelta(hours=1)), True),
    )
    assert all(month is not None for _, _, month in twins.states()[0].values())


@plain_names
def test_a_dump_of_a_bounded_queue_is_for_the_same_language(scene: Scene) -> None:
    """Redisson's has the list alone; ours has the capacity too, behind a mark that Redis does not take for a dump."""
    twins = scene.twins("bounded", capacity=5)
    twins.run(same(redisson.addAll(values(["a", NESTED])), here.add_all(["a", NESTED])))
    theirs, ours = twins.java.run(redisson.dump()), twins.python.run(here.dump())
    assert theirs == scene.admin.dump(twins.java.name)
    assert theirs in ours
    assert theirs != ours

    assert twins.python.run(here.restore_and_replace(theirs)) == Failed("ArgumentError")
    refused = twins.java.run(redisson.restoreAndReplace(bytes_(ours)))
    assert isinstance(refused, Failed)
    assert "DUMP payload version or checksum are wrong" in refused.error

    before = twins.states()
    twins.run(
        differs("Redisson's list alone", redisson.unlink(), True, here.unlink(), True, same_state=False),
        differs("Redisson's is void", redisson.restore(bytes_(theirs)), None, here.restore(ours), True),
    )
    assert twins.states() == before


def test_a_time_to_live_is_read_by_the_other_language(scene: Scene) -> None:
    twins, crossed = scene.twins("blocking_queue"), scene.twins("blocking_queue", crossed=True)
    twins.run(
        same(redisson.add("a"), here.add("a")),
        same(redisson.expire(long(1), unit("HOURS")), here.expire(timedelta(hours=1))),
    )
    for side, call in ((crossed.java, redisson.remainTimeToLive()), (crossed.python, here.remain_time_to_live())):
        assert 0 < side.run(call) <= 3_600_000
    ends = [
        side.run(call) for side, call in ((twins.java, redisson.getExpireTime()), (crossed.python, here.expire_time()))
    ]
    assert ends[0] == ends[1] == scene.admin.pexpiretime(scene.prefix + twins.java.name)


# -- room in a bounded queue -----------------------------------------------------------------------------------------

#: Whatever makes room wakes who waits for it.
MAKING_ROOM = (
    same(redisson.take(), here.take()),
    same(redisson.poll(), here.poll()),
    same(redisson.poll(long(30), unit("SECONDS")), here.poll(timeout=30)),
    same(redisson.remove(), here.remove_head()),
    same(redisson.remove("first"), here.remove("first")),
    same(redisson.removeAll(values(["first"])), here.remove_all(["first"])),
    same(redisson.clear(), here.clear()),
)


@pytest.mark.parametrize("pair", MAKING_ROOM, ids=lambda pair: f"{pair.java.method}-{len(pair.java.args)}")
def test_a_put_that_waits_is_woken_by_the_other_language(scene: Scene, pair: Pair) -> None:
    twins, crossed = scene.twins("bounded", capacity=1), scene.twins("bounded", crossed=True)
    # What Java fills Python counts, and the other way round.
    crossed.run(same(redisson.offer("first"), here.offer("first")))
    twins.run(same(redisson.offer("full"), here.offer("full")))

    putting = scene.start(twins.java, redisson.put("second")), scene.start(twins.python, here.put("second"))
    eventually(lambda: all(scene.waiting_for_room(name) for name in scene.names))
    assert not any(future.done() for future in putting)
    # Which of the two scripts comes first is open: the state is compared when both are done.
    results = crossed.java.run(pair.java), crossed.python.run(pair.python)

    assert results[0] == results[1]
    assert [future.result(PATIENCE) for future in putting] == [None, None]
    twins.run(
        same(redisson.readAll(), here.read_all()),
        same(redisson.remainingCapacity(), here.remaining_capacity()),
        same(redisson.poll(), here.poll()),
        same(redisson.remainingCapacity(), here.remaining_capacity()),
    )


@plain_names
def test_an_offer_that_waits_gets_the_room(scene: Scene) -> None:
    twins, crossed = scene.twins("bounded", capacity=2), scene.twins("bounded", crossed=True)
    crossed.run(same(redisson.addAll(values([1, 2])), here.add_all([1, 2])))
    offers = (
        scene.start(twins.java, redisson.offer(3, long(60), unit("SECONDS"))),
        scene.start(twins.python, here.offer(3, timeout=60)),
    )
    eventually(lambda: all(scene.waiting_for_room(name) for name in scene.names))
    assert crossed.java.run(redisson.take()) == crossed.python.run(here.take()) == 1
    assert [future.result(PATIENCE) for future in offers] == [True, True]
    crossed.run(
        same(redisson.offer(4, *SECOND), here.offer(4, timeout=1)),
        same(redisson.readAll(), here.read_all()),
    )


# -- any calls in any order ------------------------------------------------------------------------------------------


@plain_names
@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize(
    ("kind", "examples"),
    [
        ("blocking_deque", 10),
        pytest.param("blocking_deque", 30, marks=pytest.mark.nightly),
        ("bounded", 6),
        pytest.param("bounded", 15, marks=pytest.mark.nightly),
    ],
)
def test_any_calls(scene: Scene, kind: str, examples: int) -> None:
    """Each step is one call, by Java on one queue and by Python on the other, which of them where is drawn too."""
    drawn: Counter[str] = Counter()
    sides: Counter[bool] = Counter()
    operations = OPERATIONS[kind]

    class Calls(RuleBasedStateMachine):
        @initialize()
        def start(self) -> None:
            scene.admin.flushall()
            self.straight = scene.twins(kind, capacity=6)
            self.crossed = scene.twins(kind, crossed=True)

        @rule(
            operation=st.sampled_from(sorted(operations)).flatmap(
                lambda name: st.tuples(st.just(name), operations[name])
            ),
            crossed=st.booleans(),
        )
        def call(self, operation: tuple[str, Make], crossed: bool) -> None:
            name, make = operation
            twins = self.crossed if crossed else self.straight
            twins.run(make(twins.python.run(here.read_all())))
            drawn[name] += 1
            sides[crossed] += 1

    run_state_machine_as_test(
        Calls,
        settings=settings(
            max_examples=examples,
            stateful_step_count=100,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert drawn.total() >= 70 * examples
    assert drawn.keys() == operations.keys()
    assert min(drawn.values()) >= 5
    assert min(sides.values()) >= drawn.total() // 4

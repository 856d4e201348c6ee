"""A worker's rates, slots, keys and duplicates: what its handlers get, and what its hooks are told."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

import redisson_dq
from redisson_dq._redis.tuning import tuned
from redisson_dq.codecs import Kryo5Codec, StringCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.worker import Dropped, Failed, Limit, Rate, Reject, Retry, Succeeded, Worker, fixed
from redisson_dq.working.limits import Admission
from tests.conftest import by_night, eventually
from tests.flavours import Flavour
from tests.integration.admitting import admit, opened
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running


def customer(value: str) -> str:
    return value.partition("-")[0]


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    with redisson_dq.connect(url, codec=StringCodec()) as made:
        yield made


@pytest.fixture
def queue(client: Any) -> Any:
    return client.blocking_queue("orders")


class Busy:
    """Which keys are being handled, at most how many at a time, and what was begun in which order."""

    def __init__(self) -> None:
        self.order: dict[str, list[str]] = defaultdict(list)
        self.most = 0
        self._now: Counter[str] = Counter()
        self._mutex = threading.Lock()

    def begin(self, value: str) -> None:
        with self._mutex:
            self._now[customer(value)] += 1
            self.most = max(self.most, self._now[customer(value)])
            self.order[customer(value)].append(value)

    def end(self, value: str) -> None:
        with self._mutex:
            self._now[customer(value)] -= 1


# -- keys ------------------------------------------------------------------------------------------------------------


def test_values_of_one_key_come_one_at_a_time_in_order(client: Any, queue: Any, admin: Any) -> None:
    busy, again = Busy(), set(range(0, 210, 9))
    worker = Worker(client)

    @worker.handler("orders", concurrency=8, key=customer, retry=Retry(backoff=fixed(0.01)))
    def handle(value: str, event: Any) -> None:
        busy.begin(value)
        try:
            if event.attempt == 1 and int(value.partition("-")[2]) in again:
                raise ValueError("again")
        finally:
            busy.end(value)

    values = [f"c{number % 7}-{number}" for number in range(210)]
    queue.add_all(values)
    with running(worker):
        at_rest(admin)
    assert busy.most == 1
    for key, handled in busy.order.items():
        mine = [value for value in values if customer(value) == key]
        assert handled == [value for value in mine for _ in range(1 + (int(value.partition("-")[2]) in again))]
    assert admin.zcard(KEYS.lines) == admin.hlen(KEYS.turns) == 0


def test_customers_take_turns(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        worker, ledger = flavour.worker(client), Ledger()
        admin.rpush(KEYS.ready, *(f"noisy-{number}" for number in range(400)), "a-0", "b-0", "a-1")
        worker.handler("orders", turns=customer)(ledger.handle)
        with running(worker):
            values = ledger.some(403)
            at_rest(admin)
        for others in ("a-0", "b-0", "a-1"):
            assert values.index(others) < 20, "values behind the noisy ones are seen while few of these are handled"
        assert [each for each in values if each[0] == "n"] == [f"noisy-{number}" for number in range(400)]
        assert not admin.exists(KEYS.lines, KEYS.turns)


def test_a_stuck_key_delays_no_other_and_holds_no_slot(client: Any, queue: Any, admin: Any) -> None:
    gate, ledger = Gate(), Ledger()
    worker = Worker(client)

    @worker.handler("orders", concurrency=2, key=customer)
    def handle(value: str, event: Any) -> None:
        if value == "stuck-0":
            gate.wait()
        ledger.note(value)

    queue.add_all([f"stuck-{number}" for number in range(30)] + [f"c{number}-0" for number in range(30)])
    with running(worker, gate):
        assert sorted(ledger.some(30)) == sorted(f"c{number}-0" for number in range(30))
        left = Counter(b"stuck-%d" % number for number in range(30))
        eventually(lambda: whereabouts(admin).total == left)
        gate.open()
        assert ledger.some(30) == [f"stuck-{number}" for number in range(30)]
        at_rest(admin)


def test_a_value_without_a_key_is_a_failure_of_its_handler(client: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()
    worker = Worker(client)
    log = Log(worker)

    def number(value: str) -> int:
        return int(value)

    worker.handler("orders", key=number, retry=None)(ledger.handle)
    queue.add_all(["x", "1"])
    with running(worker):
        assert ledger.next() == "1"
        (failed,) = log.until(Failed)
        assert "key= failed: ValueError" in str(failed.error)
        at_rest(admin)
    assert [letter.value for letter in queue.dead_letters()] == ["x"]


def test_two_handlers_of_a_queue_share_its_keys(client: Any, queue: Any, admin: Any) -> None:
    gate, ledger = Gate(), Ledger()
    worker = Worker(client)

    # A value is received when each handler of the queue has a free slot.
    @worker.handler("orders", when=lambda value: value.endswith("first"), key=customer, concurrency=2)
    def first(value: str, event: Any) -> None:
        gate.wait()
        ledger.note(value)

    worker.handler("orders", when=lambda value: not value.endswith("first"), key=customer)(ledger.handle)
    queue.add_all(["a-first", "a-second", "b-second"])
    with running(worker, gate):
        assert ledger.next() == "b-second"
        gate.open()
        assert ledger.some(2) == ["a-first", "a-second"]


# -- slots and rates -------------------------------------------------------------------------------------------------


def test_slots_hold_over_workers_and_hold_up_no_other_handler(client: Any, queue: Any, url: str, admin: Any) -> None:
    gate, ledger = Gate(), Ledger()

    def slow(value: str) -> None:
        gate.wait()

    def quick(value: str) -> None:
        ledger.note(value)

    workers = [Worker(client), Worker.connect(url, codec=StringCodec())]
    for worker in workers:
        worker.handler("orders", when=lambda value: value.startswith("slow"), concurrency=8, limit=Limit(3))(slow)
        worker.handler("orders", concurrency=8)(quick)
    queue.add_all([f"slow {number}" for number in range(20)] + [f"quick {number}" for number in range(20)])
    with running(workers[0], gate), running(workers[1], gate):
        assert sorted(ledger.some(20)) == sorted(f"quick {number}" for number in range(20))
        eventually(lambda: gate.inside == 3)

        def places() -> tuple[int, int, int]:
            found = whereabouts(admin)
            return found.leased.total(), found.waiting.total(), found.ready.total()

        # What was handled is acked a little later.
        eventually(lambda: places() == (3, 17, 0))
        gate.open()
        at_rest(admin)
    assert gate.entered == 20
    assert gate.most == 3


@pytest.mark.parametrize("others", [1, by_night(9)])
def test_a_called_up_value_that_another_program_takes_leaves_no_slot_idle(
    client: Any, queue: Any, admin: Any, others: int
) -> None:
    """Redisson's take() has no lease, and may be served first. A worker of many queues waits in another way."""
    ledger, gate = Ledger(), Gate()
    worker = Worker(client)

    def handle(value: str) -> None:
        gate.wait()
        ledger.note(value)

    worker.add_handler(handle, "orders", concurrency=4, limit=Limit(1))
    for number in range(1, others):
        worker.add_handler(ledger.handle, f"other{number}")
    queue.add_all([f"v{number}" for number in range(12)])
    taken: list[bytes] = []

    def take() -> None:
        taken.append(admin.blpop("orders", 20)[1])

    with running(worker, gate):
        eventually(lambda: gate.inside == 1 and not queue.size())
        takers = [threading.Thread(target=take) for _ in range(5)]
        for taker in takers:
            taker.start()
        eventually(lambda: sum(each["cmd"] == "blpop" for each in admin.client_list()) == len(takers))
        gate.open()
        handled = ledger.some(7)
        for taker in takers:
            taker.join()
        at_rest(admin)
    assert sorted([*handled, *(value.decode() for value in taken)]) == sorted(f"v{number}" for number in range(12))


@pytest.mark.parametrize("others", [1, by_night(9)])
@pytest.mark.parametrize("ends", ["the holder dies", by_night("an operator acks")])
def test_a_slot_that_nothing_tells_of_is_not_idle(url: str, queue: Any, admin: Any, ends: str, others: int) -> None:
    """Other programs take the value of the holder, and those that are called up."""
    limit, ledger = Limit(1, name="partner"), Ledger()
    visible = 0.7 if ends == "the holder dies" else 600
    with tuned(probe_interval=600), redisson_dq.connect(url, codec=StringCodec()) as client:
        holder, by = opened(client), Admission(name="h", limit=limit)
        worker = Worker(client, visibility_timeout=600)
        worker.add_handler(ledger.handle, "orders", concurrency=4, limit=limit)
        for number in range(1, others):
            worker.add_handler(ledger.handle, f"other{number}")
        with running(worker):
            # The handle above keeps the connection that waits, and what belonged to this life of the worker.
            eventually(lambda: any(each["cmd"] == "blmove" for each in admin.client_list()) or others > 1)
        holder.add("held")
        (held,) = admit(holder, by, visible=visible, home="{partner}")
        holder.add_all([f"v{number}" for number in range(6)])
        assert not admit(holder, by, visible=600, home="{partner}")
        # Redis serves those first that wait first.
        for _ in range(3):
            threading.Thread(target=admin.blpop, args=("orders", 20), daemon=True).start()
        eventually(lambda: sum(each["cmd"] == "blpop" for each in admin.client_list()) == 3)
        with running(worker):
            if ends == "an operator acks":
                # The worker waits by then.
                eventually(lambda: any(each["cmd"] == "blmove" for each in admin.client_list()) or others > 1)
                held.ack()
            assert len(ledger.some(3)) == 3
            at_rest(admin)


def test_a_rate_is_kept_over_workers(client: Any, queue: Any, url: str, admin: Any) -> None:
    ledger = Ledger()
    workers = [Worker(client), Worker.connect(url, codec=StringCodec())]
    for worker in workers:
        worker.handler("orders", concurrency=8, rate=Rate(20, per=1, burst=5))(ledger.handle)
    queue.add_all([f"v{number}" for number in range(25)])
    with running(workers[0]), running(workers[1]):
        assert len(ledger.some(25)) == 25
    received = sorted(event.delivery.received.timestamp() for event in ledger.events)
    for first in range(25):
        for last in range(first, 25):
            # Times are in whole milliseconds. Behind a full bucket one token is on its way.
            passed = received[last] - received[first] + 0.001
            assert last - first + 1 <= 5 + 1 + passed * 20, (first, last)


@pytest.mark.nightly
def test_a_rate_gives_every_token_of_ten_seconds(client: Any, queue: Any, url: str, admin: Any) -> None:
    ledger = Ledger()
    workers = [Worker(client), Worker.connect(url, codec=StringCodec())]
    for worker in workers:
        worker.handler("orders", concurrency=16, rate=Rate(100, per=1))(ledger.handle)
    queue.add_all([f"v{number}" for number in range(1200)])
    with running(workers[0]), running(workers[1]):
        assert len(ledger.some(1200)) == 1200
    received = sorted(event.delivery.received.timestamp() for event in ledger.events)
    began = received[0]
    for second in range(1, 11):
        count = sum(moment < began + second for moment in received)
        assert count <= 100 + 100 * second, second
    # What comes a little late is made up for.
    assert count >= 1100 - 20


@pytest.mark.parametrize("named", [False, True])
def test_one_limit_of_two_queues_and_two_workers(client: Any, queue: Any, url: str, admin: Any, named: bool) -> None:
    """By one function, or by a name that several functions give."""
    gate = Gate()

    def partner(value: str) -> None:
        gate.wait()

    def others(value: str) -> None:
        gate.wait()

    limit = Limit(3, name="partner") if named else Limit(3)
    workers = [Worker(client), Worker.connect(url, codec=StringCodec())]
    for worker, name in zip(workers, ["orders", "bills"], strict=True):
        worker.queue("parts", partitions=3)
        worker.add_handler(partner, name, concurrency=8, limit=limit)
        worker.add_handler(others if named else partner, "parts", concurrency=8, limit=limit)
    with (
        client.blocking_queue("bills") as bills,
        client.blocking_queue("parts", partitions=3) as parts,
        running(workers[0], gate),
        running(workers[1], gate),
    ):
        for number in range(12):
            for each in (queue, bills):
                each.add(f"v{number}")
            parts.add(f"v{number}", key=f"v{number}")
        eventually(lambda: gate.inside == 3)
        eventually(lambda: queue.size() + bills.size() + parts.size() == 0)
        gate.open()
        for name in ["orders", "bills", *redisson_dq.partition_names("parts", 3)]:
            at_rest(admin, name)
    assert (gate.entered, gate.most) == (36, 3)


def test_one_rate_of_two_queues(client: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()
    worker = Worker(client)
    for name in ("orders", "bills"):
        worker.add_handler(ledger.handle, name, concurrency=8, rate=Rate(20, per=1, burst=5))
    with client.blocking_queue("bills") as bills:
        for each in (queue, bills):
            each.add_all([f"v{number}" for number in range(10)])
        with running(worker):
            assert len(ledger.some(20)) == 20
    received = sorted(event.delivery.received.timestamp() for event in ledger.events)
    for first in range(20):
        for last in range(first, 20):
            assert last - first + 1 <= 5 + 1 + (received[last] - received[first] + 0.001) * 20, (first, last)


@pytest.mark.parametrize(
    ("options", "partitions"),
    [({"limit": Limit(1)}, None), ({"rate": Rate(2, per=600)}, None), ({"limit": Limit(1)}, 3)],
)
def test_a_busy_handler_with_a_limit_holds_up_no_other(
    client: Any, admin: Any, options: dict[str, Any], partitions: int | None
) -> None:
    gate, ledger = Gate(), Ledger()
    worker = Worker(client)
    worker.queue("orders", partitions=partitions)

    @worker.handler("orders", when=lambda value: value.startswith("slow"), **options)
    def slow(value: str) -> None:
        gate.wait()

    worker.handler("orders")(ledger.handle)
    queue = client.blocking_queue("orders", partitions=partitions)
    for value in ["slow 1", "slow 2", *(f"quick {number}" for number in range(10))]:
        queue.add(value)
    with queue, running(worker, gate):
        assert sorted(ledger.some(10)) == sorted(f"quick {number}" for number in range(10))
        assert gate.entered == 1
        gate.open()
        # What was let past took neither a slot nor one of the two tokens of ten minutes.
        eventually(lambda: gate.entered == 2)
        for name in redisson_dq.partition_names("orders", partitions) if partitions else ["orders"]:
            at_rest(admin, name)
    assert gate.most == 1


# -- unique values ---------------------------------------------------------------------------------------------------


def test_a_value_is_handled_once_in_a_while(client: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()
    worker = Worker(client)
    log = Log(worker)
    worker.handler("orders", concurrency=4, unique_for=60, unique_by=customer)(ledger.handle)
    queue.add_all(["a-1", "a-2", "b-1", "a-3"])
    with running(worker):
        assert sorted(ledger.some(2)) == ["a-1", "b-1"]
        assert sorted(each.data for each in log.until(Dropped, 2)) == [b"a-2", b"a-3"]
        at_rest(admin)
    assert len(log.of(Succeeded)) == 2


def test_values_of_two_classes_with_one_id_are_no_duplicates(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=Kryo5Codec()) as client:
        worker, ledger = flavour.worker(client), Ledger()
        worker.handler("orders", concurrency=4, unique_for=60, unique_by=lambda value: int(value))(ledger.handle)
        queue = client.blocking_queue("orders")
        queue.add_all([42, "42", 42, "42", 43])
        with running(worker):
            assert sorted(ledger.some(3), key=repr) == ["42", 42, 43]
            at_rest(admin)
    assert len(ledger.values) == 3


def test_what_was_given_up_is_no_duplicate(client: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()
    worker = Worker(client)

    @worker.handler("orders", unique_for=60, unique_by=customer)
    def handle(value: str, event: Any) -> None:
        ledger.note(value)
        if value == "a-1":
            raise Reject("no")

    queue.add_all(["a-1", "a-2", "a-3"])
    with running(worker):
        assert ledger.some(2) == ["a-1", "a-2"]
        at_rest(admin)
    assert ledger.values == ["a-1", "a-2"]


# -- the worker's life -----------------------------------------------------------------------------------------------


def test_a_stop_hands_back_and_the_order_stays(client: Any, queue: Any, url: str, admin: Any) -> None:
    gate, ledger = Gate(), Ledger()
    worker = Worker(client)

    @worker.handler("orders", concurrency=4, key=customer)
    def handle(value: str, event: Any) -> None:
        gate.wait()

    values = [f"{key}-{number}" for number in range(5) for key in "abc"]
    queue.add_all(values)
    worker.start()
    eventually(lambda: gate.inside == 3)
    worker.stop(grace=0)
    gate.open()
    assert whereabouts(admin).total == Counter(value.encode() for value in values)
    other = Worker.connect(url, codec=StringCodec())
    other.handler("orders", concurrency=4, key=customer)(ledger.handle)
    with other:
        came = ledger.some(15)
        at_rest(admin)
    for key in "abc":
        assert [value for value in came if customer(value) == key] == [f"{key}-{number}" for number in range(5)]
    assert {event.attempt for event in ledger.events} == {1}


def test_handlers_with_limits_come_and_go_while_it_runs(client: Any, queue: Any, admin: Any) -> None:
    first, second = Ledger(), Ledger()
    keyed = second.handle
    worker = Worker(client)
    worker.handler("orders")(first.handle)
    with running(worker):
        queue.add("1")
        assert first.next() == "1"
        worker.add_handler(keyed, "orders", when=lambda value: value.startswith("k"), key=customer)
        queue.add_all(["k-1", "k-2", "2"])
        assert second.some(2) == ["k-1", "k-2"]
        assert first.next() == "2"
        assert worker.remove_handler(keyed)
        queue.add("k-3")
        assert first.next() == "k-3"
        at_rest(admin)


def test_limited_and_plain_queues_beside_each_other(client: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()
    worker = Worker(client, concurrency=3, order=["orders", "bills"])
    worker.handler("orders", concurrency=3, key=customer)(ledger.handle)
    worker.handler("bills", concurrency=3)(ledger.handle)
    with client.blocking_queue("bills") as bills, running(worker):
        for number in range(20):
            queue.add(f"a-{number}")
            bills.add(f"bill {number}")
        came = ledger.some(40)
        at_rest(admin)
        at_rest(admin, "bills")
    assert [value for value in came if value.startswith("a-")] == [f"a-{number}" for number in range(20)]


def test_values_of_partitions_keep_the_order_of_their_keys(client: Any, admin: Any) -> None:
    ledger = Ledger()
    worker = Worker(client)
    worker.queue("parts", partitions=3)
    worker.handler("parts", concurrency=4, key=customer)(ledger.handle)
    with client.blocking_queue("parts", partitions=3) as parts, running(worker):
        for number in range(30):
            parts.add(f"c{number % 5}-{number}", key=f"c{number % 5}")
        came = ledger.some(30)
    for key in range(5):
        mine = [value for value in came if customer(value) == f"c{key}"]
        assert mine == [f"c{key}-{number}" for number in range(key, 30, 5)]


@pytest.mark.parametrize(
    "options",
    [
        {"rate": 5},
        {"limit": 5},
        {"key": "customer"},
        {"unique_for": 0},
        {"unique_for": -1},
        {"unique_by": customer},
        {"unique_for": 5, "unique_by": "id"},
    ],
)
def test_options_that_cannot_be_are_refused(client: Any, options: dict[str, Any]) -> None:
    worker = Worker(client)
    with pytest.raises(ArgumentError, match=r"handler .* of queue 'orders'"):
        worker.add_handler(print, "orders", **options)

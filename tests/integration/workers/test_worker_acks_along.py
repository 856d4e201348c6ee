"""Acks that go along with the next receive of a busy worker, in the same call."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.items import SettleOutcome
from redisson_dq.scripts.script import load
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.worker import DeadLettered, Happening, Lost, Retried, Retry, Succeeded, fixed
from tests.conftest import PATIENCE, eventually
from tests.faults.gate import Gate, Where
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Ledger, Log, at_rest, running

LEASES = LeaseKeys(queue=KEYS, dead=DeadKeys.belonging_to("orders"))
SCRIPT = "ack_and_receive.lua"


@pytest.fixture
def gate(server: Any, admin: Any) -> Iterator[Gate]:
    # Else a script would come in two commands, the second of which brings its text.
    admin.script_load(load("ack_and_receive").source)
    with Gate(lambda: server.port or 0) as made:
        yield made


def call(admin: Any, ids: list[bytes], count: int, nonce: bytes = b"12345678", timeout: float = 30) -> Any:
    """The words of each outcome, and the bytes of each value; None where nothing was done."""
    request, _ = LeaseSource(LEASES, Envelope.CURRENT, int(timeout * 1_000_000), 0).ack_and_receive(ids, count)
    assert request.script is not None
    keys, *words = request.words
    assert isinstance(keys, int)
    # After the keys and the envelope comes the nonce.
    words[keys + 1] = nonce
    reply = admin.eval(request.script.source, keys, *words)
    found = request.parse(reply[3] if len(reply) > 3 else None)
    return None if found is None else ([each.value.encode() for each in found[0]], [each.data for each in found[1]])


def everything(admin: Any) -> dict[bytes, bytes]:
    return {key: admin.dump(key) for key in admin.scan_iter()}


# -- the script ------------------------------------------------------------------------------------------------------


def test_leases_end_and_the_next_begin(admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders")
    queue.add_all(list("abcdef"))
    first, second = queue.receive(2, visibility_timeout=30)
    ids = [bytes.fromhex(each.id) for each in (first, second)]
    # The second one is named twice, and one is nobody's.
    assert call(admin, [*ids, ids[1], b"0123456789"], 3) == ([b"acked", b"acked", b"lost", b"lost"], [b"c", b"d", b"e"])
    found = whereabouts(admin)
    assert (found.leased, found.ready) == (Counter([b"c", b"d", b"e"]), Counter([b"f"]))
    assert first.ack() is SettleOutcome.LOST
    assert [each.value for each in queue.in_flight()] == ["c", "d", "e"]
    # Without leases to end it receives alone, as many as there are.
    assert call(admin, [], 5, b"abcdefgh") == ([], [b"f"])
    assert call(admin, [], 5, b"stuvwxyz") == ([], [])


@pytest.mark.parametrize("case", ["sent again", "given back", "lapsed", "in line"])
def test_what_is_not_the_ordinary_case_changes_nothing(admin: Any, client: Any, case: str) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(list("abc"))
    held = queue.receive(visibility_timeout=30)
    if case == "sent again":
        assert call(admin, [], 1) == ([], [b"b"])
    elif case == "given back":
        other = queue.receive()
        assert other.nack()
    elif case == "lapsed":
        assert queue.receive(visibility_timeout=0.001)
        time.sleep(0.01)
    else:
        admin.hset(KEYS.turns, "s", "limit")
    before = everything(admin)
    assert call(admin, [bytes.fromhex(held.id)], 2) is None
    assert everything(admin) == before
    assert held.ack()


@pytest.mark.parametrize("name", ["ready", "arrivals", "timeout", "leases", "deliveries"])
def test_a_key_of_another_type_changes_nothing(admin: Any, client: Any, name: str) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(list("abc"))
    held = queue.receive(visibility_timeout=30)
    admin.delete(getattr(KEYS, name))
    admin.set(getattr(KEYS, name), "something else")
    before = everything(admin)
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        call(admin, [bytes.fromhex(held.id)], 2)
    assert everything(admin) == before


def test_a_full_server_lets_leases_end(own_server: Any) -> None:
    with (
        redis.Redis.from_url(own_server.url) as admin,
        Flavour().connect(own_server.url, codec=StringCodec()) as client,
    ):
        queue = client.blocking_queue("orders", transfer=False)
        queue.add_all(list("abc"))
        held = queue.receive(visibility_timeout=30)
        admin.config_set("maxmemory", 1)
        assert call(admin, [bytes.fromhex(held.id)], 1) == ([b"acked"], [b"b"])


# -- the worker ------------------------------------------------------------------------------------------------------


def test_a_busy_worker_acks_and_receives_in_one_call(admin: Any, flavour: Flavour, client: Any) -> None:
    count = 300
    worker, ledger = flavour.worker(client), Ledger()
    worker.handler("orders")(ledger.handle)
    client.blocking_queue("orders").add_all([str(number) for number in range(count)])
    admin.config_resetstat()
    with running(worker):
        assert ledger.some(count) == [str(number) for number in range(count)]
        at_rest(admin)
    # One handler at a time. Two calls for each value would be 600.
    assert admin.info("commandstats")["cmdstat_evalsha"]["calls"] < 1.5 * count
    assert {event.attempt for event in ledger.events} == {1}


@pytest.mark.parametrize("where", ["command", "sent", "reply", "half"])
def test_a_connection_that_breaks_at_the_call(admin: Any, flavour: Flavour, gate: Gate, where: Where) -> None:
    count = 0
    with flavour.connect(gate.url, codec=StringCodec(), probe_interval=0.5) as client:
        worker, ledger = flavour.worker(client, visibility_timeout=600), Ledger()
        log = Log(worker)
        worker.handler("orders", concurrency=2)(ledger.handle)
        queue = client.blocking_queue("orders")

        def all_handled_and_sprung() -> bool:
            # After a cut no connection may be idle for a while, and acks go another way. So more values follow.
            nonlocal count
            if len(ledger.values) >= count and not trap.sprung.is_set():
                queue.add_all([str(number) for number in range(count, count + 300)])
                count += 300
            return trap.sprung.is_set() and len(ledger.values) >= count

        trap = gate.trap(SCRIPT, where, "cut", times=3)
        with running(worker):
            eventually(all_handled_and_sprung)
            at_rest(admin)
    # The leases outlast the test: what was leased came by the lost reply, and by no deadline.
    assert Counter(ledger.values) == Counter(str(number) for number in range(count))
    assert {event.attempt for event in ledger.events} == {1}
    # Acks are sent again, and find no lease where the call with the lost reply has ended it.
    assert len(log.of(Succeeded)) == count
    assert log.of(Lost) == []


@pytest.mark.parametrize(
    ("script", "told"), [("ack", Succeeded), ("give_back", Retried), ("reject", DeadLettered)], ids=str
)
def test_an_end_whose_reply_is_lost_is_told(
    admin: Any, flavour: Flavour, gate: Gate, script: str, told: type[Happening]
) -> None:
    """It is sent again. The lease that it does not find was ended by the first call."""
    # Else a script would come in two commands.
    admin.script_load(load(script).source)
    with flavour.connect(gate.url, codec=StringCodec()) as client:
        # With a limit over several queues no ack goes along with a receive.
        worker = flavour.worker(client, concurrency=1, visibility_timeout=600)
        log = Log(worker)

        def handle(value: str) -> None:
            if told is not Succeeded:
                raise ValueError(value)

        worker.handler("orders", retry=Retry(limit=2, backoff=fixed(600)) if told is Retried else None)(handle)
        worker.handler("others")(handle)
        trap = gate.trap(f"{script}.lua", "reply", "cut")
        with running(worker):
            client.blocking_queue("orders").add("a")
            log.until(told)
        assert trap.sprung.is_set()
        assert log.of(Lost) == []


def test_retries_and_dead_letters_between_the_acks(admin: Any, flavour: Flavour, client: Any) -> None:
    worker, ledger = flavour.worker(client), Ledger()
    log = Log(worker)

    def handle(value: str, event: Any) -> None:
        ledger.note(value, event)
        if int(value) % 10 == 3:
            raise ValueError(value)

    worker.handler("orders", concurrency=4, retry=Retry(limit=3, backoff=fixed(0.01)))(handle)
    queue = client.blocking_queue("orders")
    queue.add_all([str(number) for number in range(200)])
    with running(worker):
        at_rest(admin)
        log.until(DeadLettered, 20)
    assert Counter(ledger.values) == Counter({str(n): 3 if n % 10 == 3 else 1 for n in range(200)})
    assert (len(log.of(Succeeded)), len(log.of(Retried)), len(log.of(DeadLettered))) == (180, 40, 20)
    assert {letter.value for letter in queue.dead_letters()} == {str(n) for n in range(3, 200, 10)}


def test_what_is_done_of_a_batch_is_acked_while_on_failed_runs(admin: Any, flavour: Flavour, client: Any) -> None:
    # No lease ends by its deadline.
    worker, fails, goes_on = flavour.worker(client, visibility_timeout=600), threading.Event(), threading.Event()

    def on_failed(value: str, event: Any, error: BaseException) -> None:
        fails.set()
        assert goes_on.wait(PATIENCE)

    @worker.batch_handler("orders", 3, retry=Retry(limit=1), on_failed=on_failed)
    def handle(values: list[str]) -> list[Any]:
        return [ValueError(value) if value == "b" else None for value in values]

    client.blocking_queue("orders").add_all(list("abcdefg"))
    with running(worker):
        try:
            assert fails.wait(PATIENCE)
            # The slot is not free, and no receive takes the acks of a and c along.
            eventually(lambda: whereabouts(admin).leased == Counter([b"b"]))
        finally:
            goes_on.set()
        at_rest(admin)


@pytest.mark.nightly
def test_a_stop_while_the_server_stands_still(flavour: Flavour, own_server: Any) -> None:
    """The acks in hand are noted when it goes on, or their values come again; nothing is lost."""
    done: list[str] = []
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        worker = flavour.worker(client, visibility_timeout=5)

        @worker.handler("orders", concurrency=2)
        def handle(value: str) -> None:
            done.append(value)

        queue = client.blocking_queue("orders")
        queue.add_all([str(number) for number in range(50_000)])
        with redis.Redis.from_url(own_server.url) as admin:
            worker.start()
            eventually(lambda: len(done) > 100)
            os.kill(own_server.pid, signal.SIGSTOP)
            try:
                worker.stop(grace=1)
            finally:
                os.kill(own_server.pid, signal.SIGCONT)
            left = whereabouts(admin).total
            assert set(left) | {value.encode() for value in done} == {str(n).encode() for n in range(50_000)}


def test_handlers_and_queues_that_come_while_acks_are_under_way(admin: Any, flavour: Flavour, client: Any) -> None:
    worker, ledger = flavour.worker(client, concurrency=3), Ledger()
    handle = ledger.handle
    worker.add_handler(handle, "orders", concurrency=2)
    for name in ("orders", "bills"):
        client.blocking_queue(name, transfer=False).add_all([f"{name} {number}" for number in range(300)])
    with running(worker):
        ledger.some(50)
        # From here on one receiver has two queues.
        worker.add_handler(handle, "bills", concurrency=2)
        ledger.some(300)
        assert worker.remove_handler(handle)
        worker.add_handler(handle, "orders")
        worker.add_handler(handle, "bills")
        at_rest(admin)
        at_rest(admin, "bills")
    assert Counter(ledger.values).most_common(1)[0][1] == 1
    assert len(ledger.values) == 600


@pytest.mark.parametrize("name", ["ready", "leases"])
def test_a_key_that_becomes_another_type_under_a_worker(
    admin: Any, flavour: Flavour, client: Any, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It says so, and goes on when the key is as it was."""
    worker, gate = flavour.worker(client, visibility_timeout=600), threading.Semaphore(0)
    ledger = Ledger()

    def handle(value: str, event: Any) -> None:
        assert gate.acquire(timeout=PATIENCE)
        ledger.note(value, event)

    worker.handler("orders")(handle)
    client.blocking_queue("orders").add_all(list("abcdef"))
    key = getattr(KEYS, name)
    with running(worker):
        gate.release()
        gate.release()
        ledger.some(2)
        eventually(lambda: whereabouts(admin).leased == Counter([b"c"]))
        admin.rename(key, f"{key} aside")
        admin.set(key, "something else")
        gate.release()
        assert ledger.next() == "c"
        eventually(lambda: any("worker: " in record.getMessage() for record in caplog.records))
        admin.rename(f"{key} aside", key)
        for _ in range(3):
            gate.release()
        assert ledger.some(3) == list("def")
        at_rest(admin)

"""A process of one version of the library beside another: ``python version_process.py URL CALL ARGUMENTS``.

The version is the one in PYTHONPATH. So this file uses what the last version has too, and imports nothing of the tests.
ARGUMENTS is a JSON object. The result of the call is printed as one line of JSON. A call that continues until its input
ends prints "ready" when it has begun.
"""

from __future__ import annotations

import contextlib
import json
import logging
import random
import sys
import time
from datetime import datetime, timedelta, timezone
from typing import Any

import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import DuplicateItemError, LeaseLostError, QueueFullError
from redisson_dq.worker import Limit, Rate, Retry, Worker, fixed

HOUR = 3600


def tell(result: object) -> None:
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


def connect(url: str) -> Any:
    return redisson_dq.connect(url, codec=StringCodec())


# -- a fleet at work -------------------------------------------------------------------------------------------------


def move(url: str) -> None:
    """Moves the items of the queue, and takes none."""
    with connect(url) as client:
        delayed = client.delayed_queue("orders")
        # The last version moves the items of each queue that is open.
        getattr(delayed, "start_moving", lambda: None)()
        tell("ready")
        sys.stdin.read()


def offer(url: str, name: str, count: int, seed: int) -> None:
    """Offers values in each way, and cancels, reschedules and repeats some. Tells what is to be delivered."""
    chance = random.Random(seed)
    with connect(url) as client:
        plain = client.delayed_queue("orders", transfer=False)
        lean = client.delayed_queue("orders", lean=True, transfer=False)
        rest = []
        for number in range(count):
            delayed, value = chance.choice((plain, lean)), f"{name}-{number}"
            step, delay = chance.randrange(8), chance.random() * 2
            if step == 0:
                delayed.offer(value, HOUR, id=value)
                assert plain.cancel(value).value == "cancelled"
                continue
            if step == 1:
                delayed.offer(value, HOUR, id=value)
                assert plain.reschedule(value, delay).value == "rescheduled"
            elif step == 2:
                for _ in range(3):
                    delayed.offer(value, delay, id=value, on_duplicate="keep")
            elif step == 3:
                delayed.offer(value, delay, context={"from": name}, expires=HOUR)
            elif step == 4:
                delayed.offer(value, HOUR, deduplicate_for=HOUR)
                delayed.offer(value, delay, deduplicate_for=HOUR, on_duplicate="replace")
            elif step == 5:
                delayed.offer_all([(value, delay), (f"{value}-b", delay)])
                rest.append(f"{value}-b")
            else:
                delayed.offer(value, delay)
            rest.append(value)
            time.sleep(0.002)
        tell(rest)


def lease(url: str, seed: int, visibility: float) -> None:
    """Receives, and ends its leases in each way, until it is killed. Each ack is noted by its transaction."""
    chance = random.Random(seed)
    client = connect(url)
    queue = client.blocking_queue("orders", delivery_limit=None)
    done = client.blocking_queue("done", transfer=False)
    tell("ready")
    while True:
        for delivery in queue.receive(chance.choice((1, 5, 20)), visibility_timeout=visibility):
            step = chance.random()
            if step < 0.7:
                with contextlib.suppress(LeaseLostError), client.pipeline(transaction=True) as pipe:
                    pipe.add(delivery.requests.ack())
                    pipe.add(done.requests.add(delivery.value))
            elif step < 0.8:
                delivery.nack(reason="again")
            elif step < 0.9:
                delivery.nack(delay=chance.random() * 0.1)
            elif step < 0.93:
                delivery.nack(count=False)
            elif step < 0.96:
                delivery.reject("bad")
            elif step < 0.98:
                delivery.extend(visibility)


def redrive(url: str) -> None:
    """Moves dead letters back again and again."""
    with connect(url) as client:
        queue = client.blocking_queue("orders", transfer=False)
        tell("ready")
        while not _ended(0.2):
            queue.redrive(limit=5)


def _ended(seconds: float) -> bool:
    """Waits, and tells whether the input has ended meanwhile."""
    import select

    return bool(select.select([sys.stdin], [], [], seconds)[0])


def work(url: str, seed: int, by_key: bool = False) -> None:
    """A worker with a key, a limit and a rate. Each handling is noted at its begin and its end."""
    chance = random.Random(seed)
    log = redis.Redis.from_url(url)
    worker = Worker.connect(url, codec=StringCodec(), visibility_timeout=HOUR)

    @worker.handler(
        "jobs",
        concurrency=4,
        key=lambda value: value.partition("-")[0],
        # The last version does not know by=.
        limit=Limit(2, by=lambda value: value[0]) if by_key else Limit(3),  # type: ignore[call-arg, unused-ignore]
        rate=Rate(300),
        retry=Retry(limit=None, backoff=fixed(0.01)),
        crash_limit=None,
    )
    def handle(value: str) -> None:
        log.rpush("log", f"begin {value}")
        time.sleep(0.002)
        failed = chance.random() < 0.2
        log.rpush("log", f"{'failed' if failed else 'done'} {value}")
        if failed:
            raise ValueError("again")

    worker.start()
    tell("ready")
    sys.stdin.read()
    worker.stop()


# -- what one version leaves, and another goes on with ---------------------------------------------------------------


def leave(url: str) -> None:
    """Leaves something in each form. Nothing is due within the hour but what says so."""
    with connect(url) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        lean = client.delayed_queue("orders", lean=True, transfer=False)
        for each, name in ((delayed, "mirrored"), (lean, "lean")):
            each.offer(f"{name} plain", HOUR)
            for what in ("cancelled", "moved", "kept", "replaced"):
                each.offer(f"{name} {what}", HOUR, id=f"{name}-{what}")
            each.offer(f"{name} late", 0.001, id=f"{name}-late", expires=0.001)
            each.offer(f"{name} equal", HOUR, deduplicate_for=HOUR)
            each.offer(f"{name} context", HOUR, context={"from": "before"})
        delayed.offer_recurring("tick", "every", every=HOUR)
        delayed.offer_recurring("tock", "cron", cron="30 9 * * mon-fri", timezone="Europe/Berlin")
        delayed.offer_recurring("soon", "soon", every=1)
        queue = client.blocking_queue("values", transfer=False)
        queue.add_all(["acked", "failed", "waits", "rejected", "handed", "crashed"])
        held = {each.value: each for each in queue.receive(6, visibility_timeout=2)}
        ends = [
            held["acked"].ack(),
            held["failed"].nack(reason="broken"),
            held["waits"].nack(0.2, reason="later"),
            held["rejected"].reject("bad"),
            held["handed"].nack(count=False),
        ]
        assert [each.value for each in ends] == ["acked", "returned", "delayed", "dead", "returned"], ends
        paused = client.delayed_queue("paused", transfer=False)
        paused.offer("a", 0)
        paused.pause()
        paused.set_max_size(1)
        tell("left")


def _duplicate(offer: Any) -> str:
    try:
        offer()
    except DuplicateItemError as error:
        return str(error.state)
    return "in"


def go_on(url: str) -> None:
    """Continues with the data of :func:`leave`. Prints the results by name."""
    found: dict[str, Any] = {}
    with connect(url) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        for name in ("mirrored", "lean"):
            item = delayed.find(f"{name}-kept")
            found[f"{name} found"] = item and item.value
            found[f"{name} cancelled"] = delayed.cancel(f"{name}-cancelled").value
            found[f"{name} moved"] = delayed.reschedule(f"{name}-moved", 2 * HOUR).value
            found[f"{name} duplicate"] = _duplicate(lambda name=name: delayed.offer("b", HOUR, id=f"{name}-kept"))
            found[f"{name} equal"] = _duplicate(
                lambda name=name: delayed.offer(f"{name} equal", HOUR, deduplicate_for=HOUR)
            )
            delayed.offer(f"{name} replaced anew", HOUR, id=f"{name}-replaced", on_duplicate="replace")
        found["recurring"] = sorted(each.id for each in delayed.recurring())
        found["declared again"] = delayed.offer_recurring("tick", "every", every=HOUR).value
        # The next occurrences follow, each once. The items that were too late are not among what is taken.
        soon = 0
        while soon < 3:
            soon += sum(value == "soon" for value in delayed.take_due())
            time.sleep(0.05)
        delayed.cancel_recurring("soon")
        found["late"] = [delayed.cancel(f"{name}-late").value for name in ("mirrored", "lean")]
        far = datetime.now(timezone.utc) + timedelta(days=9)
        taken = delayed.take_due(far, limit=1000, visibility_timeout=HOUR)
        found["taken"] = sorted(each.value for each in taken)
        # A version that knows nothing of an item's name in the context shows it.
        contexts = {
            each.value: {key: text for key, text in each.context.items() if not key.startswith("redisson_dq.")}
            for each in taken
        }
        found["contexts"] = {value: context for value, context in contexts.items() if context}
        found["acked"] = sorted({each.ack().value for each in taken})

        # Moves the values that are due meanwhile.
        queue = client.blocking_queue("values")
        held: dict[str, Any] = {}
        while len(held) < 4:
            held |= {each.value: each for each in queue.receive(9, timeout=30, visibility_timeout=HOUR)}
        found["values"] = {
            value: [each.attempt, each.failures, each.crashes, each.reason] for value, each in held.items()
        }
        found["values acked"] = sorted({each.ack().value for each in held.values()})
        found["dead"] = [[each.value, each.reason, each.attempts] for each in queue.dead_letters()]
        found["redriven"] = queue.redrive().count
        again = queue.receive(visibility_timeout=HOUR)
        found["again"] = [again.value, again.attempt, again.ack().value]

        paused = client.delayed_queue("paused", transfer=False)
        found["paused"] = [paused.is_paused(), paused.take_due(), paused.max_size()]
        try:
            paused.offer("b", 0)
        except QueueFullError:
            found["full"] = True
        paused.resume()
        found["resumed"] = paused.take_due()
        found["aside"] = [client.delayed_queue(name, transfer=False).read_quarantine() for name in ("orders", "values")]
        tell(found)


def forms(url: str) -> None:
    """Tells the newest form of each kind that this version reads."""
    try:
        from redisson_dq.wire.forms import FORMS
    except ImportError:
        # A version from before the forms had numbers.
        tell({"timeout": 10, "records": 1, "deliveries": 1, "dead_info": 1, "recurring": 1})
    else:
        tell({name: form.reads for name, form in FORMS.items()})


def place(url: str) -> None:
    """Tells where the library was imported from."""
    tell(redisson_dq.__file__)


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    globals()[sys.argv[2]](sys.argv[1], **json.loads(sys.argv[3]))

"""The types a user sees. Checked by mypy and pyright, never run: each comment is what ``reveal_type`` has to say."""

from datetime import datetime, timedelta

import attrs
from typing_extensions import reveal_type

import redisson_dq
from redisson_dq import (
    BlockingDeque,
    BlockingQueue,
    BoundedBlockingQueue,
    DelayedQueue,
    PartitionedBlockingQueue,
    PartitionedDelayedQueue,
    aio,
    java,
)
from redisson_dq.aio import worker as aio_worker
from redisson_dq.codecs import Codec, Kryo5Codec, LongCodec, StringCodec, TypedJsonJacksonCodec, ZStdCodec
from redisson_dq.java import java_class
from redisson_dq.observing import Happening, Moved
from redisson_dq.worker import Event, Retry, Worker, exponential


@java_class("com.acme.Order")
@attrs.define
class Order:
    id: int


class OrderCodec(Codec[Order]):
    def encode(self, value: Order) -> bytes:
        return str(value.id).encode()

    def decode(self, data: bytes) -> Order:
        return Order(int(data))


@java_class("com.acme.Ticket")
@attrs.define
class Ticket:
    id: java.long | None
    seats: list[java.short] | None = None
    grade: java.char | None = None
    weight: java.float | None = None


def declared() -> None:
    ticket = Ticket(id=42, seats=[1, 2], grade="A", weight=1.5)
    reveal_type(ticket.id)  # int | None
    Ticket(id=java.Long(42))
    Ticket(id="42")  # wrong: argument


def typed_queues(client: redisson_dq.Client, worker: Worker) -> None:
    orders = client.blocking_queue("orders", type=Order)
    reveal_type(orders)  # BlockingQueue[Order]
    reveal_type(orders.take())  # Order
    reveal_type(client.delayed_queue(orders))  # DelayedQueue[Order]
    orders.offer("order-42")  # wrong: argument
    reveal_type(client.blocking_queue("orders", type=list[Order]).take())  # list[Order]
    ids = client.delayed_queue("ids", type=java.Long)
    ids.offer(100234, delay=5)
    reveal_type(client.blocking_queue("ids", type=java.Long).take())  # int
    reveal_type(client.blocking_queue("orders", type=Order, partitions=4))  # PartitionedBlockingQueue[Order]
    reveal_type(client.delayed_queue("orders", type=Order, partitions=4))  # PartitionedDelayedQueue[Order]
    reveal_type(client.blocking_deque("orders", type=Order))  # BlockingDeque[Order]


def sync_side(client: redisson_dq.Client) -> None:
    orders: BlockingQueue[Order] = client.blocking_queue("orders", Kryo5Codec())
    delayed: DelayedQueue[Order] = client.delayed_queue(orders, transfer=False, lean=True)
    ends: BlockingDeque[Order] = client.blocking_deque("orders")
    bounded: BoundedBlockingQueue[Order] = client.bounded_blocking_queue("orders")

    reveal_type(orders.take())  # Order
    reveal_type(orders.poll())  # Order | None
    reveal_type(orders.poll(limit=10))  # list[Order]
    reveal_type(orders.poll(timeout=timedelta(seconds=5)))  # Order | None
    reveal_type(orders.poll(10, timeout=5))  # list[Order]
    reveal_type(orders.poll_from_any("bills", timeout=5))  # Order | None
    reveal_type(orders.poll_from_any_with_name("bills", timeout=5))  # tuple[str, Order] | None
    reveal_type(orders.take_from_any("bills"))  # Order
    reveal_type(orders.drain_to(5))  # list[Order]
    reveal_type(orders.element())  # Order
    reveal_type(orders.peek())  # Order | None
    reveal_type(orders.read_all())  # list[Order]
    reveal_type(orders.add(Order(1)))  # bool
    reveal_type(orders.put(Order(1)))  # None
    reveal_type(orders[0])  # Order
    reveal_type(len(orders))  # int
    reveal_type(Order(1) in orders)  # bool
    reveal_type(list(orders))  # list[Order]
    reveal_type(list(reversed(ends)))  # list[Order]
    reveal_type(orders.remove_if(lambda order: order.id == 5))  # int
    reveal_type(orders.subscribe_on_elements(lambda order: print(order.id)))  # int
    reveal_type(orders.remain_time_to_live())  # timedelta | None
    reveal_type(orders.expire_time())  # datetime | None
    reveal_type(ends.take_last())  # Order
    reveal_type(ends.poll_last(limit=5))  # list[Order]
    reveal_type(ends.poll_first(5, timeout=5))  # list[Order]
    reveal_type(ends.add_first(Order(1), Order(2)))  # int
    reveal_type(bounded.remaining_capacity())  # int
    reveal_type(bounded.offer(Order(1), timeout=5))  # bool

    typed = client.blocking_queue("orders", codec=TypedJsonJacksonCodec(Order))
    reveal_type(typed)  # BlockingQueue[Order]
    reveal_type(client.delayed_queue(typed))  # DelayedQueue[Order]
    reveal_type(client.delayed_queue("orders", TypedJsonJacksonCodec(Order)))  # DelayedQueue[Order]
    reveal_type(client.delayed_queue("orders", StringCodec(), partitions=4))  # PartitionedDelayedQueue[str]
    reveal_type(client.blocking_queue("lists", TypedJsonJacksonCodec(list[Order])))  # BlockingQueue[list[Order]]
    reveal_type(client.blocking_deque("texts", StringCodec()))  # BlockingDeque[str]
    reveal_type(client.bounded_blocking_queue("numbers", LongCodec()))  # BoundedBlockingQueue[int]
    reveal_type(client.blocking_queue("packed", ZStdCodec(TypedJsonJacksonCodec(Order))))  # BlockingQueue[Order]
    reveal_type(client.blocking_queue("packed", ZStdCodec()))  # BlockingQueue[Any]
    reveal_type(client.blocking_queue("any", Kryo5Codec()))  # BlockingQueue[Any]
    reveal_type(client.blocking_queue("orders", OrderCodec()))  # BlockingQueue[Order]
    reveal_type(client.blocking_queue("any", client.blocking_queue("other").codec))  # BlockingQueue[Any]

    item = delayed.offer(Order(1), delay=5)
    reveal_type(item)  # DelayedItem[Order]
    reveal_type(item.value)  # Order
    reveal_type(item.id)  # str
    reveal_type(item.due)  # datetime | None
    reveal_type(item.remaining)  # timedelta | None
    reveal_type(item.cancel())  # Outcome
    reveal_type(delayed.offer(Order(1), at=datetime.now(), id="42", on_duplicate="keep").outcome)  # OfferOutcome | None
    reveal_type(delayed.offer_all([(Order(1), 5.0), (Order(2), timedelta(hours=1))]))  # int
    reveal_type(delayed.poll())  # Order | None
    reveal_type(delayed.poll(5))  # list[Order]
    reveal_type(delayed.items(by="offer"))  # list[DelayedItem[Order]]
    reveal_type(delayed.find("42"))  # DelayedItem[Order] | None
    reveal_type(delayed.next_due())  # datetime | None
    reveal_type(delayed.overdue())  # Overdue
    reveal_type(delayed.inspect())  # QueueInspection
    reveal_type(delayed.stats())  # QueueStats
    reveal_type(client.stats("orders", delayed))  # dict[str, QueueStats]
    reveal_type(client.stats("orders", return_exceptions=True))  # dict[str, QueueStats | RedissonDQError]
    reveal_type(client.health().queues["orders"].role)  # Role | None
    reveal_type(client.ping())  # timedelta
    reveal_type(list(client.queue_names("orders*")))  # list[str]
    reveal_type(client.inspect("orders", partitions=4).next_due)  # datetime | None
    reveal_type(delayed.recurring())  # list[RecurringOffer]
    reveal_type(list(delayed))  # list[Order]

    with client.pipeline(transaction=True) as pipe:
        head = pipe.add(orders.requests.poll())
        reveal_type(head)  # Reply[Order | None]
        reveal_type(pipe.add(orders.requests.size()).result)  # int
        reveal_type(pipe.add(delayed.requests.contains(Order(1))).result)  # bool
        reveal_type(pipe.add(ends.requests.poll_last(5)).result)  # list[Order]
    with delayed as opened:
        reveal_type(opened)  # DelayedQueue[Order]


def partitions(client: redisson_dq.Client) -> None:
    orders: PartitionedBlockingQueue[Order] = client.blocking_queue("orders", Kryo5Codec(), partitions=16)
    delayed: PartitionedDelayedQueue[Order] = client.delayed_queue("orders", partitions=16, transfer=False)

    reveal_type(client.delayed_queue(orders))  # PartitionedDelayedQueue[Order]
    reveal_type(client.delayed_queue("orders"))  # DelayedQueue[Any]
    reveal_type(orders.take())  # Order
    reveal_type(orders.poll())  # Order | None
    reveal_type(orders.poll(10, timeout=5))  # list[Order]
    reveal_type(list(orders.elements()))  # list[Order]
    reveal_type(orders.partitions)  # tuple[BlockingQueue[Order], ...]
    reveal_type(delayed.offer(Order(1), delay=5, key="customer-42"))  # DelayedItem[Order]
    reveal_type(delayed.offer_all([(Order(1), 5.0)], key=lambda order: str(order.id)))  # int
    reveal_type(delayed.items())  # list[DelayedItem[Order]]
    reveal_type(delayed.cancel("42", key="customer-42"))  # Outcome
    reveal_type(delayed.partition_for("customer-42"))  # DelayedQueue[Order]
    with client.pipeline() as pipe:
        reveal_type(pipe.add(orders.requests.add(Order(1), "customer-42")).result)  # bool
        reveal_type(pipe.add(delayed.requests.cancel("42", "customer-42")).result)  # Outcome
        reveal_type(pipe.add(delayed.requests.offer(Order(1), 5)).result.value)  # Order
        reveal_type(pipe.add(orders.requests.partition_for("customer-42").poll()).result)  # Order | None
    reveal_type(redisson_dq.partition_names("orders", 16))  # list[str]
    with orders as opened:
        reveal_type(opened)  # PartitionedBlockingQueue[Order]


async def asyncio_side(client: aio.Client) -> None:
    orders: aio.BlockingDeque[Order] = client.blocking_deque("orders")
    delayed: aio.DelayedQueue[Order] = client.delayed_queue(orders, transfer=False, lean=True)

    reveal_type(await orders.take())  # Order
    reveal_type(await orders.poll())  # Order | None
    reveal_type(await orders.poll_last(limit=10))  # list[Order]
    reveal_type(await orders.poll_last(10, timeout=5))  # list[Order]
    reveal_type(await orders.size())  # int
    reveal_type([order async for order in orders])  # list[Order]
    reveal_type([order async for order in orders.elements()])  # list[Order]
    reveal_type([order async for order in orders.descending()])  # list[Order]
    reveal_type(await (await delayed.offer(Order(1), 5)).reschedule(delay=1))  # Outcome
    reveal_type(await delayed.items())  # list[DelayedItem[Order]]
    halves: aio.PartitionedBlockingQueue[Order] = client.blocking_queue("orders", partitions=2)
    reveal_type(await halves.take())  # Order
    typed = client.blocking_queue("orders", TypedJsonJacksonCodec(Order), partitions=2)
    reveal_type(typed)  # PartitionedBlockingQueue[Order]
    reveal_type(client.delayed_queue(typed))  # PartitionedDelayedQueue[Order]
    reveal_type(await client.blocking_deque("texts", StringCodec()).take())  # str
    reveal_type(await client.delayed_queue("numbers", LongCodec()).poll())  # int | None
    reveal_type([order async for order in halves.elements()])  # list[Order]
    async with client.pipeline() as pipe:
        reveal_type(pipe.add(orders.requests.peek()))  # Reply[Order | None]
    async with client as opened:
        reveal_type(opened)  # Client


def wrong(client: redisson_dq.Client) -> None:
    orders: BlockingQueue[Order] = client.blocking_queue("orders")
    delayed: DelayedQueue[Order] = client.delayed_queue(orders)
    orders.add("42")  # wrong: argument
    delayed.offer("42", 5)  # wrong: argument
    delayed.offer(Order(1), delay="5")  # wrong: argument
    delayed.offer(Order(1), 5, id="42", on_duplicate="ignore")  # wrong: argument
    delayed.offer(Order(1), 5, deduplicate="42")  # wrong: name
    delayed.requests.offer(Order(1), 5, expires="42")  # wrong: argument
    client.delayed_queue("orders", partitions=2).offer(Order(1), 5, durable=1)  # wrong: argument
    client.delayed_queue("orders", partitions=2).requests.offer(Order(1), 5, durabel=None)  # wrong: name
    delayed.items(by="value")  # wrong: argument
    orders.move("bills", from_end="left")  # wrong: argument
    orders.poll(5, 5)  # wrong: overload
    orders.poll(5)  # wrong: overload
    client.blocking_deque("orders").poll_last(5)  # wrong: overload
    orders.receive(visibility=5)  # wrong: overload
    orders.receive(10, renew="yes")  # wrong: overload
    client.blocking_queue("orders", delivery_limit="10")  # wrong: overload
    client.blocking_deque("orders", deliveries=10)  # wrong: name
    client.bounded_blocking_queue("orders", dead_letter=10)  # wrong: argument
    redisson_dq.connect("redis://localhost", remember="10")  # wrong: argument
    orders.take_last()  # wrong: attribute
    redisson_dq.connect("redis://localhost", wakeups="keyspaces")  # wrong: argument
    redisson_dq.connect("redis://localhost", undecodable="skipp")  # wrong: argument
    redisson_dq.connect("redis://localhost", envelope="old")  # wrong: argument
    aio.connect("redis://localhost", undecodable="skipp")  # wrong: argument
    client.blocking_queue("orders", codec=TypedJsonJacksonCodec(Order)).add("42")  # wrong: argument
    redisson_dq.connect("redis://localhost", observer="print")  # wrong: argument


def watching_side(client: redisson_dq.Client, apart: aio.Client) -> None:
    @client.observe
    def watch(happening: Happening) -> int:
        if isinstance(happening, Moved):
            reveal_type(happening.late_by)  # timedelta | None
        return 1

    reveal_type(watch(Moved(queue="orders", count=1, late_by=None)))  # int
    apart.observe(watch)
    apart.observe(print)
    apart.stop_observing(watch)
    redisson_dq.connect("redis://localhost", observer=watch)


def worker_side(client: redisson_dq.Client) -> None:
    worker = Worker(client, concurrency=16, order=["orders", "bills"])

    @worker.handler("orders", Order, concurrency=8, retry=Retry(limit=5, backoff=exponential(1, 60)), timeout=30)
    def handle(order: Order, event: Event) -> None:
        reveal_type(event.attempt)  # int
        reveal_type(event.lateness)  # timedelta | None
        reveal_type(event.context)  # dict[str, str]

    @worker.handler("orders", Order)
    def value_alone(order: Order) -> int:
        return order.id

    @worker.handler("orders", Order)
    def with_dependencies(order: Order, event: Event, session: str, *, pool: int) -> None: ...

    @worker.handler("orders", Order)  # wrong: argument
    def another_class(ticket: Ticket, event: Event) -> None: ...

    @worker.handler("orders")
    def anything(value: object, event: Event) -> None: ...

    @worker.batch_handler("orders", 100, Order, within=timedelta(seconds=0.2))
    def many(orders: list[Order], events: list[Event]) -> list[Exception | None]:
        return [None for _ in orders]

    @worker.batch_handler("orders", 100, Order)  # wrong: argument
    def many_others(tickets: list[Ticket]) -> None: ...

    @worker.handler("orders", list[Order])
    def lists(orders: list[Order]) -> None:
        reveal_type(orders)  # list[Order]

    @worker.handler("orders", Order | str)  # wrong: argument
    def one_of_them(value: Order) -> None: ...

    @worker.handler("orders", Order | str)
    def either(value: Order | str, event: Event) -> None:
        reveal_type(event.queue)  # str

    @worker.batch_handler("orders", 100, Order | str | None)
    def many_of_either(values: list[Order | str | None]) -> None: ...

    def saved(order: Order, event: Event, error: Exception) -> None: ...

    def saved_all(order: Order, event: Event, error: BaseException) -> None: ...

    def saved_plain(order, event, error):  # type: ignore[no-untyped-def]
        ...

    async def saved_later(order: Order, event: Event, error: Exception) -> None: ...

    worker.add_handler(value_alone, "orders", Order | str)
    worker.handler("orders", Order, on_failed=saved)
    worker.handler("orders", Order, on_failed=saved_all)
    worker.handler("orders", Order, on_failed=saved_plain)
    worker.handler("orders", Order, on_failed=saved_later)
    worker.handler("orders", on_failed=saved)
    worker.handler("orders", Ticket, on_failed=saved)  # wrong: argument
    worker.handler("orders", retry=Retry(limit=3, backoff=0.1))
    worker.handler("orders", retry=Retry(limit=3, backoff=[1, timedelta(seconds=5), 30]))
    Retry(backoff="5")  # wrong: argument
    worker.handler("orders", concurrency="8")  # wrong: overload
    worker.handler("orders", retry=5)  # wrong: overload
    Worker(client, grace="5")  # wrong: argument
    Worker(client, concurency=5)  # wrong: name
    Worker.connect("redis://localhost", concurrency="16")  # wrong: argument
    Worker.connect("redis://localhost", order=16)  # wrong: argument
    Worker.connect("redis://localhost", grace="5")  # wrong: argument
    reveal_type(Worker.connect("redis://localhost", transfer=False, username="shop"))  # Worker
    worker.stop(grace=timedelta(seconds=5))
    reveal_type(worker.is_consuming)  # bool
    reveal_type(worker.problems)  # tuple[Problem, ...]


async def async_worker_side(client: aio.Client) -> None:
    worker = aio_worker.Worker(client, order={"orders": 3})

    @worker.handler("orders", Order)
    async def handle(order: Order, event: aio_worker.Event) -> None:
        reveal_type(await event.extend(60))  # SettleOutcome

    async with worker:
        await worker.stop()

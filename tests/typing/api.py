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
)
from redisson_dq.codecs import Kryo5Codec
from redisson_dq.java import java_class


@java_class("com.acme.Order")
@attrs.define
class Order:
    id: int


def sync_side(client: redisson_dq.Client) -> None:
    orders: BlockingQueue[Order] = client.blocking_queue("orders", Kryo5Codec())
    delayed: DelayedQueue[Order] = client.delayed_queue(orders, transfer=False, lean=True)
    ends: BlockingDeque[Order] = client.blocking_deque("orders")
    bounded: BoundedBlockingQueue[Order] = client.bounded_blocking_queue("orders")

    reveal_type(orders.take())  # Order
    reveal_type(orders.poll())  # Order | None
    reveal_type(orders.poll(10))  # list[Order]
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
    reveal_type(ends.poll_last(5))  # list[Order]
    reveal_type(ends.poll_first(5, timeout=5))  # list[Order]
    reveal_type(ends.add_first(Order(1), Order(2)))  # int
    reveal_type(bounded.remaining_capacity())  # int
    reveal_type(bounded.offer(Order(1), timeout=5))  # bool

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

    reveal_type(client.delayed_queue(orders))  # PartitionedDelayedQueue[Any]
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
    reveal_type(redisson_dq.partition_names("orders", 16))  # list[str]
    with orders as opened:
        reveal_type(opened)  # PartitionedBlockingQueue[Order]


async def asyncio_side(client: aio.Client) -> None:
    orders: aio.BlockingDeque[Order] = client.blocking_deque("orders")
    delayed: aio.DelayedQueue[Order] = client.delayed_queue(orders, transfer=False, lean=True)

    reveal_type(await orders.take())  # Order
    reveal_type(await orders.poll())  # Order | None
    reveal_type(await orders.poll_last(10))  # list[Order]
    reveal_type(await orders.poll_last(10, timeout=5))  # list[Order]
    reveal_type(await orders.size())  # int
    reveal_type([order async for order in orders])  # list[Order]
    reveal_type([order async for order in orders.elements()])  # list[Order]
    reveal_type([order async for order in orders.descending()])  # list[Order]
    reveal_type(await (await delayed.offer(Order(1), 5)).reschedule(delay=1))  # Outcome
    reveal_type(await delayed.items())  # list[DelayedItem[Order]]
    halves: aio.PartitionedBlockingQueue[Order] = client.blocking_queue("orders", partitions=2)
    reveal_type(await halves.take())  # Order
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
    delayed.items(by="value")  # wrong: argument
    orders.move("bills", from_end="left")  # wrong: argument
    orders.poll(5, 5)  # wrong: overload
    orders.take_last()  # wrong: attribute
